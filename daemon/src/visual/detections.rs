//! Bringing what a detector saw into the form in which everything is learned (seed 001, "detection intake").

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::lesson::Sighting;
use super::{cleanup, components};
use crate::page::snapshot::Rect;
use crate::page::{element, mask};
use crate::store::Result;

/// Icons that are smaller are passed over, pixels.
const MIN_ICON: i32 = 25;
/// Texts that are lower are passed over, pixels.
const MIN_TEXT: i32 = 8;
/// An icon is named by a text whose middle is nearer than this, pixels.
const NEAR: f64 = 60.0;
/// Only by texts of this length, characters.
const NAMING: std::ops::RangeInclusive<usize> = 2..=15;
/// Something without a name is what stood so near before, pixels.
const SAME_PLACE: i32 = 15;

/// Something that a detector saw.
#[derive(Debug, Clone)]
pub struct Detected {
    /// What the caller calls it.
    pub name: Option<String>,
    /// What kind of thing it is.
    pub kind: String,
    /// What it says.
    pub label: Option<String>,
    /// Where it is.
    pub bounds: Rect,
    /// How sure the detector is.
    pub confidence: Option<f64>,
    /// Uid of the artifact that shows it.
    pub crop: Option<String>,
    /// The component that its picture shows, when that is known.
    pub same_as: Option<String>,
}

impl Detected {
    fn middle(&self) -> (i32, i32) {
        (self.bounds.left.midpoint(self.bounds.right), self.bounds.top.midpoint(self.bounds.bottom))
    }

    /// Why it is passed over.
    fn fault(&self) -> Option<String> {
        let (w, h) = (self.bounds.width(), self.bounds.height());
        let least = if self.kind == "text" { MIN_TEXT } else { MIN_ICON };
        let called = self.name.as_deref().or(self.label.as_deref()).unwrap_or("a detection");
        if w < least || h < least {
            return Some(format!("{called:?} is {w} by {h} pixels, smaller than {least}"));
        }
        let dynamic = self.label.as_deref().filter(|_| self.name.is_none() && self.kind == "text").and_then(cleanup::dynamic_text);
        dynamic.map(|why| format!("{called:?}: {why}"))
    }
}

/// What of the detections is to be learned, and why the others are not.
///
/// # Errors
/// What SQLite says.
pub fn sightings(connection: &Connection, app: i64, source: &str, mut seen: Vec<Detected>) -> Result<(Vec<Sighting>, Vec<String>)> {
    seen.sort_by_key(|d| (d.bounds.top, d.bounds.left));
    let faults: Vec<Option<String>> = seen.iter().map(Detected::fault).collect();
    let texts: Vec<(String, (i32, i32))> = seen
        .iter()
        .filter_map(|d| Some((d.label.clone()?, d.middle())))
        .filter(|(label, _)| NAMING.contains(&label.chars().count()))
        .collect();
    let mut keys = HashSet::new();
    let mut out = Vec::new();
    for (detected, _) in seen.into_iter().zip(&faults).filter(|(_, fault)| fault.is_none()) {
        let (key, name) = named(connection, app, &detected, &texts)?;
        // Two that are alike are two.
        let mut unique = (key.clone(), name.clone());
        let mut n = 1;
        while !keys.insert(unique.0.clone()) {
            n += 1;
            unique = (format!("{key}_{n}"), format!("{name}_{n}"));
        }
        out.push(Sighting {
            key: unique.0,
            name: unique.1,
            source: source.to_owned(),
            kind: detected.kind,
            label: detected.label,
            steady: true,
            scrolls: false,
            res_id: None,
            class: None,
            bounds: Some(detected.bounds),
            confidence: detected.confidence,
            crop: detected.crop,
        });
    }
    Ok((out, faults.into_iter().flatten().collect()))
}

/// Key and name of a detection.
fn named(connection: &Connection, app: i64, d: &Detected, texts: &[(String, (i32, i32))]) -> Result<(String, String)> {
    if let Some(name) = d.name.as_deref().map(element::clean) {
        // What was renamed is still the same.
        let known = components::key_of_name(connection, app, &name)?;
        return Ok((known.unwrap_or_else(|| format!("name:{name}")), name));
    }
    if let Some(key) = &d.same_as {
        return Ok((key.clone(), String::new()));
    }
    let own = d.label.as_deref().filter(|l| !l.trim().is_empty());
    let label = own.or_else(|| nearest(d.middle(), texts));
    match label {
        Some(label) => {
            let name = element::clean(label);
            let exact = format!("name:{name}");
            // A counter in it makes no new component, unless one of just this name is known.
            let masked = mask::digits(label);
            let known = masked == label || components::by_key(connection, app, &exact)?.is_some();
            Ok((if known { exact } else { format!("name:{}", element::clean(&masked)) }, name))
        }
        None => {
            let name = element::unlabeled(&d.bounds);
            Ok((same_place(connection, app, d.middle())?.unwrap_or_else(|| format!("name:{name}")), name))
        }
    }
}

fn nearest((x, y): (i32, i32), texts: &[(String, (i32, i32))]) -> Option<&str> {
    let distance = |(tx, ty): (i32, i32)| f64::from(tx - x).hypot(f64::from(ty - y));
    let near = texts.iter().map(|(label, at)| (distance(*at), label)).filter(|(d, _)| *d < NEAR);
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, label)| label.as_str())
}

/// The key of the first component without a name that stood here before.
fn same_place(connection: &Connection, app: i64, (x, y): (i32, i32)) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "SELECT key FROM components WHERE app_id = :app_id AND deleted_at IS NULL AND source <> 'tree'
                AND key LIKE 'name:unlabeled\\_%' ESCAPE '\\'
                AND abs((bounds_left + bounds_right) / 2 - :x) < :near AND abs((bounds_top + bounds_bottom) / 2 - :y) < :near
             ORDER BY position LIMIT 1",
        )?
        .query_row(named_params! {":app_id": app, ":x": x, ":y": y, ":near": SAME_PLACE}, |row| row.get("key"))
        .optional()?)
}
