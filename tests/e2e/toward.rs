//! The element that brings the current task of a session nearest, in looks.

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";

/// Opens the page of the display twice, so that the way is known, and returns to the first page.
fn learn(client: &mut Client) {
    for _ in 0..2 {
        client.ok("act.launch", json!({"package": SETTINGS, "then": "outline"}));
        client.ok("act.tap", json!({"value": "Display", "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
}

fn start_task(client: &mut Client, description: &str) {
    client.ok("session.task.add", json!({"description": description}));
    client.ok("session.task.start", json!({}));
}

fn look(client: &mut Client) -> Value {
    client.ok("observe.page", json!({"format": "outline"}))
}

/// Returns the line of an element in an outline.
fn line<'a>(page: &'a Value, alias: &str) -> &'a str {
    let outline = page["outline"].as_str().expect("an outline");
    outline.lines().find(|line| line.trim_start().starts_with(&format!("{alias} "))).expect("a line")
}

#[test]
fn element_on_the_way_to_the_current_task_is_named() {
    let world = World::new();
    let mut client = world.client();
    learn(&mut client);
    assert!(look(&mut client).get("toward").is_none(), "there is no task");
    start_task(&mut client, "Dark theme");
    let page = look(&mut client);
    let alias = page["toward"]["alias"].as_str().expect("an alias").to_owned();
    assert!(line(&page, &alias).contains("Display"), "{page}");
    assert_eq!(page["toward"]["goal"], "Dark theme", "{page}");
    assert!(page["toward"]["probability"].as_f64().expect("a probability") > 0.5, "{page}");
    let outline = page["outline"].as_str().expect("an outline");
    assert!(outline.contains(&format!("task: {alias} leads towards \"Dark theme\"")), "{outline}");
    let tapped = client.ok("act.tap", json!({"value": alias, "then": "outline"}))["look"]["observation"].clone();
    let here = tapped["toward"]["alias"].as_str().expect("an alias").to_owned();
    assert!(line(&tapped, &here).contains("Dark theme"), "it is in sight: {tapped}");
    assert!(tapped["toward"].get("probability").is_none(), "{tapped}");
}

#[test]
fn nothing_is_named_for_words_that_mean_nothing_here_or_for_another_session() {
    let world = World::new();
    let (mut client, mut other) = (world.client(), world.client_for("other"));
    learn(&mut client);
    start_task(&mut client, "Write a poem about the sea");
    assert!(look(&mut client).get("toward").is_none(), "nothing known fits");
    client.ok("session.task.finish", json!({}));
    start_task(&mut client, "Dark theme");
    assert!(look(&mut client).get("toward").is_some());
    assert!(look(&mut other).get("toward").is_none(), "it is not the task of this session");
    client.ok("session.task.finish", json!({}));
    assert!(look(&mut client).get("toward").is_none(), "the task is done");
}
