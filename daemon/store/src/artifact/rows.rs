//! The rows of artifacts in the database.

use std::path::{Path, PathBuf};

use afd_proto::artifact::{Artifact, Artifacts, SavedArtifact, Status};
use rusqlite::{Connection, OptionalExtension, Row};

use super::super::sql::{Sql as _, args, read};
use super::files::{File, tag_of};
use super::{NewArtifact, Place};
use crate::{Conditions, Page, Result, new_uid, now_ms};

/// The row of an artifact, to be inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// Uid that is derived from the imported original, or `None` to generate a new uid.
    pub uid: Option<String>,
    /// Row id of the device that the artifact shows, if any.
    pub device: Option<i64>,
    /// Trace id of the call that created the artifact.
    pub trace: String,
    /// Method of the call that created the artifact.
    pub op: String,
    /// Kind of the artifact, such as `screenshot_image`.
    pub kind: String,
    /// Media type of the content.
    pub mime_type: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file, in bytes.
    pub size: i64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub hash: String,
    /// Whether the file is in the shared root.
    pub managed: bool,
    /// Whether the file exists.
    pub present: bool,
    /// Time at which the file was written, in Unix milliseconds.
    pub at: i64,
}

impl NewRow {
    pub(super) fn of(new: &NewArtifact, file: &File) -> Self {
        Self {
            uid: None,
            device: new.device,
            trace: new.trace.clone(),
            op: new.op.to_owned(),
            kind: new.kind.to_owned(),
            mime_type: new.mime_type.to_owned(),
            path: file.path.clone(),
            size: i64::try_from(new.content.len()).unwrap_or(i64::MAX),
            hash: file.hash.clone(),
            managed: matches!(new.place, Place::Root(_)),
            present: true,
            at: now_ms(),
        }
    }
}

/// Returns the artifact files in the shared root that are not missing, each with the hash of its content.
///
/// # Errors
/// If the database cannot be read.
pub fn stored(connection: &Connection) -> Result<Vec<(PathBuf, String)>> {
    let mut statement = connection.prepare(
        "SELECT DISTINCT file_path, content_hash FROM artifacts WHERE managed = 1 AND deleted_at IS NULL AND missing_at IS NULL",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((PathBuf::from(row.get::<_, String>("file_path")?), row.get::<_, String>("content_hash")?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Changes the paths of files in another memory's shared root to paths in this memory's root. A file whose name does
/// not have the form that is used in a shared root is marked as missing and no longer belongs to the root.
///
/// # Errors
/// If the database cannot be written.
pub fn re_root(connection: &Connection, root: &Path) -> Result<()> {
    let mut statement =
        connection.prepare("SELECT DISTINCT file_path FROM artifacts WHERE managed = 1 AND deleted_at IS NULL")?;
    let paths: Vec<String> = statement.query_map([], |row| row.get("file_path"))?.collect::<rusqlite::Result<_>>()?;
    for old in paths {
        let path = Path::new(&old);
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| tag_of(name).is_some());
        let new = name.map(|name| text(&root.join(name)));
        if new.as_deref() == Some(&old) {
            continue;
        }
        connection.run(
            "UPDATE artifacts SET file_path = coalesce(:new, file_path), managed = (:new IS NOT NULL), updated_at = :now,
                    missing_at = CASE WHEN :new IS NULL THEN coalesce(missing_at, :now) ELSE missing_at END
                 WHERE file_path = :old AND managed = 1 AND deleted_at IS NULL",
            args! {new, old, now: now_ms()},
        )?;
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Kinds of pictures that are kept as long as the visual memory refers to them. Equal pictures share one row.
pub const REFERENCED_KINDS: [&str; 2] = ["component_image", "page_image"];

/// Returns the row id of an equal picture that is already stored for the visual memory; `None` if there is none.
fn equal_picture(connection: &Connection, row: &NewRow) -> Result<Option<i64>> {
    if !row.managed || !REFERENCED_KINDS.contains(&row.kind.as_str()) {
        return Ok(None);
    }
    connection.first(
        "SELECT id FROM artifacts WHERE file_path = :file_path AND content_hash = :content_hash AND kind = :kind
                AND deleted_at IS NULL AND missing_at IS NULL ORDER BY id LIMIT 1",
        args! {file_path: text(&row.path), content_hash: &row.hash, kind: &row.kind},
        |r| r.get("id"),
    )
}

/// Returns the ids and uids of the artifacts of a kind that were created at this time or earlier (Unix milliseconds).
pub(super) fn of_kind(connection: &Connection, kind: &str, before: i64) -> Result<Vec<(i64, String)>> {
    connection.all(
        "SELECT id, uid FROM artifacts WHERE kind = :kind AND created_at <= :before AND managed = 1 AND kept = 0 AND deleted_at IS NULL",
        args! {kind, before},
        |row| Ok((row.get("id")?, row.get("uid")?)),
    )
}

pub(super) fn insert(connection: &Connection, origin: &str, session: i64, row: &NewRow) -> Result<SavedArtifact> {
    // Mark earlier artifacts in this file as missing, because their content has been overwritten.
    connection.run(
        "UPDATE artifacts SET missing_at = :at, updated_at = :at
             WHERE file_path = :file_path AND content_hash <> :content_hash AND missing_at IS NULL AND deleted_at IS NULL",
        args! {file_path: text(&row.path), content_hash: &row.hash, at: row.at},
    )?;
    let artifact_id = match equal_picture(connection, row)? {
        Some(id) => id,
        None => {
            insert_row(connection, origin, session, row)?;
            connection.last_insert_rowid()
        }
    };
    Ok(SavedArtifact {
        artifact_id,
        kind: row.kind.clone(),
        mime_type: row.mime_type.clone(),
        saved_file: text(&row.path),
        size_bytes: row.size,
        content_hash: row.hash.clone(),
    })
}

fn insert_row(connection: &Connection, origin: &str, session: i64, row: &NewRow) -> Result<bool> {
    let changed = connection.run(
        "INSERT INTO artifacts (uid, origin, session_id, device_id, trace_id, op, kind, mime_type, file_path, size_bytes, content_hash,
                managed, missing_at, created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :device_id, :trace_id, :op, :kind, :mime_type, :file_path, :size_bytes, :content_hash,
             :managed, :missing_at, :created_at, :updated_at) ON CONFLICT (uid) DO NOTHING",
        args! {
            uid: row.uid.clone().unwrap_or_else(new_uid), origin, session_id: session, device_id: row.device,
            trace_id: row.trace, op: row.op, kind: row.kind, mime_type: row.mime_type, file_path: text(&row.path),
            size_bytes: row.size, content_hash: row.hash, managed: row.managed,
            missing_at: (!row.present).then_some(row.at), created_at: row.at, updated_at: now_ms()
        },
    )?;
    Ok(changed > 0)
}

/// Inserts the row for a file that another tool wrote. Returns false if the row already exists.
pub fn insert_imported(connection: &Connection, origin: &str, session: i64, row: &NewRow) -> Result<bool> {
    insert_row(connection, origin, session, row)
}

/// Returns the path of the file of the artifact with this uid; `None` if there is no such artifact or it was deleted.
pub fn file_of(connection: &Connection, uid: &str) -> Result<Option<PathBuf>> {
    Ok(connection
        .first("SELECT file_path FROM artifacts WHERE uid = :uid AND deleted_at IS NULL", args! {uid}, |row| {
            row.get::<_, String>("file_path")
        })?
        .map(PathBuf::from))
}

/// Counts the artifacts of a session (given by its row id) whose files are not missing.
pub fn count(connection: &Connection, session: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM artifacts WHERE session_id = :session_id AND deleted_at IS NULL AND missing_at IS NULL",
        args! {session_id: session},
        |row| row.get("count"),
    )
}

/// Exempts the artifact with this uid from the size and age limits, because a record refers to it.
pub fn keep(connection: &Connection, uid: &str) -> Result<()> {
    connection.run(
        "UPDATE artifacts SET kept = 1, updated_at = :updated_at WHERE uid = :uid",
        args! {uid, updated_at: now_ms()},
    )?;
    Ok(())
}

/// Returns the id of the artifact with this uid; `None` if there is no such artifact or it was deleted.
pub fn id_of(connection: &Connection, uid: &str) -> Result<Option<i64>> {
    connection
        .first("SELECT id FROM artifacts WHERE uid = :uid AND deleted_at IS NULL", args! {uid}, |row| row.get("id"))
}

/// Which artifacts to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only artifacts of the session with this name.
    pub session: Option<String>,
    /// Only artifacts of this kind.
    pub kind: Option<String>,
    /// Which page of the list to return.
    pub page: Page,
}

const COLUMNS: &str =
    "a.id, a.uid, s.name, coalesce(d.part_of, d.name) AS d_name, a.trace_id, a.op, a.kind, a.mime_type, a.file_path, a.size_bytes, a.content_hash,
    a.created_at, a.missing_at";
const TABLES: &str = "artifacts a JOIN sessions s ON s.id = a.session_id LEFT JOIN devices d ON d.id = a.device_id";

fn artifact(row: &Row<'_>) -> rusqlite::Result<Artifact> {
    let (path, size): (String, i64) = (row.get("file_path")?, row.get("size_bytes")?);
    let replaced = row.get::<_, Option<i64>>("missing_at")?.is_some();
    Ok(read!(row => Artifact {
        uid, trace_id, op, kind, mime_type, content_hash, created_at,
        artifact_id: row.get("id")?,
        session: row.get("name")?,
        device: row.get("d_name")?,
        status: if !replaced && is_present(Path::new(&path), size) { Status::Present } else { Status::Missing },
        file_path: path,
        size_bytes: size,
    }))
}

/// Returns whether a regular file of this size (bytes) exists.
pub(super) fn is_present(path: &Path, size: i64) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && i64::try_from(m.len()) == Ok(size))
}

/// Lists artifacts, newest first.
pub fn list(connection: &Connection, filter: &Filter) -> Result<Artifacts> {
    let wanted = Conditions::new("a.deleted_at IS NULL")
        .given("s.name = :session", ":session", filter.session.clone())
        .given("a.kind = :kind", ":kind", filter.kind.clone())
        .given("a.id < :before", ":before", filter.page.cursor)
        .value(":limit", filter.page.reads());
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE {} ORDER BY a.id DESC LIMIT :limit", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut artifacts: Vec<Artifact> =
        statement.query_map(&*wanted.values(), artifact)?.collect::<rusqlite::Result<_>>()?;
    let next_cursor = filter.page.cut(&mut artifacts, |a| a.artifact_id);
    Ok(Artifacts { artifacts, next_cursor })
}

/// Returns the row ids of those artifacts in `uids` that were saved for messages of a session (given by its row id) and
/// to which neither a bug nor a test result refers.
pub fn only_of_messages(connection: &Connection, session: i64, uids: &[String]) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM artifacts a WHERE uid = :uid AND session_id = :session_id AND kind = 'message_image' AND managed = 1
            AND deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM bugs WHERE screenshot = a.uid AND deleted_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM test_results WHERE evidence = a.uid AND deleted_at IS NULL)",
    )?;
    let mut found = Vec::new();
    for uid in uids {
        found.extend(statement.query_row(args! {uid, session_id: session}, |row| row.get::<_, i64>("id")).optional()?);
    }
    Ok(found)
}

/// Returns a session's artifacts of these kinds, each with its id, its path, and whether its file is in the shared
/// root. `session` is the session's row id.
pub fn written(connection: &Connection, session: i64, kinds: &[&str]) -> Result<Vec<(i64, String, bool)>> {
    let rows: Vec<(String, (i64, String, bool))> = connection.all(
        "SELECT id, kind, file_path, managed FROM artifacts WHERE session_id = :session_id AND deleted_at IS NULL",
        args! {session_id: session},
        |row| Ok((row.get::<_, String>("kind")?, (row.get("id")?, row.get("file_path")?, row.get("managed")?))),
    )?;
    Ok(rows.into_iter().filter(|(kind, _)| kinds.contains(&kind.as_str())).map(|(_, found)| found).collect())
}

/// Returns the artifact with this id; `None` if there is no such artifact or it was deleted.
pub fn find(connection: &Connection, id: i64) -> Result<Option<Artifact>> {
    connection.first(
        &format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = :id AND a.deleted_at IS NULL"),
        args! {id},
        artifact,
    )
}

/// Returns the path and hash of an artifact's file. Returns `Some(None)` if another row has the same file, and `None`
/// if there is no such artifact.
pub(super) fn file_if_unshared(connection: &Connection, id: i64) -> Result<Option<Option<(PathBuf, String)>>> {
    let found: Option<(String, String)> = connection.first(
        "SELECT file_path, content_hash FROM artifacts WHERE id = :id AND deleted_at IS NULL",
        args! {id},
        |row| Ok((row.get("file_path")?, row.get("content_hash")?)),
    )?;
    let Some((path, hash)) = found else { return Ok(None) };
    let shared: bool = connection.one(
        "SELECT EXISTS (SELECT 1 FROM artifacts WHERE file_path = :file_path AND content_hash = :content_hash AND id <> :id
                AND deleted_at IS NULL) AS found",
        args! {file_path: &path, content_hash: &hash, id},
        |row| row.get("found"),
    )?;
    Ok(Some((!shared).then(|| (PathBuf::from(path), hash))))
}

/// Marks an artifact's row as deleted.
pub(super) fn delete(connection: &Connection, id: i64) -> Result<()> {
    connection.run(
        "UPDATE artifacts SET deleted_at = :now, updated_at = :now, file_path = '', content_hash = '' WHERE id = :id",
        args! {id, now: now_ms()},
    )?;
    Ok(())
}

/// Returns the paths of the most recently written artifact files, newest first.
pub(super) fn newest_files(connection: &Connection, limit: usize) -> Result<Vec<PathBuf>> {
    let mut statement = connection
        .prepare("SELECT file_path FROM artifacts WHERE deleted_at IS NULL GROUP BY file_path ORDER BY max(id) DESC LIMIT :limit")?;
    let paths = statement
        .query_map(args! {limit: i64::try_from(limit).unwrap_or(i64::MAX)}, |row| row.get::<_, String>("file_path"))?;
    Ok(paths.map(|path| path.map(PathBuf::from)).collect::<rusqlite::Result<_>>()?)
}

/// Marks the rows of a file as present or missing, depending on whether the file exists with the recorded size.
pub(super) fn update_presence(connection: &Connection, path: &Path) -> Result<()> {
    let mut sizes = connection.prepare_cached(
        "SELECT DISTINCT size_bytes FROM artifacts WHERE file_path = :file_path AND deleted_at IS NULL",
    )?;
    let sizes: Vec<i64> = sizes
        .query_map(args! {file_path: text(path)}, |row| row.get("size_bytes"))?
        .collect::<rusqlite::Result<_>>()?;
    for size in sizes {
        let missing = (!is_present(path, size)).then(now_ms);
        connection.run(
            "UPDATE artifacts SET missing_at = :missing, updated_at = :updated_at
                 WHERE file_path = :text AND size_bytes = :size_bytes AND deleted_at IS NULL
                 AND (missing_at IS NULL) = (:missing IS NOT NULL)
                    -- A file that came back holds what was written last.
                    AND (:missing IS NOT NULL OR id = (SELECT max(id) FROM artifacts WHERE file_path = :text))",
            args! {text: text(path), size_bytes: size, missing, updated_at: now_ms()},
        )?;
    }
    Ok(())
}
