//! Taking over what was read, and what came of each row. What is there already stays as it is.

mod components;
mod members;
mod states;
mod transitions;

use rusqlite::{Connection, named_params};
use serde_json::Value;

use self::members::{number, rest, time};
use super::Remark;
use super::read::Directory;
use crate::store::{Result, new_uid};
use crate::visual::index::Index;
use crate::visual::scope::{self, Scope};

/// What became of the rows of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub found: u64,
    /// How many were taken over.
    pub added: u64,
    /// How many were there before.
    pub present: u64,
    /// How many were left behind.
    pub skipped: u64,
}

/// What became of an app or site.
#[derive(Debug, Default)]
pub struct Report {
    /// Row of the scope.
    pub app: i64,
    /// Components.
    pub components: Tally,
    /// States.
    pub states: Tally,
    /// Transitions.
    pub transitions: Tally,
    /// What was not taken over as it is, and why.
    pub remarks: Vec<Remark>,
    /// Components that were added, with the file of their picture.
    pub pictures: Vec<(i64, String)>,
}

/// Takes over an app or site.
///
/// # Errors
/// What SQLite says.
pub fn take_up(connection: &Connection, origin: &str, index: &Index, scope: &Scope, mut from: Directory, at: i64) -> Result<Report> {
    let known = scope::take_up(connection, origin, scope)?;
    let remarks = std::mem::take(&mut from.remarks);
    let mut step = Step { connection, origin, app: known.id, at, from, report: Report { app: known.id, remarks, ..Report::default() } };
    step.meta(&known)?;
    let names = step.components()?;
    let states = step.states(&names)?;
    step.transitions(states)?;
    index.reload(scope);
    let remarks = std::mem::take(&mut step.from.remarks);
    step.report.remarks.extend(remarks);
    Ok(step.report)
}

struct Step<'a> {
    connection: &'a Connection,
    origin: &'a str,
    app: i64,
    at: i64,
    from: Directory,
    report: Report,
}

impl Step<'_> {
    fn skip(&mut self, file: &str, key: &str, why: impl Into<String>) {
        self.from.remark(file, key, why);
    }

    fn meta(&mut self, known: &scope::Known) -> Result<()> {
        let mut meta = std::mem::take(&mut self.from.meta);
        let count = number(&mut meta, "detect_count").unwrap_or_default();
        // What somebody has set here stays.
        let threshold = number(&mut meta, "forget_threshold").filter(|t| *t > 0 && known.learn_count == 0);
        let learned = time(&mut meta, "last_updated");
        let size = meta.get("img_size").and_then(Value::as_array).and_then(|a| Some((a.first()?.as_i64()?, a.get(1)?.as_i64()?)));
        if size.is_some() {
            meta.remove("img_size");
        }
        // The scope tells the app; the domain as it was written is kept.
        if meta.get("app").and_then(Value::as_str) == Some(known.scope.app.as_str()) {
            meta.remove("app");
        }
        self.connection
            .prepare_cached(
                "UPDATE apps SET learn_count = max(learn_count, :count), forget_threshold = coalesce(:threshold, forget_threshold),
                    learned_at = nullif(max(coalesce(learned_at, 0), coalesce(:learned_at, 0)), 0), image_width = coalesce(image_width, :width),
                    image_height = coalesce(image_height, :height), extra = coalesce(extra, :extra), updated_at = :now WHERE id = :app",
            )?
            .execute(named_params! {
                ":app": self.app,
                ":count": count,
                ":threshold": threshold,
                ":learned_at": learned,
                ":width": size.map(|s| s.0),
                ":height": size.map(|s| s.1),
                ":extra": rest(meta),
                ":now": self.at,
            })?;
        Ok(())
    }

    /// The uid that a row came with, if no other row has it.
    fn uid(&self, table: &'static str, given: Option<&Value>) -> Result<String> {
        let Some(given) = given.and_then(Value::as_str) else { return Ok(new_uid()) };
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE uid = :uid) AS taken");
        let taken: bool = self.connection.prepare_cached(&sql)?.query_row(named_params! {":uid": given}, |row| row.get("taken"))?;
        Ok(if taken { new_uid() } else { given.to_owned() })
    }
}
