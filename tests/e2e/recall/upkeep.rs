//! Maintenance of entries: what is merged and archived, whose confidence changes, and what is left unchanged.

use afd_tests::{Client, World};
use serde_json::{Value, json};

use super::{Backend, finds, recall, search, told};

const DAY: i64 = 86_400_000;

fn change(done: &Value, name: &str) -> Value {
    done["changes"].as_array().expect("changes").iter().find(|c| c["change"] == name).cloned().unwrap_or_default()
}

fn uids(change: &Value) -> Vec<&str> {
    change["rows"].as_array().expect("rows").iter().filter_map(|row| row["uid"].as_str()).collect()
}

on_both! {
    upkeep_archives_merges_and_expires_and_a_dry_run_changes_nothing,
    stored_memories_move_with_an_export,
}

fn upkeep_archives_merges_and_expires_and_a_dry_run_changes_nothing(backend: &Backend) {
    let world = World::with_clock_and(&backend.settings(""));
    let mut client = world.client_for("old");
    client.ok("session.start", json!({"goal": "count the flamingos"}));
    client.ok("session.end", json!({}));
    let mut client = world.client_for("new");
    let now = client.ok("daemon.version", json!({}))["startedAt"].as_i64().expect("a time");
    client.ok(
        "recall.store",
        json!({"text": "the flamingo sale ends soon", "scope": "everybody", "expiresAt": now + 10 * DAY}),
    );
    for text in [
        "the flamingo needs 8 characters",
        "The flamingo needs 8 characters.",
        "the flamingo needs 9 characters",
        "the flamingo does not need 8 characters",
    ] {
        client.ok("pattern.save", json!({"kind": "validationRule", "text": text, "app": "com.a"}));
    }
    let patterns = client.ok("pattern.list", json!({}))["patterns"].clone();
    let (kept, gone) = (&patterns[3]["uid"], &patterns[2]["uid"]);
    assert_eq!(
        client.ok("recall.upkeep", json!({}))["changes"],
        json!([{"change": "merged", "count": 1, "examples": ["The flamingo needs 8 characters."], "rows": [{"uid": gone, "into": kept}]}])
    );
    assert_eq!(client.ok("pattern.list", json!({}))["patterns"].as_array().map(Vec::len), Some(3));
    assert!(finds(&mut client, "flamingos", "session old"));
    world.advance(40 * DAY);
    assert!(
        !told(&search(&mut client, "flamingo sale")).iter().any(|e| e.starts_with("fact")),
        "what has expired is not found"
    );
    let dry = client.ok("recall.upkeep", json!({"dryRun": true}));
    let changes: Vec<&str> =
        dry["changes"].as_array().expect("changes").iter().filter_map(|c| c["change"].as_str()).collect();
    assert_eq!(changes, ["expired", "archived"], "{dry}");
    assert!(finds(&mut client, "flamingos", "session old"), "a dry run changes nothing");
    let done = client.ok("job.run", json!({"name": "recall-upkeep"}));
    assert_eq!(done["lastResult"], "1 expired, 1 archived");
    assert!(!finds(&mut client, "flamingos", "session old"));
    let archived = recall(&mut client, json!({"query": "flamingos", "archived": true}));
    assert!(told(&archived).contains(&"session old".to_owned()), "{archived}");
    let runs = client.ok("recall.upkeep", json!({"dryRun": true}));
    assert_eq!((runs["runs"].as_array().map(Vec::len), &runs["changes"]), (Some(2), &json!([])), "{runs}");
    let logged = &runs["runs"][1]["changes"][0];
    assert_eq!(
        (&logged["rows"], &logged["examples"]),
        (&json!([{"uid": gone, "into": kept}]), &Value::Null),
        "no texts are kept"
    );
}

fn stored_memories_move_with_an_export(backend: &Backend) {
    let (from, to) = (backend.world(), backend.world());
    let (mut client, mut other) = (from.client(), to.client());
    client.ok(
        "recall.store",
        json!({"text": "the pelican is on leave", "scope": "everybody", "tags": ["zoo", "keeper"]}),
    );
    let file = from.dir().join("memory.jsonl");
    client.ok("memory.export", json!({"file": file}));
    for _ in 0..2 {
        other.ok("memory.import", json!({"file": file}));
        let found = recall(&mut other, json!({"query": "pelican", "tags": ["zoo", "Keeper"]}));
        assert_eq!(told(&found), ["fact the pelican is on leave"], "{found}");
    }
}

#[test]
fn sessions_in_which_nothing_happens_are_archived_and_come_back_when_they_go_on() {
    let world = World::with_clock_and("");
    let mut names = Vec::new();
    for (name, goal) in
        [("quiet", "count herons"), ("acting", "feed herons"), ("noting", "draw herons"), ("talking", "hear herons")]
    {
        let session = world.client_for(name).ok("session.start", json!({"goal": goal}));
        names.push((name, session["session"]["uid"].as_str().unwrap_or_default().to_owned()));
    }
    world.advance(40 * DAY);
    let (mut acting, mut noting, mut talking) =
        (world.client_for("acting"), world.client_for("noting"), world.client_for("talking"));
    acting.ok("act.home", json!({}));
    noting.ok("memory.save", json!({"topic": "herons", "content": "grey ones are shy"}));
    talking.ok("conversation.append", json!({"messages": [{"role": "user", "content": "do you hear them?"}]}));
    let mut client = world.client_for("reader");
    let archived = change(&client.ok("recall.upkeep", json!({})), "archived");
    assert_eq!((&archived["count"], &archived["examples"]), (&json!(1), &json!(["quiet"])), "{archived}");
    assert_eq!(uids(&archived).len(), 1, "{archived}");
    assert!(!finds(&mut client, "herons", "session quiet"));
    for name in ["acting", "noting", "talking"] {
        assert!(finds(&mut client, "herons", &format!("session {name}")), "{name}");
    }
    assert_eq!(change(&client.ok("recall.upkeep", json!({})), "archived"), Value::Null, "once");
    // The session continues with a message, which does not change its own row.
    world
        .client_for("quiet")
        .ok("conversation.append", json!({"messages": [{"role": "user", "content": "how many are there?"}]}));
    let resumed = change(&client.ok("recall.upkeep", json!({})), "resumed");
    assert_eq!(uids(&resumed), uids(&archived), "{resumed}");
    assert!(finds(&mut client, "herons", "session quiet"));
    // A session that has ended stays archived.
    world.client_for("quiet").ok("session.end", json!({}));
    world.advance(40 * DAY);
    client.ok("recall.upkeep", json!({}));
    assert_eq!(change(&client.ok("recall.upkeep", json!({})), "resumed"), Value::Null);
    assert!(!finds(&mut client, "herons", "session quiet"));
}

fn confidence(client: &mut Client, uid: &Value) -> f64 {
    client.ok("recall.get", json!({"uid": uid}))["confidence"].as_f64().expect("a number")
}

#[test]
fn confidence_follows_reported_uses_and_what_is_long_ago_counts_less() {
    let world = World::with_clock_and("");
    let mut client = world.client_for("own");
    let fact = json!({"text": "the lift stops at floor 3", "scope": "everybody"});
    let uid = client.ok("recall.store", fact.clone())["entry"]["uid"].clone();
    let pattern = client.ok("pattern.save", json!({"kind": "keyFact", "text": "the lift is slow", "scope": "session"}))
        ["uid"]
        .clone();
    assert_eq!(confidence(&mut client, &uid), 0.7);
    for _ in 0..6 {
        client.ok("recall.used", json!({"uid": uid, "held": false}));
    }
    client.ok("recall.used", json!({"uid": uid}));
    let doubted = confidence(&mut client, &uid);
    assert!(doubted < 0.2, "{doubted}");
    let held = client.ok("recall.used", json!({"uid": pattern, "held": true}));
    assert_eq!((held["confidence"].as_f64(), &held["type"]), (Some(0.667), &json!("pattern")));
    assert_eq!(client.ok("pattern.list", json!({}))["patterns"][0]["successCount"], 1);
    // Storing the fact again does not reset its confidence.
    assert!(client.ok("recall.store", fact)["entry"]["confidence"].as_f64() < Some(0.2));
    // Refused: an entry private to another session, an unknown uid, and an entry without reports of use.
    world.client_for("other").fails("recall.used", json!({"uid": pattern, "held": false}), "NOT_FOUND");
    client.fails("recall.used", json!({"uid": "none"}), "NOT_FOUND");
    let note = client.ok("memory.save", json!({"topic": "lift", "content": "it is blue"}))["note"]["uid"].clone();
    let refused = client.fails("recall.used", json!({"uid": note}), "INVALID_PARAMS");
    assert!(refused.message.contains("a note"), "{refused:?}");
    let now = client.ok("daemon.version", json!({}))["startedAt"].as_i64().expect("a time");
    let brief = json!({"text": "the lift is closed today", "scope": "everybody", "expiresAt": now + DAY});
    let brief = client.ok("recall.store", brief)["entry"]["uid"].clone();
    // Nothing changes immediately, but after a year the reports count only a quarter.
    assert_eq!(change(&client.ok("recall.upkeep", json!({})), "confidence"), Value::Null);
    world.advance(360 * DAY);
    let mut client = world.client_for("own");
    client.fails("recall.used", json!({"uid": brief, "held": true}), "NOT_FOUND");
    let faded = change(&client.ok("recall.upkeep", json!({})), "confidence");
    assert_eq!(faded["count"], 2, "{faded}");
    let after = confidence(&mut client, &uid);
    assert!(doubted + 0.1 < after && after < 0.7, "{doubted} {after}");
    // A new report does not renew the old ones.
    client.ok("recall.used", json!({"uid": uid, "held": true}));
    assert!(confidence(&mut client, &uid) > after);
    // A copy of the memory has the same confidence.
    let copy = World::new();
    let file = world.dir().join("memory.jsonl");
    client.ok("memory.export", json!({"file": file}));
    let lines = std::fs::read_to_string(&file).expect("reads");
    let mut other = copy.client_for("own");
    other.ok("memory.import", json!({"file": file}));
    assert_eq!(confidence(&mut other, &uid), confidence(&mut client, &uid));
    // A file with invalid figures is refused.
    let forged = lines
        .lines()
        .find(|line| line.contains("\"pattern\""))
        .expect("a pattern")
        .replace("\"held\":1.0", "\"held\":\"1e999\"");
    assert!(forged.contains("1e999"), "{forged}");
    let error = refusal(&mut other, world.dir(), &lines, &forged);
    assert!(error.contains("held: expected a number"), "{error}");
    // A file of an earlier version, without the reports about memories.
    let before: String =
        lines.lines().map(|line| format!("{}\n", without(line, &["prior", "held", "failed"]))).collect();
    std::fs::write(&file, before).expect("writes");
    let old = World::new();
    let mut old = old.client_for("own");
    old.ok("memory.import", json!({"file": file}));
    assert_eq!(confidence(&mut old, &uid), confidence(&mut client, &uid));
    old.ok("recall.used", json!({"uid": pattern, "held": false}));
    assert_eq!(confidence(&mut old, &pattern), 0.5, "one held, one failed");
}

/// Imports an export in which a pattern is replaced by one with a new uid. Returns the error or the result as text.
fn refusal(client: &mut Client, dir: &std::path::Path, lines: &str, pattern: &str) -> String {
    let file = dir.join("forged.jsonl");
    let mut record: Value = serde_json::from_str(pattern).expect("JSON");
    record["uid"] = json!("01a20591-bf23-70a3-8087-e8baaf01bb99");
    let all: String = lines
        .lines()
        .map(|line| format!("{}\n", if line.contains("\"pattern\"") { record.to_string() } else { line.to_owned() }))
        .collect();
    std::fs::write(&file, all).expect("writes");
    client.call("memory.import", json!({"file": file})).map_or_else(|e| format!("{e:?}"), |done| done.to_string())
}

/// Removes some fields from a memory or pattern of an export; returns other lines unchanged.
fn without(line: &str, fields: &[&str]) -> String {
    let mut record: Value = serde_json::from_str(line).expect("JSON");
    if record["type"] == "memory" {
        fields.iter().for_each(|field| drop(record.as_object_mut().expect("an object").remove(*field)));
    } else if record["type"] == "pattern" {
        fields[1..].iter().for_each(|field| drop(record.as_object_mut().expect("an object").remove(*field)));
    }
    record.to_string()
}

#[test]
fn patterns_that_are_only_near_are_told_and_merged_when_somebody_says_so() {
    let world = World::new();
    let mut client = world.client();
    let long = "the settlement of an invoice in a foreign currency takes two working days after the bank has confirmed the order of payment";
    let save = |client: &mut Client, text: &str, page: &str| {
        let saved =
            client.ok("pattern.save", json!({"kind": "validationRule", "text": text, "app": "com.bank", "page": page}));
        saved["id"].as_i64().expect("an id")
    };
    let first = save(&mut client, long, "a");
    let second = save(&mut client, &long.replace("working days", "working day"), "a");
    let negated = save(&mut client, &long.replace("has confirmed", "has not confirmed"), "a");
    let elsewhere = save(&mut client, long, "b");
    let used = client.ok("pattern.used", json!({"id": second, "held": true}))["lastUsedAt"].clone();
    let done = client.ok("recall.upkeep", json!({}));
    assert_eq!(done["changes"], json!([]), "nothing is merged by a measure");
    let similar = done["similar"].as_array().expect("pairs").clone();
    // For the built-in model, a negation makes no difference.
    let pair = similar
        .iter()
        .find(|p| (p["id"].as_i64(), p["other"].as_i64()) == (Some(first), Some(negated)))
        .expect("the pair");
    assert!(
        pair["similarity"].as_f64() >= Some(0.95) && pair["otherText"].as_str().is_some_and(|t| t.contains("has not")),
        "{pair}"
    );
    let is_elsewhere = |p: &Value| p["id"] == elsewhere || p["other"] == elsewhere;
    assert!(!similar.iter().any(is_elsewhere), "another page: {similar:?}");
    let merged = client.ok("pattern.merge", json!({"id": second, "into": first}));
    assert_eq!(
        (&merged["id"], &merged["successCount"], &merged["usageCount"]),
        (&json!(first), &json!(1), &json!(1)),
        "{merged}"
    );
    assert_eq!(merged["lastUsedAt"], used, "merging is no use");
    client.fails("pattern.merge", json!({"id": second, "into": first}), "NOT_FOUND");
    client.fails("pattern.merge", json!({"id": first, "into": first}), "INVALID_PARAMS");
    let refused = client.fails("pattern.merge", json!({"id": elsewhere, "into": first}), "CONFLICT");
    assert!(refused.message.contains("page differs"), "{refused:?}");
    let left: Vec<Value> = client.ok("pattern.list", json!({}))["patterns"]
        .as_array()
        .expect("patterns")
        .iter()
        .map(|p| p["id"].clone())
        .collect();
    assert_eq!(left, [json!(elsewhere), json!(negated), json!(first)]);
}

#[test]
fn repetitions_are_merged_however_many_pages_have_the_same_rule() {
    let world = World::new();
    let mut client = world.client();
    let mut save = |text: &str, page: &str| {
        client.ok("pattern.save", json!({"kind": "validationRule", "text": text, "app": "com.a", "page": page}));
    };
    for page in 0..40 {
        save("the field is required", &format!("page{page}"));
    }
    for text in ["The field is required.", "field is required", "the field is not required"] {
        save(text, "page7");
    }
    let done = client.ok("recall.upkeep", json!({}));
    assert_eq!(change(&done, "merged")["count"], 2, "{done}");
    assert_eq!(client.ok("pattern.list", json!({"limit": 100}))["patterns"].as_array().map(Vec::len), Some(41));
    let found = told(&client.ok("recall.search", json!({"query": "required field", "limit": 100})));
    assert!(
        found.iter().any(|e| e.starts_with("pattern the field is not required")),
        "signs and words are not folded away: {found:?}"
    );
}

#[test]
fn entries_that_differ_in_a_sign_are_both_handed_over() {
    let world = World::new();
    let mut client = world.client();
    for text in ["retry if latency < 5 s", "retry if latency > 5 s", "Retry, if latency < 5 s."] {
        client.ok("memory.save", json!({"topic": "retry", "content": text}));
    }
    let found = client.ok("recall.search", json!({"query": "retry latency"}));
    let texts: Vec<&str> =
        found["entries"].as_array().expect("entries").iter().filter_map(|e| e["text"].as_str()).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().any(|t| t.contains('>')) && texts.iter().any(|t| t.contains('<')), "{texts:?}");
}

#[test]
fn what_the_user_said_is_not_folded_into_what_a_page_says() {
    let world = World::new();
    let mut client = world.client();
    for (source, confidence) in [("user", 0.4), ("page", 0.99)] {
        let text = "refunds are sent to account 778";
        client.ok("recall.store", json!({"text": text, "source": source, "confidence": confidence, "app": "com.shop"}));
        client.ok(
            "pattern.save",
            json!({"kind": "keyFact", "text": text, "source": source, "confidence": confidence, "app": "com.pay"}),
        );
    }
    // If a page saves a statement of the user again, the pattern remains the user's.
    assert_eq!(change(&client.ok("recall.upkeep", json!({})), "merged"), Value::Null);
    let found = client.ok("recall.search", json!({"query": "refunds account"}));
    for entry in found["entries"].as_array().expect("entries") {
        assert_eq!(entry["source"], "user", "{found}");
    }
    assert_eq!(found["entries"][0]["duplicates"].as_array().map(Vec::len), Some(1), "{found}");
}
