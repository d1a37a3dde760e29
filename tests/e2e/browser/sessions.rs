//! Sessions in one browser: each has its own tab, in a browser that the daemon starts and in one of the user.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use afd_tests::pages::Pages;
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use super::{Lab, PAGES, outline, settings, tap};

/// Returns the ids of the tabs, each with the session that uses it, and whether it is the caller's.
fn tabs(client: &mut Client) -> Vec<(String, Option<String>, bool)> {
    let listed = client.ok("device.tabs", json!({}));
    let tab = |tab: &Value| {
        let text = |name: &str| tab[name].as_str().map(str::to_owned);
        (text("tab").unwrap_or_default(), text("usedBy"), tab["current"] == true)
    };
    listed["tabs"].as_array().into_iter().flatten().map(tab).collect()
}

fn used(id: &str, session: Option<&str>, current: bool) -> (String, Option<String>, bool) {
    (id.to_owned(), session.map(str::to_owned), current)
}

#[test]
#[ignore = "needs chromium"]
fn each_session_has_a_tab_of_its_own() {
    let lab = Lab::new("/");
    let (mut ann, mut bob) = (lab.world.client_for("ann"), lab.world.client_for("bob"));
    lab.open(&mut ann, "/opener");
    assert!(outline(&mut bob).contains("Order form"), "a new session sees the start page");
    let opened = ann.ok("act.tap", json!({"by": "text", "value": "Open a window", "then": "outline"}));
    assert!(opened.to_string().contains("opened tab t3"), "{opened}");
    assert!(outline(&mut ann).contains("Close this"));
    assert!(outline(&mut bob).contains("Order form"), "it belongs to the session whose page opened it");
    let all = [used("t1", Some("ann"), false), used("t2", Some("bob"), false), used("t3", Some("ann"), true)];
    assert_eq!(tabs(&mut ann), all);
    let refused = bob.fails("act.tab", json!({"tab": "t3"}), "CONFLICT");
    assert!(refused.message.contains("session \"ann\" uses tab t3"), "{refused:?}");
    // Only one tab can be in front, but each has its picture.
    for _ in 0..2 {
        ann.ok("observe.screenshot", json!({}));
        bob.ok("observe.screenshot", json!({}));
    }
    // A lease keeps others from the tab of its session only.
    ann.ok("device.lease", json!({"ttlMs": 60_000}));
    tap(&mut bob, "A row that listens");
    assert!(outline(&mut bob).contains("\"row\""));
}

#[test]
#[ignore = "needs chromium"]
fn the_tabs_of_a_session_that_ends_are_used_again() {
    let lab = Lab::new("/");
    let (mut carl, mut dora) = (lab.world.client_for("carl"), lab.world.client_for("dora"));
    carl.ok("session.start", json!({}));
    lab.open(&mut carl, "/opener");
    tap(&mut carl, "Open a window");
    outline(&mut carl);
    carl.ok("session.end", json!({}));
    assert!(outline(&mut dora).contains("Order form"), "what another session left is not shown");
    let _ = dora.call("act.back", json!({}));
    assert!(outline(&mut dora).contains("Order form"), "nor is it behind the page");
    assert_eq!(tabs(&mut dora), [used("t2", Some("dora"), true)], "nothing was opened for it, and one tab was enough");
    lab.open(&mut dora, "/second");
    dora.ok("session.update", json!({"session": "dora", "name": "doris"}));
    let mut doris = lab.world.client_for("doris");
    assert!(outline(&mut doris).contains("The second page"), "a renamed session keeps its tab");
    assert!(outline(&mut dora).contains("Order form"), "the former name is that of a new session");
}

#[test]
#[ignore = "needs chromium"]
fn a_page_that_hangs_holds_up_its_own_session_only() {
    let lab = Lab::new("/");
    let (mut ann, mut bob) = (lab.world.client_for("ann"), lab.world.client_for("bob"));
    outline(&mut bob);
    lab.open(&mut ann, "/busy");
    let answered = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let tapped = ann.call("act.tap", json!({"by": "text", "value": "Hang"}));
            answered.store(true, Ordering::SeqCst);
            assert!(tapped.is_err(), "{tapped:?}");
        });
        until("the page to hang", || lab.pages.requests().contains(&"/hangs".to_owned()).then_some(()));
        tap(&mut bob, "A row that listens");
        assert!(outline(&mut bob).contains("\"row\""));
        assert!(!answered.load(Ordering::SeqCst), "the other page hangs all the while");
    });
}

#[test]
#[ignore = "needs chromium"]
fn an_act_of_one_session_did_not_lead_to_what_another_one_sees() {
    let lab = Lab::new("/");
    let (mut ann, mut bob) = (lab.world.client_for("ann"), lab.world.client_for("bob"));
    outline(&mut ann);
    outline(&mut bob);
    tap(&mut ann, "A row that listens");
    lab.open(&mut bob, "/lines");
    outline(&mut bob);
    outline(&mut ann);
    let mut carl = lab.world.client_for("carl");
    let look = outline(&mut carl);
    let row = look.lines().find(|line| line.contains("A row that listens")).unwrap_or_default();
    assert!(!row.is_empty() && !row.contains("Lines"), "{look}");
    let log = ann.ok("memory.log", json!({"device": "web"}));
    assert!(
        log["events"].as_array().is_some_and(|events| events.iter().all(|event| event["device"] == "web")),
        "{log}"
    );
}

/// A browser that a user has started.
struct UsersBrowser {
    process: Child,
    address: String,
    _profile: tempfile::TempDir,
}

impl UsersBrowser {
    fn start(url: &str) -> Self {
        let profile = tempfile::tempdir().expect("a directory");
        let process = Command::new(chromium())
            .args(["--headless=new", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage"])
            .args(["--remote-debugging-port=0", &format!("--user-data-dir={}", profile.path().display()), url])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let port = || std::fs::read_to_string(profile.path().join("DevToolsActivePort")).ok();
        let port = until("the browser's port", || port().and_then(|text| text.lines().next().map(str::to_owned)));
        Self { process, address: format!("http://127.0.0.1:{port}"), _profile: profile }
    }

    /// Returns the addresses of its pages.
    fn pages(&self) -> Vec<String> {
        let host = self.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("connects");
        write!(stream, "GET /json/list HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("writes");
        // The browser keeps the connection.
        let mut lines = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).expect("reads");
            let line = line.to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            } else if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        lines.read_exact(&mut body).expect("reads");
        let listed: Vec<Value> = serde_json::from_slice(&body).expect("a list");
        let pages = listed.iter().filter(|target| target["type"] == "page");
        pages.filter_map(|page| page["url"].as_str().map(str::to_owned)).collect()
    }
}

impl Drop for UsersBrowser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        names.iter().find_map(|name| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|f| f.is_file()));
    found.expect("chromium is installed")
}

fn attached(address: &str, start: &str) -> String {
    let more = format!("allow_private = true\nattach = {address:?}\n");
    settings(start, Path::new("unused"), &more)
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_of_the_user_is_driven_in_tabs_of_its_own() {
    let pages = Pages::start(PAGES);
    let theirs = format!("{}/second", pages.url());
    let browser = UsersBrowser::start(&theirs);
    let world = World::bare(TestPhone::start(), &attached(&browser.address, &format!("{}/opener", pages.url())));
    let mut ann = world.client_for("ann");
    assert!(outline(&mut ann).contains("Open a window"));
    assert_eq!(tabs(&mut ann), [used("t1", None, false), used("t2", Some("ann"), true)]);
    tap(&mut ann, "Open a window");
    assert!(outline(&mut ann).contains("Close this"), "windows that its pages open are driven as well");
    assert_eq!(browser.pages().iter().filter(|url| **url == theirs).count(), 1, "the user's tab is as it was");
    // The user's tab is used if it is chosen, and only the user closes it.
    ann.ok("act.tab", json!({"tab": "t1"}));
    assert!(outline(&mut ann).contains("The second page"));
    tap(&mut ann, "Back to the order");
    assert!(outline(&mut ann).contains("Order form"));
    ann.fails("act.tab", json!({"tab": "t1", "close": true}), "DEVICE_ERROR");
    // Once the device is removed, nothing holds up the user's tab, and it can be driven again.
    ann.ok("device.remove", json!({"name": "web"}));
    let start = format!("{}/", pages.url());
    let again = json!({"name": "again", "kind": "browser", "url": start, "attach": browser.address, "persist": false});
    ann.ok("device.add", again);
    let listed = ann.ok("device.tabs", json!({}));
    let is_theirs = |tab: &&Value| tab["url"] == start && tab["usedBy"].is_null();
    let theirs = listed["tabs"].as_array().expect("tabs").iter().find(is_theirs).expect("the user's tab");
    ann.ok("act.tab", json!({"tab": theirs["tab"]}));
    tap(&mut ann, "Second page");
    assert!(outline(&mut ann).contains("The second page"));
    ann.ok("device.remove", json!({"name": "again"}));
    let left = until("its own tabs to close", || Some(browser.pages()).filter(|pages| pages.len() == 1));
    assert_eq!(left, [format!("{}/second", pages.url())], "only the user's tab is left");
}

#[test]
#[ignore = "needs chromium"]
fn what_is_denied_is_not_driven_in_a_browser_of_the_user() {
    let (pages, other) = (Pages::start(PAGES), Pages::start(PAGES));
    let denied = other.url().replace("127.0.0.1", "localhost");
    let browser = UsersBrowser::start(&format!("{denied}/second"));
    let settings = attached(&browser.address, &format!("{}/opener?{denied}/opened", pages.url()));
    let world = World::bare(TestPhone::start(), &format!("{settings}deny = [\"localhost\"]\n"));
    let mut ann = world.client_for("ann");
    outline(&mut ann);
    let refused = ann.fails("act.tab", json!({"tab": "t1"}), "DEVICE_ERROR");
    assert!(format!("{refused:?}").contains("do not allow"), "{refused:?}");
    tap(&mut ann, "Open another site");
    let left = until("the denied window to close", || Some(tabs(&mut ann)).filter(|tabs| tabs.len() == 2));
    assert_eq!(left, [used("t1", None, false), used("t2", Some("ann"), true)]);
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_of_the_user_may_start_again() {
    let pages = Pages::start(PAGES);
    let world = World::bare(TestPhone::start(), &attached("http://127.0.0.1:1", &format!("{}/", pages.url())));
    let mut client = world.client();
    let error = client.fails("observe.page", json!({}), "DEVICE_UNREACHABLE");
    assert!(format!("{error:?}").contains("no browser answers at http://127.0.0.1:1"), "{error:?}");
    let wrong = client.fails(
        "device.add",
        json!({"name": "far", "kind": "browser", "url": "about:blank", "attach": "http://192.0.2.1:9222"}),
        "INVALID_PARAMS",
    );
    assert!(format!("{wrong:?}").contains("attach"), "{wrong:?}");
    for start in 0..2 {
        let browser = UsersBrowser::start("about:blank");
        let name = format!("mine{start}");
        let add =
            json!({"name": name, "kind": "browser", "url": "about:blank", "attach": browser.address, "persist": false});
        client.ok("device.add", add);
        let top = client.ok("observe.page", json!({"device": name, "format": "outline"}));
        assert!(top["outline"].is_string(), "{top}");
        drop(browser);
        client.fails("observe.page", json!({"device": name}), "DEVICE_UNREACHABLE");
    }
}
