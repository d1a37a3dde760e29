//! Records of a session: the lines that `session.export` writes and `session.import` reads.
//!
//! Each record is a row (`afd_store::exchange`) with its `type`. The records contain neither the statements nor the
//! search entries of messages, because an import derives them again. They contain no local paths, artifacts or device
//! history; the session record holds the statistics of that history.

use afd_proto::conversation::Role;
use afd_proto::session::Statistics;
use afd_proto::vocabulary::RecordScope;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) mod limits;

use super::elsewhere::Elsewhere;
use super::{Session, patterns};
use afd_conversation::prepared::brief_limit;
use afd_conversation::summaries;
use afd_store::exchange::{LoadError, Loaded, Record, Table};
use afd_store::{Result, Sql as _, args, now_ms, to_json};

/// A kind of record: its type, its table, and the SQL condition that selects the rows of the session `:owner`.
struct Kind {
    name: &'static str,
    table: &'static str,
    owned: &'static str,
}

const OF_SESSION: &str = "t.session_id = :owner";
const OF_CONVERSATION: &str = "t.conversation_id IN (SELECT id FROM conversations WHERE session_id = :owner)";

/// Record kinds in the order in which they are written: a record comes after the records that it refers to.
const KINDS: [Kind; 8] = [
    Kind { name: "task", table: "tasks", owned: OF_SESSION },
    Kind { name: "bug", table: "bugs", owned: "t.session_id = :owner AND t.deleted_at IS NULL" },
    Kind { name: "result", table: "test_results", owned: "t.session_id = :owner AND t.deleted_at IS NULL" },
    Kind { name: "tested", table: "tested_elements", owned: OF_SESSION },
    Kind { name: "conversation", table: "conversations", owned: OF_SESSION },
    Kind { name: "message", table: "messages", owned: OF_CONVERSATION },
    Kind { name: "summary", table: "summaries", owned: OF_CONVERSATION },
    Kind { name: "pattern", table: "patterns", owned: "t.session_id = :owner AND t.deleted_at IS NULL" },
];

/// The record of the session itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRecord {
    /// Uid of the session.
    pub uid: String,
    /// Uid of the store that created the session.
    pub origin: String,
    /// Name of the session.
    pub name: String,
    /// Goal of the session, as stated by the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Package of the app under test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Visibility of the session's digest, and default visibility of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RecordScope>,
    /// Next steps stated by the caller.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// Blockers stated by the caller.
    #[serde(default)]
    pub blockers: Vec<String>,
    /// Summary written when the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Time when the session was first used, in Unix milliseconds.
    pub created_at: i64,
    /// Time when the session was explicitly started, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// Time when the session ended, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// Statistics and visited pages for all of the session's activity, in this copy of the memory and in others.
    #[serde(default)]
    pub elsewhere: Elsewhere,
}

impl SessionRecord {
    /// Returns the record of a session. `elsewhere` has the statistics and pages for its activity, in this copy of the
    /// memory and in others.
    pub fn of(session: &Session, origin: &str, mut elsewhere: Elsewhere) -> Self {
        elsewhere.statistics = Statistics { messages: 0, notes: 0, artifacts: 0, ..elsewhere.statistics };
        elsewhere.pages.iter_mut().for_each(|page| page.snapshot = None);
        Self {
            uid: session.uid.clone(),
            origin: origin.to_owned(),
            name: session.name.clone(),
            goal: session.goal.clone(),
            app: session.app.clone(),
            scope: session.scope.narrowed(),
            next_steps: session.next_steps.clone(),
            blockers: session.blockers.clone(),
            summary: session.summary.clone(),
            created_at: session.created_at,
            started_at: session.started_at,
            ended_at: session.ended_at,
            elsewhere,
        }
    }

    /// Inserts the session under a name, without its statistics. An existing session is left unchanged, and a deleted
    /// one is restored. Returns the row id, and whether the session was inserted or restored.
    ///
    /// # Errors
    /// Returns an error if another session has this name.
    pub fn load(&self, connection: &Connection, name: &str) -> Result<(i64, bool), LoadError> {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>("id")?, row.get::<_, bool>("deleted")?));
        let known = connection.first(
            "SELECT id, deleted_at IS NOT NULL AS deleted FROM sessions WHERE uid = :uid",
            args! {uid: self.uid},
            row,
        )?;
        if let Some((id, false)) = known {
            return Ok((id, false));
        }
        let holder: Option<i64> =
            connection.first("SELECT id FROM sessions WHERE name = :name", args! {name}, |row| row.get("id"))?;
        if holder.is_some() {
            return Err(LoadError::Taken(format!("another session is called {name:?}")));
        }
        let values = args! {
            uid: self.uid, origin: self.origin, name, goal: self.goal, app: self.app,
            scope: self.scope.unwrap_or_default().word(), next_steps: to_json(&self.next_steps),
            blockers: to_json(&self.blockers), summary: self.summary, created_at: self.created_at,
            started_at: self.started_at, ended_at: self.ended_at, now: now_ms()
        };
        let id = connection.one(
            "INSERT INTO sessions (uid, origin, name, goal, app, scope, next_steps, blockers, summary, created_at, started_at, ended_at,
                    updated_at)
                 VALUES (:uid, :origin, :name, :goal, :app, :scope, :next_steps, :blockers, :summary, :created_at, :started_at, :ended_at, :now)
                 ON CONFLICT (uid) DO UPDATE SET name = excluded.name, goal = excluded.goal, app = excluded.app,
                    scope = excluded.scope, next_steps = excluded.next_steps, blockers = excluded.blockers, summary = excluded.summary,
                    started_at = excluded.started_at, ended_at = excluded.ended_at, updated_at = excluded.updated_at, deleted_at = NULL
                 RETURNING id",
            values,
            |row| row.get("id"),
        )?;
        Ok((id, true))
    }
}

/// Calls `each` with all records of a session except the session record.
pub fn dump(connection: &Connection, session: i64, mut each: impl FnMut(Record)) -> Result<()> {
    for kind in &KINDS {
        Table::of(connection, kind.table, &[])?.dump(connection, kind.owned, session, |mut record| {
            record.insert("type".to_owned(), Value::from(kind.name));
            each(record);
        })?;
    }
    Ok(())
}

/// Loader for the records of one session.
pub struct Loader {
    tables: Vec<Table>,
    session: String,
}

impl Loader {
    /// Returns a loader for the records of the session with this uid.
    pub fn new(connection: &Connection, session: &str) -> Result<Self> {
        let tables = KINDS.iter().map(|kind| Table::of(connection, kind.table, &[])).collect::<Result<_>>()?;
        Ok(Self { tables, session: session.to_owned() })
    }

    /// Inserts a record of the type `name`. An existing row is left unchanged, unless `renew` is set and the record is
    /// newer.
    ///
    /// # Errors
    /// If the type is unknown, or if the record belongs to another session, is invalid or conflicts with another row.
    pub fn load(
        &self,
        connection: &Connection,
        name: &str,
        mut record: Record,
        renew: bool,
    ) -> Result<Loaded, LoadError> {
        let Some(i) = KINDS.iter().position(|kind| kind.name == name) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            return Err(LoadError::Invalid(format!(
                "type: expected session, note, {}, got {name:?}",
                known.join(", ")
            )));
        };
        if KINDS[i].owned != OF_CONVERSATION && record.get("session").and_then(Value::as_str) != Some(&self.session) {
            return Err(LoadError::Invalid("session: expected the uid of the session in the file".to_owned()));
        }
        if KINDS[i].owned == OF_CONVERSATION && !self.has_conversation(connection, record.get("conversation"))? {
            return Err(LoadError::Invalid(
                "conversation: expected the uid of a conversation of the session".to_owned(),
            ));
        }
        limits::check(name, &record).map_err(LoadError::Invalid)?;
        if name == "summary" && summaries::quotes_deleted(connection, &record)? {
            return Ok(Loaded::Present);
        }
        match name {
            // An imported pattern is visible only to this session unless its scope is changed later.
            "pattern" => {
                patterns::complete(&mut record);
                record.insert("scope".to_owned(), Value::from("session"));
            }
            "message" => drop(record.insert("indexed".to_owned(), Value::from(0))),
            // The language model is only asked to improve summaries that this copy made.
            "summary" => drop(record.remove("dueAt")),
            _ => {}
        }
        match self.tables[i].load(connection, record, renew && name != "message") {
            Err(LoadError::Taken(_)) if name == "pattern" => Ok(Loaded::Present),
            done => done,
        }
    }

    /// Returns whether the session has a conversation with this uid.
    fn has_conversation(&self, connection: &Connection, uid: Option<&Value>) -> Result<bool> {
        let found = connection.first(
            "SELECT 1 AS one FROM conversations c JOIN sessions s ON s.id = c.session_id WHERE c.uid = :uid AND s.uid = :session",
            args! {uid: uid.and_then(Value::as_str), session: self.session},
            |row| row.get::<_,
            i64>("one"),
        )?;
        Ok(found.is_some())
    }

    /// Recomputes the totals of the session's conversations from their messages.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    pub fn finish(&self, connection: &Connection) -> Result<()> {
        let values = args! {uid: self.session};
        let brief = [Role::Tool, Role::Assistant, Role::User].map(brief_limit);
        let of = "conversation_id IN (SELECT c.id FROM conversations c JOIN sessions s ON s.id = c.session_id WHERE s.uid = :uid)";
        connection.execute(
            &format!(
                "WITH totals AS (
                    SELECT id, sum(least) OVER w AS running, sum(min(least, CASE role WHEN 'tool' THEN :tool WHEN 'assistant' THEN :assistant ELSE :user END))
                        OVER w AS brief
                    FROM (SELECT id, conversation_id, position, role, max(0, min(tokens, 100000000)) AS least FROM messages WHERE {of})
                    WINDOW w AS (PARTITION BY conversation_id ORDER BY position))
                 UPDATE messages SET running = totals.running, brief_running = totals.brief FROM totals WHERE messages.id = totals.id"
            ),
            args! {uid: self.session, tool: brief[0], assistant: brief[1], user: brief[2]},
        )?;
        connection.execute(
            "UPDATE conversations SET (position, turn, tokens, brief_tokens) = (SELECT coalesce(max(position), 0), coalesce(max(turn), 0),
                coalesce(max(running), 0), coalesce(max(brief_running), 0) FROM messages WHERE conversation_id = conversations.id)
             WHERE session_id = (SELECT id FROM sessions WHERE uid = :uid)",
            values,
        )?;
        connection.execute(
            "UPDATE conversations SET cleared_to = max(0, min(cleared_to, position)), dropped_to = max(0, min(dropped_to, position)),
                compacted_to = max(0, min(compacted_to, position)), used_tokens = max(0, min(used_tokens, tokens))
             WHERE session_id = (SELECT id FROM sessions WHERE uid = :uid)",
            values,
        )?;
        Ok(())
    }
}
