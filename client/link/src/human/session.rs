//! Renders the results of `session.*`.

use std::fmt::Write as _;

use super::recall::entry_lines;
use afd_proto::coverage::{Coverage, SessionCoverage, Share};
use afd_proto::findings::{
    Bug, BugAdd, BugAddResult, BugList, BugReopen, BugResolve, BugShow, BugStatus, BugUpdate, Bugs, ResultAdd,
    ResultList, ResultStatus, Results, Severity, TestResult, TestedElement, TestedElements, TestedMark,
};
use afd_proto::progress::{ProgressResult, ResumeResult, SessionProgress, SessionResume};
use afd_proto::session::{
    ConversationInfo, Deleted, EndResult, LeftOpen, ReportResult, SessionDelete, SessionDetails, SessionEnd,
    SessionInfo, SessionList, SessionReport, SessionShow, SessionStart, SessionStatus, SessionUpdate, Sessions,
};
use afd_proto::tasks::{Task, TaskAdd, TaskFinish, TaskList, TaskStart, TaskStarted, TaskStatus, TaskUpdate, Tasks};
use afd_proto::transfer::{ExportResult, Imported, SessionExport, SessionImport};
use anstyle::Style;

use super::parts::{BAD, BOLD, DIM, GOOD, WARN, count, from, maybe, missing, more, paint, shorten, table, time};
use super::render::human;

human! {
    SessionStart => shown;
    SessionList => sessions;
    SessionShow => shown;
    SessionEnd => ended;
    SessionUpdate => updated;
    SessionDelete => deleted;
    SessionImport => imported;
    SessionReport => reported;
    SessionExport => exported;
    SessionCoverage => coverage;
    SessionProgress => progress;
    SessionResume => resumed;
    TaskAdd => task;
    TaskStart => |started: &TaskStarted| {
        let known: String = started.known.iter().map(entry_lines).collect();
        let known = if known.is_empty() { known } else { format!("{}\n{known}", paint(DIM, "from memory:")) };
        task(&started.task) + &known + &missing(&started.missing)
    };
    TaskUpdate => task;
    TaskFinish => task;
    TaskList => |t: &Tasks| task_table(&t.tasks);
    BugAdd => bug_added;
    BugList => bugs;
    BugShow => bug_details;
    BugResolve => bug_resolved;
    BugUpdate => bug_details;
    BugReopen => bug_resolved;
    ResultAdd => result;
    ResultList => results;
    TestedMark => tested;
}

fn section(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "{}", paint(BOLD, title));
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

fn severity(severity: Severity) -> String {
    let style = match severity {
        Severity::Critical | Severity::High => BAD,
        Severity::Medium => WARN,
        Severity::Low => DIM,
    };
    paint(style, severity.word())
}

fn bug_status(status: BugStatus) -> String {
    paint(if status == BugStatus::Open { BAD } else { GOOD }, status.word())
}

fn session_style(status: SessionStatus) -> Style {
    if status == SessionStatus::Active { GOOD } else { DIM }
}

fn sessions(list: &Sessions) -> String {
    let row = |s: &SessionInfo| {
        let done = s.tasks.passed + s.tasks.failed + s.tasks.skipped;
        let left = s.tasks.pending + s.tasks.active;
        let [done, left, open] = [done, left, s.bugs.open].map(|n| n.to_string());
        let (started, last) = (time(s.started_at), time(s.last_activity_at));
        [
            s.session.clone() + from(&s.origin),
            s.status.to_string(),
            started,
            last,
            done,
            left,
            open,
            maybe(&s.app),
            maybe(&s.goal),
        ]
    };
    let columns = ["session", "status", "started", "lastActivity", "done", "left", "openBugs", "app", "goal"];
    table(columns, list.sessions.iter().map(row)) + &more(list.next_cursor)
}

fn shown(shown: &SessionDetails) -> String {
    let info = &shown.info;
    let status = paint(session_style(info.status), info.status.word());
    let mut out = format!("{}{} {status}\n{}\n", paint(BOLD, &info.session), from(&info.origin), shown.summary);
    if let Some(task) = &shown.current_task {
        let _ = writeln!(out, "{} {}  {}", paint(BOLD, "current task"), task.description, paint(DIM, &task.progress));
    }
    if !shown.queue.is_empty() {
        out.push_str(&task_table(&shown.queue));
    }
    if !shown.open_bugs.is_empty() {
        out.push_str(&bug_table(&shown.open_bugs));
    }
    section(&mut out, "next steps", shown.next_steps.iter().cloned());
    section(&mut out, "blockers", shown.blockers.iter().cloned());
    let said = |c: &ConversationInfo| {
        format!("{}: {}, {}", c.conversation, count(c.messages, "message"), count(c.tokens, "token"))
    };
    section(&mut out, "conversations", shown.conversations.iter().map(said));
    if let Some(before) = &shown.before {
        left_open(&mut out, before);
    }
    out
}

/// Appends the items that previous sessions left open, and the last session's findings.
fn left_open(out: &mut String, before: &LeftOpen) {
    let mut lines: Vec<String> = before.tasks.iter().map(|task| format!("task: {task}")).collect();
    lines.extend(before.next_steps.iter().map(|step| format!("next: {step}")));
    lines.extend(before.blockers.iter().map(|blocker| format!("blocker: {blocker}")));
    section(out, &format!("left open by {}", maybe(&before.session)), lines);
    section(out, "open bugs of the app", before.bugs.iter().cloned());
    if let Some(last) = &before.last {
        let summary = last.summary.iter().cloned();
        let counts = &last.results;
        let tests = format!("tests: {} passed, {} failed, {} with errors", counts.passed, counts.failed, counts.error);
        let tests = (counts.total > 0).then_some(tests);
        section(out, &format!("found by {}", last.session), summary.chain(tests).chain(last.found.iter().cloned()));
    }
}

fn updated(info: &SessionInfo) -> String {
    format!("{} {}  {}  {}\n", paint(GOOD, "changed"), info.session, maybe(&info.app), maybe(&info.goal))
}

fn deleted(deleted: &Deleted) -> String {
    let Deleted { session, messages, derived, tasks, findings, kept, remainder, files_left, backups, .. } = deleted;
    let mut out = format!(
        "{} {session}: {}, {} derived from them, {}, {}\n",
        paint(GOOD, "deleted"),
        count(*messages, "message"),
        count(*derived, "record"),
        count(*tasks, "task"),
        count(*findings, "finding")
    );
    if let Some(rest) = remainder {
        let _ = writeln!(
            out,
            "left with the app: {}; delete with: afctl session delete --findings -s {rest:?}",
            count(*kept, "finding")
        );
    }
    section(&mut out, "not deleted, because you chose their paths", files_left.iter().cloned());
    out += &super::conversation::still_in(backups);
    out
}

fn imported(imported: &Imported) -> String {
    let inserted: Vec<String> = imported.inserted.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    let what = if inserted.is_empty() { "nothing new".to_owned() } else { inserted.join(", ") };
    let renewed = if imported.renewed > 0 { format!("; {} renewed", imported.renewed) } else { String::new() };
    let mut out = format!(
        "{} {}: {what}{renewed}; {} here already\n",
        paint(GOOD, "imported"),
        imported.session,
        count(imported.present, "record")
    );
    if imported.left_out > 0 {
        let _ = writeln!(
            out,
            "{} {}; system messages are never imported from another memory",
            paint(WARN, "left out:"),
            count(imported.left_out, "message")
        );
    }
    out
}

fn task_table(tasks: &[Task]) -> String {
    let row = |t: &Task| {
        let blockers: Vec<String> = t.blocked_by.iter().map(i64::to_string).collect();
        let outcome = if t.status == TaskStatus::Active { &t.progress } else { &t.summary };
        [
            t.id.to_string(),
            t.status.to_string(),
            t.priority.to_string(),
            blockers.join(","),
            t.description.clone() + from(&t.origin),
            maybe(outcome),
        ]
    };
    table(["id", "status", "priority", "blockedBy", "task", "outcome"], tasks.iter().map(row))
}

fn task(task: &Task) -> String {
    let style = match task.status {
        TaskStatus::Passed | TaskStatus::Active => GOOD,
        TaskStatus::Failed => BAD,
        TaskStatus::Pending | TaskStatus::Skipped => DIM,
    };
    format!("task {} {}: {}\n", task.id, paint(style, task.status.word()), task.description)
}

fn bug_table(bugs: &[Bug]) -> String {
    let row = |b: &Bug| {
        let (severity, status) = (b.severity.to_string(), b.status.to_string());
        [
            b.id.to_string(),
            severity,
            status,
            time(b.created_at),
            b.session.clone() + from(&b.origin),
            b.title.clone(),
            page(b),
        ]
    };
    table(["id", "severity", "status", "found", "session", "title", "page"], bugs.iter().map(row))
}

fn bugs(list: &Bugs) -> String {
    let c = &list.counts;
    let counts = format!(
        "bugs: {} total, {} open; {} critical, {} high, {} medium, {} low",
        c.total, c.open, c.critical, c.high, c.medium, c.low
    );
    paint(DIM, &counts) + "\n" + &bug_table(&list.bugs) + &more(list.next_cursor)
}

fn bug_added(added: &BugAddResult) -> String {
    let BugAddResult { bug, similar, missing: unread } = added;
    let mut out = format!("{} bug {} {}: {}\n", paint(GOOD, "recorded"), bug.id, severity(bug.severity), bug.title);
    if !similar.is_empty() {
        let _ = writeln!(out, "{}", paint(WARN, "open bugs with similar titles:"));
        out.push_str(&bug_table(similar));
    }
    out + &missing(unread)
}

fn bug_details(bug: &Bug) -> String {
    let found = paint(DIM, &time(bug.created_at));
    let mut out =
        format!("{} {} {}  {found}\n", paint(BOLD, &bug.title), severity(bug.severity), bug_status(bug.status));
    let session = Some(bug.session.clone());
    let scope = bug.scope.map(|_| "the session alone".to_owned());
    for (name, value) in [
        ("description", &bug.description),
        ("expected", &bug.expected),
        ("actual", &bug.actual),
        ("resolution", &bug.resolution),
        ("session", &session),
        ("for", &scope),
        ("app", &bug.app),
        ("screenshot", &bug.screenshot),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "{name}: {value}");
        }
    }
    if !page(bug).is_empty() {
        let _ = writeln!(out, "page: {}", page(bug));
    }
    section(&mut out, "steps", bug.steps.iter().enumerate().map(|(i, step)| format!("{}. {step}", i + 1)));
    out
}

/// Returns the activity from a bug's page key, or the whole `page` value if it is not a page key.
fn page(bug: &Bug) -> String {
    let page = maybe(&bug.page);
    page.strip_prefix("act=").and_then(|rest| rest.split('|').next()).map_or(page.clone(), str::to_owned)
}

fn bug_resolved(bug: &Bug) -> String {
    format!("bug {} {}: {} {}\n", bug.id, bug_status(bug.status), bug.title, paint(DIM, &maybe(&bug.resolution)))
}

fn results(list: &Results) -> String {
    let c = &list.counts;
    let counts = format!(
        "test results: {} total; {} passed, {} failed, {} skipped, {} errors",
        c.total, c.passed, c.failed, c.skipped, c.error
    );
    let row = |r: &TestResult| {
        let (id, at, ms) = (r.id.to_string(), time(r.created_at), maybe(&r.duration_ms));
        [id, r.status.to_string(), at, r.session.clone() + from(&r.origin), r.name.clone(), ms, maybe(&r.summary)]
    };
    let rows = table(["id", "status", "at", "session", "test", "ms", "summary"], list.results.iter().map(row));
    paint(DIM, &counts) + "\n" + &rows + &more(list.next_cursor)
}

fn result(result: &TestResult) -> String {
    let style = match result.status {
        ResultStatus::Passed => GOOD,
        ResultStatus::Failed | ResultStatus::Error => BAD,
        ResultStatus::Skipped => DIM,
    };
    format!(
        "{} result {} {}: {}\n",
        paint(GOOD, "recorded"),
        result.id,
        paint(style, result.status.word()),
        result.name
    )
}

fn tested(tested: &TestedElements) -> String {
    let row = |e: &TestedElement| {
        let [passed, failed, times] = [e.passed, e.failed, e.times].map(|n| n.to_string());
        [e.element.clone(), maybe(&e.component), passed, failed, times]
    };
    let unknown = tested.elements.iter().filter(|e| e.component.is_none());
    format!("{} {}, {} in this session\n", paint(GOOD, "marked"), count(tested.elements.len(), "element"), tested.total)
        + &table(["element", "component", "passed", "failed", "times"], tested.elements.iter().map(row))
        + &unknown
            .map(|e| {
                format!(
                    "{} {:?} is not a known component, so it does not count as covered\n",
                    paint(WARN, "warning"),
                    e.element
                )
            })
            .collect::<String>()
}

fn coverage(coverage: &Coverage) -> String {
    let row = |(what, share): (&str, &Share)| {
        let missing = shorten(&share.missing.join(", "));
        [what.to_owned(), share.known.to_string(), share.covered.to_string(), share.percent.to_string(), missing]
    };
    let rows = [
        ("pages visited", &coverage.pages),
        ("pages tested", &coverage.pages_tested),
        ("elements tested", &coverage.elements),
    ]
    .map(row);
    format!("{}: {} %\n", paint(BOLD, &maybe(&coverage.app)), coverage.coverage_percent)
        + &table(["what", "known", "covered", "percent", "missing"], rows)
}

fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|w| format!("{} {w}\n", paint(WARN, "warning"))).collect()
}

fn progress(progress: &ProgressResult) -> String {
    let auto = if progress.auto { ", rewritten on every change" } else { "" };
    format!("{} {}\n        {}{auto}\n", paint(GOOD, "wrote"), progress.file, progress.report_file)
        + &warnings(&progress.warnings)
}

fn resumed(resumed: &ResumeResult) -> String {
    format!("{}\n\n{}\n", paint(GOOD, &resumed.summary), resumed.resumption_prompt)
}

fn reported(report: &ReportResult) -> String {
    format!(
        "{} {} ({} bytes, {})\n",
        paint(GOOD, "wrote"),
        report.file,
        report.size_bytes,
        count(report.pictures, "picture")
    )
}

fn ended(ended: &EndResult) -> String {
    let head = format!("{} {}\n{}\n", paint(GOOD, "ended"), ended.session, ended.summary);
    head + &format!("report   {}\nprogress {}\n", ended.report.file, maybe(&ended.progress_file))
        + &warnings(&ended.warnings)
}

fn exported(exported: &ExportResult) -> String {
    match &exported.document {
        Some(document) => serde_json::to_string_pretty(document).unwrap_or_default() + "\n",
        None => format!("{} {} ({} bytes)\n", paint(GOOD, "wrote"), maybe(&exported.file), exported.size_bytes),
    }
}
