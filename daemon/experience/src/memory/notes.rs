//! Notes that agents saved, grouped into chains by app and topic.

use std::collections::HashSet;

use afd_proto::notes::{Note, Notes, SimilarNote};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, Row};

use afd_base::text::{self, cut};
use afd_store::{Conditions, Page, Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, read, word};

/// Maximum size of a note, in bytes.
pub const MAX_CONTENT: usize = 64 << 10;
/// Maximum length of a topic, in characters.
pub const MAX_TOPIC: usize = 200;

/// Number of characters, from the beginning of a note, by which notes are compared.
const COMPARED_CHARS: usize = 8192;
/// An existing note is reported as similar to a new one if the Jaccard index of their words is at least this.
const MIN_SIMILARITY: f64 = 0.5;
/// Maximum number of similar notes that are reported.
const MAX_SIMILAR: usize = 3;

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

/// Appends a note to its chain. `session` is the row id of its session. Returns `None` if a note with this uid already
/// exists.
pub fn save(connection: &Connection, origin: &str, session: i64, new: &NewNote) -> Result<Option<Note>> {
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
    connection.run(
        "UPDATE notes SET content = '', deleted_at = :now, updated_at = :now WHERE id = :id",
        args! {id, now: now_ms()},
    )?;
    Ok(Some(note))
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
    Ok(Notes { notes, matched: None, next_cursor, missing: Vec::new() })
}

fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Filter {
    /// Returns whether a note passes the filter. Whether the reader may see it is not checked.
    pub fn allows(&self, note: &Note) -> bool {
        let app = note.app.as_deref().unwrap_or_default();
        self.app.as_deref().is_none_or(|wanted| wanted == app)
            && self.topic.as_deref().is_none_or(|prefix| note.topic.starts_with(prefix))
    }
}

/// Returns which of the notes say nearly the same as `content`, most similar first.
pub fn similar(content: &str, candidates: Vec<Note>) -> Vec<SimilarNote> {
    let words_of = |text: &str| text::words(cut::head(text, COMPARED_CHARS)).into_iter().collect::<HashSet<String>>();
    let own = words_of(content);
    let mut similar: Vec<SimilarNote> = candidates
        .into_iter()
        .map(|note| {
            let words = words_of(&note.content);
            let (both, all) = (own.intersection(&words).count(), own.union(&words).count());
            let similarity = (as_i64(both) as f64 / as_i64(all.max(1)) as f64 * 100.0).round() / 100.0;
            SimilarNote { similarity, note }
        })
        .filter(|s| s.similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(b.note.id.cmp(&a.note.id)));
    similar.truncate(MAX_SIMILAR);
    similar
}
