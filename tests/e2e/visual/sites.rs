//! Websites in a browser.

use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_tests::{Client, TestPhone, World};
use serde_json::json;

use super::{names, observe_state};

#[test]
fn each_registrable_domain_has_its_own_memory() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let learn = |client: &mut Client, site: &str, name: &str| {
        client.ok(
            "visual.learn",
            json!({"app": "chromium", "site": site, "detections": [{"name": name, "box": [0, 0, 90, 30]}]}),
        )
    };
    for url in ["https://user:secret@www.united.com/en/us", "united.com", "book.united.com:8443"] {
        assert_eq!(learn(&mut client, url, "Travel_info")["site"], "united.com", "{url}");
    }
    assert_eq!(learn(&mut client, "http://localhost:8080/x", "home")["site"], "localhost:8080");
    let of = client.ok("visual.components", json!({"app": "chromium", "site": "https://www.united.com"}));
    assert_eq!(
        (names(of["components"].as_array().expect("rows")), of["site"].as_str()),
        (vec!["Travel_info"], Some("united.com"))
    );
    client.ok("visual.rename", json!({"app": "chromium", "site": "united_com", "old": "Travel_info", "new": "travel"}));
    let of = client.ok("visual.states", json!({"app": "chromium", "site": "united.com"}));
    assert_eq!(of["hosts"], json!(["www.united.com", "united.com", "book.united.com:8443"]));
    client.ok("visual.transitions", json!({"app": "chromium", "site": "united.com"}));
    client.ok("visual.graph", json!({"app": "chromium", "site": "united.com"}));
    client.fails("visual.components", json!({"app": "chromium", "site": "delta.com"}), "NOT_FOUND");
    client.fails("visual.components", json!({"app": "chromium", "site": "a b"}), "INVALID_PARAMS");
    for file in ["memory.db", "memory.db-wal"] {
        let text = std::fs::read(world.dir().join(file)).expect("the database is there");
        assert!(!text.windows(6).any(|w| w == b"secret"), "credentials are not stored");
    }
}

#[test]
fn site_is_detected_in_the_browser() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.browser", None);
    let booking = observe_state(&mut client);
    client.ok("act.tap", json!({"by": "desc", "value": "Travel info"}));
    let info = observe_state(&mut client);
    let of = client.ok("visual.states", json!({"app": "org.example.browser", "site": "united.com"}));
    let ids: Vec<&str> = of["states"].as_array().expect("states").iter().filter_map(|s| s["id"].as_str()).collect();
    assert_eq!(ids, [booking.as_str(), info.as_str()]);
    let path = client
        .ok("visual.path", json!({"app": "org.example.browser", "site": "united.com", "from": booking, "to": info}));
    assert_eq!(path["route"]["steps"].as_array().map(Vec::len), Some(1), "{path}");
    // App and site default to those of the page that the session sees.
    let here = client.ok("visual.components", json!({}));
    assert_eq!((here["app"].as_str(), here["site"].as_str()), (Some("org.example.browser"), Some("united.com")));
    assert!(
        here["components"].as_array().is_some_and(|c| c.iter().all(|c| c["label"] != "www.united.com/en/us")),
        "typed text is not stored"
    );
    world.phone.scene("org.example.browser", Some("dev"));
    observe_state(&mut client);
    client.ok("visual.states", json!({"app": "org.example.browser", "site": "localhost:8080"}));
}

#[test]
fn sites_of_one_browser_are_separate() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.browser", None);
    observe_state(&mut client);
    for link in ["Travel info", "Back to booking", "Developer page"] {
        client.ok("act.tap", json!({"by": "desc", "value": link}));
        observe_state(&mut client);
    }
    let of = |client: &mut Client, site: &str| {
        client.ok("visual.transitions", json!({"app": "org.example.browser", "site": site}))["transitions"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(of(&mut client, "united.com"), Some(3), "two within the site, one leaving it");
    assert_eq!(of(&mut client, "localhost:8080"), Some(1));
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out, "app": "org.example.browser", "site": "united.com"}));
    assert_eq!(exported["exported"][0]["transitions"], 2, "{exported}");
}

/// Shows a page of a browser: its address, and links of the web page.
fn show_web(world: &World, address: &str, links: &[&str]) {
    let text = |id: &str, text: &str, top: i32| {
        Node::new("android.widget.TextView", Rect::new(0, top, 1080, top + 80))
            .id(format!("org.example.browser:id/{id}"))
            .text(text)
    };
    let link = |(i, name): (i32, &&str)| Node {
        clickable: true,
        ..Node::new("android.view.View", Rect::new(0, 400 + i * 100, 1080, 480 + i * 100)).text(*name)
    };
    let page = Node {
        children: (0..).zip(links).map(link).collect(),
        scrollable: true,
        ..Node::new("android.webkit.WebView", Rect::new(0, 300, 1080, 2300))
    };
    let tabs = Node { clickable: true, ..text("tab_switcher", "Tabs", 80) };
    let bar = Node { editable: true, ..text("url_bar", address, 0) };
    let root = Node {
        children: vec![bar, tabs, page],
        ..Node::new("android.widget.FrameLayout", Rect::new(0, 0, 1080, 2400))
    };
    let window = Window {
        id: 1,
        kind: "APPLICATION",
        pkg: "org.example.browser".into(),
        title: None,
        layer: 0,
        focused: true,
        root,
    };
    let scene = Scene { windows: vec![window], width: 1080, height: 2400, density: 420 };
    let mut phone = world.phone.lock();
    phone.shown = Some((scene, "org.example.browser/.Main".into()));
    phone.ui_seq += 1;
}

fn state_at(world: &World, client: &mut Client, address: &str, links: &[&str]) -> String {
    show_web(world, address, links);
    observe_state(client)
}

#[test]
fn pages_of_a_site_are_told_apart_by_address_and_links() {
    let world = World::new();
    let mut client = world.client();
    let menu = ["Home", "Search", "Basket", "Help"];
    let item = state_at(&world, &mut client, "shop.example.com/item/123", &menu);
    assert_eq!(
        state_at(&world, &mut client, "shop.example.com/item/456?from=list", &menu),
        item,
        "one pattern is one page"
    );
    let basket = state_at(&world, &mut client, "shop.example.com/basket", &menu);
    assert_ne!(basket, item, "another address is another page");
    let other =
        state_at(&world, &mut client, "shop.example.com/basket", &["Sign in", "Forgot password", "New account"]);
    assert_ne!(other, basket, "other links are another page");
    for file in ["memory.db", "memory.db-wal"] {
        let text = std::fs::read(world.dir().join(file)).expect("the database is there");
        assert!(!text.windows(8).any(|w| w == b"/item/12"), "what may have been typed is not stored");
    }
}

#[test]
fn bars_of_the_browser_belong_to_the_browser() {
    let world = World::new();
    let mut client = world.client();
    state_at(&world, &mut client, "shop.example.com/basket", &["Home", "Search"]);
    state_at(&world, &mut client, "news.example.org/today", &["World", "Sports"]);
    let of = |client: &mut Client, scope: serde_json::Value| {
        let all = client.ok("visual.components", scope);
        all["components"]
            .as_array()
            .expect("components")
            .iter()
            .map(|c| c["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(&mut client, json!({"app": "org.example.browser", "site": "news.example.org"})),
        ["unlabeled_540_1300", "World", "Sports"]
    );
    assert!(of(&mut client, json!({"app": "org.example.browser"})).contains(&"Tabs".to_owned()));
}

#[test]
fn export_of_a_browser_can_be_imported_again() {
    let world = World::new();
    let mut client = world.client();
    state_at(&world, &mut client, "www.shop.example.com/basket", &["Home", "Search"]);
    state_at(&world, &mut client, "localhost:8080/x", &["World", "Sports"]);
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out, "app": "org.example.browser"}));
    let meta = |site: &str| -> serde_json::Value {
        let text =
            std::fs::read_to_string(out.join("org.example.browser/sites").join(site).join("meta.json")).expect("reads");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(
        (&meta("example_com")["domain"], &meta("example_com")["img_size"]),
        (&json!("example.com"), &json!([1080, 2400]))
    );
    assert_eq!(meta("localhost_8080")["domain"], "localhost:8080");
    let components =
        std::fs::read_to_string(out.join("org.example.browser/sites/example_com/components.json")).expect("reads");
    let components: serde_json::Value = serde_json::from_str(&components).expect("JSON");
    assert!(components["Home"]["page"].is_string(), "what observations teach has its page: {components}");
    let other = World::new();
    let mut elsewhere = other.client();
    let dir = out.join("org.example.browser");
    let report = elsewhere.ok("visual.import", json!({"dir": dir}));
    let found: Vec<_> = report["imported"]
        .as_array()
        .expect("imported")
        .iter()
        .map(|i| (i["app"].clone(), i["site"].clone()))
        .collect();
    assert_eq!(
        found,
        [
            (json!("org.example.browser"), json!(null)),
            (json!("org.example.browser"), json!("example.com")),
            (json!("org.example.browser"), json!("localhost:8080"))
        ]
    );
    let again = other.dir().join("again");
    elsewhere.ok("visual.export", json!({"dir": again, "app": "org.example.browser"}));
    assert_eq!(
        super::read_tree(&again.join("org.example.browser/sites")),
        super::read_tree(&out.join("org.example.browser/sites"))
    );
}

#[test]
fn page_of_another_site_with_the_same_structure_is_another_page() {
    let world = World::new();
    let mut client = world.client();
    let next = ["Next", "Previous", "Contents"];
    for _ in 0..3 {
        let alpha = state_at(&world, &mut client, "alpha.com", &next);
        client.ok("act.tap", json!({"value": "Next"}));
        let beta = state_at(&world, &mut client, "beta.com", &next);
        assert_eq!(alpha, beta, "codes are those of a site, and may be equal");
    }
    let known = client.ok("memory.experience", json!({"app": "org.example.browser"}));
    let tap = known["transitions"]
        .as_array()
        .expect("transitions")
        .iter()
        .find(|t| t["action"]["verb"] == "tap")
        .unwrap_or_else(|| panic!("{known} {}", client.ok("memory.log", json!({}))));
    assert_eq!(tap["outcomes"][0]["kind"], "page", "{tap}");
    assert_eq!(tap["outcomes"][0]["count"], 3, "{tap}");
}
