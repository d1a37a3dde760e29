//! Goals in the words of earlier tasks and of notes.

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";

/// Does a task of a session: opens the page of the display, sets a switch there, and goes back. The task ends as `status`.
fn does(client: &mut Client, session: &str, words: &str, status: &str) {
    let task = |client: &mut Client, method: &str, mut params: Value| {
        params["session"] = json!(session);
        client.ok(method, params)
    };
    let id = task(client, "session.task.add", json!({"description": words}))["id"].clone();
    task(client, "session.task.start", json!({"id": id}));
    for (method, params) in [
        ("act.launch", json!({"package": SETTINGS, "then": "outline"})),
        ("act.tap", json!({"value": "Display", "then": "outline"})),
        ("act.tap", json!({"value": "Dark theme", "then": "outline"})),
        ("act.back", json!({"then": "outline"})),
    ] {
        task(client, method, params);
    }
    task(client, "session.task.finish", json!({"status": status}));
}

/// Learns the way to the display without a task.
fn learn(client: &mut Client) {
    for _ in 0..2 {
        client.ok("act.launch", json!({"package": SETTINGS, "then": "outline"}));
        client.ok("act.tap", json!({"value": "Display", "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
}

#[test]
fn words_of_a_passed_task_lead_to_the_page_where_it_was_done() {
    let world = World::new();
    let mut client = world.client();
    does(&mut client, "first", "it should not dazzle me in bed at night", "passed");
    let mut other = world.client_for("second");
    let walk = other.ok("act.goTo", json!({"goal": "It should not dazzle me in bed, at night!", "app": SETTINGS}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "display".to_owned()), "{walk}");
    other.fails("act.goTo", json!({"goal": "it should dazzle my neighbours"}), "NOT_FOUND");
}

#[test]
fn tasks_that_failed_or_belong_to_another_session_alone_lead_nowhere() {
    let world = World::new();
    let mut client = world.client();
    learn(&mut client);
    does(&mut client, "first", "it should not dazzle me in bed at night", "failed");
    client.ok("session.start", json!({"session": "private", "goal": "try", "scope": "session"}));
    does(&mut client, "private", "reading in bed without waking anybody up", "passed");
    let mut other = world.client_for("second");
    for words in ["it should not dazzle me in bed at night", "reading in bed without waking anybody up"] {
        other.fails("act.goTo", json!({"goal": words}), "NOT_FOUND");
    }
    let walk = client.ok("act.goTo", json!({"goal": "reading in bed without waking anybody up", "session": "private"}));
    assert_eq!(walk["arrived"], true, "{walk}");
}

#[test]
fn note_about_the_app_leads_to_the_page_that_it_names() {
    let world = World::new();
    let mut client = world.client();
    learn(&mut client);
    let note = |client: &mut Client, content: &str| {
        client.ok("memory.save", json!({"topic": "comfort", "content": content, "app": SETTINGS}));
    };
    note(&mut client, "For reading in bed without glare: Settings > Display, then the dark theme");
    let walk = client.ok("act.goTo", json!({"goal": "read in bed without glare"}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "display".to_owned()), "{walk}");
    client.ok("act.back", json!({}));
    note(&mut client, "Nothing helps to read in bed without glare in Battery");
    client.fails("act.goTo", json!({"goal": "read in bed without glare"}), "NOT_FOUND");
}

#[test]
fn imported_tasks_and_notes_of_other_stores_lead_nowhere() {
    let (theirs, ours) = (World::new(), World::new());
    let mut their = theirs.client();
    does(&mut their, "first", "it should not dazzle me in bed at night", "passed");
    their.ok("memory.save", json!({"topic": "t", "content": "Without glare in bed: Display", "app": SETTINGS}));
    let file = theirs.dir().join("memory.jsonl");
    their.ok("memory.export", json!({"file": file}));
    let mut client = ours.client();
    learn(&mut client);
    client.ok("memory.import", json!({"file": file}));
    for words in ["it should not dazzle me in bed at night", "without glare in bed"] {
        client.fails("act.goTo", json!({"goal": words}), "NOT_FOUND");
    }
}
