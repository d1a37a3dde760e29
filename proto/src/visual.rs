//! `visual.*`: learning and inspecting components and states.

/// App or site that a call refers to, as given by the caller.
#[derive(Debug, Clone, Copy)]
pub struct ScopeSelector<'a> {
    /// Package or program.
    pub app: Option<&'a str>,
    /// Name, host or URL of a site in the app.
    pub site: Option<&'a str>,
    /// Session whose last observation supplies the app if `app` is omitted.
    pub session: Option<&'a str>,
    /// Device on which the session's last observation was made.
    pub device: Option<&'a str>,
}

/// Parameters that contain a [`ScopeSelector`].
pub trait ScopeCall {
    /// Returns the app or site that the call refers to.
    fn scope(&self) -> ScopeSelector<'_>;
}

params! {
    /// An element that a detector found in a picture.
    #[derive(Default)]
    pub struct Detection {
        /// Name of the element; by default derived from its label or position.
        pub name: Option<String>,
        /// Type of the element, for example `icon` or `text`; by default `text` if there is a label, else `icon`.
        #[serde(rename = "type")]
        pub kind: Option<String>,
        /// Left, top, right and bottom edges in picture pixels, each from -100,000 to 100,000.
        #[serde(rename = "box")]
        pub bounds: [i32; 4],
        /// Text of the element.
        pub label: Option<String>,
        /// Confidence of the detector in this detection.
        pub confidence: Option<f64> where 0.0..=1.0,
        /// Picture of the element: a PNG or JPEG file in base64.
        pub crop: Option<String>,
    }
}

device_params! {
    /// Parameters of `visual.learn`.
    #[derive(Default)]
    pub struct LearnParams {
        /// Package or program; by default the app on the screen. If detections or a picture are given, no device is
        /// needed and `app` is required.
        pub app: Option<String>,
        /// Site in a browser: a name, a host, or a URL, of which only the site is used.
        pub site: Option<String>,
        /// Name or description of the page.
        pub page: Option<String>,
        /// Detections made by the caller. If given, the screen is not read. Mutually exclusive with `detect`.
        pub detections: Option<Vec<Detection>>,
        /// Whether to run the configured detector program on a picture of the screen.
        #[serde(default)]
        pub detect: bool,
        /// Absolute path of a picture that the detections refer to, or on which to run the detector; by default a
        /// screenshot is taken.
        pub picture: Option<String>,
        /// Whether to save a picture of the page, and of each component that has none yet.
        #[serde(default)]
        pub pictures: bool,
        /// Number of consecutive misses after which a component is forgotten, initially 15; stored for this app or
        /// site.
        pub forget_threshold: Option<u32> where 1..=100_000,
    }
}

scope_params! {
    /// Parameters of `visual.components`.
    #[derive(Default)]
    pub struct ComponentsParams {
        /// Whether to list only components without a label or a name of their own.
        #[serde(default)]
        pub unlabelled: bool,
        /// Only components of this state, given by id or name.
        pub state: Option<String>,
        /// Only components whose name or label contains this string.
        pub query: Option<String>,
        /// Maximum number of components.
        pub limit: Option<u32> where 1..=10_000 = 100,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }

    /// Parameters of `visual.rename`.
    #[derive(Default)]
    pub struct RenameParams {
        /// Name of a component, or id or name of a state.
        pub old: String,
        /// New name of the component or state.
        pub new: String where chars 1..=200,
    }

    /// Parameters of `visual.cleanup`.
    #[derive(Default)]
    pub struct CleanupParams {
        /// Whether to report what would be deleted without deleting it.
        #[serde(default)]
        pub dry_run: bool,
    }

    /// Parameters of `visual.states`.
    #[derive(Default)]
    pub struct StatesParams {
        /// Whether to include states that were seen only once and are not defined yet.
        #[serde(default)]
        pub all: bool,
    }
}

words! {
    /// Kind of named item.
    ItemKind {
        /// The item is a component.
        Component = "component",
        /// The item is a state.
        State = "state",
    }

    /// Kind of state.
    StateKind {
        /// A page.
        Page = "page",
        /// A dialog over a page.
        Dialog = "dialog",
        /// A state known only from detections.
        Detected = "detected",
        /// A state imported by name, without data that would identify it on the screen.
        Opaque = "opaque",
    }
}

wire! {
    /// An app, or a site in a browser.
    #[derive(Eq)]
    pub struct ScopeInfo {
        /// Package or program.
        pub app: String,
        /// Site; absent for the app itself.
        pub site: Option<String>,
    }

    /// Reference to a state.
    #[derive(Eq)]
    pub struct StateRef {
        /// Id: `s_` and six hexadecimal digits; empty if the state is not defined yet.
        pub id: String,
        /// Name of the state, or its id if it has no name.
        pub name: String,
    }

    /// Result of `visual.learn`.
    pub struct LearnResult {
        /// App or site that the components belong to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// State that the screen is in; absent while too few components of the screen are known to define a state.
        pub state: Option<StateRef>,
        /// Whether the state was defined by this call.
        pub new_state: bool,
        /// Number of components that were seen.
        pub seen: u32,
        /// Number of new components among those that were seen.
        pub new_components: u32,
        /// Number of the page's components that were missing.
        pub missed: u32,
        /// Number of times components of this app or site were learned, including this call.
        pub learn_count: i64,
        /// Source of the components: `tree`, `detections`, or the name of the detector program.
        pub source: String,
        /// Detections that were skipped, with the reasons.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub skipped: Vec<String>,
        /// Uid of the artifact with the picture of the page.
        pub picture: Option<String>,
    }

    /// A component: an element that was learned.
    pub struct Component {
        /// Name of the component, unique within its app or site.
        pub name: String,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Type of the component, for example `button`, `text` or `icon`.
        #[serde(rename = "type")]
        pub kind: String,
        /// Source of the component: `tree` for the element tree, or the detector that found the component.
        pub source: String,
        /// Text of the element; absent if it has no text or if its text is dynamic.
        pub label: Option<String>,
        /// Resource id of the element.
        pub res_id: Option<String>,
        /// Last known position as `left,top,right,bottom`, in pixels.
        pub bounds: Option<String>,
        /// Confidence of the detector in its detection, 0 to 1; absent for components from the element tree.
        pub confidence: Option<f64>,
        /// Ids of the states that the component belongs to.
        pub states: Vec<String>,
        /// Whether a picture of the component is saved.
        pub has_picture: bool,
        /// Time at which the component was learned, in Unix milliseconds.
        pub learned_at: i64,
        /// Time at which the component was last seen, in Unix milliseconds.
        pub last_seen: i64,
        /// Number of times the component was seen.
        pub seen_count: i64,
        /// Number of consecutive observations in which the component was missing; if the component belongs to several
        /// states, the lowest number among these states.
        pub consecutive_misses: i64,
        /// Uid of the memory that learned the component first; absent if this memory did.
        pub origin: Option<String>,
    }

    /// A page of components, in the order in which they were learned.
    pub struct Components {
        /// App or site that the components belong to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Components on this page.
        pub components: Vec<Component>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// A pop-up that appears over several states on its own.
    pub struct Interrupt {
        /// Names of the states that the pop-up appeared over.
        pub over: Vec<String>,
        /// Actions that dismiss the pop-up, most reliable first.
        pub dismissals: Vec<Dismissal>,
    }

    /// An action that dismisses a pop-up.
    pub struct Dismissal {
        /// Description of the action in words.
        pub action: String,
        /// Number of times the action worked.
        pub count: i64,
        /// Estimated probability that the action works, 0 to 1; pulled towards 0.5 while there are few attempts.
        pub probability: f64,
    }

    /// A state: a page or dialog that is recognised if it is seen again.
    pub struct State {
        /// Id: `s_` and six hexadecimal digits; absent until the state is defined.
        pub id: Option<String>,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that learned the state first; absent if this memory did.
        pub origin: Option<String>,
        /// Name of the state; absent if it has none.
        pub name: Option<String>,
        /// Name or description of the page, as given by a caller when the state was learned.
        pub description: Option<String>,
        /// Kind of state.
        pub kind: StateKind,
        /// Activity as `package/activity`, or URL; absent if unknown.
        pub place: Option<String>,
        /// Title shown on the page.
        pub title: Option<String>,
        /// Number of visits to the state.
        pub visit_count: i64,
        /// Time of the first visit, in Unix milliseconds.
        pub first_seen: i64,
        /// Time of the last visit, in Unix milliseconds.
        pub last_seen: i64,
        /// Names of the components that define the state.
        pub defining_components: Vec<String>,
        /// Pieces of text that are visible on every visit.
        pub visible_texts: Vec<String>,
        /// Details of the pop-up; only if the state is a pop-up that appears over several states on its own.
        pub interrupt: Option<Interrupt>,
    }

    /// Result of `visual.states`: states in the order in which they were learned.
    pub struct States {
        /// App or site that the states belong to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Hosts of the site as given by callers, with their ports.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub hosts: Vec<String>,
        /// The states.
        pub states: Vec<State>,
    }

    /// Result of `visual.rename`.
    pub struct RenameResult {
        /// App or site that the item belongs to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Kind of the item.
        pub kind: ItemKind,
        /// Previous name of the component or state.
        pub old: String,
        /// New name of the component or state.
        pub new: String,
        /// Id of the change, for `visual.undo`.
        pub history_id: i64,
    }

    /// Result of `visual.cleanup`.
    pub struct CleanupResult {
        /// App or site that was cleaned up.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Whether this was a dry run.
        pub dry_run: bool,
        /// Deleted components, with the reasons.
        pub changes: Vec<RemovedComponent>,
    }

    /// A component that was deleted because its text is dynamic.
    pub struct RemovedComponent {
        /// Name of the component.
        pub component: String,
        /// Reason for the deletion.
        pub why: String,
        /// Id of the change, for `visual.undo`; absent in a dry run.
        pub history_id: Option<i64>,
    }
}

methods! {
    /// Learns the components on the screen, and the state they make up.
    VisualLearn = "visual.learn" (LearnParams, DEVICE) -> LearnResult, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported, StoreUnavailable, StoreFull, Timeout], r#"{"page":"home"}"#;
    /// Lists the components of an app or site.
    VisualComponents = "visual.components" (ComponentsParams, SCOPE) -> Components, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Renames a component or a state everywhere it is referred to.
    VisualRename = "visual.rename" (RenameParams, SCOPE) -> RenameResult, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","old":"unlabeled_40_60","new":"menu"}"#;
    /// Deletes components whose text is dynamic, such as times, counters or messages.
    VisualCleanup = "visual.cleanup" (CleanupParams, SCOPE) -> CleanupResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","dryRun":true}"#;
    /// Lists the states of an app or site.
    VisualStates = "visual.states" (StatesParams, SCOPE) -> States, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
}
