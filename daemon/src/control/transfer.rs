//! `memory.export` and `memory.import`: everything that is known as lines, and back into another memory.
//!
//! The format is described in `ARCHITECTURE.md`. A file is taken in as a whole or not at all, and taking it in again changes nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use afd_proto::upkeep::{ExportParams, Exported, ImportCounts, ImportParams, Imported};
use afd_proto::vocabulary::RecordScope;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

use super::artifacts::absolute;
use super::jobs::{index_messages, rebuild_experience};
use super::session::export::{LINES_FORMAT, LINES_VERSION};
use super::{Core, Error, Result};
use crate::store::exchange::{Kind, LoadError, Loaded, Loader, Record, dump_kind};
use crate::store::{SCHEMA, StoreError};
use crate::task::run_blocking;
use crate::{device, file, memory, recall, session, visual};

/// What the header of a whole memory says.
const SCOPE: &str = "memory";
/// Type of the last line, by which a file that was cut off is told.
const END: &str = "end";
/// Maximum length of a line, bytes.
const MAX_LINE: u64 = 64 << 20;
/// Maximum number of records that are told to have been left out.
const MAX_REMARKS: usize = 20;

/// The first line.
#[derive(Debug, Deserialize)]
struct Header {
    format: String,
    version: u32,
    schema: u32,
    #[serde(default)]
    scope: Option<String>,
}

/// Which module knows a kind.
#[derive(Clone, Copy)]
enum Subject {
    Device,
    Memory,
    Session,
    Recall,
    Visual,
}

/// Returns all kinds in the order in which they are written.
fn kinds() -> Vec<(Subject, Kind)> {
    let of = |subject: Subject, kinds: &[Kind]| kinds.iter().map(|kind| (subject, *kind)).collect::<Vec<_>>();
    [
        of(Subject::Device, &[device::transfer::KIND]),
        of(Subject::Session, &[session::transfer::SESSION]),
        of(Subject::Memory, &memory::transfer::KINDS),
        of(Subject::Session, &session::transfer::KINDS),
        of(Subject::Recall, &[recall::memories::KIND]),
        of(Subject::Visual, &visual::transfer::KINDS),
    ]
    .concat()
}

/// `memory.export`
///
/// # Errors
/// If the file cannot be written or belongs to the daemon.
pub async fn export(core: &Arc<Core>, params: &ExportParams) -> Result<Exported> {
    let path = absolute("file", &params.file)?;
    if core.is_daemon_file(&path).await? {
        return Err(Error::param("file", "a file that does not belong to the daemon", path.display()));
    }
    if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file() && !meta.is_symlink()) {
        return Err(Error::param("file", "a regular file, or a new one", path.display()));
    }
    let target = path.clone();
    let written = core.store.read_all(move |c| {
        let mut records = BTreeMap::new();
        let done = file::replace_with(&target, |out| write(c, out, &mut records));
        Ok(done.map(|bytes| (bytes, records)))
    });
    let (bytes, records) = written.await?.map_err(|error| Error::param("file", "a writable file", error))?;
    Ok(Exported { file: path.display().to_string(), records, bytes })
}

fn write(connection: &Connection, out: &mut dyn Write, records: &mut BTreeMap<String, u64>) -> io::Result<()> {
    let header = json!({"format": LINES_FORMAT, "version": LINES_VERSION, "schema": SCHEMA, "scope": SCOPE});
    writeln!(out, "{header}")?;
    for (subject, kind) in kinds() {
        let (mut count, mut failure) = (0, None);
        let each = |record: Record| {
            count += 1;
            if failure.is_none() {
                failure = writeln!(out, "{}", Value::Object(record)).err();
            }
        };
        let dumped = match subject {
            Subject::Visual => visual::transfer::dump(connection, &kind, each),
            _ => dump_kind(connection, &kind, each),
        };
        dumped.map_err(io::Error::other)?;
        failure.map_or(Ok(()), Err)?;
        if count > 0 {
            records.insert(kind.name.to_owned(), count);
        }
    }
    writeln!(out, "{}", json!({"type": END, "records": records.values().sum::<u64>()}))
}

/// `memory.import`
///
/// # Errors
/// `INVALID_PARAMS` if the file cannot be read or a line does not fit; nothing was taken in.
pub async fn import(core: &Arc<Core>, params: &ImportParams) -> Result<Imported> {
    let path = absolute("file", &params.file)?;
    let dry_run = params.dry_run.unwrap_or(false);
    let opened = run_blocking(move || open(&path)).await??;
    let own = core.clone();
    let done = async move {
        let writer = own.clone();
        let work = move |c: &Connection| if dry_run { rehearse(c, opened) } else { take_in(c, opened, |seq| changed(&writer, seq)) };
        let done = own.store.write_or_refuse(work).await?;
        if !dry_run {
            own.visual.reload_all();
            own.forget_session_rows();
            own.recall.catch_up();
            index_messages(&own);
            rebuild_experience(&own);
        }
        Ok(Imported { dry_run, ..done })
    };
    core.finish(done).await?
}

/// Lets the next lessons and sequence numbers build on what was taken in.
fn changed(core: &Core, last_seq: i64) {
    core.store.raise_seq(last_seq);
    core.visual.reload_all();
}

/// Takes in the records of a file, whose header was read, and takes it back.
///
/// # Errors
/// If a line does not fit.
pub fn rehearse(connection: &Connection, lines: impl BufRead) -> Result<Imported> {
    connection.execute_batch("SAVEPOINT rehearsal").map_err(StoreError::from)?;
    let done = take_in(connection, lines, |_| ());
    connection.execute_batch("ROLLBACK TO rehearsal; RELEASE rehearsal").map_err(StoreError::from)?;
    done
}

/// Opens a file and checks its header.
fn open(path: &Path) -> Result<BufReader<File>> {
    let wrong = |got: String| Error::param("file", "a file written by `memory export`", format!("{}: {got}", path.display()));
    let mut lines = BufReader::new(file::open_regular(path).map_err(|error| wrong(error.to_string()))?);
    let first = next_line(&mut lines).map_err(|error| wrong(error.to_string()))?.ok_or_else(|| wrong("an empty file".to_owned()))?;
    // Some editors put a byte order mark at the start.
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first);
    let header: Header = serde_json::from_slice(first).map_err(|error| wrong(format!("line 1: {error}")))?;
    if header.format != LINES_FORMAT || header.version != LINES_VERSION || header.schema > SCHEMA {
        return Err(wrong(format!(
            "{:?} version {}, schema {}; this daemon reads {LINES_FORMAT:?} version {LINES_VERSION}, schema up to {SCHEMA}",
            header.format, header.version, header.schema
        )));
    }
    match header.scope.as_deref() {
        Some(SCOPE) => Ok(lines),
        _ => Err(wrong("a single session".to_owned()).hint("`afctl session import` takes it in")),
    }
}

/// Reads a line without its end; `None` at the end of the file.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if io::Read::take(&mut *lines, MAX_LINE).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() as u64 >= MAX_LINE {
        return Err(io::Error::other(format!("a line of more than {MAX_LINE} bytes")));
    }
    Ok(Some(line))
}

/// Takes in the records of a file. Calls `last` with the highest sequence number in use.
fn take_in(connection: &Connection, mut lines: impl BufRead, last: impl FnOnce(i64)) -> Result<Imported> {
    let kinds = kinds();
    let mut loader = Loader::new(connection, kinds.iter().map(|(_, kind)| kind))?;
    let mut folds = memory::transfer::Folds::default();
    let mut done = Imported { dry_run: false, records: BTreeMap::new(), remarks: Vec::new() };
    let (mut number, mut taken, mut is_complete) = (1, 0, false);
    let wrong = |number: usize, what: String| Error::param("file", "records of a memory", format!("line {number}: {what}"));
    loop {
        number += 1;
        let Some(line) = next_line(&mut lines).map_err(|error| wrong(number, error.to_string()))? else { break };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut record: Record = serde_json::from_slice(&line).map_err(|error| wrong(number, error.to_string()))?;
        if is_complete {
            return Err(wrong(number, "there is something after the end".to_owned()));
        }
        let name = record.remove("type").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        if name == END {
            is_complete = record.get("records").and_then(Value::as_u64) == Some(taken);
            if !is_complete {
                return Err(wrong(number, format!("there are {taken} records before the end, which tells of another number")));
            }
            continue;
        }
        taken += 1;
        let Some((subject, kind)) = kinds.iter().find(|(_, kind)| kind.name == name) else {
            return Err(wrong(number, format!("type: expected a known type, got {name:?}")));
        };
        let loaded = match subject {
            _ if is_erased(connection, &record)? => {
                loader.leave_out(&record, None);
                Ok(Loaded::Present)
            }
            Subject::Device => device::transfer::load(connection, &mut loader, record),
            Subject::Memory => memory::transfer::load(connection, &mut loader, &mut folds, kind, record),
            Subject::Session => session::transfer::load(connection, &mut loader, kind, record),
            Subject::Recall => recall::memories::load(connection, &mut loader, record),
            Subject::Visual => visual::transfer::load(connection, &mut loader, kind, record),
        };
        let counts = done.records.entry(name).or_default();
        match loaded {
            Ok(Loaded::Inserted) => counts.added += 1,
            Ok(Loaded::Newer) => counts.renewed += 1,
            Ok(Loaded::Present) => counts.present += 1,
            Err(LoadError::Taken(what) | LoadError::Missing(what)) => {
                counts.left_out += 1;
                if done.remarks.len() < MAX_REMARKS {
                    done.remarks.push(format!("line {number}: {what}"));
                }
            }
            Err(LoadError::Invalid(what)) => return Err(wrong(number, what)),
            Err(LoadError::Store(error)) => return Err(error.into()),
        }
    }
    if !is_complete {
        return Err(wrong(number, "the file was cut off".to_owned()));
    }
    if done.records.values().any(|ImportCounts { added, renewed, .. }| added + renewed > 0) {
        memory::rebuild::begin(connection)?;
    }
    last(memory::last_seq(connection)?);
    Ok(done)
}

/// Returns whether a record was for its session alone, and the session was deleted here: what was erased with it does not come back.
fn is_erased(connection: &Connection, record: &Record) -> crate::store::Result<bool> {
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
    Ok(text("scope") == RecordScope::Session.word() && session::is_deleted(connection, text("session"))?)
}
