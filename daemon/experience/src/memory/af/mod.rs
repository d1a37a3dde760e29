//! Reads an `af` 0.5 memory. Leaves out data that must not be imported: credit for failed acts, aliases that are only
//! valid within their snapshot, and typed text.

mod actions;
mod found;

use std::path::{Path, PathBuf};

use afd_proto::import::{ImportOutcome, Tally};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, OpenFlags, Row};

use actions::{Parsed, action};
use found::TABLES;
pub use found::{
    ARTIFACTS, AfMemory, AfPage, AfRecovery, AfTransition, EVENTS, InSession, NOTES, RECOVERIES, TRANSITIONS,
};

use super::derived_uid;
use super::notes::NewNote;
use afd_screen::page::fingerprint;
use afd_screen::page::target::action_key;
use afd_store::artifact::NewRow;

/// An error while reading an `af` database.
#[derive(Debug, thiserror::Error)]
pub enum AfError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file that cannot be read.
        path: PathBuf,
        /// The I/O error that occurred while reading.
        #[source]
        error: std::io::Error,
    },
    /// The file is not an `af` 0.5 database.
    #[error("{}: {why}", path.display())]
    Foreign {
        /// The rejected file.
        path: PathBuf,
        /// Reason for the rejection.
        why: String,
    },
}

/// A function that reads a table into an [`AfMemory`].
type Reader = fn(&Connection, &mut AfMemory, &Source<'_>) -> rusqlite::Result<()>;

/// The database file, and the trace id of the importing call.
struct Source<'a> {
    path: &'a Path,
    trace: &'a str,
}

/// Reads an `af` database. `trace` is the trace id of the importing call. The database is copied first, so that SQLite
/// creates no files next to the original.
///
/// # Errors
/// Returns an error if the file cannot be read or is not an `af` 0.5 database.
pub fn read(path: &Path, trace: &str) -> Result<AfMemory, AfError> {
    let io = |error| AfError::Io { path: path.to_owned(), error };
    let foreign = |why: String| AfError::Foreign { path: path.to_owned(), why };
    let wal = PathBuf::from(format!("{}-wal", path.display()));
    for file in [path, &wal] {
        // Opening a FIFO would block until another process opens it for writing.
        if std::fs::metadata(file).is_ok_and(|meta| !meta.is_file()) {
            return Err(foreign("not a regular file".to_owned()));
        }
    }
    let dir = tempfile::tempdir().map_err(io)?;
    let copy = dir.path().join("af.db");
    std::fs::copy(path, &copy).map_err(io)?;
    if wal.exists() {
        std::fs::copy(&wal, dir.path().join("af.db-wal")).map_err(io)?;
    }
    let sql = |e: rusqlite::Error| foreign(format!("not a readable database of af ({e})"));
    let connection = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sql)?;
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").map_err(sql)?;
    let names: Vec<String> = names.query_map([], |row| row.get("name")).and_then(Iterator::collect).map_err(sql)?;
    if names.iter().any(|n| n.starts_with("memory_")) {
        return Err(foreign("created by a pre-release version of af 0.5, which af itself refuses".to_owned()));
    }
    if !names.iter().any(|n| TABLES.contains(&n.as_str()) || n == "traces") {
        return Err(foreign("contains none of the tables of af".to_owned()));
    }
    let has = |table: usize| names.iter().any(|n| n == TABLES[table]);
    let (mut found, mut dated) = (AfMemory { identity: path.display().to_string(), ..AfMemory::default() }, false);
    for table in ["events", "notes", "artifacts"].into_iter().filter(|t| names.iter().any(|n| n == t)) {
        // Ignores a table without timestamps. The readers below report tables that cannot be read.
        let first: Option<String> = connection
            .query_row(&format!("SELECT min(created_at) AS min_created_at FROM {table}"), [], |row| {
                row.get("min_created_at")
            })
            .ok()
            .flatten();
        found.identity = match (first, dated) {
            (Some(first), false) => first,
            (Some(first), true) => first.min(found.identity),
            (None, _) => continue,
        };
        dated = true;
    }
    let readers: [Reader; 5] = [notes, transitions, recoveries, artifacts, events];
    for (table, reader) in readers.into_iter().enumerate().filter(|(table, _)| has(*table)) {
        reader(&connection, &mut found, &Source { path, trace })
            .map_err(|e| foreign(format!("table {} does not match the schema of af 0.5 ({e})", TABLES[table])))?;
    }
    Ok(found)
}

/// Returns the value of a text column, or an empty string if it is null.
fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    Ok(row.get::<_, Option<String>>(column)?.unwrap_or_default())
}

/// Parses a time in the format that `af` uses (RFC 3339). Returns Unix milliseconds, or `None` if the time is invalid.
fn time(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())
}

fn notes(connection: &Connection, found: &mut AfMemory, source: &Source<'_>) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT id, app, topic, content, session, created_at FROM notes ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.tallies[NOTES].found += 1;
        let (id, written) = (row.get::<_, i64>("id")?, text(row, "created_at")?);
        let (app, topic, content) = (text(row, "app")?, text(row, "topic")?, text(row, "content")?);
        if content.trim().is_empty() {
            found.remark(NOTES, id, ImportOutcome::Skipped, "the note is empty");
            continue;
        }
        let uid = Some(derived_uid(&["imported note", "af", &app, &topic, &content, &written]));
        let (trace, scope) = (source.trace.to_owned(), RecordScope::App);
        let mut note = NewNote { uid, app, topic, content, trace, at: time(&written), scope };
        let mut why = Vec::new();
        if note.topic.trim().is_empty() {
            note.topic = "imported".to_owned();
            why.push("it had no topic; `imported` is used");
        }
        if note.at.is_none() {
            why.push("its time is invalid; the time of the import is used");
        }
        if note.app.chars().any(|c| c.is_control() || c.is_whitespace()) {
            note.app.clear();
            why.push("its app is not a package name; it was removed");
        }
        if !why.is_empty() {
            found.remark(NOTES, id, ImportOutcome::Cleaned, why.join("; "));
        }
        found.notes.push(InSession { session: text(row, "session")?, row: note });
    }
    Ok(())
}

/// Returns the page of a row, or `None` if its app is unknown.
fn page(row: &Row<'_>) -> rusqlite::Result<Option<AfPage>> {
    let (mut app, activity, fingerprint) =
        (text(row, "pre_app")?, text(row, "pre_activity")?, text(row, "pre_page_fingerprint")?);
    if app.is_empty() {
        app = activity.split('/').next().unwrap_or_default().to_owned();
    }
    if app.is_empty() {
        return Ok(None);
    }
    // Without a fingerprint, the page is identified by its activity, or else its app.
    let fingerprint = if fingerprint.is_empty() {
        format!("act={}", if activity.is_empty() { &app } else { &activity })
    } else {
        fingerprint
    };
    Ok(Some(AfPage { app, activity, key: fingerprint::key_of(&fingerprint), fingerprint }))
}

fn transitions(connection: &Connection, found: &mut AfMemory, _: &Source<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT rowid AS id, pre_app, pre_activity, pre_page_fingerprint, action_category, action_op, action_args_json, post_activity,
            post_page_fingerprint, verify_op, success_count, verified_count, failure_count, last_success_at FROM transitions
            ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.tallies[TRANSITIONS].found += 1;
        let id: i64 = row.get("id")?;
        if text(row, "action_category")? != "act" {
            found.remark(TRANSITIONS, id, ImportOutcome::Skipped, "it is not a transition of an act");
            continue;
        }
        let Some(page) = page(row)? else {
            found.remark(TRANSITIONS, id, ImportOutcome::Skipped, "the page is missing");
            continue;
        };
        let (action, mut why) = match action(&text(row, "action_op")?, &text(row, "action_args_json")?) {
            Parsed::Clean(action) => (action, Vec::new()),
            Parsed::Cleaned(action, why) => (action, vec![why]),
            Parsed::Unusable(why) => {
                found.remark(TRANSITIONS, id, ImportOutcome::Skipped, why);
                continue;
            }
        };
        let count = |name: &str| row.get::<_, i64>(name).map(|n| n.max(0));
        let [success, mut verified, mut failure] =
            [count("success_count")?, count("verified_count")?, count("failure_count")?];
        if verified > success {
            // `af` also credited a failed act if a check after it passed.
            failure += verified - success;
            verified = success;
            why.push("checks that passed after a failed act are counted as failures");
        }
        if success + failure == 0 {
            found.remark(TRANSITIONS, id, ImportOutcome::Skipped, "all counts are zero");
            continue;
        }
        let post = (text(row, "post_activity")?, text(row, "post_page_fingerprint")?);
        let new = AfTransition {
            post: (success > 0 && !post.0.is_empty()).then_some(post),
            verify_op: Some(text(row, "verify_op")?.replace('-', "_")).filter(|op| verified > 0 && !op.is_empty()),
            counts: [success, verified, failure],
            last_success_at: time(&text(row, "last_success_at")?).filter(|_| success > 0),
            page,
            action,
        };
        if !why.is_empty() {
            found.remark(TRANSITIONS, id, ImportOutcome::Cleaned, why.join("; "));
        }
        let key = (new.page.key.clone(), action_key(&new.action));
        match found.transitions.get_mut(&key) {
            Some(known) => merge(known, new),
            None => {
                found.transitions.insert(key, new);
            }
        }
    }
    Ok(())
}

/// Merges another row for the same page and action into a transition.
fn merge(known: &mut AfTransition, other: AfTransition) {
    for (count, more) in known.counts.iter_mut().zip(other.counts) {
        *count += more;
    }
    if other.last_success_at >= known.last_success_at && other.post.is_some() {
        known.post = other.post;
    }
    known.verify_op = other.verify_op.or(known.verify_op.take());
    known.last_success_at = known.last_success_at.max(other.last_success_at);
}

/// Maps an `af` failure cause to one of this daemon's error codes.
fn cause(text: &str) -> String {
    match text {
        "NETWORK_ERROR" => "DEVICE_UNREACHABLE",
        "AUTH_ERROR" => "DEVICE_AUTH",
        "SERVER_ERROR" => "DEVICE_ERROR",
        "INTERNAL_ERROR" => "INTERNAL",
        other => other,
    }
    .to_owned()
}

fn recoveries(connection: &Connection, found: &mut AfMemory, _: &Source<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT rowid AS id, pre_app, pre_activity, pre_page_fingerprint, failure_cause, recovery_op, recovery_args_json, success_count,
            failure_count, last_success_at FROM recoveries ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.tallies[RECOVERIES].found += 1;
        let (id, cause) = (row.get::<_, i64>("id")?, cause(&text(row, "failure_cause")?));
        let counts = [row.get::<_, i64>("success_count")?.max(0), row.get::<_, i64>("failure_count")?.max(0)];
        let read = action(&text(row, "recovery_op")?, &text(row, "recovery_args_json")?);
        let (page, action) = match (page(row)?, read) {
            _ if cause.is_empty() || counts == [0, 0] => {
                found.remark(
                    RECOVERIES,
                    id,
                    ImportOutcome::Skipped,
                    "the failure cause is missing, or all counts are zero",
                );
                continue;
            }
            (None, _) => {
                found.remark(RECOVERIES, id, ImportOutcome::Skipped, "the page is missing");
                continue;
            }
            (_, Parsed::Unusable(why)) => {
                found.remark(RECOVERIES, id, ImportOutcome::Skipped, why);
                continue;
            }
            (Some(page), Parsed::Clean(action) | Parsed::Cleaned(action, _)) => (page, action),
        };
        let last_success_at = time(&text(row, "last_success_at")?).filter(|_| counts[0] > 0);
        let key = (page.key.clone(), cause.clone(), action_key(&action));
        let known =
            found.recoveries.entry(key).or_insert(AfRecovery { page, cause, action, counts: [0, 0], last_success_at });
        known.counts = [known.counts[0] + counts[0], known.counts[1] + counts[1]];
        known.last_success_at = known.last_success_at.max(last_success_at);
    }
    Ok(())
}

fn artifacts(connection: &Connection, found: &mut AfMemory, source: &Source<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT rowid AS id, session, trace_id, category, op, kind, mime_type, file_path, size_bytes, content_hash, created_at
         FROM artifacts ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    let base = source.path.parent().unwrap_or(Path::new("/"));
    while let Some(row) = rows.next()? {
        found.tallies[ARTIFACTS].found += 1;
        let (id, path) = (row.get::<_, i64>("id")?, text(row, "file_path")?);
        if path.is_empty() {
            found.remark(ARTIFACTS, id, ImportOutcome::Skipped, "the file name is missing");
            continue;
        }
        let (path, hash, size) = (base.join(path), text(row, "content_hash")?, row.get("size_bytes")?);
        let (trace, kind) = (text(row, "trace_id")?, text(row, "kind")?);
        let present = std::fs::metadata(&path).is_ok_and(|m| i64::try_from(m.len()) == Ok(size));
        if !present {
            found.remark(
                ARTIFACTS,
                id,
                ImportOutcome::Cleaned,
                "its file is missing or has changed; imported as missing",
            );
        }
        let row_of = NewRow {
            uid: Some(derived_uid(&["imported artifact", "af", &trace, &kind, &path.display().to_string(), &hash])),
            device: None,
            trace,
            op: format!("{}.{}", text(row, "category")?, text(row, "op")?),
            kind,
            mime_type: text(row, "mime_type")?,
            path,
            size,
            hash,
            managed: false,
            present,
            at: time(&text(row, "created_at")?).unwrap_or(0),
        };
        found.artifacts.push(InSession { session: text(row, "session")?, row: row_of });
    }
    Ok(())
}

fn events(connection: &Connection, found: &mut AfMemory, _: &Source<'_>) -> rusqlite::Result<()> {
    let count: i64 = connection.query_row("SELECT count(*) AS count FROM events", [], |row| row.get("count"))?;
    let count = u64::try_from(count).unwrap_or(0);
    found.tallies[EVENTS] = Tally { found: count, skipped: count, ..Tally::default() };
    Ok(())
}
