//! Notes: chains, topics, and search in any language.

use afd_tests::{Client, World};
use serde_json::{Value, json};

fn save(client: &mut Client, topic: &str, content: &str) -> Value {
    client.ok("memory.save", json!({"app": "com.a", "topic": topic, "content": content}))
}

fn topics(found: &Value) -> Vec<&str> {
    found["notes"].as_array().expect("notes").iter().map(|n| n["topic"].as_str().expect("a topic")).collect()
}

fn search(client: &mut Client, query: &str) -> Value {
    client.ok("memory.search", json!({"query": query}))
}

#[test]
fn words_in_any_language_and_parts_of_identifiers_are_found() {
    let world = World::new();
    let mut client = world.client();
    save(&mut client, "nav/wifi", "打开设置，然后选择无线网络");
    save(&mut client, "nav/kana", "設定アプリのネットワークを開く");
    save(&mut client, "nav/hangul", "설정에서 와이파이를 켭니다");
    save(&mut client, "selector/list", "The list is com.a:id/recycler_main, a NestedRecyclerView");
    save(&mut client, "pitfall/cafe", "The Café page needs 2 taps -- don't trust \"OK\" (100%)");
    save(&mut client, "nav/icon", "Tap the ⚙ icon");
    save(&mut client, "pitfall/words", "The log-in page of STRASSE asks for the Größe");
    for (query, expected) in [
        ("设置", "nav/wifi"),
        ("网", "nav/wifi"),
        ("无线网络", "nav/wifi"),
        ("設定", "nav/kana"),
        ("ット", "nav/kana"),
        ("설정", "nav/hangul"),
        ("ycler_ma", "selector/list"),
        ("edRecyc", "selector/list"),
        ("recyclerview", "selector/list"),
        ("com.a:id/recycler_main", "selector/list"),
        ("CAFE", "pitfall/cafe"),
        ("login", "pitfall/words"),
        ("log-in", "pitfall/words"),
        ("don't \"OK\" (100%)", "pitfall/cafe"),
        ("⚙", "nav/icon"),
        ("ｃａｆé", "pitfall/cafe"),
        ("recyclermain", "selector/list"),
        ("login", "pitfall/words"),
        ("GROSSE", "pitfall/words"),
        ("straße", "pitfall/words"),
        ("log-in", "pitfall/words"),
        ("cafe OR* NEAR(taps)", "pitfall/cafe"),
    ] {
        let found = search(&mut client, query);
        assert_eq!(topics(&found).first(), Some(&expected), "{query}: {found}");
    }
    let found = search(&mut client, "设置");
    assert_eq!(found["notes"][0]["snippet"], "打开[设置]，然后选择无线网络");
    assert_eq!(topics(&search(&mut client, "xyzzy")), Vec::<&str>::new());
    assert_eq!(topics(&search(&mut client, "\"\" ** --")), Vec::<&str>::new());
}

#[test]
fn topic_matches_and_complete_matches_rank_first() {
    let world = World::new();
    let mut client = world.client();
    save(&mut client, "nav/bluetooth", "Settings, Connected devices");
    save(&mut client, "nav/other", "bluetooth is on the second page");
    save(&mut client, "nav/third", "a note about wifi");
    let found = search(&mut client, "bluetooth");
    assert_eq!(topics(&found), ["nav/bluetooth", "nav/other"]);
    assert_eq!(found["matched"], "all");
    let found = search(&mut client, "bluetooth page");
    assert_eq!((topics(&found), &found["matched"]), (vec!["nav/other"], &json!("all")));
    let found = search(&mut client, "bluetooth wifi");
    assert_eq!((topics(&found).len(), &found["matched"]), (3, &json!("any")));
}

#[test]
fn chain_keeps_its_order_when_a_note_is_deleted() {
    let world = World::new();
    let mut client = world.client();
    let ids: Vec<i64> = (1..=3)
        .map(|n| save(&mut client, "nav/x", &format!("step {n}"))["note"]["id"].as_i64().expect("an id"))
        .collect();
    client.ok("memory.delete", json!({"id": ids[1]}));
    let last = save(&mut client, "nav/x", "step 4");
    assert_eq!((&last["note"]["position"], &last["chainLength"]), (&json!(4), &json!(3)));
    let found = client.ok("memory.search", json!({"topic": "nav/", "app": "com.a"}));
    let positions: Vec<i64> =
        found["notes"].as_array().expect("notes").iter().map(|n| n["position"].as_i64().expect("a number")).collect();
    assert_eq!(positions, [4, 3, 1]);
    assert_eq!(topics(&search(&mut client, "2")), Vec::<&str>::new(), "deleted notes are not found");
    client.fails("memory.delete", json!({"id": ids[1]}), "NOT_FOUND");
    client.fails("memory.delete", json!({}), "INVALID_PARAMS");
    // The content is also deleted from the database file.
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let left: i64 =
        database.query_row("SELECT count(*) FROM notes WHERE content LIKE 'step 2%'", [], |r| r.get(0)).expect("reads");
    assert_eq!(left, 0);
}

#[test]
fn saving_a_note_returns_similar_ones() {
    let world = World::new();
    let mut client = world.client();
    save(&mut client, "nav/wifi", "Open settings, tap network, then tap the wifi switch");
    client.ok("memory.save", json!({"topic": "nav/general", "content": "the back button closes a keyboard first"}));
    let saved = save(&mut client, "nav/wireless", "open Settings; tap Network; then tap the WiFi toggle switch");
    let similar = saved["similar"].as_array().expect("similar notes");
    assert_eq!(similar.len(), 1, "{saved}");
    assert_eq!(similar[0]["topic"], "nav/wifi");
    assert!(similar[0]["similarity"].as_f64().expect("a number") > 0.7);
    let other = client.ok(
        "memory.save",
        json!({"app": "com.b", "topic": "t", "content": "the back button closes the keyboard first"}),
    );
    assert_eq!(other["similar"][0]["topic"], "nav/general", "a note without an app applies to every app");
    let foreign = client.ok(
        "memory.save",
        json!({"app": "com.c", "topic": "t", "content": "Open settings, tap network, then tap the wifi switch"}),
    );
    assert_eq!(foreign["similar"], json!([]), "notes of another app are not shown");
}

#[test]
fn search_is_paged_and_filtered_and_invalid_notes_are_refused() {
    let world = World::new();
    let mut client = world.client();
    for n in 0..25 {
        let app = if n % 2 == 0 { "com.a" } else { "com.b" };
        client.ok("memory.save", json!({"app": app, "topic": format!("nav/{n}"), "content": "the same words"}));
    }
    for base in [json!({}), json!({"query": "words"}), json!({"query": "words", "app": "com.a", "topic": "na"})] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut params = base.clone();
            params["limit"] = json!(4);
            if !cursor.is_null() {
                params["cursor"] = cursor.clone();
            }
            let found = client.ok("memory.search", params);
            seen.extend(topics(&found).into_iter().map(str::to_owned));
            cursor = found["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        let expected = if base["app"].is_null() { 25 } else { 13 };
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (expected, expected), "{base}");
    }
    client.fails("memory.search", json!({"limit": 0}), "INVALID_PARAMS");
    client.fails("memory.save", json!({"topic": " ", "content": "x"}), "INVALID_PARAMS");
    client.fails("memory.save", json!({"topic": "t", "content": ""}), "INVALID_PARAMS");
    client.fails("memory.save", json!({"topic": "t", "content": "x".repeat(70_000)}), "INVALID_PARAMS");
    client.fails("memory.save", json!({"topic": "t", "content": "x", "app": "a b"}), "INVALID_PARAMS");
}
