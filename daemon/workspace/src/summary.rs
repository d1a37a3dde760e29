//! A session's text summary, next steps and blockers, derived from its records without a language model.

use std::collections::BTreeMap;

use afd_proto::coverage::{Coverage, Share};
use afd_proto::findings::{Bug, Severity, TestResult, TestedElement};
use afd_proto::session::{SessionInfo, Statistics, VisitedPage};
use afd_proto::tasks::{Task, TaskStatus};

use super::Session;
use afd_base::text::cut;
use afd_store::rfc3339;

/// Session data from which summaries, progress files, prompts and reports are built. It is computed from the records on
/// demand and never stored.
#[derive(Debug, Clone)]
pub struct Digest {
    /// Row of the `sessions` table.
    pub session: Session,
    /// The session as reported to callers, with its counts.
    pub info: SessionInfo,
    /// Counts of actions, assertions, errors and records.
    pub statistics: Statistics,
    /// Test coverage of the known pages and elements.
    pub coverage: Coverage,
    /// Active task.
    pub current: Option<Task>,
    /// Pending tasks, in the order in which to start them.
    pub queue: Vec<Task>,
    /// Finished tasks, in the order in which they were finished.
    pub done: Vec<Task>,
    /// Bugs, open before resolved, then most severe first.
    pub bugs: Vec<Bug>,
    /// Test results, newest first.
    pub results: Vec<TestResult>,
    /// Elements that were marked as tested; the `component` field of each holds the uid of its visual component.
    pub tested: Vec<TestedElement>,
    /// Visited pages, most recent first.
    pub pages: Vec<VisitedPage>,
    /// Description of the last action on a device.
    pub last_action: Option<String>,
    /// Context keys with their values.
    pub context: BTreeMap<String, String>,
    /// Time of the snapshot, in Unix milliseconds.
    pub at: i64,
}

/// Formats a duration in milliseconds, for example `1h 5m 3s`.
pub fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}h {minutes}m {seconds}s") } else { format!("{minutes}m {seconds}s") }
}

/// Returns the display name of a page: its name if it has one, otherwise its activity, otherwise its key.
pub fn page_name(page: &VisitedPage) -> String {
    page.name.clone().or_else(|| page.activity.clone()).unwrap_or_else(|| page.key.clone())
}

impl Digest {
    /// Returns how long the session has lasted, in milliseconds, up to its end or, if it is active, up to the snapshot.
    pub fn elapsed_ms(&self) -> i64 {
        self.session.ended_at.unwrap_or(self.at) - self.session.began()
    }

    /// Returns the display name of the page and state of a finding, or their raw values if the page was not visited.
    pub fn place(&self, page: Option<&str>, state: Option<&str>) -> String {
        let seen = self
            .pages
            .iter()
            .find(|p| page == Some(p.key.as_str()) || (state.is_some() && p.state.as_deref() == state));
        seen.map(page_name).or_else(|| page.map(str::to_owned)).or_else(|| state.map(str::to_owned)).unwrap_or_default()
    }

    /// Returns the bugs that are not resolved.
    pub fn open_bugs(&self) -> impl Iterator<Item = &Bug> {
        self.bugs.iter().filter(|b| b.resolved_at.is_none())
    }

    /// Renders the summary. If `timed` is set, the text includes the duration and therefore differs on every call.
    pub fn summary(&self, timed: bool) -> String {
        let (tasks, bugs, s) = (&self.info.tasks, &self.info.bugs, &self.statistics);
        let mut lines = vec![format!("Session: {}", self.session.name)];
        lines.extend(self.session.goal.as_ref().map(|goal| format!("Goal: {goal}")));
        lines.extend(self.session.app.as_ref().map(|app| format!("App: {app}")));
        lines.push(format!("Started: {}", rfc3339(self.session.began())));
        if timed {
            lines.push(format!("Duration: {}", duration(self.elapsed_ms())));
        }
        let completed = tasks.passed + tasks.failed + tasks.skipped;
        let breakdown = format!(" ({} passed, {} failed, {} skipped)", tasks.passed, tasks.failed, tasks.skipped);
        lines.extend([
            String::new(),
            "Progress:".to_owned(),
            format!("- Tasks completed: {completed}{}", if completed > 0 { breakdown } else { String::new() }),
            format!("- Current task: {}", self.current.as_ref().map_or("None", |t| &t.description)),
            format!("- Tasks remaining: {}", tasks.pending),
            String::new(),
            "Coverage:".to_owned(),
            format!("- Elements tested: {}{}", self.coverage.elements_tested, share_suffix(&self.coverage.elements)),
            format!("- Pages visited: {}{}", self.coverage.pages_visited, share_suffix(&self.coverage.pages)),
            String::new(),
            "Findings:".to_owned(),
            format!("- Bugs found: {} ({} open)", bugs.total, bugs.open),
            format!("- Critical: {}", bugs.critical),
            format!("- High: {}", bugs.high),
            format!(
                "- Test results: {} passed, {} failed",
                self.info.results.passed,
                self.info.results.failed + self.info.results.error
            ),
            String::new(),
            "Stats:".to_owned(),
            format!("- Actions: {}", s.actions_performed),
            format!("- Assertions passed: {}", s.assertions_passed),
            format!("- Assertions failed: {}", s.assertions_failed),
            format!("- Errors: {}", s.errors_encountered),
        ]);
        // User-supplied text must not start a new line.
        lines.iter().map(|line| cut::one_line(line)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the next steps: those stated by the caller, then those derived from tasks, bugs, results and pages.
    pub fn next_steps(&self) -> Vec<String> {
        let mut steps = self.session.next_steps.clone();
        let mut derived = Vec::new();
        derived.extend(self.current.as_ref().map(|t| format!("Finish the current task: {}", t.description)));
        derived.extend(
            self.queue.iter().filter(|t| t.blocked_by.is_empty()).take(3).map(|t| format!("Start: {}", t.description)),
        );
        let urgent = self.open_bugs().filter(|b| matches!(b.severity, Severity::Critical | Severity::High));
        derived.extend(urgent.take(3).map(|b| format!("Re-check the {}-severity bug: {}", b.severity.word(), b.title)));
        let failed = self.done.iter().filter(|t| t.status == TaskStatus::Failed);
        derived.extend(failed.take(3).map(|t| format!("Retry the failed task: {}", t.description)));
        if self.coverage.pages_visited > 0 && !self.coverage.pages_tested.missing.is_empty() {
            let pages: Vec<&str> = self.coverage.pages_tested.missing.iter().take(5).map(String::as_str).collect();
            derived.push(format!("Test pages without a result yet: {}", pages.join(", ")));
        }
        derived.retain(|step| !steps.contains(step));
        steps.extend(derived);
        // User-supplied text must not start a new line.
        steps.iter().map(|step| cut::one_line(step)).collect()
    }

    /// Returns the blockers: those stated by the caller, then pending tasks that depend on a failed one.
    pub fn blockers(&self) -> Vec<String> {
        let mut blockers = self.session.blockers.clone();
        for task in &self.queue {
            for failed in self.done.iter().filter(|d| d.status == TaskStatus::Failed && task.blocked_by.contains(&d.id))
            {
                blockers
                    .push(format!("\"{}\" is blocked by \"{}\", which failed", task.description, failed.description));
            }
        }
        blockers.iter().map(|blocker| cut::one_line(blocker)).collect()
    }
}

fn share_suffix(share: &Share) -> String {
    if share.known == 0 {
        String::new()
    } else {
        format!(" ({} of {} known, {:.1} %)", share.covered, share.known, share.percent)
    }
}
