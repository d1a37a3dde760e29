//! `visual.*`: components, states, and how they are kept.

/// Which app or site a call is about, as the caller said it.
#[derive(Debug, Clone, Copy)]
pub struct ScopeOf<'a> {
    /// Package or program.
    pub app: Option<&'a str>,
    /// Name, host or URL of the site.
    pub site: Option<&'a str>,
    /// Session whose page is meant otherwise.
    pub session: Option<&'a str>,
    /// Its device.
    pub device: Option<&'a str>,
}

/// Parameters that tell a [`ScopeOf`].
pub trait ScopeCall {
    /// What it is about.
    fn scope(&self) -> ScopeOf<'_>;
}

params! {
    /// Something that a detector saw.
    #[derive(Default)]
    pub struct Detection {
        /// What to call it; by default made of its label, or of its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// `icon`, `text` or another word; by default `text` with a label and `icon` without.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// Left, top, right and bottom, pixels of the picture.
        #[serde(rename = "box")]
        pub bounds: [i32; 4],
        /// What it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// How sure the detector is, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub confidence: Option<f64>,
        /// The part of the picture that shows it, PNG or JPEG in base64.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub crop: Option<String>,
    }
}

device_params! {
    /// Parameters of `visual.learn`.
    #[derive(Default)]
    pub struct LearnParams {
        /// Package or program; by default that of the screen. With detections and an app, no device is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Site in a browser: its name, its host, or a URL, of which only the site is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site: Option<String>,
        /// What the caller calls the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// What a detector of the caller saw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub detections: Option<Vec<Detection>>,
        /// Run the detector program of the settings on a picture of the screen.
        #[serde(default)]
        pub detect: bool,
        /// A picture that the detections are of, or that the detector is to be run on: a file. By default one is taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub picture: Option<String>,
        /// Keep a picture of the page and of each component that has none.
        #[serde(default)]
        pub pictures: bool,
        /// Forget components that were missed so often in a row; kept for this app or site.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub forget_threshold: Option<u32>,
    }
}

scope_params! {
    /// Parameters of `visual.components`.
    #[derive(Default)]
    pub struct ComponentsParams {
        /// Only those without a label or a name of their own.
        #[serde(default)]
        pub unlabelled: bool,
        /// Only those of this state: its id or name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
        /// Only those whose name or label contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub query: Option<String>,
        /// At most this many, by default 100, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `visual.rename`.
    #[derive(Default)]
    pub struct RenameParams {
        /// Name of a component, or id or name of a state.
        pub old: String,
        /// Its new name.
        pub new: String,
    }

    /// Parameters of `visual.cleanup`.
    #[derive(Default)]
    pub struct CleanupParams {
        /// Only tell what would go.
        #[serde(default)]
        pub dry_run: bool,
    }

    /// Parameters of `visual.states`.
    #[derive(Default)]
    pub struct StatesParams {
        /// Also those that were seen once and are not defined yet.
        #[serde(default)]
        pub all: bool,
    }
}

words! {
    /// What has a name.
    Named {
        /// A component.
        Component = "component",
        /// A state.
        State = "state",
    }

    /// What a state is.
    StateKind {
        /// A page.
        Page = "page",
        /// A dialog over a page.
        Dialog = "dialog",
        /// What detections alone tell.
        Detected = "detected",
        /// What was imported with a name and nothing to know it by.
        Opaque = "opaque",
    }
}

wire! {
    /// What a memory is about.
    #[derive(Eq)]
    pub struct About {
        /// Package or program.
        pub app: String,
        /// Site in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site: Option<String>,
    }

    /// A state, in short.
    #[derive(Eq)]
    pub struct StateRef {
        /// `s_` and six hexadecimal digits.
        pub id: String,
        /// Name.
        pub name: String,
    }

    /// What was learned from one look.
    pub struct Learned {
        /// What it is about.
        #[serde(flatten)]
        pub about: About,
        /// The state; absent while nothing that was seen is known well enough to define one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<StateRef>,
        /// Whether the state was defined just now.
        pub new_state: bool,
        /// How many components were seen.
        pub seen: u32,
        /// How many of them were new.
        pub new_components: u32,
        /// How many components of the page were not there.
        pub missed: u32,
        /// How often something was learned of this app or site.
        pub learn_count: i64,
        /// `tree`, `detections` or the name of the detector.
        pub source: String,
        /// What was passed over, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub skipped: Vec<String>,
        /// Uid of the artifact that holds the picture of the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub picture: Option<String>,
    }

    /// A component.
    pub struct Component {
        /// Name, unique in its app or site.
        pub name: String,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// What kind of thing it is.
        #[serde(rename = "type")]
        pub kind: String,
        /// `tree`, or what detected it.
        pub source: String,
        /// What it says, when that does not change by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// Resource id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub res_id: Option<String>,
        /// Where it was seen last, `left,top,right,bottom`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bounds: Option<String>,
        /// How sure its detector was, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub confidence: Option<f64>,
        /// Ids of the states that it belongs to.
        pub states: Vec<String>,
        /// Whether a picture of it is kept.
        pub has_picture: bool,
        /// UTC milliseconds.
        pub learned_at: i64,
        /// UTC milliseconds.
        pub last_seen: i64,
        /// How often it was seen.
        pub seen_count: i64,
        /// Looks in a row that missed it, at the page of its where it was missed least.
        pub consecutive_misses: i64,
    }

    /// Components, in the order in which they were learned.
    pub struct Components {
        /// What they belong to.
        #[serde(flatten)]
        pub about: About,
        /// The components.
        pub components: Vec<Component>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// A pop-up that comes up anywhere, and what takes it away.
    pub struct Interrupt {
        /// The states that it came up over.
        pub over: Vec<String>,
        /// What takes it away, the surest first.
        pub dismissals: Vec<Dismissal>,
    }

    /// What takes a pop-up away.
    pub struct Dismissal {
        /// What is done.
        pub action: String,
        /// How often it worked.
        pub count: i64,
        /// How likely it is to work, pulled towards one half while little is known.
        pub probability: f64,
    }

    /// A state.
    pub struct State {
        /// `s_` and six hexadecimal digits; absent until it is defined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<String>,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// What the caller called it when it was learned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// What it is.
        pub kind: StateKind,
        /// `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub place: Option<String>,
        /// What it calls itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// How often it was seen.
        pub visit_count: i64,
        /// UTC milliseconds.
        pub first_seen: i64,
        /// UTC milliseconds.
        pub last_seen: i64,
        /// Names of the components that define it.
        pub defining_components: Vec<String>,
        /// Texts that could be read each time.
        pub visible_texts: Vec<String>,
        /// Set when it is a pop-up that comes up anywhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub interrupt: Option<Interrupt>,
    }

    /// States, in the order in which they were learned.
    pub struct States {
        /// What they belong to.
        #[serde(flatten)]
        pub about: About,
        /// Hosts of the site, with their ports, as callers named them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub hosts: Vec<String>,
        /// The states.
        pub states: Vec<State>,
    }

    /// What was renamed.
    pub struct Renamed {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// What it is.
        pub kind: Named,
        /// Its old name.
        pub old: String,
        /// Its new name.
        pub new: String,
        /// Number in the history, for `visual.undo`.
        pub history_id: i64,
    }

    /// What was cleaned up.
    pub struct Cleaned {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// Whether it was only told, and nothing went.
        pub dry_run: bool,
        /// Names of the components that went, and why.
        pub changes: Vec<CleanedUp>,
    }

    /// A component that went.
    pub struct CleanedUp {
        /// Its name.
        pub component: String,
        /// Why.
        pub why: String,
        /// Number in the history, for `visual.undo`; absent when nothing went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub history_id: Option<i64>,
    }
}

methods! {
    /// Learns what is on the screen: components, and the state that they make up.
    VisualLearn = "visual.learn" (LearnParams, DEVICE) -> Learned, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported, StoreUnavailable, StoreFull, Timeout], r#"{"page":"home"}"#;
    /// Lists the components of an app or site.
    VisualComponents = "visual.components" (ComponentsParams, SCOPE) -> Components, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Renames a component or a state, wherever it is named.
    VisualRename = "visual.rename" (RenameParams, SCOPE) -> Renamed, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","old":"unlabeled_40_60","new":"menu"}"#;
    /// Takes away components that are dynamic text: times, counters, messages.
    VisualCleanup = "visual.cleanup" (CleanupParams, SCOPE) -> Cleaned, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","dryRun":true}"#;
    /// Lists the states of an app or site.
    VisualStates = "visual.states" (StatesParams, SCOPE) -> States, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
}
