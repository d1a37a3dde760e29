//! Automatic recall: returns entries together with the response of another call, at the moment when they are useful
//! (for a request, a task that begins, a failure, or newly saved text).
//!
//! No caller asked for these entries. Therefore they must be cheap, and clearly relevant:
//!
//! * *Cheap:* a search uses full text, the built-in features and stored vectors, with a low effort limit
//!   (`Effort::ASIDE`). It does not wait for the index. The response names the parts that were not searched. Only
//!   [`for_request`] waits, because a context is requested explicitly.
//! * *Relevant:* an entry needs a cosine of at least [`CLEAR`] in the built-in model. A cosine of [`BOTH`] is enough
//!   for an entry that also contains [`SHARE`] of the query's words, weighted by their rarity ([`is_clear`]).
//! * For a failure, only the quoted parts of the message are searched, because its other words occur in every such
//!   error. Entries that solved a similar failure come first.
//! * Near duplicates need a cosine of at least [`SAME`], and the same app or no app ([`near_rows`]).

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
use afd_recall::entries;
use afd_recall::filtered::name_hash;
use afd_recall::index::Index;
use afd_recall::search::{self, Ask, List, Ranked, Scope};
use afd_recall::text_index::Effort;
use afd_store::{Connection, Reader, Result, StoreError, now_ms};
use afd_workspace as session;

/// Minimum cosine in the built-in model for an entry to be returned, whichever words it contains.
const CLEAR: f64 = 0.5;
/// Minimum cosine in the built-in model for an entry that contains most of the query, see [`SHARE`].
const BOTH: f64 = 0.28;
/// Minimum share of the query's words, weighted by their rarity, that an entry must contain for [`BOTH`] to be enough.
const SHARE: f64 = 0.55;

/// Parameters of automatic recall.
#[derive(Debug, Clone, Default)]
struct Wanted<'a> {
    /// Text about an event that is about to happen, or has just happened.
    pub text: &'a str,
    /// Types of entries to return.
    pub types: &'a [EntryType],
    /// Package name of the app that the entries are about.
    pub app: Option<&'a str>,
    /// Row id of the session that asks.
    pub session: Option<i64>,
    /// Maximum number of entries to return.
    pub limit: usize,
}

/// Returns entries that are clearly about the same subject as the wanted text.
///
/// # Errors
/// If the database cannot be read.
fn about(recall: &Recall, c: &Connection, wanted: &Wanted<'_>) -> Result<AtHand<Vec<RecallEntry>>> {
    let AtHand { found, missing } = recall.with_index_at_hand(c, |index, builtin| clear(index, builtin, c, wanted))?;
    Ok(AtHand { found: shown(c, &found, wanted)?, missing })
}

fn shown(c: &Connection, clear: &[Ranked], wanted: &Wanted<'_>) -> Result<Vec<RecallEntry>> {
    let asked = Asked { query: wanted.text, session: wanted.session, explain: false, excerpt: show::EXCERPT };
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
            reader: Reader::of(wanted.session),
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

/// Returns whether a match is strong enough to be returned automatically.
fn is_clear(hit: &Ranked) -> bool {
    let place = |list: List| hit.places.iter().find(|p| p.list == list);
    let cosine = place(List::Builtin).map_or(0.0, |p| p.measure);
    cosine >= CLEAR || cosine >= BOTH && place(List::Text).is_some_and(|p| p.share >= SHARE)
}

/// Maximum number of entries that are returned for a request.
const FOR_REQUEST: usize = 4;
/// Maximum number of entries that are returned for a task that begins.
const FOR_TASK: usize = 5;
/// Maximum number of entries that are returned for a failure.
const FOR_FAILURE: usize = 3;
/// Number of entries that are examined to find solutions to a failure.
const LOOKED_AT: usize = 12;
/// Maximum length of an entry's text in an error, in characters.
const BRIEF: usize = 200;

/// Returns facts, preferences and procedures that are clearly about the current request.
///
/// # Errors
/// If the database cannot be read.
pub fn for_request(recall: &Recall, c: &Connection, text: &str, app: &str, session: i64) -> Result<Vec<RecallEntry>> {
    let types = [EntryType::Fact, EntryType::Preference, EntryType::Procedure];
    let wanted = Wanted { text, types: &types, app: Some(app), session: Some(session), limit: FOR_REQUEST };
    // A context is requested explicitly, so this search waits for the index.
    let clear = recall.with_index(c, None, |index, builtin, _| clear(index, builtin, c, &wanted))?;
    shown(c, &clear, &wanted)
}

/// Returns entries about a task that begins, and the parts that could not be searched, with the reasons.
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
    format!("the memory cannot be read: {error}")
}

/// Returns the quoted parts of an error message, such as the text of a target. The other words occur in every such
/// error.
fn quoted(message: &str) -> String {
    message.split('"').skip(1).step_by(2).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns whether an entry describes a solution.
fn is_solution(entry: &RecallEntry) -> bool {
    let has = |tag: &str| entry.tags.iter().any(|t| t == tag);
    match entry.kind {
        EntryType::Procedure => true,
        EntryType::Pattern => has(PatternKind::Solution.word()),
        EntryType::Bug => has(BugStatus::Resolved.word()),
        _ => false,
    }
}

/// Adds remembered entries about similar failures to the details of an error.
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
    // Entries that solved a similar failure come first. Otherwise the order stays the same, best match first.
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

/// Returns the row ids of entries of a type that a session may see and that are clearly about the text's subject.
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

/// Minimum cosine in the built-in model for two texts to count as near duplicates.
const SAME: f64 = 0.72;

/// Row ids of entries, with the similarity of each.
type Near = Vec<(i64, f64)>;

/// Returns near duplicates of the given text: entries of a type that a session may see, about the same app or about no
/// app.
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
        let scope = Scope { types: vec![kind], reader: Reader::Session(session), now, ..Scope::default() };
        let near = index.nearest(c, model, &Builtin::vector(text), FOR_TASK, &scope, |f| f.app == app || f.app == 0)?;
        let mut rows = Vec::new();
        for (entry, cosine) in near.into_iter().filter(|(_, cosine)| *cosine >= SAME) {
            rows.extend(entries::source_of(c, entry)?.map(|source| (source.row, (cosine * 100.0).round() / 100.0)));
        }
        Ok(rows)
    })
}
