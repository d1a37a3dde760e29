//! Derives entries from their rows: their tokens, their built-in vectors, their tags, and the columns by which searches
//! filter.

use afd_proto::conversation::Role;
use afd_proto::recall::EntryType;
use rusqlite::Connection;

use super::entries::{Source, next_version};
use super::{Described, properties, text_index, vectors};
use afd_base::text::{self, tokens};
use afd_store::{Result, Sql as _, args};

/// Value of [`Described::source`] for entries that come from the user.
const USER: &str = "user";

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
    let tokens = searched.as_ref().map(|(d, _)| format!("{tokens} {}", properties::of(d)));
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
