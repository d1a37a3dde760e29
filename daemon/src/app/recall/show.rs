//! Converts entries to the form in which they are returned, with the text of their rows.

use std::collections::HashMap;

use afd_proto::pattern::PatternScope;
use afd_proto::recall::{RecallEntry, Why};

use super::describe::describe;
use afd_base::text::snippet;
use afd_base::text::tokens::{self, Wanted};
use afd_recall::Described;
use afd_recall::entries::{self, Source};
use afd_recall::search::{List, Ranked};
use afd_store::{Connection, Result, now_ms};
use afd_workspace as session;

/// Maximum length of the text of an entry that a search returns, in characters.
pub const EXCERPT: usize = 400;

/// Returns an entry with its whole text, and the row id of its session.
pub fn whole(c: &Connection, source: &Source) -> Result<Option<(RecallEntry, Option<i64>)>> {
    let Some(described) = describe(c, source)? else { return Ok(None) };
    let optional = |text: String| (!text.is_empty()).then_some(text);
    let scope = match (described.private, described.app.is_empty()) {
        (true, _) => PatternScope::Session,
        (false, false) => PatternScope::App,
        (false, true) => PatternScope::Everybody,
    };
    let Described {
        kind,
        title,
        text,
        app,
        site,
        session,
        confidence,
        at,
        expires_at,
        tags,
        source: said_by,
        related,
        turn,
        ..
    } = described;
    let entry = RecallEntry {
        uid: source.uid.clone(),
        kind,
        id: match turn {
            Some(turn) => Some(turn.position),
            None => (source.kind != "memory").then_some(source.row),
        },
        title: optional(title),
        text,
        cut: false,
        app: optional(app),
        site: optional(site),
        session: session.map(|id| session::name_of(c, id)).transpose()?.flatten(),
        source: said_by,
        scope,
        confidence,
        tags,
        related,
        at,
        expires_at,
        use_count: source.used.0,
        last_used_at: source.used.1,
        origin: None,
        score: None,
        why: None,
        weak: false,
        duplicates: Vec::new(),
    };
    Ok(Some((entry, session)))
}

/// Request for which the found entries are returned.
pub struct Asked<'a> {
    /// Text of the query.
    pub query: &'a str,
    /// Row id of the session that asks.
    pub session: Option<i64>,
    /// Whether to say why each entry was found.
    pub explain: bool,
    /// Maximum length of an entry's text, in characters.
    pub excerpt: usize,
}

/// Returns found entries, with their text cut to the part that is relevant to the query. `foreign` contains the entries
/// from other stores.
pub fn found(
    c: &Connection,
    ranked: &[Ranked],
    asked: &Asked<'_>,
    foreign: &HashMap<i64, RecallEntry>,
) -> Result<Vec<RecallEntry>> {
    let words = tokens::of_query(asked.query);
    let mut shown = Vec::with_capacity(ranked.len());
    for hit in ranked {
        let entry = match foreign.get(&hit.entry) {
            Some(entry) => Some(entry.clone()),
            None => own(c, hit.entry, asked.session)?,
        };
        let Some(mut entry) = entry else { continue };
        if asked.explain {
            entry.why = Some(why(&entry, hit, &words));
        }
        entry.weak = hit.is_weak;
        excerpt(&mut entry, &words, asked.excerpt);
        entry.score = Some((hit.score * 1_000.0).round() / 1_000.0);
        for duplicate in &hit.folded {
            let uid = match foreign.get(duplicate) {
                Some(entry) => Some(entry.uid.clone()),
                None => entries::source_of(c, *duplicate)?.map(|source| source.uid),
            };
            entry.duplicates.extend(uid);
        }
        shown.push(entry);
    }
    Ok(shown)
}

/// Returns an entry from this store, if the asking session may see it.
fn own(c: &Connection, entry: i64, asking: Option<i64>) -> Result<Option<RecallEntry>> {
    // The row may have changed since the index was read.
    let source = entries::source_of(c, entry)?.filter(|source| !source.gone);
    Ok(source.map(|source| told(c, &source, asking)).transpose()?.flatten())
}

/// Returns an entry with its whole text, if it has not expired and the asking session may see it.
pub fn told(c: &Connection, source: &Source, asking: Option<i64>) -> Result<Option<RecallEntry>> {
    let may_be_told = |(entry, owner): &(RecallEntry, Option<i64>)| {
        let is_own = owner.is_some() && *owner == asking;
        (entry.scope != PatternScope::Session || is_own) && entry.expires_at.is_none_or(|at| at > now_ms())
    };
    Ok(whole(c, source)?.filter(may_be_told).map(|(entry, _)| entry))
}

/// Cuts long text to the part that has most of the query.
fn excerpt(entry: &mut RecallEntry, words: &[Wanted], length: usize) {
    if entry.text.chars().count() > length {
        entry.text = snippet::plain(&entry.text, words, length);
        entry.cut = true;
    }
}

fn why(entry: &RecallEntry, hit: &Ranked, words: &[Wanted]) -> Why {
    let own = tokens::of_text(&format!("{}\n{}", entry.title.as_deref().unwrap_or_default(), entry.text));

    let place = |list: List| hit.places.iter().find(|p| p.list == list);
    let rank = |list: List| place(list).map(|p| u32::try_from(p.rank).unwrap_or(u32::MAX));
    let rounded = |n: f64| (n * 1_000.0).round() / 1_000.0;
    Why {
        text_rank: rank(List::Text),
        bm25: place(List::Text).map(|p| rounded(p.measure)),
        share: place(List::Text).map(|p| rounded(p.share)),
        words: words.iter().filter(|word| word.is_in(&own)).map(|word| word.text.clone()).collect(),
        vector_rank: rank(List::Vectors),
        cosine: place(List::Vectors).map(|p| rounded(p.measure)),
        builtin_rank: rank(List::Builtin),
        builtin_cosine: place(List::Builtin).map(|p| rounded(p.measure)),
        age_factor: rounded(hit.factors.0),
        confidence_factor: rounded(hit.factors.1),
    }
}
