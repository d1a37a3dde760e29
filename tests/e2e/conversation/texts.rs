//! Text in any script, long messages, and tokenizer tables.

use std::io::{BufRead, BufReader, Write};

use afd_tests::wait::until;
use afd_tests::{TestPhone, World};
use serde_json::json;

use super::{append, assistant, text_of, user};

#[test]
fn text_in_any_script_is_counted_stored_and_truncated() {
    let world = World::new();
    let counter = afd_base::model::Tokenizers::default().counter("o200k_base");
    let repeated = |words: &str, bytes: usize| words.repeat(bytes / words.len());
    // Longer than the chunks in which text is tokenized or truncated.
    let long = |words: &str| repeated(words, 128 << 10);
    let texts = [
        ("latin", repeated("The order A-4711 goes to Ottilie in Bregenz. ", 1 << 20)),
        ("chinese", long("订单号是四八二一三，收件人是王芳。")),
        ("arabic", long("رقم الطلب هو ٤٨٢١٣ والمستلم في عمّان. ")),
        ("emoji", long("👨‍👩‍👧‍👦🏳️‍🌈👍🏽")),
        ("devanagari", long("आदेश संख्या अड़तालीस हज़ार है। ")),
        ("blanks", long(" ")),
        ("one word", long("a")),
        ("json", long("{\"a\": [1, 2, {\"b\": null}]} ")),
    ];
    for (name, text) in &texts {
        let mut client = world.client_for(name);
        let appended = append(&mut client, vec![user("before"), user(text), assistant("The answer is forty-two.")]);
        let expected =
            4 * 3 + counter.count("before") + counter.count(text) + counter.count("The answer is forty-two.");
        assert_eq!(appended["tokens"], expected, "{name}");
        let stored = client.ok("conversation.list", json!({"limit": 2}));
        assert_eq!(stored["messages"][1]["content"], json!(text), "{name}");
        let context = client.ok("conversation.context", json!({"budget": 2000}));
        assert!(context["tokens"].as_i64().is_some_and(|n| n <= 2000), "{name}: {}", context["tokens"]);
        let sent = text_of(&context);
        assert!(!sent.contains('\u{fffd}') && sent.contains("forty-two"), "{name}");
        if *name != "blanks" {
            assert!(sent.contains("tokens left out ...]"), "{name}: {}", &sent.chars().take(300).collect::<String>());
        }
    }
}

#[test]
fn unknown_tokenizer_is_reported_as_an_estimate() {
    let world = World::new();
    let mut client = world.client_for("other");
    client.ok("session.start", json!({"model": "claude-sonnet"}));
    let appended = append(&mut client, vec![user("How long is a piece of string, would you say?")]);
    assert_eq!(appended["usage"]["tokenizer"], "estimate");
    assert!((8..=20).contains(&appended["tokens"].as_i64().expect("a number")), "{appended}");
    assert_eq!(client.ok("conversation.context", json!({"budget": 1000}))["tokenizer"], "estimate");
    assert_eq!(client.ok("conversation.list", json!({}))["messages"][0]["tokenizer"], "estimate");
}

#[test]
fn idle_tokenizer_tables_are_dropped() {
    let world = World::with_process(TestPhone::start(), "[conversation]\ntokenizer_idle_ms = 300\n");
    let kilobytes = |field: &str| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", world.daemon.pid())).expect("reads");
        let line = status.lines().find(|l| l.starts_with(field)).expect("a line").to_owned();
        line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
    };
    let mut client = world.client_for("t");
    client.ok("memory.stats", json!({}));
    let before = kilobytes("VmRSS:");
    append(&mut client, vec![user("hello world")]);
    let peak = kilobytes("VmHWM:");
    assert!(peak > before + 30_000, "the tables were loaded: {before} kB before, {peak} kB at most");
    // The first message also allocates memory that is not returned, so most of the growth is enough.
    let after = until("most of the tables' memory to be returned", || {
        Some(kilobytes("VmRSS:")).filter(|now| now.saturating_sub(before) < (peak - before) / 2)
    });
    println!("{before} kB before, {peak} kB at most, {after} kB after");
    assert_eq!(append(&mut client, vec![user("hello world")])["tokens"], 6, "the tables are loaded again when needed");
}

#[test]
fn messages_of_one_connection_stay_in_order() {
    let world = World::new();
    let calls: Vec<_> = (0..20)
        .map(|i| {
            json!({"jsonrpc": "2.0", "id": i, "method": "conversation.append",
            "params": {"session": "order", "messages": [user(&format!("message {i}"))]}})
        })
        .collect();
    let mut stream = std::os::unix::net::UnixStream::connect(world.socket()).expect("connects");
    let lines: String = calls.iter().map(|c| format!("{c}\n")).collect();
    stream.write_all(lines.as_bytes()).expect("writes");
    let responses = BufReader::new(&stream).lines().take(20).collect::<Result<Vec<_>, _>>().expect("reads");
    assert!(responses.iter().all(|r| r.contains("\"result\"")), "{responses:?}");
    let listed = world.client_for("order").ok("conversation.list", json!({"limit": 100}));
    let contents: Vec<&str> =
        listed["messages"].as_array().expect("messages").iter().filter_map(|m| m["content"].as_str()).collect();
    let expected: Vec<String> = (0..20).rev().map(|i| format!("message {i}")).collect();
    assert_eq!(contents, expected);
}
