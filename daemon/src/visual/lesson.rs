//! What one look teaches.

use super::scope::Scope;
use crate::page::snapshot::Rect;
use crate::page::structure::Structure;

/// Where components come from that were read from the accessibility tree.
pub const TREE: &str = "tree";

/// What one look taught.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// What it was about.
    pub scope: Scope,
    /// The structure of the page, when its tree could be trusted.
    pub structure: Option<Structure>,
    /// What was there.
    pub sightings: Vec<Sighting>,
    /// The texts that could be read.
    pub texts: Vec<String>,
    /// What the caller calls the page.
    pub page: Option<String>,
    /// When, UTC milliseconds.
    pub at: i64,
}

/// A component that was seen.
#[derive(Debug, Clone)]
pub struct Sighting {
    /// What makes it the same component.
    pub key: String,
    /// What to call it, if it is new and nothing else is called so.
    pub name: String,
    /// `tree`, or what detected it.
    pub source: String,
    /// What kind of thing it is.
    pub kind: String,
    /// What it says.
    pub label: Option<String>,
    /// Whether that is part of what it is, and does not change by itself.
    pub steady: bool,
    /// Whether it moves in and out of view.
    pub scrolls: bool,
    /// Resource id.
    pub res_id: Option<String>,
    /// Class.
    pub class: Option<String>,
    /// Where it is.
    pub bounds: Option<Rect>,
    /// How sure the detector is, 0 to 1.
    pub confidence: Option<f64>,
    /// Uid of the artifact that shows it.
    pub crop: Option<String>,
}
