//! What follows from a snapshot: computed once it is asked for, and kept with it. Readings of a page that stands still
//! share one snapshot, and so all of this.

use std::sync::Arc;

use super::element::{self, Element};
use super::element_ref::Ref;
use super::layers::Geometry;
use super::snapshot::{Lazy, Snapshot};
use super::structure::{self, Structures};
use super::{fingerprint, refs};

/// The values that are computed from a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Derived {
    geometry: Lazy<Geometry>,
    content_hash: Lazy<Arc<str>>,
    exact: Lazy<Arc<str>>,
    screen_hash: Lazy<u64>,
    structures: Lazy<Option<Arc<Structures>>>,
    refs: Lazy<Arc<Vec<Ref>>>,
    elements: Lazy<Vec<Element>>,
}

/// The snapshot must not be changed after one of these was called.
impl Snapshot {
    /// Returns what follows from the positions of windows and nodes.
    pub(super) fn geometry(&self) -> &Geometry {
        self.derived.geometry.get(|| Geometry::of(self.scene()))
    }

    /// See [`fingerprint::content_hash`].
    pub fn content_hash(&self) -> &Arc<str> {
        self.derived.content_hash.get(|| fingerprint::content_hash(self).into())
    }

    /// See [`fingerprint::exact_content`].
    pub fn exact_content(&self) -> &Arc<str> {
        self.derived.exact.get(|| fingerprint::exact_content(self).into())
    }

    /// See [`fingerprint::screen_hash`].
    pub fn screen_hash(&self) -> u64 {
        *self.derived.screen_hash.get(|| fingerprint::screen_hash(self))
    }

    /// See [`structure::of`].
    pub fn structures(&self) -> Option<&Arc<Structures>> {
        self.derived.structures.get(|| structure::of(self).map(Arc::new)).as_ref()
    }

    /// See [`refs::all`].
    pub fn refs(&self) -> &Arc<Vec<Ref>> {
        self.derived.refs.get(|| Arc::new(refs::all(self)))
    }

    /// See [`element::all`].
    pub fn elements(&self) -> &[Element] {
        self.derived.elements.get(|| element::all(self))
    }
}
