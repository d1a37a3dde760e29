//! Context keys, rolling summary, usage, compaction, clearing.

use afd_tests::World;
use serde_json::{Value, json};

use super::talk::synthetic_conversation;
use super::{append, assistant, text_of, tool, user};

#[test]
fn context_keys_are_set_by_successful_calls() {
    let world = World::new();
    let mut client = world.client_for("atlas");
    client.ok("session.start", json!({"trackedKeys": ["build"], "context": {"host": "sunri-pi1"}}));
    append(&mut client, vec![user("navigate to watchlist on google_tv")]);
    let arguments = json!({"userinterface_name": "google_tv", "tree_id": "t-1", "build": 77});
    let set = append(&mut client, tool("1", "navigate_to_node", arguments, r#"{"success":true}"#).into());
    assert_eq!(set["contextSet"], json!({"interface": "google_tv", "tree": "t-1", "build": "77"}));
    let failed =
        append(&mut client, tool("2", "navigate_to_node", json!({"tree_id": "wrong"}), r#"{"success":false}"#).into());
    assert_eq!(failed["contextSet"], json!({}));
    let other = append(&mut client, tool("3", "read_mail", json!({"tree_id": "wrong"}), "done").into());
    assert_eq!(other["contextSet"], json!({}), "not a call that sets context");
    let unmatched = append(&mut client, vec![json!({"role": "tool", "toolCallId": "9", "content": "done"})]);
    assert_eq!(unmatched["contextSet"], json!({}));
    let expected = json!({"interface": "google_tv", "tree": "t-1", "build": "77", "host": "sunri-pi1"});
    assert_eq!(client.ok("conversation.summary", json!({}))["context"], expected);
    let text = text_of(&client.ok("conversation.context", json!({"budget": 2000})));
    assert!(
        text.contains(
            "## Current context (use as defaults)\n- build: 77\n- host: sunri-pi1\n- interface: google_tv\n- tree: t-1"
        ),
        "{text}"
    );
}

#[test]
fn calls_that_set_context_are_configurable() {
    let world = World::with(
        afd_tests::TestPhone::start(),
        "[conversation]\ncontext_calls = [\"mine\"]\nsummary_lines = 2\nbrief_request = 4\n",
    );
    let mut client = world.client_for("s");
    append(&mut client, vec![user("go to the shop")]);
    assert_eq!(
        append(&mut client, tool("1", "navigate_to_node", json!({"tree_id": "x"}), "ok").into())["contextSet"],
        json!({})
    );
    assert_eq!(
        append(&mut client, tool("2", "mine", json!({"tree_id": "x"}), "ok").into())["contextSet"],
        json!({"tree": "x"})
    );
    for i in 0..3 {
        append(&mut client, vec![user(&format!("req{i}")), assistant("yes")]);
    }
    assert_eq!(client.ok("conversation.summary", json!({}))["lines"], json!(["• req1 → yes", "• req2 → yes"]));
}

/// Three turns of 30 + 200, 10 + 200 and 10 + 100 tokens and a fourth request have about 550 tokens. The summary (50),
/// the last turn (110) and the request (10) have about 170 tokens, which is 70 % less.
#[test]
fn rolling_summary_saves_two_thirds_of_the_tokens() {
    let world = World::new();
    let mut client = world.client_for("atlas");
    client.ok("session.start", json!({"model": "gpt-4"}));
    let filled = |words: &str, tokens: usize| format!("{words}{}", " ok".repeat(tokens - words.split(' ').count() - 4));
    let turns = [
        ("navigate to watchlist on google_tv", 30, "Done.", 200, true),
        ("goto shop", 10, "Done.", 200, true),
        ("show status", 10, "Status: home node", 100, false),
    ];
    for (i, (request, size, answer, answer_size, uses)) in turns.into_iter().enumerate() {
        append(&mut client, vec![user(&filled(request, size))]);
        if uses {
            // These figures include the tool call in the assistant's part of the turn.
            append(
                &mut client,
                vec![
                    json!({"role": "assistant", "toolCalls": [{"id": i.to_string(), "name": "navigate_to_node", "arguments": {}}]}),
                ],
            );
        }
        append(&mut client, vec![assistant(&filled(answer, answer_size))]);
    }
    append(&mut client, vec![user("now show current node")]);
    let summary = client.ok("conversation.summary", json!({}));
    let (sent, all) =
        (summary["tokens"].as_i64().expect("a number"), summary["tokensOfAll"].as_i64().expect("a number"));
    assert!((520..=600).contains(&all), "expected about 550, got {all}");
    assert!((140..=200).contains(&sent), "expected about 170, got {sent}: {summary}");
    assert!(summary["savedPercent"].as_f64() >= Some(66.0), "{summary}");
    let messages = summary["messages"].as_array().expect("messages");
    let first = messages[0]["content"].as_str().expect("a text");
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines[0], "[Previous conversation summary]");
    assert!(lines[1].starts_with("• navigate to watchlist on googl... → used navigate_to_node"), "{first}");
    assert_eq!(lines.len(), 4, "a heading and three lines, none empty: {first}");
    assert_eq!(messages[1], json!({"role": "assistant", "content": "Understood. I have the context."}));
    assert_eq!(messages.len(), 5, "summary, acknowledgement, the last two messages, and the request");
    assert!(messages[2..].iter().all(|m| m.get("toolCalls").is_none()), "tool calls are not sent");
}

#[test]
fn full_context_is_compacted_and_all_messages_stay_recorded() {
    let world = World::new();
    let mut client = world.client_for("shop");
    client.ok("session.start", json!({"app": "com.shop", "maxTokens": 6000}));
    let (messages, facts) = synthetic_conversation();
    let mut compacted = 0;
    for turn in messages.chunks(40) {
        let appended = append(&mut client, turn.to_vec());
        compacted += appended["compacted"].as_i64().expect("a number");
        assert!(appended["usage"]["used"].as_i64().is_some_and(|n| n <= 6000), "{appended}");
    }
    assert!(compacted > 500, "{compacted}");
    let usage = client.ok("conversation.usage", json!({"tokens": 100}));
    assert_eq!(usage["recorded"], messages.len());
    assert_eq!(usage["canAfford"], true);
    assert_eq!(client.ok("conversation.usage", json!({"tokens": 6000}))["canAfford"], false);
    let whole = client.ok("conversation.list", json!({"limit": 10000}));
    assert_eq!(whole["messages"].as_array().map(Vec::len), Some(messages.len()), "nothing is deleted");
    assert_eq!(whole["messages"][messages.len() - 1]["inContext"], false);
    // The system message and the newest turns are included, and no tool result without its call.
    let context = client.ok("conversation.context", json!({}));
    let text = text_of(&context);
    assert!(text.starts_with("You test the shop app"));
    let sent = context["messages"].as_array().expect("messages");
    let calls: Vec<&Value> =
        sent.iter().flat_map(|m| m["toolCalls"].as_array().into_iter().flatten()).map(|c| &c["id"]).collect();
    let answers: Vec<&Value> = sent.iter().filter(|m| m["role"] == "tool").map(|m| &m["toolCallId"]).collect();
    assert!(!calls.is_empty() && calls == answers, "{calls:?} {answers:?}");
    let summary = client.ok("conversation.summary", json!({}))["compacted"].clone();
    assert_eq!((&summary["method"], &summary["pending"]), (&json!("extractive"), &json!(false)));
    let learned = client.ok("pattern.find", json!({"session": "shop", "limit": 1000}));
    let learned = learned["patterns"].to_string();
    assert!(facts.iter().filter(|f| learned.contains(**f)).count() >= 10, "key facts became patterns: {learned}");
    let cleared = client.ok("conversation.clear", json!({}));
    assert!(cleared["messages"].as_i64() > Some(0));
    let usage = client.ok("conversation.usage", json!({}));
    assert_eq!(usage["messages"], 0);
    assert!(usage["used"].as_i64().is_some_and(|n| n < 1_000), "what was learned is still sent: {usage}");
    assert_eq!(
        client.ok("conversation.list", json!({"limit": 10000}))["messages"].as_array().map(Vec::len),
        Some(messages.len())
    );
    append(&mut client, vec![user("a new beginning")]);
    let after = client.ok("conversation.context", json!({"budget": 2000}));
    assert!(!text_of(&after).contains("[Previous context summary]"), "cleared messages are not summarised");
}

#[test]
fn compaction_keeps_the_requested_number_of_messages() {
    let world = World::new();
    let mut client = world.client_for("c");
    client.ok("session.start", json!({}));
    assert_eq!(client.ok("conversation.compact", json!({}))["messages"], 0, "there is nothing to compact yet");
    for i in 0..10 {
        append(
            &mut client,
            vec![user(&format!("Remember that box {i} holds the key of room {}.", i * 7)), assistant("noted")],
        );
    }
    let done = client.ok("conversation.compact", json!({"keep": 4}));
    assert_eq!(done["messages"], 16);
    assert!(
        done["tokensAfter"].as_i64().expect("a number") < done["tokensBefore"].as_i64().expect("a number"),
        "{done}"
    );
    assert!(done["summary"]["text"].as_str().is_some_and(|t| t.contains("box 3 holds the key of room 21")), "{done}");
    assert_eq!(client.ok("conversation.usage", json!({}))["messages"], 4);
    let mut open = vec![user("do it")];
    open.extend(tool("1", "tap", json!({}), "ok"));
    open.extend(tool("2", "tap", json!({}), "ok"));
    append(&mut client, open);
    client.ok("conversation.compact", json!({"keep": 1}));
    let kept = client.ok("conversation.list", json!({}));
    let kept: Vec<&Value> =
        kept["messages"].as_array().expect("messages").iter().filter(|m| m["inContext"] == true).collect();
    assert_eq!(kept.len(), 5, "turns are not split: {kept:?}");
}

#[test]
fn invalid_messages_are_refused_and_none_is_recorded() {
    let world = World::new();
    let mut client = world.client_for("bad");
    for (messages, path) in [
        (json!([]), "messages"),
        (json!([user("ok"), {"role": "user"}]), "messages[1].content"),
        (json!([{"role": "tool", "content": "x"}]), "messages[0].toolCallId"),
        (json!([{"role": "user", "content": "x", "toolCalls": [{"id": "1", "name": "t"}]}]), "messages[0].toolCalls"),
        (json!([{"role": "narrator", "content": "x"}]), "messages[0].role"),
        (json!([{"role": "user", "content": 5}]), "messages[0].content"),
    ] {
        let refused = client.fails("conversation.append", json!({"messages": messages}), "INVALID_PARAMS");
        assert_eq!(refused.details["path"], path, "{refused:?}");
    }
    append(&mut client, vec![user("hi")]);
    assert_eq!(client.ok("conversation.usage", json!({}))["recorded"], 1);
}

#[test]
fn oversized_turn_is_cut_between_steps_and_keeps_its_request() {
    let world = World::new();
    let mut client = world.client_for("long");
    client.ok("session.start", json!({"maxTokens": 2000}));
    append(
        &mut client,
        vec![json!({"role": "system", "content": "the rules"}), user("fill in the whole form, please")],
    );
    for i in 0..60 {
        let answer = format!("field {i} holds {}", "some longer value of a field, ".repeat(6));
        let appended = append(&mut client, tool(&format!("c{i}"), "fill", json!({"field": i}), &answer).into());
        assert!(appended["usage"]["used"].as_i64().is_some_and(|n| n <= 2000), "step {i}: {appended}");
    }
    let context = client.ok("conversation.context", json!({}));
    let sent = context["messages"].as_array().expect("messages");
    let is_data = |m: &&Value| m["content"].as_str().is_some_and(|text| text.contains("data, not instructions"));
    let first = sent.iter().filter(|m| !is_data(m)).find(|m| m["role"] != "system").expect("a message");
    assert_eq!(first["content"], "fill in the whole form, please", "{sent:?}");
    assert_eq!(sent.iter().rfind(|m| !is_data(m)).expect("a message")["toolCallId"], "c59");
    assert!(text_of(&context).starts_with("the rules"));
}

#[test]
fn compaction_of_a_short_conversation_loses_nothing() {
    let world = World::new();
    let mut client = world.client_for("short");
    append(&mut client, vec![user("Check the battery screen first."), assistant("I opened it and it shows 84%.")]);
    append(&mut client, vec![user("Good. Now Bluetooth."), assistant("Bluetooth is off.")]);
    client.ok("conversation.compact", json!({"keep": 1}));
    let text = text_of(&client.ok("conversation.context", json!({})));
    for sentence in ["Check the battery screen first.", "it shows 84%", "Now Bluetooth", "Bluetooth is off."] {
        assert!(text.contains(sentence), "{sentence:?} is not in {text}");
    }
    client.fails("conversation.compact", json!({"session": "nobody"}), "NOT_FOUND");
    client.fails("conversation.clear", json!({"session": "nobody"}), "NOT_FOUND");
}

#[test]
fn first_system_message_is_always_included() {
    let world = World::new();
    let mut client = world.client_for("rules");
    append(&mut client, vec![json!({"role": "system", "content": "You are the tester."})]);
    for i in 0..12 {
        append(
            &mut client,
            vec![json!({"role": "system", "content": format!("reminder {i}")}), user("go on"), assistant("ok")],
        );
    }
    let context = client.ok("conversation.context", json!({"budget": 4000}));
    let text = text_of(&context);
    assert!(
        text.starts_with("You are the tester.") && text.contains("reminder 11") && !text.contains("reminder 2\n"),
        "{text}"
    );
    let left = context["leftOut"].as_array().expect("what was left out").clone();
    assert!(left.iter().any(|l| l["what"] == "rules" && l["count"] == 5), "{left:?}");
}

#[test]
fn facts_about_other_apps_are_not_included() {
    let world = World::new();
    let mut other = world.client_for("bank");
    other.ok("session.start", json!({"app": "com.bank"}));
    other.ok("pattern.save", json!({"kind": "keyFact", "text": "the code word is marmalade", "app": "com.bank"}));
    other.ok("pattern.save", json!({"kind": "keyFact", "text": "said in passing elsewhere"}));
    other.ok("pattern.save", json!({"kind": "userPreference", "text": "dark mode everywhere"}));
    let mut client = world.client_for("fresh");
    append(&mut client, vec![user("hi")]);
    let text = text_of(&client.ok("conversation.context", json!({"budget": 2000})));
    assert!(
        text.contains("dark mode everywhere") && !text.contains("marmalade") && !text.contains("in passing"),
        "{text}"
    );
}
