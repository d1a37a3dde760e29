//! Loads the background of a context, which is everything except the conversation: rules, goal and tasks, knowledge
//! about the app, and the current state.

use afd_proto::findings::BugStatus;
use afd_proto::memory::{Scope, SessionContext};
use afd_proto::notes::Note;
use afd_proto::pattern::Pattern;
use afd_proto::recall::RecallEntry;

use crate::app::memory::{experience, find};
use crate::app::recall::{Recall, for_request};
use crate::app::session::context_of;
use afd_base::text::cut;
use afd_conversation::assemble::{Background, Item};
use afd_conversation::{Conversation, messages};
use afd_experience::memory::experience::Query;
use afd_experience::memory::{Place, log, notes, observations};
use afd_experience::visual::states;
use afd_screen::page::pattern;
use afd_store::{Connection, Reader, Result as Stored, rfc3339};
use afd_workspace::{Session, bugs, page_models, patterns, tasks};

/// Maximum number of open bugs in the background of a context.
const MAX_BUGS: usize = 10;
/// Maximum number of patterns that are read for the background of a context.
const MAX_PATTERNS: usize = 30;
/// Maximum number of notes in each part of the background of a context.
const MAX_NOTES: usize = 5;
/// Maximum number of queued tasks in the background of a context.
const MAX_TASKS: usize = 5;
/// Maximum number of actions whose earlier outcomes are read for the current page.
const MAX_EXPERIENCE: usize = 5;
/// Minimum confidence, from 0 to 1, for a pattern to be included in a context.
const MIN_CONFIDENCE: f64 = 0.3;
/// Maximum length of the part of the last request that is used to search notes, in characters.
const MAX_QUERY_CHARS: usize = 400;

/// Creates a one-line item.
fn item(kind: &'static str, text: impl AsRef<str>) -> Item {
    Item { kind, text: cut::one_line(text.as_ref()) }
}

/// Returns the UTC date of a time in Unix milliseconds, as `YYYY-MM-DD`.
fn day(at: i64) -> String {
    rfc3339(at).chars().take(10).collect()
}

/// Loads the background of a context. `asked` is the current question, see `context::asked`.
pub(super) fn load(
    recall: &Recall,
    c: &Connection,
    session: &Session,
    conversation: &Conversation,
    asked: &str,
) -> Stored<Background> {
    let (id, cleared) = (conversation.id, conversation.cleared_to);
    let mut context = context_of(c, conversation, &session.name)?;
    let seen = log::context(c, &session.name, None)?;
    let app = context.get("app").cloned().or_else(|| session.app.clone()).unwrap_or_default();
    let page = context.remove("page");
    let rules = messages::rules(c, id, cleared)?;
    let (count, tokens) = messages::count_rules(c, id, cleared)?;
    let omitted_rules =
        (count - i64::try_from(rules.len()).unwrap_or(0), tokens - rules.iter().map(|r| r.tokens).sum::<i64>());
    let (knowledge, omitted_bugs) = knowledge(c, session, &app)?;
    let mut now = now(recall, c, session, &app, page, seen, asked)?;
    now.extend(for_request(recall, c, cut::head(asked, MAX_QUERY_CHARS), &app, session.id)?.iter().map(remembered));
    let (task, recorded) = task(c, session)?;
    Ok(Background { rules, omitted_rules, task, recorded, knowledge, omitted_bugs, now, context })
}

/// Returns two lists. The first contains the goal and tasks that were recorded in this memory, for the system part. The
/// second is recorded data: progress, blockers, next steps, and the goal and tasks of another memory. Both lists start
/// with the most important item.
fn task(c: &Connection, session: &Session) -> Stored<(Vec<Item>, Vec<Item>)> {
    let (mut instructions, mut recorded) = (Vec::new(), Vec::new());
    let mut put = |kind, origin: &Option<String>, text: String| match origin {
        None => instructions.push(item(kind, text)),
        Some(_) => recorded.push(item(kind, format!("{text} (of another memory)"))),
    };
    if let Some(goal) = &session.goal {
        put("goal", &session.origin, format!("Goal: {goal}"));
    }
    let current = tasks::current(c, session.id)?;
    if let Some(task) = &current {
        put("tasks", &task.origin, format!("Current task: {}", task.description));
    }
    for task in tasks::queue(c, session.id)?.into_iter().take(MAX_TASKS) {
        put("tasks", &task.origin, format!("Then: {}", task.description));
    }
    let mark = session.origin.as_ref().map_or("", |_| " (of another memory)");
    recorded.extend(
        current
            .and_then(|task| task.progress)
            .map(|progress| item("tasks", format!("Current task so far: {progress}"))),
    );
    recorded.extend(session.blockers.iter().map(|blocker| item("blockers", format!("Blocked: {blocker}{mark}"))));
    recorded.extend(session.next_steps.iter().map(|step| item("next steps", format!("Next step: {step}{mark}"))));
    Ok((instructions, recorded))
}

/// Returns the knowledge about the app that does not depend on the current request and page: open bugs, worst first,
/// then patterns and the newest notes. The second value is the number of open bugs left out.
fn knowledge(c: &Connection, session: &Session, app: &str) -> Stored<(Vec<Item>, i64)> {
    let reader = Reader::Session(session.id);
    let mut own = bugs::Filter { status: Some(BugStatus::Open), reader, ..bugs::Filter::default() };
    if app.is_empty() {
        own.session = Some(session.id);
    } else {
        own.app = Some(app.to_owned());
    }
    let open = bugs::worst(c, &own, MAX_BUGS)?;
    let more = bugs::counts(c, &own)?.total - i64::try_from(open.len()).unwrap_or(0);
    let mut items: Vec<Item> = open
        .iter()
        .map(|b| {
            item(
                "bugs",
                format!(
                    "Open {} bug: {} (session {}{}, {})",
                    b.severity.word(),
                    b.title,
                    b.session,
                    from(&b.origin),
                    day(b.created_at)
                ),
            )
        })
        .collect();
    let wanted = patterns::Filter {
        page: Some(String::new()),
        app: Some(app.to_owned()),
        least: MIN_CONFIDENCE,
        limit: MAX_PATTERNS,
        reader,
        ..Default::default()
    };
    items.extend(patterns::find(c, &wanted)?.iter().map(learned));
    if !app.is_empty() {
        let filter = notes::Filter { app: Some(app.to_owned()), topic: None, reader };
        items.extend(notes::newest(c, &filter, 0, MAX_NOTES)?.notes.iter().map(note));
    }
    Ok((items, more))
}

/// Returns a suffix for data that came from another memory; empty for other data.
fn from(elsewhere: &Option<String>) -> &'static str {
    if elsewhere.is_some() { " of another memory" } else { "" }
}

fn note(note: &Note) -> Item {
    item(
        "notes",
        format!(
            "Note {}: {} (saved by the agent of session {}{}, {})",
            note.topic,
            note.content,
            note.session,
            from(&note.origin),
            day(note.created_at)
        ),
    )
}

/// Creates an item from an entry: its text, source, session and date.
fn remembered(entry: &RecallEntry) -> Item {
    let from = entry.session.as_ref().map_or(String::new(), |session| format!("session {session}, "));
    let title = entry.title.as_ref().map_or(String::new(), |title| format!("{title}: "));
    item("memories", format!("{title}{} (said by {}, {from}{})", entry.text, entry.source, day(entry.at)))
}

/// Creates an item from a pattern: its text, source, session and date.
fn learned(pattern: &Pattern) -> Item {
    let said = pattern.source.as_ref().map_or(String::new(), |source| format!("said by {}, ", cut::one_line(source)));
    let from = pattern.session.as_ref().map_or(String::new(), |session| format!("session {session}, "));
    item("patterns", format!("{} ({said}{from}{})", pattern.text, day(pattern.created_at)))
}

/// Returns the current state: the page; its patterns, page models and experience; and the notes that match the request.
fn now(
    recall: &Recall,
    c: &Connection,
    session: &Session,
    app: &str,
    page: Option<String>,
    seen: SessionContext,
    asked: &str,
) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = page.iter().map(|page| item("page", format!("Page: {page}"))).collect();
    let state = seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
    let state = state.map(|key| states::of_structure(c, &key)).transpose()?.flatten().and_then(|s| s.code);
    let mut names: Vec<String> =
        [seen.page_key.clone(), page, state].into_iter().flatten().map(|name| pattern::of(&name)).collect();
    names.dedup();
    let reader = Reader::Session(session.id);
    for name in &names {
        let wanted = patterns::Filter {
            page: Some(name.clone()),
            least: MIN_CONFIDENCE,
            limit: MAX_PATTERNS,
            reader,
            ..Default::default()
        };
        items.extend(patterns::find(c, &wanted)?.iter().filter(|p| p.page.is_some()).map(learned));
        let models = page_models::find(c, Some(name), None, 1)?.into_iter().filter(|m| m.page == *name);
        items.extend(models.map(|m| {
            let elements: Vec<String> = m.elements.into_iter().map(|e| e.name).collect();
            item("page models", format!("This page is a {}: {}", m.page_type, elements.join(", ")))
        }));
    }
    if seen.found {
        let structure =
            seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
        let place =
            Place { app: seen.app, activity: seen.activity, page_key: seen.page_key, structure, ..Place::default() };
        let known = experience::find(c, Query { place, limit: MAX_EXPERIENCE, ..Query::default() })?;
        let on = |scope: Scope, name: Option<String>, activity: String| {
            let which = if scope == Scope::State { "this page" } else { "another page" };
            format!("on {which}, {:?}", name.unwrap_or(activity))
        };
        let done = known
            .transitions
            .into_iter()
            .map(|t| format!("{}: {}", on(t.match_scope, t.pre_name, t.pre_activity), t.text));
        let recovered = known
            .recoveries
            .into_iter()
            .map(|r| format!("{}: {}", on(r.match_scope, r.pre_name, r.pre_activity), r.text));
        items.extend(done.chain(recovered).map(|text| item("experience", text)));
    }
    // Without an app, the filter matches notes that belong to no app.
    let filter = notes::Filter { app: Some(app.to_owned()), topic: None, reader };
    let found = find::notes(recall, c, cut::head(asked, MAX_QUERY_CHARS), &filter, (0, MAX_NOTES))?;
    items.extend(found.notes.iter().map(note));
    Ok(items)
}
