//! `act.*`: doing something on the device.

use std::collections::BTreeMap;

use crate::{
    Secret,
    artifact::Written,
    vocabulary::{By, Point, Reply, Target},
};

/// Parameters of an action that may carry a key against doing it twice.
pub trait ActCall {
    /// The caller's key.
    fn request_key(&self) -> Option<&str>;
}

act_params! {
    /// Parameters of `act.tap`, `act.longPress` and `act.doubleTap`: either `by` with `value`, or `x` with `y`.
    #[derive(Default)]
    pub struct TapParams {
        /// How the target is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<By>,
        /// The text, description, id or alias.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub value: Option<String>,
        /// Whole and case-sensitive instead of a part in any case.
        #[serde(default)]
        pub exact_match: bool,
        /// The observation that the alias was read from; refused when it is not the session's newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// Device pixels from the left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub x: Option<f64>,
        /// Device pixels from the top.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub y: Option<f64>,
        /// How long a long press lasts, milliseconds, by default 500, at most 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_ms: Option<u32>,
    }

    /// Parameters of `act.swipe`, device pixels.
    #[derive(Default)]
    pub struct SwipeParams {
        /// Start, from the left.
        pub x1: f64,
        /// Start, from the top.
        pub y1: f64,
        /// End, from the left.
        pub x2: f64,
        /// End, from the top.
        pub y2: f64,
        /// How long it takes, milliseconds, by default 300, at most 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_ms: Option<u32>,
    }

    /// Parameters of `act.scroll`.
    pub struct ScrollParams {
        /// Where the content is to be looked at next: `down` shows what is below.
        pub direction: Direction,
        /// How far, by default `medium`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub amount: Option<Amount>,
    }

    /// Parameters of `act.scrollTo`.
    #[derive(Default)]
    pub struct ScrollToParams {
        /// A part of the text or description, in any case.
        pub text: String,
        /// Compare this property only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub by: Option<By>,
        /// Whole and case-sensitive.
        #[serde(default)]
        pub exact_match: bool,
        /// For how long at most, milliseconds, from 1 to 600,000, by default 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timeout_ms: Option<u64>,
    }

    /// Parameters of `act.shell`, which the settings of the device must allow.
    #[derive(Default)]
    pub struct ShellParams {
        /// The command. It is never stored, logged or returned.
        pub command: Secret,
        /// How long it may take, milliseconds, from 1 to 600,000, by default 30,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timeout_ms: Option<u32>,
    }

    /// Parameters of `act.intent`, which the settings of the device must allow: at least one of action, data and component.
    #[derive(Default)]
    pub struct IntentParams {
        /// For example `android.intent.action.VIEW`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub action: Option<String>,
        /// A URI.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub data: Option<String>,
        /// Package that is to handle it.
        #[serde(default, rename = "package", skip_serializing_if = "Option::is_none")]
        pub package: Option<String>,
        /// `package/class` that is to handle it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub component: Option<String>,
        /// Texts by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub extras: BTreeMap<String, Secret>,
    }

    /// Parameters of an action that needs nothing but the device.
    #[derive(Default)]
    pub struct PlainParams {}

    /// Parameters of `act.key`.
    #[derive(Default)]
    pub struct KeyParams {
        /// Android key code, for example 66 for Enter.
        pub key_code: i32,
    }

    /// Parameters of `act.text`.
    #[derive(Default)]
    pub struct TextParams {
        /// What to type into the focused field. It is never stored, logged or returned.
        pub text: Secret,
    }

    /// Parameters of `act.launch` and `act.stop`.
    #[derive(Default)]
    pub struct AppParams {
        /// Package name, for example `com.android.settings`.
        #[serde(rename = "package")]
        pub package: String,
    }
}

words! {
    /// A direction.
    Direction {
        /// Shows what is above.
        Up = "up",
        /// Shows what is below.
        Down = "down",
        /// Shows what is to the left.
        Left = "left",
        /// Shows what is to the right.
        Right = "right",
    }
}

words! {
    /// How far to scroll.
    Amount {
        /// A quarter of the screen.
        Small = "small",
        /// Half of it.
        Medium = "medium",
        /// Three quarters of it.
        Large = "large",
    }
}

wire! {
    /// What an action did.
    pub struct Acted {
        /// The event that recorded it.
        pub event_id: String,
        /// The device's own words.
        pub result: String,
        /// What it was done to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Target>,
        /// Where it was done, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub point: Option<Point>,
        /// True when a ref's target had moved and was followed.
        #[serde(default, skip_serializing_if = "is_false")]
        pub moved: bool,
        /// How long it took, waiting for the device included, milliseconds.
        pub duration_ms: u64,
        /// True when `requestKey` was seen before and this is the recorded outcome.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }
}

wire! {
    /// Where a scroll ended.
    pub struct ScrolledTo {
        /// The event that recorded it.
        pub event_id: String,
        /// What was done, in words.
        pub result: String,
        /// What was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Target>,
        /// Where it is now, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub point: Option<Point>,
        /// How often was scrolled.
        pub scrolls: u32,
        /// How long it took, waiting for the device included, milliseconds.
        pub duration_ms: u64,
        /// True when `requestKey` was seen before and this is the recorded outcome.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }

    /// What a command said.
    pub struct Shelled {
        /// The event that recorded it.
        pub event_id: String,
        /// Its output, when it is small enough for an answer (`limits.inline_bytes`); it is not recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub output: Option<String>,
        /// True when `output` is cut, because the file for the rest could not be written.
        #[serde(default, skip_serializing_if = "is_false")]
        pub truncated: bool,
        /// The file with its output, when it is larger.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact: Option<Written>,
        /// How long it took, waiting for the device included, milliseconds.
        pub duration_ms: u64,
        /// True when `requestKey` was seen before and this is the recorded outcome.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }
}

fn is_false(b: &bool) -> bool {
    !b
}

methods! {
    /// Taps a target or a point.
    ActTap = "act.tap" (TapParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"by":"text","value":"Wi-Fi"}"#;
    /// Presses a target or a point for a while.
    ActLongPress = "act.longPress" (TapParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"x":540,"y":1200}"#;
    /// Taps a target or a point twice in quick succession.
    ActDoubleTap = "act.doubleTap" (TapParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"x":540,"y":1200}"#;
    /// Swipes from one point to another.
    ActSwipe = "act.swipe" (SwipeParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"x1":540,"y1":1600,"x2":540,"y2":600}"#;
    /// Scrolls the screen in a direction.
    ActScroll = "act.scroll" (ScrollParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"direction":"down"}"#;
    /// Scrolls down, then up, until something is on the screen.
    ActScrollTo = "act.scrollTo" (ScrollToParams, DEVICE, TIMEOUT) -> Reply<ScrolledTo>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, TargetNotFound, Timeout, Conflict], r#"{"text":"About phone"}"#;
    /// Presses Back.
    ActBack = "act.back" (PlainParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses Home.
    ActHome = "act.home" (PlainParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses a key.
    ActKey = "act.key" (KeyParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"keyCode":66}"#;
    /// Types text into the focused field; the text is kept nowhere.
    ActText = "act.text" (TextParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"text":"hello"}"#;
    /// Opens an app.
    ActLaunch = "act.launch" (AppParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
    /// Stops an app.
    ActStop = "act.stop" (AppParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
    /// Runs a command in the device's shell, if the settings of the device allow it.
    ActShell = "act.shell" (ShellParams, DEVICE, TIMEOUT) -> Reply<Shelled>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict], r#"{"command":"getprop ro.product.model"}"#;
    /// Sends an intent, if the settings of the device allow it.
    ActIntent = "act.intent" (IntentParams, DEVICE) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict], r#"{"action":"android.intent.action.VIEW","data":"https://example.org/"}"#;
}
