//! Checks a file before any of it is imported.

use std::io::{self, BufRead};

use super::lines::Lines;
use super::taking::Taking;
use crate::app::{Error, Result};
use afd_store::{self as store, Piece};

/// Number of records after which the temporary database is emptied.
const AT_A_TIME: u64 = 500;

/// Checks all records of a file in a temporary in-memory database: their fields, lengths, ranges, and the constraints
/// of the columns. References to other records are not checked. Calls `passed` with the bytes of each line; an error
/// that it returns ends the check.
///
/// # Errors
/// `INVALID_PARAMS` for `file`, naming the first invalid line.
pub(super) fn check(input: impl BufRead, mut passed: impl FnMut(&[u8]) -> io::Result<()>) -> Result<()> {
    let mut lines = Lines::open(input)?;
    passed(lines.bytes()).map_err(|error| Error::param("file", "a file that can be copied", error))?;
    let connection = store::unchecked_in_memory()?;
    let mut taking = Taking::checking(&connection)?;
    let mut count = 0;
    while let Some(line) = lines.next(&mut passed)? {
        taking.take(&connection, line, &Piece::whole())?;
        count += 1;
        if count % AT_A_TIME == 0 {
            store::start_over(&connection)?;
        }
    }
    Ok(())
}
