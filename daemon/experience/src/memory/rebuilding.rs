//! The progress of a rebuild of the experience counters.

use rusqlite::{Connection, OptionalExtension};

use afd_store::{Result, Sql as _, args};

/// A table whose rows hold counts, either from pruned events and observations or from another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Transitions,
    Recoveries,
    BaselineOutcomes,
    BaselineRecoveries,
}

impl Counted {
    /// The tables in the order in which their rows are added.
    pub(super) const ALL: [Self; 4] =
        [Self::Transitions, Self::Recoveries, Self::BaselineOutcomes, Self::BaselineRecoveries];

    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Transitions => "imported_transitions",
            Self::Recoveries => "imported_recoveries",
            Self::BaselineOutcomes => "baseline_outcomes",
            Self::BaselineRecoveries => "baseline_recoveries",
        }
    }
}

/// The next step of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Deletes counters.
    Delete,
    /// Adds the rows of a table that have a higher row id than this one.
    Add(Counted, i64),
    /// Counts the events and observations that have a higher sequence number than this one.
    Count(i64),
}

impl Step {
    /// Returns the value of `store.rebuild_cursor` for this step: the sequence number for [`Step::Count`], and a
    /// negative number for all other steps. While the cursor is negative, no event or observation is counted yet.
    pub(super) fn cursor(self) -> i64 {
        match self {
            Self::Delete => -1,
            Self::Add(table, after) => -2 - (after * 4 + table as i64),
            Self::Count(after) => after,
        }
    }

    pub(super) fn of(cursor: i64) -> Self {
        match cursor {
            0.. => Self::Count(cursor),
            -1 => Self::Delete,
            _ => {
                let packed = -2 - cursor;
                Self::Add(Counted::ALL[packed as usize % 4], packed / 4)
            }
        }
    }

    /// Returns the step that follows when all rows of a table have been added.
    pub(super) fn after(table: Counted) -> Self {
        match Counted::ALL.get(table as usize + 1) {
            Some(next) => Self::Add(*next, 0),
            None => Self::Count(0),
        }
    }
}

pub(super) fn go_to(connection: &Connection, step: Step) -> Result<()> {
    connection.run("UPDATE store SET rebuild_cursor = :cursor", args! {cursor: step.cursor()})?;
    Ok(())
}

/// Returns the next step and the last sequence number to count, or `None` if the counters are complete.
pub(super) fn next(connection: &Connection) -> Result<Option<(Step, i64)>> {
    let sql = "SELECT rebuild_cursor, coalesce(rebuild_upto, 0) AS upto FROM store WHERE rebuild_cursor IS NOT NULL";
    let found = connection
        .prepare_cached(sql)?
        .query_row([], |row| Ok((Step::of(row.get("rebuild_cursor")?), row.get("upto")?)));
    Ok(found.optional()?)
}

/// Returns whether the counters include a row of a table. If not, the rebuild adds it later.
pub(super) fn has_added(connection: &Connection, table: Counted, id: i64) -> Result<bool> {
    Ok(match next(connection)? {
        Some((Step::Delete, _)) => false,
        Some((Step::Add(at, after), _)) => (table as usize, id) <= (at as usize, after),
        Some((Step::Count(_), _)) | None => true,
    })
}
