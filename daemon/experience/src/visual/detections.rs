//! Converts detections to sightings, which [`super::learn`] stores.
//!
//! A detection is identified by the first of these that is available: the name that the caller gave it, its picture,
//! its own or the nearest text, its place. Detections that are too small or whose text is dynamic are skipped.

use std::collections::HashSet;

use rusqlite::Connection;

use super::lesson::Sighting;
use super::{cleanup, components};
use afd_screen::page::snapshot::Rect;
use afd_screen::page::{element, mask};
use afd_store::{Result, Sql as _, args};

/// Minimum width and height of an icon, in pixels.
const MIN_ICON: i32 = 25;
/// Minimum width and height of detected text, in pixels.
const MIN_TEXT: i32 = 8;
/// Text names an icon only if the distance between their centres is less than this, in pixels.
const NEAR: f64 = 60.0;
/// Range of lengths of text that may name an icon, in characters.
const NAMING: std::ops::RangeInclusive<usize> = 2..=15;
/// An unnamed icon is the same as a known one if the centres differ by less than this in both coordinates, in pixels.
const SAME_PLACE: i32 = 15;

/// An element that a client or a detector found in a picture.
#[derive(Debug, Clone)]
pub struct Detected {
    /// Name given by the caller.
    pub name: Option<String>,
    /// Type of the element, for example `icon` or `text`.
    pub kind: String,
    /// Text of the element.
    pub label: Option<String>,
    /// Bounds of the element, in pixels.
    pub bounds: Rect,
    /// Confidence with which the detector found the element, from 0 to 1.
    pub confidence: Option<f64>,
    /// Uid of the artifact that contains a picture of the element.
    pub crop: Option<String>,
    /// Key of the component with the same picture, if there is one.
    pub same_as: Option<String>,
}

impl Detected {
    fn middle(&self) -> (i32, i32) {
        (self.bounds.left.midpoint(self.bounds.right), self.bounds.top.midpoint(self.bounds.bottom))
    }

    /// Returns the reason why the detection is skipped, or `None` if it is not.
    fn rejection(&self) -> Option<String> {
        let (w, h) = (self.bounds.width(), self.bounds.height());
        let least = if self.kind == "text" { MIN_TEXT } else { MIN_ICON };
        let called = self.name.as_deref().or(self.label.as_deref()).unwrap_or("a detection");
        if w < least || h < least {
            return Some(format!("{called:?} is {w} by {h} pixels; the minimum is {least} by {least}"));
        }
        let dynamic = self
            .label
            .as_deref()
            .filter(|_| self.name.is_none() && self.kind == "text")
            .and_then(cleanup::dynamic_text);
        dynamic.map(|why| format!("{called:?} {why}"))
    }
}

/// Returns the sightings to learn, and the reasons why other detections are skipped.
pub fn sightings(
    connection: &Connection,
    app: i64,
    source: &str,
    mut seen: Vec<Detected>,
) -> Result<(Vec<Sighting>, Vec<String>)> {
    seen.sort_by_key(|d| (d.bounds.top, d.bounds.left));
    let rejections: Vec<Option<String>> = seen.iter().map(Detected::rejection).collect();
    let texts: Vec<(String, (i32, i32))> = seen
        .iter()
        .filter_map(|d| Some((d.label.clone()?, d.middle())))
        .filter(|(label, _)| NAMING.contains(&label.chars().count()))
        .collect();
    let mut keys = HashSet::new();
    let mut out = Vec::new();
    for (detected, _) in seen.into_iter().zip(&rejections).filter(|(_, rejection)| rejection.is_none()) {
        let (key, name) = named(connection, app, &detected, &texts)?;
        // Detections with equal keys are different components.
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
    Ok((out, rejections.into_iter().flatten().collect()))
}

/// Returns the key and the name of a detection.
fn named(connection: &Connection, app: i64, d: &Detected, texts: &[(String, (i32, i32))]) -> Result<(String, String)> {
    if let Some(name) = d.name.as_deref().map(element::clean) {
        // A component that was renamed keeps its key.
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
            // Masks digits, so that a counter does not create new components. Keeps the digits if a component with
            // exactly this name is known.
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

/// Returns the nearest text that is close enough to name an icon.
fn nearest((x, y): (i32, i32), texts: &[(String, (i32, i32))]) -> Option<&str> {
    let distance = |(tx, ty): (i32, i32)| f64::from(tx - x).hypot(f64::from(ty - y));
    let near = texts.iter().map(|(label, at)| (distance(*at), label)).filter(|(d, _)| *d < NEAR);
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, label)| label.as_str())
}

/// Returns the key of the first unnamed component that was seen at this place.
fn same_place(connection: &Connection, app: i64, (x, y): (i32, i32)) -> Result<Option<String>> {
    connection.first(
        "SELECT key FROM components WHERE app_id = :app_id AND deleted_at IS NULL AND source <> 'tree'
                AND key LIKE 'name:unlabeled\\_%' ESCAPE '\\'
                AND abs((bounds_left + bounds_right) / 2 - :x) < :near AND abs((bounds_top + bounds_bottom) / 2 - :y) < :near
             ORDER BY position LIMIT 1",
        args! {app_id: app, x, y, near: SAME_PLACE},
        |row| row.get("key"),
    )
}
