//! Applies an accepted file in short writes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::upkeep::Imported;

use super::lines::{Line, Lines};
use super::taking::Taking;
use crate::app::daemon::catching_up::{index_messages, rebuild_experience};
use crate::app::{Core, Error, Result, scope};
use afd_base::task::run_blocking;
use afd_experience::memory;
use afd_store::exchange::imports::{self, Import};
use afd_store::{self as store, Connection, Piece, StoreError};

/// Maximum number of records that are read at a time.
const MAX_RECORDS: usize = 1_000;
/// Maximum total length of the records that are read at a time, in bytes.
const MAX_BYTES: usize = 1 << 20;

type Read = Lines<BufReader<File>>;

/// Reads the next records. Returns an empty queue at the end of the file.
fn read_some(mut lines: Read) -> Result<(Read, VecDeque<Line>)> {
    let (mut found, mut bytes) = (VecDeque::new(), 0);
    while found.len() < MAX_RECORDS && bytes < MAX_BYTES {
        let Some(line) = lines.next(|_| Ok(()))? else { break };
        bytes += line.bytes;
        found.push_back(line);
    }
    Ok((lines, found))
}

/// Imports the records in `waiting` until none are left or the time limit of `piece` is reached.
fn apply_some(connection: &Connection, taking: &mut Taking, waiting: &mut VecDeque<Line>, piece: &Piece) -> Result<()> {
    while let Some(line) = waiting.pop_front() {
        if let Some(line) = taking.take(connection, line, piece)? {
            waiting.push_front(line);
        }
        if piece.is_over() {
            break;
        }
    }
    Ok(())
}

/// Completes an import after its last record. Returns the highest sequence number in use.
fn finish(connection: &Connection, import: &Import, counts_again: bool) -> store::Result<i64> {
    if counts_again {
        memory::rebuild::begin(connection)?;
    }
    imports::complete(connection, import.id)?;
    memory::last_seq(connection)
}

/// Imports a whole file in the current transaction, for dry runs.
///
/// # Errors
/// If a line is invalid.
pub(super) fn at_once(connection: &Connection, input: impl BufRead, merge: bool) -> Result<Imported> {
    let import = imports::accept(connection, "", merge)?;
    let mut lines = Lines::open(input)?;
    let mut taking = Taking::new(connection, import.clone())?;
    while let Some(line) = lines.next(|_| Ok(()))? {
        taking.take(connection, line, &Piece::whole())?;
    }
    finish(connection, &import, taking.counts_again)?;
    Ok(taking.done)
}

/// Applies an accepted file. `is_resumed` is true if an earlier run did not complete.
///
/// # Errors
/// If the database cannot be written, or if the daemon is stopping. The records applied so far stay, and a later run
/// applies the rest.
pub(super) async fn apply(core: &Arc<Core>, import: Import, path: &Path, is_resumed: bool) -> Result<Imported> {
    let opened = path.to_owned();
    let open = move || {
        let file = File::open(&opened)
            .map_err(|error| StoreError::Unavailable(format!("cannot read {}: {error}", opened.display())))?;
        let size = file.metadata().map_or(0, |meta| meta.len());
        Ok::<_, Error>((Lines::open(BufReader::new(file))?, size))
    };
    let (mut lines, size) = run_blocking(open).await??;
    let begun = import.clone();
    let mut taking = core.store.read_all(move |c| Taking::new(c, begun)).await?;
    let mut bytes = 0;
    loop {
        let (rest, mut waiting) = run_blocking(move || read_some(lines)).await??;
        lines = rest;
        if waiting.is_empty() {
            break;
        }
        bytes += waiting.iter().map(|line| line.bytes as u64).sum::<u64>();
        while !waiting.is_empty() {
            if *core.runtime.stopping().borrow() {
                return Err(stopped());
            }
            let work = move |c: &Connection, piece: &Piece| {
                apply_some(c, &mut taking, &mut waiting, piece)?;
                Ok::<_, Error>((taking, waiting))
            };
            (taking, waiting) = core.store.write_long(work).await?;
        }
        scope::report(bytes, Some(size), "imported");
    }
    let counts_again = taking.counts_again || is_resumed;
    let last_seq = core.store.write(move |c| finish(c, &import, counts_again)).await?;
    core.store.raise_seq(last_seq);
    core.experience.visual.reload_all();
    core.sessions.forget_all();
    index_messages(core);
    rebuild_experience(core);
    Ok(taking.done)
}

/// Creates the error for an import that the daemon interrupts because it stops.
fn stopped() -> Error {
    Error::new(
        ErrorCode::StoreUnavailable,
        "the daemon is stopping; the file was accepted, and the next start imports the rest of it",
    )
}
