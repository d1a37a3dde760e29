//! Imports single records.

use std::collections::BTreeMap;

use afd_proto::upkeep::Imported;
use afd_proto::vocabulary::RecordScope;
use serde_json::Value;

use super::kinds::{self, Subject};
use super::lines::{Line, wrong};
use crate::app::Result;
use afd_device as device;
use afd_experience::{memory, visual};
use afd_recall as recall;
use afd_store as store;
use afd_store::exchange::imports::Import;
use afd_store::exchange::{Kind, LoadError, Loaded, Loader, Record};
use afd_store::{Connection, Piece};
use afd_workspace as session;

/// Maximum number of remarks about skipped records.
const MAX_REMARKS: usize = 20;

/// Imports records, or only checks them.
pub(super) struct Taking {
    kinds: Vec<(Subject, Kind)>,
    loader: Loader,
    folds: memory::transfer::Folds,
    is_check: bool,
    /// Counts and remarks for the records imported so far.
    pub done: Imported,
    /// Whether the experience counters must be rebuilt.
    pub counts_again: bool,
}

impl Taking {
    /// Returns an importer for the records of the given import.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(super) fn new(connection: &Connection, import: Import) -> store::Result<Self> {
        let kinds = kinds::all();
        let loader = Loader::new(connection, kinds.iter().map(|(_, kind)| kind), import)?;
        Ok(Self::of(kinds, loader, false))
    }

    /// Returns an importer that only checks the fields of records, in a database without rows.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(super) fn checking(connection: &Connection) -> store::Result<Self> {
        let kinds = kinds::all();
        let loader = Loader::checking(connection, kinds.iter().map(|(_, kind)| kind))?;
        Ok(Self::of(kinds, loader, true))
    }

    fn of(kinds: Vec<(Subject, Kind)>, loader: Loader, is_check: bool) -> Self {
        let done = Imported { dry_run: false, records: BTreeMap::new(), remarks: Vec::new() };
        Self { kinds, loader, folds: memory::transfer::Folds::default(), is_check, done, counts_again: false }
    }

    /// Imports a record. Returns the record if the piece ended before it was imported.
    ///
    /// # Errors
    /// If the record is invalid; no part of it is imported in that case.
    pub(super) fn take(&mut self, connection: &Connection, line: Line, piece: &Piece) -> Result<Option<Line>> {
        // Only a baseline record takes more than one piece.
        let again = (line.kind == memory::transfer::FOLD).then(|| line.clone());
        let Line { number, kind: name, record, .. } = line;
        let Some((subject, kind)) = self.kinds.iter().find(|(_, kind)| kind.name == name).copied() else {
            return Err(wrong(number, format!("type: expected a known type, got {name:?}")));
        };
        let loaded = self.load_whole(connection, subject, (&kind, record), piece);
        self.counts_again |=
            subject == Subject::Memory && kind.name != "note" && matches!(loaded, Ok(Loaded::Inserted | Loaded::Newer));
        if matches!(loaded, Ok(Loaded::Unfinished)) {
            return Ok(again);
        }
        let counts = self.done.records.entry(name).or_default();
        match loaded {
            Ok(Loaded::Inserted) => counts.added += 1,
            Ok(Loaded::Newer) => counts.renewed += 1,
            Ok(Loaded::Present | Loaded::Unfinished) => counts.present += 1,
            Err(LoadError::Invalid(what)) if self.is_check => return Err(wrong(number, what)),
            Err(LoadError::Taken(what) | LoadError::Missing(what) | LoadError::Invalid(what)) => {
                counts.left_out += 1;
                if self.done.remarks.len() < MAX_REMARKS {
                    self.done.remarks.push(format!("line {number}: {what}"));
                }
            }
            Err(LoadError::Store(error)) => return Err(error.into()),
        }
        Ok(None)
    }

    /// Imports a record in a savepoint, so that a failure leaves no part of it.
    fn load_whole(
        &mut self,
        connection: &Connection,
        subject: Subject,
        (kind, record): (&Kind, Record),
        piece: &Piece,
    ) -> std::result::Result<Loaded, LoadError> {
        store::all_or_nothing(connection, |c| self.load(c, subject, (kind, record), piece))
    }

    fn load(
        &mut self,
        connection: &Connection,
        subject: Subject,
        (kind, record): (&Kind, Record),
        piece: &Piece,
    ) -> std::result::Result<Loaded, LoadError> {
        if is_erased(connection, &record)? {
            self.loader.leave_out(&record, None);
            return Ok(Loaded::Present);
        }
        let loader = &mut self.loader;
        match subject {
            Subject::Device => device::transfer::load(connection, loader, record),
            Subject::Memory => memory::transfer::load(connection, loader, &mut self.folds, (kind, record), piece),
            Subject::Session => session::transfer::load(connection, loader, kind, record),
            Subject::Recall => recall::memories::load(connection, loader, record),
            Subject::Visual => visual::transfer::load(connection, loader, kind, record),
        }
    }
}

/// Returns whether a record belongs to its session alone and the session was deleted here. Such a record is not
/// imported, because deleted data must not return.
fn is_erased(connection: &Connection, record: &Record) -> store::Result<bool> {
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
    Ok(text("scope") == RecordScope::Session.word() && session::is_deleted(connection, text("session"))?)
}
