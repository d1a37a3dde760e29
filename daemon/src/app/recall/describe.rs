//! Searchable text and properties of each kind of row.

use std::fmt::Write as _;

use afd_proto::conversation::{RecordedMessage, Role};
use afd_proto::findings::BugStatus;
use afd_proto::pattern::PatternScope;
use afd_proto::recall::{EntryType, StoredType};
use afd_proto::vocabulary::RecordScope;

use afd_conversation::{messages, prepared};
use afd_experience::memory::notes;
use afd_experience::visual::{scope, states};
use afd_recall::entries::Source;
use afd_recall::{Described, Turn, memories};
use afd_screen::page::fingerprint::activity_of;
use afd_screen::page::site;
use afd_store::{Connection, Result, said_elsewhere};
use afd_workspace::{self as session, bugs, page_models, patterns, results, tasks};

/// Source of entries that sessions recorded explicitly, without naming a source.
pub const RECORDED: &str = "recorded";
/// Confidence of entries that were recorded explicitly, from 0 to 1.
const ON_PURPOSE: f64 = 0.9;
/// Confidence of entries that were learned automatically, from 0 to 1.
const BY_ITSELF: f64 = 0.6;
/// Maximum number of a page model's elements that are searchable.
const MAX_ELEMENTS: usize = 60;
/// Maximum number of a session's finished tasks that are searchable.
const MAX_TASKS: usize = 30;

/// Returns the searchable description of a row; `None` if the row has no searchable content.
///
/// # Errors
/// If the row cannot be read.
pub fn describe(c: &Connection, source: &Source) -> Result<Option<Described>> {
    let id = source.row;
    match source.kind.as_str() {
        "note" => note(c, id),
        "bug" => bug(c, id),
        "result" => result(c, id),
        "page" => page(c, id),
        "pattern" => pattern(c, id),
        "session" => of_session(c, source),
        "state" => state(c, id),
        "memory" => memory(c, id),
        "message" => message(c, id),
        _ => Ok(None),
    }
}

/// Returns a description with default values.
fn blank(kind: EntryType, at: i64) -> Described {
    Described {
        kind,
        title: String::new(),
        text: String::new(),
        app: String::new(),
        site: String::new(),
        session: None,
        private: false,
        confidence: ON_PURPOSE,
        at,
        expires_at: None,
        tags: Vec::new(),
        source: RECORDED.to_owned(),
        related: Vec::new(),
        is_current: false,
        turn: None,
        role: None,
    }
}

/// Returns the source of a recorded row. `elsewhere` names the memory that the row came from, if it was not recorded in
/// this one.
fn recorded(elsewhere: Option<String>) -> String {
    elsewhere.map_or_else(|| RECORDED.to_owned(), |_| said_elsewhere(None))
}

/// Returns whether a recorded row is visible only to its own session.
fn is_own(scope: Option<RecordScope>) -> bool {
    scope == Some(RecordScope::Session)
}

/// Returns the site of a page that is a URL; empty for other pages.
fn site_of(page: Option<&str>) -> String {
    page.filter(|page| page.contains("://")).and_then(site::parse).map(|site| site.name).unwrap_or_default()
}

/// Joins the non-empty parts of searchable text. Each part is on its own line, after its name.
fn parts(parts: &[(&str, Option<&str>)]) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        let Some(part) = part.map(str::trim).filter(|p| !p.is_empty()) else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = if name.is_empty() { write!(text, "{part}") } else { write!(text, "{name}: {part}") };
    }
    text
}

fn note(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(note) = notes::one(c, id)? else { return Ok(None) };
    let session = session::find(c, &note.session)?;
    let of = Described {
        private: is_own(note.scope),
        source: recorded(note.origin),
        ..blank(EntryType::Note, note.created_at)
    };
    Ok(Some(Described { title: note.topic, text: note.content, app: note.app.unwrap_or_default(), session, ..of }))
}

fn bug(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(bug) = bugs::get(c, id)? else { return Ok(None) };
    let steps = bug.steps.join("; ");
    let status = match bug.status {
        BugStatus::Open => None,
        BugStatus::Resolved => Some(bug.resolution.as_deref().unwrap_or("resolved")),
    };
    let text = parts(&[
        // The resolution comes first, because it helps a reader with the same problem.
        ("Resolved", status),
        ("", bug.description.as_deref()),
        ("Steps", Some(&steps)),
        ("Expected", bug.expected.as_deref()),
        ("Actual", bug.actual.as_deref()),
        ("Page", bug.page.as_deref().map(activity_of)),
    ]);
    Ok(Some(Described {
        title: bug.title,
        text,
        site: site_of(bug.page.as_deref()),
        app: bug.app.unwrap_or_default(),
        session: session::find(c, &bug.session)?,
        private: is_own(bug.scope),
        source: recorded(bug.origin),
        tags: vec![bug.severity.word().to_owned(), bug.status.word().to_owned()],
        ..blank(EntryType::Bug, bug.created_at)
    }))
}

fn result(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(result) = results::get(c, id)? else { return Ok(None) };
    Ok(Some(Described {
        text: parts(&[
            ("", Some(result.status.word())),
            ("", result.summary.as_deref()),
            ("Page", result.page.as_deref().map(activity_of)),
        ]),
        title: result.name,
        site: site_of(result.page.as_deref()),
        app: result.app.unwrap_or_default(),
        session: session::find(c, &result.session)?,
        private: is_own(result.scope),
        source: recorded(result.origin),
        tags: vec![result.status.word().to_owned()],
        ..blank(EntryType::Result, result.created_at)
    }))
}

fn page(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(model) = page_models::get(c, id)? else { return Ok(None) };
    let elements = model.elements.iter().take(MAX_ELEMENTS).map(|e| {
        let rule = e.rule.as_ref().map_or(String::new(), |rule| format!(" ({rule})"));
        format!("{}{rule}", e.name)
    });
    let elements = elements.collect::<Vec<_>>().join("; ");
    Ok(Some(Described {
        text: parts(&[("", Some(&model.page_type)), ("Elements", Some(&elements))]),
        site: site_of(Some(&model.page)),
        source: recorded(model.origin),
        title: model.page,
        app: model.app.unwrap_or_default(),
        confidence: model.stability_score,
        ..blank(EntryType::Page, model.updated_at)
    }))
}

fn pattern(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(pattern) = patterns::get(c, id)? else { return Ok(None) };
    Ok(Some(Described {
        text: parts(&[("", Some(&pattern.text)), ("Page", pattern.page.as_deref().map(activity_of))]),
        site: site_of(pattern.page.as_deref()),
        app: pattern.app.unwrap_or_default(),
        session: pattern.session.as_deref().map(|name| session::find(c, name)).transpose()?.flatten(),
        private: pattern.scope == PatternScope::Session,
        source: pattern.source.unwrap_or_else(|| RECORDED.to_owned()),
        confidence: pattern.confidence,
        tags: vec![pattern.kind.word().to_owned()],
        ..blank(EntryType::Pattern, pattern.created_at)
    }))
}

fn of_session(c: &Connection, source: &Source) -> Result<Option<Described>> {
    let Some(name) = session::name_of(c, source.row)? else { return Ok(None) };
    let Some(session) = session::by_name(c, &name)? else { return Ok(None) };
    let (steps, blockers) = (session.next_steps.join("; "), session.blockers.join("; "));
    let private = session.scope == RecordScope::Session;
    // The summary of a session is left out, because it consists of statistics.
    let done: Vec<String> = tasks::done(c, session.id)?
        .into_iter()
        .filter(|task| private || !is_own(task.scope))
        .take(MAX_TASKS)
        .map(|task| {
            format!(
                "{} ({}{})",
                task.description,
                task.status.word(),
                task.summary.map_or(String::new(), |s| format!(", {s}"))
            )
        })
        .collect();
    let text = parts(&[
        ("", session.goal.as_deref()),
        ("Done", Some(&done.join("; "))),
        ("Next steps", Some(&steps)),
        ("Blockers", Some(&blockers)),
    ]);
    if text.is_empty() {
        return Ok(None);
    }
    let at = session.ended_at.unwrap_or(session.began());
    let source = recorded(session.origin);
    let of = Described { is_current: session.ended_at.is_none(), private, source, ..blank(EntryType::Session, at) };
    Ok(Some(Described {
        title: session.name,
        text,
        app: session.app.unwrap_or_default(),
        session: Some(session.id),
        ..of
    }))
}

fn state(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(state) = states::get(c, id)? else { return Ok(None) };
    if state.code.is_none() || state.name.is_none() && state.title.is_none() {
        return Ok(None);
    }
    let scope = scope::get(c, state.app)?.map(|known| known.scope);
    Ok(Some(Described {
        title: state.called().to_owned(),
        text: parts(&[("", state.title.as_deref()), ("", state.description.as_deref())]),
        site: scope.as_ref().and_then(|s| s.site.clone()).unwrap_or_default(),
        app: scope.map(|s| s.app).unwrap_or_default(),
        confidence: BY_ITSELF,
        source: state.origin.map_or_else(|| "page".to_owned(), |_| said_elsewhere(Some("page"))),
        ..blank(EntryType::State, state.first_seen)
    }))
}

fn memory(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(memory) = memories::get(c, id)? else { return Ok(None) };
    Ok(Some(Described {
        kind: match memory.kind {
            StoredType::Fact => EntryType::Fact,
            StoredType::Preference => EntryType::Preference,
            StoredType::Procedure => EntryType::Procedure,
        },
        title: memory.title.unwrap_or_default(),
        text: memory.text,
        app: memory.app,
        site: site::name_of(&memory.site).unwrap_or(memory.site),
        session: Some(memory.session),
        private: memory.scope == PatternScope::Session,
        confidence: memory.confidence,
        at: memory.created_at,
        expires_at: memory.expires_at,
        tags: memory.tags,
        source: memory.source,
        related: memory.related,
        is_current: false,
        turn: None,
        role: None,
    }))
}

/// Confidence of messages, from 0 to 1: not all that is said is meant.
const SAID: f64 = 0.5;

fn message(c: &Connection, id: i64) -> Result<Option<Described>> {
    let Some(kept) = messages::one(c, id)? else { return Ok(None) };
    let RecordedMessage { message, position, at, .. } = kept.recorded;
    let text = prepared::searched_text(&message);
    let source = match (message.role, &message.name) {
        (Role::Tool, Some(tool)) => tool.clone(),
        (role, _) => role.word().to_owned(),
    };
    Ok(Some(Described {
        // A speaker is found by name, and a text about a person says who it is.
        title: message.name.unwrap_or_default(),
        text,
        session: Some(kept.session),
        private: true,
        confidence: SAID,
        source,
        turn: Some(Turn { thread: kept.conversation, position }),
        role: Some(message.role),
        ..blank(EntryType::Message, at)
    }))
}
