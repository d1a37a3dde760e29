//! What pages may not do, and what of their addresses is stored.

use afd_tests::pages::Pages;
use afd_tests::wait::until;
use afd_tests::{TestPhone, World};
use serde_json::json;

use super::{Lab, PAGES, outline, settings, tap};

#[test]
#[ignore = "needs chromium"]
fn pages_in_private_networks_are_refused_unless_they_are_allowed() {
    let profile = tempfile::tempdir().expect("a directory");
    let pages = Pages::start(PAGES);
    let world = World::bare(TestPhone::start(), &settings("https://example.invalid", profile.path(), ""));
    let mut client = world.client();
    for page in
        [pages.url(), "http://localhost/".to_owned(), "file:///etc/passwd".to_owned(), "javascript:alert(1)".to_owned()]
    {
        let refused = client.fails("act.launch", json!({"package": page}), "INVALID_PARAMS");
        assert!(refused.message.contains("package"), "{refused:?}");
    }
    assert_eq!(pages.requests(), [""; 0]);
}

#[test]
#[ignore = "needs chromium"]
fn permissions_are_refused_unless_they_are_named() {
    for (more, geolocation) in [("", "denied"), ("permissions = [\"geolocation\"]\n", "granted")] {
        let lab = Lab::with("/permissions", more);
        let page = outline(&mut lab.world.client());
        assert!(page.contains(&format!("geolocation {geolocation}, notifications denied")), "{page}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn addresses_are_stored_as_hashes_unless_the_settings_allow_them() {
    for (more, shown) in [("", false), ("store_urls = true\n", true)] {
        let lab = Lab::with("/second?name=carol", more);
        let mut client = lab.world.client();
        let top = client.ok("observe.page", json!({}))["topActivity"].as_str().unwrap_or_default().to_owned();
        assert_eq!(top == format!("{}/second", lab.pages.url()), shown, "{top}");
        let database = std::fs::read(lab.world.dir().join("memory.db")).expect("reads");
        let holds = |text: &str| database.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!holds("carol"), "never the query");
    }
}

#[test]
#[ignore = "needs chromium"]
fn links_redirects_and_frames_to_denied_sites_are_not_followed() {
    let denied = Pages::start(&[("/", "<!doctype html><title>Denied</title><p>Secret</p>")]);
    let there = denied.url().replace("127.0.0.1", "localhost");
    let html = format!(
        "<!doctype html><title>Start</title><a href='{there}/'>Go there</a> <a href='{there}/' target='_blank'>Open there</a>
         <iframe src='{there}/'></iframe>"
    );
    let page: &'static str = Box::leak(html.into_boxed_str());
    let pages = Pages::start(Box::leak(Box::new([("/", page)])));
    let profile = tempfile::tempdir().expect("a directory");
    let rules = "allow_private = true\ndeny = [\"localhost\"]\n";
    let world = World::bare(TestPhone::start(), &settings(&pages.url(), profile.path(), rules));
    let mut client = world.client();
    assert!(outline(&mut client).contains("Go there"));
    client.fails("act.launch", json!({"package": format!("{there}/")}), "INVALID_PARAMS");
    for link in ["Go there", "Open there"] {
        client.ok("act.launch", json!({"package": pages.url()}));
        tap(&mut client, link);
        until("the refusal", || Some(()).filter(|()| outline(&mut client).contains("blocked")));
    }
    assert_eq!(denied.requests(), [""; 0]);
}
