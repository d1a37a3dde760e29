//! A real Chromium as a device: pages of a local web server are read, acted on and remembered.

mod moving;
mod sessions;
mod shop;

use std::path::Path;

use afd_tests::daemon::Daemon;
use afd_tests::pages::Pages;
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::json;

const FORM: &str = r#"<!doctype html><title>Order</title><h1>Order form</h1>
<form onsubmit="event.preventDefault();out.textContent='Sent '+this.who.value+' '+this.colour.value+' '+this.day.value+' '+this.news.checked">
<label>Name <input name="who" required></label> <label>Password <input type="password" name="secret"></label>
<label>Colour <select name="colour"><option>Red<option>Green<option disabled>Grey</select></label>
<label>Day <input type="date" name="day"></label> <label><input type="checkbox" name="news"> Newsletter</label>
<button>Send</button> <button type="button" disabled>Cancel</button></form><p id="out">nothing</p>
<div onclick="out.textContent='row'" style="width:200px">A row that listens</div>
<p style="visibility:hidden">not to be seen</p><a href="/second">Second page</a>"#;
const PAGES: &[(&str, &str)] = &[
    ("/", FORM),
    (
        "/second",
        // The text has half of a character, as texts cut by scripts do.
        "<!doctype html><title>Second</title><h1>The second page</h1><a href='/'>Back to the order</a><p id='cut'></p>
         <script>cut.textContent = 'cut \\ud83c'</script>",
    ),
    (
        "/dialogs",
        "<!doctype html><title>Dialogs</title><button onclick=\"out.textContent=confirm('Really delete?')?'deleted':'kept'\">Delete</button>
         <button onclick=\"out.textContent='named '+prompt('New name?','old')\">Rename</button><button onclick=\"alert('Saved')\">Save</button><p id='out'>-</p>",
    ),
    (
        "/parts",
        "<!doctype html><title>Parts</title><iframe srcdoc=\"<button onclick='this.textContent=&quot;Frame tapped&quot;'>In a frame</button>\"></iframe>
         <my-part></my-part><script>customElements.define('my-part', class extends HTMLElement { connectedCallback() {
         let root = this.attachShadow({mode: 'open'}); root.innerHTML = '<button>In a shadow</button>';
         root.firstChild.onclick = event => event.target.textContent = 'Shadow tapped'; } })</script>",
    ),
    ("/opener", "<!doctype html><title>Opener</title><a href='/opened' target='_blank'>Open a window</a>
         <button onclick='open(location.search.slice(1))'>Open another site</button>"),
    ("/opened", "<!doctype html><title>Opened</title><button onclick='window.close()'>Close this</button>"),
    (
        "/list",
        "<!doctype html><title>List</title><ul id='rows'></ul><script>for (let i = 1; i <= 300; i++) {
         let row = document.createElement('li'); row.innerHTML = '<button onclick=\"this.textContent=`chosen '+i+'`\">Entry '+i+'</button>'; rows.append(row) }</script>",
    ),
    (
        "/covered",
        "<!doctype html><title>Covered</title><style>#cover{position:fixed;inset:0 0 auto 0;height:120px;background:#eee}</style>
         <button onclick=\"out.textContent='paid'\">Pay</button><p id='out'>-</p><div style='height:200px'></div>
         <label><span style='display:inline-block;width:60px;height:20px;background:#ccc'></span><input type='checkbox' style='opacity:0.01;margin-left:-60px'>Agree</label>
         <button onclick=\"cover.remove()\">Dismiss</button> <div style='overflow:hidden;height:0'><a href='/second'>Folded link</a></div>
         <div id='cover'></div>",
    ),
    (
        "/veil",
        "<!doctype html><title>Veil</title><button>Pay</button><div id='veil' style='position:fixed;inset:0;background:#fff8'>
         <h2>A letter</h2><button>Subscribe</button> <button onclick='veil.remove()'>No thanks</button></div>",
    ),
    (
        "/boxes",
        "<!doctype html><title>Boxes</title><div style='overflow:auto;height:80px;width:200px'><button>First</button>
         <div style='height:600px'></div><button>Last</button></div><div style='height:2000px'></div><button>Far below</button>",
    ),
    (
        "/box",
        "<!doctype html><title>Box</title><div style='overflow:auto;height:80px;width:200px'><button>First</button>
         <div style='height:600px'></div><button>Last</button></div>",
    ),
    ("/busy", "<!doctype html><title>Busy</title><button onclick=\"navigator.sendBeacon('/hangs');while(true);\">Hang</button>"),
    ("/slow", "<!doctype html><title>Slow</title><button>Ready</button><img src='/never'>"),
    ("/never", "hang"),
    (
        "/alike",
        "<!doctype html><title>Alike</title><button>Delete</button> <button>Delete</button><p>Fill in the form and submit it below.</p>
         <button onclick=\"out.textContent='ordered'\">Submit order</button><div style='height:3000px'></div><button>Delete</button>
         <button onclick=\"out.textContent='sent'\">Submit</button><p id='out'>-</p>",
    ),
    (
        "/cookie",
        "<!doctype html><title>Cookie</title><p id='out'></p>
         <script>out.textContent = document.cookie || 'no cookie'; document.cookie = 'seen=yes;max-age=99999'</script>",
    ),
    (
        "/lines",
        "<!doctype html><title>Lines</title><p>Book the <b>shortest</b> flight to \"<i>Oslo</i>\" now.</p>
         <table><tr><th>Name<th>Price<tr><td>Tea<td>3.50</table><ul role='tablist'><li role='tab'><a href='#one'>Tab one</a></ul>
         <span class='trash btn7' style='display:inline-block;width:16px;height:16px' onclick='1'></span>
         <div onclick='1'><input type=text id='first'></div>
         <p>Type the word that you see above into this field.</p><input type=text id='answer'>",
    ),
    (
        "/mouse",
        "<!doctype html><title>Mouse</title><style>#menu{display:none} #top:hover #menu{display:block}
         .box{width:120px;height:40px;background:#ddd;margin:20px}</style>
         <div id='top'><button>Products</button><div id='menu'><a href='/second'>Tea</a></div></div>
         <div class='box' draggable='true' ondragstart=\"event.dataTransfer.setData('text', 'parcel')\">Parcel</div>
         <div class='box' ondragover='event.preventDefault()' ondrop=\"event.preventDefault();out.textContent='dropped '+event.dataTransfer.getData('text')\">Shelf</div>
         <div class='box' id='handle' onmousedown='down=true'>Handle</div><p id='out'>-</p>
         <script>let down = false; onmouseup = event => { if (down && event.clientX > 250) out.textContent = 'handle moved'; down = false }</script>",
    ),
    (
        "/permissions",
        "<!doctype html><title>Permissions</title><p id='out'>-</p><script>Promise.all(['geolocation', 'notifications'].map(name =>
         navigator.permissions.query({name}))).then(all => out.textContent = all.map(one => one.name + ' ' + one.state).join(', '))</script>",
    ),
    (
        "/choices",
        "<!doctype html><title>Choices</title><select multiple size=4 onchange='out.textContent=[...this.selectedOptions].map(o=>o.text)'>
         <option>Tea<option>Coffee<option>Milk</select><p id='out'>-</p>",
    ),
];

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
fn the_tab_that_was_opened_last_is_current_until_it_is_closed() {
    let lab = Lab::new("/opener");
    let mut client = lab.world.client();
    tap(&mut client, "Open a window");
    until("the new tab", || Some(()).filter(|()| outline(&mut client).contains("Close this")));
    tap(&mut client, "Close this");
    until("the first tab", || Some(()).filter(|()| outline(&mut client).contains("Open a window")));
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
fn a_browser_that_was_killed_is_started_again() {
    let lab = Lab::new("/second");
    let mut client = lab.world.client();
    assert!(outline(&mut client).contains("The second page"));
    let pid = process_with(lab.profile.path());
    afd_tests::daemon::send_signal(pid, "KILL");
    assert!(outline(&mut client).contains("The second page"));
    assert_ne!(process_with(lab.profile.path()), pid);
}

/// Returns the id of the browser's main process with a profile.
fn process_with(profile: &Path) -> u32 {
    running_with(profile).expect("a browser")
}

fn running_with(profile: &Path) -> Option<u32> {
    let wanted = format!("--user-data-dir={}", profile.display());
    let is_main = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        arguments.contains(&wanted.as_bytes()) && !arguments.iter().any(|argument| argument.starts_with(b"--type="))
    };
    let all = std::fs::read_dir("/proc").expect("lists").flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(is_main)
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_ends_with_the_daemon_and_keeps_its_cookies() {
    let mut lab = Lab::new("/cookie");
    assert!(outline(&mut lab.world.client()).contains("no cookie"));
    lab.world.daemon.stop();
    until("the end of the browser", || running_with(lab.profile.path()).is_none().then_some(()));
    lab.world.daemon = afd_tests::Daemon::host(lab.world.dir());
    assert!(outline(&mut lab.world.client()).contains("seen=yes"));
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
fn permissions_are_refused_unless_they_are_named() {
    for (more, geolocation) in [("", "denied"), ("permissions = [\"geolocation\"]\n", "granted")] {
        let lab = Lab::with("/permissions", more);
        let page = outline(&mut lab.world.client());
        assert!(page.contains(&format!("geolocation {geolocation}, notifications denied")), "{page}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_daemon_that_is_a_unit_of_systemd_starts_the_browser_in_a_unit_of_its_own() {
    let (pages, profile, programs) = (Pages::start(PAGES), tempfile::tempdir(), tempfile::tempdir());
    let (profile, programs) = (profile.expect("a directory"), programs.expect("a directory"));
    // What systemd-run does, but for the unit.
    let asked = programs.path().join("asked");
    let script =
        format!("#!/bin/sh\necho \"$@\" >{asked:?}\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
    let fake = programs.path().join("systemd-run");
    std::fs::write(&fake, script).expect("writes");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("may be run");
    let settings = settings(&format!("{}/second", pages.url()), profile.path(), "allow_private = true\n");
    let world = World::start(TestPhone::start(), &settings, |dir| Daemon::start_as_unit(dir, programs.path()));
    assert!(outline(&mut world.client()).contains("The second page"));
    let asked = std::fs::read_to_string(&asked).expect("systemd-run was asked");
    assert!(asked.starts_with("--user --pipe --quiet --collect ") && asked.contains(" -- /bin/sh -c "), "{asked}");
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
fn tabs_are_listed_chosen_opened_and_closed() {
    let lab = Lab::new("/second");
    let mut client = lab.world.client();
    outline(&mut client);
    client.ok("act.tab", json!({"tab": "new"}));
    lab.open(&mut client, "/lines");
    let tabs = client.ok("device.tabs", json!({}));
    let seen = |n: usize| (tabs["tabs"][n]["tab"].clone(), tabs["tabs"][n]["current"].clone());
    assert_eq!((seen(0), seen(1)), ((json!("t1"), json!(false)), (json!("t2"), json!(true))), "{tabs}");
    assert!(outline(&mut client).contains("page \"Lines\""));
    client.ok("act.tab", json!({"tab": "t1"}));
    assert!(outline(&mut client).contains("page \"Second\""));
    client.ok("act.tab", json!({"tab": "t1", "close": true}));
    assert!(outline(&mut client).contains("page \"Lines\""));
    client.fails("act.tab", json!({"tab": "t1"}), "NOT_FOUND");
    client.fails("act.tab", json!({"tab": "t2", "close": true}), "DEVICE_ERROR");
    client.fails("act.tab", json!({"tab": "second"}), "INVALID_PARAMS");
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
