//! What a language model is told when it takes a session up (seed 002, "Session Resumption").

use afd_proto::progress::Progress;

/// At most this many tasks, bugs and changes are named one by one.
const NAMED: usize = 30;

/// Which of many items are named.
#[derive(Clone, Copy)]
enum Shown {
    First,
    Last,
}

fn named<T>(title: &str, items: &[T], shown: Shown, none: &str, line: impl Fn(&T) -> String) -> String {
    let more = items.len().saturating_sub(NAMED);
    let (skipped, place) = match shown {
        Shown::First => (0, "after"),
        Shown::Last => (more, "before"),
    };
    let mut lines = vec![format!("## {title}")];
    lines.extend(items.iter().skip(skipped).take(NAMED).map(|item| format!("- {}", line(item))));
    if more > 0 {
        lines.push(format!("- and {more} more {place} these"));
    }
    if items.is_empty() {
        lines.push(none.to_owned());
    }
    lines.join("\n")
}

/// A page key begins with its activity, and goes on with what only programs read.
fn place(page: &str) -> String {
    let activity = page.strip_prefix("act=").and_then(|rest| rest.split('|').next());
    crate::text::cut::brief(activity.unwrap_or(page), 120)
}

/// The prompt.
pub fn resumption(p: &Progress) -> String {
    let mut parts = vec!["You are taking up a session that was begun before. This is where it stands.".to_owned()];
    parts.push(format!("## Previous progress\n{}", p.summary));
    parts.push(named("Completed tasks", &p.completed_tasks, Shown::Last, "None yet.", |t| {
        let came = if t.summary.is_empty() { String::new() } else { format!(" ({})", t.summary) };
        format!("{}: {}{came}", t.description, t.status)
    }));
    parts.push(named("Bugs found", &p.bugs, Shown::First, "None yet.", |b| {
        let place = b.page.as_deref().map_or(String::new(), |page| format!(", on {}", place(page)));
        format!("[{}, {}] {}{place}", b.severity, b.status, b.title)
    }));
    parts.push(match &p.current_task {
        Some(task) => {
            let mut lines = vec![format!("## Current state\nIn progress: {}", task.description)];
            lines.extend((!task.progress.is_empty()).then(|| format!("How far: {}", task.progress)));
            lines.extend((!task.last_action.is_empty()).then(|| format!("Last action: {}", task.last_action)));
            lines.join("\n")
        }
        None => "## Current state\nNo task was in progress.".to_owned(),
    });
    if !p.pending_tasks.is_empty() {
        parts.push(named("Waiting tasks", &p.pending_tasks, Shown::First, "", |t| t.description.clone()));
    }
    let steps: Vec<String> = p.next_steps.iter().enumerate().map(|(i, step)| format!("{}. {step}", i + 1)).collect();
    parts.push(format!("## Recommended next steps\n{}", if steps.is_empty() { "None are noted.".to_owned() } else { steps.join("\n") }));
    if !p.blockers.is_empty() {
        parts.push(named("Blockers", &p.blockers, Shown::First, "", Clone::clone));
    }
    if !p.context.is_empty() {
        let keys: Vec<_> = p.context.iter().collect();
        parts.push(named("Context (use as defaults)", &keys, Shown::First, "", |(key, value)| format!("{key}: {value}")));
    }
    if let Some(commit) = &p.last_commit {
        let mut lines = vec![format!("## Working directory\nLast commit: {commit}")];
        lines.extend(p.uncommitted_changes.iter().take(NAMED).map(|c| format!("- {c}")));
        parts.push(lines.join("\n"));
    }
    parts.push("Go on from here: look at the screen first, since it may have changed.".to_owned());
    parts.join("\n\n")
}
