//! What holds for every kind of device, shown for a phone with its service, for a phone over `adb`, and for a browser, with
//! the same tests.
//!
//! The phones show the settings app, the browser a site with the same pages and labels. What is in this table holds for one
//! kind only, and is tested with that kind:
//!
//! | tests of | left out here | because |
//! |---|---|---|
//! | observing | activities, windows, the keyboard, trees that cannot be trusted | a page has an address, and no system around it |
//! | observing | what is out of sight, headings, text, news | a phone's tree has only what is in sight |
//! | acting | key codes, long presses, intents, the shell, overlays | a browser has none |
//! | acting | tabs, uploads, downloads, hovering, what covers an element between two readings | a phone has none, or cannot tell |
//! | refs | elements without ids that moved | a browser's elements keep their node ids |
//! | learning | a page that was read only once, for the kind `adb` | its reads wait until the screen stands still |
//! | learning, hints, paths | apps by package, coordinates and pictures of components | a browser's app is its site |
//! | sessions | leases that keep other sessions out | each session has its own tab |

mod learning;
mod pages;
mod screens;
mod sessions;

use afd_tests::adb::Adb;
use afd_tests::pages::Pages;
use afd_tests::{Client, TestPhone, World};
use serde_json::json;

/// Kind of device under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Phone,
    Adb,
    Browser,
}

/// A daemon with one device that shows the settings.
pub struct Stage {
    pub world: World,
    site: Option<Pages>,
    _adb: Option<Adb>,
    _profile: tempfile::TempDir,
}

impl Stage {
    pub fn new(kind: Kind) -> Self {
        let profile = tempfile::tempdir().expect("a directory");
        let mut phone = TestPhone::start();
        if kind == Kind::Phone {
            return Self { world: World::with(phone, ""), site: None, _adb: None, _profile: profile };
        }
        if kind == Kind::Adb {
            let adb = Adb::start();
            let serial = phone.attach_usb(0);
            let settings = format!(
                "[adb]\nserver_port = {}\n[device.pixel]\nkind = \"adb\"\nurl = \"adb:{serial}\"\n",
                adb.port()
            );
            return Self { world: World::bare(phone, &settings), site: None, _adb: Some(adb), _profile: profile };
        }
        let site = Pages::start(pages::ALL);
        let settings = format!(
            "[device.web]\nkind = \"browser\"\nurl = \"{}/\"\n[device.web.browser]\nprofile = {:?}\nallow_private = true\n",
            site.url(),
            profile.path()
        );
        Self { world: World::bare(phone, &settings), site: Some(site), _adb: None, _profile: profile }
    }

    pub fn client(&self) -> Client {
        self.world.client()
    }

    /// Opens the settings again, as at first.
    pub fn open(&self, client: &mut Client) {
        match self.site {
            Some(_) => self.launch(client, "com.android.settings", "/"),
            // A phone shows an app as it was left.
            None => self.world.phone.scene("com.android.settings", None),
        }
    }

    /// Opens another app or page than the settings.
    pub fn open_other(&self, client: &mut Client) {
        self.launch(client, "org.example.shop", "/shop");
    }

    /// Opens the page for signing in.
    pub fn open_form(&self, client: &mut Client) {
        self.launch(client, "org.example.bank", "/bank");
    }

    fn launch(&self, client: &mut Client, app: &str, path: &str) {
        let name = self.site.as_ref().map_or_else(|| app.to_owned(), |site| format!("{}{path}", site.url()));
        client.ok("act.launch", json!({"package": name}));
    }

    /// Returns the app that shows the settings.
    pub fn app(&self) -> &'static str {
        if self.site.is_some() { "chromium" } else { "com.android.settings" }
    }
}

pub fn outline(client: &mut Client) -> String {
    let look = client.ok("observe.page", json!({"format": "outline"}));
    look["outline"].as_str().unwrap_or_default().to_owned()
}

pub fn tap(client: &mut Client, label: &str) {
    client.ok("act.tap", json!({"value": label, "partial": true}));
}

/// Returns the line of an outline that has a label.
pub fn line<'a>(outline: &'a str, label: &str) -> &'a str {
    outline.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{label} in {outline}")).trim()
}

/// Returns the alias of the element with a label.
pub fn alias<'a>(outline: &'a str, label: &str) -> &'a str {
    line(outline, label).split(' ').next().unwrap_or_default()
}

/// Makes a test of each function, for each kind of device. What follows `polled:` is left out for the kind `adb`, whose reads
/// wait until the screen stands still.
macro_rules! alike {
    ($($name:ident),* $(,)? $(; polled: $($polled:ident),* $(,)?)?) => {
        mod phone {
            $(#[test] fn $name() { super::$name(&crate::alike::Stage::new(crate::alike::Kind::Phone)); })*
            $($(#[test] fn $polled() { super::$polled(&crate::alike::Stage::new(crate::alike::Kind::Phone)); })*)?
        }
        mod adb {
            $(#[test] #[ignore = "needs adb"] fn $name() { super::$name(&crate::alike::Stage::new(crate::alike::Kind::Adb)); })*
        }
        mod browser {
            $(#[test] #[ignore = "needs chromium"] fn $name() { super::$name(&crate::alike::Stage::new(crate::alike::Kind::Browser)); })*
            $($(#[test] #[ignore = "needs chromium"] fn $polled() { super::$polled(&crate::alike::Stage::new(crate::alike::Kind::Browser)); })*)?
        }
    };
}
pub(crate) use alike;
