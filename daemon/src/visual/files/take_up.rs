//! Taking over what was read, and what came of each row. What is there already stays as it is.

use std::collections::HashMap;

use rusqlite::{Connection, params};
use serde_json::{Map, Value, json};

use super::read::Directory;
use super::{OURS, Remark, millis, take};
use crate::page::snapshot::Rect;
use crate::store::{Result, new_uid};
use crate::visual::components::{self, next_position};
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

/// No count is larger.
const MAX_COUNT: i64 = 1_000_000_000;
/// No place on a screen is further, pixels.
const MAX_PLACE: i64 = 100_000;

fn text(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key) {
        Some(Value::String(_)) => take(map, key).and_then(|v| v.as_str().map(str::to_owned)),
        _ => None,
    }
}

/// A count; what is beyond all counting stays as it is.
fn number(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let n = map.get(key).and_then(Value::as_i64).filter(|n| n.abs() <= MAX_COUNT)?;
    map.remove(key);
    Some(n)
}

/// A time; one that cannot be read stays among the members that are kept as they are.
fn time(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let ms = map.get(key).and_then(Value::as_str).and_then(millis)?;
    map.remove(key);
    Some(ms)
}

fn rest(map: Map<String, Value>) -> Option<String> {
    (!map.is_empty()).then(|| Value::Object(map).to_string())
}

/// Notes which members a row does not have, so that it does not get them by being exported.
fn note_absent(row: &mut Map<String, Value>, given: &[(&str, bool)]) {
    let absent: Vec<&str> = given.iter().filter(|(key, given)| !given && !row.contains_key(*key)).map(|(key, _)| *key).collect();
    if !absent.is_empty() {
        row.insert("_absent".to_owned(), json!(absent));
    }
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
                "UPDATE apps SET learn_count = max(learn_count, ?2), forget_threshold = coalesce(?3, forget_threshold),
                    learned_at = nullif(max(coalesce(learned_at, 0), coalesce(?4, 0)), 0), image_width = coalesce(image_width, ?5),
                    image_height = coalesce(image_height, ?6), extra = coalesce(extra, ?7), updated_at = ?8 WHERE id = ?1",
            )?
            .execute(params![self.app, count, threshold, learned, size.map(|s| s.0), size.map(|s| s.1), rest(meta), self.at])?;
        Ok(())
    }

    /// Takes over components; returns their rows by name.
    fn components(&mut self) -> Result<HashMap<String, i64>> {
        let mut names = HashMap::new();
        for component in components::list(self.connection, self.app, &components::Filter::default())? {
            names.insert(component.name, component.id);
        }
        let rows = std::mem::take(&mut self.from.components).0;
        self.report.components.found = rows.len() as u64;
        for (name, row) in rows {
            let Value::Object(mut row) = row else {
                self.report.components.skipped += 1;
                self.skip("components.json", &name, "left behind: it is no object");
                continue;
            };
            let key = row.get(OURS).and_then(|o| o.get("key")).and_then(Value::as_str);
            let known = match key {
                Some(key) => components::by_key(self.connection, self.app, key)?,
                None => None,
            };
            // What was renamed since is the same; what is called so and is something else keeps its name.
            if let Some(id) = known.or_else(|| names.get(&name).copied().filter(|_| key.is_none())) {
                names.insert(name, id);
                self.report.components.present += 1;
                continue;
            }
            row.retain(|key, _| !key.starts_with('_'));
            let id = self.component(&name, row)?;
            names.insert(name, id);
            self.report.components.added += 1;
        }
        Ok(names)
    }

    fn component(&mut self, name: &str, mut row: Map<String, Value>) -> Result<i64> {
        let mut ours = match take(&mut row, OURS) {
            Some(Value::Object(ours)) => ours,
            _ => Map::new(),
        };
        let place = ["rel_x", "rel_y", "w", "h"].map(|key| row.get(key).and_then(Value::as_i64).filter(|n| n.abs() <= MAX_PLACE));
        let place = place.map(|n| n.and_then(|n| i32::try_from(n).ok()));
        let bounds = match place {
            [Some(x), Some(y), Some(w), Some(h)] if w >= 0 && h >= 0 => {
                ["rel_x", "rel_y", "w", "h"].iter().for_each(|key| drop(row.remove(*key)));
                let (left, top) = (x - w / 2, y - h / 2);
                Some(Rect { left, top, right: left + w, bottom: top + h })
            }
            _ => None,
        };
        let picture = row.get("icon_file").and_then(Value::as_str).map(str::to_owned);
        let learned_at = time(&mut row, "learned_at");
        let last_seen = time(&mut row, "last_seen");
        let (kind, source) = (text(&mut row, "type"), text(&mut row, "source"));
        let label = text(&mut row, "label");
        let confidence = row.get("confidence").and_then(Value::as_f64);
        if confidence.is_some() {
            row.remove("confidence");
        }
        let (page, seen) = (text(&mut row, "page"), number(&mut row, "seen_count"));
        let misses = number(&mut row, "consecutive_misses");
        let key = text(&mut ours, "key").unwrap_or_else(|| format!("name:{name}"));
        let edge = |of: fn(&Rect) -> i32| bounds.as_ref().map(of);
        let (res_id, class) = (text(&mut ours, "resId"), text(&mut ours, "class"));
        let flag = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_bool).unwrap_or(false);
        let given = [
            ("type", kind.is_some()),
            ("source", source.is_some()),
            ("label", label.is_some()),
            ("learned_at", learned_at.is_some()),
            ("last_seen", last_seen.is_some()),
            ("seen_count", seen.is_some()),
            ("consecutive_misses", misses.is_some()),
        ];
        note_absent(&mut row, &given);
        self.connection
            .prepare_cached(
                "INSERT INTO components (uid, origin, app_id, position, key, name, kind, source, label, dynamic, scrolls, res_id, class,
                    bounds_left, bounds_top, bounds_right, bounds_bottom, confidence, page, base_seen, loose_since, base_last_seen, loose,
                    learned_at, extra, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, (SELECT detector_looks FROM apps WHERE id = ?3) - ?21, ?22, ?23, ?24, ?25,
                    ?26)",
            )?
            .execute(params![
                self.uid("components", ours.get("uid"))?,
                self.origin,
                self.app,
                next_position(self.connection, "components", self.app)?,
                key,
                components::free_name(self.connection, self.app, name)?,
                kind.as_deref().unwrap_or("icon"),
                source.as_deref().unwrap_or("detection"),
                label,
                flag(&ours, "dynamic"),
                flag(&ours, "scrolls"),
                res_id,
                class,
                edge(|b| b.left),
                edge(|b| b.top),
                edge(|b| b.right),
                edge(|b| b.bottom),
                confidence,
                page,
                seen.unwrap_or_default(),
                misses.unwrap_or_default(),
                last_seen,
                source.as_deref() != Some(crate::visual::lesson::TREE),
                learned_at.unwrap_or(self.at),
                rest(row),
                self.at
            ])?;
        let id = self.connection.last_insert_rowid();
        if let Some(file) = picture {
            self.report.pictures.push((id, file));
        }
        Ok(id)
    }

    /// The uid that a row came with, if no other row has it.
    fn uid(&self, table: &'static str, given: Option<&Value>) -> Result<String> {
        let Some(given) = given.and_then(Value::as_str) else { return Ok(new_uid()) };
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE uid = ?1) AS taken");
        let taken: bool = self.connection.prepare_cached(&sql)?.query_row([given], |row| row.get("taken"))?;
        Ok(if taken { new_uid() } else { given.to_owned() })
    }

    /// Takes over states; returns their rows by id.
    fn states(&mut self, names: &HashMap<String, i64>) -> Result<HashMap<String, i64>> {
        let mut codes = HashMap::new();
        let mut statement =
            self.connection.prepare("SELECT code, id FROM states WHERE app_id = ?1 AND deleted_at IS NULL AND code IS NOT NULL")?;
        let mut rows = statement.query([self.app])?;
        while let Some(row) = rows.next()? {
            codes.insert(row.get("code")?, row.get("id")?);
        }
        let rows = std::mem::take(&mut self.from.states).0;
        self.report.states.found = rows.len() as u64;
        for (code, row) in rows {
            let Value::Object(mut row) = row else {
                self.report.states.skipped += 1;
                self.skip("states.json", &code, "left behind: it is no object");
                continue;
            };
            if codes.contains_key(&code) {
                self.report.states.present += 1;
                continue;
            }
            row.retain(|key, _| !key.starts_with('_'));
            let id = self.state(&code, row, names)?;
            codes.insert(code, id);
            self.report.states.added += 1;
        }
        Ok(codes)
    }

    fn state(&mut self, code: &str, mut row: Map<String, Value>, names: &HashMap<String, i64>) -> Result<i64> {
        let mut ours = match take(&mut row, OURS) {
            Some(Value::Object(ours)) => ours,
            _ => Map::new(),
        };
        let listed =
            |value: Option<&Value>| -> Option<Vec<String>> { value?.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect() };
        let set = listed(row.get("defining_components"));
        if set.is_some() {
            row.remove("defining_components");
        }
        let texts = listed(row.get("visible_texts"));
        if texts.is_some() {
            row.remove("visible_texts");
        }
        let set = set.unwrap_or_default();
        let known: Vec<i64> = set.iter().filter_map(|name| names.get(name).copied()).collect();
        let ghosts: Vec<&String> = set.iter().filter(|name| !names.contains_key(*name)).collect();
        if !ghosts.is_empty() {
            self.skip("states.json", code, format!("without {ghosts:?}, which are not among the components"));
            row.insert("_ghosts".to_owned(), json!(ghosts));
        }
        let kind = text(&mut ours, "kind").filter(|k| ["page", "dialog", "detected", "opaque"].contains(&k.as_str()));
        let kind = kind.unwrap_or_else(|| if known.is_empty() { "opaque" } else { "detected" }.to_owned());
        let (first, last) = (time(&mut row, "first_seen"), time(&mut row, "last_seen"));
        let (name, description) = (text(&mut row, "name"), text(&mut row, "description"));
        let visits = number(&mut row, "visit_count");
        let given = [
            ("name", name.is_some()),
            ("description", description.is_some()),
            ("first_seen", first.is_some()),
            ("last_seen", last.is_some()),
            ("visit_count", visits.is_some()),
        ];
        note_absent(&mut row, &given);
        self.connection
            .prepare_cached(
                "INSERT INTO states (uid, origin, app_id, position, code, name, description, kind, place, title, visit_count, visible_texts,
                    first_seen, last_seen, extra, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            )?
            .execute(params![
                self.uid("states", ours.get("uid"))?,
                self.origin,
                self.app,
                next_position(self.connection, "states", self.app)?,
                code,
                name,
                description,
                kind,
                text(&mut ours, "place").unwrap_or_default(),
                text(&mut ours, "title"),
                visits.unwrap_or_default(),
                json!(texts.unwrap_or_default()).to_string(),
                first.or(last).unwrap_or(self.at),
                last.or(first).unwrap_or(self.at),
                rest(row),
                self.at
            ])?;
        let state = self.connection.last_insert_rowid();
        for component in known {
            self.link(state, visits.unwrap_or_default(), component)?;
        }
        self.variants(state, ours.get("variants"))?;
        Ok(state)
    }

    /// A link that adds nothing to what the component's own row says of its activity.
    fn link(&self, state: i64, visits: i64, component: i64) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO state_components (state_id, component_id, defining, from_visit, misses, seen_before)
                 SELECT ?1, c.id, 1, ?2, a.detector_looks - c.loose_since, coalesce(c.base_last_seen, c.learned_at)
                 FROM components c JOIN apps a ON a.id = c.app_id WHERE c.id = ?3
                 ON CONFLICT DO NOTHING",
            )?
            .execute((state, visits, component))?;
        self.connection.prepare_cached("UPDATE components SET loose = 0 WHERE id = ?1")?.execute([component])?;
        Ok(())
    }

    /// The structures that a state of ours is recognised by.
    fn variants(&mut self, state: i64, variants: Option<&Value>) -> Result<()> {
        for variant in variants.and_then(Value::as_array).into_iter().flatten() {
            let word = |key: &str| variant.get(key).and_then(Value::as_str);
            let (Some(key), Some(features)) = (word("key"), word("features")) else { continue };
            let byte = |i: usize| features.get(i..i + 2).and_then(|b| u8::from_str_radix(b, 16).ok());
            let features: Vec<u8> = (0..features.len()).step_by(2).filter_map(byte).collect();
            self.connection
                .prepare_cached(
                    "INSERT INTO state_variants (key, origin, app_id, state_id, place, title, dialog, features, defines, seen, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
                )?
                .execute(params![
                    key,
                    self.origin,
                    self.app,
                    state,
                    word("place").unwrap_or_default(),
                    word("title"),
                    variant["dialog"] == true,
                    features,
                    variant["defines"] == true,
                    variant["seen"].as_i64().unwrap_or(1),
                    self.at
                ])?;
        }
        Ok(())
    }

    /// Takes over transitions of both dialects, row by row.
    fn transitions(&mut self, mut states: HashMap<String, i64>) -> Result<()> {
        let rows = std::mem::take(&mut self.from.transitions).0;
        self.report.transitions.found = rows.len() as u64;
        for (key, row) in rows {
            let Value::Object(row) = row else {
                self.report.transitions.skipped += 1;
                self.skip("transitions.json", &key, "left behind: it is no object");
                continue;
            };
            match edge_of(row) {
                Some(edge) => {
                    let added = self.transition(edge, &mut states)?;
                    let tally = &mut self.report.transitions;
                    *(if added { &mut tally.added } else { &mut tally.present }) += 1;
                }
                None => {
                    self.report.transitions.skipped += 1;
                    self.skip("transitions.json", &key, "left behind: it does not tell where it begins, or where it leads");
                }
            }
        }
        Ok(())
    }

    fn transition(&mut self, edge: Edge, states: &mut HashMap<String, i64>) -> Result<bool> {
        let (from, to) = (self.endpoint(&edge.from, states)?, self.endpoint(&edge.to, states)?);
        let changed = self
            .connection
            .prepare_cached(
                "INSERT INTO imported_edges (uid, origin, app_id, position, from_state, action, to_state, count, success_rate, last_used,
                    extra, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (from_state, action, to_state) DO NOTHING",
            )?
            .execute(params![
                new_uid(),
                self.origin,
                self.app,
                next_position(self.connection, "imported_edges", self.app)?,
                from,
                edge.action,
                to,
                edge.count,
                edge.success_rate,
                edge.last_used,
                rest(edge.rest),
                self.at
            ])?;
        Ok(changed > 0)
    }

    /// A state that a transition names; one that no file tells of is kept as a mere name.
    fn endpoint(&mut self, code: &str, states: &mut HashMap<String, i64>) -> Result<i64> {
        if let Some(state) = states.get(code) {
            return Ok(*state);
        }
        self.connection
            .prepare_cached(
                "INSERT INTO states (uid, origin, app_id, position, code, name, kind, place, first_seen, last_seen, extra, updated_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, 'opaque', '', ?6, ?6, '{\"_named_only\":true}', ?6)",
            )?
            .execute((new_uid(), self.origin, self.app, next_position(self.connection, "states", self.app)?, code, self.at))?;
        let state = self.connection.last_insert_rowid();
        states.insert(code.to_owned(), state);
        Ok(state)
    }
}

/// A transition of either dialect.
struct Edge {
    from: String,
    action: String,
    to: String,
    count: i64,
    success_rate: f64,
    last_used: Option<i64>,
    rest: Map<String, Value>,
}

/// Reads a transition: `from_state, action, to_state, count` or the later `from, action, target, to, use_count`.
fn edge_of(mut row: Map<String, Value>) -> Option<Edge> {
    row.remove(OURS);
    let from = text(&mut row, "from_state").or_else(|| text(&mut row, "from"))?;
    let to = text(&mut row, "to_state").or_else(|| text(&mut row, "to"))?;
    let verb = text(&mut row, "action").unwrap_or_default();
    let action = match text(&mut row, "target") {
        Some(target) if !target.is_empty() => format!("{verb}:{target}"),
        _ => verb,
    };
    let count = number(&mut row, "count").or_else(|| number(&mut row, "use_count")).unwrap_or(1);
    let success_rate = row.get("success_rate").and_then(Value::as_f64);
    row.remove("success_rate");
    let last_used = time(&mut row, "last_used");
    Some(Edge { from, action, to, count, success_rate: success_rate.unwrap_or(1.0), last_used, rest: row })
}
