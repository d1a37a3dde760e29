//! Session progress files: JSON for programs and plain text for people.

use std::path::{Path, PathBuf};

use afd_proto::findings::{BugStatus, Severity, TestedElement};
use afd_proto::progress::{BugSummary, CompletedTask, PendingTask, Progress, ProgressCoverage, ResultSummary, Stated};
use afd_proto::tasks::CurrentTask;

use sha2::{Digest as _, Sha256};

use super::summary::{Digest, page_name};
use afd_store::rfc3339;

/// Git state of a working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitState {
    /// Hash and subject of the last commit.
    pub last_commit: Option<String>,
    /// Uncommitted changes, as `git status` prints them.
    pub changes: Vec<String>,
}

/// Builds the progress document for a session.
pub fn of(digest: &Digest, git: GitState) -> Progress {
    let number = |list: &[String]| u32::try_from(list.len()).unwrap_or(u32::MAX);
    let critical = digest.open_bugs().filter(|b| b.severity == Severity::Critical).map(|b| match &b.actual {
        Some(actual) => format!("{}: {actual}", b.title),
        None => b.title.clone(),
    });
    Progress {
        session_id: digest.session.name.clone(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        timestamp: rfc3339(digest.at),
        goal: digest.session.goal.clone(),
        app: digest.session.app.clone(),
        scope: digest.session.scope.narrowed(),
        started_at: Some(rfc3339(digest.session.began())),
        summary: digest.summary(true),
        completed_tasks: completed(digest),
        current_task: current(digest),
        pending_tasks: pending(digest),
        bugs: bugs(digest),
        critical_findings: critical.collect(),
        coverage: ProgressCoverage {
            pages_visited: digest.pages.iter().map(page_name).collect(),
            elements_tested_count: digest.coverage.elements_tested,
            coverage_percent: digest.coverage.coverage_percent,
        },
        next_steps: digest.next_steps(),
        blockers: digest.blockers(),
        stated: Some(Stated {
            next_steps: number(&digest.session.next_steps),
            blockers: number(&digest.session.blockers),
        }),
        last_commit: git.last_commit,
        uncommitted_changes: git.changes,
        statistics: digest.statistics.clone(),
        context: digest.context.clone(),
        results: results(digest),
        // The uid of a component is valid only in this database.
        tested: digest.tested.iter().cloned().map(|element| TestedElement { component: None, ..element }).collect(),
        pages: digest.pages.clone(),
    }
}

fn completed(digest: &Digest) -> Vec<CompletedTask> {
    let done = digest.done.iter().map(|t| CompletedTask {
        id: t.uid.clone(),
        description: t.description.clone(),
        status: t.status,
        summary: t.summary.clone().unwrap_or_default(),
        completed_at: rfc3339(t.finished_at.unwrap_or(t.created_at)),
        scope: t.scope,
    });
    done.collect()
}

fn pending(digest: &Digest) -> Vec<PendingTask> {
    let uid_of = |id: &i64| {
        digest.queue.iter().chain(&digest.done).chain(&digest.current).find(|t| t.id == *id).map(|t| t.uid.clone())
    };
    let pending = digest.queue.iter().map(|t| PendingTask {
        id: t.uid.clone(),
        description: t.description.clone(),
        priority: t.priority,
        blocked_by: t.blocked_by.iter().filter_map(uid_of).collect(),
        scope: t.scope,
    });
    pending.collect()
}

fn bugs(digest: &Digest) -> Vec<BugSummary> {
    let bugs = digest.bugs.iter().map(|b| BugSummary {
        id: b.uid.clone(),
        title: b.title.clone(),
        severity: b.severity,
        status: b.status,
        page: b.page.clone(),
        actual: b.actual.clone(),
        scope: b.scope,
    });
    bugs.collect()
}

/// Returns the test results of the session, oldest first.
fn results(digest: &Digest) -> Vec<ResultSummary> {
    let results = digest.results.iter().rev().map(|r| ResultSummary {
        id: r.uid.clone(),
        name: r.name.clone(),
        status: r.status,
        page: r.page.clone(),
        summary: r.summary.clone(),
        duration_ms: r.duration_ms,
        scope: r.scope,
    });
    results.collect()
}

/// Returns the active task with its progress note and the last action on a device.
pub fn current(digest: &Digest) -> Option<CurrentTask> {
    digest.current.as_ref().map(|task| CurrentTask {
        id: task.uid.clone(),
        description: task.description.clone(),
        started_at: rfc3339(task.started_at.unwrap_or(task.created_at)),
        progress: task.progress.clone().unwrap_or_default(),
        last_action: digest.last_action.clone().unwrap_or_default(),
        scope: task.scope,
    })
}

/// Maximum length of the session name in a file name, in bytes.
const MAX_NAME: usize = 200;

/// Returns the first 32 hexadecimal digits of the SHA-256 hash of `text`.
fn hash(text: &str) -> String {
    afd_base::hex::encode(&Sha256::digest(text.as_bytes())[..16])
}

/// Returns the paths of a session's JSON and plain-text progress files in a directory.
pub fn files(dir: &Path, session: &str) -> (PathBuf, PathBuf) {
    // A session name may contain any character: percent-encode those that are unsafe in a file name.
    let name: String = session
        .bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b"-_.".contains(&b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect();
    // File names have at most 255 bytes on common file systems.
    let name = if name.len() > MAX_NAME { format!("{}-{}", &name[..MAX_NAME - 33], hash(session)) } else { name };
    (dir.join(format!("progress-{name}.json")), dir.join(format!("progress-{name}.txt")))
}

fn list(items: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = items.collect();
    if lines.is_empty() { "None".to_owned() } else { lines.join("\n") }
}

/// Renders the plain-text report.
pub fn text(progress: &Progress) -> String {
    let rule = "=".repeat(43);
    let section = |title: &str, body: String| format!("{title}\n{}\n{body}", "-".repeat(title.chars().count()));
    let p = progress;
    let current = p.current_task.as_ref().map_or("None".to_owned(), |t| {
        let mut lines = vec![t.description.clone()];
        lines.extend((!t.progress.is_empty()).then(|| format!("Progress: {}", t.progress)));
        lines.extend((!t.last_action.is_empty()).then(|| format!("Last action: {}", t.last_action)));
        lines.join("\n")
    });
    let done = p.completed_tasks.iter().map(|t| {
        let outcome = if t.summary.is_empty() { String::new() } else { format!(": {}", t.summary) };
        format!("[{}] {}{outcome}", t.status.word().to_uppercase(), t.description)
    });
    let resolved = |status| if status == BugStatus::Resolved { " (resolved)" } else { "" };
    let mut sections = vec![
        section("SUMMARY", p.summary.clone()),
        section(&format!("COMPLETED TASKS ({})", p.completed_tasks.len()), list(done)),
        section("CURRENT TASK", current),
        section(
            &format!("PENDING TASKS ({})", p.pending_tasks.len()),
            list(p.pending_tasks.iter().map(|t| format!("- {} (Priority: {})", t.description, t.priority))),
        ),
        section(
            &format!("BUGS FOUND ({})", p.bugs.len()),
            list(
                p.bugs
                    .iter()
                    .map(|b| format!("[{}] {}{}", b.severity.word().to_uppercase(), b.title, resolved(b.status))),
            ),
        ),
        section(
            "COVERAGE",
            format!(
                "Pages visited: {}\nElements tested: {}\nCoverage: {:.1}%",
                p.coverage.pages_visited.len(),
                p.coverage.elements_tested_count,
                p.coverage.coverage_percent
            ),
        ),
        section("NEXT STEPS", list(p.next_steps.iter().map(|s| format!("- {s}")))),
    ];
    if !p.blockers.is_empty() {
        sections.push(section("BLOCKERS", list(p.blockers.iter().map(|b| format!("! {b}")))));
    }
    if let Some(commit) = &p.last_commit {
        let changes = p.uncommitted_changes.iter().map(|c| format!("\n{c}"));
        sections.push(section("WORKING DIRECTORY", format!("Last commit: {commit}{}", changes.collect::<String>())));
    }
    format!(
        "{rule}\nProgress report\n{rule}\nSession: {}\nLast updated: {}\n\n{}\n{rule}\n",
        p.session_id,
        p.timestamp,
        sections.join("\n\n")
    )
}
