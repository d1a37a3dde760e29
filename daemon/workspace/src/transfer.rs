//! Export and import of sessions, with their messages and findings, as records for another copy of the memory.

use afd_proto::conversation::Role;
use rusqlite::Connection;
use serde_json::Value;

use super::patterns;
use super::records::limits;
use afd_conversation::summaries;
use afd_store::exchange::{self, Kind, LoadError, Loaded, Loader, Record};
use afd_store::{Sql as _, args, now_ms};

const fn kind(name: &'static str, table: &'static str, natural: &'static [&'static str]) -> Kind {
    Kind { name, table, skipped: &[], natural }
}

/// Record kind for sessions, to which most other records refer. The directory columns are skipped, because they are
/// local to this machine.
pub const SESSION: Kind = Kind { skipped: &["directory", "progress_dir"], ..kind("session", "sessions", &[]) };

/// Record kinds other than [`SESSION`], in the order in which they are written: a record comes after the records that
/// it refers to.
pub const KINDS: [Kind; 9] = [
    kind("task", "tasks", &[]),
    kind("bug", "bugs", &[]),
    kind("result", "test_results", &[]),
    kind("tested", "tested_elements", &["session_id", "app", "page", "element"]),
    kind("conversation", "conversations", &["session_id", "name"]),
    Kind { skipped: &["indexed"], ..kind("message", "messages", &[]) },
    // The language model is only asked to improve summaries that this copy made.
    Kind { skipped: &["due_at", "attempts", "error"], ..kind("summary", "summaries", &[]) },
    kind("pattern", "patterns", &[]),
    kind("pageModel", "page_models", &["app", "page"]),
];

/// Imports a record.
///
/// # Errors
/// If the record is invalid or conflicts with another row.
pub fn load(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> Result<Loaded, LoadError> {
    limits::check(kind.name, &record).map_err(LoadError::Invalid)?;
    // Data that was erased with a session is not imported again.
    let of_session =
        ["task", "tested", "conversation", "pattern"].contains(&kind.name) && is_deleted(connection, &record)?;
    if of_session {
        loader.leave_out(&record, None);
        return Ok(Loaded::Present);
    }
    if !loader.knows(connection, kind, &record)?
        && let Some(left_out) = loader.left_out(&record, "conversation")
    {
        return left_out;
    }
    if kind.name == "task" && !may_change(loader, text(&record, "session")) {
        return kept(connection, loader, kind, &record);
    }
    match kind.name {
        "session" => load_session(connection, loader, kind, record),
        "conversation" => load_conversation(connection, loader, kind, record),
        // A recorded message never changes, and a message that was deleted here stays deleted.
        "message" if loader.knows(connection, kind, &record)? => Ok(Loaded::Present),
        "message" if speaks_as_system(&record, loader.ours()) => {
            Err(LoadError::Taken("system messages of another memory are not imported".to_owned()))
        }
        "summary" if summaries::quotes_deleted(connection, &record)? => Ok(Loaded::Present),
        "task" => match loader.load(connection, kind, record.clone()) {
            Err(LoadError::Taken(_)) => {
                record.insert("status".to_owned(), Value::from("pending"));
                loader.load(connection, kind, record)
            }
            done => done,
        },
        "pattern" => {
            patterns::complete(&mut record);
            match loader.load(connection, kind, record) {
                Err(LoadError::Taken(_)) => Ok(Loaded::Present),
                done => done,
            }
        }
        _ => loader.load(connection, kind, record),
    }
}

/// Returns whether a message record has the role `system` and comes from another memory. `ours` has the uids of this
/// store and of the stores that it replaced.
pub fn speaks_as_system(record: &Record, ours: &[String]) -> bool {
    text(record, "role") == Role::System.word() && !ours.iter().any(|origin| origin == text(record, "origin"))
}

/// Returns whether imported records may change a session's goal, tasks, next steps and blockers: only if the session is
/// new here or the caller set `merge`.
fn may_change(loader: &Loader, session: &str) -> bool {
    loader.merges() || loader.chose(session)
}

/// Returns the result of importing a record that must not change an existing session: [`Loaded::Present`], or an error
/// if the record would change the session.
fn kept(connection: &Connection, loader: &Loader, kind: &Kind, record: &Record) -> Result<Loaded, LoadError> {
    if loader.is_news(connection, kind, record)? {
        return Err(LoadError::Taken(format!(
            "the session is here already, and its {} changes only with `merge`",
            if kind.name == "task" { "task" } else { "goal" }
        )));
    }
    Ok(Loaded::Present)
}

/// Returns whether the session that a record belongs to was deleted here.
fn is_deleted(connection: &Connection, record: &Record) -> Result<bool, LoadError> {
    let session = record.get("session").and_then(Value::as_str);
    let found = connection.first(
        "SELECT deleted_at IS NOT NULL AS deleted FROM sessions WHERE uid = :uid",
        args! {uid: session},
        |row| row.get("deleted"),
    )?;
    Ok(found.unwrap_or(false))
}

/// Imports a conversation. A conversation that is as long or longer here is left unchanged, because two continuations
/// cannot be merged.
fn load_conversation(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> Result<Loaded, LoadError> {
    let here: Option<(i64, String)> = connection.first(
        "SELECT c.position, c.uid FROM conversations c JOIN sessions s ON s.id = c.session_id
             WHERE c.uid = :uid OR s.uid = :session AND c.name = :name",
        args! {uid: text(&record, "uid"), session: text(&record, "session"), name: text(&record, "name")},
        |row| Ok((row.get("position")?, row.get("uid")?)),
    )?;
    let uid = text(&record, "uid").to_owned();
    if loader.chose(&uid) {
        return Ok(Loaded::Present);
    }
    let theirs = record.get("position").and_then(Value::as_i64).unwrap_or_default();
    match here {
        Some((ours, other)) if other != uid || ours >= theirs => {
            loader.leave_out(
                &record,
                Some("the conversation went on here; what was said in the other copy is not added"),
            );
            Ok(Loaded::Present)
        }
        Some(_) => {
            // The longer conversation is newer, whatever the clocks say.
            record.insert("updatedAt".to_owned(), Value::from(now_ms()));
            loader.choose(connection, &uid)?;
            loader.load(connection, kind, record)
        }
        None => {
            loader.choose(connection, &uid)?;
            loader.load(connection, kind, record)
        }
    }
}

fn text<'a>(record: &'a Record, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Imports a session. If another session already has the same name and has been used, the imported session gets a
/// different name.
fn load_session(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> Result<Loaded, LoadError> {
    let (uid, name) = (text(&record, "uid").to_owned(), text(&record, "name").to_owned());
    if let Some((name, elsewhere)) = own(connection, &uid)? {
        // A deletion in another copy does not delete the session here.
        if record.contains_key("deletedAt") {
            return Ok(Loaded::Present);
        }
        if !may_change(loader, &uid) {
            return kept(connection, loader, kind, &record);
        }
        // Keep the local name, and the local statistics for activity without rows.
        record.insert("name".to_owned(), Value::from(name));
        record.insert("elsewhere".to_owned(), elsewhere.map_or(Value::Null, Value::from));
        return loader.load(connection, kind, record);
    }
    loader.choose(connection, &uid)?;
    let holder: Option<(i64, bool)> = connection.first(
        "SELECT id, goal IS NULL AND started_at IS NULL AND deleted_at IS NULL AS blank FROM sessions WHERE name = :name AND uid <> :uid",
        args! {name, uid},
        |row| Ok((row.get("id")?, row.get("blank")?)),
    )?;
    match holder {
        None => return loader.load(connection, kind, record),
        Some((id, true)) if !exchange::is_referenced(connection, kind.table, id)? => {
            exchange::become_row(connection, kind, id, &uid)?;
            loader.load(connection, kind, record)?;
            return Ok(Loaded::Inserted);
        }
        Some(_) => {}
    }
    record.insert("name".to_owned(), Value::from(exchange::another_name(&name, &uid)));
    loader.load(connection, kind, record)
}

/// Returns a session's local name, and its stored statistics and pages as JSON.
fn own(connection: &Connection, uid: &str) -> Result<Option<(String, Option<String>)>, LoadError> {
    let sql = "SELECT name, elsewhere FROM sessions WHERE uid = :uid";
    Ok(connection.first(sql, args! {uid}, |row| Ok((row.get("name")?, row.get("elsewhere")?)))?)
}
