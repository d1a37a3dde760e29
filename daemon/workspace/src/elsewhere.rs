//! Statistics and pages for session activity that has no rows in this database: the activity took place in another copy
//! of the memory and was imported from a file, or its rows were pruned.

use std::collections::HashMap;

use afd_proto::session::{Statistics, VisitedPage};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use afd_store::exchange::MAX_FIGURE;
use afd_store::{Result, Sql as _, args, to_json};

/// Statistics and visited pages for activity without rows. They are added to those computed from rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Elsewhere {
    /// Statistics, except those that can be computed from imported records.
    pub statistics: Statistics,
    /// Visited pages, most recent first.
    pub pages: Vec<VisitedPage>,
}

/// Returns a session's stored statistics and pages for activity without rows.
pub fn of(connection: &Connection, session: i64) -> Result<Elsewhere> {
    let found: Option<String> = connection
        .first("SELECT elsewhere FROM sessions WHERE id = :id", args! {id: session}, |row| row.get("elsewhere"))?
        .flatten();
    Ok(found.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Adds `more` to a session's stored statistics and pages.
pub fn add(connection: &Connection, session: i64, more: Elsewhere) -> Result<()> {
    let mut all = of(connection, session)?;
    more.add_to(&mut all.statistics);
    more.add_pages_to(&mut all.pages);
    set(connection, session, &all)
}

/// Replaces a session's stored statistics and pages. The session's modification time is left unchanged, because this is
/// not new activity.
pub fn set(connection: &Connection, session: i64, elsewhere: &Elsewhere) -> Result<()> {
    connection.run(
        "UPDATE sessions SET elsewhere = :elsewhere WHERE id = :id",
        args! {id: session, elsewhere: to_json(elsewhere)},
    )?;
    Ok(())
}

impl Elsewhere {
    /// Clamps statistics and observation counts read from a file to `0..=MAX_FIGURE`, so that sums do not overflow.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let s = &mut self.statistics;
        for figure in [
            &mut s.actions_performed,
            &mut s.assertions_passed,
            &mut s.assertions_failed,
            &mut s.errors_encountered,
            &mut s.observations,
            &mut s.artifacts,
            &mut s.notes,
            &mut s.messages,
        ] {
            *figure = (*figure).clamp(0, MAX_FIGURE);
        }
        self.pages.iter_mut().for_each(|page| page.observations = page.observations.clamp(0, MAX_FIGURE));
        self
    }

    /// Adds these statistics to `own`.
    pub fn add_to(&self, own: &mut Statistics) {
        for (of, more) in [
            (&mut own.actions_performed, self.statistics.actions_performed),
            (&mut own.assertions_passed, self.statistics.assertions_passed),
            (&mut own.assertions_failed, self.statistics.assertions_failed),
            (&mut own.errors_encountered, self.statistics.errors_encountered),
            (&mut own.observations, self.statistics.observations),
            (&mut own.artifacts, self.statistics.artifacts),
            (&mut own.notes, self.statistics.notes),
            (&mut own.messages, self.statistics.messages),
        ] {
            *of = of.saturating_add(more.max(0));
        }
    }

    /// Adds these pages to `own`. A page that is in both lists appears once, with the sum of its observation counts.
    pub fn add_pages_to(self, own: &mut Vec<VisitedPage>) {
        let known: HashMap<String, usize> = own.iter().enumerate().map(|(i, page)| (page.key.clone(), i)).collect();
        for page in self.pages {
            match known.get(&page.key) {
                Some(i) => {
                    own[*i].observations = own[*i].observations.saturating_add(page.observations.max(0));
                    own[*i].first_seen = own[*i].first_seen.min(page.first_seen);
                    own[*i].last_seen = own[*i].last_seen.max(page.last_seen);
                }
                None => own.push(VisitedPage { snapshot: None, state: None, ..page }),
            }
        }
    }
}
