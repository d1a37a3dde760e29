//! The search for notes, in the index of all entries.
//!
//! Notes that contain all words of the query are returned alone, if there are any; otherwise those that contain some.

use afd_proto::notes::{Note, Notes, TermMatch};
use afd_proto::recall::EntryType;

use crate::app::recall::{Recall, unindexed};
use afd_base::text::tokens::{self, Wanted};
use afd_base::text::{cut, snippet};
use afd_experience::memory::notes::{self, Filter};
use afd_recall::filtered::name_hash;
use afd_recall::search::Scope;
use afd_recall::text_index::{self, Effort};
use afd_recall::{entries, properties};
use afd_store::{Connection, Result, now_ms};

/// Maximum number of notes that a search ranks. All pages of a result have the same candidates.
const CANDIDATES: usize = 200;
/// Length of a snippet, in characters.
const SNIPPET: usize = 160;
/// Minimum share of the query, weighted by rarity, of a note that contains all words. Parts of words may be missing.
const ALL: f64 = 0.999;
/// Maximum length of a text for which similar notes are searched, in characters.
const MAX_QUERY: usize = 2_000;

/// Returns the notes that match a query best, starting at an offset.
///
/// # Errors
/// If the database cannot be read.
pub fn notes(
    recall: &Recall,
    c: &Connection,
    query: &str,
    filter: &Filter,
    (offset, limit): (usize, usize),
) -> Result<Notes> {
    let ranked = ranked(recall, c, query, filter, Effort { depth: CANDIDATES, ..Effort::SEARCH })?;
    let matched = if ranked.iter().any(|hit| hit.share >= ALL) { TermMatch::All } else { TermMatch::Any };
    let words = tokens::of_query(query);
    let mut kept = ranked.into_iter().filter(|hit| matched == TermMatch::Any || hit.share >= ALL);
    let notes: Vec<Note> = kept.by_ref().skip(offset).take(limit).map(|hit| hit.shown(&words)).collect();
    let next_cursor = kept.next().map(|_| i64::try_from(offset + limit).unwrap_or(i64::MAX));
    // A query that finds nothing was not answered in part.
    let matched = if notes.is_empty() && offset == 0 { TermMatch::All } else { matched };
    let missing = unindexed(c)?.into_iter().collect();
    Ok(Notes { notes, matched: Some(matched), next_cursor, missing })
}

/// Returns notes that share rare words with a text.
///
/// # Errors
/// If the database cannot be read.
pub fn alike(recall: &Recall, c: &Connection, text: &str, filter: &Filter, limit: usize) -> Result<Vec<Note>> {
    let effort = Effort { depth: limit, ..Effort::ASIDE };
    let found = ranked(recall, c, cut::head(text, MAX_QUERY), filter, effort)?;
    Ok(found.into_iter().map(|hit| hit.note).collect())
}

/// A found note.
struct Hit {
    note: Note,
    closeness: f64,
    share: f64,
}

impl Hit {
    fn shown(self, words: &[Wanted]) -> Note {
        let snippet = snippet::marked(&self.note.content, words, SNIPPET);
        Note { snippet, score: Some((self.closeness * 1_000.0).round() / 1_000.0), ..self.note }
    }
}

fn ranked(recall: &Recall, c: &Connection, query: &str, filter: &Filter, effort: Effort) -> Result<Vec<Hit>> {
    let path = filter.topic.as_deref().and_then(|topic| topic.rsplit_once('/'));
    let properties = filter.app.as_deref().map(properties::about_app).into_iter();
    let scope = Scope {
        reader: filter.reader,
        types: vec![EntryType::Note],
        properties: properties.chain(path.map(|(path, _)| properties::below_topic(path))).collect(),
        now: now_ms(),
        archived: true,
        ..Scope::default()
    };
    let app = filter.app.as_deref().map(name_hash);
    let found = recall.with_index(c, None, |index, _, _| {
        let wanted =
            |id: i64| index.get(id).filter(|f| scope.allows(f) && app.is_none_or(|app| app == f.app)).map(|f| f.words);
        text_index::search(c, query, effort, index.corpus(), &scope.within(), wanted)
    })?;
    let mut hits = Vec::with_capacity(found.matches.len());
    for matched in &found.matches {
        let Some(source) = entries::source_of(c, matched.entry)?.filter(|source| !source.gone) else { continue };
        let note = notes::one(c, source.row)?.filter(|note| filter.allows(note));
        let closeness = found.closeness(matched.entry);
        hits.extend(note.map(|note| Hit { note, closeness, share: matched.share }));
    }
    Ok(hits)
}
