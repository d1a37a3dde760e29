//! Activity of a session without rows in this database: activity in another copy of the memory, as recorded in an
//! imported file, and activity whose rows were pruned.

use std::collections::HashMap;

use afd_proto::session::{Statistics, VisitedPage};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use afd_store::exchange::MAX_FIGURE;
use afd_store::{Result, Sql as _, args, to_json};

/// Figures and pages of activity without rows, which are added to those computed from rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Elsewhere {
    /// Figures, except those that follow from imported records.
    pub statistics: Statistics,
    /// Visited pages, most recent first.
    pub pages: Vec<VisitedPage>,
}

/// Returns the stored figures and pages of a session.
pub fn of(connection: &Connection, session: i64) -> Result<Elsewhere> {
    let found: Option<String> = connection
        .first("SELECT elsewhere FROM sessions WHERE id = :id", args! {id: session}, |row| row.get("elsewhere"))?
        .flatten();
    Ok(found.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Adds to the stored figures and pages of a session.
pub fn add(connection: &Connection, session: i64, more: Elsewhere) -> Result<()> {
    let mut all = of(connection, session)?;
    more.add_to(&mut all.statistics);
    more.add_pages_to(&mut all.pages);
    set(connection, session, &all)
}

/// Replaces the stored figures and pages of a session. Its modification time stays, because this is no new activity.
pub fn set(connection: &Connection, session: i64, elsewhere: &Elsewhere) -> Result<()> {
    connection.run(
        "UPDATE sessions SET elsewhere = :elsewhere WHERE id = :id",
        args! {id: session, elsewhere: to_json(elsewhere)},
    )?;
    Ok(())
}

impl Elsewhere {
    /// Clamps figures from a file to `0..=MAX_FIGURE`, so that they can be added.
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

    /// Adds its figures to `own`.
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

    /// Adds its pages to `own`. A page that is in both appears once, with the sum of the observations.
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
