//! Lessons: what one observation of a screen teaches.

use super::scope::Scope;
use afd_screen::page::snapshot::Rect;
use afd_screen::page::structure::Structure;

/// Source of components that were read from the accessibility tree.
pub const TREE: &str = "tree";

/// What one observation of a screen teaches.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// App or site it belongs to.
    pub scope: Scope,
    /// Structure of the page; `None` when there is no tree that can be trusted.
    pub structure: Option<Structure>,
    /// Components that were seen.
    pub sightings: Vec<Sighting>,
    /// Whether there were more than these, so that what is not among them was not missed.
    pub cut: bool,
    /// Texts that could be read.
    pub texts: Vec<String>,
    /// Key of the structure that was in front before the page was scrolled, when only that was done to it since: the
    /// same page.
    pub scrolled_from: Option<String>,
    /// Name that the caller gave the page.
    pub page: Option<String>,
    /// Host of the site, with its port if it has one.
    pub host: Option<String>,
    /// Width and height of the screen, pixels.
    pub size: Option<(i32, i32)>,
    /// Time of the observation, UTC milliseconds.
    pub at: i64,
}

impl Lesson {
    /// Creates a lesson without an element tree, to which what a detector found is added.
    pub fn of_picture(scope: Scope, page: Option<String>, at: i64) -> Self {
        Self {
            scope,
            structure: None,
            sightings: Vec::new(),
            cut: false,
            texts: Vec::new(),
            scrolled_from: None,
            page,
            host: None,
            size: None,
            at,
        }
    }
}

/// A component that was seen.
#[derive(Debug, Clone)]
pub struct Sighting {
    /// Identifies the component within its scope.
    pub key: String,
    /// Preferred name, if the component is new and no other one has it.
    pub name: String,
    /// `tree`, or the name of the detector.
    pub source: String,
    /// Role or type, for example `button` or `icon`.
    pub kind: String,
    /// Its text.
    pub label: Option<String>,
    /// Whether the text belongs to its identity and does not change by itself.
    pub steady: bool,
    /// Whether it scrolls in and out of view.
    pub scrolls: bool,
    /// Resource id.
    pub res_id: Option<String>,
    /// Class without its package.
    pub class: Option<String>,
    /// Bounds, pixels.
    pub bounds: Option<Rect>,
    /// Confidence of the detector, 0 to 1.
    pub confidence: Option<f64>,
    /// Uid of the artifact with its picture.
    pub crop: Option<String>,
}
