//! Renders the results of `memory.*`, `artifact.*`, `config.*` and `job.*`, and the messages of the live stream.

use std::fmt::Write as _;

use afd_proto::artifact::{Artifact, ArtifactList, Artifacts};
use afd_proto::config::{ConfigGet, ConfigList, ConfigSet, ConfigUnset, Setting, SettingChange, Settings, Source};
use afd_proto::events::{Message, MessageWithCursor};
use afd_proto::import::{ImportReport, ImportedSetting, Remark, Tally};
use afd_proto::job::{Job, JobList, Jobs};
use afd_proto::memory::{
    Event, EventStatus, Experience, Log, MemoryExperience, MemoryImportAf, MemoryLog, MemorySave, MemorySearch,
    OutcomeKind, Recovery, Transition,
};
use afd_proto::notes::{Note, Notes, SavedNote, TermMatch};
use afd_proto::predict::{LikelyOutcome, MemoryPredict, PredictedAction, Predictions};
use afd_proto::vocabulary::Reply;
use serde_json::Value;

use crate::safe;

use super::parts::{
    BAD, BOLD, DIM, GOOD, WARN, action, count, dry_run, empty_list, first, from, kebab, maybe, missing, more, paint,
    table, time,
};
use super::render::human;
use super::visual;

human! {
    MemorySave => saved;
    MemorySearch => notes;
    MemoryExperience => experience;
    MemoryPredict => predictions;
    MemoryLog => log;
    MemoryImportAf => imported;
    ArtifactList => artifacts;
    ConfigList => config;
    ConfigGet => |s: &Setting| setting_line(s) + "\n";
    ConfigSet => changed;
    ConfigUnset => changed;
    JobList => jobs;
}

/// Returns where a setting's value comes from, for example `env` with the variable's name.
fn origin(setting: &Setting) -> String {
    match (setting.source, &setting.origin) {
        (Source::Env, Some(name)) => format!("env {name}"),
        (source, _) => source.to_string(),
    }
}

fn value(setting: &Setting) -> String {
    match &setting.value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn config(settings: &Settings) -> String {
    let row = |s: &Setting| [s.key.clone(), value(s), origin(s), s.about.clone()];
    paint(DIM, &settings.file) + "\n" + &table(["key", "value", "source", "about"], settings.settings.iter().map(row))
}

fn setting_line(setting: &Setting) -> String {
    format!("{} = {}  {}", setting.key, value(setting), paint(DIM, &origin(setting)))
}

fn changed(result: &SettingChange) -> String {
    let effect = match (result.changed, result.setting.needs_restart) {
        (false, _) => paint(DIM, "unchanged"),
        (true, true) => paint(WARN, "takes effect after a daemon restart"),
        (true, false) => paint(GOOD, "in effect now"),
    };
    format!("{}; {effect}\n", setting_line(&result.setting))
}

fn imported(report: &ImportReport) -> String {
    let mut out = dry_run(report.dry_run);
    let tallies = [
        ("notes", &report.notes),
        ("transitions", &report.transitions),
        ("recoveries", &report.recoveries),
        ("artifacts", &report.artifacts),
        ("events", &report.events),
    ];
    let row = |(what, t): (&str, &Tally)| {
        let [found, added, present, cleaned, skipped] =
            [t.found, t.added, t.present, t.cleaned, t.skipped].map(|n| n.to_string());
        [what.to_owned(), found, added, present, cleaned, skipped]
    };
    out.push_str(&table(["what", "found", "added", "present", "cleaned", "skipped"], tallies.map(row)));
    if !report.settings.is_empty() {
        let row = |s: &ImportedSetting| [s.key.clone(), s.outcome.to_string(), s.remark.clone()];
        out.push_str(&table(["key", "outcome", "remark"], report.settings.iter().map(row)));
    }
    if !report.remarks.is_empty() {
        let row = |r: &Remark| [r.table.clone(), r.id.to_string(), r.outcome.to_string(), r.why.clone()];
        out.push_str(&table(["table", "id", "outcome", "why"], report.remarks.iter().map(row)));
    }
    out
}

fn artifacts(list: &Artifacts) -> String {
    let row = |a: &Artifact| {
        let (id, size) = (a.artifact_id.to_string(), a.size_bytes.to_string());
        [id, time(a.created_at), a.session.clone(), a.kind.clone(), size, a.status.to_string(), a.file_path.clone()]
    };
    let columns = ["artifactId", "createdAt", "session", "kind", "sizeBytes", "status", "filePath"];
    table(columns, list.artifacts.iter().map(row)) + &more(list.next_cursor)
}

fn jobs(jobs: &Jobs) -> String {
    let row = |j: &Job| {
        let last = j.last_run_at.map(time).unwrap_or_default();
        [
            j.name.clone(),
            j.every_ms.to_string(),
            j.runs.to_string(),
            last,
            maybe(&j.last_result),
            maybe(&j.last_error),
            j.about.clone(),
        ]
    };
    table(["name", "everyMs", "runs", "lastRunAt", "lastResult", "lastError", "about"], jobs.jobs.iter().map(row))
}

fn saved(saved: &SavedNote) -> String {
    let SavedNote { note, chain_length, similar, missing: unread } = saved;
    let mut out = format!(
        "{} note {} in {} ({} on this topic)\n",
        paint(GOOD, "saved"),
        note.id,
        note.topic,
        count(chain_length, "note")
    );
    for similar in similar {
        let _ = writeln!(
            out,
            "{} {} {}: {}",
            paint(WARN, "similar"),
            similar.note.id,
            similar.note.topic,
            similar.note.content
        );
    }
    out + &missing(unread)
}

fn notes(notes: &Notes) -> String {
    let mut out = String::new();
    if notes.matched == Some(TermMatch::Any) {
        let _ = writeln!(out, "{}", paint(WARN, "no note contains all the words; these contain some of them"));
    }
    let line = |n: &Note| {
        let own = n.scope.map_or("", |_| ", this session alone");
        let app = paint(DIM, &format!("{}{own}{}", n.app.as_deref().unwrap_or("any app"), from(&n.origin)));
        let text = n.snippet.as_ref().unwrap_or(&n.content).replace('\n', "\n    ");
        format!("{} {}  {app}\n    {text}\n", paint(BOLD, &n.id.to_string()), paint(GOOD, &n.topic))
    };
    out.extend(notes.notes.iter().map(line));
    if out.is_empty() { empty_list() } else { out + &more(notes.next_cursor) }
}

/// Renders events as a table.
pub fn log(log: &Log) -> String {
    let row = |e: &Event| {
        let (seq, ms) = (e.seq.to_string(), e.duration_ms.to_string());
        let cause = maybe(&e.failure_cause);
        [
            seq,
            time(e.at),
            e.session.clone(),
            e.device.clone(),
            what(e),
            e.status.to_string(),
            cause,
            ms,
            maybe(&e.activity),
        ]
    };
    let columns = ["seq", "at", "session", "device", "what", "status", "cause", "ms", "activity"];
    table(columns, log.events.iter().map(row)) + &more(log.next_cursor)
}

/// Describes an event by its category and action.
fn what(event: &Event) -> String {
    let expected = event.evidence.as_ref().map(|e| &e["expected"]).filter(|e| !e.is_null());
    let expected = expected.map(|e| format!(" {e}")).unwrap_or_default();
    let what = event.action.as_ref().map_or_else(|| format!("{}{expected}", kebab(&event.op)), action);
    format!("{} {what}", event.category)
}

/// Returns an action's outcomes, most frequent first. If there are several, adds the count of each.
fn leads_to(t: &Transition) -> String {
    let seen = t.outcomes.iter().filter(|o| o.kind != OutcomeKind::Refuted && o.kind != OutcomeKind::Failed);
    let names: Vec<(String, i64)> = seen
        .map(|o| {
            let name = match o.kind {
                OutcomeKind::Page => o.name.clone().unwrap_or_default(),
                OutcomeKind::Same => "(stays)".to_owned(),
                OutcomeKind::Nothing | OutcomeKind::Failed | OutcomeKind::Refuted => "(nothing)".to_owned(),
            };
            (name, o.count)
        })
        .collect();
    match names.as_slice() {
        [(name, _)] => name.clone(),
        several => several.iter().map(|(name, count)| format!("{name} {count}x")).collect::<Vec<_>>().join(", "),
    }
}

/// Renders what is known about a page as two tables.
pub fn experience(known: &Experience) -> String {
    let transition = |t: &Transition| {
        let (post, cause) = (leads_to(t), maybe(&t.failure_cause));
        let [ok, verified, failed] = [t.success_count, t.verified_count, t.failure_count].map(|n| n.to_string());
        [t.match_scope.to_string(), t.pre_activity.clone(), action(&t.action), post, ok, verified, failed, cause]
    };
    let recovery = |r: &Recovery| {
        let (worked, failed) = (r.success_count.to_string(), r.failure_count.to_string());
        [
            r.match_scope.to_string(),
            r.pre_activity.clone(),
            r.failure_cause.clone(),
            action(&r.recovery),
            worked,
            failed,
        ]
    };
    format!(
        "{}\n{}{}\n{}",
        paint(BOLD, "Outcomes of actions"),
        table(
            ["scope", "on", "action", "leads to", "ok", "verified", "failed", "last failure"],
            known.transitions.iter().map(transition)
        ),
        paint(BOLD, "Recoveries from failures"),
        table(["scope", "on", "after", "recover", "worked", "failed"], known.recoveries.iter().map(recovery))
    )
}

/// Renders predictions as a table, the most likely outcome first.
fn predictions(reply: &Reply<Predictions>) -> String {
    let row = |one: &PredictedAction| {
        let outcome = |o: &LikelyOutcome| {
            let what = match (o.kind, &o.name) {
                (OutcomeKind::Page, Some(name)) => format!("{}{name:?}", if o.dialog { "dialog " } else { "" }),
                (OutcomeKind::Page, None) => "another page".to_owned(),
                (OutcomeKind::Same, _) => "changes this page".to_owned(),
                _ => "does nothing".to_owned(),
            };
            format!("{what} {:.2}", o.probability)
        };
        let outcomes: Vec<String> = one.outcomes.iter().take(3).map(outcome).collect();
        let outcomes = format!("{}{}", if one.guess { "guess: " } else { "" }, outcomes.join(", "));
        let from = format!("{} ({})", one.from, one.attempts);
        [maybe(&one.alias), one.text.clone(), outcomes, from]
    };
    let body = &reply.body;
    if body.predictions.is_empty() {
        return empty_list();
    }
    let before = body.before.iter().map(|name| format!("page before: {name:?}\n"));
    table(["ref", "action", "outcomes", "from (attempts)"], body.predictions.iter().map(row))
        + &before.collect::<String>()
}

/// Renders a message of the live stream as one line.
pub fn live(sent: &MessageWithCursor) -> String {
    match &sent.message {
        Message::Event(event) => {
            let style = if event.status == EventStatus::Ok { GOOD } else { BAD };
            format!(
                "{} {:>6} {}/{} {} {} {} {}",
                paint(DIM, &time(event.at)),
                event.seq,
                event.session,
                event.device,
                paint(style, event.status.word()),
                what(event),
                paint(BAD, &maybe(&event.failure_cause)),
                paint(DIM, &maybe(&event.activity))
            )
        }
        Message::Surprise(notice) => {
            format!(
                "{} {}/{} {} {}",
                paint(DIM, &time(notice.at)),
                notice.session,
                notice.device,
                paint(BAD, "surprise"),
                safe::line(&notice.surprise.text)
            )
        }
        Message::Observation(seen) => {
            let activity = maybe(&seen.activity);
            let what = format!("observe {} {}", seen.source, first(&[&activity, "unknown activity"]));
            format!(
                "{} {:>6} {}/{} {}",
                paint(DIM, &time(seen.at)),
                seen.seq,
                seen.session,
                seen.device,
                paint(DIM, &what)
            )
        }
        Message::Visual(change) => visual::change(change).trim_end().to_owned(),
        Message::Device { device, state } => format!("device {device} is {}", paint(WARN, state.word())),
        Message::Changed { method, session } => {
            let session = session.as_deref().map(|s| format!(" in {s}")).unwrap_or_default();
            format!("{} {method}{session}", paint(DIM, "changed by"))
        }
        Message::Lagged { missed } => {
            paint(WARN, &format!("{missed} messages were dropped; use --since CURSOR to get the events"))
        }
    }
}
