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
        /// `button`, `field`, `switch`, `row`, `list`, `image`, `text`, `web` or `view`.
        pub role: String,
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
    #[derive(Default)]
    pub struct Action {
        /// The verb of `act.*` or `recover.*`.
        pub verb: String,
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

    /// How a node is named by a caller.
    #[derive(Copy, Eq)]
    pub enum By {
        /// Visible text.
        Text,
        /// Content description.
        #[serde(alias = "content_desc", alias = "contentDesc")]
        Desc,
        /// Resource id or a part of it.
        #[serde(alias = "resid", alias = "res_id", alias = "resource_id", alias = "resourceId")]
        ResId,
        /// Class name, with or without its package.
        #[serde(alias = "class_name", alias = "className")]
        Class,
        /// An alias such as `@n3` from the session's newest refs.
        Ref,
    }

    /// Something learned that helps right now.
    pub struct Hint {
        /// `action` (known here), `failure` (fails here), `recovery` (cured a failure), `interrupt` (takes a pop-up away).
        pub kind: String,
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

impl By {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            By::Text => "text",
            By::Desc => "desc",
            By::ResId => "resId",
            By::Class => "class",
            By::Ref => "ref",
        }
    }
}

impl<T> std::ops::Deref for Reply<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.body
    }
}
