//! The phone's state machine: open apps, scroll positions and variables, and the resulting screen.

mod course;
mod inputs;
mod log;
mod setup;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Condvar};

use tokio::sync::watch;

use crate::app::{App, Page};
use crate::clock::Clock;
use crate::fault::Faults;
use crate::layout::{self, HEIGHT, Rng, View, WIDTH};
use crate::marks::Overlay;
use crate::recording::play::Player;
use crate::refs::Refs;
use crate::scene::{Scene, Window};

pub use inputs::Input;
pub use log::Entry;
pub use setup::{Hint, Setup};

const LAUNCHER: &str = "com.android.launcher3";

/// A practice phone.
pub struct Phone {
    /// Apps, in the order of their icons.
    pub apps: Vec<App>,
    /// Clock.
    pub clock: Arc<Clock>,
    /// Bearer token of the service.
    pub token: String,
    /// Dialect of the service, 1 or 2.
    pub dialect: u8,
    /// Whether Shizuku is running.
    pub shizuku: bool,
    /// Whether Shizuku can reach the input manager.
    pub reflection: bool,
    /// Whether the accessibility service is bound.
    pub accessibility: bool,
    /// Log of inputs.
    pub inputs: Vec<Input>,
    /// Ref state of the service.
    pub refs: Refs,
    /// Overlay state of the service.
    pub overlay: Overlay,
    /// Pending faults.
    pub faults: Faults,
    /// Notified to release the responses that are being held.
    pub released: watch::Sender<()>,
    /// Connection hint; `None` until the service runs.
    pub hint: Option<Hint>,
    /// Number of requests to the service, by path.
    pub requests: HashMap<String, usize>,
    /// A screen and its activity that are shown instead of an app, for example from a recording.
    pub shown: Option<(Scene, String)>,
    /// A recording that is played instead of the apps.
    pub player: Option<Player>,
    /// Incremented with every change of the screen, except those that a recording brings.
    pub ui_seq: u64,
    /// Files that clients wrote over `adb`, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Settings that clients changed over `adb`, by table and name.
    pub settings: HashMap<(String, String), String>,
    /// Time that `uiautomator dump` takes, in milliseconds.
    pub dump_ms: u64,
    /// The log, oldest entry first.
    pub log: VecDeque<Entry>,
    /// Files to which the screen is being recorded.
    pub recordings: BTreeSet<String>,
    /// Notified when a recording is to end.
    pub recording_ended: Arc<Condvar>,
    /// Permissions that apps have, as `package permission`.
    pub permissions: BTreeSet<String>,
    /// Processes of the apps that run, by package.
    pids: HashMap<String, u32>,
    /// Number of processes that were started.
    started: u32,
    /// The app that does not respond.
    frozen: Option<String>,
    seed: u64,
    rng: Rng,
    tasks: BTreeMap<String, Vec<String>>,
    front: Option<String>,
    dialog: Option<String>,
    vars: HashMap<(String, String), String>,
    scroll: HashMap<(String, String), i32>,
    focus: Option<String>,
    entered_at: i64,
    page_changes: HashMap<String, u32>,
    popup_counts: HashMap<(String, String), u32>,
}

impl Phone {
    /// Creates a phone that shows its launcher.
    pub fn new(setup: Setup) -> Self {
        let vars = setup
            .apps
            .iter()
            .flat_map(|a| a.vars.iter().map(|(k, v)| ((a.package.clone(), k.clone()), v.clone())))
            .collect();
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
            released: watch::Sender::new(()),
            hint: None,
            requests: HashMap::new(),
            shown: None,
            player: None,
            ui_seq: 1,
            files: BTreeMap::new(),
            settings: HashMap::new(),
            dump_ms: setup.dump_ms,
            log: VecDeque::new(),
            recordings: BTreeSet::new(),
            recording_ended: Arc::default(),
            permissions: BTreeSet::new(),
            pids: HashMap::new(),
            started: 0,
            frozen: None,
            seed: setup.seed,
            tasks: BTreeMap::new(),
            front: None,
            dialog: None,
            vars,
            scroll: HashMap::new(),
            focus: None,
            page_changes: HashMap::new(),
            popup_counts: HashMap::new(),
        }
    }

    /// Returns the mode that the service reports: `SYSTEM_API`, `SHELL_CMD` or `ACCESSIBILITY`.
    pub fn mode(&self) -> &'static str {
        match (self.shizuku, self.reflection) {
            (true, true) => "SYSTEM_API",
            (true, false) => "SHELL_CMD",
            (false, _) => "ACCESSIBILITY",
        }
    }

    /// Returns whether the service can perform gestures at all.
    pub fn can_touch(&self) -> bool {
        self.shizuku || self.accessibility
    }

    fn app(&self) -> Option<&App> {
        self.front.as_ref().and_then(|p| self.apps.iter().find(|a| &a.package == p))
    }

    /// Returns package and page in the foreground; the page is empty for the launcher.
    pub fn foreground(&self) -> (String, String) {
        let page = self.front.as_ref().and_then(|p| self.tasks.get(p)).and_then(|t| t.last());
        (self.front.clone().unwrap_or_else(|| LAUNCHER.to_owned()), page.cloned().unwrap_or_default())
    }

    fn page(&self) -> Option<&Page> {
        self.app().and_then(|a| a.pages.get(&self.foreground().1))
    }

    /// Returns the top activity as `package/activity`.
    pub fn top_activity(&self) -> String {
        if let Some((_, activity)) = self.given() {
            return activity.to_owned();
        }
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

    /// Returns the value of a variable of the foreground app; empty if it is not set.
    pub fn var(&self, name: &str) -> String {
        let key = (self.foreground().0, name.to_owned());
        self.vars.get(&key).cloned().unwrap_or_default()
    }

    /// Sets a variable.
    pub fn set(&mut self, package: &str, name: &str, value: &str) {
        self.vars.insert((package.to_owned(), name.to_owned()), value.to_owned());
        self.ui_seq += 1;
    }

    /// Expands `{name}` to the value of a variable, and `{minutes+N}` to N plus the minutes since the clock started.
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

    /// Returns the offset of the rows of an animating page. It repeats only after a second, so that two readings of the
    /// page differ.
    fn jitter(&self, page: &Page) -> i32 {
        let elapsed = self.clock.now_ms() - self.entered_at;
        let moving = page.animate_ms < 0 || elapsed < page.animate_ms;
        if moving { 1 + ((elapsed / 30) % 40) as i32 } else { 0 }
    }

    /// Returns whether the screen stands still.
    pub fn is_still(&self) -> bool {
        let now = self.clock.now_ms();
        match (&self.shown, &self.player) {
            (Some(_), _) => true,
            (None, Some(player)) => player.is_still(now),
            (None, None) => self.page().is_none_or(|page| self.jitter(page) == 0),
        }
    }

    /// Returns the screen and its activity that are shown instead of an app.
    pub(crate) fn given(&self) -> Option<(&Scene, &str)> {
        let now = self.clock.now_ms();
        let played = || self.player.as_ref().map(|player| (player.scene(now), player.activity(now)));
        self.shown.as_ref().map(|(scene, activity)| (scene, activity.as_str())).or_else(played)
    }

    /// Returns a number that grows with every change of the screen.
    pub fn ui_seq(&self) -> u64 {
        self.ui_seq + self.player.as_ref().map_or(0, |player| player.changes(self.clock.now_ms()))
    }

    /// Returns what is on the screen.
    pub fn scene(&self) -> Scene {
        if let Some((scene, _)) = self.given() {
            return scene.clone();
        }
        let minutes = self.clock.now_ms() / 60_000;
        let [status, bar] = layout::system_bars(&format!("{:02}:{:02}", (minutes / 60) % 24, minutes % 60));
        let mut windows = vec![status, bar];
        match self.app().zip(self.page()) {
            None => windows.push(layout::launcher(&self.apps, true)),
            Some((app, page)) => windows.extend(self.app_windows(app, page)),
        }
        windows.sort_by_key(|w| -w.layer);
        let scene = Scene { width: WIDTH, height: HEIGHT, density: layout::DENSITY, windows };
        if self.turn().is_multiple_of(2) { scene } else { scene.turned() }
    }

    /// Returns by how many quarters the screen is turned, 0 to 3. The sensor says that the phone is upright.
    pub fn turn(&self) -> u8 {
        let system = |name: &str| self.settings.get(&("system".to_owned(), name.to_owned())).map(String::as_str);
        match system("accelerometer_rotation") {
            Some("0") => system("user_rotation").and_then(|turn| turn.parse().ok()).unwrap_or(0) % 4,
            _ => 0,
        }
    }

    /// Returns the app in front that does not respond.
    pub fn frozen(&self) -> Option<&str> {
        self.frozen.as_deref().filter(|app| self.front.as_deref() == Some(*app))
    }

    /// Returns the variable that the field with the focus is bound to.
    pub fn focused(&self) -> Option<&str> {
        self.focus.as_deref()
    }

    /// Installs an app, or replaces it.
    pub fn install(&mut self, app: App) {
        for (name, value) in &app.vars {
            self.vars.entry((app.package.clone(), name.clone())).or_insert_with(|| value.clone());
        }
        match self.apps.iter_mut().find(|known| known.package == app.package) {
            Some(known) => *known = app,
            None => self.apps.push(app),
        }
        self.ui_seq += 1;
    }

    /// Uninstalls an app, or deletes its data.
    pub fn wipe(&mut self, package: &str, keep_app: bool) {
        self.stop(package);
        self.vars.retain(|(of, _), _| of != package);
        self.permissions.retain(|granted| !granted.starts_with(&format!("{package} ")));
        match self.apps.iter().position(|app| app.package == package) {
            Some(at) if keep_app => {
                let vars = self.apps[at].vars.clone();
                self.vars.extend(vars.into_iter().map(|(name, value)| ((package.to_owned(), name), value)));
            }
            Some(at) => drop(self.apps.remove(at)),
            None => {}
        }
    }

    fn app_windows(&self, app: &App, page: &Page) -> Vec<Window> {
        let (fill, var) = (|t: &str| self.fill(t), |n: &str| self.var(n));
        let view = View {
            app,
            fill: &fill,
            var: &var,
            scroll: self.scroll.get(&self.foreground()).copied().unwrap_or(0),
            jitter: self.jitter(page),
            seed: self.seed,
        };
        let frozen = self.frozen().map(|_| layout::not_responding(&app.label));
        let dialog = frozen.as_ref().or_else(|| self.dialog.as_ref().and_then(|d| app.dialogs.get(d)));
        let root = self.tasks.get(&app.package).is_none_or(|t| t.len() <= 1);
        let mut windows = vec![layout::app_window(page, root, dialog.is_none(), &view)];
        if let Some(dialog) = dialog {
            windows.push(layout::dialog_window(dialog, &view));
        } else if self.focus.is_some() {
            windows.push(layout::keyboard());
        }
        windows
    }

    /// Restarts the service, which loses its ref and overlay state.
    pub fn restart_service(&mut self) {
        self.refs.reset();
        self.overlay = Overlay::default();
    }
}
