//! A snapshot with results that are computed on first use and then cached. Readings of an unchanged page share one
//! `Screen`, and so its results.

use std::ops::Deref;
use std::sync::Arc;

use super::element::{self, Element};
use super::element_ref::Ref;
use super::fingerprint;
use super::refs::{self, Recorded};
use super::snapshot::{Lazy, Snapshot};
use super::structure::{self, Structures};

/// An immutable snapshot, with a cache for the results that are computed from it.
#[derive(Debug, Default)]
pub struct Screen {
    snapshot: Snapshot,
    content_hash: Lazy<Arc<str>>,
    exact: Lazy<Arc<str>>,
    screen_hash: Lazy<u64>,
    structures: Lazy<Option<Arc<Structures>>>,
    refs: Lazy<Arc<Vec<Ref>>>,
    elements: Lazy<Vec<Element>>,
}

impl From<Snapshot> for Screen {
    fn from(snapshot: Snapshot) -> Self {
        Self { snapshot, ..Self::default() }
    }
}

impl Deref for Screen {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl Screen {
    /// Returns the cached result of [`fingerprint::content_hash`].
    pub fn content_hash(&self) -> &Arc<str> {
        self.content_hash.get(|| fingerprint::content_hash(self).into())
    }

    /// Returns the cached result of [`fingerprint::exact_content`].
    pub fn exact_content(&self) -> &Arc<str> {
        self.exact.get(|| fingerprint::exact_content(self).into())
    }

    /// Returns the cached result of [`fingerprint::screen_hash`].
    pub fn screen_hash(&self) -> u64 {
        *self.screen_hash.get(|| fingerprint::screen_hash(self))
    }

    /// Returns the cached result of [`structure::of`].
    pub fn structures(&self) -> Option<&Arc<Structures>> {
        self.structures.get(|| structure::of(self).map(Arc::new)).as_ref()
    }

    /// Returns the cached result of [`refs::all`].
    pub fn refs(&self) -> &Arc<Vec<Ref>> {
        self.refs.get(|| Arc::new(refs::all(self)))
    }

    /// Returns the cached result of [`element::all`].
    pub fn elements(&self) -> &[Element] {
        self.elements.get(|| element::all(self))
    }

    /// Returns the ref at an index, with the facts needed to find it again on a later screen. Returns `None` if there
    /// are fewer refs.
    pub fn recorded(&self, index: usize) -> Option<Recorded<'_>> {
        let all = self.refs();
        let what = all.get(index)?;
        Some(Recorded {
            what,
            content: self.exact_content(),
            unique_title: refs::has_unique_title(what, all),
            digits_count: refs::differs_in_digits(what, all),
        })
    }
}
