//! Websites in a browser.

use afd_tests::{Client, TestPhone, World};
use serde_json::json;

use super::{names, observe_state};

#[test]
fn each_registrable_domain_has_its_own_memory() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let learn = |client: &mut Client, site: &str, name: &str| {
        client.ok("visual.learn", json!({"app": "chromium", "site": site, "detections": [{"name": name, "box": [0, 0, 90, 30]}]}))
    };
    for url in ["https://user:secret@www.united.com/en/us", "united.com", "book.united.com:8443"] {
        assert_eq!(learn(&mut client, url, "Travel_info")["site"], "united_com", "{url}");
    }
    assert_eq!(learn(&mut client, "http://localhost:8080/x", "home")["site"], "localhost_8080");
    let of = client.ok("visual.components", json!({"app": "chromium", "site": "https://www.united.com"}));
    assert_eq!((names(of["components"].as_array().expect("rows")), of["site"].as_str()), (vec!["Travel_info"], Some("united_com")));
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
    let path = client.ok("visual.path", json!({"app": "org.example.browser", "site": "united_com", "from": booking, "to": info}));
    assert_eq!(path["route"]["steps"].as_array().map(Vec::len), Some(1), "{path}");
    // App and site default to those of the page that the session sees.
    let here = client.ok("visual.components", json!({}));
    assert_eq!((here["app"].as_str(), here["site"].as_str()), (Some("org.example.browser"), Some("united_com")));
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
        client.ok("visual.transitions", json!({"app": "org.example.browser", "site": site}))["transitions"].as_array().map(Vec::len)
    };
    assert_eq!(of(&mut client, "united.com"), Some(3), "two within the site, one leaving it");
    assert_eq!(of(&mut client, "localhost:8080"), Some(1));
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out, "app": "org.example.browser", "site": "united.com"}));
    assert_eq!(exported["exported"][0]["transitions"], 2, "{exported}");
}
