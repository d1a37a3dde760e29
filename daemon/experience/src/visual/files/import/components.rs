//! Import of components.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::OURS;
use super::Step;
use super::members::{MAX_PLACE, fraction, note_absent, number, ours, rest, text, time};
use crate::visual::components::{self, next_position};
use afd_screen::page::snapshot::Rect;
use afd_store::{Result, Sql as _, args};

const INSERT: &str =
    "INSERT INTO components (uid, origin, app_id, position, key, name, kind, source, label, dynamic, scrolls, res_id, class,
        bounds_left, bounds_top, bounds_right, bounds_bottom, confidence, page, base_seen, loose_since, base_last_seen, loose, learned_at,
        extra, updated_at)
    VALUES (:uid, :origin, :app_id, :position, :key, :name, :kind, :source, :label, :dynamic, :scrolls, :res_id, :class, :bounds_left,
        :bounds_top, :bounds_right, :bounds_bottom, :confidence, :page, :base_seen,
        (SELECT detector_looks FROM apps WHERE id = :app_id) - :misses, :base_last_seen, :loose, :learned_at, :extra, :updated_at)";

/// Removes the bounds, which are stored as a centre and a size, from a row and returns them.
fn bounds_of(row: &mut Map<String, Value>) -> Option<Rect> {
    const MEMBERS: [&str; 4] = ["rel_x", "rel_y", "w", "h"];
    let place = MEMBERS.map(|key| row.get(key).and_then(Value::as_i64).filter(|n| n.abs() <= MAX_PLACE));
    let [Some(x), Some(y), Some(w), Some(h)] = place.map(|n| n.and_then(|n| i32::try_from(n).ok())) else {
        return None;
    };
    if w < 0 || h < 0 {
        return None;
    }
    MEMBERS.iter().for_each(|key| drop(row.remove(*key)));
    let (left, top) = (x - w / 2, y - h / 2);
    Some(Rect { left, top, right: left + w, bottom: top + h })
}

impl Step<'_> {
    /// Imports components. Returns their row ids by name.
    pub(super) fn components(&mut self) -> Result<HashMap<String, i64>> {
        let mut names = HashMap::new();
        for component in components::all(self.connection, self.app)? {
            names.insert(component.name, component.id);
        }
        let rows = std::mem::take(&mut self.from.components).0;
        self.report.components.found = rows.len() as u64;
        for (name, row) in rows {
            let Value::Object(mut row) = row else {
                self.report.components.skipped += 1;
                self.skip("components.json", &name, "skipped: not a JSON object");
                continue;
            };
            let key = row.get(OURS).and_then(|o| o.get("key")).and_then(Value::as_str);
            let known = match key {
                Some(key) => components::by_key(self.connection, self.app, key)?,
                None => None,
            };
            // If `afd` wrote a key, only the key decides: the component may have been renamed, and another one may have
            // its old name.
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
        let mut ours = ours(&mut row);
        let bounds = bounds_of(&mut row);
        let picture = row.get("icon_file").and_then(Value::as_str).map(str::to_owned);
        let learned_at = time(&mut row, "learned_at");
        let last_seen = time(&mut row, "last_seen");
        let (kind, source) = (text(&mut row, "type"), text(&mut row, "source"));
        let label = text(&mut row, "label");
        let confidence = fraction(&mut row, "confidence");
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
        self.connection.run(
            INSERT,
            args! {
                uid: self.uid("components", ours.get("uid"))?, origin: self.origin, app_id: self.app,
                position: next_position(self.connection, "components", self.app)?, key,
                name: components::free_name(self.connection, self.app, name)?, kind: kind.as_deref().unwrap_or("icon"),
                source: source.as_deref().unwrap_or("detection"), label, dynamic: flag(&ours, "dynamic"),
                scrolls: flag(&ours, "scrolls"), res_id, class, bounds_left: edge(|b| b.left),
                bounds_top: edge(|b| b.top), bounds_right: edge(|b| b.right), bounds_bottom: edge(|b| b.bottom),
                confidence, page, base_seen: seen.unwrap_or_default(), misses: misses.unwrap_or_default(),
                base_last_seen: last_seen, loose: source.as_deref() != Some(crate::visual::lesson::TREE),
                learned_at: learned_at.unwrap_or(self.at), extra: rest(row), updated_at: self.at
            },
        )?;
        let id = self.connection.last_insert_rowid();
        if let Some(file) = picture {
            self.report.pictures.push((id, file));
        }
        Ok(id)
    }
}
