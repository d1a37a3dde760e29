//! The phone's log, and what apps do to end up in it: crashes, and not responding.

use super::Phone;

/// Number of entries that are kept.
const MAX_ENTRIES: usize = 4_000;
/// User number of the first app; each app has the next one.
const FIRST_UID: u32 = 10_100;
/// Number of the process of an app that was started first.
const FIRST_PID: u32 = 4_242;
/// User and process of the system.
const SYSTEM: (u32, u32) = (1_000, 1_500);

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Time, in Unix milliseconds.
    pub at: i64,
    /// Name of the log: `main`, `system` or `crash`.
    pub buffer: &'static str,
    /// User that the process runs as.
    pub uid: u32,
    /// Number of the process.
    pub pid: u32,
    /// Letter of the severity.
    pub level: char,
    /// Name of the part that wrote it.
    pub tag: String,
    /// Text; may have several lines.
    pub text: String,
}

impl Phone {
    /// Returns the user that an app runs as.
    pub fn uid(&self, package: &str) -> u32 {
        let at = self.apps.iter().position(|app| app.package == package);
        at.map_or(SYSTEM.0, |at| FIRST_UID + u32::try_from(at).unwrap_or(0))
    }

    /// Returns the process of an app; `None` if it does not run.
    pub fn pid(&self, package: &str) -> Option<u32> {
        self.pids.get(package).copied()
    }

    /// Starts the process of an app unless it runs.
    pub(super) fn start_process(&mut self, package: &str) {
        if self.pids.contains_key(package) {
            return;
        }
        let pid = FIRST_PID + self.started;
        self.started += 1;
        self.pids.insert(package.to_owned(), pid);
        self.log_system('I', "ActivityManager", format!("Start proc {pid}:{package}/u0a for top-activity"));
    }

    /// Adds an entry of the system.
    pub(super) fn log_system(&mut self, level: char, tag: &str, text: String) {
        self.add(Entry {
            at: self.clock.now_ms(),
            buffer: "system",
            uid: SYSTEM.0,
            pid: SYSTEM.1,
            level,
            tag: tag.to_owned(),
            text,
        });
    }

    /// Adds an entry of an app.
    pub fn log_app(&mut self, package: &str, level: char, tag: &str, text: String) {
        self.add_of(package, "main", level, tag, text);
    }

    fn add_of(&mut self, package: &str, buffer: &'static str, level: char, tag: &str, text: String) {
        let (uid, pid) = (self.uid(package), self.pid(package).unwrap_or(0));
        self.add(Entry { at: self.clock.now_ms(), buffer, uid, pid, level, tag: tag.to_owned(), text });
    }

    fn add(&mut self, entry: Entry) {
        if self.log.len() == MAX_ENTRIES {
            self.log.pop_front();
        }
        self.log.push_back(entry);
    }

    /// Ends an app because of an error, as Android reports it.
    pub fn crash(&mut self, package: &str, error: &str) {
        let pid = self.pid(package).unwrap_or(0);
        let class = package.rsplit('.').next().unwrap_or_default();
        let trace = format!(
            "FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{error}\n\tat {package}.{class}.onClick({class}.java:42)\n\tat android.view.View.performClick(View.java:7506)"
        );
        self.add_of(package, "crash", 'E', "AndroidRuntime", trace);
        self.pids.remove(package);
        self.log_system('I', "ActivityManager", format!("Process {package} (pid {pid}) has died: fg  TOP"));
        self.tasks.remove(package);
        if self.front.as_deref() == Some(package) {
            self.go_home();
        }
        self.ui_seq += 1;
    }

    /// Makes an app not respond, which shows the system's dialog over it.
    pub fn freeze(&mut self, package: &str) {
        self.log_system('E', "ActivityManager", format!("ANR in {package} ({package}/.Main)"));
        self.frozen = Some(package.to_owned());
        self.ui_seq += 1;
    }
}
