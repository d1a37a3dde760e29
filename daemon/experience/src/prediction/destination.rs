//! Pages to which actions lead.

use std::hash::{Hash, Hasher};

/// A page to which an action leads: the state or, if it is not known, the structure.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Row id of the state; `None` if the page is not a known state.
    pub state: Option<i64>,
    /// Key under which knowledge about the page is filed.
    key: String,
    /// Row id of a page of the state; `None` if no page was recorded.
    pub page: Option<i64>,
}

impl Destination {
    /// Creates a destination. `key` is the key under which knowledge about the page is filed.
    pub(super) fn new(state: Option<i64>, key: String, page: Option<i64>) -> Self {
        Self { state, key, page }
    }

    /// Returns the page of a known state, by its row id.
    pub fn of_state(state: i64) -> Self {
        Self { state: Some(state), key: String::new(), page: None }
    }

    /// Returns whether this is the page with a structure that belongs to no known state.
    pub fn has_key(&self, key: &str) -> bool {
        self.key == key
    }

    fn identity(&self) -> (Option<i64>, &str) {
        (self.state, if self.state.is_some() { "" } else { &self.key })
    }
}

impl PartialEq for Destination {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Destination {}

impl Hash for Destination {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity().hash(hasher);
    }
}
