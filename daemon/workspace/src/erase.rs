//! Erasing a session: its messages and all data derived from them. Its device history is knowledge about the app and is
//! kept.

use std::collections::BTreeSet;

use afd_proto::conversation::RecordedMessage;
use rusqlite::Connection;

use super::{Session, patterns};
use afd_base::text;
use afd_conversation::{self as conversation, Conversation, erase, messages, prepared};
use afd_store::{Result, Sql as _, args, now_ms};

/// What was erased with a session or a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of erased messages.
    pub messages: i64,
    /// Number of erased statements, summaries and patterns.
    pub derived: i64,
    /// Number of erased tasks.
    pub tasks: i64,
    /// Number of erased bugs and test results.
    pub findings: i64,
    /// Row ids of the artifacts of images in the erased messages.
    pub artifacts: Vec<i64>,
}

/// Erases a message with all data derived from it, including patterns. Returns `None` if there is no such message.
pub fn message(
    connection: &Connection,
    origin: &str,
    conversation: &mut Conversation,
    position: i64,
) -> Result<Option<erase::Erased>> {
    let Some(recorded) = messages::between(connection, conversation.id, position - 1, position)?.pop() else {
        return Ok(None);
    };
    let mut patterns: BTreeSet<i64> = patterns_of(connection, conversation, position)?.into_iter().collect();
    patterns.extend(patterns_about(connection, conversation.session, &recorded)?);
    let Some(mut erased) = erase::message(connection, origin, conversation, position)? else { return Ok(None) };
    for pattern in patterns {
        // The row of the pattern stays, so that an import from another copy does not restore it.
        erased.derived += i64::from(patterns::delete(connection, pattern)?.is_some());
    }
    Ok(Some(erased))
}

/// Returns the row ids of a session's patterns whose text equals a statement extracted from the message at `position`.
fn patterns_of(connection: &Connection, conversation: &Conversation, position: i64) -> Result<Vec<i64>> {
    connection.all(
        "SELECT id FROM patterns WHERE session_id = :session AND deleted_at IS NULL AND text IN
            (SELECT text FROM message_facts WHERE conversation_id = :conversation AND (position = :position OR again = :position))",
        args! {session: conversation.session, conversation: conversation.id, position},
        |row| row.get("id"),
    )
}

/// Returns the row ids of a session's private patterns that a language model may have derived from a message: those
/// that were created after the message and share a number or at least half of their words with it.
fn patterns_about(connection: &Connection, session: i64, recorded: &RecordedMessage) -> Result<Vec<i64>> {
    let telling = |text: &str| -> BTreeSet<String> {
        text::words(text).into_iter().filter(|word| !text::is_stop(word)).collect()
    };
    let said = telling(&prepared::searched_text(&recorded.message));
    let mut statement = connection.prepare_cached(
        "SELECT id, text FROM patterns WHERE session_id = :session_id AND scope = 'session' AND created_at >= :at AND deleted_at IS NULL",
    )?;
    let rows = statement.query_map(args! {session_id: session, at: recorded.at}, |row| {
        Ok((row.get::<_, i64>("id")?, row.get::<_, String>("text")?))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (id, pattern) = row?;
        let words = telling(&pattern);
        let shared: Vec<&String> = words.intersection(&said).collect();
        let figure = shared.iter().any(|word| word.len() > 2 && word.contains(|c: char| c.is_ascii_digit()));
        if figure || !shared.is_empty() && shared.len() * 2 >= words.len() {
            found.push(id);
        }
    }
    Ok(found)
}

/// Deletes a session's bugs and test results, and erases their content. If `all` is false, deletes only the private
/// ones. The rows stay, so that their ids are not reused. Returns the number of deleted findings.
pub fn delete_findings(connection: &Connection, session: i64, all: bool) -> Result<i64> {
    let run = |sql: &str| -> Result<i64> {
        let done = connection.run(sql, args! {id: session, all, now: now_ms()})?;
        Ok(i64::try_from(done).unwrap_or(i64::MAX))
    };
    let bugs =
        run("UPDATE bugs SET title = '', description = NULL, steps = '[]', expected = NULL, actual = NULL, page = NULL, state = NULL,
        screenshot = NULL, resolution = NULL, deleted_at = :now, updated_at = :now
        WHERE session_id = :id AND deleted_at IS NULL AND (:all OR scope = 'session')")?;
    let results = run("UPDATE test_results SET name = '', summary = NULL, page = NULL, state = NULL, evidence = NULL, deleted_at = :now,
        updated_at = :now WHERE session_id = :id AND deleted_at IS NULL AND (:all OR scope = 'session')")?;
    Ok(bugs + results)
}

/// Returns the number of a session's bugs and test results.
pub fn findings(connection: &Connection, session: i64) -> Result<i64> {
    let sql = "SELECT (SELECT count(*) FROM bugs WHERE session_id = :id AND deleted_at IS NULL)
        + (SELECT count(*) FROM test_results WHERE session_id = :id AND deleted_at IS NULL) AS count";
    connection.one(sql, args! {id: session}, |row| row.get("count"))
}

/// Erases a session. The row stays because the device history refers to it, but is renamed to mark the session as
/// deleted. Private findings are always erased; if `findings` is set, so are the others.
pub fn session(connection: &Connection, session: &Session, findings: bool) -> Result<Erased> {
    let mut erased = Erased::default();
    let id = session.id;
    let run = |sql: &str| -> Result<i64> { Ok(i64::try_from(connection.run(sql, args! {id})?).unwrap_or(i64::MAX)) };
    let mut shown = Vec::new();
    for own in conversation::all(connection, id)? {
        shown.extend(messages::shown(connection, own.id)?);
        erased.derived += run("DELETE FROM patterns WHERE session_id = :id AND (scope = 'session' OR text IN
            (SELECT f.text FROM message_facts f JOIN conversations c ON c.id = f.conversation_id WHERE c.session_id = :id))")?;
        let (gone, derived) = erase::conversation(connection, own.id)?;
        erased.messages += gone;
        erased.derived += derived;
    }
    erased.artifacts = erase::pictures(connection, id, &shown, None)?;
    erased.derived += run("DELETE FROM patterns WHERE session_id = :id AND scope = 'session'")?;
    erased.tasks = run("DELETE FROM tasks WHERE session_id = :id")?;
    run("DELETE FROM tested_elements WHERE session_id = :id")?;
    erased.findings = self::delete_findings(connection, id, findings)?;
    connection.run(
        "UPDATE sessions SET name = :name, goal = NULL, app = NULL, directory = NULL, progress_dir = NULL, next_steps = '[]',
                blockers = '[]', summary = NULL, elsewhere = NULL, started_at = NULL, ended_at = NULL, deleted_at = :now, updated_at = :now
             WHERE id = :id",
        args! {id, name: name_after(session), now: now_ms()},
    )?;
    Ok(erased)
}

/// Returns whether a name has the form that is reserved for erased sessions.
pub fn is_name_of_erased(name: &str) -> bool {
    name.ends_with(')') && name.contains(" (deleted, ")
}

/// Returns the name that a session gets when it is erased. Its remaining findings show this name.
pub fn name_after(session: &Session) -> String {
    let tail = session.uid.get(session.uid.len().saturating_sub(8)..).unwrap_or(&session.uid);
    format!("{} (deleted, {tail})", session.name)
}
