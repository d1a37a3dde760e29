//! `session.import`: imports a session from an exported file, completely or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::transfer::{ImportParams, Imported, SessionImport};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lifecycle::check_restored;
use super::lines::{LINES_FORMAT, LINES_VERSION, NoteRecord};
use crate::app::checks::{absolute, check_new_name, check_times, name_taken};
use crate::app::daemon::catching_up::index_messages;
use crate::app::{Core, Error, Methods, Result, current_trace};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_experience::memory::notes::{self, NewNote};
use afd_experience::memory::sessions;
use afd_store::exchange::{LoadError, Loaded, Record};
use afd_store::{Connection, SCHEMA, StoreError, new_uid, now_ms, origins_of};
use afd_workspace::records::{Loader, SessionRecord};
use afd_workspace::{elsewhere, transfer};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionImport, _, _>(|core, p| async move { import(&core, &p).await });
}

/// Maximum size of an imported file, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// First line of a session export.
#[derive(Debug, Deserialize)]
struct Header {
    format: String,
    version: u32,
    schema: u32,
}

/// Content of a session export, checked as far as possible without the database.
struct Content {
    session: SessionRecord,
    /// Line number, type and content of each record.
    records: Vec<(usize, String, Record)>,
}

/// `session.import`: inserts the records of a session that this store does not have yet.
///
/// # Errors
/// `INVALID_PARAMS` if the file cannot be read or a line is invalid, `CONFLICT` if a different session already has the
/// imported session's name.
pub async fn import(core: &Arc<Core>, params: &ImportParams) -> Result<Imported> {
    let path = absolute("file", &params.file)?;
    let shown = path.display().to_string();
    let read = run_blocking(move || file::read_capped(&path, MAX_FILE)).await?;
    let read = read.map_err(|error| Error::param("file", "a readable file", format!("{shown}: {error}")))?;
    // Some editors put a byte order mark at the start.
    let content = run_blocking(move || parse(read.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&read))).await??;
    let name = params.name.clone().unwrap_or_else(|| content.session.name.clone());
    check_new_name(if params.name.is_some() { "name" } else { "file" }, &name)?;
    let s = &content.session;
    check_restored((s.goal.as_deref(), s.app.as_deref()), &[&s.next_steps, &s.blockers], s.elsewhere.pages.len())?;
    check_times(&[Some(s.created_at), s.started_at, s.ended_at])?;
    let (trace, wanted) = (current_trace().unwrap_or_else(new_uid), name.clone());
    let (merge, asked) = (params.merge, params.name.clone());
    let work = move |c: &Connection| {
        let before = afd_workspace::by_uid(c, &content.session.uid)?;
        if let Some(here) = before.as_ref().filter(|here| asked.as_ref().is_some_and(|asked| *asked != here.name)) {
            let expected = format!("{:?}, because the session already has this name here", here.name);
            return Err(
                Error::param("name", &expected, format!("{wanted:?}")).hint("`session update --name` renames it")
            );
        }
        let (id, new) = content.session.load(c, &wanted).map_err(|error| refused(2, error, &wanted))?;
        if new && sessions::totals(c, id)?.last_at.is_none() {
            elsewhere::set(c, id, &content.session.elsewhere.clone().bounded())?;
        }
        let (session, uid) = (before.map_or(wanted.clone(), |here| here.name), content.session.uid.clone());
        let mut done = Imported { session, uid, inserted: BTreeMap::new(), renewed: 0, present: 0, left_out: 0 };
        let loader = Loader::new(c, &content.session.uid)?;
        count(&mut done, "session", if new { Loaded::Inserted } else { Loaded::Present });
        let ours = origins_of(c)?;
        for (line, kind, record) in content.records {
            if kind == "message" && transfer::speaks_as_system(&record, &ours) {
                done.left_out += 1;
                continue;
            }
            let loaded = match kind.as_str() {
                "note" => load_note(c, &content.session.origin, id, &trace, record)
                    .map_err(|error| refused(line, error, &wanted))?,
                _ => loader.load(c, &kind, record, merge).map_err(|error| refused(line, error, &wanted))?,
            };
            count(&mut done, &kind, loaded);
        }
        let differing = done.inserted.values().sum::<i64>() + done.renewed;
        if !new && !merge && differing > 0 {
            return Err(here_already(&done.session, differing));
        }
        loader.finish(c)?;
        Ok::<_, Error>(done)
    };
    core.sessions.forget(&name);
    let done = core.store.write_or_refuse(work).await?;
    core.sessions.forget(&name);
    index_messages(core);
    core.session_changed(&done.session).await;
    Ok(done)
}

fn count(done: &mut Imported, kind: &str, loaded: Loaded) {
    match loaded {
        Loaded::Inserted => *done.inserted.entry(kind.to_owned()).or_default() += 1,
        Loaded::Newer => done.renewed += 1,
        Loaded::Present | Loaded::Unfinished => done.present += 1,
    }
}

/// Returns the error for a file that would change an existing session.
fn here_already(name: &str, differing: i64) -> Error {
    Error::new(ErrorCode::Conflict, format!("session {name:?} exists here, and {differing} records of the file are missing or newer"))
        .hint("pass `merge` (`--merge`) to import them, if you trust the file: it can change the goal and tasks of the session, and add messages to it")
        .details(json!({"session": name, "records": differing}))
}

/// Returns the error for an invalid line.
fn refused(line: usize, error: LoadError, name: &str) -> Error {
    match error {
        LoadError::Invalid(what) | LoadError::Missing(what) => {
            Error::param("file", "records of a session", format!("line {line}: {what}"))
        }
        LoadError::Taken(_) if line == 2 => name_taken(name).hint("pass another one as `name`"),
        LoadError::Taken(what) => Error::new(
            ErrorCode::Conflict,
            format!("line {line}: another record has its place: {what}"),
        )
        .hint("the session was continued in two places; import it where it does not exist, or delete it here first")
        .details(json!({"line": line})),
        LoadError::Store(error) => error.into(),
    }
}

/// Parses a file: the header, the session, and its records.
fn parse(content: &[u8]) -> Result<Content> {
    let wrong =
        |line: usize, expected: &str, got: String| Error::param("file", expected, format!("line {line}: {got}"));
    let mut lines =
        content.split(|b| *b == b'\n').enumerate().map(|(i, line)| (i + 1, line)).filter(|(_, l)| !l.is_empty());
    let header = lines.next().map(|(_, line)| serde_json::from_slice::<Header>(line));
    match header {
        Some(Ok(h)) if h.format == LINES_FORMAT && h.version == LINES_VERSION && h.schema <= SCHEMA => {}
        Some(Ok(h)) => {
            let expected = format!("{LINES_FORMAT:?} version {LINES_VERSION}, schema up to {SCHEMA}");
            return Err(wrong(1, &expected, format!("{:?} version {}, schema {}", h.format, h.version, h.schema)));
        }
        Some(Err(error)) => {
            return Err(wrong(1, "a file written by `session export --format lines`", error.to_string()));
        }
        None => return Err(Error::param("file", "a file written by `session export --format lines`", "an empty file")),
    }
    let mut session = None;
    let mut records = Vec::new();
    for (n, line) in lines {
        let mut record: Record =
            serde_json::from_slice(line).map_err(|error| wrong(n, "a JSON object", error.to_string()))?;
        let Some(Value::String(kind)) = record.remove("type") else {
            return Err(wrong(n, "a record with a type", "none".to_owned()));
        };
        if kind != "session" {
            records.push((n, kind, record));
        } else if session.is_none() && records.is_empty() {
            let parsed = serde_json::from_value::<SessionRecord>(Value::Object(record));
            session = Some(parsed.map_err(|error| wrong(n, "the record of a session", error.to_string()))?);
        } else {
            return Err(wrong(n, "one session, before its records", "another one".to_owned()));
        }
    }
    let session = session.ok_or_else(|| Error::param("file", "the record of a session", "none"))?;
    Ok(Content { session, records })
}

/// Inserts a note of the session, with its search entry.
fn load_note(
    c: &Connection,
    origin: &str,
    session: i64,
    trace: &str,
    record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let note: NoteRecord = serde_json::from_value(Value::Object(record))
        .map_err(|error| LoadError::Invalid(format!("not a note: {error}")))?;
    let fits = |text: &str, most: usize| text.chars().count() <= most;
    if note.uid.is_empty()
        || note.topic.is_empty()
        || !fits(&note.uid, 64)
        || !fits(&note.topic, notes::MAX_TOPIC)
        || !fits(&note.app, 255)
    {
        return Err(LoadError::Invalid("uid, topic, app: expected at most 64, 200 and 255 characters".to_owned()));
    }
    if note.content.len() > notes::MAX_CONTENT || !(0..=now_ms()).contains(&note.created_at) {
        return Err(LoadError::Invalid(
            "content, createdAt: expected at most 64 KiB, and a time in the past".to_owned(),
        ));
    }
    let new = NewNote {
        uid: Some(note.uid),
        app: note.app,
        topic: note.topic,
        content: note.content,
        trace: trace.to_owned(),
        at: Some(note.created_at),
        scope: note.scope.unwrap_or_default(),
    };
    let saved = notes::save(c, origin, session, &new).map_err(|error: StoreError| LoadError::Store(error))?;
    Ok(if saved.is_some() { Loaded::Inserted } else { Loaded::Present })
}
