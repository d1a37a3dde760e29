//! Renders the results of `observe.*`, `act.*`, `verify.*` and `recover.*`.

use std::fmt::Write as _;

use afd_proto::Method;
use afd_proto::act::{
    ActBack, ActDoubleTap, ActDrag, ActFill, ActHome, ActHover, ActIntent, ActKey, ActLaunch, ActLongPress,
    ActPageTool, ActResult, ActScroll, ActScrollTo, ActShell, ActStop, ActSwipe, ActTab, ActTap, ActText, ActUpload,
    PageToolResult, ScrollToResult, ShellResult,
};
use afd_proto::artifact::SavedArtifact;
use afd_proto::go::{ActGoTo, GoStep, GoToResult};
use afd_proto::incident::{Incident, IncidentKind};
use afd_proto::look::Look;
use afd_proto::observe::{
    Context, DumpOutline, LastPage, ObserveDump, ObserveLast, ObservePage, ObserveRefs, ObserveScreen, ObserveText,
    ObserveTop, ObserveWait, Page, PageText, Refs, Screen, Top, WaitResult,
};
use afd_proto::picture::{ObserveScreenshot, Screenshot};
use afd_proto::recover::{
    RecoverAuto, RecoverAutoResult, RecoverBack, RecoverHome, RecoverRelaunch, RecoverResult, RecoverStep,
};
use afd_proto::rows::{RefRow, RefRows, Row, ScreenRows};
use afd_proto::undo::{ActUndo, ActUndoResult};
use afd_proto::verify::{VerifyElement, VerifyNodeExists, VerifyResult, VerifyTextContains, VerifyTopActivity};
use afd_proto::vocabulary::{Hint, HintKind, Reply, Target};
use anstyle::AnsiColor;

use crate::safe;

use super::parts::{BAD, BOLD, DIM, GOOD, WARN, first, kebab, maybe, paint, table, target, time};
use super::render::human;

human! {
    ObserveTop => top;
    ObserveDump => |dump: &DumpOutline| format!("{}\n", dump.outline);
    ObserveScreen => |r: &Reply<Screen>| observation(&r.body.context) + &screen_rows(&r.body.screen) + &hints(&r.body.context);
    ObserveRefs => |r: &Reply<Refs>| observation(&r.body.context) + &ref_rows(&r.body.refs) + &hints(&r.body.context);
    ObservePage => page;
    ObserveText => text;
    ObserveLast => last;
    ObserveWait => waited;
    ObserveScreenshot => screenshot;
    ActTap => |r| acted(ActTap::INFO.name, r);
    ActLongPress => |r| acted(ActLongPress::INFO.name, r);
    ActDoubleTap => |r| acted(ActDoubleTap::INFO.name, r);
    ActUpload => |r| acted(ActUpload::INFO.name, r);
    ActPageTool => page_tool;
    ActTab => |r| acted(ActTab::INFO.name, r);
    ActHover => |r| acted(ActHover::INFO.name, r);
    ActSwipe => |r| acted(ActSwipe::INFO.name, r);
    ActScroll => |r| acted(ActScroll::INFO.name, r);
    ActScrollTo => scrolled;
    ActGoTo => walked;
    ActUndo => undone;
    ActBack => |r| acted(ActBack::INFO.name, r);
    ActHome => |r| acted(ActHome::INFO.name, r);
    ActKey => |r| acted(ActKey::INFO.name, r);
    ActText => |r| acted(ActText::INFO.name, r);
    ActDrag => |r| acted(ActDrag::INFO.name, r);
    ActFill => |r| acted(ActFill::INFO.name, r);
    ActLaunch => |r| acted(ActLaunch::INFO.name, r);
    ActStop => |r| acted(ActStop::INFO.name, r);
    ActIntent => |r| acted(ActIntent::INFO.name, r);
    ActShell => shell;
    VerifyTextContains => |r| verified(VerifyTextContains::INFO.name, r);
    VerifyTopActivity => |r| verified(VerifyTopActivity::INFO.name, r);
    VerifyElement => |r| verified(VerifyElement::INFO.name, r);
    VerifyNodeExists => |r| verified(VerifyNodeExists::INFO.name, r);
    RecoverBack => |r| recovered(RecoverBack::INFO.name, r);
    RecoverHome => |r| recovered(RecoverHome::INFO.name, r);
    RecoverRelaunch => |r| recovered(RecoverRelaunch::INFO.name, r);
    RecoverAuto => recovered_on_its_own;
}

/// Returns a method's verb in its command-line form.
fn verb(method: &str) -> String {
    kebab(method.split_once('.').map_or(method, |(_, verb)| verb))
}

fn top(reply: &Reply<Top>) -> String {
    let Top { top_activity, app, .. } = &reply.body;
    format!("{}\n", first(&[&maybe(top_activity), &maybe(app), "unknown"]))
}

fn page(reply: &Reply<Page>) -> String {
    let Page { context, screen, refs } = &reply.body;
    let crashed: String = context.incidents.iter().map(|one| paint(BAD, &incident(one)) + "\n").collect();
    if let Some(outline) = &context.outline {
        return format!("{crashed}{outline}\n");
    }
    let rows = screen.iter().map(screen_rows).chain(refs.iter().map(ref_rows));
    observation(context) + &rows.collect::<String>() + &hints(context)
}

/// Marks each line as text of the page.
fn text(reply: &Reply<PageText>) -> String {
    let PageText { title, lines, whole, next, .. } = &reply.body;
    let mut out = title.as_ref().map(|title| format!("{}\n", paint(BOLD, title))).unwrap_or_default();
    out.extend(lines.iter().map(|line| format!("> {line}\n")));
    if let Some(next) = next {
        let _ = writeln!(out, "{}", paint(WARN, &format!("there are more lines, from {next}")));
    } else if !whole {
        let _ = writeln!(out, "{}", paint(DIM, "only what is in sight"));
    }
    out
}

fn last(reply: &Reply<LastPage>) -> String {
    let LastPage { at, seen_by, outdated, outline, .. } = &reply.body;
    let since = if *outdated { paint(WARN, "; the phone was acted on since") } else { String::new() };
    format!("{}{since}\n{outline}\n", paint(DIM, &format!("seen by {seen_by} at {}", time(*at))))
}

fn waited(reply: &Reply<WaitResult>) -> String {
    let WaitResult { context, until, waited_ms, nodes, .. } = &reply.body;
    let met = format!("{} after {waited_ms} ms: {until}\n", paint(GOOD, "condition met"));
    met + &observation(context) + &node_table(nodes.iter().flatten()) + &hints(context)
}

fn observation(context: &Context) -> String {
    let mut out = String::new();
    let (activity, app) = (maybe(&context.top_activity), maybe(&context.app));
    let place = first(&[&activity, &app, "unknown activity"]);
    let moving = !context.reliable && context.reason.as_deref().is_some_and(|reason| reason.contains("moving"));
    let state = match (context.settled, moving) {
        (true, _) => paint(GOOD, "settled"),
        (false, true) => paint(BAD, "still moving"),
        (false, false) => paint(WARN, "read once, may not have settled"),
    };
    let _ = writeln!(out, "{}  {state}  {}", paint(BOLD, place), paint(DIM, &format!("mode {}", context.mode)));
    if !context.reliable {
        let _ = writeln!(out, "{} {}", paint(BAD, "not reliable:"), maybe(&context.reason));
    }
    out
}

fn written(artifact: Option<&SavedArtifact>) -> String {
    artifact.map(|a| paint(DIM, &format!("written to {}", a.saved_file)) + "\n").unwrap_or_default()
}

fn truncated(shown: usize, all: u32) -> String {
    let text =
        format!("{shown} of {all} rows: use --max-rows or --full to see more; selectors by text or id match all rows");
    paint(WARN, &text) + "\n"
}

fn screen_rows(screen: &ScreenRows) -> String {
    let mut out = written(screen.artifact.as_ref());
    if screen.rows.is_empty() {
        return out;
    }
    let row = |r: &Row| [&r.id, &r.class, &r.text, &r.desc, &r.res_id, &r.flags, &r.bounds].map(maybe);
    out.push_str(&table(["id", "class", "text", "desc", "resId", "flags", "bounds"], screen.rows.iter().map(row)));
    if screen.truncated {
        out.push_str(&truncated(screen.rows.len(), screen.row_count));
    }
    out
}

fn ref_rows(refs: &RefRows) -> String {
    let mut out = written(refs.artifact.as_ref());
    if refs.rows.is_empty() {
        return out;
    }
    out.push_str(&ref_table(refs.rows.iter()));
    if refs.truncated {
        out.push_str(&truncated(refs.rows.len(), refs.ref_count));
    }
    out
}

/// Renders refs as a table.
pub fn ref_table<'a>(rows: impl Iterator<Item = &'a RefRow>) -> String {
    let row = |r: &RefRow| {
        [
            r.alias.clone(),
            r.label.clone(),
            r.class.clone(),
            maybe(&r.res_id),
            r.flags.clone(),
            r.bounds.clone(),
            maybe(&r.window),
        ]
    };
    table(["ref", "label", "class", "resId", "flags", "bounds", "window"], rows.map(row))
}

fn node_table<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let rows: Vec<_> = rows.map(|r| [&r.class, &r.text, &r.desc, &r.res_id, &r.bounds].map(maybe)).collect();
    if rows.is_empty() { String::new() } else { table(["class", "text", "desc", "resId", "bounds"], rows) }
}

fn screenshot(reply: &Reply<Screenshot>) -> String {
    let shot = &reply.body;
    let mut out = format!("{}x{} {} in {}", shot.width, shot.height, shot.mime_type, shot.artifact.saved_file);
    if let Some(scale) = shot.scale {
        let screen =
            format!("; scale {scale:.3} of the {}x{} screen", maybe(&shot.device_width), maybe(&shot.device_height));
        let _ = write!(out, "{}", paint(DIM, &screen));
    }
    out.push('\n');
    out + &shot.refs.as_ref().map(ref_rows).unwrap_or_default()
}

fn hints(context: &Context) -> String {
    let line = |hint: &Hint| {
        let style = match hint.kind {
            HintKind::Action => GOOD,
            HintKind::Recovery | HintKind::Rule | HintKind::Baseline => AnsiColor::Cyan.on_default(),
            HintKind::Failure | HintKind::Interrupt | HintKind::Flaky => BAD,
        };
        let confidence = paint(DIM, &format!("(confidence {})", hint.confidence));
        format!("{} {} {confidence}\n", paint(style, hint.kind.word()), hint.text)
    };
    context.hints.iter().map(line).collect()
}

/// Renders the line for an executed action.
fn done(op: &str, result: &str, on: Option<&Target>, duration_ms: u64, replayed: bool, moved: bool) -> String {
    let what = on.map(|t| format!(" {}", target(t))).unwrap_or_default();
    let moved = if moved { paint(WARN, " (target had moved)") } else { String::new() };
    let replayed = if replayed { paint(WARN, " (recorded result; not executed again)") } else { String::new() };
    let op = verb(op);
    format!(
        "{} {op}{what}{moved}{replayed}: {result} {}\n",
        paint(GOOD, "done"),
        paint(DIM, &format!("{duration_ms} ms"))
    )
}

pub(super) fn acted(op: &str, reply: &Reply<ActResult>) -> String {
    let ActResult { result, target, duration_ms, replayed, moved, risky, recovery, look, .. } = &reply.body;
    let recovery: String = recovery.iter().map(|text| safe::line(text) + "\n").collect();
    let risk = if *risky { paint(WARN, "this was marked as risky") + "\n" } else { String::new() };
    recovery + &done(op, result, target.as_ref(), *duration_ms, *replayed, *moved) + &risk + &looked(look.as_ref())
}

/// Renders the page that an action led to, if the call asked for it.
pub(super) fn looked(look: Option<&Look>) -> String {
    let Some(look) = look else { return String::new() };
    let changed = match (&look.note, look.changed) {
        (Some(note), _) => format!("{}\n", paint(WARN, note)),
        (None, Some(false)) => paint(WARN, "nothing changed") + "\n",
        (None, _) => String::new(),
    };
    let compared = match (&look.surprise, look.as_expected) {
        (Some(surprise), _) => paint(WARN, &format!("not expected: {}", safe::line(&surprise.text))) + "\n",
        (None, Some(true)) => paint(DIM, "as expected") + "\n",
        _ => String::new(),
    };
    let warning: String = look.warning.iter().map(|warning| paint(WARN, &safe::line(warning)) + "\n").collect();
    let crashed: String = look.incidents.iter().map(|one| paint(BAD, &incident(one)) + "\n").collect();
    let page = look
        .observation
        .as_ref()
        .map(|page| page.outline.as_ref().map_or_else(|| observation(page), |o| format!("{o}\n")));
    changed
        + &compared
        + &warning
        + &crashed
        + &page.unwrap_or_default()
        + &look.refs.as_ref().map(ref_rows).unwrap_or_default()
}

/// Returns one line about an app that crashed or does not respond. What the phone says is in quotes.
pub(crate) fn incident(incident: &Incident) -> String {
    let app = safe::line(&incident.app);
    match incident.kind {
        IncidentKind::Crash => format!("{app} crashed: \"{}\"", safe::line(&incident.report).replace('"', "'")),
        IncidentKind::NotResponding => format!("{app} does not respond"),
    }
}

fn scrolled(reply: &Reply<ScrollToResult>) -> String {
    let ScrollToResult { result, target, duration_ms, replayed, look, .. } = &reply.body;
    done(ActScrollTo::INFO.name, result, target.as_ref(), *duration_ms, *replayed, false) + &looked(look.as_ref())
}

fn undone(reply: &Reply<ActUndoResult>) -> String {
    let ActUndoResult { undone, action, text, duration_ms, replayed, look, event_id, .. } = &reply.body;
    let replayed = if *replayed { paint(WARN, " (recorded result; nothing was done)") } else { String::new() };
    let is_offer = action.is_some() && event_id.is_none();
    let mark = if *undone || is_offer { GOOD } else { BAD };
    format!("{}{replayed} {}\n", paint(mark, &safe::line(text)), paint(DIM, &format!("{duration_ms} ms")))
        + &looked(look.as_ref())
}

fn walked(reply: &Reply<GoToResult>) -> String {
    let GoToResult { arrived, text, steps, duration_ms, replayed, look, .. } = &reply.body;
    let replayed = if *replayed { paint(WARN, " (recorded result; nothing was done)") } else { String::new() };
    let mark = if *arrived { GOOD } else { BAD };
    let step = |step: &GoStep| {
        let led = step.led_to.as_deref().map(|page| format!(" -> \"{}\"", safe::line(page))).unwrap_or_default();
        let missed = match (&step.failure_cause, step.as_expected, &step.expected) {
            (Some(cause), ..) => format!(" {}", paint(WARN, cause)),
            (None, Some(false), Some(page)) => paint(WARN, &format!(" instead of \"{}\"", safe::line(page))),
            _ => String::new(),
        };
        format!("  {}{led}{missed}\n", safe::line(&step.action))
    };
    let steps: String = steps.iter().map(step).collect();
    let text = safe::line(text);
    let text = paint(mark, &text);
    format!("{text}{replayed} {}\n{steps}", paint(DIM, &format!("{duration_ms} ms"))) + &looked(look.as_ref())
}

fn shell(reply: &Reply<ShellResult>) -> String {
    match (&reply.body.output, &reply.body.artifact) {
        (Some(output), _) => output.clone(),
        (None, Some(file)) => paint(DIM, &format!("output written to {}", file.saved_file)) + "\n",
        (None, None) => paint(WARN, "recorded result; its output was not stored") + "\n",
    }
}

fn page_tool(reply: &Reply<PageToolResult>) -> String {
    let PageToolResult { output, artifact, look, .. } = &reply.body;
    let answer = match (output, artifact) {
        (Some(output), _) if output.is_empty() => paint(DIM, "the tool answered nothing") + "\n",
        (Some(output), _) => format!("{output}\n"),
        (None, Some(file)) => paint(DIM, &format!("answer written to {}", file.saved_file)) + "\n",
        (None, None) => paint(WARN, "recorded result; the answer was not stored") + "\n",
    };
    answer + &looked(look.as_ref())
}

fn verified(op: &str, reply: &Reply<VerifyResult>) -> String {
    let VerifyResult { matched_count, actual, nodes, .. } = &reply.body;
    let found = matched_count.map_or_else(|| maybe(actual), |count| format!("{count} matching"));
    format!("{} {}: {found}\n", paint(GOOD, "passed"), verb(op)) + &node_table(nodes.iter().flatten())
}

fn recovered(op: &str, reply: &Reply<RecoverResult>) -> String {
    let RecoverResult { result, failure_cause, look, .. } = &reply.body;
    let about = failure_cause.as_ref().map(|cause| format!(" after {cause}")).unwrap_or_default();
    format!("{} recover {}{about}: {result}\n", paint(GOOD, "done"), verb(op)) + &looked(look.as_ref())
}

fn recovered_on_its_own(reply: &Reply<RecoverAutoResult>) -> String {
    let RecoverAutoResult { recovered, text, steps, duration_ms, replayed, look, .. } = &reply.body;
    let replayed = if *replayed { paint(WARN, " (recorded result; nothing was done)") } else { String::new() };
    let step = |step: &RecoverStep| {
        let led = step.led_to.as_deref().map(|page| format!(" -> \"{}\"", safe::line(page))).unwrap_or_default();
        let counts = match (step.worked, step.tried) {
            (Some(worked), Some(tried)) => format!(", worked {worked} of {tried} times"),
            _ => String::new(),
        };
        let failed = step.failure_cause.as_ref().map(|cause| format!(" {}", paint(WARN, cause))).unwrap_or_default();
        format!("  {} ({}{counts}){led}{failed}\n", safe::line(&step.action), step.basis)
    };
    let steps: String = steps.iter().map(step).collect();
    let text = paint(if *recovered { GOOD } else { BAD }, &safe::line(text));
    format!("{text}{replayed} {}\n{steps}", paint(DIM, &format!("{duration_ms} ms"))) + &looked(look.as_ref())
}
