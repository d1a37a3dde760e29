//! Checks a file before anything of it is imported.

use std::io::{self, BufRead};

use super::lines::Lines;
use super::taking::Taking;
use crate::app::{Error, Result};
use afd_store::{self as store, Piece};

/// Records after which the database in which they are checked is emptied.
const AT_A_TIME: u64 = 500;

/// Checks all records of a file in a database of its own, in memory: their fields, lengths, ranges, and what the
/// columns accept. What they refer to is not checked. `passed` is called with the bytes of each line; an error of it
/// ends the check.
///
/// # Errors
/// `INVALID_PARAMS` for `file` with the first line that does not fit.
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
