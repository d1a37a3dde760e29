//! Contexts are faithful to the conversation: they give the speaker and corrections, and contain the complete last
//! exchange.

use afd_tests::World;
use serde_json::{Value, json};

use super::{append, assistant, text_of, tool, user};

/// Appends statements, each with a long answer, and enough filler that they are no longer among the recent turns.
fn say(client: &mut afd_tests::Client, statements: &[&str], filler: usize) {
    let answer = assistant(&"Alright, I have written that down and will keep it in mind for the plan. ".repeat(3));
    for text in statements {
        append(client, vec![user(text), answer.clone()]);
    }
    for i in 0..filler {
        append(client, vec![user(&format!("Please tell me joke number {i} about parties.")), answer.clone()]);
    }
}

#[test]
fn what_was_corrected_is_never_there_without_its_correction() {
    let world = World::new();
    let mut client = world.client_for("party");
    let pairs = [
        ("The venue is the Harbour Hall.", "Actually the venue is the Old Mill.", "Harbour Hall", "Old Mill"),
        ("The caterer is Bianchi.", "We take Rossi as the caterer instead.", "Bianchi", "Rossi"),
        ("The Treffpunkt ist der Marktplatz.", "Doch lieber am Bahnhof als Treffpunkt.", "Marktplatz", "Bahnhof"),
        ("La réunion est lundi à 10 h.", "La réunion est reportée à mardi 14 h.", "lundi à 10", "mardi 14"),
        ("Book seat 14C for me.", "Scratch that, 22A is better.", "14C", "22A"),
    ];
    let (old, new): (Vec<&str>, Vec<&str>) = pairs.iter().map(|p| (p.0, p.1)).unzip();
    say(&mut client, &old, 4);
    say(&mut client, &new, 6);
    let mut kept = 0;
    for budget in (800..=3_000).step_by(100) {
        let text = text_of(&client.ok("conversation.context", json!({"budget": budget})));
        for (_, _, old, new) in pairs {
            assert!(text.contains(new) || !text.contains(old), "{old} without {new} at {budget}: {text}");
            kept += usize::from(text.contains(new));
        }
    }
    assert!(kept > 60, "most of the corrections are there: {kept}");
}

#[test]
fn a_correction_of_one_thing_leaves_the_others() {
    let world = World::new();
    for (n, (one, other, kept)) in [
        ("Anna gets room 12.", "Peter gets room 14 instead.", "room 12"),
        ("Buy 3 apples.", "Buy 5 pears instead of bananas.", "3 apples"),
        ("Transfer 100 euros to Mia.", "Transfer 300 euros to Jonas instead of Lea.", "100 euros"),
        ("Schick Anna 3 Kisten.", "Schick Peter lieber 5 Kisten.", "3 Kisten"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = world.client_for(&format!("s{n}"));
        say(&mut client, &[one, "The wifi is PartyNet.", other], 12);
        let text = text_of(&client.ok("conversation.context", json!({"budget": 1_100})));
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn the_last_exchange_is_there_in_full_before_anything_older() {
    let world = World::new();
    let mut client = world.client_for("run");
    append(&mut client, vec![user("Read all fifty pages of the manual LA-1 and tell me the code.")]);
    for i in 0..50 {
        append(
            &mut client,
            tool(&format!("c{i}"), "read", json!({"page": i}), &format!("RES{i} {}", "word ".repeat(48))).into(),
        );
    }
    for budget in [400, 600, 1_000, 2_000] {
        let text = client.ok("conversation.context", json!({"budget": budget})).to_string();
        assert!(text.contains("LA-1 and tell me the code."), "the request at {budget}: {text}");
        assert!(text.contains(&format!("RES49 {}", "word ".repeat(47))), "the newest result at {budget}: {text}");
    }
}

#[test]
fn quotes_say_who_said_them() {
    let world = World::new();
    let mut client = world.client_for("who");
    append(
        &mut client,
        vec![
            user("Open the ticket list. My ticket is 4711."),
            assistant("Which address shall I use?"),
            user("The second."),
        ],
    );
    say(&mut client, &[], 14);
    let text = text_of(&client.ok("conversation.context", json!({"budget": 900})));
    assert!(text.contains("My ticket is 4711."), "{text}");
    assert!(!text.contains("(assistant: \"Open the ticket list."), "{text}");
    assert!(
        !text.contains("The second.") || text.contains("(assistant: \"Which address shall I use?\") The second."),
        "{text}"
    );
}

#[test]
fn answers_that_say_nothing_are_taken() {
    let world = World::new();
    let mut client = world.client_for("empty");
    let messages = json!([
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "", "refusal": null},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]},
        {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "the report"}}]},
        {"role": "user", "content": "go on"},
    ]);
    assert_eq!(client.ok("conversation.append", json!({"messages": messages}))["last"], 7);
    let sent = client.ok("conversation.context", json!({"format": "openai"}))["messages"].clone();
    let empty = |m: &Value| m["content"].as_str().unwrap_or_default().is_empty() && m["tool_calls"].is_null();
    assert!(
        !sent.as_array().expect("messages").iter().any(empty),
        "interfaces refuse messages that say nothing: {sent}"
    );
    client.fails("conversation.append", json!({"messages": [{"role": "user", "content": ""}]}), "INVALID_PARAMS");
}

#[test]
fn known_facts_say_who_said_them() {
    let world = World::new();
    let mut client = world.client_for("facts");
    client.ok("session.start", json!({"app": "com.shop"}));
    client.ok(
        "pattern.save",
        json!({"kind": "keyFact", "text": "Refunds take 3 days", "app": "com.shop", "source": "page"}),
    );
    client.ok("pattern.save", json!({"kind": "keyFact", "text": "Coupons stack", "app": "com.shop"}));
    client.ok("memory.save", json!({"topic": "t", "content": "The cart is behind the menu", "app": "com.shop"}));
    append(&mut client, vec![user("What do you know?")]);
    let text = text_of(&client.ok("conversation.context", json!({"budget": 4_000})));
    for (said, who) in [
        ("Refunds take 3 days", "said by page"),
        ("Coupons stack", "said by assistant"),
        ("The cart is behind the menu", "saved by the agent"),
    ] {
        let line = text.lines().find(|line| line.contains(said)).unwrap_or_else(|| panic!("{said}: {text}"));
        assert!(line.contains(who) && line.contains("session facts"), "{line}");
    }
}
