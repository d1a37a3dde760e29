//! A real Chromium as a device: pages of a local web server are read, acted on and remembered.

mod going;
mod life;
mod limits;
mod moving;
mod pages;
mod sessions;
mod shop;
mod tools;

use std::path::Path;

use afd_tests::pages::Pages;
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::json;

use pages::PAGES;

/// A daemon with a browser that shows a page of a local web server.
struct Lab {
    world: World,
    pages: Pages,
    profile: tempfile::TempDir,
}

impl Lab {
    fn new(path: &str) -> Self {
        Self::with(path, "")
    }

    /// Starts with more settings of the browser.
    fn with(path: &str, more: &str) -> Self {
        let (pages, profile) = (Pages::start(PAGES), tempfile::tempdir().expect("a directory"));
        let more = format!("allow_private = true\n{more}");
        let settings = settings(&format!("{}{path}", pages.url()), profile.path(), &more);
        Self { world: World::bare(TestPhone::start(), &settings), pages, profile }
    }

    fn open(&self, client: &mut Client, path: &str) {
        client.ok("act.launch", json!({"package": format!("{}{path}", self.pages.url())}));
    }
}

fn settings(url: &str, profile: &Path, more: &str) -> String {
    format!("[device.web]\nkind = \"browser\"\nurl = {url:?}\n[device.web.browser]\nprofile = {profile:?}\n{more}")
}

fn outline(client: &mut Client) -> String {
    let look = client.ok("observe.page", json!({"format": "outline"}));
    look["outline"].as_str().unwrap_or_default().to_owned()
}

fn tap(client: &mut Client, label: &str) {
    client.ok("act.tap", json!({"by": "text", "value": label}));
}

#[test]
#[ignore = "needs chromium"]
fn a_form_is_read_filled_and_sent() {
    let lab = Lab::new("/");
    let mut client = lab.world.client();
    let page = outline(&mut client);
    for line in [
        "page \"Order\"",
        "field \"Name, required\"",
        "= \"Red\"",
        "switch \"Newsletter\" = \"not checked\"",
        "A row that listens",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
    assert!(!page.contains("not to be seen") && page.contains("\"Cancel\" disabled"), "{page}");
    for (field, text) in
        [("Name", "Zoë O'Hara <b> 雨"), ("Password", "hunter22secret"), ("Colour", "Green"), ("Day", "2026-11-27")]
    {
        let filled = client.call("act.fill", json!({"by": "text", "value": field, "text": text}));
        assert!(filled.is_ok(), "{field}: {filled:?}");
    }
    tap(&mut client, "Newsletter");
    tap(&mut client, "Send");
    let page = outline(&mut client);
    assert!(page.contains("Sent Zoë O'Hara <b> 雨 Green 2026-11-27 true"), "{page}");
    assert!(page.contains("= \"checked\"") && !page.contains("hunter22"), "{page}");
    let refused = client.fails("act.fill", json!({"by": "text", "value": "Colour", "text": "Grey"}), "DEVICE_ERROR");
    assert!(refused.message.contains("no such choice"), "{refused:?}");
    tap(&mut client, "A row that listens");
    assert!(outline(&mut client).contains("\"row\""));
    for file in ["memory.db", "memory.db-wal"] {
        let bytes = std::fs::read(lab.world.dir().join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter22") && !text.contains("O'Hara"), "{file} has what was typed");
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_dialog_is_a_window_that_a_tap_answers() {
    let lab = Lab::new("/dialogs");
    let mut client = lab.world.client();
    for (answer, then) in [("Cancel", "kept"), ("OK", "deleted")] {
        tap(&mut client, "Delete");
        let asked = outline(&mut client);
        assert!(asked.contains("Really delete?") && !asked.contains("Rename"), "{asked}");
        tap(&mut client, answer);
        assert!(outline(&mut client).contains(then));
    }
    tap(&mut client, "Rename");
    client.ok("act.fill", json!({"by": "resid", "value": "answer", "text": "new one"}));
    tap(&mut client, "OK");
    assert!(outline(&mut client).contains("named new one"));
    tap(&mut client, "Save");
    assert!(outline(&mut client).contains("\"Saved\""));
    client.ok("act.key", json!({"key": "enter"}));
    assert!(outline(&mut client).contains("Rename"));
}

#[test]
#[ignore = "needs chromium"]
fn frames_and_shadow_roots_are_parts_of_the_page() {
    let lab = Lab::new("/parts");
    let mut client = lab.world.client();
    for (before, after) in [("In a frame", "Frame tapped"), ("In a shadow", "Shadow tapped")] {
        tap(&mut client, before);
        until("the page", || Some(()).filter(|()| outline(&mut client).contains(after)));
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_long_list_scrolls_and_history_goes_back() {
    let lab = Lab::new("/list");
    let mut client = lab.world.client();
    client.ok("act.scrollTo", json!({"text": "Entry 120"}));
    assert!(outline(&mut client).contains("Entry 120"));
    tap(&mut client, "Entry 120");
    until("the entry", || Some(()).filter(|()| outline(&mut client).contains("chosen 120")));
    lab.open(&mut client, "/second");
    assert!(outline(&mut client).contains("page \"Second\""));
    client.ok("act.back", json!({}));
    until("the list", || Some(()).filter(|()| outline(&mut client).contains("page \"List\"")));
}

#[test]
#[ignore = "needs chromium"]
fn what_an_element_led_to_is_known_on_the_second_visit() {
    let lab = Lab::new("/");
    let mut client = lab.world.client();
    outline(&mut client);
    client.ok("act.tap", json!({"by": "text", "value": "Second page", "then": "outline"}));
    client.ok("act.tap", json!({"by": "text", "value": "Back to the order", "then": "outline"}));
    let again = outline(&mut lab.world.client_for("another"));
    assert!(again.contains("\"Second page\" -> \"Second\""), "{again}");
    let states = client.ok("visual.states", json!({"app": "chromium", "site": lab.pages.url()}));
    assert_eq!(states["states"][0]["name"], "Order", "{states}");
    lab.open(&mut client, "/second?secret=1");
    outline(&mut client);
    let files = ["memory.db", "memory.db-wal"].map(|file| std::fs::read(lab.world.dir().join(file)).expect("reads"));
    let stored = files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let origin = lab.pages.url();
    assert!(stored.contains(&origin), "the origin is kept");
    assert!(!stored.contains("/second") && !stored.contains("secret=1"), "paths of addresses are kept as hashes only");
}

#[test]
#[ignore = "needs chromium"]
fn a_page_that_never_finishes_is_read_as_it_is() {
    let lab = Lab::new("/slow");
    let mut client = lab.world.client();
    assert!(outline(&mut client).contains("button \"Ready\""));
    let shot = client.ok("observe.screenshot", json!({}));
    assert_eq!(shot["mimeType"], "image/jpeg", "{shot}");
}

#[test]
#[ignore = "needs chromium"]
fn what_covers_an_element_is_named_with_what_may_close_it() {
    let lab = Lab::new("/veil");
    let mut client = lab.world.client();
    let covered = client.fails("act.tap", json!({"by": "text", "value": "Pay"}), "TARGET_COVERED");
    assert!(covered.message.contains("div \"veil\", which has \"Subscribe\", \"No thanks\""), "{covered:?}");
    tap(&mut client, "No thanks");
    tap(&mut client, "Pay");
}

#[test]
#[ignore = "needs chromium"]
fn a_picture_of_what_its_box_hides_is_refused() {
    for path in ["/boxes", "/box"] {
        let lab = Lab::new(path);
        let mut client = lab.world.client();
        client.ok("observe.screenshot", json!({"of": "First"}));
        let refused = client.fails("observe.screenshot", json!({"of": "Last"}), "INVALID_PARAMS");
        assert!(refused.message.contains("scrolled out of its box"), "{refused:?}");
    }
    let lab = Lab::new("/boxes");
    lab.world.client().ok("observe.screenshot", json!({"of": "Far below"}));
}

#[test]
#[ignore = "needs chromium"]
fn a_covered_element_is_not_tapped() {
    let lab = Lab::new("/covered");
    let mut client = lab.world.client();
    let page = outline(&mut client);
    assert!(!page.contains("Folded link"), "{page}");
    let refused = client.fails("act.tap", json!({"by": "text", "value": "Pay"}), "TARGET_COVERED");
    assert!(refused.message.contains("covered by div \"cover\""), "{refused:?}");
    assert!(!outline(&mut client).contains("paid"), "nothing was tapped");
    tap(&mut client, "Agree");
    tap(&mut client, "Dismiss");
    tap(&mut client, "Pay");
    let page = outline(&mut client);
    assert!(page.contains("\"paid\"") && page.contains("= \"checked\""), "{page}");
}

#[test]
#[ignore = "needs chromium"]
fn frames_of_other_sites_are_parts_of_the_page() {
    let other = Pages::start(&[(
        "/inner",
        "<!doctype html><button onclick=\"this.textContent='Paid'\">Pay here</button><input aria-label='Card'>
         <select aria-label='Kind'><option>One<option>Two</select>",
    )]);
    // The same server under another name is another site.
    let inner = other.url().replace("127.0.0.1", "localhost");
    let html = format!(
        "<!doctype html><title>Outer</title><h1>Shop</h1><iframe src='{inner}/inner' width=600 height=200></iframe>"
    );
    let page: &'static str = Box::leak(html.into_boxed_str());
    let pages = Pages::start(Box::leak(Box::new([("/", page)])));
    let profile = tempfile::tempdir().expect("a directory");
    let world = World::bare(TestPhone::start(), &settings(&pages.url(), profile.path(), "allow_private = true\n"));
    let mut client = world.client();
    until("the frame", || Some(()).filter(|()| outline(&mut client).contains("Pay here")));
    tap(&mut client, "Pay here");
    client.ok("act.fill", json!({"by": "text", "value": "Card", "text": "4111"}));
    client.ok("act.fill", json!({"by": "text", "value": "Kind", "text": "Two"}));
    let page = outline(&mut client);
    assert!(page.contains("Paid") && page.contains("= \"4111\"") && page.contains("= \"Two\""), "{page}");
}

#[test]
#[ignore = "needs chromium"]
fn pieces_of_a_line_and_rows_of_a_table_are_one_text() {
    let lab = Lab::new("/lines");
    let mut client = lab.world.client();
    let page = outline(&mut client);
    for line in [
        "\"Book the shortest flight to \\\"Oslo\\\" now.\"",
        "\"Name | Price\"",
        "\"Tea | 3.50\"",
        "button \"Tab one\"",
        "#trash",
        "field #answer",
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
    assert_eq!(page.matches("Tab one").count(), 1, "{page}");
    assert!(page.contains("\"Type the word that you see above into this field.\""), "{page}");
}

#[test]
#[ignore = "needs chromium"]
fn the_mouse_drags_and_hovers() {
    let lab = Lab::new("/mouse");
    let mut client = lab.world.client();
    client.ok("act.hover", json!({"value": "Products"}));
    until("the menu", || Some(()).filter(|()| outline(&mut client).contains("Tea")));
    client.ok("act.drag", json!({"value": "Parcel", "to": "Shelf", "durationMs": 100}));
    assert!(outline(&mut client).contains("dropped parcel"));
    client.ok("act.drag", json!({"value": "Handle", "toX": 300, "toY": 300, "durationMs": 100}));
    assert!(outline(&mut client).contains("handle moved"));
}

#[test]
#[ignore = "needs chromium"]
fn several_choices_of_a_list_are_chosen_by_taps() {
    let lab = Lab::new("/choices");
    let mut client = lab.world.client();
    tap(&mut client, "Tea");
    tap(&mut client, "Milk");
    assert!(outline(&mut client).contains("Tea,Milk"));
    client.ok("act.launch", json!({"package": format!("{}/second", lab.pages.url())}));
    client.ok("act.key", json!({"key": "back"}));
    until("the list", || Some(()).filter(|()| outline(&mut client).contains("page \"Choices\"")));
    client.ok("act.key", json!({"key": "forward"}));
    until("the page after it", || Some(()).filter(|()| outline(&mut client).contains("page \"Second\"")));
    client.ok("act.key", json!({"key": "reload"}));
    assert!(outline(&mut client).contains("page \"Second\""));
}

#[test]
#[ignore = "needs chromium"]
fn what_is_out_of_sight_is_brought_into_sight() {
    let lab = Lab::new("/list");
    let mut client = lab.world.client();
    assert!(!outline(&mut client).contains("Entry 250"));
    tap(&mut client, "Entry 250");
    assert!(outline(&mut client).contains("chosen 250"));
    // "Entry 9" is above now. The first refs of the page are still those elements.
    tap(&mut client, "Entry 9");
    assert!(outline(&mut client).contains("chosen 9"));
    let found = client.ok("act.scrollTo", json!({"text": "Entry 299"}));
    assert_eq!(found["scrolls"], 1, "{found}");
    // Two elements in sight and one out of sight have this name: none of them is meant.
    lab.open(&mut client, "/alike");
    client.fails("act.tap", json!({"by": "text", "value": "Delete"}), "TARGET_AMBIGUOUS");
    // A text that mentions the name of an element out of sight is not that element.
    tap(&mut client, "Submit");
    assert!(outline(&mut client).contains("sent"));
}
