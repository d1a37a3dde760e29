//! Benchmarks of conversations:
//!
//! * `conversation.context` and `conversation.append` with 10,000 stored messages, compared with 100;
//! * `conversation.search` in 100,000 messages, compared with 1,000;
//! * the resident memory while the tokenizer tables are in use, and after they are dropped;
//! * how many of the facts that later turns need are in a context, compared with baselines without a memory.

use std::time::{Duration, Instant};

use afd_tests::contexts::{self, BUDGETS, Score, WAYS};
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use crate::{Times, report};

const SMALL: usize = 100;
const LARGE: usize = 10_000;
/// Numbers of messages in the searches.
const SEARCHED: [usize; 2] = [1_000, 100_000];
/// Queries with rare words, with words in every tenth message, and with words in every fourth message.
const QUERIES: [&str; 4] = ["machine 70", "shelf parts", "row done", "go on next"];
const CALLS: usize = 200;
const ROUNDS: usize = 3;

/// A turn of four messages: a request, a tool call, the tool's result, a reply.
fn turn(n: usize) -> [Value; 4] {
    let id = format!("c{n}");
    let fact = match n % 10 {
        0 => format!("Remember that shelf {} holds the spare parts of machine {}.", n * 7 % 1009, n),
        _ => "Go on with the next row, please.".to_owned(),
    };
    let rows: Vec<Value> =
        (0..4).map(|i| json!({"ref": format!("@n{i}"), "label": format!("Row {} of {n}", n * 3 + i)})).collect();
    [
        json!({"role": "user", "content": fact}),
        json!({"role": "assistant", "toolCalls": [{"id": id, "name": "observe_refs", "arguments": {"page": n % 17}}]}),
        json!({"role": "tool", "toolCallId": id, "content": json!({"success": true, "rows": rows}).to_string()}),
        json!({"role": "assistant", "content": format!("Row {n} is done, it took {} ms.", n * 31 % 977)}),
    ]
}

fn fill(client: &mut Client, messages: usize) {
    let all: Vec<Value> = (0..messages / 4).flat_map(turn).collect();
    client.ok("session.start", json!({"goal": "count the rows", "app": "com.shop", "maxTokens": 100_000_000}));
    for chunk in all.chunks(500) {
        client.ok("conversation.append", json!({"messages": chunk}));
    }
}

fn measure(client: &mut Client, mut call: impl FnMut(&mut Client, usize)) -> Vec<Duration> {
    (0..CALLS)
        .map(|n| {
            let started = Instant::now();
            call(client, n);
            started.elapsed()
        })
        .collect()
}

/// Returns the resident memory of the daemon, KiB.
fn resident(world: &World) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.daemon.pid())).expect("reads");
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("a VmRSS line").to_owned();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number of KiB")
}

/// Measures and prints the results.
pub fn run() {
    let world =
        World::with_process(TestPhone::start(), "[conversation]\nmax_messages = 1000000\ntokenizer_idle_ms = 2000\n");
    let idle = resident(&world);
    let mut small = world.client_for("small");
    let started = Instant::now();
    small.ok("conversation.append", json!({"session": "first", "messages": [{"role": "user", "content": "hi"}]}));
    let loaded = started.elapsed();
    let mut large = world.client_for("large");
    fill(&mut small, SMALL);
    fill(&mut large, LARGE);
    // Both conversations exceed 2,000 tokens. The larger budgets exceed 100 messages.
    for (budget, name) in
        [(2_000, "context of 2,000 tokens"), (4_000, "context of 4,000 tokens"), (32_000, "context of 32,000 tokens")]
    {
        let context = |client: &mut Client, _: usize| {
            let made = client.call("conversation.context", json!({"budget": budget})).expect("a context");
            assert!(made["tokens"].as_i64().is_some_and(|n| n <= budget));
        };
        let tokens = |client: &mut Client| {
            client.call("conversation.context", json!({"budget": budget})).expect("a context")["tokens"].clone()
        };
        println!("{name}: {} with 100 messages, {} with 10,000", tokens(&mut small), tokens(&mut large));
        let (mut few, mut many) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            few.extend(measure(&mut small, context));
            many.extend(measure(&mut large, context));
        }
        let (few, many) = (Times::new(few), Times::new(many));
        report(&format!("{name}, 10,000 messages, p50"), many.p50() / 1e3, few.p50() / 1e3, "ms", "100 messages", "2x");
        report(&format!("{name}, 10,000 messages, p99"), many.p99() / 1e3, few.p99() / 1e3, "ms", "100 messages", "-");
    }
    let append = |client: &mut Client, n: usize| {
        client.ok("conversation.append", json!({"messages": turn(n + LARGE)}));
    };
    let (few, many) = (Times::new(measure(&mut small, append)), Times::new(measure(&mut large, append)));
    report("append a turn of four messages, p50", many.p50() / 1e3, few.p50() / 1e3, "ms", "100 messages", "-");
    let peak = resident(&world);
    let after = until("the tables to be dropped", || Some(resident(&world)).filter(|now| *now + 46_000 < peak));
    println!(
        "o200k_base tables: loaded with the first message in {:.0} ms; \
         resident {:.1} MiB at the start, {:.1} in use, {:.1} once dropped (idle budget 30)",
        loaded.as_secs_f64() * 1e3,
        idle as f64 / 1024.0,
        peak as f64 / 1024.0,
        after as f64 / 1024.0
    );
    search();
    scores();
}

/// Measures searches and prints the results.
fn search() {
    let world = World::with_process(TestPhone::start(), "[conversation]\nmax_messages = 1000000\n");
    let mut clients = SEARCHED.map(|messages| {
        let mut client = world.client_for(&messages.to_string());
        fill(&mut client, messages);
        client
    });
    for query in QUERIES {
        let [few, many] = clients.each_mut().map(|client| {
            Times::new(measure(client, |client, _| {
                client.ok("conversation.search", json!({"query": query}));
            }))
        });
        report(
            &format!("search {query:?}, 100,000 messages, p50"),
            many.p50() / 1e3,
            few.p50() / 1e3,
            "ms",
            "1,000 messages",
            "3x",
        );
    }
}

/// Prints the scores of contexts for each set of conversations. Their authors did not know the rules.
fn scores() {
    for half in ["tuned", "held"] {
        let world = World::new();
        let mut totals = vec![Score::default(); BUDGETS.len()];
        for conversation in contexts::load(half) {
            let found = contexts::score(&mut world.client_for(&conversation.id), &conversation);
            totals.iter_mut().zip(&found).for_each(|(total, score)| total.add(score));
        }
        for (total, budget) in totals.iter().zip(BUDGETS) {
            let ways: Vec<String> = WAYS.iter().zip(total.kept).map(|(way, kept)| format!("{way} {kept}")).collect();
            let times = total.kept[0] as f64 / total.best_baseline().max(1) as f64;
            println!(
                "{half}, {budget} tokens, facts kept of {}: {}; {times:.2}x the best baseline",
                total.needed,
                ways.join(", ")
            );
            println!("  by kind and speaker (name, needed, kept): {:?}", total.groups);
        }
    }
}
