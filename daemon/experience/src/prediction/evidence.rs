//! Reads the attempts from which actions are predicted.

use std::collections::HashMap;

use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::{Action, Target, Verb};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};

use super::blend::{Effect, Level, Prediction, Seen, blend};
use super::destination::Destination;
use crate::memory::outcomes::decayed;
use crate::memory::pages;
use afd_screen::page::target;
use afd_store::{Result, Sql as _, args, json, skip_unreadable, word};

/// Maximum number of outcomes that are read of the page in front.
const ON_PAGE: i64 = 3_000;
/// Maximum number of outcomes of an element on other pages that are read, newest first.
const ELSEWHERE: i64 = 60;

/// The page in front, and what led to it.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Keys of all structures of the page's state.
    pub structures: Vec<String>,
    /// App in front.
    pub app: String,
    /// Activity or address pattern in front.
    pub activity: String,
    /// The page before.
    pub before: Option<Destination>,
}

/// Returns placeholders for a list of values in SQL.
pub(super) fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// An outcome that was seen, and the action that had it.
struct Attempted {
    from_key: String,
    activity: String,
    action: Action,
    action_key: String,
    kind: OutcomeKind,
    to_key: String,
    below_key: String,
    page: Option<i64>,
    from_dialog: bool,
    count: i64,
    weight: f64,
}

const COLUMNS: &str =
    "t.from_key, t.activity, t.action, o.kind, o.to_key, o.below_key, o.page_id AS to_page, o.count, o.weight,
    o.weighted_at, coalesce((SELECT dialog FROM pages WHERE id = t.page_id), 0) AS from_dialog";

fn read(row: &Row<'_>, now: i64) -> rusqlite::Result<Attempted> {
    let action: Action = json(row, "action")?;
    Ok(Attempted {
        from_key: row.get("from_key")?,
        activity: row.get("activity")?,
        // Rows of earlier versions may have been stored under keys of another form.
        action_key: target::action_key(&action),
        action,
        kind: word(row, "kind")?,
        to_key: row.get("to_key")?,
        below_key: row.get("below_key")?,
        page: row.get("to_page")?,
        from_dialog: row.get("from_dialog")?,
        count: row.get("count")?,
        weight: decayed(row.get("weight")?, now - row.get::<_, i64>("weighted_at")?),
    })
}

/// Returns the key of the same action on the same element, wherever it is: the one that the column `element_key` has. `None`
/// for an action at a point.
fn element_key(action: &Action) -> Option<String> {
    if action.target.is_none() && action.point.is_some() {
        return None;
    }
    let target = action.target.as_ref();
    let of = |part: fn(&Target) -> Option<&str>| target.and_then(part).unwrap_or_default().to_owned();
    let title = of(|t| t.title.as_deref().or(t.label.as_deref()));
    let params = if action.params.is_empty() { String::new() } else { serde_json::to_string(&action.params).ok()? };
    let role = target.map(|t| t.role.to_string()).unwrap_or_default();
    Some(format!("{}|{role}|{title}|{}|{params}", action.verb, of(|t| t.res_id.as_deref())))
}

/// Returns the key that the column `role_key` has; `None` without a target.
fn role_key(action: &Action) -> Option<String> {
    action.target.as_ref().map(|target| format!("{}|{}", action.verb, target.role))
}

/// Returns a key that is equal for actions on equal rows: elements with the same role, id and place in the hierarchy.
fn row_key(action: &Action) -> Option<String> {
    let target = action.target.as_ref()?;
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    Some(format!("{}|{}|{}|{}", action.verb, target.role, text(&target.res_id), text(&target.path)))
}

/// Predicts actions on a page. Returns the actions and their predictions by key; actions of which nothing is known are left
/// out. Actions that were performed on the page before are predicted, too.
pub fn of_actions(
    connection: &Connection,
    origin: &Origin,
    actions: &[Action],
    now: i64,
) -> Result<HashMap<String, (Action, Prediction)>> {
    let mut reader = Reader { connection, origin, now, states: HashMap::new(), by_role: HashMap::new() };
    let here = reader.on_page()?;
    let mut wanted: HashMap<String, Action> =
        here.iter().map(|one| (one.action_key.clone(), one.action.clone())).collect();
    wanted.extend(actions.iter().map(|action| (target::action_key(action), action.clone())));
    let mut by_row: HashMap<String, Vec<&Attempted>> = HashMap::new();
    for one in &here {
        by_row.extend_with(row_key(&one.action), one);
    }
    let mut predictions = HashMap::new();
    for (key, action) in wanted {
        let mut seen = Vec::new();
        for one in here.iter().filter(|one| one.action_key == key) {
            seen.extend(reader.seen(one, Level::State)?);
        }
        let rows = row_key(&action).and_then(|row| by_row.get(&row)).into_iter().flatten();
        let mut of_rows = Vec::new();
        for one in rows.filter(|one| one.action_key != key) {
            of_rows.extend(reader.seen(one, Level::Row)?.map(|seen| (one.action_key.as_str(), seen)));
        }
        seen.extend(each_row_once(of_rows));
        reader.add_elsewhere(&action, &mut seen)?;
        if let Some(prediction) = blend(&seen, origin.before.as_ref()) {
            predictions.insert(key, (action, prediction));
        }
    }
    Ok(predictions)
}

/// Maximum number of actions without a target that are returned for a verb.
const WITHOUT_TARGET: i64 = 30;

/// Returns the actions of a verb that were performed in an app and have neither a target nor a point, for example scrolling down.
pub fn without_target(connection: &Connection, app: &str, verb: Verb) -> Result<Vec<Action>> {
    let found: Vec<Option<Action>> = connection.all(
        "SELECT action, max(last_at) AS newest FROM transitions
             WHERE app = :app AND element_key >= :verb || '||||' AND element_key < :verb || '|||}' GROUP BY element_key
             ORDER BY newest DESC LIMIT :limit",
        args! {app, verb: verb.word(), limit: WITHOUT_TARGET},
        |row| skip_unreadable(json(row, "action")),
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// Reduces the attempts at rows so that each row weighs as much as one attempt. However often one row led to a page, that says
/// little about the others; what several rows have in common says more.
fn each_row_once(of_rows: Vec<(&str, Seen)>) -> impl Iterator<Item = Seen> {
    let mut weights: HashMap<&str, f64> = HashMap::new();
    of_rows.iter().for_each(|(row, seen)| *weights.entry(row).or_default() += seen.weight);
    of_rows.into_iter().map(move |(row, seen)| Seen { weight: seen.weight / weights[row].max(1.0), ..seen })
}

/// Adds a value to the list under a key, if there is a key.
trait ExtendWith<T> {
    fn extend_with(&mut self, key: Option<String>, value: T);
}

impl<T> ExtendWith<T> for HashMap<String, Vec<T>> {
    fn extend_with(&mut self, key: Option<String>, value: T) {
        if let Some(key) = key {
            self.entry(key).or_default().push(value);
        }
    }
}

/// A state, and the app or site to which it belongs.
#[derive(Debug, Clone, Copy)]
struct Known {
    state: i64,
    scope: i64,
    is_site: bool,
}

struct Reader<'a> {
    connection: &'a Connection,
    origin: &'a Origin,
    now: i64,
    /// States of structures.
    states: HashMap<String, Option<Known>>,
    /// Attempts at elements of a role, by role key.
    by_role: HashMap<String, Vec<Seen>>,
}

impl Reader<'_> {
    /// Returns what was attempted on the page in front.
    fn on_page(&self) -> Result<Vec<Attempted>> {
        if self.origin.structures.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM transitions t JOIN outcomes o ON o.transition_id = t.id
                 WHERE t.from_key IN ({}) AND o.kind IN ('page', 'same', 'nothing') AND o.count > 0 LIMIT {ON_PAGE}",
            marks(self.origin.structures.len())
        );
        let values: Vec<&dyn ToSql> = self.origin.structures.iter().map(|key| key as &dyn ToSql).collect();
        self.attempts(&sql, &values)
    }

    fn attempts(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Attempted>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, |row| read(row, self.now))?;
        let rows = rows.filter_map(|row| skip_unreadable(row).transpose());
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the newest attempts in the app whose column has this value.
    fn of_app(&self, column: &str, value: &str) -> Result<Vec<Attempted>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM (SELECT * FROM transitions WHERE app = ? AND {column} = ? ORDER BY last_at DESC LIMIT {ELSEWHERE}) t
                 JOIN outcomes o ON o.transition_id = t.id
                 WHERE o.kind IN ('page', 'same', 'nothing') AND o.count > 0"
        );
        let attempts = self.attempts(&sql, &[&self.origin.app, &value])?;
        Ok(attempts.into_iter().filter(|one| !self.origin.structures.contains(&one.from_key)).collect())
    }

    /// Adds what was attempted on the same element, and on elements of the same role, on other pages of the app.
    fn add_elsewhere(&mut self, action: &Action, seen: &mut Vec<Seen>) -> Result<()> {
        let Some(key) = element_key(action) else { return Ok(()) };
        for one in self.of_app("element_key", &key)? {
            let Some(level) = self.level_of(&one)? else { continue };
            let found = self.seen(&one, level)?;
            seen.extend(found);
        }
        let Some(role) = role_key(action) else { return Ok(()) };
        if !self.by_role.contains_key(&role) {
            let mut of_role = Vec::new();
            for one in self.of_app("role_key", &role)? {
                if self.level_of(&one)?.is_some() {
                    of_role.extend(self.seen(&one, Level::Role)?);
                }
            }
            self.by_role.insert(role.clone(), of_role);
        }
        seen.extend(self.by_role.get(&role).into_iter().flatten().cloned());
        Ok(())
    }

    /// Returns where an attempt on another page was made; `None` if it was made in another app or site.
    fn level_of(&mut self, one: &Attempted) -> Result<Option<Level>> {
        let is_same_place = one.activity == self.origin.activity;
        Ok(match (self.here()?, self.state_of(&one.from_key)?) {
            (Some(here), Some(there)) if here.scope != there.scope => None,
            (Some(here), Some(_)) if here.is_site => Some(Level::Activity),
            (Some(_), Some(_)) if is_same_place => Some(Level::Activity),
            (Some(_), Some(_)) => Some(Level::App),
            (None, Some(there)) if there.is_site => None,
            (None, Some(_)) if !is_same_place => Some(Level::App),
            _ => is_same_place.then_some(Level::Activity),
        })
    }

    /// Returns the state of the page in front.
    fn here(&mut self) -> Result<Option<Known>> {
        for key in &self.origin.structures {
            if let Some(found) = self.state_of(key)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the state of a structure.
    fn state_of(&mut self, key: &str) -> Result<Option<Known>> {
        if let Some(known) = self.states.get(key) {
            return Ok(*known);
        }
        let found = self.connection.first(
            "SELECT v.state_id, v.app_id, a.site <> '' AS is_site FROM state_variants v JOIN apps a ON a.id = v.app_id WHERE v.key = :key",
            args! {key},
            |row| {
                Ok(Known {
                    state: row.get("state_id")?,
                    scope: row.get("app_id")?,
                    is_site: row.get("is_site")?,
                })
            },
        )?;
        self.states.insert(key.to_owned(), found);
        Ok(found)
    }

    /// Converts an attempt to what it says about an action on the page in front.
    fn seen(&mut self, one: &Attempted, level: Level) -> Result<Option<Seen>> {
        let from = self.state_of(&one.from_key)?.map(|known| known.state);
        let effect = match one.kind {
            OutcomeKind::Nothing if target::has_hidden_effect(&one.action) => Effect::Same,
            OutcomeKind::Nothing => Effect::Nothing,
            OutcomeKind::Same => Effect::Same,
            OutcomeKind::Page => self.effect(one, from, level)?,
            OutcomeKind::Failed | OutcomeKind::Refuted => return Ok(None),
        };
        Ok(Some(Seen { level, effect, count: one.count, weight: one.weight }))
    }

    /// Returns the effect of an action that led to another page. A dialog that covers a page other than the one acted on
    /// appeared after the action had led to the page under it.
    fn effect(&mut self, one: &Attempted, from: Option<i64>, level: Level) -> Result<Effect> {
        let (mut key, mut page) = (one.to_key.clone(), one.page);
        if !one.below_key.is_empty() && !one.from_dialog {
            let below = self.state_of(&one.below_key)?.map(|known| known.state);
            if below.is_some() && from.is_some() && below != from {
                key = one.below_key.clone();
                page = pages::of_structure(self.connection, &key)?.map(|page| page.id);
            }
        }
        let state = self.state_of(&key)?.map(|known| known.state);
        if state.is_some() && state == from {
            return Ok(Effect::Same);
        }
        if level != Level::State && one.action.verb == Verb::Back && self.leads_back(one, &key)? {
            return Ok(Effect::Before);
        }
        Ok(Effect::Page(Destination::new(state, key, page)))
    }

    /// Returns whether an action led from a page to one from which the page had been opened.
    fn leads_back(&self, one: &Attempted, to: &str) -> Result<bool> {
        self.connection.one(
            "SELECT EXISTS (SELECT 1 FROM transitions t JOIN outcomes o ON o.transition_id = t.id
                 WHERE t.from_key = :to AND o.to_key = :from AND json_extract(t.action, '$.verb') <> 'back') AS found",
            args! {to, from: one.from_key},
            |row| row.get("found"),
        )
    }
}
