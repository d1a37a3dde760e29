//! `observe.*`: what is on the screen.

use crate::artifact::Written;
use crate::vocabulary::{Hint, PageRef, Reply};

device_params! {
    /// Parameters of `observe.top`.
    #[derive(Default)]
    pub struct TopParams {}

    /// Parameters of `observe.screen`.
    #[derive(Default)]
    pub struct ScreenParams {
        /// At most this many rows, by default 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_rows: Option<u32>,
        /// Columns of the rows: any of `id class text desc resId bounds flags`; by default all but `bounds`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fields: Option<Vec<Column>>,
        /// Every row with every column, and the windows; written to a file as well.
        #[serde(default)]
        pub full: bool,
        /// Write it to this file, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub save_file: Option<String>,
        /// Shared root of artifacts for this call, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact_dir: Option<String>,
        /// Read twice, to know whether the page has settled.
        #[serde(default)]
        pub settle: bool,
        /// Keep reading for up to this long until the page has settled, milliseconds, at most 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub wait_ms: Option<u64>,
        /// False leaves the hints out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hints: Option<bool>,
    }

    /// Parameters of `observe.refs`.
    #[derive(Default)]
    pub struct RefsParams {
        /// At most this many rows, by default 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_rows: Option<u32>,
        /// Every ref.
        #[serde(default)]
        pub full: bool,
        /// Read twice, to know whether the page has settled.
        #[serde(default)]
        pub settle: bool,
        /// Keep reading for up to this long until the page has settled, milliseconds, at most 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub wait_ms: Option<u64>,
        /// False leaves the hints out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hints: Option<bool>,
    }

    /// Parameters of `observe.page`.
    #[derive(Default)]
    pub struct PageParams {
        /// What to return beside the base context: any of `screen`, `refs`; by default both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub include: Option<Vec<Part>>,
        /// At most this many rows of each, by default 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_rows: Option<u32>,
        /// Every row with every column, and the windows.
        #[serde(default)]
        pub full: bool,
        /// Write the screen to this directory, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub save_dir: Option<String>,
        /// Shared root of artifacts for this call, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact_dir: Option<String>,
        /// False reads once, so that `settled` is only known when an earlier observation can tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub settle: Option<bool>,
        /// Keep reading for up to this long until the page has settled, milliseconds, at most 60,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub wait_ms: Option<u64>,
        /// False leaves the hints out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hints: Option<bool>,
    }

    /// Parameters of `observe.wait`.
    pub struct WaitParams {
        /// What is waited for.
        pub until: Until,
        /// For `text` and `gone`: a part of a visible text or description, in any case. For `activity`: a part of `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// For how long at most, milliseconds, from 1 to 600,000, by default 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timeout_ms: Option<u64>,
        /// False leaves the hints out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hints: Option<bool>,
    }
}

words! {
    /// A column of a row.
    Column {
        /// Node id.
        Id = "id",
        /// Class without its package.
        Class = "class",
        /// Visible text.
        Text = "text",
        /// Content description.
        Desc = "desc",
        /// Resource id.
        ResId = "resId" | "resid" | "res_id",
        /// `left,top,right,bottom` in device pixels.
        Bounds = "bounds",
        /// What it is and can do.
        Flags = "flags",
    }

    /// What is waited for.
    Until {
        /// A text is on the screen.
        Text = "text",
        /// An activity is on top.
        Activity = "activity",
        /// A text is no longer on the screen.
        Gone = "gone",
        /// The page stands still.
        Settled = "settled",
    }

    /// A part of a page.
    Part {
        /// The rows of the screen.
        Screen = "screen",
        /// The refs.
        Refs = "refs",
    }
}

wire! {
    /// Result of `observe.top`.
    pub struct Top {
        /// Identifies this observation.
        pub observation_id: String,
        /// `package/activity`; null while it is unknown.
        pub top_activity: Option<String>,
        /// The package, also known where the activity is not.
        pub app: Option<String>,
    }

    /// One thing on the screen. Columns that were not asked for, or that are empty, are absent.
    #[derive(Default)]
    pub struct Row {
        /// Joins rows of the screen with refs of the same observation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<String>,
        /// Class without its package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub class: Option<String>,
        /// Visible text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// Content description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub desc: Option<String>,
        /// Resource id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub res_id: Option<String>,
        /// `left,top,right,bottom` in device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bounds: Option<String>,
        /// `on` or `off` (visible or not), then `clk lclk foc scr edt ena` where they hold, joined by commas.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub flags: Option<String>,
    }

    /// One thing that can be acted on.
    #[derive(Default)]
    pub struct RefRow {
        /// The alias, `@n1` and so on, valid until the session's next observation that returns refs.
        #[serde(rename = "ref")]
        pub alias: String,
        /// What it says: its own text or description, else the texts below it, title first.
        pub label: String,
        /// Joins with `id` of the screen's rows of the same observation.
        pub node_id: String,
        /// Class without its package.
        pub class: String,
        /// Visible text of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// Content description of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub desc: Option<String>,
        /// Resource id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub res_id: Option<String>,
        /// `left,top,right,bottom` in device pixels.
        pub bounds: String,
        /// `on` then `clk lclk scr edt ena` where they hold.
        pub flags: String,
        /// The window that it is in, when that is not the focused one, which may lie over it: its kind and package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<String>,
    }

    /// A window, with `full`.
    pub struct WindowRow {
        /// The device's number for it.
        pub id: i64,
        /// `APPLICATION`, `SYSTEM`, `INPUT_METHOD` ...
        pub kind: String,
        /// The package that drew it.
        pub app: String,
        /// Its title.
        pub title: String,
        /// Higher lies over lower.
        pub layer: i64,
        /// Whether input goes to it.
        pub focused: bool,
    }

    /// What every observation of the tree says.
    pub struct Context {
        /// Identifies this observation.
        pub observation_id: String,
        /// Whether two reads about 150 ms apart gave the same content; false too when only one was made.
        pub settled: bool,
        /// Whether the tree can be trusted; false for an empty, system-only or moving screen.
        pub reliable: bool,
        /// Why it cannot be trusted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        /// `package/activity`; null while it is unknown.
        pub top_activity: Option<String>,
        /// The package.
        pub app: Option<String>,
        /// How the service works: `SYSTEM_API`, `SHELL_CMD` or `ACCESSIBILITY`.
        pub mode: String,
        /// Whether a web view is on the screen, whose inside the tree may not show.
        pub has_web_view: bool,
        /// `high` or `low`.
        pub node_reliability: String,
        /// Which page it is.
        pub page: PageRef,
        /// What memory knows about this page.
        #[serde(default)]
        pub hints: Vec<Hint>,
    }

    /// Rows of the screen.
    pub struct ScreenRows {
        /// How many there are.
        pub row_count: u32,
        /// How many are in `rows`.
        pub returned_rows: u32,
        /// Whether rows were left out.
        pub truncated: bool,
        /// The rows, in the order of the tree.
        pub rows: Vec<Row>,
        /// The windows, with `full`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub windows: Option<Vec<WindowRow>>,        /// The file that has all of it, when one was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact: Option<Written>,
        /// True when the rows are only in the file, because they are too many for an answer (`limits.inline_bytes`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub rows_in_artifact: bool,
    }

    /// Refs.
    pub struct RefRows {
        /// How many there are.
        pub ref_count: u32,
        /// How many are in `rows`; only those can be used as aliases.
        pub returned_rows: u32,
        /// Whether rows were left out; they can still be reached by text or id.
        pub truncated: bool,
        /// The rows, the focused window first, then from the top left.
        pub rows: Vec<RefRow>,        /// The file that has all of it, when one was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact: Option<Written>,
        /// True when the rows are only in the file, because they are too many for an answer (`limits.inline_bytes`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub rows_in_artifact: bool,
    }

    /// Result of `observe.screen`.
    pub struct Screen {
        /// The base context.
        #[serde(flatten)]
        pub context: Context,
        /// The rows.
        #[serde(flatten)]
        pub screen: ScreenRows,
    }

    /// Result of `observe.refs`.
    pub struct Refs {
        /// The base context.
        #[serde(flatten)]
        pub context: Context,
        /// The rows.
        #[serde(flatten)]
        pub refs: RefRows,
    }

    /// Result of `observe.page`.
    pub struct Page {
        /// The base context.
        #[serde(flatten)]
        pub context: Context,
        /// Rows of the screen, when asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub screen: Option<ScreenRows>,
        /// Refs, when asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refs: Option<RefRows>,
    }

    /// Result of `observe.wait`.
    pub struct Waited {
        /// The base context when it came true.
        #[serde(flatten)]
        pub context: Context,
        /// What was waited for.
        pub until: Until,
        /// For how long, milliseconds.
        pub waited_ms: u64,
        /// How many nodes match, for `text`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub matched_count: Option<u32>,
        /// The first of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nodes: Option<Vec<Row>>,
    }
}

methods! {
    /// Tells which app and activity is on top.
    ObserveTop = "observe.top" (TopParams, DEVICE) -> Reply<Top>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Reads the screen as rows.
    ObserveScreen = "observe.screen" (ScreenParams, DEVICE) -> Reply<Screen>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads what can be acted on, each with an alias.
    ObserveRefs = "observe.refs" (RefsParams, DEVICE) -> Reply<Refs>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads the page: base context, whether it has settled, screen and refs, and what memory knows about it.
    ObservePage = "observe.page" (PageParams, DEVICE) -> Reply<Page>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"include":["refs"]}"#;
    /// Waits until something is so on the screen; the device is free meanwhile.
    ObserveWait = "observe.wait" (WaitParams, DEVICE, TIMEOUT) -> Reply<Waited>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Timeout], r#"{"until":"settled","timeoutMs":5000}"#;
}
