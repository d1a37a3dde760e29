//! Types shared by all namespaces: the device and session of a call, targets, actions, pages, hints.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Secret;

/// Session used for calls that do not name one.
pub const DEFAULT_SESSION: &str = "default";

/// Conversation used for calls that do not name one.
pub const DEFAULT_CONVERSATION: &str = "main";

/// Device and session of a call, as given by the caller.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// Name of a configured device.
    pub device: Option<&'a str>,
    /// Name of the session.
    pub session: Option<&'a str>,
    /// Base URL of an ad-hoc device.
    pub url: Option<&'a str>,
    /// Bearer token for this call.
    pub token: Option<&'a Secret>,
}

/// Parameters that contain an [`Address`].
pub trait DeviceCall {
    /// Returns the device and session of the call.
    fn address(&self) -> Address<'_>;
}

params! {
    /// Parameters of methods that take no parameters.
    #[derive(Default)]
    pub struct NoParams {}
}

words! {
    /// Visibility of a record: a note, bug, test result or task, or the digest of a session.
    #[derive(Default)]
    RecordScope {
        /// All sessions that use the record's app, or all sessions if the record is about no app.
        #[default]
        App = "app",
        /// Only the session that made the record.
        Session = "session",
    }

    /// Property by which a node is selected.
    By {
        /// Visible text of the node.
        Text = "text",
        /// Label as printed in an outline: text or description.
        Label = "label",
        /// Content description of the node.
        Desc = "desc" | "content_desc" | "content-desc" | "contentDesc",
        /// Resource id of the node, or part of it.
        ResId = "resId" | "resid" | "res_id" | "resource_id" | "resource-id" | "resourceId",
        /// Class name of the node, with or without the package.
        Class = "class" | "class_name" | "class-name" | "className",
        /// Alias, such as @n3, from the session's newest refs.
        Ref = "ref",
    }

    /// Role of an element.
    #[derive(Default)]
    Role {
        /// Button.
        Button = "button",
        /// Input field.
        Field = "field",
        /// Switch, checkbox or radio button.
        Switch = "switch",
        /// List row, or another clickable container.
        Row = "row",
        /// List, or another scrollable container.
        List = "list",
        /// Picture.
        Image = "image",
        /// Plain text.
        Text = "text",
        /// Web view.
        Web = "web",
        /// Any other view.
        View = "view",
        /// Unknown role: the element was named but never seen.
        #[default]
        Any = "any",
    }

    /// Verb of an action: the operations of `act.*` and `recover.*`.
    Verb {
        /// Tap.
        Tap = "tap",
        /// Long press.
        LongPress = "longPress",
        /// Double tap.
        DoubleTap = "doubleTap",
        /// Hover.
        Hover = "hover",
        /// Swipe.
        Swipe = "swipe",
        /// Drag.
        Drag = "drag",
        /// Give files to a page.
        Upload = "upload",
        /// Choose, open or close a tab.
        Tab = "tab",
        /// Call a tool that a page publishes.
        PageTool = "pageTool",
        /// Scroll.
        Scroll = "scroll",
        /// Scroll until a target is on the screen.
        ScrollTo = "scrollTo",
        /// Press the Back key.
        Back = "back",
        /// Press the Home key.
        Home = "home",
        /// Press another key.
        Key = "key",
        /// Type text.
        Text = "text",
        /// Fill a field.
        Fill = "fill",
        /// Launch an app.
        Launch = "launch",
        /// Stop an app.
        Stop = "stop",
        /// Press Home and launch the app.
        Relaunch = "relaunch",
        /// Run a shell command.
        Shell = "shell",
        /// Send an intent.
        Intent = "intent",
        /// Install an app.
        Install = "install",
        /// Uninstall an app.
        Uninstall = "uninstall",
        /// Stop an app and delete its data.
        ClearApp = "clearApp",
        /// Give an app a permission, or take it away.
        Grant = "grant",
        /// Change settings of the device.
        Configure = "configure",
        /// No action: the screen changed on its own.
        Wait = "wait",
    }

    /// Kind of hint.
    HintKind {
        /// An action that worked here.
        Action = "action",
        /// An action that failed here.
        Failure = "failure",
        /// A recovery that worked after a failure here.
        Recovery = "recovery",
        /// An action that dismisses the pop-up on the screen.
        Interrupt = "interrupt",
        /// A saved pattern about this page: input that a field accepts or rejects.
        Rule = "rule",
        /// A saved pattern about this page: an element that is missing at times or behaves inconsistently.
        Flaky = "flaky",
        /// A saved pattern about this page: its expected appearance.
        Baseline = "baseline",
    }

    /// Kind of call that observed a screen.
    ObservationSource {
        /// A call to observe.top.
        Top = "top",
        /// A call to observe.screen.
        Screen = "screen",
        /// A call to observe.refs.
        Refs = "refs",
        /// A call to observe.page.
        Page = "page",
        /// A call to observe.wait.
        Wait = "wait",
        /// A call to any method in the namespace verify.
        Verify = "verify",
        /// A call to visual.learn.
        Learn = "learn",
    }
}

/// Hints to return: `false` for none, `true` for the most useful hints, `"all"` for all hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HintsWanted {
    /// `true` for the most useful hints, `false` for none.
    Chosen(bool),
    /// All hints.
    All(AllHints),
}

impl HintsWanted {
    /// Returns whether any hints are wanted.
    pub fn any(self) -> bool {
        self != HintsWanted::Chosen(false)
    }

    /// Returns whether all hints are wanted.
    pub fn all(self) -> bool {
        matches!(self, HintsWanted::All(_))
    }
}

words! {
    /// The word that requests all hints.
    AllHints {
        /// Includes hints about actions without a target, about single failures, and about attempts without effect.
        All = "all",
    }
}

impl RecordScope {
    /// Returns the scope, or `None` for the default scope, which responses omit.
    pub fn narrowed(self) -> Option<Self> {
        Some(self).filter(|scope| *scope != Self::App)
    }
}

wire! {
    /// Device, session and trace id of a call, returned with the result of every method that uses a device.
    #[derive(Eq)]
    pub struct Echo {
        /// Name of the device; the URL for an ad-hoc device.
        pub device: String,
        /// Name of the session.
        pub session: String,
        /// Trace id of the call in events and logs.
        pub trace_id: String,
        /// False if nothing is recorded, because the memory is damaged; otherwise absent.
        pub recorded: Option<bool>,
    }

    /// A result together with the device, session and trace id of the call, in one JSON object.
    #[cfg_attr(feature = "schema", schemars(rename = "{T}Reply"))]
    pub struct Reply<T> {
        /// Device, session and trace id of the call.
        #[serde(flatten)]
        pub echo: Echo,
        /// Result of the method.
        #[serde(flatten)]
        pub body: T,
    }

    /// Parameters with which an action such as `act.tap` selects a target: `by` and `value`, or `x` and `y` for one of
    /// several equal elements.
    #[derive(Default)]
    pub struct TargetSelector {
        /// Property by which the target is selected.
        pub by: Option<By>,
        /// Value of the property `by`: a label, text, description, resource id, class or alias.
        pub value: Option<String>,
        /// Horizontal position in device pixels from the left.
        pub x: Option<f64>,
        /// Vertical position in device pixels from the top.
        pub y: Option<f64>,
    }

    /// A point in device pixels, from the top left of the screen.
    #[derive(Copy)]
    pub struct Point {
        /// Horizontal position in device pixels from the left.
        pub x: f64,
        /// Vertical position in device pixels from the top.
        pub y: f64,
    }

    /// Description of an element that stays valid after the observation: never an alias, and never a position alone.
    #[derive(Default, Eq, Hash)]
    pub struct Target {
        /// Role of the element.
        pub role: Role,
        /// Label: the element's own text or description, else the text of its children, title first.
        pub label: Option<String>,
        /// Title: the stable part of the label, without subtitle, switch position or counter; at most 80 characters.
        pub title: Option<String>,
        /// Name of an element without a label: the caption beside the element, else its place on the screen, such as
        /// `top left`. The name does not identify the element.
        pub name: Option<String>,
        /// Full resource id of the element.
        pub res_id: Option<String>,
        /// Class name of the element, without the package.
        pub class: Option<String>,
        /// Position in the hierarchy: id names or classes of the ancestors, outermost first, separated by `/`.
        pub path: Option<String>,
        /// Index among elements that are equal in all other fields, from 0; absent if there is only one such element.
        pub ordinal: Option<u32>,
    }

    /// An action that was or can be performed.
    pub struct Action {
        /// Verb of the action.
        pub verb: Verb,
        /// Element to act on; absent if the action has no target.
        pub target: Option<Target>,
        /// Point to act on, if there is no target.
        pub point: Option<Point>,
        /// Other parameters of the action, by name. Secret parameters, such as typed text, are listed in `slots`
        /// instead.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub params: BTreeMap<String, Value>,
        /// Names of parameters whose values are not stored.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub slots: Vec<String>,
    }

    /// Identity of a page.
    #[derive(Default, Eq)]
    pub struct PageRef {
        /// Key that pages are matched by: activity and stable structure, without the access mode of the service.
        pub key: String,
        /// Fingerprint: the key combined with the access mode of the service.
        pub fingerprint: String,
        /// Id of the learned state that the page is recognised as; absent if there is none.
        pub state: Option<String>,
    }

    /// Knowledge that helps on the current page.
    pub struct Hint {
        /// Kind of hint.
        pub kind: HintKind,
        /// The hint in one sentence.
        pub text: String,
        /// Action that is required first, for example `scroll` if the element is not in view; absent if none is
        /// required.
        pub first: Option<String>,
        /// Element that the hint is about; absent if there is none. Unless `first` is present, the element is on the
        /// screen now.
        pub target: Option<Target>,
        /// Alias of the target, if the observation returned refs.
        pub alias: Option<String>,
        /// Parameters with which an action can select the target; absent if the target is not on the screen or if
        /// nothing identifies it unambiguously.
        pub selector: Option<TargetSelector>,
        /// Outcomes of the action in short form, such as `-> "Wi-Fi" 4/4`; absent for recoveries and saved patterns.
        pub outcome: Option<String>,
        /// Confidence, 0 to 1: the success rate, pulled towards 0.5 if there are few attempts; for a saved pattern, the
        /// pattern's confidence.
        pub confidence: f64,
        /// Uids of the records that the hint is based on.
        pub evidence: Vec<String>,
    }
}

impl Action {
    /// Creates an action without a target or parameters.
    pub fn of(verb: Verb) -> Self {
        Self { verb, target: None, point: None, params: BTreeMap::new(), slots: Vec::new() }
    }
}
