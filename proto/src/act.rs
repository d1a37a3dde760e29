//! `act.*`: doing something on the device.

use crate::{
    Secret,
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

    /// Parameters of an action that needs nothing but the device.
    #[derive(Default)]
    pub struct PlainParams {}

    /// Parameters of `act.key`.
    pub struct KeyParams {
        /// Android key code, for example 66 for Enter.
        pub key_code: i32,
    }

    /// Parameters of `act.text`.
    pub struct TextParams {
        /// What to type into the focused field. It is never stored, logged or returned.
        pub text: Secret,
    }

    /// Parameters of `act.launch` and `act.stop`.
    pub struct AppParams {
        /// Package name, for example `com.android.settings`.
        #[serde(rename = "package")]
        pub package: String,
    }
}

params! {
    /// A direction.
    #[derive(Copy, Eq)]
    pub enum Direction {
        /// Shows what is above.
        Up,
        /// Shows what is below.
        Down,
        /// Shows what is to the left.
        Left,
        /// Shows what is to the right.
        Right,
    }

    /// How far to scroll.
    #[derive(Copy, Eq)]
    pub enum Amount {
        /// A quarter of the screen.
        Small,
        /// Half of it.
        Medium,
        /// Three quarters of it.
        Large,
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

fn is_false(b: &bool) -> bool {
    !b
}

impl Direction {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Left => "left",
            Direction::Right => "right",
        }
    }
}

impl Amount {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Amount::Small => "small",
            Amount::Medium => "medium",
            Amount::Large => "large",
        }
    }
}

methods! {
    /// Taps a target or a point.
    ActTap = "act.tap" (TapParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, Conflict], r#"{"by":"text","value":"Wi-Fi"}"#;
    /// Presses a target or a point for a while.
    ActLongPress = "act.longPress" (TapParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, Conflict], r#"{"x":540,"y":1200}"#;
    /// Taps a target or a point twice in quick succession.
    ActDoubleTap = "act.doubleTap" (TapParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, Conflict], r#"{"x":540,"y":1200}"#;
    /// Swipes from one point to another.
    ActSwipe = "act.swipe" (SwipeParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"x1":540,"y1":1600,"x2":540,"y2":600}"#;
    /// Scrolls the screen in a direction.
    ActScroll = "act.scroll" (ScrollParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"direction":"down"}"#;
    /// Presses Back.
    ActBack = "act.back" (PlainParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses Home.
    ActHome = "act.home" (PlainParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses a key.
    ActKey = "act.key" (KeyParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"keyCode":66}"#;
    /// Types text into the focused field; the text is kept nowhere.
    ActText = "act.text" (TextParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"text":"hello"}"#;
    /// Opens an app.
    ActLaunch = "act.launch" (AppParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
    /// Stops an app.
    ActStop = "act.stop" (AppParams) -> Reply<Acted>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
}
