//! What all namespaces share: where a call goes, what a target is, what an action is, what a row is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Secret;

/// The session of a call that names none.
pub const DEFAULT_SESSION: &str = "default";

/// Which device and session a call is for, as the caller said it.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// Name of a configured device.
    pub device: Option<&'a str>,
    /// Name of the session.
    pub session: Option<&'a str>,
    /// Base URL of an ad-hoc device.
    pub url: Option<&'a str>,
    /// Token of this call.
    pub token: Option<&'a Secret>,
}

/// Parameters that carry an [`Address`].
pub trait DeviceCall {
    /// Where the call goes.
    fn address(&self) -> Address<'_>;
}

params! {
    /// No parameters.
    #[derive(Default)]
    pub struct NoParams {}
}

words! {
    /// How a node is named by a caller.
    By {
        /// Visible text.
        Text = "text",
        /// Content description.
        Desc = "desc" | "content_desc" | "content-desc" | "contentDesc",
        /// Resource id or a part of it.
        ResId = "resId" | "resid" | "res_id" | "resource_id" | "resource-id" | "resourceId",
        /// Class name, with or without its package.
        Class = "class" | "class_name" | "class-name" | "className",
        /// An alias such as `@n3` from the session's newest refs.
        Ref = "ref",
    }

    /// What a thing on the screen is for.
    #[derive(Default)]
    Role {
        /// Something to press.
        Button = "button",
        /// Something to type into.
        Field = "field",
        /// Something that is on or off.
        Switch = "switch",
        /// A part of a list, or of what looks like one.
        Row = "row",
        /// Something to scroll.
        List = "list",
        /// A picture.
        Image = "image",
        /// Words.
        Text = "text",
        /// A page of the web.
        Web = "web",
        /// Something else.
        View = "view",
        /// Nobody knows: it was named, and not seen.
        #[default]
        Any = "any",
    }

    /// What can be done: the verbs of `act.*` and `recover.*`.
    Verb {
        /// A tap.
        Tap = "tap",
        /// A long press.
        LongPress = "longPress",
        /// Two taps.
        DoubleTap = "doubleTap",
        /// A swipe.
        Swipe = "swipe",
        /// A scroll.
        Scroll = "scroll",
        /// Scrolling until something is in sight.
        ScrollTo = "scrollTo",
        /// The back key.
        Back = "back",
        /// The home key.
        Home = "home",
        /// Another key.
        Key = "key",
        /// Typing.
        Text = "text",
        /// Launching an app.
        Launch = "launch",
        /// Stopping an app.
        Stop = "stop",
        /// Launching it anew.
        Relaunch = "relaunch",
        /// A command on the device.
        Shell = "shell",
        /// An intent.
        Intent = "intent",
        /// Nothing: what came, came by itself.
        Wait = "wait",
    }

    /// What a hint says.
    HintKind {
        /// It is known here.
        Action = "action",
        /// It fails here.
        Failure = "failure",
        /// It cured a failure.
        Recovery = "recovery",
        /// It takes a pop-up away.
        Interrupt = "interrupt",
    }

    /// What looked at a screen.
    ObservationSource {
        /// `observe.top`
        Top = "top",
        /// `observe.screen`
        Screen = "screen",
        /// `observe.refs`
        Refs = "refs",
        /// `observe.page`
        Page = "page",
        /// `observe.wait`
        Wait = "wait",
        /// A verify.
        Verify = "verify",
        /// `visual.learn`
        Learn = "learn",
    }
}

wire! {
    /// What every result of a method that touches a device says first.
    #[derive(Eq)]
    pub struct Echo {
        /// The device, by name, or by URL for an ad-hoc one.
        pub device: String,
        /// The session.
        pub session: String,
        /// Names this call in events and logs.
        pub trace_id: String,
    }

    /// A result with its [`Echo`] at the top level.
    pub struct Reply<T> {
        /// Device, session and trace of the call.
        #[serde(flatten)]
        pub echo: Echo,
        /// The rest of the result.
        #[serde(flatten)]
        pub body: T,
    }

    /// A point in device pixels from the top left.
    #[derive(Copy)]
    pub struct Point {
        /// To the right.
        pub x: f64,
        /// Down.
        pub y: f64,
    }

    /// What a thing on the screen is, in words that outlive the observation: never an alias, never a coordinate alone.
    #[derive(Default, Eq, Hash)]
    pub struct Target {
        /// What it is for.
        pub role: Role,
        /// What it says: its own text or description, else its subtree's, title first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub label: Option<String>,
        /// Its resource id, whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub res_id: Option<String>,
        /// Its class without the package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub class: Option<String>,
        /// Its place in the page: id names or classes of its ancestors, outermost first, joined by `/`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub path: Option<String>,
        /// Its position among the targets that are alike in everything above, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ordinal: Option<u32>,
    }

    /// Something that was or can be done.
    pub struct Action {
        /// What.
        pub verb: Verb,
        /// What it is done to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Target>,
        /// Where, when there is no target to name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub point: Option<Point>,
        /// The other parameters. Typed text is not among them: it is a slot.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub params: BTreeMap<String, Value>,
        /// Names of the parameters whose values are not kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub slots: Vec<String>,
    }

    /// What makes a page the same page.
    #[derive(Default, Eq)]
    pub struct PageRef {
        /// What pages are matched by: place and stable structure, without the mode of the service.
        pub key: String,
        /// The readable fingerprint, with the mode.
        pub fingerprint: String,
        /// The learned state that it is, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
    }

    /// Something learned that helps right now.
    pub struct Hint {
        /// What it says.
        pub kind: HintKind,
        /// One sentence.
        pub text: String,
        /// What it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Target>,
        /// From 0 to 1: how often it held, pulled towards one half while little is known.
        pub confidence: f64,
        /// Uids of the rows that it rests on.
        pub evidence: Vec<String>,
    }
}

impl Action {
    /// Something that is done without a target or parameters.
    pub fn of(verb: Verb) -> Self {
        Self { verb, target: None, point: None, params: BTreeMap::new(), slots: Vec::new() }
    }
}
