//! Imports the contents of a directory, and reports the outcome for each row. Existing rows are not changed.

mod components;
mod members;
mod states;
mod transitions;

use rusqlite::Connection;
use serde_json::Value;

use self::members::{number, rest, time};
use super::Remark;
use super::read::Directory;
use crate::visual::index::Index;
use crate::visual::scope::{self, Scope};
use afd_store::{Result, Sql as _, args, new_uid};

/// Row counts of a file, by import outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of rows in the file.
    pub found: u64,
    /// Number of rows that were inserted.
    pub added: u64,
    /// Number of rows that already existed.
    pub present: u64,
    /// Number of rows that were skipped.
    pub skipped: u64,
}

/// The result of importing an app or site.
#[derive(Debug, Default)]
pub struct Report {
    /// Row id of the scope.
    pub app: i64,
    /// Row counts for the components.
    pub components: Tally,
    /// Row counts for the states.
    pub states: Tally,
    /// Row counts for the transitions.
    pub transitions: Tally,
    /// Parts that were not imported unchanged, with the reasons.
    pub remarks: Vec<Remark>,
    /// Row ids of the components that were added, each with its picture file.
    pub pictures: Vec<(i64, String)>,
}

/// Imports an app or site.
pub fn import_directory(
    connection: &Connection,
    origin: &str,
    index: &Index,
    scope: &Scope,
    mut from: Directory,
    at: i64,
) -> Result<Report> {
    let known = scope::get_or_create(connection, origin, scope)?;
    let remarks = std::mem::take(&mut from.remarks);
    let mut step = Step {
        connection,
        origin,
        app: known.id,
        at,
        from,
        report: Report { app: known.id, remarks, ..Report::default() },
    };
    step.meta(&known)?;
    let names = step.components()?;
    let states = step.states(&names)?;
    step.transitions(states)?;
    index.reload(scope);
    let remarks = std::mem::take(&mut step.from.remarks);
    step.report.remarks.extend(remarks);
    Ok(step.report)
}

/// An import in progress.
struct Step<'a> {
    connection: &'a Connection,
    origin: &'a str,
    app: i64,
    at: i64,
    from: Directory,
    report: Report,
}

impl Step<'_> {
    /// Records the reason why a row is not imported unchanged.
    fn skip(&mut self, file: &str, key: &str, why: impl Into<String>) {
        self.from.remark(file, key, why);
    }

    /// Imports the properties of the scope.
    fn meta(&mut self, known: &scope::Known) -> Result<()> {
        let mut meta = std::mem::take(&mut self.from.meta);
        let count = number(&mut meta, "detect_count").unwrap_or_default();
        // The threshold of a scope that has already learned something is not changed.
        let threshold = number(&mut meta, "forget_threshold").filter(|t| *t > 0 && known.learn_count == 0);
        let learned = time(&mut meta, "last_updated");
        let size = meta
            .get("img_size")
            .and_then(Value::as_array)
            .and_then(|a| Some((a.first()?.as_i64()?, a.get(1)?.as_i64()?)));
        if size.is_some() {
            meta.remove("img_size");
        }
        // The app is known from the scope. The domain is preserved as written.
        if meta.get("app").and_then(Value::as_str) == Some(known.scope.app.as_str()) {
            meta.remove("app");
        }
        self.connection.run(
            "UPDATE apps SET learn_count = max(learn_count, :count), forget_threshold = coalesce(:threshold, forget_threshold),
                    learned_at = nullif(max(coalesce(learned_at, 0), coalesce(:learned_at, 0)), 0), image_width = coalesce(image_width, :width),
                    image_height = coalesce(image_height, :height), extra = coalesce(extra, :extra), updated_at = :now WHERE id = :app",
            args! {
                app: self.app, count, threshold, learned_at: learned, width: size.map(|s| s.0),
                height: size.map(|s| s.1), extra: rest(meta), now: self.at
            },
        )?;
        Ok(())
    }

    /// Returns the uid from the file, or a new uid if the file has none or another row already uses it.
    fn uid(&self, table: &'static str, given: Option<&Value>) -> Result<String> {
        let Some(given) = given.and_then(Value::as_str) else { return Ok(new_uid()) };
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE uid = :uid) AS taken");
        let taken: bool = self.connection.one(&sql, args! {uid: given}, |row| row.get("taken"))?;
        Ok(if taken { new_uid() } else { given.to_owned() })
    }
}
