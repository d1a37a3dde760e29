//! Tasks, bugs, results, coverage, patterns and page models.

use afd_tests::World;
use serde_json::{Value, json};

#[test]
fn tasks_are_ordered_by_priority_and_can_be_blocked() {
    let world = World::new();
    let mut client = world.client_for("t");
    let add = |client: &mut afd_tests::Client, description: &str, priority: i64, blocked_by: Vec<i64>| {
        client
            .ok("session.task.add", json!({"description": description, "priority": priority, "blockedBy": blocked_by}))
            ["id"]
            .as_i64()
            .expect("an id")
    };
    let low = add(&mut client, "low", 0, vec![]);
    let high = add(&mut client, "high", 5, vec![]);
    let blocked = add(&mut client, "blocked", 9, vec![low]);
    client.fails("session.task.add", json!({"description": "x", "blockedBy": [999]}), "NOT_FOUND");
    let refused = client.fails("session.task.start", json!({"id": blocked}), "CONFLICT");
    assert!(refused.message.contains("is blocked by task"), "{}", refused.message);
    assert_eq!(client.ok("session.task.start", json!({}))["id"], high);
    client.fails("session.task.start", json!({"id": low}), "CONFLICT");
    assert_eq!(client.ok("session.task.start", json!({"id": low, "switch": true}))["id"], low);
    let listed = client.ok("session.task.list", json!({}));
    let order: Vec<i64> = listed["tasks"].as_array().expect("tasks").iter().filter_map(|t| t["id"].as_i64()).collect();
    assert_eq!(order, [low, high, blocked], "the active task, then the pending ones, then the blocked one");
    client.ok("session.task.finish", json!({"status": "failed"}));
    let stuck = client.ok("session.show", json!({}));
    assert!(
        stuck["blockers"][0].as_str().is_some_and(|b| b.contains("\"blocked\" is blocked by \"low\", which failed")),
        "{}",
        stuck["blockers"]
    );
    client.fails("session.task.finish", json!({"id": low}), "CONFLICT");
    client.fails("session.task.update", json!({}), "INVALID_PARAMS");
    client.fails("session.task.finish", json!({}), "NOT_FOUND");
    client.fails("session.task.add", json!({"description": "  "}), "INVALID_PARAMS");
}

#[test]
fn bugs_and_results_are_filtered_and_counted() {
    let world = World::new();
    let mut client = world.client_for("b");
    client.ok("observe.page", json!({}));
    for (title, severity) in
        [("Crash on start", "critical"), ("Total is wrong in the cart", "high"), ("Total in the cart is wrong", "high")]
    {
        let added = client.ok("session.bug.add", json!({"title": title, "severity": severity}));
        assert_eq!(added["bug"]["app"], "com.android.settings");
        assert!(added["bug"]["page"].as_str().is_some_and(|p| p.contains("com.android.settings")));
        assert_eq!(added["similar"].as_array().map(Vec::len), Some(usize::from(title.starts_with("Total in"))));
    }
    let high = client.ok("session.bug.list", json!({"severity": "high", "limit": 1}));
    assert_eq!(high["counts"]["total"], 2);
    let id = high["bugs"][0]["id"].as_i64().expect("an id");
    assert_ne!(
        client.ok("session.bug.list", json!({"severity": "high", "cursor": high["nextCursor"]}))["bugs"][0]["id"],
        id
    );
    assert_eq!(client.ok("session.bug.show", json!({"id": id}))["severity"], "high");
    client.fails("session.bug.show", json!({"id": 999}), "NOT_FOUND");
    let resolved = client.ok("session.bug.resolve", json!({"id": id, "reason": "fixed in 2.4"}));
    assert_eq!((&resolved["status"], &resolved["resolution"]), (&json!("resolved"), &json!("fixed in 2.4")));
    assert!(resolved["resolvedAt"].as_i64().is_some());
    client.fails("session.bug.resolve", json!({"id": id, "reason": "again"}), "CONFLICT");
    client.fails("session.bug.resolve", json!({"id": 999, "reason": "?"}), "NOT_FOUND");
    let counts = client.ok("session.bug.list", json!({"session": "b"}))["counts"].clone();
    assert_eq!(counts, json!({"total": 3, "critical": 1, "high": 2, "medium": 0, "low": 0, "open": 2, "resolved": 1}));
    assert_eq!(client.ok("session.bug.list", json!({"page": "no such page"}))["bugs"], json!([]));
    client.fails("session.bug.list", json!({"session": "nobody"}), "NOT_FOUND");
    client.ok(
        "session.result.add",
        json!({"name": "cart", "status": "failed", "bug": id, "page": "https://shop.example/cart"}),
    );
    client.ok("session.result.add", json!({"name": "start", "status": "passed", "durationMs": 12}));
    let failed = client.ok("session.result.list", json!({"status": "failed", "page": "shop.example"}));
    assert_eq!(failed["results"][0]["bug"], resolved["uid"]);
    assert_eq!(client.ok("session.result.list", json!({}))["counts"]["passed"], 1);
    let missing =
        client.fails("session.result.add", json!({"name": "x", "status": "passed", "evidence": "9999"}), "NOT_FOUND");
    assert_eq!(missing.details["path"], "evidence");
    client.fails("session.bug.add", json!({"title": "x", "screenshot": "latest"}), "INVALID_PARAMS");
}

#[test]
fn coverage_is_relative_to_the_visual_memory() {
    let world = World::new();
    let mut first = world.client_for("first");
    for _ in 0..2 {
        first.ok("act.launch", json!({"package": "com.android.settings"}));
        first.ok("observe.page", json!({}));
        let alias = first.alias("Wi-Fi");
        first.ok("act.tap", json!({"by": "ref", "value": alias}));
        first.ok("observe.page", json!({}));
        first.ok("act.back", json!({}));
        first.ok("observe.page", json!({}));
    }
    let states = first.ok("visual.states", json!({"app": "com.android.settings"}));
    let known = states["states"].as_array().map(Vec::len).expect("states");
    assert!(known >= 2, "{states}");
    let mut client = world.client_for("second");
    client.ok("session.start", json!({"app": "com.android.settings"}));
    let before = client.ok("session.coverage", json!({}));
    assert_eq!((&before["pages"]["known"], &before["pages"]["covered"]), (&json!(known), &json!(0)));
    client.ok("observe.page", json!({}));
    let name = before["elements"]["missing"][0].as_str().expect("a name").to_owned();
    let unknown =
        client.fails("session.tested", json!({"elements": [name, "something else"], "passed": true}), "INVALID_PARAMS");
    assert!(unknown.message.contains("something else") && unknown.hint.is_some_and(|hint| hint.contains("--new")));
    let tested =
        client.ok("session.tested", json!({"elements": [name, "something else"], "passed": true, "new": true}));
    assert_eq!(tested["total"], 2);
    client.ok("session.tested", json!({"elements": [name], "passed": false}));
    let after = client.ok("session.coverage", json!({}));
    assert_eq!((&after["pages"]["covered"], &after["elementsTested"]), (&json!(1), &json!(2)));
    assert_eq!(after["pagesTested"]["covered"], 1);
    assert_eq!(after["elements"]["covered"], 1, "{after}");
    let (covered, known) = (
        after["elements"]["covered"].as_f64().expect("a number"),
        after["elements"]["known"].as_f64().expect("a number"),
    );
    let percent = after["coveragePercent"].as_f64().expect("a number");
    assert!((percent - covered * 100.0 / known).abs() < 0.1, "{after}");
    let missing = after["pages"]["missing"].as_array().expect("names");
    assert!(!missing.is_empty() && missing.iter().all(Value::is_string));
    client.fails("session.tested", json!({"elements": []}), "INVALID_PARAMS");
    // A row is identified by its text, but all rows of a kind share one component.
    client.ok("observe.refs", json!({"full": true}));
    let row = client.ok("session.tested", json!({"elements": ["Battery"]}));
    assert!(row["elements"][0]["component"].is_string(), "{row}");
    let by_alias = {
        let alias = client.alias("Battery");
        client.ok("session.tested", json!({"elements": [alias]}))
    };
    assert_eq!(
        (&by_alias["elements"][0]["element"], &by_alias["elements"][0]["times"]),
        (&row["elements"][0]["element"], &json!(2))
    );
    client.fails("session.tested", json!({"elements": ["@n999"]}), "INVALID_PARAMS");
    // Testing one row does not cover the list: each row that was on the screen counts.
    let rows = client.ok("session.coverage", json!({}));
    let more =
        rows["elements"]["known"].as_i64().zip(after["elements"]["known"].as_i64()).map(|(now, then)| now - then);
    assert!(more > Some(2), "{rows}");
    assert_eq!(rows["elements"]["covered"], after["elements"]["covered"]);
    assert!(rows["elements"]["missing"].to_string().contains(" rows)"), "{rows}");
}

#[test]
fn name_that_several_rows_share_stands_for_none_of_them() {
    let world = World::new();
    let mut client = world.client_for("shared");
    world.phone.scene("org.example.lab", Some("grid"));
    let refs = client.ok("observe.refs", json!({"full": true}));
    let ids: Vec<&str> = refs["rows"].as_array().expect("rows").iter().filter_map(|r| r["resId"].as_str()).collect();
    let shared = ids.iter().find(|id| ids.iter().filter(|other| other == id).count() > 1).expect("rows share an id");
    let marked = client.ok("session.tested", json!({"elements": [shared]}));
    assert_eq!(marked["elements"][0]["element"], json!(shared), "{marked}");
}

#[test]
fn what_a_page_says_again_changes_nothing_of_what_the_user_said() {
    let world = World::new();
    let mut client = world.client_for("p");
    let mut save = |source: &str, data: Value| {
        let mut params = json!({"kind": "validationRule", "text": "pay twice", "app": "com.shop", "source": source});
        if !data.is_null() {
            params["data"] = data;
        }
        let saved = client.ok("pattern.save", params);
        (saved["confidence"].as_f64().expect("a number"), saved["data"].clone(), saved["source"].clone())
    };
    let page = save("page", json!({"field": "a"}));
    assert!(save("tool", json!({"field": "b"})).1 == json!({"field": "b"}), "a page and a tool are heard alike");
    let assistant = save("assistant", json!({"field": "c"}));
    assert!(
        assistant.0 > page.0 && assistant.1 == json!({"field": "c"}) && assistant.2 == "assistant",
        "{assistant:?}"
    );
    assert_eq!(save("page", json!({"field": "d"})), assistant);
    let user = save("user", Value::Null);
    assert!(user.0 > assistant.0 && user.1 == assistant.1 && user.2 == "user", "{user:?}");
    for source in ["page", "tool", "assistant"] {
        assert_eq!(save(source, json!({"field": "e"})), user, "{source}");
    }
    assert!(save("user", json!({"field": "f"})).0 > user.0);
    let other = json!({"kind": "solution", "text": "wait", "app": "com.shop", "source": "page", "confidence": 0.9, "data": {"x": 1}});
    client.ok("pattern.save", other);
    let own = client.ok(
        "pattern.save",
        json!({"kind": "solution", "text": "wait", "app": "com.shop", "source": "user", "confidence": 0.3}),
    );
    assert_eq!((&own["source"], &own["data"]), (&json!("user"), &Value::Null), "details of a page are not the user's");
    assert!(own["confidence"].as_f64() < Some(0.4), "{own}");
}

#[test]
fn pattern_confidence_follows_use_and_patterns_are_found_by_page() {
    let world = World::new();
    let mut client = world.client_for("p");
    let rule = json!({"kind": "validationRule", "text": "the e-mail needs a dot", "page": "https://me:pw@shop.example/users/12/profile?x=1",
        "data": {"field": "email"}});
    let saved = client.ok("pattern.save", rule.clone());
    assert_eq!(saved["page"], "https://shop.example/users/:id/profile");
    let again = client.ok("pattern.save", rule);
    assert_eq!(again["id"], saved["id"]);
    assert!(again["confidence"].as_f64() > saved["confidence"].as_f64(), "learning it again raises the confidence");
    client.ok(
        "pattern.save",
        json!({"kind": "flakyElement", "text": "the banner comes and goes", "page": "https://shop.example/start"}),
    );
    client.ok("pattern.save", json!({"kind": "userPreference", "text": "dark mode"}));
    let found = client.ok("pattern.find", json!({"page": "https://shop.example/users/7/profile"}));
    let texts: Vec<&str> =
        found["patterns"].as_array().expect("patterns").iter().filter_map(|p| p["text"].as_str()).collect();
    assert_eq!(texts, ["the e-mail needs a dot", "dark mode"], "patterns of the page first, then general ones");
    let id = saved["id"].as_i64().expect("an id");
    let held = client.ok("pattern.used", json!({"id": id, "held": true}));
    let mut failed = json!(null);
    for _ in 0..4 {
        failed = client.ok("pattern.used", json!({"id": id, "held": false}));
    }
    assert!(
        held["confidence"].as_f64() > again["confidence"].as_f64() && failed["confidence"].as_f64() < Some(0.5),
        "{failed}"
    );
    assert_eq!((&failed["usageCount"], &failed["failureCount"]), (&json!(5), &json!(4)));
    assert_eq!(
        client.ok("pattern.find", json!({"minConfidence": 0.5, "kind": "validationRule"}))["patterns"],
        json!([])
    );
    client.ok("pattern.delete", json!({"id": id}));
    client.fails("pattern.used", json!({"id": id}), "NOT_FOUND");
    client.fails("pattern.save", json!({"kind": "solution", "text": "x", "confidence": 2.0}), "INVALID_PARAMS");
}

#[test]
fn page_models_report_the_stability_of_a_page() {
    let world = World::new();
    let mut client = world.client();
    let save = |client: &mut afd_tests::Client, page: &str, names: &[&str]| {
        let elements: Vec<Value> = names.iter().map(|n| json!({"name": n, "role": "button"})).collect();
        client.ok("pageModel.save", json!({"page": page, "pageType": "form", "elements": elements}))
    };
    assert_eq!(save(&mut client, "https://shop.example/users/1/edit", &["save", "cancel"])["stabilityScore"], 1.0);
    let same = save(&mut client, "https://shop.example/users/2/edit", &["save", "cancel"]);
    assert_eq!((&same["stabilityScore"], &same["seenCount"]), (&json!(1.0), &json!(2)));
    let changed = save(&mut client, "https://shop.example/users/3/edit", &["save", "delete"]);
    assert!(changed["stabilityScore"].as_f64().is_some_and(|s| (0.6..1.0).contains(&s)), "{changed}");
    save(&mut client, "https://shop.example/cart", &["pay"]);
    save(&mut client, "https://other.example/users/3/edit", &["x"]);
    let found = client.ok("pageModel.find", json!({"page": "https://shop.example/users/99/edit"}));
    let models = found["pageModels"].as_array().expect("models");
    assert_eq!(models[0]["similarity"], 1.0);
    assert_eq!(models.len(), 2, "pages of the same site: {found}");
    client.ok("pageModel.delete", json!({"id": models[0]["id"]}));
    assert_eq!(
        client.ok("pageModel.find", json!({"page": "https://shop.example/users/99/edit"}))["pageModels"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
