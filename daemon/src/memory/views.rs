//! What sessions see right now: their newest observation of each device, and the aliases that they may use.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Place;
use crate::page::Snapshot;
use crate::page::refs::Recorded;

/// How many views are kept; the ones that were not used for longest go first.
const MAX_VIEWS: usize = 512;

/// What a session saw last.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Where it was.
    pub place: Place,
    /// How many inputs the device had been sent before.
    pub inputs: u64,
    /// Whether the tree can be trusted.
    pub reliable: bool,
}

/// The aliases that an observation returned.
#[derive(Debug)]
pub struct Shown {
    /// That observation.
    pub observation: String,
    /// Where it was.
    pub place: Place,
    /// What was on the screen.
    pub snapshot: Arc<Snapshot>,
    /// What each alias stands for.
    pub refs: HashMap<String, Recorded>,
}

#[derive(Default)]
struct View {
    seen: Option<Seen>,
    shown: Option<Arc<Shown>>,
    used: u64,
}

/// The last content that was read from a device, whoever read it.
#[derive(Debug, Clone)]
struct Content {
    hash: String,
    inputs: u64,
    at: Instant,
}

/// All views.
#[derive(Default)]
pub struct Views {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    views: HashMap<(i64, i64), View>,
    contents: HashMap<i64, Content>,
    clock: u64,
}

impl Views {
    /// Keeps what a session saw, and the aliases when it was shown any.
    pub fn update(&self, session: i64, device: i64, seen: Seen, shown: Option<Arc<Shown>>) {
        let mut inner = self.inner.lock();
        inner.clock += 1;
        let clock = inner.clock;
        if inner.views.len() >= MAX_VIEWS && !inner.views.contains_key(&(session, device)) {
            let oldest = inner.views.iter().min_by_key(|(_, v)| v.used).map(|(k, _)| *k);
            oldest.and_then(|key| inner.views.remove(&key));
        }
        let view = inner.views.entry((session, device)).or_default();
        view.used = clock;
        view.seen = Some(seen);
        if shown.is_some() {
            view.shown = shown;
        }
    }

    /// What a session saw last on a device.
    pub fn seen(&self, session: i64, device: i64) -> Option<Seen> {
        self.inner.lock().views.get(&(session, device)).and_then(|v| v.seen.clone())
    }

    /// The aliases of a session's newest observation that returned refs.
    pub fn shown(&self, session: i64, device: i64) -> Option<Arc<Shown>> {
        self.inner.lock().views.get(&(session, device)).and_then(|v| v.shown.clone())
    }

    /// Notes the content of a device. Returns whether it has stood still: the content before was the same, at least
    /// `apart` ago, with no input since.
    pub fn stood_still(&self, device: i64, hash: &str, inputs: u64, at: Instant, apart: std::time::Duration) -> bool {
        let mut inner = self.inner.lock();
        let before = inner.contents.get(&device);
        let same = before.is_some_and(|c| c.hash == hash && c.inputs == inputs);
        let still = same && before.is_some_and(|c| at.saturating_duration_since(c.at) >= apart);
        if !same {
            inner.contents.insert(device, Content { hash: hash.to_owned(), inputs, at });
        }
        still
    }
}
