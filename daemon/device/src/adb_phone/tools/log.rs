//! Reads the log of a phone: the lines of `logcat`, with time and user in the form that `-v epoch -v uid` gives them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use afd_proto::manage::{LogLevel, LogRow};

use super::super::remote::Remote;
use super::super::shell::quoted;
use crate::{DriverError, LogPart, LogQuery};

/// Prints the phone's time.
const CLOCK: &str = "echo ${EPOCHREALTIME:-$(date +%s)}";
/// Parts of the system that log what happens to apps.
const ABOUT_APPS: [&str; 6] =
    ["ActivityManager", "ActivityTaskManager", "AndroidRuntime", "DEBUG", "crash_dump", "Process"];

/// A line of `logcat -v epoch`, with or without `-v uid`.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// Time by the phone's clock, in seconds since 1970.
    pub at: f64,
    /// The time as it is written.
    pub stamp: &'a str,
    /// User that the process runs as; `None` if the line does not say it.
    pub user: Option<&'a str>,
    /// Number of the process.
    pub pid: u32,
    /// Letter of the severity.
    pub level: char,
    /// Name of the part that wrote the line.
    pub tag: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Reads a line; `None` if it is none, such as `--------- beginning of main`.
pub fn line(line: &str) -> Option<Line<'_>> {
    let line = line.trim_start();
    let (stamp, rest) = line.split_once(' ')?;
    let at = stamp.parse().ok().filter(|at: &f64| at.is_finite() && *at > 0.0)?;
    // The user is followed by a colon, and not by a blank if the number of the process is long.
    let mut words = rest.char_indices().filter(|(_, c)| !matches!(c, ' ' | ':')).peekable();
    let (mut before, mut level) = (Vec::new(), None);
    while let Some((start, _)) = words.peek().copied() {
        let end = rest[start..].find([' ', ':']).map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        if before.len() >= 2 && word.len() == 1 && "VDIWEFA".contains(word) {
            level = word.chars().next().map(|level| (level, end));
            break;
        }
        if before.len() == 3 {
            return None;
        }
        before.push(word);
        while words.next_if(|(at, _)| *at < end).is_some() {}
    }
    let (level, end) = level?;
    let pid = before.len().checked_sub(2).and_then(|at| before[at].parse().ok())?;
    let user = before.len().checked_sub(3).map(|at| before[at]);
    let (tag, text) =
        rest[end..].split_once(": ").or_else(|| rest[end..].trim_end().strip_suffix(':').map(|tag| (tag, "")))?;
    Some(Line { at, stamp, user, pid, level, tag: tag.trim(), text })
}

/// Which lines belong to an app.
struct Owner {
    app: String,
    /// Number of the user that the app runs as.
    user: Option<u32>,
    /// Its processes that run now.
    pids: Vec<u32>,
}

impl Owner {
    fn wrote(&self, line: &Line<'_>) -> bool {
        let user = line.user.and_then(user_number);
        let own = match (self.user, user) {
            (Some(own), Some(user)) => own == user,
            _ => self.pids.contains(&line.pid),
        };
        own || ABOUT_APPS.contains(&line.tag) && mentions(line.text, &self.app)
    }
}

/// Returns the number of a user: `10123`, or as `u0_a123`.
fn user_number(user: &str) -> Option<u32> {
    let named = || user.strip_prefix("u0_a")?.parse::<u32>().ok()?.checked_add(10_000);
    user.parse().ok().or_else(named)
}

/// Returns whether a text names an app, and not one whose name is longer.
fn mentions(text: &str, app: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.match_indices(app).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + app.len()..].chars().next());
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // A full stop may end a sentence.
        let goes_on = match after {
            Some('.') => text[at + app.len() + 1..].chars().next().is_some_and(is_letter),
            after => after.is_some_and(is_letter),
        };
        !before.is_some_and(is_name) && !goes_on
    })
}

/// Reads the lines that are at most `age` old.
pub async fn read(remote: &Remote, query: &LogQuery, age: Duration) -> Result<LogPart, DriverError> {
    let app = query.app.as_deref();
    let who =
        app.map(|app| format!("; pm list packages -U {0} 2>&1; echo; pidof {0}", quoted(app))).unwrap_or_default();
    let asked = SystemTime::now();
    let output = remote.query(&format!("{CLOCK}{who}")).await?;
    let clock = output.lines().next().and_then(|line| line.trim().parse::<f64>().ok());
    let clock = clock.ok_or_else(|| DriverError::Protocol("the phone does not tell its time".into()))?;
    // Before Android 8, the list has no users.
    let output = match app.filter(|_| output.contains("Unknown option")) {
        Some(app) => {
            let command = format!(
                "echo; pm list packages {0} 2>&1 | sed 's/$/ uid:'$(dumpsys package {0} | grep -m1 -o 'userId=[0-9]*' | cut -d= -f2)'/'; echo; pidof {0}",
                quoted(app)
            );
            remote.query(&command).await?
        }
        None => output,
    };
    let owner = app.map(|app| owner(app, &output)).transpose()?;
    let from = (clock - age.as_secs_f64()).max(0.0);
    let letter = letter(query.level);
    let command = format!("logcat -d -v epoch -v uid -T {from:.3} '*:{letter}' 2>&1");
    let output = remote.query(&command).await?;
    let offset = asked.duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()) - clock;
    Ok(part(&output, owner.as_ref(), query, (from, offset, age)))
}

/// Returns the wanted lines of what `logcat` printed. `offset` is what this machine's clock is ahead of the phone's.
fn part(output: &str, owner: Option<&Owner>, query: &LogQuery, (from, offset, age): (f64, f64, Duration)) -> LogPart {
    let lines = output.lines().filter_map(line).filter(|line| line.at >= from);
    let wanted = lines.filter(|line| owner.is_none_or(|owner| owner.wrote(line)));
    let row = |line: Line<'_>| LogRow {
        at: ((line.at + offset) * 1_000.0) as i64,
        level: level(line.level),
        tag: line.tag.to_owned(),
        pid: line.pid,
        text: line.text.replace('\t', "    "),
    };
    let mut rows: Vec<LogRow> = wanted.map(row).filter(|row| rank(row.level) >= rank(query.level)).collect();
    let excess = rows.len().saturating_sub(query.limit);
    rows.drain(..excess);
    LogPart { rows, truncated: excess > 0, age }
}

/// Returns who an app is.
fn owner(app: &str, output: &str) -> Result<Owner, DriverError> {
    let found = output.lines().find_map(|line| {
        let (name, user) = line.trim().strip_prefix("package:")?.split_once(" uid:")?;
        (name == app).then(|| user.split(',').next()?.trim().parse().ok())
    });
    let Some(user) = found else {
        let message = format!("there is no app {app} on the phone; without an app, the whole log is read").into();
        return Err(DriverError::Refused { status: None, message });
    };
    let is_pids = |line: &&str| !line.is_empty() && line.chars().all(|c| c.is_ascii_digit() || c == ' ');
    let last = output.lines().skip(1).filter(is_pids).last().unwrap_or_default();
    Ok(Owner { app: app.to_owned(), user, pids: last.split(' ').filter_map(|pid| pid.parse().ok()).collect() })
}

fn rank(level: LogLevel) -> usize {
    LogLevel::ALL.iter().position(|one| *one == level).unwrap_or_default()
}

fn letter(level: LogLevel) -> char {
    ['V', 'D', 'I', 'W', 'E', 'F'][rank(level)]
}

fn level(letter: char) -> LogLevel {
    match letter {
        'V' => LogLevel::Verbose,
        'D' => LogLevel::Debug,
        'W' => LogLevel::Warning,
        'E' => LogLevel::Error,
        'F' | 'A' => LogLevel::Fatal,
        _ => LogLevel::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_and_without_a_user() {
        let read = line("         1700000000.123 10123: 4242  4250 W Shop    : no network: retry").expect("a line");
        assert_eq!((read.at, read.user, read.pid, read.level), (1_700_000_000.123, Some("10123"), 4242, 'W'));
        assert_eq!((read.tag, read.text), ("Shop", "no network: retry"));
        let glued = line("1700000000.123 10123:14242 14250 E A I: B: c").expect("a line");
        assert_eq!((glued.user, glued.pid, glued.tag, glued.text), (Some("10123"), 14242, "A I", "B: c"));
        let plain = line("1700000000.123  root  4242  4250 I Tag     : ").expect("a line");
        assert_eq!((plain.user, plain.text), (Some("root"), ""));
        let bare = line("1700000000.123  4242  4250 I Tag: x").expect("a line");
        assert_eq!((bare.user, bare.pid, bare.text), (None, 4242, "x"));
        for none in ["--------- beginning of main", "", "1700000000.123", "NaN 1 2 I a: b", "1.5 1 2 3 4 5 I a: b"] {
            assert_eq!(line(none), None, "{none}");
        }
    }

    #[test]
    fn lines_belong_to_an_app_by_user_process_or_name() {
        let output = "1700.5\npackage:com.a.b uid:10999\npackage:com.a uid:10123\n\n77 78\n";
        let owner = owner("com.a", output).expect("known");
        assert_eq!((owner.user, owner.pids.as_slice()), (Some(10123), [77, 78].as_slice()));
        let wrote = |text: &str| owner.wrote(&line(text).expect("a line"));
        assert!(wrote("1.0 10123: 1 1 I T: x") && wrote("1.0 u0_a123: 1 1 I T: x") && wrote("1.0 77 1 I T: x"));
        assert!(wrote("1.0 1000: 5 5 I ActivityManager: Process com.a (pid 3) has died"));
        assert!(!wrote("1.0 1000: 5 5 I ActivityManager: Process com.a.b (pid 3) has died"));
        assert!(!wrote("1.0 10999: 77 1 I T: com.a") && !wrote("1.0 5 5 I T: com.a"));
        assert!(owner_missing());
    }

    fn owner_missing() -> bool {
        matches!(owner("com.none", "1.0\n\n\n"), Err(DriverError::Refused { .. }))
    }

    #[test]
    fn newest_lines_of_a_severity_are_returned_by_this_clock() {
        let output = "--------- beginning of main\n99.000 1: 1 1 E T: old\n100.100 1: 1 1 I T: one\n100.200 1: 1 1 E T: two\n100.300 1: 1 1 E T: three\n";
        let query = LogQuery { app: None, age: Duration::from_secs(5), level: LogLevel::Error, limit: 1 };
        let part = part(output, None, &query, (100.0, 50.0, query.age));
        assert_eq!(part.rows.iter().map(|row| (row.at, row.text.as_str())).collect::<Vec<_>>(), [(150_300, "three")]);
        assert!(part.truncated);
    }

    #[test]
    fn names_of_apps_are_whole_words() {
        assert!(mentions("ANR in com.a (com.a/.Main)", "com.a") && mentions("com.a: x", "com.a"));
        assert!(
            !mentions("com.ab died", "com.a")
                && !mentions("com.a.b", "com.a")
                && mentions("in com.a.", "com.a")
                && !mentions("xcom.a", "com.a")
                && !mentions("in.com.a", "com.a")
        );
    }
}
