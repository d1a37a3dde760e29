//! `memory.export` and `memory.import`: moving everything to another memory, and merging the memories of two machines.

use std::path::{Path, PathBuf};

use afd_tests::{Client, TestPhone, World, wait};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";
const DAY_MS: i64 = 86_400_000;

fn work(world: &World, client: &mut Client, row: &str) {
    world.phone.scene(SETTINGS, None);
    client.ok("observe.page", json!({}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("recover.relaunch", json!({"package": SETTINGS}));
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": row, "exactMatch": true}));
    client.ok("observe.page", json!({}));
    client.ok("verify.textContains", json!({"text": row}));
}

/// Returns a world whose memory has records of every kind.
pub fn rich() -> World {
    let world = World::with_clock();
    let mut client = world.client();
    work(&world, &mut client, "Display");
    world.advance(200 * DAY_MS);
    client.ok("memory.prune", json!({"older": "100d"}));
    work(&world, &mut client, "Wi-Fi");
    client.ok("memory.save", json!({"app": SETTINGS, "topic": "nav/wifi", "content": "Settings, then Wi-Fi"}));
    let gone =
        client.ok("memory.save", json!({"topic": "gone", "content": "a note that is deleted"}))["note"]["id"].clone();
    client.ok("memory.delete", json!({"id": gone}));
    let mut tester = world.client_for("check-out");
    tester.ok("session.start", json!({"goal": "test the network page", "app": SETTINGS}));
    tester.ok("session.task.add", json!({"description": "open Wi-Fi"}));
    tester.ok("session.bug.add", json!({"title": "the switch needs two taps", "severity": "high"}));
    tester.ok("session.result.add", json!({"name": "opens", "status": "passed"}));
    tester.ok(
        "pattern.save",
        json!({"kind": "flakyElement", "text": "the Wi-Fi switch needs two taps", "app": SETTINGS}),
    );
    tester.ok(
        "conversation.append",
        json!({"messages": [{"role": "user", "content": "Order 4711 goes to Oslo."}, {"role": "assistant", "content": "Noted."}]}),
    );
    tester.ok("session.progress", json!({"nextSteps": ["look at Bluetooth"]}));
    world
}

/// Returns a world with an empty memory, whose clock is ahead by some days.
fn empty(days: i64) -> World {
    let world = World::with_clock();
    world.advance(days * DAY_MS);
    world
}

pub fn export(world: &World, name: &str) -> (PathBuf, Value) {
    let file = world.dir().join(name);
    let done = world.client().ok("memory.export", json!({"file": file}));
    (file, done)
}

pub fn import(world: &World, file: &Path) -> Value {
    world.client().ok("memory.import", json!({"file": file}))
}

/// Returns the sum of a count over all records.
pub fn sum(done: &Value, count: &str) -> i64 {
    done["records"].as_object().expect("records").values().map(|c| c[count].as_i64().expect("a number")).sum()
}

/// Returns the experience with the app after it was recounted: action, target, successes, verifications, failures,
/// cause.
fn known(world: &World) -> Vec<Value> {
    let mut client = world.client();
    wait::until("the experience", || {
        let found = client.ok("memory.experience", json!({"app": SETTINGS, "limit": 100}));
        let mut rows: Vec<Value> =
            found["transitions"].as_array()?.iter().chain(found["recoveries"].as_array()?).map(row).collect();
        rows.sort_by_key(Value::to_string);
        (!rows.is_empty()).then_some(rows)
    })
}

fn row(t: &Value) -> Value {
    json!([
        t["action"]["verb"],
        t["action"]["target"]["label"],
        t["successCount"],
        t["verifiedCount"],
        t["failureCount"],
        t["failureCause"]
    ])
}

#[test]
fn memory_moves_as_a_whole() {
    let world = rich();
    let (file, done) = export(&world, "a.jsonl");
    for kind in [
        "device",
        "session",
        "page",
        "fold",
        "baselineOutcome",
        "observation",
        "event",
        "note",
        "task",
        "bug",
        "message",
        "state",
    ] {
        assert!(done["records"][kind].as_u64() > Some(0), "{kind}: {done}");
    }
    let other = empty(300);
    // Rows that exist here but were never used give way to the imported ones.
    other.client().ok("memory.context", json!({}));
    other.client().ok("device.health", json!({}));
    let taken = import(&other, &file);
    assert_eq!((sum(&taken, "leftOut"), sum(&taken, "renewed")), (0, 0), "{taken}");
    let (again, _) = export(&other, "b.jsonl");
    let lines = |file: &Path| std::fs::read_to_string(file).expect("reads");
    let (first, second) = (lines(&file), lines(&again));
    for (a, b) in first.lines().zip(second.lines()) {
        assert_eq!(a, b);
    }
    assert_eq!(first.len(), second.len());
    assert_eq!(known(&other), known(&world));
    let twice = import(&other, &file);
    assert_eq!((sum(&twice, "added"), sum(&twice, "renewed"), sum(&twice, "leftOut")), (0, 0, 0), "{twice}");
    let mut client = other.client();
    assert_eq!(client.ok("memory.search", json!({"query": "wifi"}))["notes"].as_array().map(Vec::len), Some(1));
    wait::until("the search entries", || {
        let found = client.ok("conversation.search", json!({"session": "check-out", "query": "Oslo"}));
        (found["messages"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    let states = client.ok("visual.states", json!({"app": SETTINGS, "all": true}))["states"].as_array().map(Vec::len);
    assert_eq!(
        states,
        world.client().ok("visual.states", json!({"app": SETTINGS, "all": true}))["states"].as_array().map(Vec::len)
    );
}

#[test]
fn memories_of_two_machines_become_one() {
    let (one, two) = (World::new(), World::new());
    work(&one, &mut one.client(), "Display");
    work(&two, &mut two.client(), "Display");
    work(&two, &mut two.client(), "Wi-Fi");
    one.client().ok("memory.save", json!({"topic": "t", "content": "from the first machine"}));
    let (file, _) = export(&one, "one.jsonl");
    let before = known(&two);
    let states = |world: &World| {
        world.client().ok("visual.states", json!({"app": SETTINGS, "all": true}))["states"].as_array().map(Vec::len)
    };
    let learned = states(&two);
    for _ in 0..2 {
        let done = import(&two, &file);
        assert_eq!(sum(&done, "leftOut"), 0, "{done}");
        let sums = |rows: &[Value]| rows.iter().map(|r| r[2].as_i64().unwrap_or(0)).sum::<i64>();
        let expected = sums(&before) + sums(&known(&one));
        wait::until("the counters", || (sums(&known(&two)) == expected).then_some(()));
        assert_eq!(states(&two), learned, "pages that both know are the same states");
    }
    let events = two.client().ok("memory.log", json!({"limit": 100}))["events"].clone();
    for (field, name) in [("session", "default"), ("device", "pixel")] {
        let named = |wanted: &dyn Fn(&str) -> bool| {
            events.as_array().expect("events").iter().any(|e| e[field].as_str().is_some_and(wanted))
        };
        assert!(named(&|n| n == name) && named(&|n| n.starts_with(&format!("{name} ("))), "{events}");
    }
    assert_eq!(
        two.client().ok("memory.search", json!({"query": "machine"}))["notes"].as_array().map(Vec::len),
        Some(1)
    );
    work(&two, &mut two.client(), "Wi-Fi");
}

/// Events that were pruned in one copy and not in the other count once.
#[test]
fn pruned_and_unpruned_copies_merge_without_counting_twice() {
    let world = World::with_clock();
    let mut client = world.client();
    work(&world, &mut client, "Display");
    world.advance(50 * DAY_MS);
    work(&world, &mut client, "Display");
    let (early, _) = export(&world, "early.jsonl");
    let copy = empty(200);
    import(&copy, &early);
    world.advance(50 * DAY_MS);
    client.ok("memory.prune", json!({"older": "80d"}));
    work(&world, &mut client, "Wi-Fi");
    let (late, _) = export(&world, "late.jsonl");
    let expected = known(&world);
    for file in [&late, &early, &late] {
        import(&copy, file);
        wait::until("the counters", || (known(&copy) == expected).then_some(()));
    }
    let (back, _) = export(&copy, "back.jsonl");
    import(&world, &back);
    wait::until("the counters", || (known(&world) == expected).then_some(()));
}

/// Records that were deleted in one copy do not come back from the other, and local changes are kept.
#[test]
fn deleted_content_does_not_come_back() {
    let world = World::new();
    let mut client = world.client_for("trip");
    client.ok("session.start", json!({"goal": "plan"}));
    client.ok("session.task.add", json!({"description": "call the hotel"}));
    client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "The code is 4711."}]}));
    let note = client.ok("memory.save", json!({"topic": "t", "content": "secret plan"}))["note"]["id"].clone();
    let (file, _) = export(&world, "before.jsonl");
    client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "We fly on Monday."}]}));
    import(&world, &file);
    let messages = |client: &mut Client| {
        client.ok("conversation.list", json!({"session": "trip"}))["messages"].as_array().map(Vec::len)
    };
    assert_eq!(messages(&mut client), Some(2), "an older copy takes nothing away");
    client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "And back on Friday."}]}));
    client.ok("memory.delete", json!({"id": note}));
    client.ok("session.delete", json!({"session": "trip"}));
    let done = import(&world, &file);
    assert_eq!(sum(&done, "added"), 0, "{done}");
    assert_eq!(client.ok("memory.search", json!({"query": "secret"}))["notes"].as_array().map(Vec::len), Some(0));
    let (after, _) = export(&world, "after.jsonl");
    let text = std::fs::read_to_string(after).expect("reads");
    assert!(!text.contains("4711") && !text.contains("hotel") && !text.contains("secret plan"), "{text}");
}

/// A conversation that continued in two copies is not merged, and the result reports that.
#[test]
fn conversation_that_went_on_in_both_copies_is_not_mixed() {
    let world = World::new();
    let mut client = world.client();
    let say = |client: &mut Client, text: &str| {
        client.ok("conversation.append", json!({"messages": [{"role": "user", "content": text}]}));
    };
    say(&mut client, "We meet on Monday.");
    let (file, _) = export(&world, "a.jsonl");
    let copy = World::bare(TestPhone::start(), "");
    import(&copy, &file);
    say(&mut client, "Bring the red folder.");
    say(&mut copy.client(), "Bring the blue folder.");
    let (file, _) = export(&world, "b.jsonl");
    let done = import(&copy, &file);
    assert_eq!(done["records"]["message"]["leftOut"], json!(1), "{done}");
    assert!(done["remarks"][0].as_str().is_some_and(|remark| remark.contains("went on here")), "{done}");
    let said = copy.client().ok("conversation.list", json!({}))["messages"].to_string();
    assert!(said.contains("blue") && !said.contains("red"), "{said}");
    say(&mut copy.client(), "And a pen.");
    // A conversation that continued in only one copy is continued by the import.
    let (file, _) = export(&copy, "c.jsonl");
    let third = World::bare(TestPhone::start(), "");
    import(&third, &world.dir().join("a.jsonl"));
    import(&third, &file);
    assert_eq!(third.client().ok("conversation.list", json!({}))["messages"].as_array().map(Vec::len), Some(3));
    say(&mut third.client(), "Thanks.");
}

/// Events that were pruned in one copy count once in the totals of a session.
#[test]
fn totals_of_sessions_are_not_doubled() {
    let world = World::with_clock();
    let mut client = world.client();
    work(&world, &mut client, "Display");
    let (early, _) = export(&world, "early.jsonl");
    let copy = empty(150);
    import(&copy, &early);
    world.advance(100 * DAY_MS);
    client.ok("memory.prune", json!({"older": "50d"}));
    let (late, _) = export(&world, "late.jsonl");
    let totals = |world: &World| world.client().ok("session.show", json!({"session": "default"}))["statistics"].clone();
    let expected = totals(&world);
    import(&copy, &late);
    assert_eq!(totals(&copy), expected);
    // Pruning is refused while the experience is being recounted.
    wait::until("the counters", || copy.client().call("memory.prune", json!({"older": "50d"})).ok());
    assert_eq!(totals(&copy), expected);
}

#[test]
fn file_that_does_not_fit_changes_nothing() {
    let world = World::new();
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "t", "content": "here"}));
    let (file, _) = export(&world, "a.jsonl");
    let good = std::fs::read_to_string(&file).expect("reads");
    // Position of the last line, which contains the number of records.
    let end = good.trim_end().rfind('\n').expect("lines") + 1;
    let count: u64 = serde_json::from_str::<Value>(&good[end..]).expect("JSON")["records"].as_u64().expect("a number");
    let with = |line: &str| format!("{}{line}\n{}\n", &good[..end], json!({"type": "end", "records": count + 1}));
    let note = |uid: &str| json!({"type": "note", "uid": uid, "origin": "o"}).to_string();
    let observation =
        |seq: i64, source: &str| json!({"type": "observation", "uid": "u-2", "seq": seq, "source": source}).to_string();
    let baseline = json!({"type": "baselineOutcome", "uid": "u-3", "action": "{}"}).to_string();
    for (bad, why) in [
        ("", "an empty file"),
        ("{}", "line 1"),
        ("{\"format\":\"afd-memory\",\"version\":1,\"schema\":9999,\"scope\":\"memory\"}", "schema"),
        (&good[..end], "cut off"),
        (&format!("{good}{{\"type\":\"note\"}}\n"), "after the end"),
        (&with("not json"), "line"),
        (&with(r#"{"type":"intruder","uid":"x"}"#), "intruder"),
        (&with(&note("u-1")), "NOT NULL"),
        (&with(&observation(i64::MAX, "page")), "seq"),
        (&with(&observation(-1, "page")), "seq"),
        (&with(&observation(1, "telepathy")), "source"),
        (&with(&baseline), "action"),
    ] {
        std::fs::write(&file, bad).expect("writes");
        let error = client.fails("memory.import", json!({"file": file}), "INVALID_PARAMS");
        assert!(error.message.contains(why), "{error:?}");
    }
    let session = world.dir().join("session.jsonl");
    client.ok("session.export", json!({"format": "lines", "file": session}));
    let error = client.fails("memory.import", json!({"file": session}), "INVALID_PARAMS");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("session import")), "{error:?}");
    client.fails("memory.import", json!({"file": "/dev/zero"}), "INVALID_PARAMS");
    client.fails("memory.export", json!({"file": world.dir().join("memory.db")}), "INVALID_PARAMS");
    let pipe = world.dir().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
    for special in [pipe.as_path(), Path::new("/dev/stdin"), world.dir()] {
        if std::fs::symlink_metadata(special).is_ok_and(|meta| !meta.is_symlink()) {
            client.fails("memory.export", json!({"file": special}), "INVALID_PARAMS");
        }
    }
    assert_eq!(client.ok("memory.search", json!({}))["notes"].as_array().map(Vec::len), Some(1));
    std::fs::write(&file, &good).expect("writes");
    let other = World::bare(TestPhone::start(), "");
    let rehearsed = other.client().ok("memory.import", json!({"file": file, "dryRun": true}));
    assert!(sum(&rehearsed, "added") > 0, "{rehearsed}");
    assert_eq!(other.client().ok("memory.search", json!({}))["notes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn copies_that_worked_on_their_own_are_merged_side_by_side() {
    let world = World::with_clock();
    let mut client = world.client();
    work(&world, &mut client, "Display");
    work(&world, &mut client, "Wi-Fi");
    let (file, _) = export(&world, "a.jsonl");
    let before = known(&world);
    // Simulate a copy of this memory that did the same work: its events and observations have the same device and
    // sequence numbers, but other uids.
    let text = std::fs::read_to_string(&file).expect("reads");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let recorded = |record: &&Value| record["type"] == "event" || record["type"] == "observation";
    let mut copy = text.clone();
    for uid in records.iter().filter(recorded).filter_map(|record| record["uid"].as_str()) {
        copy = copy
            .replace(uid, &format!("{}{}", &uid[..uid.len() - 4], if uid.ends_with("0000") { "0001" } else { "0000" }));
    }
    let origin = records.iter().find_map(|record| record["origin"].as_str()).expect("an origin");
    let other = format!("{}0000", &origin[..origin.len() - 4]);
    let lines: Vec<String> = copy
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).expect("JSON");
            if recorded(&&record) { line.replace(origin, &other) } else { line.to_owned() }
        })
        .collect();
    std::fs::write(&file, lines.join("\n") + "\n").expect("writes");
    let events = records.iter().filter(|record| record["type"] == "event").count();
    import(&world, &file);
    let twice = |row: &Value| {
        let mut row = row.clone();
        for count in row.as_array_mut().into_iter().flatten().filter(|value| value.is_i64()) {
            *count = json!(count.as_i64().map(|n| n * 2));
        }
        row
    };
    let expected: Vec<Value> = before.iter().map(twice).collect();
    wait::until("both to be counted", || (known(&world) == expected).then_some(()));
    // However short the chunks are, none ends between two events with the same number.
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    afd_experience::memory::rebuild::begin(&connection).expect("begins");
    while !afd_experience::memory::rebuild::some(&connection, &afd_store::Piece::lasting(std::time::Duration::ZERO))
        .expect("counts")
    {}
    assert_eq!(known(&world), expected);
    // Pages of the log may end between two events with the same number.
    let (mut uids, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = client.ok("memory.log", json!({"limit": 3, "cursor": cursor}));
        uids.extend(
            page["events"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|event| event["uid"].as_str().map(str::to_owned)),
        );
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    uids.sort();
    uids.dedup();
    assert_eq!(uids.len(), events * 2);
}
