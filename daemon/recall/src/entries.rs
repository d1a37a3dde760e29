//! Entries: the row that each entry represents, and the fields that searches filter by.

use std::collections::HashSet;

use afd_proto::Word as _;
use afd_proto::conversation::Role;
use afd_proto::recall::EntryType;
use rusqlite::{Connection, Row};

use super::{Described, Turn, text_index, vectors};
use afd_base::model::embed::BUILTIN;
use afd_base::text::{self, tokens};
use afd_store::{Result, Sql as _, args, now_ms, read, word};

/// Value of [`Described::source`] for entries that come from the user.
const USER: &str = "user";

/// The row of another table that an entry represents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Row id of the entry.
    pub id: i64,
    /// Uid of the row that the entry represents.
    pub uid: String,
    /// Kind of row that the entry represents, as named by the database triggers.
    pub kind: String,
    /// Row id of the row that the entry represents.
    pub row: i64,
    /// Whether the row is deleted.
    pub gone: bool,
    /// Whether the entry was archived.
    pub archived: bool,
    /// Number of searches that returned the entry, and time of the last one, in Unix milliseconds.
    pub used: (i64, Option<i64>),
}

/// Name of the table that holds the entries.
pub const TABLE: &str = "entries";
/// Query that returns a row if any entry is due.
pub const ARE_DUE: &str = "SELECT 1 FROM entries WHERE due = 1 LIMIT 1";

const SOURCE: &str =
    "SELECT id, uid, kind, row_id, gone, archived_at IS NOT NULL AS archived, use_count, used_at FROM entries";

fn source(row: &Row<'_>) -> rusqlite::Result<Source> {
    Ok(read!(row => Source {
        id, uid, kind, gone, archived,
        row: row.get("row_id")?,
        used: (row.get("use_count")?, row.get("used_at")?),
    }))
}

/// Returns up to `limit` due entries, whose rows have changed, newest first.
pub fn due(connection: &Connection, limit: i64) -> Result<Vec<Source>> {
    connection.all(&format!("{SOURCE} WHERE due = 1 ORDER BY id DESC LIMIT :limit"), args! {limit}, source)
}

/// Returns an entry and the row that it represents, given the row id of the entry.
pub fn source_of(connection: &Connection, entry: i64) -> Result<Option<Source>> {
    connection.first(&format!("{SOURCE} WHERE id = :id"), args! {id: entry}, source)
}

/// Returns the entry that represents the row with this uid, unless the row was deleted.
pub fn find(connection: &Connection, uid: &str) -> Result<Option<Source>> {
    connection.first(&format!("{SOURCE} WHERE uid = :uid AND gone = 0"), args! {uid}, source)
}

/// Returns the row id of the entry with this uid, even if the row that it represents was deleted.
pub fn id_of(connection: &Connection, uid: &str) -> Result<Option<i64>> {
    connection.first("SELECT id FROM entries WHERE uid = :uid", args! {uid}, |row| row.get("id"))
}

/// Returns the version of the most recent change to any entry, or 0 if there are no entries.
pub fn newest_version(connection: &Connection) -> Result<i64> {
    connection.one("SELECT coalesce(max(version), 0) AS newest FROM entries", [], |row| row.get("newest"))
}

fn next_version(connection: &Connection) -> Result<i64> {
    Ok(newest_version(connection)? + 1)
}

/// Derives an entry from its row. An entry without a description, or whose text contains no words, is removed from the
/// index.
pub fn settle(connection: &Connection, source: &Source, described: Option<&Described>) -> Result<()> {
    let searched = described.filter(|_| !source.gone).map(|d| (d, d.searched()));
    let tokens = searched.as_ref().map_or_else(String::new, |(d, text)| tokens_of(d, text));
    let searched = searched.filter(|_| !tokens.is_empty());
    let words = tokens.split(' ').count();
    let content = searched.as_ref().map_or(0, |(_, text)| text::hash(text));
    let before: i64 = connection
        .one("SELECT content FROM entries WHERE id = :id", args! {id: source.id}, |row| row.get("content"))?;
    let tokens = searched.as_ref().map(|(d, _)| format!("{tokens} {}", properties(d)));
    if tokens != text_index::tokens_of(connection, source.id)? {
        text_index::remove(connection, source.id)?;
        tokens.map_or(Ok(()), |tokens| text_index::insert(connection, source.id, &tokens))?;
    }
    if content != before {
        vectors::remove(connection, source.id)?;
    }
    if let Some((_, text)) = &searched {
        vectors::put_builtin(connection, source.id, content, text)?;
    }
    write_tags(connection, source.id, searched.as_ref().map_or(&[], |(d, _)| &d.tags))?;
    let Some((d, searched_text)) = searched else { return withdraw(connection, source.id) };
    connection.run(
        "UPDATE entries SET due = 0, version = :version, archived_at = CASE WHEN :alive THEN NULL ELSE archived_at END, app = :app, site = :site, session_id = :session_id, private = :private,
                type = :type, confidence = :confidence, at = :at, expires_at = :expires_at, content = :content, words = :words, gist = :gist,
                by_user = :by_user, thread = :thread, position = :position, role = :role
             WHERE id = :id",
        args! {
            id: source.id,
            version: next_version(connection)?,
            app: d.app,
            site: d.site,
            session_id: d.session,
            private: d.private,
            type: d.kind.word(),
            // A session that is in progress again is no longer archived.
            alive: d.is_current,
            confidence: d.confidence,
            at: d.at,
            expires_at: d.expires_at,
            content,
            words: i64::try_from(words).unwrap_or(i64::MAX),
            gist: text::gist(&searched_text),
            by_user: d.source == USER,
            thread: d.turn.map(|turn| turn.thread),
            position: d.turn.map(|turn| turn.position),
            role: d.role.map(Role::word),
        },
    )?;
    Ok(())
}

/// Returns the tokens of a row's text. A title says what the row is about, so its words count twice. That of a message
/// only says who speaks.
fn tokens_of(d: &Described, text: &str) -> String {
    let tokens = tokens::of_text(text);
    if d.title.is_empty() || d.kind == EntryType::Message {
        return tokens;
    }
    format!("{} {tokens}", tokens::of_text(&d.title)).trim().to_owned()
}

/// Returns the tokens for the properties that a search can be limited to.
fn properties(d: &Described) -> String {
    let seen = (!d.private).then(seen_by_all);
    let session = d.session.map(of_session);
    let thread = d.turn.map(|turn| of_thread(turn.thread));
    let mut all: Vec<String> = [Some(of_type(d.kind)), seen, session, thread].into_iter().flatten().collect();
    if d.kind == EntryType::Note {
        all.push(about_app(&d.app));
        all.extend(d.title.match_indices('/').map(|(end, _)| below_topic(&d.title[..end])));
    }
    all.join(" ")
}

/// Returns the hash of a text as hexadecimal digits, because the value of a property may have no minus sign.
fn hashed(text: &str) -> String {
    format!("{:x}", text::hash(text))
}

/// Returns the token of the notes about an app; about none if the name is empty.
pub fn about_app(app: &str) -> String {
    tokens::property('a', &hashed(app))
}

/// Returns the token of the notes whose topics are below a path.
pub fn below_topic(path: &str) -> String {
    tokens::property('p', &hashed(path))
}

/// Returns the token of the entries that every session may see.
pub fn seen_by_all() -> String {
    tokens::property('v', "all")
}

/// Returns the token of the entries of a type.
pub fn of_type(kind: EntryType) -> String {
    tokens::property('t', kind.word())
}

/// Returns the token of the entries that a session recorded.
pub fn of_session(session: i64) -> String {
    tokens::property('s', &session.to_string())
}

/// Returns the token of the messages of a conversation.
pub fn of_thread(thread: i64) -> String {
    tokens::property('c', &thread.to_string())
}

/// Removes an entry from the index because it could not be derived. The next attempt follows when its row changes.
pub fn give_up(connection: &Connection, entry: i64) -> Result<()> {
    text_index::remove(connection, entry)?;
    vectors::remove(connection, entry)?;
    withdraw(connection, entry)
}

/// Clears an entry's derived columns.
fn withdraw(connection: &Connection, entry: i64) -> Result<()> {
    connection.run(
        "UPDATE entries SET due = 0, version = :version, app = '', site = '', session_id = NULL, type = '', content = 0, words = 0,
                gist = 0, by_user = 0, thread = NULL, position = NULL, role = NULL WHERE id = :id",
        args! {id: entry, version: next_version(connection)?},
    )?;
    Ok(())
}

fn write_tags(connection: &Connection, entry: i64, tags: &[String]) -> Result<()> {
    connection.run("DELETE FROM entry_tags WHERE entry_id = :entry_id", args! {entry_id: entry})?;
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO entry_tags (tag, entry_id) VALUES (:tag, :entry_id)")?;
    for tag in tags {
        insert.execute(args! {tag: text::fold(tag), entry_id: entry})?;
    }
    Ok(())
}

/// Returns the number of entries that are due, at most `most`.
pub fn count_due(connection: &Connection, most: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM (SELECT 1 FROM entries WHERE due = 1 LIMIT :most)",
        args! {most},
        |row| row.get("count"),
    )
}

/// Returns the row ids of the entries with all of the given tags.
pub fn tagged(connection: &Connection, tags: &[String]) -> Result<HashSet<i64>> {
    let mut with_all: Option<HashSet<i64>> = None;
    for tag in tags {
        let with: Vec<i64> = connection.all(
            "SELECT entry_id FROM entry_tags WHERE tag = :tag",
            args! {tag: text::fold(tag)},
            |row| row.get("entry_id"),
        )?;
        let mut with: HashSet<i64> = with.into_iter().collect();
        with.retain(|id| with_all.as_ref().is_none_or(|others| others.contains(id)));
        with_all = Some(with);
    }
    Ok(with_all.unwrap_or_default())
}

/// Gives an entry a new version, so that indexes read it again, for example after a vector of another model was stored
/// for it.
pub fn announce(connection: &Connection, entry: i64) -> Result<()> {
    connection.run(
        "UPDATE entries SET version = :version WHERE id = :id",
        args! {id: entry, version: next_version(connection)?},
    )?;
    Ok(())
}

/// Records that a search returned these entries. Their stale vectors will be computed again.
pub fn used(connection: &Connection, entries: &[i64]) -> Result<()> {
    let mut update = connection
        .prepare_cached("UPDATE entries SET use_count = use_count + 1, used_at = :now WHERE id = :id AND gone = 0")?;
    let now = now_ms();
    for id in entries {
        update.execute(args! {id, now})?;
        if vectors::renew(connection, *id)? {
            announce(connection, *id)?;
        }
    }
    Ok(())
}

/// Archives the entry that represents a row, or restores it from the archive. Returns the row id of the entry if it was
/// changed.
pub fn archive(connection: &Connection, kind: &str, row: i64, archived: bool) -> Result<Option<i64>> {
    let changed: Option<i64> = connection.first(
        "UPDATE entries SET archived_at = CASE WHEN :archived THEN :now END
             WHERE kind = :kind AND row_id = :row AND gone = 0 AND due = 0 AND words > 0 AND (archived_at IS NOT NULL) <> :archived
             RETURNING id",
        args! {now: now_ms(), kind, row, archived},
        |row| row.get("id"),
    )?;
    changed.map_or(Ok(()), |id| announce(connection, id))?;
    Ok(changed)
}

/// Returns the row ids of the rows of a kind whose entries are archived.
pub fn archived(connection: &Connection, kind: &str) -> Result<Vec<i64>> {
    connection.all(
        "SELECT row_id FROM entries WHERE kind = :kind AND archived_at IS NOT NULL AND gone = 0",
        args! {kind},
        |row| row.get("row_id"),
    )
}

/// Returns whether a session has recorded anything since a given time.
pub fn recorded_since(connection: &Connection, session: i64, since: i64) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM entries WHERE session_id = :session AND gone = 0 AND kind <> 'session' AND at >= :since) AS found",
        args! {session, since},
        |row| row.get("found"),
    )
}

/// Returns the row ids of the entries of a kind, newest first, each with the row id of the row that the entry
/// represents.
pub fn of_kind(connection: &Connection, kind: &str) -> Result<Vec<(i64, i64)>> {
    connection.all(
        "SELECT id, row_id FROM entries WHERE kind = :kind AND gone = 0 AND words > 0 ORDER BY row_id DESC",
        args! {kind},
        |row| Ok((row.get("id")?, row.get("row_id")?)),
    )
}

/// Returns groups of rows of a kind whose entries have the same wording (see [`text::gist`]), older rows first.
pub fn repeated(connection: &Connection, kind: &str) -> Result<Vec<Vec<i64>>> {
    let rows: Vec<(i64, i64)> = connection.all(
        "SELECT gist, row_id FROM entries WHERE kind = :kind AND gone = 0 AND due = 0 AND gist IN (SELECT gist FROM entries
            WHERE kind = :kind AND gone = 0 AND due = 0 AND gist <> 0 GROUP BY gist HAVING count(*) > 1) ORDER BY gist, row_id",
        args! {kind},
        |row| {
            Ok((row.get::<_, i64>("gist")?, row.get::<_, i64>("row_id")?))
        },
    )?;
    Ok(rows.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|(_, row)| *row).collect()).collect())
}

/// An entry of the in-memory index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Row id of the entry.
    pub id: i64,
    /// Version of the last change to the entry.
    pub version: i64,
    /// Fields to filter by; `None` if searches do not return the entry.
    pub found_by: Option<Filtered>,
}

/// Fields that a search filters and ranks by.
#[derive(Debug, Clone, PartialEq)]
pub struct Filtered {
    /// Type of the entry.
    pub kind: EntryType,
    /// Hash of the app that the entry is about; 0 for none.
    pub app: u64,
    /// Hash of the site that the entry is about; 0 for none.
    pub site: u64,
    /// Row id of the session that recorded the entry; 0 for none.
    pub session: i64,
    /// Whether only the session that recorded the entry can see it.
    pub private: bool,
    /// Whether the entry was archived.
    pub archived: bool,
    /// Confidence of the entry, from 0 to 1.
    pub confidence: f32,
    /// Time when the entry was recorded, in Unix milliseconds.
    pub at: i64,
    /// Expiry time of the entry, in Unix milliseconds; `i64::MAX` if the entry does not expire.
    pub expires_at: i64,
    /// Number of words in the text of the entry.
    pub words: u32,
    /// Hash of the wording of the entry (see [`text::gist`]).
    pub gist: i64,
    /// Whether the entry comes from the user.
    pub by_user: bool,
    /// Place of a message in its conversation.
    pub turn: Option<Turn>,
    /// Author of a message.
    pub role: Option<Role>,
}

/// The fields of [`Filtered`] that exclude most entries. The index has them side by side, because a search for the
/// nearest vectors looks at all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// Row id of the session that recorded the entry; 0 for none.
    pub session: i64,
    /// Type of the entry.
    pub kind: EntryType,
    /// Whether only the session that recorded the entry can see it.
    pub private: bool,
}

impl Filtered {
    /// Returns the fields that exclude most entries.
    pub fn glance(&self) -> Glance {
        Glance { session: self.session, kind: self.kind, private: self.private }
    }
}

/// Returns the hash by which names are compared; 0 for an empty name.
pub fn name_hash(name: &str) -> u64 {
    if name.is_empty() { 0 } else { text::hash(&name.to_lowercase()).cast_unsigned() | 1 }
}

/// Returns up to `limit` entries that changed after a version, in the order of their versions.
pub fn changed(connection: &Connection, after: i64, limit: i64) -> Result<Vec<Entry>> {
    connection.all(
        "SELECT id, version, type, app, site, session_id, private, archived_at IS NOT NULL AS archived, confidence, at, expires_at, words, gist,
            by_user, thread, position, role
         FROM entries WHERE version > :after ORDER BY version LIMIT :limit",
        args! {after, limit},
        |row| {
            let words: u32 = row.get("words")?;
            let found_by = if words == 0 {
                None
            } else {
                Some(read!(row => Filtered {
                    private, archived, at, words, gist, by_user,
                    turn: Turn::of(row.get("thread")?, row.get("position")?),
                    role: row.get::<_, Option<String>>("role")?.and_then(|role| Role::of(&role)),
                    kind: word(row, "type")?,
                    app: name_hash(row.get_ref("app")?.as_str().unwrap_or_default()),
                    site: name_hash(row.get_ref("site")?.as_str().unwrap_or_default()),
                    session: row.get::<_, Option<i64>>("session_id")?.unwrap_or(0),
                    confidence: row.get::<_, f64>("confidence")? as f32,
                    expires_at: row.get::<_, Option<i64>>("expires_at")?.unwrap_or(i64::MAX),
                }))
            };
            Ok(Entry { id: row.get("id")?, version: row.get("version")?, found_by })
        },
    )
}

/// Returns the number of searchable entries by type, and the number of due entries.
pub fn counts(connection: &Connection) -> Result<(Vec<(String, i64)>, i64)> {
    let mut statement = connection.prepare_cached(
        "SELECT type, count(*) AS count FROM entries WHERE gone = 0 AND words > 0 GROUP BY type ORDER BY type",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get("type")?, row.get("count")?)))?;
    let due = connection.one("SELECT count(*) AS count FROM entries WHERE due = 1", [], |row| row.get("count"))?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, due))
}

/// Returns the number of searchable entries that are private to a session.
pub fn count_private(connection: &Connection) -> Result<i64> {
    connection.one("SELECT count(*) AS count FROM entries WHERE gone = 0 AND words > 0 AND private = 1", [], |row| {
        row.get("count")
    })
}

/// Checks up to `limit` entries whose row ids are greater than `after`: their tokens, their vectors from the built-in
/// model, and the sketches of all their vectors. Returns the row ids of the last checked entry and of the damaged
/// entries, or `None` if there are no more entries.
pub fn check(connection: &Connection, after: i64, limit: i64) -> Result<Option<(i64, Vec<i64>)>> {
    let builtin = vectors::find_model(connection, BUILTIN)?.map_or(0, |model| model.id);
    let mut statement = connection.prepare_cached(
        "SELECT id, words FROM entries WHERE id > :after AND gone = 0 AND due = 0 AND content <> 0 ORDER BY id LIMIT :limit",
    )?;
    let rows =
        statement.query_map(args! {after, limit}, |row| Ok((row.get::<_, i64>("id")?, row.get::<_, i64>("words")?)))?;
    let (mut last, mut damaged) = (None, Vec::new());
    for row in rows {
        let (id, words) = row?;
        last = Some(id);
        if words == 0 || !text_index::is_there(connection, id)? || !vectors::are_sound(connection, id, builtin)? {
            damaged.push(id);
        }
    }
    Ok(last.map(|last| (last, damaged)))
}

/// Marks damaged entries as due, so that they are derived again from their rows.
pub fn derive_again(connection: &Connection, entries: &[i64]) -> Result<()> {
    for id in entries {
        if text_index::is_there(connection, *id)? {
            text_index::remove(connection, *id)?;
        } else {
            // Tokens that the index lacks must not be taken out of it.
            text_index::forget(connection, *id)?;
        }
        connection.run("UPDATE entries SET due = 1, content = 0 WHERE id = :id", args! {id})?;
    }
    Ok(())
}

/// Kinds of rows that have entries, and their tables.
const TABLES: [(&str, &str); 9] = [
    ("note", "notes"),
    ("bug", "bugs"),
    ("result", "test_results"),
    ("page", "page_models"),
    ("pattern", "patterns"),
    ("session", "sessions"),
    ("state", "states"),
    ("memory", "memories"),
    ("message", "messages"),
];

/// Returns whether any row lacks the entry that a database trigger should have inserted for it.
pub fn some_are_lost(connection: &Connection) -> Result<bool> {
    for (kind, table) in TABLES {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} t WHERE {LOST}) AS lost");
        if connection.one(&sql, args! {kind}, |row| row.get("lost"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

const LOST: &str = "NOT EXISTS (SELECT 1 FROM entries e WHERE e.kind = :kind AND e.row_id = t.id)";

/// Inserts the entries that rows lack. Returns the number of inserted entries.
pub fn restore(connection: &Connection) -> Result<usize> {
    let mut restored = 0;
    for (kind, table) in TABLES {
        let sql = format!(
            "INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, :kind, id, deleted_at IS NOT NULL FROM {table} t WHERE {LOST}"
        );
        restored += connection.run(&sql, args! {kind})?;
    }
    Ok(restored)
}
