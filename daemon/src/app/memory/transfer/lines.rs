//! The lines of an export file: a header, records, and an end line with the number of records.

use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

use super::kinds::{END, SCOPE};
use crate::app::session::lines::{LINES_FORMAT, LINES_VERSION};
use crate::app::{Error, Result};
use afd_store::SCHEMA;
use afd_store::exchange::Record;

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 64 << 20;

/// First line of an export file.
#[derive(Debug, Deserialize)]
struct Header {
    format: String,
    version: u32,
    schema: u32,
    #[serde(default)]
    scope: Option<String>,
}

/// A record and its line in the file.
#[derive(Clone)]
pub(super) struct Line {
    /// Line number; the header is line 1.
    pub number: usize,
    /// Type of the record.
    pub kind: String,
    pub record: Record,
    /// Length of the line, in bytes.
    pub bytes: usize,
}

/// Reads a file line by line.
pub(super) struct Lines<R> {
    input: R,
    number: usize,
    records: u64,
    is_complete: bool,
    line: Vec<u8>,
}

/// Returns the error for an invalid line.
pub(super) fn wrong(number: usize, what: impl std::fmt::Display) -> Error {
    Error::param("file", "records of a memory", format!("line {number}: {what}"))
}

impl<R: BufRead> Lines<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If the file is not an export of a whole memory that this version can read.
    pub(super) fn open(input: R) -> Result<Self> {
        let mut lines = Self { input, number: 0, records: 0, is_complete: false, line: Vec::new() };
        let refused = |got: String| Error::param("file", "a file written by `memory export`", got);
        if !lines.advance().map_err(|error| refused(error.to_string()))? {
            return Err(refused("an empty file".to_owned()));
        }
        // Some editors put a byte order mark at the start.
        let first = lines.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&lines.line);
        let header: Header = serde_json::from_slice(first).map_err(|error| refused(format!("line 1: {error}")))?;
        if header.format != LINES_FORMAT || header.version != LINES_VERSION || header.schema > SCHEMA {
            return Err(refused(format!(
                "{:?} version {}, schema {}; this daemon reads {LINES_FORMAT:?} version {LINES_VERSION}, schema up to {SCHEMA}",
                header.format, header.version, header.schema
            )));
        }
        match header.scope.as_deref() {
            Some(SCOPE) => Ok(lines),
            _ => Err(refused("a single session".to_owned()).hint("`afctl session import` imports it")),
        }
    }

    /// Returns the bytes of the line that was read last, including its line break.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next line. Returns `false` at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.number += 1;
        if io::Read::take(&mut self.input, MAX_LINE).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        if self.line.len() as u64 >= MAX_LINE {
            return Err(io::Error::other(format!("a line of more than {MAX_LINE} bytes")));
        }
        Ok(true)
    }

    /// Reads the next record. Returns `None` after the last one. Calls `passed` with the bytes of each line that was
    /// read.
    ///
    /// # Errors
    /// If a line is not a record, or if the last line does not confirm the number of records.
    pub(super) fn next(&mut self, mut passed: impl FnMut(&[u8]) -> io::Result<()>) -> Result<Option<Line>> {
        loop {
            let more = self.advance().and_then(|more| if more { passed(&self.line).map(|()| true) } else { Ok(false) });
            let number = self.number;
            if !more.map_err(|error| wrong(number, error))? {
                return if self.is_complete { Ok(None) } else { Err(wrong(number, "the file was cut off")) };
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let mut record: Record = serde_json::from_slice(&self.line).map_err(|error| wrong(number, error))?;
            if self.is_complete {
                return Err(wrong(number, "there is something after the end"));
            }
            let kind = record.remove("type").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
            if kind == END {
                self.is_complete = record.get("records").and_then(Value::as_u64) == Some(self.records);
                if !self.is_complete {
                    return Err(wrong(
                        number,
                        format!("there are {} records before the end line, which has another number", self.records),
                    ));
                }
                continue;
            }
            self.records += 1;
            return Ok(Some(Line { number, kind, record, bytes: self.line.len() }));
        }
    }
}
