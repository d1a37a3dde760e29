//! The machine: what is open, where it is scrolled, what was typed, and what each input does.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use crate::app::{App, Do, Page};
use crate::clock::Clock;
use crate::fault::Faults;
use crate::layout::{self, HEIGHT, ROW, Rng, View, WIDTH};
use crate::marks::Overlay;
use crate::refs::Refs;
use crate::scene::{Node, OnTap, Scene, Window, spoken};

const LAUNCHER: &str = "com.android.launcher3";

/// How a practice phone is to be.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The apps on it.
    pub apps: Vec<App>,
    /// Orders shuffled lists and times pop-ups; 0 is the plain phone.
    pub seed: u64,
    /// Its time.
    pub clock: Arc<Clock>,
    /// The bearer token.
    pub token: String,
    /// 1 or 2.
    pub dialect: u8,
}

impl Setup {
    /// The built-in apps, dialect 2, a running clock.
    pub fn new(token: &str) -> Self {
        Self { apps: crate::app::builtin(), seed: 0, clock: Arc::new(Clock::real()), token: token.to_owned(), dialect: 2 }
    }
}

/// The file by which the app of the service tells how it is reached (reference, 6.2). Never a token.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// The app's package: the release's, or that of a debug build.
    #[serde(rename = "packageName")]
    pub package: String,
    /// Version.
    pub version_name: String,
    /// Version as a number.
    pub version_code: i64,
    /// Port of the service.
    pub service_port: u16,
    /// Whether the service runs, as far as the app knows.
    pub service_running: bool,
}

impl Hint {
    /// What the release writes.
    pub fn new(port: u16) -> Self {
        Self {
            package: "com.memohai.autofish".into(),
            version_name: "0.5.0".into(),
            version_code: 50,
            service_port: port,
            service_running: true,
        }
    }

    /// The content of the file.
    pub fn json(&self, updated_at: i64) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["updatedAt"] = serde_json::json!(updated_at);
        value.to_string()
    }
}

/// Something that reached the screen.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Counts from 1.
    pub n: usize,
    /// `tap`, `swipe`, `text` ...
    pub kind: String,
    /// The page that it reached.
    pub page: String,
    /// What was hit: its words.
    pub hit: Option<String>,
    /// Coordinates, key, package or length of the text.
    pub detail: String,
}

/// A practice phone.
pub struct Phone {
    /// Apps, in the order of their icons.
    pub apps: Vec<App>,
    /// Its time.
    pub clock: Arc<Clock>,
    /// The bearer token.
    pub token: String,
    /// 1 or 2.
    pub dialect: u8,
    /// Shizuku runs.
    pub shizuku: bool,
    /// Shizuku can reach the input manager.
    pub reflection: bool,
    /// The accessibility service is bound.
    pub accessibility: bool,
    /// What came in.
    pub inputs: Vec<Input>,
    /// Ref machinery.
    pub refs: Refs,
    /// Overlay state.
    pub overlay: Overlay,
    /// Faults that wait for a request.
    pub faults: Faults,
    /// The connection hint, once the service runs.
    pub hint: Option<Hint>,
    /// How many requests came in, by path.
    pub requests: HashMap<String, usize>,
    /// Grows with every change of the screen.
    pub ui_seq: u64,
    seed: u64,
    rng: Rng,
    tasks: BTreeMap<String, Vec<String>>,
    front: Option<String>,
    dialog: Option<String>,
    vars: HashMap<(String, String), String>,
    scroll: HashMap<(String, String), i32>,
    focus: Option<String>,
    entered_at: i64,
    moves: HashMap<String, u32>,
    popped: HashMap<(String, String), u32>,
}

impl Phone {
    /// A phone that shows its launcher.
    pub fn new(setup: Setup) -> Self {
        let vars = setup.apps.iter().flat_map(|a| a.vars.iter().map(|(k, v)| ((a.package.clone(), k.clone()), v.clone()))).collect();
        Self {
            entered_at: setup.clock.now_ms(),
            rng: Rng::new(setup.seed),
            apps: setup.apps,
            clock: setup.clock,
            token: setup.token,
            dialect: setup.dialect,
            shizuku: true,
            reflection: true,
            accessibility: true,
            inputs: Vec::new(),
            refs: Refs::default(),
            overlay: Overlay::default(),
            faults: Faults::default(),
            hint: None,
            requests: HashMap::new(),
            ui_seq: 1,
            seed: setup.seed,
            tasks: BTreeMap::new(),
            front: None,
            dialog: None,
            vars,
            scroll: HashMap::new(),
            focus: None,
            moves: HashMap::new(),
            popped: HashMap::new(),
        }
    }

    /// `SYSTEM_API`, `SHELL_CMD` or `ACCESSIBILITY`.
    pub fn mode(&self) -> &'static str {
        match (self.shizuku, self.reflection) {
            (true, true) => "SYSTEM_API",
            (true, false) => "SHELL_CMD",
            (false, _) => "ACCESSIBILITY",
        }
    }

    /// Whether gestures can reach the screen at all.
    pub fn can_touch(&self) -> bool {
        self.shizuku || self.accessibility
    }

    fn app(&self) -> Option<&App> {
        self.front.as_ref().and_then(|p| self.apps.iter().find(|a| &a.package == p))
    }

    /// Package and page in front; the launcher has no page.
    pub fn place(&self) -> (String, String) {
        let page = self.front.as_ref().and_then(|p| self.tasks.get(p)).and_then(|t| t.last());
        (self.front.clone().unwrap_or_else(|| LAUNCHER.to_owned()), page.cloned().unwrap_or_default())
    }

    fn page(&self) -> Option<&Page> {
        self.app().and_then(|a| a.pages.get(&self.place().1))
    }

    /// `package/activity` on top.
    pub fn top_activity(&self) -> String {
        let Some((app, page)) = self.app().zip(self.page()) else {
            return format!("{LAUNCHER}/.Launcher");
        };
        if let Some(dialog) = self.dialog.as_ref().and_then(|d| app.dialogs.get(d))
            && let Some(activity) = &dialog.activity
        {
            return format!("{}/{activity}", dialog.package.as_deref().unwrap_or(&app.package));
        }
        format!("{}/{}", app.package, page.activity)
    }

    /// The value of a variable of the app in front.
    pub fn var(&self, name: &str) -> String {
        let key = (self.place().0, name.to_owned());
        self.vars.get(&key).cloned().unwrap_or_default()
    }

    /// Fills a variable.
    pub fn set(&mut self, package: &str, name: &str, value: &str) {
        self.vars.insert((package.to_owned(), name.to_owned()), value.to_owned());
        self.ui_seq += 1;
    }

    /// Replaces `{name}` by variables; `{minutes}` counts with the clock.
    fn fill(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, tail)) = after.split_once('}') else {
                return format!("{out}{{{after}");
            };
            match name.strip_prefix("minutes+") {
                Some(offset) => {
                    let minutes = (self.clock.now_ms() - crate::clock::EPOCH_MS) / 60_000;
                    out.push_str(&(minutes + offset.parse::<i64>().unwrap_or(0)).to_string());
                }
                None => out.push_str(&self.var(name)),
            }
            rest = tail;
        }
        out + rest
    }

    fn jitter(&self, page: &Page) -> i32 {
        let elapsed = self.clock.now_ms() - self.entered_at;
        let moving = page.animate_ms < 0 || elapsed < page.animate_ms;
        if moving { 1 + ((elapsed / 30) % 7) as i32 } else { 0 }
    }

    /// What is on the screen.
    pub fn scene(&self) -> Scene {
        let minutes = self.clock.now_ms() / 60_000;
        let [status, bar] = layout::system_bars(&format!("{:02}:{:02}", (minutes / 60) % 24, minutes % 60));
        let mut windows = vec![status, bar];
        match self.app().zip(self.page()) {
            None => windows.push(layout::launcher(&self.apps, true)),
            Some((app, page)) => windows.extend(self.app_windows(app, page)),
        }
        windows.sort_by_key(|w| -w.layer);
        Scene { width: WIDTH, height: HEIGHT, density: layout::DENSITY, windows }
    }

    fn app_windows(&self, app: &App, page: &Page) -> Vec<Window> {
        let (fill, var) = (|t: &str| self.fill(t), |n: &str| self.var(n));
        let view = View {
            app,
            fill: &fill,
            var: &var,
            scroll: self.scroll.get(&self.place()).copied().unwrap_or(0),
            jitter: self.jitter(page),
            seed: self.seed,
        };
        let dialog = self.dialog.as_ref().and_then(|d| app.dialogs.get(d));
        let root = self.tasks.get(&app.package).is_none_or(|t| t.len() <= 1);
        let mut windows = vec![layout::app_window(page, root, dialog.is_none(), &view)];
        if let Some(dialog) = dialog {
            windows.push(layout::dialog_window(dialog, &view));
        } else if self.focus.is_some() {
            windows.push(layout::keyboard());
        }
        windows
    }

    fn record(&mut self, kind: &str, hit: Option<String>, detail: String) {
        let (package, page) = self.place();
        self.inputs.push(Input { n: self.inputs.len() + 1, kind: kind.to_owned(), page: format!("{package}/{page}"), hit, detail });
    }

    /// A touch of any kind; only a plain or double tap does something.
    pub fn touch(&mut self, kind: &str, x: f32, y: f32) {
        let hit = self.scene().hit(x, y).map(|(_, node)| node.clone());
        self.record(kind, hit.as_ref().map(spoken), format!("{x},{y}"));
        if kind != "longPress"
            && let Some(Node { on_tap: Some(on_tap), .. }) = hit
        {
            self.perform(on_tap);
        }
        self.ui_seq += 1;
    }

    fn perform(&mut self, on_tap: OnTap) {
        match on_tap {
            OnTap::Run(run) => self.run(&run),
            OnTap::Focus(var) => self.focus = Some(var),
            OnTap::Back => self.go_back(),
            OnTap::Home => self.go_home(),
        }
    }

    fn run(&mut self, run: &Do) {
        if run.require.iter().any(|(name, value)| &self.var(name) != value) {
            if let Some(otherwise) = &run.otherwise {
                self.run(otherwise);
            }
            return;
        }
        let package = self.place().0;
        if run.close {
            self.dialog = None;
        }
        for (name, value) in &run.set {
            let value = self.fill(value);
            self.set(&package, name, &value);
        }
        if let Some(name) = &run.toggle {
            let value = if self.var(name) == "on" { "off" } else { "on" };
            self.set(&package, name, value);
        }
        if run.back {
            self.go_back();
        }
        if let Some(page) = &run.goto {
            self.focus = None;
            self.tasks.entry(package).or_default().push(page.clone());
            self.entered();
        }
        if let Some(app) = &run.launch {
            self.open(app);
        }
        if let Some(dialog) = &run.dialog {
            self.dialog = Some(dialog.clone());
        }
    }

    /// A page came up: it may move for a while, and a pop-up may be due.
    fn entered(&mut self) {
        self.entered_at = self.clock.now_ms();
        self.ui_seq += 1;
        let Some(app) = self.app().cloned() else { return };
        let moves = self.moves.entry(app.package.clone()).or_insert_with(|| if self.seed == 0 { 0 } else { self.rng.below(3) as u32 });
        *moves += 1;
        let moves = *moves;
        for popup in &app.popups {
            let count = self.popped.entry((app.package.clone(), popup.dialog.clone())).or_default();
            if popup.every > 0 && moves.is_multiple_of(popup.every) && *count < popup.times && self.dialog.is_none() {
                *count += 1;
                self.dialog = Some(popup.dialog.clone());
            }
        }
    }

    /// Brings an app to the front, where it was left.
    pub fn open(&mut self, package: &str) -> bool {
        let Some(start) = self.apps.iter().find(|a| a.package == package).map(|a| a.start.clone()) else {
            return false;
        };
        let task = self.tasks.entry(package.to_owned()).or_default();
        if task.is_empty() {
            task.push(start);
        }
        self.front = Some(package.to_owned());
        self.dialog = None;
        self.focus = None;
        self.entered();
        true
    }

    /// `app/launch`.
    pub fn launch(&mut self, package: &str) -> Option<String> {
        let opened = self.open(package);
        if opened {
            self.record("launch", None, package.to_owned());
        }
        opened.then(|| self.top_activity())
    }

    /// `app/stop`.
    pub fn stop(&mut self, package: &str) {
        self.record("stop", None, package.to_owned());
        self.tasks.remove(package);
        if self.front.as_deref() == Some(package) {
            self.go_home();
        }
        self.ui_seq += 1;
    }

    /// The Back button.
    pub fn back(&mut self) {
        self.record("back", None, String::new());
        self.go_back();
    }

    fn go_back(&mut self) {
        self.ui_seq += 1;
        if self.dialog.take().is_some() || self.focus.take().is_some() {
            return;
        }
        let package = self.place().0;
        let Some(task) = self.tasks.get_mut(&package) else { return };
        task.pop();
        if task.is_empty() {
            self.tasks.remove(&package);
            self.go_home();
        } else {
            self.entered_at = self.clock.now_ms();
        }
    }

    /// The Home button.
    pub fn home(&mut self) {
        self.record("home", None, String::new());
        self.go_home();
    }

    fn go_home(&mut self) {
        self.front = None;
        self.dialog = None;
        self.focus = None;
        self.ui_seq += 1;
    }

    /// Moves the content by pixels; what lies below comes up for a positive distance.
    pub fn scroll_by(&mut self, pixels: i32) {
        let max = self.page().map_or(0, |p| layout::max_scroll(p, self.seed));
        let at = self.scroll.entry(self.place()).or_default();
        *at = (*at + pixels).clamp(0, max);
        self.ui_seq += 1;
    }

    /// Scrolls by whole list rows.
    pub fn scroll_rows(&mut self, rows: i32) {
        self.scroll_by(rows * ROW);
    }

    /// A swipe; vertical ones scroll.
    pub fn swipe(&mut self, from: (f32, f32), to: (f32, f32)) {
        self.record("swipe", None, format!("{},{} to {},{}", from.0, from.1, to.0, to.1));
        self.scroll_by((from.1 - to.1) as i32);
    }

    /// `scroll` by a share of the screen.
    pub fn scroll(&mut self, direction: &str, share: f32) {
        self.record("scroll", None, direction.to_owned());
        let distance = (HEIGHT as f32 * share) as i32;
        match direction {
            "down" => self.scroll_by(distance),
            "up" => self.scroll_by(-distance),
            _ => self.ui_seq += 1,
        }
    }

    /// Types into the focused field: ASCII only, `%s` is a space.
    pub fn type_text(&mut self, text: &str) {
        let clean: String = text.replace("%s", " ").chars().filter(char::is_ascii).collect();
        self.record("text", None, format!("{} characters", clean.chars().count()));
        if let Some(name) = self.focus.clone() {
            let (package, value) = (self.place().0, self.var(&name) + &clean);
            self.set(&package, &name, &value);
        }
    }

    /// A key by its Android code.
    pub fn key(&mut self, code: i64) {
        self.record("key", None, code.to_string());
        match code {
            4 => self.go_back(),
            3 => self.go_home(),
            66 => self.focus = None,
            67 => {
                if let Some(name) = self.focus.clone() {
                    let (package, mut value) = (self.place().0, self.var(&name));
                    value.pop();
                    self.set(&package, &name, &value);
                }
            }
            _ => {}
        }
        self.ui_seq += 1;
    }

    /// Puts the phone on a page, the start page by default; below it lies the start page only.
    pub fn go(&mut self, package: &str, page: Option<&str>) -> bool {
        if !self.open(package) {
            return false;
        }
        let Some(app) = self.app() else { return false };
        let start = app.start.clone();
        let page = page.unwrap_or(&start).to_owned();
        if !app.pages.contains_key(&page) {
            return false;
        }
        let task = if page == start { vec![start] } else { vec![start, page] };
        self.tasks.insert(package.to_owned(), task);
        self.dialog = None;
        self.entered_at = self.clock.now_ms();
        self.ui_seq += 1;
        true
    }

    /// Shows a dialog of the app in front, for tests.
    pub fn pop_up(&mut self, dialog: &str) -> bool {
        let known = self.app().is_some_and(|a| a.dialogs.contains_key(dialog));
        if known {
            self.dialog = Some(dialog.to_owned());
            self.ui_seq += 1;
        }
        known
    }

    /// What a restart of the service forgets.
    pub fn restart_service(&mut self) {
        self.refs.reset();
        self.overlay = Overlay::default();
    }
}
