//! Which messages a context keeps, which messages a search finds, and deletion.

use afd_tests::World;
use serde_json::{Value, json};

use super::{append, assistant, text_of, tool, user};

#[test]
fn conversation_that_fits_goes_whole() {
    let world = World::new();
    let mut client = world.client_for("whole");
    let filler = "Some words about the weather, the garden and the train that was late again. ".repeat(12);
    let mut said = Vec::new();
    for i in 0..110 {
        said.extend([user(&format!("{i}: {filler}")), assistant(&format!("Noted, number {i}."))]);
    }
    append(&mut client, said.clone());
    let context = client.ok("conversation.context", json!({"budget": 32000}));
    let tokens = context["tokensOfAll"].as_i64().expect("a number");
    assert!((19_000..24_000).contains(&tokens), "{tokens}");
    assert_eq!(context["messages"].as_array().map(Vec::len), Some(said.len()));
    assert_eq!(context["tokens"], context["tokensOfAll"]);
    assert_eq!(client.ok("conversation.usage", json!({}))["used"], context["tokens"], "usage says what context sends");
    // A budget of about half the conversation is used almost completely.
    let half = client.ok("conversation.context", json!({"budget": 12000}));
    assert!(half["tokens"].as_i64().is_some_and(|n| (11_400..=12_000).contains(&n)), "{}", half["tokens"]);
    // The tokens of tool definitions are counted.
    let tools = json!([{"name": "tap", "description": "Taps an element of the page, by its label or its alias."}]);
    let with_tools = client.ok("conversation.context", json!({"budget": 32000, "tools": tools}));
    let more = with_tools["tokens"].as_i64().zip(tokens.into()).map(|(with, without)| with - without);
    assert_eq!(more, with_tools["toolsTokens"].as_i64());
    assert!(more > Some(15), "{more:?}");
}

#[test]
fn newest_result_survives_a_long_run_of_tools() {
    let world = World::new();
    let mut client = world.client_for("run");
    append(&mut client, vec![user("Please find the invoice of March. Only look, never delete anything.")]);
    for i in 0..50 {
        let page = format!("page {i}: {}", "a row of the list with nothing of interest in it; ".repeat(30));
        append(&mut client, tool(&format!("c{i}"), "look", json!({"page": i}), &page).into());
    }
    append(
        &mut client,
        tool("last", "look", json!({"page": 50}), "page 50: the invoice of March is number 88-1204").into(),
    );
    for budget in [1_000, 2_000, 8_000] {
        let context = client.ok("conversation.context", json!({"budget": budget}));
        let sent = context["messages"].as_array().expect("messages");
        let newest = sent.iter().find(|m| m["toolCallId"] == "last").unwrap_or_else(|| panic!("{budget}: {sent:?}"));
        assert_eq!(newest["content"], "page 50: the invoice of March is number 88-1204");
        assert!(text_of(&context).contains("never delete anything"), "{budget}: the request is there");
    }
}

/// Statement of the user, its later correction, and a word that occurs only in the one and only in the other.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    ("We deploy the service to Frankfurt.", "No, we deploy the service to Dublin instead.", "Frankfurt", "Dublin"),
    (
        "Let's use PostgreSQL for the storage layer.",
        "Actually, let's use SQLite for the storage layer.",
        "PostgreSQL",
        "SQLite",
    ),
    (
        "The kickoff meeting is on Tuesday.",
        "Change of plan: the kickoff meeting is on Thursday.",
        "Tuesday",
        "Thursday",
    ),
    ("The total budget is 500 euros.", "The total budget is 800 euros.", "500", "800"),
    ("We take the blue paint for the hallway.", "No, we take the green paint for the hallway.", "blue", "green"),
    (
        "Wir nehmen Hetzner als Anbieter.",
        "Doch lieber anders: wir nehmen Scaleway als Anbieter.",
        "Hetzner",
        "Scaleway",
    ),
    ("Quedamos el lunes para la entrega.", "Mejor quedamos el jueves para la entrega.", "lunes", "jueves"),
    ("The release manager must be Otto.", "Sorry, that was wrong: the release manager must be Frida.", "Otto", "Frida"),
];

#[test]
fn newer_decisions_replace_older_ones() {
    let world = World::new();
    let mut client = world.client_for("plan");
    for (first, _, _, _) in CHANGES {
        append(&mut client, vec![user(first), assistant("All right.")]);
    }
    for i in 0..40 {
        append(
            &mut client,
            vec![
                user(&format!("And how was day {i} in the garden?")),
                assistant("It rained, and the roses liked it a lot."),
            ],
        );
    }
    for (_, second, _, _) in CHANGES {
        append(&mut client, vec![user(second), assistant("All right.")]);
    }
    for i in 40..90 {
        append(
            &mut client,
            vec![
                user(&format!("And how was day {i} in the garden?")),
                assistant("It rained, and the roses liked it a lot."),
            ],
        );
    }
    let text = text_of(&client.ok("conversation.context", json!({"budget": 1500})));
    for (_, _, old, new) in CHANGES {
        assert!(text.contains(new), "{new} is missing: {text}");
        let stale = text.lines().find(|line| line.contains(old) && !line.contains("was:"));
        assert_eq!(stale, None, "{old} was overturned");
    }
}

#[test]
fn short_corrections_keep_what_they_are_about() {
    let world = World::new();
    let mut client = world.client_for("short");
    append(&mut client, vec![assistant("How many retries before we give up, 20 or 30?"), user("Make it 40.")]);
    append(
        &mut client,
        vec![assistant("Which mug shall I order, the blue one or the red one?"), user("The blue one.")],
    );
    for i in 0..60 {
        append(
            &mut client,
            vec![
                user(&format!("And how was day {i} in the garden?")),
                assistant("It rained, and the roses liked it a lot."),
            ],
        );
    }
    let text = text_of(&client.ok("conversation.context", json!({"budget": 900})));
    for line in ["retries before we give up, 20 or 30?\") Make it 40.", "the blue one or the red one?\") The blue one."]
    {
        assert!(text.contains(line), "{line:?} is not in {text}");
    }
}

#[test]
fn messages_are_found_by_their_words() {
    let world = World::new();
    let mut client = world.client_for("find");
    append(
        &mut client,
        vec![
            user("The parcel goes to Mill Lane 4."),
            assistant("The deliveries are noted."),
            user("订单号是四八二一三。"),
        ],
    );
    for i in 0..30 {
        append(&mut client, vec![user(&format!("row {i} of the list"))]);
    }
    let found = client.ok("conversation.search", json!({"query": "mill lane"}));
    assert_eq!((&found["messages"][0]["position"], &found["matched"]), (&json!(1), &json!("all")), "{found}");
    assert!(found["messages"][0]["text"].as_str().is_some_and(|t| t.contains("[Mill] [Lane]")), "{found}");
    assert_eq!(
        client.ok("conversation.search", json!({"query": "delivery noted"}))["messages"][0]["position"],
        2,
        "another form of the word"
    );
    assert_eq!(client.ok("conversation.search", json!({"query": "订单号"}))["messages"][0]["position"], 3);
    assert_eq!(client.ok("conversation.search", json!({"query": "mill zebra"}))["matched"], "any");
    assert_eq!(client.ok("conversation.search", json!({"query": "mill", "role": "assistant"}))["messages"], json!([]));
    assert_eq!(
        client.fails("conversation.search", json!({"query": " ?! "}), "INVALID_PARAMS").details["path"],
        "query"
    );
    // By time.
    let at = client.ok("conversation.search", json!({"query": "mill"}))["messages"][0]["at"].as_i64().expect("a time");
    let mut found = |more: serde_json::Value| {
        let mut query = json!({"query": "mill"});
        query.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        client.ok("conversation.search", query)["messages"].as_array().map(Vec::len)
    };
    assert_eq!((found(json!({"since": at + 1})), found(json!({"until": at - 60_000}))), (Some(0), Some(0)));
    assert!(found(json!({"since": at - 60_000, "until": at + 60_000})) > Some(0));
    // Other sessions see it only when they search everywhere.
    let mut other = world.client_for("other");
    append(&mut other, vec![user("hello")]);
    assert_eq!(other.ok("conversation.search", json!({"query": "mill"}))["messages"], json!([]));
    let everywhere = other.ok("conversation.search", json!({"query": "mill", "everywhere": true}));
    assert_eq!(everywhere["messages"][0]["session"], "find");
}

#[test]
fn deleted_message_is_gone_with_all_that_was_made_of_it() {
    let world = World::new();
    let mut client = world.client_for("slip");
    append(
        &mut client,
        vec![user("My password is Tulip-Mango-71, remember that."), assistant("I will not repeat it."), user("Go on.")],
    );
    append(&mut client, (0..40).map(|i| user(&format!("row {i} of the long list of rows"))).collect());
    client.ok("conversation.compact", json!({"keep": 4}));
    // A pattern as a language model may word it.
    client.ok(
        "pattern.save",
        json!({"kind": "keyFact", "text": "Password of the user: Tulip-Mango-71", "scope": "session"}),
    );
    client.ok("pattern.save", json!({"kind": "keyFact", "text": "The rows are long", "scope": "session"}));
    assert!(client.ok("conversation.context", json!({"budget": 600})).to_string().contains("Tulip"));
    let (whole, session) = (world.dir().join("whole.jsonl"), world.dir().join("session.jsonl"));
    client.ok("memory.export", json!({"file": whole}));
    client.ok("session.export", json!({"format": "lines", "file": session}));
    let deleted = client.ok("conversation.delete", json!({"position": 1}));
    assert!(deleted["derived"].as_i64() > Some(0), "{deleted}");
    assert_eq!(client.fails("conversation.delete", json!({"position": 1}), "NOT_FOUND").details["position"], 1);
    // Importing an earlier export restores neither the message nor data derived from it.
    client.ok("memory.import", json!({"file": whole}));
    client.ok("session.import", json!({"file": session, "merge": true}));
    for answer in [
        client.ok("conversation.context", json!({"budget": 600})),
        client.ok("conversation.list", json!({"limit": 100})),
        client.ok("conversation.search", json!({"query": "tulip"})),
        client.ok("conversation.summary", json!({})),
        client.ok("pattern.list", json!({"scope": "session"})),
    ] {
        assert!(!answer.to_string().contains("Tulip"), "{answer}");
    }
    assert!(client.ok("pattern.list", json!({"scope": "session"})).to_string().contains("The rows are long"));
    for file in ["memory.db", "memory.db-wal"] {
        let bytes = std::fs::read(world.dir().join(file)).unwrap_or_default();
        assert!(!bytes.windows(11).any(|w| w == b"Tulip-Mango"), "{file} holds it");
    }
}

#[test]
fn conversations_of_a_session_are_apart() {
    let world = World::new();
    let mut client = world.client_for("both");
    append(&mut client, vec![user("the main matter")]);
    client.ok("conversation.append", json!({"conversation": "helper", "messages": ["a bare text for the helper"]}));
    let text = |client: &mut afd_tests::Client, name: &str| {
        text_of(&client.ok("conversation.context", json!({"conversation": name})))
    };
    assert!(text(&mut client, "helper").contains("bare text") && !text(&mut client, "helper").contains("main matter"));
    assert!(!text(&mut client, "main").contains("bare text"));
    client.fails("conversation.context", json!({"conversation": "nobody"}), "NOT_FOUND");
}

#[test]
fn messages_of_other_libraries_are_taken_as_they_are() {
    let world = World::new();
    let mut client = world.client_for("sdk");
    let openai = json!([
        {"role": "developer", "content": "Be brief.", "name": null},
        {"role": "user", "content": [{"type": "text", "text": "what is this?"},
            {"type": "image_url", "image_url": {"url": "https://a.example/x.png", "detail": "low"}}]},
        {"role": "assistant", "content": null, "refusal": null, "audio": null, "annotations": [], "function_call": null,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"deep\": true}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    ]);
    let anthropic = json!([
        {"role": "assistant", "id": "msg_1", "type": "message", "model": "m", "stop_reason": "tool_use", "usage": {"input_tokens": 3},
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I look.", "citations": null},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"deep": false}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true,
            "content": [{"type": "text", "text": "no such page"}]}, {"type": "text", "text": "try again"}]},
    ]);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    append(&mut client, list(&openai));
    append(&mut client, list(&anthropic));
    let listed = client.ok("conversation.list", json!({}))["messages"].clone();
    let roles: Vec<&str> = listed.as_array().into_iter().flatten().rev().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "tool", "user"]);
    assert_eq!((&listed[1]["failed"], &listed[1]["content"][0]["text"]), (&json!(true), &json!("no such page")));
    assert_eq!(listed[2]["extra"]["blocks"][0]["type"], "thinking", "kept, and ignored");
    assert_eq!(listed[4]["toolCalls"][0]["arguments"], json!({"deep": true}));
    // The messages of a context can be appended to a conversation.
    for format in ["afd", "openai", "anthropic"] {
        let context = client.ok("conversation.context", json!({"format": format}));
        let mut again = world.client_for(&format!("again-{format}"));
        append(&mut again, list(&context["messages"]));
    }
}

#[test]
fn typed_text_is_not_stored() {
    let world = World::new();
    let mut client = world.client_for("typing");
    append(
        &mut client,
        tool("c1", "type_text", json!({"by": "label", "value": "Password", "text": "hunter22"}), "typed hunter22")
            .into(),
    );
    let stored = client.ok("conversation.list", json!({}))["messages"].to_string();
    assert!(
        !stored.contains("hunter22") && stored.contains("[typed text: 8 characters]") && stored.contains("Password"),
        "{stored}"
    );
    let refused = client.fails("act.text", json!({"text": "[typed text: 8 characters]"}), "INVALID_PARAMS");
    assert_eq!(refused.details["path"], "text", "the mark is never typed");
}
