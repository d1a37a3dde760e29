//! Notices crashes and apps that do not respond.
//!
//! The phone keeps reports of crashes in a log of their own. Its last entry is read with each screen; only if that is new, the
//! reports themselves are read.

use std::time::Duration;

use afd_proto::incident::{Incident, IncidentKind};

use super::log::line;

/// Prints the phone's time, and the last entry of the log of crashes.
pub const LAST_CRASH: &str = "echo ${EPOCHREALTIME:-$(date +%s)}; logcat -b crash -d -v epoch -t 1 2>/dev/null";
/// What Android calls the window of an app that does not respond.
const NOT_RESPONDING: &str = "Application Not Responding: ";

/// What is known of crashes.
#[derive(Debug, Default)]
pub struct Known {
    /// Time of the last crash that is known, in seconds by the phone's clock; `None` before the first reading.
    last: Option<f64>,
    /// Time of the newest crash that was returned, while newer ones wait; `None` while none wait.
    unread_after: Option<f64>,
    /// The app that did not respond at the last reading.
    frozen: Option<String>,
    unread_frozen: Option<String>,
}

impl Known {
    /// Reads what [`LAST_CRASH`] printed, followed by the window in front. At the first reading, a crash is new if it is younger
    /// than `age`.
    pub fn notice(&mut self, output: &str, age: Duration) {
        let clock = output.lines().next().and_then(|line| line.trim().parse::<f64>().ok());
        let Some(clock) = clock else { return };
        let begin = (clock - age.as_secs_f64()).max(1.0);
        let before = *self.last.get_or_insert(begin);
        // A log that was emptied has no last entry.
        if let Some(last) = output.lines().filter_map(line).next_back() {
            if last.at > before {
                self.unread_after.get_or_insert(before);
                self.last = Some(last.at);
            } else if clock < before {
                // The phone's clock was set back.
                self.last = Some(clock);
            }
        }
        let mut windows = output.lines().filter(|line| line.trim_start().starts_with("mCurrentFocus="));
        let frozen = windows.find_map(|line| line.split_once(NOT_RESPONDING));
        let frozen = frozen.map(|(_, app)| app.trim().trim_end_matches('}').trim().to_owned());
        if frozen.is_some() && frozen != self.frozen {
            self.unread_frozen = frozen.clone();
        }
        self.frozen = frozen;
    }

    /// Returns the time after which crashes wait to be returned, in seconds by the phone's clock; `None` if none wait.
    pub fn unread_after(&self) -> Option<f64> {
        self.unread_after
    }

    /// Notes that the crashes up to a time are returned, and returns the apps that stopped responding. A crash that was noticed
    /// after the reports were read still waits.
    pub fn mark_read(&mut self, until: Option<f64>) -> Vec<Incident> {
        if until.is_some() {
            self.unread_after = until.filter(|until| self.last.is_some_and(|last| last > *until));
        }
        let incident = |app: String| Incident { kind: IncidentKind::NotResponding, report: String::new(), app };
        self.unread_frozen.take().map(incident).into_iter().collect()
    }
}

/// Returns the command line that prints the crashes since a time.
pub fn crashes_since(after: f64) -> String {
    // A number without a fraction would be a number of entries.
    format!("logcat -b crash -d -v epoch -T {after:.3} 2>/dev/null")
}

/// Returns the time of the last entry that was printed, in seconds by the phone's clock; `after` if there is none.
pub fn last_entry(output: &str, after: f64) -> f64 {
    output.lines().filter_map(line).map(|line| line.at).fold(after, f64::max)
}

/// Returns the crashes after a time, oldest first.
pub fn crashes(output: &str, after: f64) -> Vec<Incident> {
    let mut found: Vec<Report> = Vec::new();
    for line in output.lines().filter_map(line).filter(|line| line.at > after) {
        let text = line.text.trim();
        if text.starts_with("FATAL EXCEPTION") || text.starts_with("Fatal signal") || text.starts_with("*** ***") {
            // What a native crash logs first comes from another process than its report.
            let is_open = |last: &Report| last.is_native && last.app.is_none();
            let continues = found.last().is_some_and(is_open) && text.starts_with("*** ***");
            if !continues {
                found.push(Report { is_native: !text.starts_with("FATAL"), ..Report::default() });
            }
        }
        if let Some(report) = found.last_mut() {
            report.add(text);
        }
    }
    found.into_iter().filter_map(Report::incident).collect()
}

/// A report while it is read.
#[derive(Default)]
struct Report {
    is_native: bool,
    app: Option<String>,
    lines: Vec<String>,
    /// Whether the place is known at which the last error in `lines` occurred.
    has_place: bool,
}

impl Report {
    fn add(&mut self, text: &str) {
        let app = text.strip_prefix("Process: ").and_then(|rest| rest.split(',').next());
        let native = || text.split_once(">>> ").and_then(|(_, rest)| rest.split_once(" <<<")).map(|(app, _)| app);
        if let Some(app) = app.or_else(native) {
            self.app.get_or_insert_with(|| app.trim().to_owned());
            return;
        }
        if let Some(place) = text.strip_prefix("at ") {
            if !self.has_place {
                self.lines.push(format!("at {place}"));
            }
            self.has_place = true;
        } else if text.starts_with("Caused by: ") || self.lines.is_empty() && self.is_error(text) {
            self.lines.push(text.to_owned());
            self.has_place = false;
        }
    }

    fn is_error(&self, text: &str) -> bool {
        match self.is_native {
            true => text.starts_with("Fatal signal") || text.starts_with("signal "),
            false => self.app.is_some() && !text.is_empty(),
        }
    }

    /// Returns the first error with its place, and the last cause with its.
    fn incident(self) -> Option<Incident> {
        let causes = self.lines.iter().rposition(|line| line.starts_with("Caused by: "));
        let mut lines: Vec<&str> = self.lines.iter().take(2).map(String::as_str).collect();
        lines.extend(causes.filter(|at| *at >= 2).into_iter().flat_map(|at| &self.lines[at..]).map(String::as_str));
        let report = lines.join(" | ");
        Some(Incident { kind: IncidentKind::Crash, app: self.app?, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JAVA: &str = "--------- beginning of crash
         1700000010.500  4242  4242 E AndroidRuntime: FATAL EXCEPTION: main
         1700000010.500  4242  4242 E AndroidRuntime: Process: com.a, PID: 4242
         1700000010.500  4242  4242 E AndroidRuntime: java.lang.RuntimeException: Unable to start activity
         1700000010.500  4242  4242 E AndroidRuntime: \tat android.app.ActivityThread.perform(ActivityThread.java:3)
         1700000010.500  4242  4242 E AndroidRuntime: \tat android.os.Looper.loop(Looper.java:9)
         1700000010.500  4242  4242 E AndroidRuntime: Caused by: java.lang.IllegalStateException: no cart
         1700000010.500  4242  4242 E AndroidRuntime: \tat com.a.Cart.open(Cart.java:7)
         1700000010.500  4242  4242 E AndroidRuntime: \t... 9 more
";
    const NATIVE: &str = "
1700000020.1  500  500 F libc    : Fatal signal 11 (SIGSEGV), code 1, fault addr 0x0 in tid 77 (main), pid 77 (com.b)
1700000020.2  600  600 F DEBUG   : *** *** *** *** ***
1700000020.2  600  600 F DEBUG   : pid: 77, tid: 77, name: main  >>> com.b <<<
1700000020.2  600  600 F DEBUG   : signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
";

    #[test]
    fn reports_name_app_error_and_cause() {
        let found = crashes(&format!("{JAVA}{NATIVE}"), 1_700_000_000.0);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].app, "com.a");
        assert_eq!(
            found[0].report,
            "java.lang.RuntimeException: Unable to start activity | at android.app.ActivityThread.perform(ActivityThread.java:3) | Caused by: java.lang.IllegalStateException: no cart | at com.a.Cart.open(Cart.java:7)"
        );
        assert_eq!(found[1].app, "com.b");
        assert!(found[1].report.starts_with("Fatal signal 11 (SIGSEGV)"), "{}", found[1].report);
        assert!(crashes(JAVA, 1_700_000_010.5).is_empty(), "it is known");
    }

    fn last(clock: &str, entry: &str) -> String {
        format!("{clock}\n{entry}\n  mCurrentFocus=Window{{1 u0 com.a/com.a.Main}}\n")
    }

    #[test]
    fn only_crashes_since_the_phone_is_known_are_new() {
        let entry = |at: &str| format!("  {at}  4242  4242 E AndroidRuntime: FATAL EXCEPTION: main");
        let age = Duration::from_secs(10);
        let mut known = Known::default();
        known.notice(&last("1000.0", &entry("900.000")), age);
        assert_eq!(known.unread_after(), None, "it is old");
        known.notice(&last("1001.0", &entry("900.000")), age);
        assert_eq!(known.unread_after(), None);
        known.notice(&last("1002.0", &entry("1001.500")), age);
        known.notice(&last("1003.0", &entry("1002.500")), age);
        assert_eq!(known.unread_after(), Some(990.0), "both are read");
        known.mark_read(Some(1001.5));
        assert_eq!(known.unread_after(), Some(1001.5), "the second one was noticed later");
        known.mark_read(Some(1002.5));
        known.notice(&last("1004.0", ""), age);
        known.notice(&last("1005.0", &entry("1002.500")), age);
        assert_eq!(known.unread_after(), None, "an answer without an entry changes nothing");
        known.notice(&last("1004.0", &entry("1001.500")), age);
        assert_eq!(known.unread_after(), None, "an answer may be overtaken");
        known.notice(&last("500.0", &entry("499.0")), age);
        known.notice(&last("501.0", &entry("500.5")), age);
        assert_eq!(known.unread_after(), Some(500.0), "the clock was set back");
        let mut first = Known::default();
        first.notice(&last("1000.0", &entry("995.000")), age);
        assert_eq!(first.unread_after(), Some(990.0));
    }

    #[test]
    fn app_that_does_not_respond_is_reported_once() {
        let frozen = "1.0\n  mCurrentFocus=Window{5d u0 Application Not Responding: com.a}\n";
        let mut known = Known::default();
        known.notice(frozen, Duration::ZERO);
        known.notice(frozen, Duration::ZERO);
        let found = known.mark_read(None);
        assert_eq!(
            found.iter().map(|one| (one.kind, one.app.as_str())).collect::<Vec<_>>(),
            [(IncidentKind::NotResponding, "com.a")]
        );
        assert!(known.mark_read(None).is_empty());
        let said = "1.0\n0.5  4242  4242 E AndroidRuntime: x Application Not Responding: com.b\n";
        known.notice(said, Duration::ZERO);
        assert!(known.mark_read(None).is_empty(), "a text is no window");
    }
}
