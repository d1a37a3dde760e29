//! The views of sessions, kept in memory: each session's newest observation of each device, and the aliases that the
//! session may use.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Place;
use afd_screen::page::refs::{self, Recorded};
use afd_screen::page::structure::Structure;
use afd_screen::page::{Ref, Screen};

/// Maximum number of views; the least recently updated ones are dropped first.
const MAX_VIEWS: usize = 512;

/// Number of consecutive unsettled captures of a page after which the daemon no longer waits for the page to settle.
const RESTLESS_AFTER: u8 = 3;

/// The last observation of a device by a session.
#[derive(Debug, Clone)]
pub struct LastSeen {
    /// Observed place.
    pub place: Place,
    /// Number of inputs that were sent to the device before the observation.
    pub inputs: u64,
    /// Whether the node tree can be trusted.
    pub reliable: bool,
}

/// The aliases that an observation returned.
#[derive(Debug)]
pub struct ShownRefs {
    /// Uid of the observation.
    pub observation: String,
    /// Observed place.
    pub place: Place,
    /// Content of the screen at the time of the observation.
    pub snapshot: Arc<Screen>,
    /// Number of the alias of each ref, for example 3 for `@n3`, or 0 for a ref without an alias. Refs at the end of
    /// the list may have no entry.
    pub numbers: Vec<u32>,
    /// Whether the snapshot is one of the whole page, with what is out of sight.
    pub whole: bool,
    /// Number of elements of the outline, from its beginning, that were returned.
    pub rows: usize,
}

impl ShownRefs {
    /// Returns the refs that have an alias, each with the number of its alias.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Ref)> {
        self.numbers.iter().copied().zip(self.snapshot.refs().iter()).filter(|(number, _)| *number != 0)
    }

    /// Returns the ref to which an alias refers.
    pub fn find(&self, alias: &str) -> Option<Recorded<'_>> {
        let wanted = refs::number_of(alias)?;
        self.snapshot.recorded(self.numbers.iter().position(|number| *number == wanted)?)
    }
}

#[derive(Default)]
struct View {
    seen: Option<LastSeen>,
    shown: Option<Arc<ShownRefs>>,
    ref_version: Option<u64>,
    used: u64,
}

/// The screen content that any session last read from a device, and the time at which it was first read.
#[derive(Debug, Clone)]
struct Content {
    hash: String,
    inputs: u64,
    at: Instant,
}

/// A page that has only been scrolled since it was recognised.
#[derive(Debug, Clone)]
struct ScrolledPage {
    structure: String,
    activity: Option<String>,
    title: Option<String>,
    inputs: u64,
}

/// The last recorded settled content of a device.
#[derive(Debug, Clone)]
struct RecordedContent {
    hash: String,
    inputs: u64,
    /// Whether the daemon captured the content without a request, after an action.
    by_itself: bool,
}

/// The views of all sessions.
#[derive(Default)]
pub struct Views {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    views: HashMap<(i64, i64), View>,
    /// The last recorded settled content of each device, by row id of the device.
    recorded: HashMap<i64, RecordedContent>,
    /// Number of consecutive captures in which a page did not settle, by device and page key.
    unsettled: HashMap<(i64, String), u8>,
    /// The page of each device that has only been scrolled since it was recognised.
    scrolled: HashMap<i64, ScrolledPage>,
    contents: HashMap<i64, Content>,
    /// Version and content hash of the refs that were last returned for each device.
    ref_versions: HashMap<i64, (u64, u64)>,
    clock: u64,
}

/// Empties a map that is full, unless it has the key. What was in it is only missed for a moment.
fn make_room<T>(map: &mut HashMap<i64, T>, key: &i64) {
    if map.len() >= MAX_VIEWS && !map.contains_key(key) {
        map.clear();
    }
}

impl Views {
    /// Stores the last observation of a session, and replaces its aliases if the observation returned any.
    pub fn update(&self, session: i64, device: i64, seen: LastSeen, shown: Option<Arc<ShownRefs>>) {
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

    /// Replaces the aliases that a session may use, after an observation was stored with [`Self::update`].
    pub fn show(&self, session: i64, device: i64, shown: ShownRefs) {
        if let Some(view) = self.inner.lock().views.get_mut(&(session, device)) {
            view.shown = Some(Arc::new(shown));
        }
    }

    /// Drops the views of a deleted session.
    pub fn forget_session(&self, session: i64) {
        self.inner.lock().views.retain(|(of, _), _| *of != session);
    }

    /// Returns the version of a device's refs. The version increases whenever `content`, a hash of the refs, differs
    /// from the last returned hash. If a session is given, stores that this version was returned to that session.
    pub fn ref_version(&self, session: Option<i64>, device: i64, content: u64) -> u64 {
        let mut inner = self.inner.lock();
        make_room(&mut inner.ref_versions, &device);
        let (version, known) = inner.ref_versions.entry(device).or_default();
        if *version == 0 || *known != content {
            (*version, *known) = (*version + 1, content);
        }
        let version = *version;
        if let Some(view) = session.and_then(|session| inner.views.get_mut(&(session, device))) {
            view.ref_version = Some(version);
        }
        version
    }

    /// Returns the version of a device's refs that was last returned to a session.
    pub fn ref_version_shown(&self, session: i64, device: i64) -> Option<u64> {
        self.inner.lock().views.get(&(session, device)).and_then(|v| v.ref_version)
    }

    /// Records whether a page settled in a capture.
    pub fn note_settling(&self, device: i64, page: &str, settled: bool) {
        let mut inner = self.inner.lock();
        match settled {
            true => drop(inner.unsettled.remove(&(device, page.to_owned()))),
            false if inner.unsettled.len() < MAX_VIEWS => {
                let times = inner.unsettled.entry((device, page.to_owned())).or_default();
                *times = times.saturating_add(1);
            }
            false => inner.unsettled.clear(),
        }
    }

    /// Returns whether a page did not settle in its last captures, for example because it shows a video.
    pub fn is_restless(&self, device: i64, page: &str) -> bool {
        self.inner.lock().unsettled.get(&(device, page.to_owned())).is_some_and(|times| *times >= RESTLESS_AFTER)
    }

    /// Records that an action was sent to a device on this page. `inputs` is the number of inputs that the device has
    /// received, including the action. A page that is only scrolled stays the same page.
    pub fn note_action(&self, device: i64, page: &Place, scrolls: bool, inputs: u64) {
        let mut inner = self.inner.lock();
        let before = inner.scrolled.remove(&device);
        if !scrolls || page.dialog {
            return;
        }
        let base = before
            .filter(|b| b.activity == page.activity && b.title == page.title)
            .map(|b| b.structure)
            .or(page.structure.clone());
        if let Some(structure) = base {
            let page = ScrolledPage { structure, activity: page.activity.clone(), title: page.title.clone(), inputs };
            make_room(&mut inner.scrolled, &device);
            inner.scrolled.insert(device, page);
        }
    }

    /// Returns the structure key of the page that a device showed before it was scrolled. Returns `None` if the device
    /// has received other inputs since, or if the place or title differs.
    pub fn scrolled_from(&self, device: i64, inputs: u64, now: &Structure) -> Option<String> {
        let inner = self.inner.lock();
        let page = inner.scrolled.get(&device).filter(|p| p.inputs == inputs && !now.dialog)?;
        // The place of a website's page ends with the hash of its address.
        let same = page.activity.as_deref() == now.place.split('#').next() && page.title == now.title;
        same.then(|| page.structure.clone())
    }

    /// Stores that settled content of a device has been recorded. Returns whether the daemon had just recorded the same
    /// content without a request, so that this capture shows nothing new.
    pub fn note_recorded(&self, device: i64, hash: &str, inputs: u64, by_itself: bool) -> bool {
        let now = RecordedContent { hash: hash.to_owned(), inputs, by_itself };
        let mut inner = self.inner.lock();
        make_room(&mut inner.recorded, &device);
        let before = inner.recorded.insert(device, now);
        !by_itself && before.is_some_and(|b| b.by_itself && b.hash == hash && b.inputs == inputs)
    }

    /// Returns whether this is the last content recorded for the device, and the device has received no input since.
    pub fn is_recorded(&self, device: i64, hash: &str, inputs: u64) -> bool {
        self.inner.lock().recorded.get(&device).is_some_and(|r| r.hash == hash && r.inputs == inputs)
    }

    /// Returns the last observation of a session on a device.
    pub fn seen(&self, session: i64, device: i64) -> Option<LastSeen> {
        self.inner.lock().views.get(&(session, device)).and_then(|v| v.seen.clone())
    }

    /// Returns the aliases of a session's newest observation that returned refs.
    pub fn shown(&self, session: i64, device: i64) -> Option<Arc<ShownRefs>> {
        self.inner.lock().views.get(&(session, device)).and_then(|v| v.shown.clone())
    }

    /// Records the content of a device. Returns whether the screen has settled: the same content was read at least
    /// `min_gap` earlier, with no input since.
    pub fn is_settled(&self, device: i64, hash: &str, inputs: u64, at: Instant, min_gap: std::time::Duration) -> bool {
        let mut inner = self.inner.lock();
        let before = inner.contents.get(&device);
        let same = before.is_some_and(|c| c.hash == hash && c.inputs == inputs);
        let still = same && before.is_some_and(|c| at.saturating_duration_since(c.at) >= min_gap);
        if !same {
            make_room(&mut inner.contents, &device);
            inner.contents.insert(device, Content { hash: hash.to_owned(), inputs, at });
        }
        still
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_deleted_session_saw_is_forgotten() {
        let views = Views::default();
        let seen = || LastSeen { place: Place::default(), inputs: 1, reliable: true };
        for (session, device) in [(1, 1), (1, 2), (2, 1)] {
            views.update(session, device, seen(), None);
        }
        views.forget_session(1);
        assert!(views.seen(1, 1).is_none() && views.seen(1, 2).is_none() && views.seen(2, 1).is_some());
    }

    fn scrolled(structure: &str, title: &str) -> Place {
        Place {
            activity: Some("a.b/.Main".into()),
            structure: Some(structure.into()),
            title: Some(title.into()),
            ..Place::default()
        }
    }

    fn shows(title: &str, dialog: bool) -> Structure {
        Structure { place: "a.b/.Main#1".into(), title: Some(title.into()), dialog, ..Structure::default() }
    }

    #[test]
    fn page_stays_what_it_was_while_it_is_only_scrolled() {
        let views = Views::default();
        views.note_action(1, &scrolled("top", "List"), true, 5);
        assert_eq!(views.scrolled_from(1, 5, &shows("List", false)).as_deref(), Some("top"));
        // A second scroll still leads back to the first structure.
        views.note_action(1, &scrolled("middle", "List"), true, 6);
        assert_eq!(views.scrolled_from(1, 6, &shows("List", false)).as_deref(), Some("top"));
        for (device, inputs, structure) in [
            (2, 6, shows("List", false)),
            (1, 7, shows("List", false)),
            (1, 6, shows("Other", false)),
            (1, 6, shows("List", true)),
            (1, 6, Structure { place: "a.b/.Other".into(), ..shows("List", false) }),
        ] {
            assert_eq!(views.scrolled_from(device, inputs, &structure), None, "{device} {inputs} {structure:?}");
        }
        views.note_action(1, &scrolled("middle", "List"), false, 7);
        assert_eq!(views.scrolled_from(1, 7, &shows("List", false)), None, "something else was done");
    }

    #[test]
    fn page_has_settled_when_it_was_the_same_a_while_before() {
        let (views, start) = (Views::default(), Instant::now());
        let gap = std::time::Duration::from_millis(150);
        let is_settled = |hash: &str, inputs, ms| {
            views.is_settled(1, hash, inputs, start + std::time::Duration::from_millis(ms), gap)
        };
        assert!(!is_settled("a", 1, 0));
        assert!(!is_settled("a", 1, 149));
        assert!(is_settled("a", 1, 150), "since it was first seen");
        assert!(!is_settled("a", 2, 400), "an input followed");
        assert!(!is_settled("b", 2, 800), "the content changed");
        assert!(is_settled("b", 2, 950));
    }

    #[test]
    fn content_that_was_just_recorded_without_a_request_is_not_new() {
        let views = Views::default();
        assert!(!views.note_recorded(1, "a", 1, true));
        assert!(views.is_recorded(1, "a", 1) && !views.is_recorded(1, "a", 2) && !views.is_recorded(2, "a", 1));
        assert!(views.note_recorded(1, "a", 1, false));
        assert!(!views.note_recorded(1, "a", 1, false), "a request has recorded it since");
    }
}
