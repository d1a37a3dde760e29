//! Loads records of several kinds. A record can refer to records that were loaded before it.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;
use serde_json::Value;

use super::imports::{self, Import};
use super::{Kind, LoadError, Loaded, Record, References, Table, row_of};
use crate::{Result, StoreError, origins_of};

/// Loads the records of an import, or only checks records without importing them.
pub struct Loader {
    tables: HashMap<&'static str, Table>,
    references: References,
    /// Uids of skipped records, each with the reason to report, if any. Records that refer to them are also skipped.
    unwanted: HashMap<String, Option<&'static str>>,
    /// The import in progress; `None` if records are only checked.
    import: Option<Import>,
    chosen: HashSet<String>,
    /// The uids of this store and of the stores that it replaced.
    ours: Vec<String>,
}

fn tables<'a>(
    connection: &Connection,
    kinds: impl IntoIterator<Item = &'a Kind>,
) -> Result<HashMap<&'static str, Table>> {
    let table = |kind: &Kind| {
        Ok((kind.name, Table { natural: kind.natural, ..Table::of(connection, kind.table, kind.skipped)? }))
    };
    kinds.into_iter().map(table).collect()
}

impl Loader {
    /// Returns a loader for an import whose records have these kinds.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn new<'a>(connection: &Connection, kinds: impl IntoIterator<Item = &'a Kind>, import: Import) -> Result<Self> {
        let (chosen, ours) = (imports::choices(connection, import.id)?, origins_of(connection)?);
        Ok(Self {
            tables: tables(connection, kinds)?,
            references: References::default(),
            unwanted: HashMap::new(),
            import: Some(import),
            chosen,
            ours,
        })
    }

    /// Returns a loader that only checks the fields of records of these kinds. The database must be empty and must not
    /// enforce foreign keys.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn checking<'a>(connection: &Connection, kinds: impl IntoIterator<Item = &'a Kind>) -> Result<Self> {
        let references = References { unchecked: true, ..References::default() };
        Ok(Self {
            tables: tables(connection, kinds)?,
            references,
            unwanted: HashMap::new(),
            import: None,
            chosen: HashSet::new(),
            ours: Vec::new(),
        })
    }

    /// Returns the uids of this store and of the stores that it replaced.
    pub fn ours(&self) -> &[String] {
        &self.ours
    }

    /// Returns whether the records may change existing sessions.
    pub fn merges(&self) -> bool {
        self.import.as_ref().is_none_or(|import| import.merge)
    }

    /// Records the decision to use the file's version of a session or conversation (given by its uid) or of a baseline
    /// (given by its origin).
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn choose(&mut self, connection: &Connection, uid: &str) -> Result<(), StoreError> {
        if let Some(import) = &self.import
            && self.chosen.insert(uid.to_owned())
        {
            imports::choose(connection, import.id, uid)?;
        }
        Ok(())
    }

    /// Returns whether this run, or an earlier run of the import, decided to use the file's version for this uid.
    pub fn chose(&self, uid: &str) -> bool {
        self.chosen.contains(uid)
    }

    /// Inserts the row for a record, or updates the existing row if the record is newer.
    ///
    /// # Errors
    /// If a field is invalid or refers to a missing row, or if another row already has a value that must be unique.
    pub fn load(&mut self, connection: &Connection, kind: &Kind, record: Record) -> Result<Loaded, LoadError> {
        let table = self
            .tables
            .get(kind.name)
            .ok_or_else(|| LoadError::Invalid(format!("type: {:?} is unknown", kind.name)))?;
        table.load_among(connection, record, true, &mut self.references)
    }

    /// Returns whether a record is news to this store: its row is missing, or is older than the record and not deleted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn is_news(&self, connection: &Connection, kind: &Kind, record: &Record) -> Result<bool> {
        let uid = record.get("uid").and_then(Value::as_str).unwrap_or_default();
        let Some(table) = self.tables.get(kind.name) else { return Ok(true) };
        let at = record.get("updatedAt").and_then(Value::as_i64);
        Ok(table.state_of(connection, uid)?.is_none_or(|(here, deleted)| !deleted && at.is_some_and(|at| at > here)))
    }

    /// Marks a record as skipped. Records that refer to it are reported with the reason `why`, or count as present if
    /// there is no reason.
    pub fn leave_out(&mut self, record: &Record, why: Option<&'static str>) {
        self.unwanted.extend(record.get("uid").and_then(Value::as_str).map(|uid| (uid.to_owned(), why)));
    }

    /// Returns the result for a record whose field `field` refers to a skipped record; `None` if the field does not.
    pub fn left_out(&self, record: &Record, field: &str) -> Option<Result<Loaded, LoadError>> {
        let why = self.unwanted.get(record.get(field).and_then(Value::as_str)?)?;
        Some(why.map_or(Ok(Loaded::Present), |why| Err(LoadError::Taken(why.to_owned()))))
    }

    /// Makes later references to a record refer to the existing row with this id.
    pub fn alias(&mut self, kind: &Kind, record: &Record, id: i64) {
        if let Some(uid) = record.get("uid").and_then(Value::as_str) {
            self.references.alias(kind.table, uid.to_owned(), id);
        }
    }

    /// Returns whether there is a row for a record.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn knows(&self, connection: &Connection, kind: &Kind, record: &Record) -> Result<bool> {
        let uid = record.get("uid").and_then(Value::as_str).unwrap_or_default();
        Ok(row_of(connection, kind.table, uid)?.is_some())
    }
}
