//! Renders the results of `visual.*`.

use std::fmt::Write as _;

use afd_proto::files::{
    ExportedScope, FileRemark, ImportedScope, VisualExport, VisualExportResult, VisualImport, VisualImportResult,
};
use afd_proto::graph::{
    Path, RenderedGraph, Route, Transition, Transitions, VisualGraph, VisualPath, VisualTransitions,
};
use afd_proto::history::{Change, Changes, VisualDelete, VisualHistory, VisualUndo};
use afd_proto::import::Tally;
use afd_proto::template_match::{FoundComponent, MatchResult, VisualMatch};
use afd_proto::visual::{
    CleanupResult, Component, Components, Interrupt, LearnResult, RemovedComponent, ScopeInfo, State, States,
    VisualCleanup, VisualComponents, VisualLearn, VisualStates,
};

use super::parts::{
    BAD, BOLD, DIM, GOOD, WARN, count, dry_run, empty_list, first, from, maybe, more, paint, table, time,
};
use super::render::human;

human! {
    VisualLearn => learned;
    VisualMatch => matched;
    VisualComponents => components;
    VisualStates => states;
    VisualTransitions => transitions;
    VisualPath => path;
    VisualGraph => graph;
    VisualDelete => change;
    VisualCleanup => cleaned;
    VisualHistory => changes;
    VisualUndo => change;
    VisualImport => imported;
    VisualExport => exported;
}

fn about(about: &ScopeInfo) -> String {
    about.site.as_ref().map_or_else(|| about.app.clone(), |site| format!("{} / {site}", about.app))
}

/// Renders a heading with the app or site and a count.
fn heading(of: &ScopeInfo, what: &str, number: usize) -> String {
    paint(DIM, &format!("{}: {}", about(of), count(number, what)))
        + "
"
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn learned(learned: &LearnResult) -> String {
    let state = match &learned.state {
        None => paint(WARN, "no state yet: a second observation is needed"),
        Some(state) => format!("{} {}{}", state.id, state.name, if learned.new_state { " (new)" } else { "" }),
    };
    let mut out = format!("{} {state}\n", paint(GOOD, "learned"));
    let LearnResult { seen, new_components, missed, learn_count, .. } = learned;
    let _ = writeln!(
        out,
        "{} seen, {new_components} new, {missed} missing; learned from {} of {}",
        count(seen, "component"),
        count(learn_count, "observation"),
        learned.about.app
    );
    for skipped in &learned.skipped {
        let _ = writeln!(out, "{} {skipped}", paint(WARN, "skipped"));
    }
    out
}

fn components(list: &Components) -> String {
    let row = |c: &Component| {
        let (seen, missed) = (c.seen_count.to_string(), c.consecutive_misses.to_string());
        [
            c.name.clone() + from(&c.origin),
            c.kind.clone(),
            maybe(&c.label),
            maybe(&c.bounds),
            seen,
            missed,
            c.states.join(" "),
            time(c.last_seen),
        ]
    };
    heading(&list.about, "component", list.components.len())
        + &table(
            ["name", "type", "label", "bounds", "seen", "missed", "states", "lastSeen"],
            list.components.iter().map(row),
        )
        + &more(list.next_cursor)
}

/// Returns the best known action that dismisses a pop-up.
fn dismissal(interrupt: &Interrupt) -> &str {
    interrupt.dismissals.first().map_or("no known way to dismiss it", |d| &d.action)
}

fn states(list: &States) -> String {
    let row = |s: &State| {
        let place = s.interrupt.as_ref().map_or_else(|| maybe(&s.place), |i| format!("pop-up; {}", dismissal(i)));
        let (visits, components) = (s.visit_count.to_string(), s.defining_components.len().to_string());
        [
            maybe(&s.id),
            maybe(&s.name) + from(&s.origin),
            s.kind.to_string(),
            visits,
            components,
            place,
            time(s.last_seen),
        ]
    };
    heading(&list.about, "state", list.states.len())
        + &table(["id", "name", "kind", "visits", "components", "place", "lastSeen"], list.states.iter().map(row))
}

fn transitions(list: &Transitions) -> String {
    let row = |t: &Transition| {
        let (count, attempts) = (t.count.to_string(), t.attempts.to_string());
        [
            first(&[&maybe(&t.from_name), &t.from]).to_owned(),
            t.action.clone(),
            first(&[&maybe(&t.to_name), &t.to]).to_owned(),
            count,
            attempts,
            percent(t.success_rate),
            maybe(&t.mean_ms),
        ]
    };
    heading(&list.about, "transition", list.transitions.len())
        + &table(["from", "action", "to", "count", "attempts", "success", "ms"], list.transitions.iter().map(row))
}

fn route(name: &str, route: &Route) -> String {
    if route.steps.is_empty() {
        return String::new();
    }
    let row = |t: &Transition| {
        [
            first(&[&maybe(&t.from_name), &t.from]).to_owned(),
            t.action.clone(),
            first(&[&maybe(&t.to_name), &t.to]).to_owned(),
            percent(t.probability),
            maybe(&t.mean_ms),
        ]
    };
    let title = paint(BOLD, &format!("{name}: {}, {} ms", percent(route.probability), route.expected_ms));
    format!("{title}\n{}", table(["from", "action", "to", "estimate", "ms"], route.steps.iter().map(row)))
}

fn path(path: &Path) -> String {
    let mut out = paint(if path.known { GOOD } else { BAD }, &path.text) + "\n";
    if let Some(best) = &path.route {
        out.push_str(&route("path", best));
    }
    for (i, other) in path.alternatives.iter().enumerate() {
        out.push_str(&route(&format!("alternative {}", i + 1), other));
    }
    for popup in &path.interrupts {
        let dismissal = popup.interrupt.as_ref().map_or("no known way to dismiss it", dismissal);
        let _ = writeln!(out, "{} {}: {dismissal}", paint(WARN, "pop-up that may appear:"), maybe(&popup.name));
    }
    out
}

fn graph(drawn: &RenderedGraph) -> String {
    match (&drawn.graph, &drawn.artifact) {
        (Some(drawing), _) => drawing.clone(),
        (None, file) => {
            let file = file.as_ref().map(|a| a.saved_file.as_str()).unwrap_or_default();
            format!(
                "{} {file} ({}, {})\n",
                paint(GOOD, "saved"),
                count(drawn.states, "state"),
                count(drawn.transitions, "transition")
            )
        }
    }
}

/// Renders a change as one line.
pub(super) fn change(change: &Change) -> String {
    let undone = if change.undone_at.is_some() { paint(WARN, " (undone)") } else { String::new() };
    let why = paint(DIM, &format!("{}: {}", change.about.app, change.why));
    format!("{:>5} {} {} {}{undone} {why}\n", change.id, time(change.at), paint(GOOD, change.op.word()), change.what)
}

fn changes(list: &Changes) -> String {
    let lines: String = list.changes.iter().map(change).collect();
    if lines.is_empty() { empty_list() } else { lines + &more(list.next_cursor) }
}

fn cleaned(cleaned: &CleanupResult) -> String {
    let done = if cleaned.dry_run { paint(WARN, "would remove") } else { paint(GOOD, "removed") };
    let row = |c: &RemovedComponent| [c.component.clone(), c.why.clone(), maybe(&c.history_id)];
    format!("{done} {} components\n", cleaned.changes.len())
        + &table(["component", "why", "historyId"], cleaned.changes.iter().map(row))
}

fn imported(files: &VisualImportResult) -> String {
    let rows = files.imported.iter().flat_map(|app| {
        let ImportedScope { components, states, transitions, pictures, .. } = app;
        let parts =
            [("components", components), ("states", states), ("transitions", transitions), ("pictures", pictures)];
        parts.map(|(what, t): (&str, &Tally)| {
            let [found, added, present, skipped] = [t.found, t.added, t.present, t.skipped].map(|n| n.to_string());
            [about(&app.about), what.to_owned(), found, added, present, skipped]
        })
    });
    let mut out = dry_run(files.dry_run) + &table(["app", "what", "found", "added", "present", "skipped"], rows);
    let mut remarks = files.imported.iter().flat_map(|app| &app.remarks).peekable();
    if remarks.peek().is_some() {
        let row = |r: &FileRemark| [r.file.clone(), r.key.clone(), r.why.clone()];
        out.push_str(&table(["file", "key", "why"], remarks.map(row)));
    }
    out
}

fn exported(files: &VisualExportResult) -> String {
    let row = |e: &ExportedScope| {
        let counts = [e.components, e.states, e.transitions, e.pictures, e.missing_pictures].map(|n| n.to_string());
        let [components, states, transitions, pictures, missing] = counts;
        [about(&e.about), components, states, transitions, pictures, missing, e.dir.clone()]
    };
    let columns = ["app", "components", "states", "transitions", "pictures", "missingPictures", "dir"];
    table(columns, files.exported.iter().map(row))
}

fn matched(matched: &MatchResult) -> String {
    let row = |f: &FoundComponent| {
        [
            f.name.clone(),
            f.bounds.clone(),
            f.likeness.to_string(),
            f.how.to_string(),
            if f.moved { "yes".to_owned() } else { String::new() },
        ]
    };
    let title = format!("{} of {} found in {} ms", matched.found.len(), matched.looked_for, matched.took_ms);
    let mut out = paint(GOOD, &title)
        + "\n"
        + &table(["name", "bounds", "likeness", "found", "moved"], matched.found.iter().map(row));
    for (names, what) in [(&matched.missing, "not found:"), (&matched.flat, "uniform brightness, not searched for:")] {
        if !names.is_empty() {
            let _ = writeln!(out, "{} {}", paint(WARN, what), names.join(" "));
        }
    }
    out
}
