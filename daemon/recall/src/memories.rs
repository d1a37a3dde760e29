//! Memories that callers stored with `recall.store`.

use afd_proto::pattern::PatternScope;
use afd_proto::recall::StoredType;
use rusqlite::{Connection, Row};

use afd_base::belief::{self, Evidence};
use afd_store::exchange::{Kind, LoadError, Loaded, Loader, Record};
use afd_store::{Result, Sql as _, args, elsewhere, json, new_uid, now_ms, read, said_elsewhere, word};

/// A stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Uid of the memory.
    pub uid: String,
    /// Row id of the session that stored the memory.
    pub session: i64,
    /// Type of the memory.
    pub kind: StoredType,
    /// Title of the memory; `None` if it has no title.
    pub title: Option<String>,
    /// Text of the memory.
    pub text: String,
    /// Package of the app that the memory is about; empty for none.
    pub app: String,
    /// Site that the memory is about; empty for none.
    pub site: String,
    /// Visibility of the memory.
    pub scope: PatternScope,
    /// Source of the memory, such as `user`.
    pub source: String,
    /// Confidence in the memory, from 0 to 1.
    pub confidence: f64,
    /// Tags of the memory.
    pub tags: Vec<String>,
    /// Uids of related entries.
    pub related: Vec<String>,
    /// Expiry time of the memory, in Unix milliseconds; `None` if the memory does not expire.
    pub expires_at: Option<i64>,
    /// Time when the memory was stored, in Unix milliseconds.
    pub created_at: i64,
}

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let (origin, source) = (row.get::<_, Option<String>>("elsewhere")?, row.get::<_, String>("source")?);
    Ok(read!(row => Memory {
        uid, title, text, app, site, confidence, expires_at, created_at,
        session: row.get("session_id")?,
        kind: word(row, "kind")?,
        scope: word(row, "scope")?,
        source: if origin.is_some() { said_elsewhere(Some(&source)) } else { source },
        tags: json(row, "tags")?,
        related: json(row, "related")?,
    }))
}

/// Maximum number of reported uses in an imported record.
const MAX_USES: f64 = 1e9;

/// Record kind for stored memories, which another copy of the database can import.
pub const KIND: Kind = Kind { name: "memory", table: "memories", skipped: &[], natural: &[] };

/// Imports a memory record.
///
/// # Errors
/// If the record is invalid or conflicts with another row.
pub fn load(
    connection: &Connection,
    loader: &mut Loader,
    mut record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let length = |field: &str| record.get(field).and_then(|v| v.as_str()).map_or(0, |text| text.chars().count());
    for (field, most) in [
        ("text", 16_000),
        ("title", 300),
        ("app", 255),
        ("site", 255),
        ("source", 100),
        ("tags", 10_000),
        ("related", 10_000),
    ] {
        if length(field) > most {
            return Err(LoadError::Invalid(format!(
                "{field}: expected at most {most} characters, got {}",
                length(field)
            )));
        }
    }
    for field in ["tags", "related"] {
        let list = record.get(field).and_then(|v| v.as_str()).map(serde_json::from_str::<Vec<String>>);
        if list.is_none_or(|list| list.is_err()) {
            return Err(LoadError::Invalid(format!("{field}: expected a list of texts as JSON")));
        }
    }
    let number = |field: &str| record.get(field).and_then(serde_json::Value::as_f64);
    for field in ["confidence", "prior"] {
        // Records from older versions of the program have no prior.
        if !number(field).map_or(field == "prior" && !record.contains_key(field), |share| (0.0..=1.0).contains(&share))
        {
            return Err(LoadError::Invalid(format!("{field}: expected 0 to 1")));
        }
    }
    for field in ["held", "failed"] {
        if record.contains_key(field) && !number(field).is_some_and(|count| (0.0..=MAX_USES).contains(&count)) {
            return Err(LoadError::Invalid(format!("{field}: expected 0 to {MAX_USES}")));
        }
    }
    if !record.contains_key("prior") {
        record.insert("prior".to_owned(), record["confidence"].clone());
    }
    for field in ["held", "failed"] {
        record.entry(field).or_insert_with(|| 0.into());
    }
    loader.load(connection, &KIND, record)
}

/// Returns a memory by its row id.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Memory>> {
    connection.first(
        concat!("SELECT m.*, ", elsewhere!("m"), " FROM memories m WHERE id = :id AND deleted_at IS NULL"),
        args! {id},
        memory,
    )
}

/// Stores a memory. If the session has already stored the same text with the same type, app, site, scope and source,
/// updates that memory with the given values. Returns the uid of the memory, and whether the memory already existed.
pub fn store(connection: &Connection, origin: &str, new: &Memory) -> Result<(String, bool)> {
    let list = |list: &[String]| serde_json::to_string(list).unwrap_or_default();
    let now = now_ms();
    let same: Option<String> = connection.first(
        "SELECT uid FROM memories WHERE session_id = :session_id AND substr(text, 1, 64) = substr(:text, 1, 64) AND deleted_at IS NULL AND kind = :kind
                AND text = :text AND app = :app
                AND site = :site AND scope = :scope AND source = :source",
        args! {
            session_id: new.session, kind: new.kind.word(), text: new.text, app: new.app, site: new.site,
            scope: new.scope.word(), source: new.source
        },
        |row| row.get("uid"),
    )?;
    if let Some(uid) = same {
        let evidence = Evidence {
            prior: new.confidence,
            ..evidence_of(connection, &uid)?.unwrap_or(Evidence::new(new.confidence))
        };
        connection.run(
            "UPDATE memories SET title = coalesce(:title, title), prior = :prior, confidence = :confidence, tags = CASE :tags WHEN '[]' THEN tags ELSE :tags END,
                    related = CASE :related WHEN '[]' THEN related ELSE :related END, expires_at = :expires_at, updated_at = :now
                 WHERE uid = :uid",
            args! {
                uid, title: new.title, prior: new.confidence, confidence: evidence.confidence(now),
                tags: list(&new.tags), related: list(&new.related), expires_at: new.expires_at, now
            },
        )?;
        return Ok((uid, true));
    }
    let uid = new_uid();
    connection.run(
        "INSERT INTO memories (uid, origin, session_id, kind, title, text, app, site, scope, source, prior, confidence, tags, related, expires_at,
                created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :kind, :title, :text, :app, :site, :scope, :source, :confidence, :confidence, :tags, :related,
                :expires_at, :created_at, :now)",
        args! {
            uid, origin, session_id: new.session, kind: new.kind.word(), title: new.title, text: new.text,
            app: new.app, site: new.site, scope: new.scope.word(), source: new.source, confidence: new.confidence,
            tags: list(&new.tags), related: list(&new.related), expires_at: new.expires_at,
            created_at: new.created_at, now
        },
    )?;
    Ok((uid, false))
}

fn evidence(row: &Row<'_>) -> rusqlite::Result<Evidence> {
    Ok(read!(row => Evidence {
        prior, held, failed,
        at: row.get("last_used_at")?,
    }))
}

fn evidence_of(connection: &Connection, uid: &str) -> Result<Option<Evidence>> {
    connection.first(
        "SELECT prior, held, failed, last_used_at FROM memories WHERE uid = :uid AND deleted_at IS NULL",
        args! {uid},
        evidence,
    )
}

/// Records that a memory was used, and whether it held (`None`: unknown). Returns whether there is a memory with this
/// uid.
pub fn used(connection: &Connection, uid: &str, held: Option<bool>) -> Result<bool> {
    let Some(before) = evidence_of(connection, uid)? else { return Ok(false) };
    let now = now_ms();
    let after = before.used(held, now);
    connection.run(
        "UPDATE memories SET held = :held, failed = :failed, last_used_at = :now, confidence = :confidence, updated_at = :now
             WHERE uid = :uid",
        args! {uid, held: after.held, failed: after.failed, confidence: after.confidence(now), now},
    )?;
    Ok(true)
}

/// Recalculates confidences, because the weight of reports decreases over time. Changes up to `limit` memories and
/// returns their uids. Their modification times are left unchanged, because nothing new was reported.
pub fn refresh(connection: &Connection, now: i64, limit: usize) -> Result<Vec<String>> {
    let rows: Vec<(String, f64, f64)> = connection.all(
        "SELECT uid, confidence, prior, held, failed, last_used_at FROM memories WHERE held + failed > 0 AND deleted_at IS NULL",
        [],
        |row| {
            Ok((row.get::<_, String>("uid")?, row.get::<_, f64>("confidence")?, evidence(row)?.confidence(now)))
        },
    )?;
    let mut update = connection.prepare_cached("UPDATE memories SET confidence = :confidence WHERE uid = :uid")?;
    let mut refreshed = Vec::new();
    for (uid, _, confidence) in rows.into_iter().filter(|(_, old, new)| belief::differ(*old, *new)).take(limit) {
        update.execute(args! {uid, confidence})?;
        refreshed.push(uid);
    }
    Ok(refreshed)
}

/// Returns the row id of the session that stored a memory, and whether the memory is private to it.
pub fn owner(connection: &Connection, uid: &str) -> Result<Option<(i64, bool)>> {
    connection.first(
        "SELECT session_id, scope = 'session' AS private FROM memories WHERE uid = :uid AND deleted_at IS NULL",
        args! {uid},
        |row| Ok((row.get("session_id")?, row.get("private")?)),
    )
}

/// Counts the memories that a session stored.
pub fn count_of(connection: &Connection, session: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM memories WHERE session_id = :session_id AND deleted_at IS NULL",
        args! {session_id: session},
        |row| row.get("count"),
    )
}

/// Deletes a memory and erases its content. Returns the time when it was stored (Unix milliseconds), or `None` if no
/// memory has this uid.
pub fn delete(connection: &Connection, uid: &str) -> Result<Option<i64>> {
    connection.first(
        "UPDATE memories SET title = NULL, text = '', tags = '[]', related = '[]', source = '', deleted_at = :now, updated_at = :now
             WHERE uid = :uid AND deleted_at IS NULL RETURNING created_at",
        args! {uid, now: now_ms()},
        |row| row.get("created_at"),
    )
}

/// Erases a session's private memories or, if `all` is set, all memories that the session stored. Returns the number of
/// erased memories.
pub fn erase_of(connection: &Connection, session: i64, all: bool) -> Result<usize> {
    connection.run(
        "UPDATE memories SET title = NULL, text = '', tags = '[]', related = '[]', source = '', deleted_at = :now, updated_at = :now
             WHERE session_id = :session_id AND deleted_at IS NULL AND (:all OR scope = 'session')",
        args! {session_id: session, all, now: now_ms()},
    )
}

/// Deletes up to `limit` expired memories. Returns their uids.
pub fn delete_expired(connection: &Connection, now: i64, limit: usize) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "UPDATE memories SET title = NULL, text = '', tags = '[]', related = '[]', source = '', deleted_at = :now, updated_at = :now
         WHERE id IN (SELECT id FROM memories WHERE expires_at <= :now AND deleted_at IS NULL LIMIT :limit) RETURNING uid",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(args! {now, limit}, |row| row.get("uid"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
