//! What a session amounts to, in words and without a language model (seed 002, `updateSummary`).

use std::collections::BTreeMap;

use afd_proto::coverage::{Coverage, Share};
use afd_proto::findings::{Bug, Severity, TestResult};
use afd_proto::session::{SessionInfo, Statistics, VisitedPage};
use afd_proto::tasks::{Task, TaskStatus};

use super::Session;

/// Everything that summaries, progress files, prompts and reports are made from. It follows from what was recorded.
#[derive(Debug, Clone)]
pub struct Digest {
    /// What is kept of the session itself.
    pub session: Session,
    /// The session with its counts.
    pub info: SessionInfo,
    /// Figures.
    pub statistics: Statistics,
    /// What was tested of what is known.
    pub coverage: Coverage,
    /// The task that is worked on.
    pub current: Option<Task>,
    /// Tasks that wait, in the order in which they are due.
    pub queue: Vec<Task>,
    /// Tasks that are done, first one first.
    pub done: Vec<Task>,
    /// Bugs, worst first, open ones before resolved ones.
    pub bugs: Vec<Bug>,
    /// Test results, newest first.
    pub results: Vec<TestResult>,
    /// Pages, last seen first.
    pub pages: Vec<VisitedPage>,
    /// What was done on a device last, in words.
    pub last_action: Option<String>,
    /// Context keys.
    pub context: BTreeMap<String, String>,
    /// When all this was so, UTC milliseconds.
    pub at: i64,
}

/// A time as RFC 3339 in UTC, to the second.
pub fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_second(ms.div_euclid(1000)).map(|t| t.to_string()).unwrap_or_default()
}

/// A length of time: `1h 5m 3s`.
pub fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}h {minutes}m {seconds}s") } else { format!("{minutes}m {seconds}s") }
}

/// A page as people call it.
pub fn page_name(page: &VisitedPage) -> String {
    page.name.clone().or_else(|| page.activity.clone()).unwrap_or_else(|| page.key.clone())
}

impl Digest {
    /// How long the session lasted, milliseconds.
    pub fn lasted(&self) -> i64 {
        self.session.ended_at.unwrap_or(self.at) - self.session.began()
    }

    /// Where something was found, as people call it.
    pub fn place(&self, page: Option<&str>, state: Option<&str>) -> String {
        let seen = self.pages.iter().find(|p| page == Some(p.key.as_str()) || (state.is_some() && p.state.as_deref() == state));
        seen.map(page_name).or_else(|| page.map(str::to_owned)).or_else(|| state.map(str::to_owned)).unwrap_or_default()
    }

    /// Bugs that are open.
    pub fn open_bugs(&self) -> impl Iterator<Item = &Bug> {
        self.bugs.iter().filter(|b| b.resolved_at.is_none())
    }

    /// The summary. `timed` says whether it tells how long the session has lasted, which is different each time.
    pub fn summary(&self, timed: bool) -> String {
        let (tasks, bugs, s) = (&self.info.tasks, &self.info.bugs, &self.statistics);
        let mut lines = vec![format!("Session: {}", self.session.name)];
        lines.extend(self.session.goal.as_ref().map(|goal| format!("Goal: {goal}")));
        lines.extend(self.session.app.as_ref().map(|app| format!("App: {app}")));
        lines.push(format!("Started: {}", rfc3339(self.session.began())));
        if timed {
            lines.push(format!("Duration: {}", duration(self.lasted())));
        }
        let completed = tasks.passed + tasks.failed + tasks.skipped;
        let apart = format!(" ({} passed, {} failed, {} skipped)", tasks.passed, tasks.failed, tasks.skipped);
        lines.extend([
            String::new(),
            "Progress:".to_owned(),
            format!("- Tasks completed: {completed}{}", if completed > 0 { apart } else { String::new() }),
            format!("- Current task: {}", self.current.as_ref().map_or("None", |t| &t.description)),
            format!("- Tasks remaining: {}", tasks.pending),
            String::new(),
            "Coverage:".to_owned(),
            format!("- Elements tested: {}{}", self.coverage.elements_tested, of_known(&self.coverage.elements)),
            format!("- Pages visited: {}{}", self.coverage.pages_visited, of_known(&self.coverage.pages)),
            String::new(),
            "Findings:".to_owned(),
            format!("- Bugs found: {} ({} open)", bugs.total, bugs.open),
            format!("- Critical: {}", bugs.critical),
            format!("- High: {}", bugs.high),
            format!("- Test results: {} passed, {} failed", self.info.results.passed, self.info.results.failed + self.info.results.error),
            String::new(),
            "Stats:".to_owned(),
            format!("- Actions: {}", s.actions_performed),
            format!("- Assertions passed: {}", s.assertions_passed),
            format!("- Assertions failed: {}", s.assertions_failed),
            format!("- Errors: {}", s.errors_encountered),
        ]);
        lines.join("\n")
    }

    /// What is to be done next: what was said, then what follows from tasks, bugs, results and pages.
    pub fn next_steps(&self) -> Vec<String> {
        let mut steps = self.session.next_steps.clone();
        let mut derived = Vec::new();
        derived.extend(self.current.as_ref().map(|t| format!("Finish the current task: {}", t.description)));
        derived.extend(self.queue.iter().filter(|t| t.blocked_by.is_empty()).take(3).map(|t| format!("Start: {}", t.description)));
        let urgent = self.open_bugs().filter(|b| matches!(b.severity, Severity::Critical | Severity::High));
        derived.extend(urgent.take(3).map(|b| format!("Look again at the {} bug: {}", b.severity.word(), b.title)));
        let failed = self.done.iter().filter(|t| t.status == TaskStatus::Failed);
        derived.extend(failed.take(3).map(|t| format!("Try the failed task again: {}", t.description)));
        if self.coverage.pages_visited > 0 && !self.coverage.pages_tested.missing.is_empty() {
            let pages: Vec<&str> = self.coverage.pages_tested.missing.iter().take(5).map(String::as_str).collect();
            derived.push(format!("Test pages without a result yet: {}", pages.join(", ")));
        }
        derived.retain(|step| !steps.contains(step));
        steps.extend(derived);
        steps
    }

    /// What stands in the way: what was said, then tasks that wait for one that failed.
    pub fn blockers(&self) -> Vec<String> {
        let mut blockers = self.session.blockers.clone();
        for task in &self.queue {
            for failed in self.done.iter().filter(|d| d.status == TaskStatus::Failed && task.blocked_by.contains(&d.id)) {
                blockers.push(format!("\"{}\" waits for \"{}\", which failed", task.description, failed.description));
            }
        }
        blockers
    }
}

fn of_known(share: &Share) -> String {
    if share.known == 0 { String::new() } else { format!(" ({} of {} known, {:.1} %)", share.covered, share.known, share.percent) }
}
