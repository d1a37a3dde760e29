//! `act.*`: actions on a device.

use crate::keys::KeyName;
use std::collections::BTreeMap;

use crate::{
    Secret,
    artifact::SavedArtifact,
    look::{Look, Then},
    vocabulary::{By, Point, Reply, Target},
};

/// Access to the parameters that all actions share.
pub trait ActCall {
    /// Returns the idempotency key, or `None` if the caller did not give one.
    fn request_key(&self) -> Option<&str>;

    /// Returns the form in which the caller wants the resulting page, or `None` if the caller does not want the page.
    fn then(&self) -> Option<Then>;

    /// Returns whether the action is refused if it never had an effect on this page.
    fn is_strict(&self) -> bool;
}

crate::look::with_look!(ActResult, ScrollToResult, ShellResult, PageToolResult);

act_params! {
    /// Parameters of `act.tap`, `act.longPress`, `act.doubleTap` and `act.hover`: either `value`, or `x` and `y`. If several
    /// elements match `value`, the closest match is used: an element whose label or title equals `value`, else one
    /// whose label begins with `value`, else one that contains a word beginning with `value`. Case is ignored.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{"required": ["value"]}, {"required": ["x", "y"]}])))]
    pub struct TapParams {
        /// Property by which `value` selects the target; by default, a value such as `@n3` is treated as an alias, and
        /// any other value as a label.
        pub by: Option<By>,
        /// Label, text, description, resource id, class or alias to look for.
        pub value: Option<String>,
        /// Whether `value` must match completely and case-sensitively.
        #[serde(default)]
        pub exact_match: bool,
        /// Whether to accept a match inside a word or in the detail of a row; otherwise such a match is refused.
        #[serde(default, skip_serializing_if = "is_false")]
        pub partial: bool,
        /// Id of the observation that the alias came from. The call is refused unless this is the session's newest
        /// observation with refs.
        pub observation_id: Option<String>,
        /// Horizontal position in device pixels from the left; requires `y`.
        pub x: Option<f64>,
        /// Vertical position in device pixels from the top; requires `x`.
        pub y: Option<f64>,
        /// Duration of the press, in milliseconds; only for `act.longPress`.
        pub duration_ms: Option<u32> where 1..=60_000 = 500,
        /// Whether to recover and try again if the target is missing or covered. Nothing that was sent is repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub recover: bool,
    }

    /// Parameters of `act.swipe`; positions are in device pixels from the top left of the screen.
    #[derive(Default)]
    pub struct SwipeParams {
        /// Horizontal start position, in device pixels.
        pub x1: f64,
        /// Vertical start position, in device pixels.
        pub y1: f64,
        /// Horizontal end position, in device pixels.
        pub x2: f64,
        /// Vertical end position, in device pixels.
        pub y2: f64,
        /// Duration of the swipe, in milliseconds.
        pub duration_ms: Option<u32> where 1..=60_000 = 300,
    }

    /// Parameters of `act.drag`. The start is given by `value`, or by `x` and `y`; the end by `to`, or by `toX` and
    /// `toY`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
        {"required": ["value", "to"]},
        {"required": ["value", "toX", "toY"]},
        {"required": ["x", "y", "to"]},
        {"required": ["x", "y", "toX", "toY"]},
    ])))]
    pub struct DragParams {
        /// Label or alias of the element to drag.
        pub value: Option<String>,
        /// Horizontal start position in device pixels from the left; requires `y`.
        pub x: Option<f64>,
        /// Vertical start position in device pixels from the top; requires `x`.
        pub y: Option<f64>,
        /// Label or alias of the element at which the drag ends.
        pub to: Option<String>,
        /// Horizontal end position in device pixels from the left; requires `toY`.
        pub to_x: Option<f64>,
        /// Vertical end position in device pixels from the top; requires `toX`.
        pub to_y: Option<f64>,
        /// Whether to accept a match inside a word or in the detail of a row; otherwise such a match is refused.
        #[serde(default, skip_serializing_if = "is_false")]
        pub partial: bool,
        /// Duration of the drag, in milliseconds. The drag is a slow swipe, because the service cannot hold an element
        /// before moving it.
        pub duration_ms: Option<u32> where 1..=60_000 = 1000,
        /// Whether to recover and try again if the target is missing or covered. Nothing that was sent is repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub recover: bool,
    }

    /// Parameters of `act.scroll`.
    pub struct ScrollParams {
        /// Direction of the scroll: `down` reveals the content below.
        pub direction: Direction,
        /// Distance of the scroll.
        pub amount: Option<Amount> = Amount::Medium,
    }

    /// Parameters of `act.scrollTo`.
    #[derive(Default)]
    pub struct ScrollToParams {
        /// Text to search for; it may be part of an element's text or description. Case is ignored.
        pub text: String,
        /// Property to search instead of text and description; `ref` is not allowed.
        pub by: Option<By>,
        /// Whether `text` must match completely and case-sensitively.
        #[serde(default)]
        pub exact_match: bool,
        /// Maximum duration of the search, in milliseconds.
        pub timeout_ms: Option<u64> where 1..=600_000 = 60_000,
    }

    /// Parameters of `act.pageTool`.
    #[derive(Default)]
    pub struct PageToolParams {
        /// Name of a tool that the page publishes, as observations list it.
        pub tool: String where chars 1..=128,
        /// Parameters of the tool, by name. Their values are never stored or logged.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub input: BTreeMap<String, serde_json::Value>,
        /// Maximum wait for the answer, in milliseconds.
        pub timeout_ms: Option<u32> where 1..=600_000 = 30_000,
    }

    /// Parameters of `act.shell`, which must be enabled in the device's settings (`allow_shell`).
    #[derive(Default)]
    pub struct ShellParams {
        /// Command line. It is never stored, logged or returned.
        pub command: Secret,
        /// Maximum run time of the command, in milliseconds.
        pub timeout_ms: Option<u32> where 1..=600_000 = 30_000,
    }

    /// Parameters of `act.intent`, which must be enabled in the device's settings (`allow_intent`). At least one of
    /// `action`, `data` and `component` is required.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{"required": ["action"]}, {"required": ["data"]}, {"required": ["component"]}])))]
    pub struct IntentParams {
        /// Intent action, for example `android.intent.action.VIEW`.
        pub action: Option<String>,
        /// Data URI of the intent.
        pub data: Option<String>,
        /// Package that the intent is limited to.
        #[serde(rename = "package")]
        pub package: Option<String>,
        /// Component that receives the intent, as `package/class`.
        pub component: Option<String>,
        /// String extras by name. Their values are never stored, logged or returned.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub extras: BTreeMap<String, Secret>,
    }

    /// Parameters of an action that has no parameters of its own.
    #[derive(Default)]
    pub struct PlainParams {}

    /// Parameters of `act.key`.
    #[derive(Default)]
    pub struct KeyParams {
        /// Name of the key; mutually exclusive with `keyCode`.
        pub key: Option<KeyName>,
        /// Numeric code of the key on the device, such as the Android key code 66 for Enter; mutually exclusive with
        /// `key`.
        pub key_code: Option<i32> where 0..=1000,
    }

    /// Parameters of `act.text`.
    #[derive(Default)]
    pub struct TextParams {
        /// Text to type into the focused field. It is never stored or logged, but it remains visible in a field that is
        /// not a password field. If the field's content can be read, it is compared with the typed text.
        pub text: Secret,
    }

    /// Parameters of `act.fill`.
    #[derive(Default)]
    pub struct FillParams {
        /// Property by which `value` selects the field; by default, a value such as `@n3` is treated as an alias, and
        /// any other value as a label.
        pub by: Option<By>,
        /// Label, text, description, resource id, class or alias of the field.
        pub value: String,
        /// New content of the field, which replaces the previous content. It is never stored or logged, but it remains
        /// visible in a field that is not a password field. Unless the field is a password field, its final content is
        /// compared with the text, and the call fails if they differ.
        pub text: Secret,
        /// Whether to recover and try again if the target is missing or covered. Nothing that was sent is repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub recover: bool,
    }

    /// Parameters of `act.upload`.
    #[derive(Default)]
    pub struct UploadParams {
        /// Property by which `value` selects the element that asks for files; by default, a value such as `@n3` is treated
        /// as an alias, and any other value as a label.
        pub by: Option<By>,
        /// Label, text, description, resource id, class or alias of the element.
        pub value: String,
        /// Files to give to the page, below a directory that the setting `browser.upload_dirs` names: absolute paths, or
        /// paths relative to such a directory. Their names are not stored.
        pub files: Vec<String>,
        /// Whether to recover and try again if the target is missing or covered. Nothing that was sent is repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub recover: bool,
    }

    /// Parameters of `act.tab`.
    #[derive(Default)]
    pub struct TabParams {
        /// Id of a tab from `device.tabs`, such as `t2`; `new` opens a tab.
        pub tab: String where chars 1..=20,
        /// Whether to close the tab instead of making it the current one.
        #[serde(default, skip_serializing_if = "is_false")]
        pub close: bool,
    }

    /// Parameters of `act.launch`: either `package` or `name`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{"required": ["package"]}, {"required": ["name"]}])))]
    pub struct LaunchParams {
        /// Package name, for example `com.android.settings`; for a browser, the URL or domain of a page.
        pub package: Option<String>,
        /// Name of the app, such as `Settings`.
        pub name: Option<String> where chars 1..=100,
    }

    /// Parameters of `act.stop` and `recover.relaunch`.
    #[derive(Default)]
    pub struct AppParams {
        /// Package name, for example `com.android.settings`; for a browser, the URL or domain of a page.
        #[serde(rename = "package")]
        pub package: String,
    }
}

words! {
    /// Direction of a scroll.
    Direction {
        /// Reveals the content above.
        Up = "up",
        /// Reveals the content below.
        Down = "down",
        /// Reveals the content to the left.
        Left = "left",
        /// Reveals the content to the right.
        Right = "right",
    }
}

words! {
    /// Distance of a scroll.
    Amount {
        /// A quarter of the screen.
        Small = "small",
        /// Half of the screen.
        Medium = "medium",
        /// Three quarters of the screen.
        Large = "large",
    }
}

wire! {
    /// Result of an action.
    pub struct ActResult {
        /// Uid of the event that records the action.
        pub event_id: String,
        /// Message that the device returned.
        pub result: String,
        /// Element that was acted on; absent if the action has no target.
        pub target: Option<Target>,
        /// Point that was touched, in device pixels; absent if the action does not touch a point.
        pub point: Option<Point>,
        /// Whether the element that the alias refers to had moved since it was observed, and was found at its new
        /// position.
        #[serde(default, skip_serializing_if = "is_false")]
        pub moved: bool,
        /// Whether the element was used although it is not marked as accepting the gesture, for example as clickable.
        /// The touch then went to the position of the element's text.
        #[serde(default, skip_serializing_if = "is_false")]
        pub unmarked: bool,
        /// Whether the name of the element says that it deletes, pays, sends, signs out or the like.
        #[serde(default, skip_serializing_if = "is_false")]
        pub risky: bool,
        /// What was done to recover before the action, in one sentence; absent if nothing was.
        pub recovery: Option<String>,
        /// Duration of the action, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the action; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the action
        /// was not repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }
}

wire! {
    /// Result of `act.scrollTo`.
    pub struct ScrollToResult {
        /// Uid of the event that records the action.
        pub event_id: String,
        /// Summary of what was done, for example `scrolled 3 times`.
        pub result: String,
        /// Element that was found by the search.
        pub target: Option<Target>,
        /// Point at which the element can now be tapped, in device pixels.
        pub point: Option<Point>,
        /// Number of scrolls; 0 if the element was already on the screen.
        pub scrolls: u32,
        /// Duration of the search, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the action; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the action
        /// was not repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }

    /// Result of `act.pageTool`.
    pub struct PageToolResult {
        /// Uid of the event that records the action.
        pub event_id: String,
        /// Answer of the tool, if it is at most `limits.inline_bytes` long: a text, or JSON. It is data from the page, and is
        /// not recorded.
        pub output: Option<String>,
        /// Whether `output` was truncated because the file for the whole output could not be saved.
        #[serde(default, skip_serializing_if = "is_false")]
        pub truncated: bool,
        /// File with the whole output, if the output is longer than `limits.inline_bytes`.
        pub artifact: Option<SavedArtifact>,
        /// Duration of the call, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the call; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the tool was
        /// not called again.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }

    /// Result of `act.shell`.
    pub struct ShellResult {
        /// Uid of the event that records the action.
        pub event_id: String,
        /// Output of the command, if it is at most `limits.inline_bytes` long. The output is not recorded.
        pub output: Option<String>,
        /// Whether `output` was truncated because the file for the whole output could not be saved.
        #[serde(default, skip_serializing_if = "is_false")]
        pub truncated: bool,
        /// File with the whole output, if the output is longer than `limits.inline_bytes`.
        pub artifact: Option<SavedArtifact>,
        /// Duration of the call, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the command; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the action
        /// was not repeated.
        #[serde(default, skip_serializing_if = "is_false")]
        pub replayed: bool,
    }
}

pub(crate) fn is_false(b: &bool) -> bool {
    !b
}

methods! {
    /// Taps a target or a point.
    ActTap = "act.tap" (TapParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"by":"text","value":"Wi-Fi"}"#, TAP;
    /// Long-presses a target or a point.
    ActLongPress = "act.longPress" (TapParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"x":540,"y":1200}"#, LONG_PRESS;
    /// Taps a target or a point twice in quick succession.
    ActDoubleTap = "act.doubleTap" (TapParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"x":540,"y":1200}"#, DOUBLE_TAP;
    /// Moves the mouse onto an element or a point, as to open a menu; only browsers have a mouse.
    ActHover = "act.hover" (TapParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict, Unsupported], r#"{"value":"Products"}"#, HOVER;
    /// Swipes from one point to another.
    ActSwipe = "act.swipe" (SwipeParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"x1":540,"y1":1600,"x2":540,"y2":600}"#, SWIPE;
    /// Drags from an element or a point to another element or point.
    ActDrag = "act.drag" (DragParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict], r#"{"value":"Milk","to":"Done"}"#, DRAG;
    /// Scrolls the screen in a direction.
    ActScroll = "act.scroll" (ScrollParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"direction":"down"}"#, SCROLL;
    /// Scrolls down to the end, then up to the top, until a matching element is on the screen.
    ActScrollTo = "act.scrollTo" (ScrollToParams, DEVICE, TIMEOUT) -> Reply<ScrollToResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, TargetNotFound, Timeout, Conflict], r#"{"text":"About phone"}"#, SCROLL_TO;
    /// Presses the Back key.
    ActBack = "act.back" (PlainParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}", BACK;
    /// Presses the Home key.
    ActHome = "act.home" (PlainParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}", HOME;
    /// Presses a key, given by its name or by its numeric code on the device.
    ActKey = "act.key" (KeyParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict, Unsupported], r#"{"keyCode":66}"#, KEY;
    /// Types text into the focused field; the text is not stored.
    ActText = "act.text" (TextParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Unsupported, TextDiffers, Conflict], r#"{"text":"hello"}"#, TYPE;
    /// Fills a field: taps it, deletes its content, types the text, and checks the result.
    ActFill = "act.fill" (FillParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Unsupported, TextDiffers, LimitExceeded, Conflict], r#"{"value":"User name","text":"alice"}"#, FILL;
    /// Makes a tab of a browser the current one, opens an empty one, or closes one.
    ActTab = "act.tab" (TabParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, NotFound, Conflict, Unsupported], r#"{"tab":"t2"}"#, TAB;
    /// Taps an element of a page that asks for files, and gives it files.
    ActUpload = "act.upload" (UploadParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Conflict, Unsupported], r#"{"value":"Attach a file","files":["report.pdf"]}"#, UPLOAD;
    /// Calls a tool that the page in a browser publishes for agents, and returns its answer.
    ActPageTool = "act.pageTool" (PageToolParams, DEVICE, TIMEOUT) -> Reply<PageToolResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict, Unsupported], r#"{"tool":"add_to_basket","input":{"name":"Ginger Storm"}}"#, PAGE_TOOL;
    /// Launches an app.
    ActLaunch = "act.launch" (LaunchParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, TargetNotFound, TargetAmbiguous, TargetCovered, Timeout, Conflict, Unsupported], r#"{"package":"com.android.settings"}"#, LAUNCH;
    /// Stops an app.
    ActStop = "act.stop" (AppParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#, STOP;
    /// Runs a command in the device's shell, if the device's settings allow it.
    ActShell = "act.shell" (ShellParams, DEVICE, TIMEOUT) -> Reply<ShellResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"command":"getprop ro.product.model"}"#;
    /// Sends an Android intent, if the device's settings allow it.
    ActIntent = "act.intent" (IntentParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"action":"android.intent.action.VIEW","data":"https://example.org/"}"#;
}
