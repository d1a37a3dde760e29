//! Reads the attempts from which actions are predicted.

use std::collections::HashMap;

use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::{Action, Target, Verb};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};

use super::blend::{Effect, Level, Prediction, Seen, blend};
use super::destination::Destination;
use crate::memory::outcomes::decayed;
use crate::memory::{pages, rebuild};
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
    /// Whether a dialog is in front.
    pub dialog: bool,
    /// The page before.
    pub before: Option<Destination>,
    /// Whether the page is in a tab, where Back opens the page before, whatever it did on this page earlier.
    pub in_tab: bool,
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
/// out, and so is everything while the counters are rebuilt. With `all`, actions that were performed on the page before are
/// predicted, too.
pub fn of_actions(
    connection: &Connection,
    origin: &Origin,
    actions: &[Action],
    (all, now): (bool, i64),
) -> Result<HashMap<String, (Action, Prediction)>> {
    if rebuild::is_under_way(connection)? {
        return Ok(HashMap::new());
    }
    let mut reader = Reader { connection, origin, now, states: HashMap::new(), by_role: HashMap::new() };
    let mut here: HashMap<String, Vec<Seen>> = HashMap::new();
    let mut by_row: HashMap<String, Vec<(String, Seen)>> = HashMap::new();
    let mut performed: HashMap<String, Action> = HashMap::new();
    for one in reader.on_page()? {
        let Some(seen) = reader.seen(&one, Level::State)? else { continue };
        if let Some(row) = row_key(&one.action) {
            by_row.entry(row).or_default().push((one.action_key.clone(), Seen { level: Level::Row, ..seen.clone() }));
        }
        here.entry(one.action_key.clone()).or_default().push(seen);
        performed.insert(one.action_key, one.action);
    }
    let by_row: HashMap<String, Vec<(String, Seen)>> =
        by_row.into_iter().map(|(row, seen)| (row, each_row_once(seen))).collect();
    let mut predictions = HashMap::new();
    for action in actions {
        let key = target::action_key(action);
        let mut seen = here.get(&key).cloned().unwrap_or_default();
        let rows = row_key(action).and_then(|row| by_row.get(&row)).into_iter().flatten();
        seen.extend(rows.filter(|(row, _)| *row != key).map(|(_, seen)| seen.clone()));
        reader.add_elsewhere(action, &mut seen)?;
        if let Some(prediction) = blend(&seen, origin.before.as_ref()) {
            predictions.insert(key, (action.clone(), prediction));
        }
    }
    for (key, action) in if all { performed } else { HashMap::new() } {
        if predictions.contains_key(&key) {
            continue;
        }
        let seen = here.remove(&key).unwrap_or_default();
        if let Some(prediction) = blend(&seen, origin.before.as_ref()) {
            predictions.insert(key, (action, prediction));
        }
    }
    Ok(predictions)
}

/// Attempts at one action on one page.
#[derive(Debug, Clone, Default)]
pub struct AttemptsHere {
    /// Attempts that opened another page or changed the content, weighted by their age.
    pub worked: f64,
    /// Attempts that changed nothing, weighted by their age.
    pub nothing: f64,
    /// Attempts that failed, weighted by their age.
    pub failed: f64,
    /// Number of attempts that changed nothing or failed.
    pub in_vain: i64,
    /// Longest mean time until the page had settled, in milliseconds; `None` if it was never measured.
    pub mean_ms: Option<i64>,
}

/// Returns the attempts at an action on a page, given the keys of all structures of the page's state.
pub fn attempts_here(
    connection: &Connection,
    structures: &[String],
    action: &Action,
    now: i64,
) -> Result<AttemptsHere> {
    if structures.is_empty() || rebuild::is_under_way(connection)? {
        return Ok(AttemptsHere::default());
    }
    let sql = format!(
        "SELECT o.kind, o.count, o.weight, o.weighted_at, o.duration_ms FROM transitions t JOIN outcomes o ON o.transition_id = t.id
             WHERE t.from_key IN ({}) AND t.action_key = ? AND o.count > 0",
        marks(structures.len())
    );
    let key = target::action_key(action);
    let mut values: Vec<&dyn ToSql> = structures.iter().map(|key| key as &dyn ToSql).collect();
    values.push(&key);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(values.as_slice())?;
    let mut found = AttemptsHere::default();
    while let Some(row) = rows.next()? {
        let (count, duration): (i64, i64) = (row.get("count")?, row.get("duration_ms")?);
        let weight = decayed(row.get("weight")?, now - row.get::<_, i64>("weighted_at")?);
        match word::<OutcomeKind>(row, "kind")? {
            OutcomeKind::Page | OutcomeKind::Same => found.worked += weight,
            OutcomeKind::Nothing => (found.nothing, found.in_vain) = (found.nothing + weight, found.in_vain + count),
            OutcomeKind::Failed => (found.failed, found.in_vain) = (found.failed + weight, found.in_vain + count),
            // The attempt is counted with its own outcome.
            OutcomeKind::Refuted => {}
        }
        if duration > 0 {
            found.mean_ms = found.mean_ms.max(Some(duration / count));
        }
    }
    Ok(found)
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
fn each_row_once(of_rows: Vec<(String, Seen)>) -> Vec<(String, Seen)> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    of_rows.iter().for_each(|(row, seen)| *weights.entry(row.clone()).or_default() += seen.weight);
    let once = |(row, seen): (String, Seen)| {
        let weight = seen.weight / weights[&row].max(1.0);
        (row, Seen { weight, ..seen })
    };
    of_rows.into_iter().map(once).collect()
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
                 WHERE t.from_key IN ({}) AND o.kind IN ('page', 'same', 'nothing') AND o.count > 0
                 ORDER BY o.last_at DESC LIMIT {ON_PAGE}",
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

    /// Returns the newest attempts on other pages of the app or site whose column has this value.
    fn of_app(&mut self, column: &str, value: &str) -> Result<Vec<Attempted>> {
        let site = self.here()?.filter(|here| here.is_site).map(|here| here.scope);
        let of_site = match site {
            Some(_) => "AND EXISTS (SELECT 1 FROM state_variants v WHERE v.key = s.from_key AND v.app_id = ?)",
            None => "",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM (SELECT * FROM transitions s WHERE app = ? AND {column} = ? {of_site} AND from_key NOT IN ({})
                     ORDER BY last_at DESC LIMIT {ELSEWHERE}) t
                 JOIN outcomes o ON o.transition_id = t.id
                 WHERE o.kind IN ('page', 'same', 'nothing') AND o.count > 0",
            marks(self.origin.structures.len())
        );
        let mut values: Vec<&dyn ToSql> = vec![&self.origin.app, &value];
        values.extend(site.as_ref().map(|scope| scope as &dyn ToSql));
        values.extend(self.origin.structures.iter().map(|key| key as &dyn ToSql));
        self.attempts(&sql, &values)
    }

    /// Adds what was attempted on the same element, and on elements of the same role, on other pages of the app.
    fn add_elsewhere(&mut self, action: &Action, seen: &mut Vec<Seen>) -> Result<()> {
        let Some(key) = element_key(action) else { return Ok(()) };
        let (mut found, mut leads_back) = (Vec::new(), true);
        for one in self.of_app("element_key", &key)? {
            let Some(level) = self.level_of(&one)? else { continue };
            let Some(seen) = self.seen(&one, level)? else { continue };
            leads_back &= !matches!(seen.effect, Effect::Page(_)) || self.leads_back(&one)?;
            found.push(seen);
        }
        // What went back on each other page, such as the arrow in a title bar, goes back here, too.
        let back = |seen: Seen| match seen.effect {
            Effect::Page(_) if leads_back => Seen { effect: Effect::Before, ..seen },
            _ => seen,
        };
        seen.extend(found.into_iter().map(back));
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
        // Equal buttons of different dialogs do different things.
        if one.from_dialog || self.origin.dialog {
            return Ok(None);
        }
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
            OutcomeKind::Page if self.origin.in_tab && one.action.verb == Verb::Back => Effect::Before,
            OutcomeKind::Page => self.effect(one, from)?,
            OutcomeKind::Failed | OutcomeKind::Refuted => return Ok(None),
        };
        let over = match &effect {
            Effect::Page(_) if !one.below_key.is_empty() => self.state_of(&one.to_key)?.map(|known| known.state),
            _ => None,
        };
        let over = over.filter(|dialog| !matches!(&effect, Effect::Page(page) if page.state == Some(*dialog)));
        Ok(Some(Seen { level, effect, count: one.count, weight: one.weight, over }))
    }

    /// Returns the effect of an action that led to another page. A dialog that covers a page other than the one acted on
    /// appeared after the action had led to the page under it.
    fn effect(&mut self, one: &Attempted, from: Option<i64>) -> Result<Effect> {
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
        Ok(Effect::Page(Destination::new(state, key, page)))
    }

    /// Returns whether an action led from a page to one from which the page had been opened.
    fn leads_back(&self, one: &Attempted) -> Result<bool> {
        self.connection.one(
            "SELECT EXISTS (SELECT 1 FROM transitions t JOIN outcomes o ON o.transition_id = t.id
                 WHERE t.from_key = :to AND o.to_key = :from AND json_extract(t.action, '$.verb') <> 'back') AS found",
            args! {to: one.to_key, from: one.from_key},
            |row| row.get("found"),
        )
    }
}
