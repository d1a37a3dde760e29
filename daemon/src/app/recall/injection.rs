//! What is offered at the moment when it can be used, without being asked for: beside the answer of another call.
//!
//! These use full text, the built-in features and stored vectors, read little, and offer only what is clearly about the
//! same. They do not wait: an answer says what was not searched.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::findings::BugStatus;
use afd_proto::pattern::PatternKind;
use afd_proto::recall::{EntryType, RecallEntry};
use afd_proto::tasks::Task;
use serde_json::json;

use super::Recall;
use super::indexed::AtHand;
use super::search::Embedded;
use super::show::{self, Asked};
use crate::app::{Core, Error};
use afd_base::model::embed::Builtin;
use afd_base::text::cut;
use afd_recall::entries::{self, name_hash};
use afd_recall::index::Index;
use afd_recall::search::{self, Ask, List, Ranked, Scope};
use afd_recall::terms::Effort;
use afd_store::{Connection, Result, StoreError, now_ms};
use afd_workspace as session;

/// Cosine of the built-in model from which on an entry is offered, and the lower one for entries that have most of what
/// is asked.
const CLEAR: f64 = 0.5;
const BOTH: f64 = 0.28;
/// Share of the words of what is asked, by their rarity, that such an entry has.
const SHARE: f64 = 0.55;

/// What is looked for.
#[derive(Debug, Clone, Default)]
struct Wanted<'a> {
    /// What is about to happen, or has just happened.
    pub text: &'a str,
    /// Types of entries.
    pub types: &'a [EntryType],
    /// Package that it is about.
    pub app: Option<&'a str>,
    /// Row id of the session.
    pub session: Option<i64>,
    /// Maximum number of entries.
    pub limit: usize,
}

/// Returns entries that are clearly about the same.
///
/// # Errors
/// If the database cannot be read.
fn about(recall: &Recall, c: &Connection, wanted: &Wanted<'_>) -> Result<AtHand<Vec<RecallEntry>>> {
    let AtHand { found, missing } = recall.with_index_at_hand(c, |index, builtin| clear(index, builtin, c, wanted))?;
    Ok(AtHand { found: shown(c, &found, wanted)?, missing })
}

fn shown(c: &Connection, clear: &[Ranked], wanted: &Wanted<'_>) -> Result<Vec<RecallEntry>> {
    let asked = Asked { query: wanted.text, session: wanted.session, explain: false };
    let mut found = show::found(c, clear, &asked, &HashMap::new())?;
    found.truncate(wanted.limit);
    Ok(found)
}

fn clear(index: &Index, builtin: Option<i64>, c: &Connection, wanted: &Wanted<'_>) -> Result<Vec<Ranked>> {
    let embedded = Embedded { builtin: Builtin::vector(wanted.text), other: None, known: 0.0 };
    let ask = Ask {
        text: wanted.text.to_owned(),
        vectors: embedded.lists(builtin, None),
        fluency: 0.0,
        knows_script: false,
        mode: afd_proto::recall::SearchMode::Hybrid,
        scope: Scope {
            session: wanted.session,
            types: wanted.types.to_vec(),
            app: wanted.app.filter(|app| !app.is_empty()).map(name_hash),
            now: now_ms(),
            ..Scope::default()
        },
        effort: Effort::ASIDE,
        half_life_days: 180.0,
        limit: wanted.limit,
        fold: true,
    };
    Ok(search::run(c, index, index.corpus(), &ask)?.into_iter().filter(is_clear).collect())
}

/// Returns whether an entry is about the same beyond doubt.
fn is_clear(hit: &Ranked) -> bool {
    let place = |list: List| hit.places.iter().find(|p| p.list == list);
    let cosine = place(List::Builtin).map_or(0.0, |p| p.measure);
    cosine >= CLEAR || cosine >= BOTH && place(List::Text).is_some_and(|p| p.share >= SHARE)
}

/// Number of entries that are offered for a request, for a task, and for a failure.
const FOR_REQUEST: usize = 4;
const FOR_TASK: usize = 5;
const FOR_FAILURE: usize = 3;
/// Number of entries among which those are looked for that tell what solved a failure.
const LOOKED_AT: usize = 12;
/// Length of an entry beside an error, characters.
const BRIEF: usize = 200;

/// Returns facts, preferences and procedures that are clearly about what is being asked.
///
/// # Errors
/// If the database cannot be read.
pub fn for_request(recall: &Recall, c: &Connection, text: &str, app: &str, session: i64) -> Result<Vec<RecallEntry>> {
    let types = [EntryType::Fact, EntryType::Preference, EntryType::Procedure];
    let wanted = Wanted { text, types: &types, app: Some(app), session: Some(session), limit: FOR_REQUEST };
    // A context is asked for, and waits.
    let clear = recall.with_index(c, None, |index, builtin, _| clear(index, builtin, c, &wanted))?;
    shown(c, &clear, &wanted)
}

/// Returns what is known about a task that begins, and what could not be looked at, and why.
pub async fn for_task(core: &Arc<Core>, task: &Task) -> (Vec<RecallEntry>, Vec<String>) {
    core.recall.catch_up().await;
    let (own, text, name) = (core.clone(), task.description.clone(), task.session.clone());
    let found = core.store.read(move |c| {
        let Some(session) = session::by_name(c, &name)? else { return Ok(AtHand::default()) };
        let types = [
            EntryType::Bug,
            EntryType::Pattern,
            EntryType::Note,
            EntryType::Procedure,
            EntryType::Fact,
            EntryType::Preference,
            EntryType::Result,
        ];
        let app = session.app.as_deref();
        about(&own.recall, c, &Wanted { text: &text, types: &types, app, session: Some(session.id), limit: FOR_TASK })
    });
    match found.await {
        Ok(AtHand { found, missing }) => (found, missing.into_iter().map(str::to_owned).collect()),
        Err(error) => (Vec::new(), vec![cannot_be_read(&error)]),
    }
}

fn cannot_be_read(error: &StoreError) -> String {
    format!("what is remembered cannot be read: {error}")
}

/// Returns what an error message quotes, such as the text of a target: its other words are those of every such error.
fn quoted(message: &str) -> String {
    message.split('"').skip(1).step_by(2).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns whether an entry tells what solved something.
fn is_solution(entry: &RecallEntry) -> bool {
    let has = |tag: &str| entry.tags.iter().any(|t| t == tag);
    match entry.kind {
        EntryType::Procedure => true,
        EntryType::Pattern => has(PatternKind::Solution.word()),
        EntryType::Bug => has(BugStatus::Resolved.word()),
        _ => false,
    }
}

/// Adds what is remembered about failures like an error to its details.
pub async fn with_remembered(core: &Arc<Core>, mut error: Error, app: Option<String>, session: i64) -> Error {
    if error.details.as_ref().is_some_and(|details| !details.is_object()) {
        return error;
    }
    let (own, text) = (core.clone(), quoted(&error.message));
    if text.is_empty() {
        return error;
    }
    core.recall.catch_up().await;
    let found = core.store.read(move |c| {
        let types = [EntryType::Pattern, EntryType::Note, EntryType::Procedure, EntryType::Fact, EntryType::Bug];
        about(
            &own.recall,
            c,
            &Wanted { text: &text, types: &types, app: app.as_deref(), session: Some(session), limit: LOOKED_AT },
        )
    });
    let (mut found, missing) = match found.await {
        Ok(AtHand { found, missing }) => (found, missing.map(str::to_owned)),
        Err(failed) => (Vec::new(), Some(cannot_be_read(&failed))),
    };
    if let Some(why) = missing {
        error.details.get_or_insert_with(|| json!({}))["rememberedMissing"] = json!(why);
    }
    // What solved the like before what only speaks of it; else the clearest first, as they are.
    found.sort_by_key(|entry| !is_solution(entry));
    found.truncate(FOR_FAILURE);
    if !found.is_empty() {
        let brief = |entry: &RecallEntry| {
            let title = entry.title.as_ref().map_or(String::new(), |title| format!("{title}: "));
            json!({"type": entry.kind, "uid": entry.uid, "source": entry.source, "text": cut::brief(&cut::one_line(&format!("{title}{}", entry.text)), BRIEF)})
        };
        let details = error.details.get_or_insert_with(|| json!({}));
        details["remembered"] = found.iter().map(brief).collect();
    }
    error
}

/// Returns the row ids of entries of a type that a session may be told and that are clearly about the same as a text.
///
/// # Errors
/// If the database cannot be read.
pub fn rows_about(
    recall: &Recall,
    c: &Connection,
    text: &str,
    kind: EntryType,
    app: Option<&str>,
    session: i64,
) -> Result<AtHand<Vec<i64>>> {
    let wanted = Wanted { text, types: &[kind], app, session: Some(session), limit: FOR_TASK };
    let AtHand { found, missing } = recall.with_index_at_hand(c, |index, builtin| clear(index, builtin, c, &wanted))?;
    let rows = found.iter().map(|hit| Ok(entries::source_of(c, hit.entry)?.map(|source| source.row)));
    Ok(AtHand { found: rows.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(), missing })
}

/// Cosine of the built-in model from which on two texts say much the same.
const SAME: f64 = 0.72;

/// Row ids of entries, with how much each says the same.
type Near = Vec<(i64, f64)>;

/// Returns entries of a type that a session may be told and that say much the same as a text, about the same app or
/// about none.
///
/// # Errors
/// If the database cannot be read.
pub fn near_rows(
    recall: &Recall,
    c: &Connection,
    text: &str,
    kind: EntryType,
    app: &str,
    session: i64,
) -> Result<AtHand<Near>> {
    recall.with_index_at_hand(c, |index, builtin| {
        let Some(model) = builtin else { return Ok(Vec::new()) };
        let (app, now) = (name_hash(app), now_ms());
        let scope = Scope { types: vec![kind], session: Some(session), now, ..Scope::default() };
        let near = index
            .nearest(c, model, &Builtin::vector(text), FOR_TASK, |f| scope.allows(f) && (f.app == app || f.app == 0))?;
        let mut rows = Vec::new();
        for (entry, cosine) in near.into_iter().filter(|(_, cosine)| *cosine >= SAME) {
            rows.extend(entries::source_of(c, entry)?.map(|source| (source.row, (cosine * 100.0).round() / 100.0)));
        }
        Ok(rows)
    })
}
