//! Import of states, and of the structures by which they are recognised.

use std::collections::HashMap;

use afd_proto::Word;
use afd_proto::visual::StateKind;
use serde_json::{Map, Value, json};

use super::Step;
use super::members::{note_absent, number, ours, rest, text, texts, time};
use crate::visual::components::next_position;
use afd_store::{Result, Sql as _, args};

impl Step<'_> {
    /// Imports states. Returns their row ids by code.
    pub(super) fn states(&mut self, names: &HashMap<String, i64>) -> Result<HashMap<String, i64>> {
        let mut codes = HashMap::new();
        let mut statement = self.connection.prepare(
            "SELECT code, id FROM states WHERE app_id = :app_id AND deleted_at IS NULL AND code IS NOT NULL",
        )?;
        let mut rows = statement.query(args! {app_id: self.app})?;
        while let Some(row) = rows.next()? {
            codes.insert(row.get("code")?, row.get("id")?);
        }
        let rows = std::mem::take(&mut self.from.states).0;
        self.report.states.found = rows.len() as u64;
        for (code, row) in rows {
            let Value::Object(mut row) = row else {
                self.report.states.skipped += 1;
                self.skip("states.json", &code, "skipped: not a JSON object");
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
        let mut ours = ours(&mut row);
        let set = texts(&mut row, "defining_components").unwrap_or_default();
        let texts = texts(&mut row, "visible_texts").unwrap_or_default();
        let known: Vec<i64> = set.iter().filter_map(|name| names.get(name).copied()).collect();
        let ghosts: Vec<&String> = set.iter().filter(|name| !names.contains_key(*name)).collect();
        if !ghosts.is_empty() {
            self.skip("states.json", code, format!("imported without unknown components: {ghosts:?}"));
            row.insert("_ghosts".to_owned(), json!(ghosts));
        }
        let kind = text(&mut ours, "kind").and_then(|word| StateKind::of(&word));
        let kind = kind.unwrap_or(if known.is_empty() { StateKind::Opaque } else { StateKind::Detected });
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
        self.connection.run(
            "INSERT INTO states (uid, origin, app_id, position, code, name, description, kind, place, title, visit_count, visible_texts,
                    first_seen, last_seen, extra, updated_at)
                 VALUES (:uid, :origin, :app_id, :position, :code, :name, :description, :kind, :place, :title, :visit_count,
                 :visible_texts, :first_seen, :last_seen, :extra, :updated_at)",
            args! {
                uid: self.uid("states", ours.get("uid"))?, origin: self.origin, app_id: self.app,
                position: next_position(self.connection, "states", self.app)?, code, name, description,
                kind: kind.word(), place: text(&mut ours, "place").unwrap_or_default(),
                title: text(&mut ours, "title"), visit_count: visits.unwrap_or_default(),
                visible_texts: json!(texts).to_string(), first_seen: first.or(last).unwrap_or(self.at),
                last_seen: last.or(first).unwrap_or(self.at), extra: rest(row), updated_at: self.at
            },
        )?;
        let state = self.connection.last_insert_rowid();
        for component in known {
            self.link(state, visits.unwrap_or_default(), component)?;
        }
        self.variants(state, ours.get("variants"))?;
        Ok(state)
    }

    /// Links a component to a state. The link starts without sightings, because the component's row already counts
    /// them.
    fn link(&self, state: i64, visits: i64, component: i64) -> Result<()> {
        self.connection.run(
            "INSERT INTO state_components (state_id, component_id, defining, from_visit, misses, seen_before)
                 SELECT :state_id, c.id, 1, :from_visit, a.detector_looks - c.loose_since, coalesce(c.base_last_seen, c.learned_at)
                 FROM components c JOIN apps a ON a.id = c.app_id WHERE c.id = :id
                 ON CONFLICT DO NOTHING",
            args! {state_id: state, from_visit: visits, id: component},
        )?;
        self.connection.run("UPDATE components SET loose = 0 WHERE id = :id", args! {id: component})?;
        Ok(())
    }

    /// Imports the structures by which a state is recognised, as exported by `afd`.
    fn variants(&mut self, state: i64, variants: Option<&Value>) -> Result<()> {
        for variant in variants.and_then(Value::as_array).into_iter().flatten() {
            let word = |key: &str| variant.get(key).and_then(Value::as_str);
            let (Some(key), Some(features)) = (word("key"), word("features")) else { continue };
            let byte = |i: usize| features.get(i..i + 2).and_then(|b| u8::from_str_radix(b, 16).ok());
            let features: Vec<u8> = (0..features.len()).step_by(2).filter_map(byte).collect();
            self.connection.run(
                "INSERT INTO state_variants (key, origin, app_id, state_id, place, title, dialog, features, defines, seen, updated_at)
                     VALUES (:key, :origin, :app_id, :state_id, :place, :title, :dialog, :features, :defines, :seen, :updated_at)
                     ON CONFLICT DO NOTHING",
                args! {
                    key, origin: self.origin, app_id: self.app, state_id: state,
                    place: word("place").unwrap_or_default(), title: word("title"),
                    dialog: variant["dialog"] == true, features, defines: variant["defines"] == true,
                    seen: variant["seen"].as_i64().unwrap_or(1), updated_at: self.at
                },
            )?;
        }
        Ok(())
    }
}
