//! Lessons: the data that is learned from one observation of a screen.

use super::scope::Scope;
use afd_screen::page::snapshot::Rect;
use afd_screen::page::structure::Structure;

/// Name of the source of components that were read from the accessibility tree.
pub const TREE: &str = "tree";

/// The data that is learned from one observation of a screen.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// App or site to which the screen belongs.
    pub scope: Scope,
    /// Structure of the page; `None` if there is no reliable tree.
    pub structure: Option<Structure>,
    /// Components that were seen.
    pub sightings: Vec<Sighting>,
    /// Whether the list of sightings is truncated. Components that a truncated list lacks do not count as missed.
    pub cut: bool,
    /// Text strings on the screen.
    pub texts: Vec<String>,
    /// If the page was only scrolled since it was recognised: key of the structure that it had before. It is still the
    /// same page.
    pub scrolled_from: Option<String>,
    /// Name that the caller gave the page.
    pub page: Option<String>,
    /// Host of the site, with its port if it has one.
    pub host: Option<String>,
    /// Width and height of the screen, in pixels.
    pub size: Option<(i32, i32)>,
    /// Time of the observation, in Unix milliseconds.
    pub at: i64,
}

impl Lesson {
    /// Creates a lesson without an element tree, to which the caller adds detector results.
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
    /// Key that identifies the component within its scope.
    pub key: String,
    /// Preferred name for a new component. If another component already has this name, a number is appended.
    pub name: String,
    /// Source of the component: `tree` for the accessibility tree, or the name of the detector.
    pub source: String,
    /// Role or type, for example `button` or `icon`.
    pub kind: String,
    /// Text of the component.
    pub label: Option<String>,
    /// Whether the text is part of the component's identity and does not change on its own.
    pub steady: bool,
    /// Whether the component scrolls in and out of view.
    pub scrolls: bool,
    /// Resource id of the element; `None` if it has none.
    pub res_id: Option<String>,
    /// Class of the element, without the package name.
    pub class: Option<String>,
    /// Bounds of the component, in pixels.
    pub bounds: Option<Rect>,
    /// Confidence with which the detector found the component, from 0 to 1.
    pub confidence: Option<f64>,
    /// Uid of the artifact that contains a picture of the component.
    pub crop: Option<String>,
}
