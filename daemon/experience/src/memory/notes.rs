//! Notes that agents saved, grouped into chains by app and topic, and the search for them.
//!
//! A search ranks a bounded number of candidates: the newest notes that contain the query words in their topic, and the
//! newest ones that contain them anywhere. A word that every note contains therefore costs no more than a rare one.

use std::collections::{HashMap, HashSet};

use afd_proto::notes::{Note, Notes, SimilarNote, TermMatch};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, Row};

use afd_base::text::TokenKind::{App, Topic, TopicPath};
use afd_base::text::{self, Query, cut};
use afd_store::{Conditions, Page, Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, read, word};

/// Maximum size of a note, in bytes.
pub const MAX_CONTENT: usize = 64 << 10;
/// Maximum length of a topic, in characters.
pub const MAX_TOPIC: usize = 200;

/// Maximum number of notes that a search ranks per kind of match. All pages of a result have the same candidates.
const CANDIDATES: usize = 200;
/// Maximum number of query words that are searched for one by one.
const MAX_TERMS: usize = 16;
/// Number of characters, from the beginning of a note, that are used for ranking.
const RANKED_CHARS: usize = 8192;
/// Length of a snippet, in characters.
const SNIPPET_CHARS: usize = 160;
/// An existing note is reported as similar to a new one if the Jaccard index of their words is at least this.
const MIN_SIMILARITY: f64 = 0.5;
/// Maximum number of similar notes that are reported.
const MAX_SIMILAR: usize = 3;
/// Maximum number of words in a new note that are looked up to find similar notes, and maximum number of notes found
/// per word.
const PROBES: usize = 8;
const NOTES_FOR_PROBE: usize = 30;

const COLUMNS: &str =
    concat!("n.id, n.uid, n.app, n.topic, n.position, n.content, n.scope, s.name, n.created_at, ", elsewhere!("n"));

/// A note to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// Uid derived from the imported original; `None` for a new note.
    pub uid: Option<String>,
    /// Package of the app that the note is about; empty if it is about no app.
    pub app: String,
    /// Topic of the note.
    pub topic: String,
    /// Content of the note.
    pub content: String,
    /// Trace id of the call.
    pub trace: String,
    /// Time of creation, in Unix milliseconds; the current time if `None`.
    pub at: Option<i64>,
    /// Visibility of the note.
    pub scope: RecordScope,
}

/// A filter for notes.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only notes about this app (package). An empty string selects the notes that are about no app.
    pub app: Option<String>,
    /// Only notes whose topic has this prefix.
    pub topic: Option<String>,
    /// The caller. Notes that are visible only to other sessions are not found.
    pub reader: Reader,
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    let app: String = row.get("app")?;
    Ok(read!(row => Note {
        id, uid, topic, position, content, created_at,
        origin: row.get("elsewhere")?,
        app: (!app.is_empty()).then_some(app),
        session: row.get("name")?,
        scope: word::<RecordScope>(row, "scope")?.narrowed(),
        snippet: None,
        score: None,
    }))
}

/// A note's entry for the search index, which consists of its search tokens.
#[derive(Debug, Clone)]
pub struct Entry(String);

impl NewNote {
    /// Returns the note's entry for the search index. Call it before the database write begins, because preparing the
    /// entry for a long note takes some time.
    pub fn entry(&self) -> Entry {
        Entry(tokens(&self.app, &self.topic, &self.content))
    }
}

/// Returns all search tokens of a note, separated by spaces.
fn tokens(app: &str, topic: &str, content: &str) -> String {
    let mut tokens = vec![text::whole(App, app)];
    tokens.extend(topic.match_indices('/').map(|(end, _)| text::whole(TopicPath, &topic[..end])));
    tokens.extend(text::words(topic).iter().map(|word| Topic.mark(word)));
    tokens.extend(text::words(&format!("{topic} \n {content}")));
    tokens.extend(text::grams(&format!("{topic} {content}")));
    tokens.join(" ")
}

/// Appends a note to its chain. `session` is the row id of its session. Returns `None` if a note with this uid already
/// exists.
pub fn save(connection: &Connection, origin: &str, session: i64, new: &NewNote, entry: &Entry) -> Result<Option<Note>> {
    let (uid, at) = (new.uid.clone().unwrap_or_else(new_uid), new.at.unwrap_or_else(now_ms));
    let inserted = connection.first(
        "INSERT INTO notes (uid, origin, app, topic, position, content, scope, session_id, trace_id, created_at,
                updated_at)
             VALUES (:uid, :origin, :app, :topic, (SELECT coalesce(max(position), 0) + 1 FROM notes WHERE app = :app AND topic = :topic),
             :content, :scope, :session_id, :trace_id, :created_at, :updated_at)
             ON CONFLICT (uid) DO NOTHING RETURNING id",
        args! {
            uid, origin, app: new.app, topic: new.topic, content: new.content, scope: new.scope.word(),
            session_id: session, trace_id: new.trace, created_at: at, updated_at: now_ms()
        },
        |row| row.get::<_,
        i64>("id"),
    )?;
    let Some(id) = inserted else { return Ok(None) };
    connection
        .run("INSERT INTO note_index (rowid, tokens) VALUES (:rowid, :tokens)", args! {rowid: id, tokens: entry.0})?;
    one(connection, id)
}

/// Returns a note by its id.
pub fn one(connection: &Connection, id: i64) -> Result<Option<Note>> {
    connection.first(
        &format!(
            "SELECT {COLUMNS} FROM notes n JOIN sessions s ON s.id = n.session_id WHERE n.id = :id AND n.deleted_at IS NULL"
        ),
        args! {id},
        note,
    )
}

/// Counts the notes of the session with this row id.
pub fn count(connection: &Connection, session: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM notes WHERE session_id = :session_id AND deleted_at IS NULL",
        args! {session_id: session},
        |row| row.get("count"),
    )
}

/// Returns the notes of the session with this row id, oldest first.
pub fn of_session(connection: &Connection, session: i64) -> Result<Vec<Note>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM notes n JOIN sessions s ON s.id = n.session_id WHERE n.session_id = :session AND n.deleted_at IS NULL
            ORDER BY n.id"
    );
    connection.all(&sql, args! {session}, note)
}

/// Returns whether the note with this uid was deleted.
pub fn is_deleted(connection: &Connection, uid: &str) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM notes WHERE uid = :uid AND deleted_at IS NOT NULL) AS found",
        args! {uid},
        |row| row.get("found"),
    )
}

/// Counts the notes of a chain.
pub fn chain_length(connection: &Connection, app: &str, topic: &str) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM notes WHERE app = :app AND topic = :topic AND deleted_at IS NULL",
        args! {app, topic},
        |row| row.get("count"),
    )
}

/// Deletes a note by id or uid, and erases its content. Returns the note as it was before, or `None` if there is no
/// such note.
pub fn delete(connection: &Connection, id: Option<i64>, uid: Option<&str>) -> Result<Option<Note>> {
    let found = match (id, uid) {
        (Some(id), _) => Some(id),
        (None, Some(uid)) => {
            connection.first("SELECT id FROM notes WHERE uid = :uid", args! {uid}, |row| row.get::<_, i64>("id"))?
        }
        (None, None) => None,
    };
    let Some(note) = found.map(|id| one(connection, id)).transpose()?.flatten() else { return Ok(None) };
    let id = note.id;
    connection.run("DELETE FROM note_index WHERE rowid = :rowid", args! {rowid: id})?;
    connection.run(
        "UPDATE notes SET content = '', deleted_at = :now, updated_at = :now WHERE id = :id",
        args! {id, now: now_ms()},
    )?;
    Ok(Some(note))
}

/// Rebuilds a note's entry in the search index.
pub fn index_again(connection: &Connection, uid: &str) -> Result<()> {
    let found = connection.first(
        "SELECT id, app, topic, content, deleted_at IS NULL AS alive FROM notes WHERE uid = :uid",
        args! {uid},
        |row| {
            let text = |name: &str| row.get::<_, String>(name);
            Ok((row.get::<_, i64>("id")?, text("app")?, text("topic")?, text("content")?, row.get::<_, bool>("alive")?))
        },
    )?;
    let Some((id, app, topic, content, alive)) = found else { return Ok(()) };
    connection.run("DELETE FROM note_index WHERE rowid = :rowid", args! {rowid: id})?;
    if alive {
        connection.run(
            "INSERT INTO note_index (rowid, tokens) VALUES (:rowid, :tokens)",
            args! {rowid: id, tokens: tokens(&app, &topic, &content)},
        )?;
    }
    Ok(())
}

/// Merges up to `pages` pages of the search index, which removes the words of deleted notes. Returns whether there is
/// more to merge.
pub fn merge_index(connection: &Connection, pages: i64) -> Result<bool> {
    let before = connection.total_changes();
    connection
        .prepare_cached("INSERT INTO note_index (note_index, rank) VALUES ('merge', :pages)")?
        // A negative number merges down to a single segment.
        .execute(args! {pages: -pages})?;
    Ok(connection.total_changes() - before > 1)
}

/// Builds the SQL conditions for a filter.
fn conditions(filter: &Filter) -> Conditions {
    let topic = filter.topic.as_ref().filter(|t| !t.is_empty());
    Conditions::new("n.deleted_at IS NULL")
        .told("n", filter.reader)
        .given("n.app = :app", ":app", filter.app.clone())
        .given("n.topic >= :topic", ":topic", topic.cloned())
        .given("n.topic < :above", ":above", topic.map(|t| format!("{t}\u{10FFFF}")))
}

/// Returns the newest notes, starting at an offset.
pub fn newest(connection: &Connection, filter: &Filter, offset: usize, limit: usize) -> Result<Notes> {
    let page = Page::first(limit);
    let wanted = conditions(filter).value(":limit", page.reads()).value(":offset", as_i64(offset));
    let sql = format!(
        "SELECT {COLUMNS} FROM notes n JOIN sessions s ON s.id = n.session_id WHERE {}
         ORDER BY n.created_at DESC, n.id DESC LIMIT :limit OFFSET :offset",
        wanted.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut notes: Vec<Note> = statement.query_map(&*wanted.values(), note)?.collect::<rusqlite::Result<_>>()?;
    let next_cursor = page.cut(&mut notes, |_| as_i64(offset + limit));
    Ok(Notes { notes, matched: None, next_cursor })
}

fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Returns the newest notes that match a full-text expression, with their contents truncated to [`RANKED_CHARS`]
/// characters.
fn matching(connection: &Connection, expression: &str, filter: &Filter, limit: usize) -> Result<Vec<Note>> {
    let mut scoped = format!("({expression})");
    if let Some(app) = &filter.app {
        scoped = format!("\"{}\" AND {scoped}", text::whole(App, app));
    }
    if let Some((below, _)) = filter.topic.as_deref().and_then(|t| t.rsplit_once('/')) {
        scoped = format!("\"{}\" AND {scoped}", text::whole(TopicPath, below));
    }
    let wanted = conditions(filter).value(":expression", scoped).value(":limit", as_i64(limit));
    // CROSS JOIN makes SQLite read the index first, newest first, and stop at the limit.
    let columns = COLUMNS.replace("n.content", &format!("substr(n.content, 1, {RANKED_CHARS}) AS content"));
    let sql = format!(
        "SELECT {columns} FROM note_index x CROSS JOIN notes n ON n.id = x.rowid JOIN sessions s ON s.id = n.session_id
         WHERE note_index MATCH :expression AND {} ORDER BY x.rowid DESC LIMIT :limit",
        wanted.sql()
    );
    connection.all(&sql, &*wanted.values(), note)
}

/// Returns the notes that match a query best, starting at an offset. If no note contains all words of the query,
/// returns notes that contain some of them.
pub fn search(connection: &Connection, query: &Query, filter: &Filter, offset: usize, limit: usize) -> Result<Notes> {
    let mut found = matching(connection, &query.all_of_kind(Topic), filter, CANDIDATES)?;
    found.extend(matching(connection, &query.all(), filter, CANDIDATES)?);
    let mut matched = TermMatch::All;
    if found.is_empty() && query.terms().count() > 1 {
        matched = TermMatch::Any;
        for expression in query.each().iter().take(MAX_TERMS) {
            found.extend(matching(connection, expression, filter, CANDIDATES / 4)?);
        }
    }
    let terms: Vec<&str> = query.terms().collect();
    let mut seen = HashSet::new();
    let mut notes: Vec<Note> = found.into_iter().filter(|n| seen.insert(n.id)).collect();
    for note in &mut notes {
        note.score = Some(score(note, &terms));
    }
    notes.sort_by(|a, b| b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)).then(b.id.cmp(&a.id)));
    let more = notes.len() > offset + limit;
    let mut notes: Vec<Note> = notes.into_iter().skip(offset).take(limit).collect();
    for note in &mut notes {
        note.snippet = text::snippet(&note.content, &terms, SNIPPET_CHARS);
        if let Some(whole) = one(connection, note.id)? {
            note.content = whole.content;
        }
    }
    Ok(Notes { notes, matched: Some(matched), next_cursor: more.then(|| as_i64(offset + limit)) })
}

/// Returns how well a note matches the query words, from 0 to 1. A whole word counts more than part of a word, and the
/// topic more than the content.
fn score(note: &Note, terms: &[&str]) -> f64 {
    let (topic, content) = (text::fold(&note.topic), text::fold(&note.content));
    let place = |folded: &str, term: &str, whole: f64, part: f64| {
        let mut best = 0.0_f64;
        for (at, _) in folded.match_indices(term) {
            let before = folded[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let after = folded[at + term.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
            best = best.max(if before && after { whole } else { part });
            if best >= whole {
                break;
            }
        }
        best
    };
    let (topic_joined, content_joined) = (text::joined(&topic), text::joined(&content));
    let of = |term: &&str| {
        let topic = place(&topic, term, 1.0, 0.8).max(place(&topic_joined, term, 0.9, 0.7));
        let content = place(&content, term, 0.7, 0.5).max(place(&content_joined, term, 0.6, 0.4));
        // A word in both the topic and the content gets its full topic score. A word in the topic alone scores 10 %
        // less.
        if topic > 0.0 && content > 0.0 { topic } else { (topic * 0.9).max(content) }
    };
    let sum: f64 = terms.iter().map(of).sum();
    let score = sum / as_i64(terms.len().max(1)) as f64;
    (score * 1000.0).round() / 1000.0
}

/// Returns notes with similar content that are visible to a reader and are about the same app or no app.
pub fn similar(connection: &Connection, app: &str, content: &str, reader: Reader) -> Result<Vec<SimilarNote>> {
    let own: HashSet<String> = text::words(cut::head(content, RANKED_CHARS)).into_iter().collect();
    let mut probes: Vec<&String> = own.iter().filter(|w| w.chars().count() > 1).collect();
    // Long words come first, because they are rare. Equally long words are sorted, so that the order does not depend on
    // the hash set.
    probes.sort_by_key(|w| (std::cmp::Reverse(w.chars().count()), w.as_str()));
    let mut found: HashMap<i64, Note> = HashMap::new();
    for word in probes.into_iter().take(PROBES) {
        for app in [Some(app), Some("")].into_iter().take(if app.is_empty() { 1 } else { 2 }) {
            let filter = Filter { app: app.map(str::to_owned), topic: None, reader };
            let notes = matching(connection, &format!("\"{word}\""), &filter, NOTES_FOR_PROBE)?;
            found.extend(notes.into_iter().map(|n| (n.id, n)));
        }
    }
    let mut similar: Vec<SimilarNote> = found
        .into_values()
        .map(|note| {
            let words: HashSet<String> = text::words(cut::head(&note.content, RANKED_CHARS)).into_iter().collect();
            let (both, all) = (own.intersection(&words).count(), own.union(&words).count());
            let similarity = (as_i64(both) as f64 / as_i64(all.max(1)) as f64 * 100.0).round() / 100.0;
            SimilarNote { similarity, note }
        })
        .filter(|s| s.similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(b.note.id.cmp(&a.note.id)));
    similar.truncate(MAX_SIMILAR);
    Ok(similar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(topic: &str, content: &str, terms: &[&str]) -> f64 {
        let note = Note {
            id: 1,
            uid: "u".into(),
            origin: None,
            session: "s".into(),
            app: None,
            topic: topic.into(),
            content: content.into(),
            position: 1,
            scope: None,
            created_at: 1,
            score: None,
            snippet: None,
        };
        score(&note, terms)
    }

    #[test]
    fn whole_words_and_topics_count_most() {
        let both = scored("wifi", "how to join the wifi", &["wifi"]);
        let topic = scored("wifi", "how to join", &["wifi"]);
        let content = scored("network", "the wifi password", &["wifi"]);
        let part = scored("network", "the wifis", &["wifi"]);
        assert_eq!((both, topic, content, part), (1.0, 0.9, 0.7, 0.5));
        assert_eq!(scored("network", "nothing", &["wifi"]), 0.0);
        // Each term counts the same.
        assert_eq!(scored("wifi", "wifi", &["wifi", "zork"]), 0.5);
        // A compound word is found by its joined form.
        assert_eq!(scored("network", "the Wi-Fi password", &["wifi"]), 0.6);
    }
}
