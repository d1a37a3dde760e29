//! Words of all kinds are found, by each search.

use afd_tests::{Client, World};
use serde_json::{Value, json};

/// Stores a text as a memory, a note and a message.
fn keep(client: &mut Client, text: &str) {
    client.ok("recall.store", json!({"text": text, "scope": "everybody"}));
    client.ok("memory.save", json!({"topic": "kept", "content": text}));
    client.ok("conversation.append", json!({"messages": [text]}));
}

/// Returns the best match of each search for a query.
fn best(client: &mut Client, query: &str) -> [String; 4] {
    let mut first = |method: &str, params: Value, list: &str, text: &str| {
        let found = client.ok(method, params);
        found[list][0][text].as_str().unwrap_or_default().replace(['[', ']'], "")
    };
    [
        first("recall.search", json!({"query": query, "types": ["fact"]}), "entries", "text"),
        first("recall.search", json!({"query": query, "types": ["message"]}), "entries", "text"),
        first("memory.search", json!({"query": query}), "notes", "content"),
        first("conversation.search", json!({"query": query}), "messages", "text"),
    ]
}

#[test]
fn words_of_every_kind_are_found_by_every_search() {
    let world = World::new();
    let mut client = world.client_for("words");
    for n in 0..30 {
        keep(&mut client, &format!("an ordinary remark, number {n}"));
    }
    for (text, queries) in [
        ("She bought two cameras in Oslo", &["camera", "cameras"][..]),
        ("My son turned five", &["son", "sons"]),
        ("The war ended that year", &["war", "What about the war?"]),
        ("Try the new form for refunds", &["new form", "refund"]),
        ("Rewrite the parser in C++ first", &["C++"]),
        ("Port the solver to C# later", &["C#"]),
        ("Order #8812 is late", &["#8812", "8812"]),
        ("That was lovely \u{1f98a}", &["\u{1f98a}"]),
        ("\u{732b}\u{7cae}\u{5728}\u{7b2c}\u{4e8c}\u{4e2a}\u{62bd}\u{5c49}", &["\u{732b}", "\u{62bd}\u{5c49}"]),
        ("Die alten H\u{e4}user am Fluss sind verkauft worden", &["Haus", "h\u{e4}user", "HAUSER"]),
        ("Elle cherche ses lunettes dans le jardin", &["lunette"]),
        ("The Nested-Recycler view flickers", &["nestedrecycler", "flicker"]),
    ] {
        keep(&mut client, text);
        for query in queries {
            assert_eq!(best(&mut client, query), [text; 4], "{query}");
        }
    }
}

#[test]
fn an_answer_is_found_behind_a_hundred_other_questions() {
    let world = World::new();
    let mut client = world.client_for("dentist");
    keep(&mut client, "My dentist is called Dr. Okonkwo");
    let things = ["ship", "river", "colour", "street", "tower", "engine", "bakery", "teacher", "planet", "island"];
    for n in 0..100 {
        keep(&mut client, &format!("What is the name of the {} {n}?", things[n % things.len()]));
    }
    let found = best(&mut client, "What is the name of my dentist?");
    assert_eq!(found, ["My dentist is called Dr. Okonkwo"; 4]);
}

#[test]
fn the_answer_beside_a_question_is_found() {
    let world = World::new();
    let mut client = world.client_for("beside");
    let mut messages = Vec::new();
    for n in 0..20 {
        messages.push(json!({"role": "user", "content": format!("And how was day {n} on the boat?")}));
        messages.push(json!({"role": "assistant", "content": format!("Calm, some {n} gulls.")}));
    }
    messages.push(json!({"role": "user", "content": "Which vet looks after the rabbits of Carla now?"}));
    messages.push(json!({"role": "assistant", "content": "The old one, Hendrik, again."}));
    client.ok("conversation.append", json!({"messages": messages}));
    let found =
        client.ok("conversation.search", json!({"query": "Who is the vet of Carla\u{2019}s rabbits?", "limit": 2}));
    let texts: Vec<&str> =
        found["messages"].as_array().expect("messages").iter().filter_map(|m| m["text"].as_str()).collect();
    assert!(texts.len() == 2 && texts[1].contains("Hendrik"), "{found}");
    // Who looks for a word gets only messages that have it.
    let found = client.ok("conversation.search", json!({"query": "rabbits"}));
    assert_eq!((found["messages"].as_array().map(Vec::len), &found["matched"]), (Some(1), &json!("all")), "{found}");
}

#[test]
fn a_context_is_filled_with_whole_turns() {
    let world = World::new();
    let mut client = world.client_for("fill");
    let mut messages = Vec::new();
    for n in 0..120 {
        let text =
            format!("About the greenhouse: shelf {n} has {} pots of basil, and Ines waters it on day {n}.", n * 3);
        messages.push(json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "content": text}));
    }
    client.ok("conversation.append", json!({"messages": messages}));
    let context = client.ok("recall.context", json!({"task": "water the basil in the greenhouse", "budget": 1500}));
    let tokens = context["tokens"].as_i64().expect("a number");
    assert!((1350..=1500).contains(&tokens), "{tokens}");
    assert!(context["text"].to_string().contains("said by assistant): About the greenhouse"), "{context}");
}
