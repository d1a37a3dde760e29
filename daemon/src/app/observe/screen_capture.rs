//! A capture of a screen with everything derived from it: page identity, structure, refs, and whether it has settled
//! and is reliable.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::observe::{Context, PublishedTool};
use afd_proto::vocabulary::PageRef;

use afd_base::task::over_nodes;
use afd_device::TreeReading;
use afd_experience::memory::Place;
use afd_experience::memory::views::ShownRefs;
use afd_screen::page::fingerprint::{self, Identity};
use afd_screen::page::published::PageTool;
use afd_screen::page::structure::{Structure, Structures};
use afd_screen::page::{Ref, Screen, Snapshot, WindowKind, refs, reliability, whole};
use afd_store::{new_uid, now_ms};

/// A reading of the screen with everything derived from it.
#[derive(Clone)]
pub(in crate::app) struct ScreenCapture {
    /// Id of the observation.
    pub uid: String,
    pub reading: TreeReading,
    /// Alias numbers of the refs; 0 for refs that are not returned and therefore have no alias.
    pub numbers: Vec<u32>,
    /// Fingerprint and page key; `None` while the activity is unknown.
    pub identity: Option<Identity>,
    /// Whether two readings at least `SETTLE_INTERVAL` apart had the same content, with no input between them.
    pub settled: bool,
    /// Reason why the reading is unreliable; `None` if it is reliable.
    pub doubt: Option<&'static str>,
    pub has_web_view: bool,
    /// Reliability of the nodes: `high`, or `low` where the tree may be incomplete.
    pub grade: &'static str,
    /// Time of the capture, in Unix milliseconds.
    pub at: i64,
    /// The page shown; its keys are `None` if the reading is unreliable.
    place: Place,
}

/// The newest recorded capture of a device.
pub(in crate::app) struct NewestCapture {
    /// Name of the session that the capture was recorded for.
    pub session: String,
    pub capture: ScreenCapture,
}

/// Returns the content hash of a reading, see [`fingerprint::content_hash`].
pub(in crate::app) fn content_of(reading: &TreeReading) -> &Arc<str> {
    over_nodes(reading.value.nodes.len(), || reading.value.content_hash())
}

/// Returns whether two readings have the same content and no input was sent between them.
pub(in crate::app) fn is_same(one: &TreeReading, other: &TreeReading) -> bool {
    one.inputs == other.inputs && content_of(one) == content_of(other)
}

impl ScreenCapture {
    pub(in crate::app) fn snapshot(&self) -> &Screen {
        &self.reading.value
    }

    /// Returns the interactive elements, in the order of `numbers`.
    pub(in crate::app) fn refs(&self) -> &Arc<Vec<Ref>> {
        self.snapshot().refs()
    }

    /// Returns the structures of the page in front and of the page under it.
    pub(in crate::app) fn structures(&self) -> Option<&Arc<Structures>> {
        self.snapshot().structures()
    }

    /// Copies the capture as a new observation, because several sessions may share one reading.
    pub(in crate::app) fn with_new_uid(&self) -> Self {
        Self { uid: new_uid(), ..self.clone() }
    }

    /// Returns whether a ref has an alias. A ref that is not returned has the number 0.
    pub(in crate::app) fn has_alias(&self, index: usize) -> bool {
        self.numbers.get(index).is_some_and(|number| *number != 0)
    }

    /// Returns the alias of a ref, by its index.
    pub(in crate::app) fn alias(&self, index: usize) -> String {
        refs::alias(self.numbers.get(index).copied().unwrap_or_default())
    }

    /// Returns the capture with the whole page instead of what is in sight; `None` if there is no more of it, or if
    /// something in front hides the page.
    pub(in crate::app) fn whole_page(&self) -> Option<Self> {
        let whole = over_nodes(self.snapshot().nodes.len(), || whole::of(self.snapshot()))?;
        let value = Arc::new(Screen::from(whole));
        let numbers = (1..).take(value.refs().len()).collect();
        Some(Self { reading: TreeReading { value, ..self.reading.clone() }, numbers, ..self.clone() })
    }

    /// Takes the alias numbers of a capture with the same nodes.
    pub(in crate::app) fn take_numbers(&mut self, other: &ScreenCapture) {
        let numbers: HashMap<usize, u32> =
            other.refs().iter().zip(&other.numbers).map(|(r, number)| (r.node, *number)).collect();
        self.numbers = self.refs().iter().map(|r| numbers.get(&r.node).copied().unwrap_or_default()).collect();
    }

    /// Returns the aliases of the capture, which a session may use once they are recorded for it. `rows` is the number of
    /// elements that it has received.
    pub(in crate::app) fn shown_refs(&self, whole: bool, rows: usize) -> ShownRefs {
        ShownRefs {
            observation: self.uid.clone(),
            place: self.place(),
            snapshot: self.reading.value.clone(),
            numbers: self.numbers.clone(),
            whole,
            rows,
        }
    }

    pub(in crate::app) fn reliable(&self) -> bool {
        self.doubt.is_none()
    }

    /// Creates a capture by deriving all its properties from a reading. `moving` marks a page that kept changing while
    /// it was read.
    pub(in crate::app) fn of(reading: TreeReading, settled: bool, moving: bool) -> Self {
        over_nodes(reading.value.nodes.len(), || Self::derive(reading, settled, moving))
    }

    fn derive(reading: TreeReading, settled: bool, moving: bool) -> Self {
        let snapshot = &reading.value;
        let doubt = reliability::doubt(snapshot).or(moving.then_some(reliability::MOVING));
        let identity = fingerprint::identity(snapshot);
        let (hash, exact) = (snapshot.content_hash(), snapshot.exact_content());
        Self {
            uid: new_uid(),
            numbers: (1..).take(snapshot.refs().len()).collect(),
            place: Place {
                // The hash includes digits, because a change of digits is a change of the page.
                content: Some(format!("{hash}{}", &exact[..16])),
                screen: Some(snapshot.screen_hash()),
                ..place(
                    snapshot,
                    identity.as_ref().filter(|_| doubt.is_none()),
                    snapshot.structures().map(Arc::as_ref).filter(|_| doubt.is_none()),
                )
            },
            identity,
            settled,
            doubt,
            has_web_view: snapshot.has_web_view(),
            grade: reliability::grade(snapshot),
            at: now_ms(),
            reading,
        }
    }

    /// Returns the page shown. An unreliable capture names no page.
    pub(in crate::app) fn place(&self) -> Place {
        Place { observation: Some(self.uid.clone()), ..self.place.clone() }
    }

    /// Returns the basic context for a response, without hints.
    pub(in crate::app) fn context(&self) -> Context {
        let snapshot = self.snapshot();
        let identity = self.identity.clone().unwrap_or_default();
        Context {
            observation_id: self.uid.clone(),
            settled: self.settled,
            reliable: self.reliable(),
            reason: self.doubt.map(str::to_owned),
            top_activity: snapshot.activity_below.clone().or_else(|| snapshot.place.clone()),
            app: snapshot.app.clone(),
            mode: snapshot.mode.clone(),
            has_web_view: self.has_web_view,
            node_reliability: self.grade.to_owned(),
            page: PageRef { key: identity.key, fingerprint: identity.fingerprint, state: None },
            dialog: self
                .structures()
                .as_ref()
                .map(|s| &s.front)
                .filter(|f| f.dialog)
                .map(|f| f.title.clone().unwrap_or_else(|| "dialog".to_owned())),
            incidents: Vec::new(),
            hints: Vec::new(),
            toward: None,
            outline: None,
            since: None,
            elements: None,
            tools: snapshot.tools.iter().map(published).collect(),
        }
    }
}

/// Describes a tool that the page publishes.
fn published(tool: &PageTool) -> PublishedTool {
    PublishedTool {
        name: tool.name.clone(),
        description: Some(tool.about.clone()).filter(|about| !about.is_empty()),
        input_schema: Some(tool.input.clone()).filter(|schema| !schema.is_null()),
        read_only: tool.reads_only,
    }
}

/// Describes the page shown. The keys are set only if `identity` and `structures` are given; `below` is the page under
/// a dialog.
fn place(snapshot: &Snapshot, identity: Option<&Identity>, structures: Option<&Structures>) -> Place {
    Place {
        observation: None,
        app: snapshot.app.clone(),
        activity: snapshot
            .place
            .clone()
            .or_else(|| (!snapshot.place_knowable).then(|| snapshot.stand_in_place()).flatten()),
        page_key: identity.map(|i| i.key.clone()),
        fingerprint: identity.map(|i| i.fingerprint.clone()),
        structure: structures.map(|s| s.front.key()),
        below: structures.and_then(|s| s.below.as_ref()).map(Structure::key),
        title: structures.and_then(|s| s.front.title.clone()),
        dialog: structures.is_some_and(|s| s.front.dialog),
        content: None,
        screen: None,
        keyboard: snapshot.shows(WindowKind::Keyboard),
    }
}
