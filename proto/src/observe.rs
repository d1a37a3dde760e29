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

    /// Parameters of `observe.screenshot`.
    #[derive(Default)]
    pub struct ScreenshotParams {
        /// Longest side in pixels, by default 700; the screen's own size is the most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_dim: Option<u32>,
        /// JPEG quality from 1 to 100, by default 80.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub quality: Option<u32>,
        /// How the picture is written; by default as the end of `saveFile` says, else as JPEG.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub format: Option<PictureFormat>,
        /// Draw what can be acted on, by alias, on the picture. The aliases are new ones of this session, as if refs had been
        /// observed. The phone's screen is not touched.
        #[serde(default)]
        pub annotate: bool,
        /// With `annotate`: at most this many marks, by default 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// With `annotate`: what is marked, by default `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// Whether the overlay that the phone itself shows is left out of the picture, which is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hide_overlay: Option<bool>,
        /// Send the picture along in base64, if it is small enough (`limits.inline_bytes`).
        #[serde(default)]
        pub inline: bool,
        /// Write it to this file, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub save_file: Option<String>,
        /// Shared root of artifacts for this call, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact_dir: Option<String>,
    }

    /// Parameters of `observe.overlayGet`.
    #[derive(Default)]
    pub struct OverlayGetParams {}

    /// Parameters of `observe.overlaySet`: the marks that the phone itself draws on its screen.
    #[derive(Default)]
    pub struct OverlaySetParams {
        /// Whether they are shown.
        pub enabled: bool,
        /// At most this many, by default 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// What is marked, by default `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// Whether they follow the screen, which is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub auto_refresh: Option<bool>,
        /// How often, from 200 to 5,000 milliseconds, by default 800.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refresh_interval_ms: Option<u32>,
        /// Moves them to the right, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_x: Option<i32>,
        /// Moves them down, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_y: Option<i32>,
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

params! {
    /// A column of a row.
    #[derive(Copy, Eq)]
    pub enum Column {
        /// Node id.
        Id,
        /// Class without its package.
        Class,
        /// Visible text.
        Text,
        /// Content description.
        Desc,
        /// Resource id.
        ResId,
        /// `left,top,right,bottom` in device pixels.
        Bounds,
        /// What it is and can do.
        Flags,
    }

    /// What is waited for.
    #[derive(Copy, Eq)]
    pub enum Until {
        /// A text is on the screen.
        Text,
        /// An activity is on top.
        Activity,
        /// A text is no longer on the screen.
        Gone,
        /// The page stands still.
        Settled,
    }

    /// How a picture is written.
    #[derive(Copy, Eq)]
    pub enum PictureFormat {
        /// With losses, small.
        #[serde(alias = "jpg")]
        Jpeg,
        /// Without losses.
        Png,
    }

    /// What is marked.
    #[derive(Copy, Eq)]
    pub enum MarkScope {
        /// What can be acted on, and what merely says something.
        All,
        /// What can be acted on.
        Interactive,
    }

    /// A part of a page.
    #[derive(Copy, Eq)]
    pub enum Part {
        /// The rows of the screen.
        Screen,
        /// The refs.
        Refs,
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

    /// Result of `observe.screenshot`.
    pub struct Screenshot {
        /// `image/jpeg` or `image/png`.
        pub mime_type: String,
        /// Width of the picture, pixels.
        pub width: u32,
        /// Height of the picture, pixels.
        pub height: u32,
        /// Pixels of the picture per device pixel: a point of the picture, divided by this, is a point to tap. Absent when the
        /// device does not tell its size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scale: Option<f64>,
        /// Width of the screen, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device_width: Option<u32>,
        /// Height of the screen, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device_height: Option<u32>,
        /// Size of the file, bytes.
        pub size_bytes: u64,
        /// Longest side that was asked for.
        pub max_dim: u32,
        /// Quality that was asked for.
        pub quality: u32,
        /// Whether marks were drawn.
        pub annotate: bool,
        /// Whether the phone's own overlay was left out.
        pub hide_overlay: bool,
        /// Most marks that were asked for, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// What was marked, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// How many aliases were drawn, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_count: Option<u32>,
        /// The observation whose aliases are on the picture, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// Whether the screen stood still while the picture was taken, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub settled: Option<bool>,
        /// What the aliases stand for, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refs: Option<RefRows>,
        /// The file.
        pub artifact: Written,
        /// The picture in base64, when it was asked for and is small enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub screenshot_base64: Option<String>,
    }

    /// What the phone itself draws on its screen.
    #[derive(Eq)]
    pub struct Overlay {
        /// Whether it can.
        pub available: bool,
        /// Whether it does.
        pub enabled: bool,
        /// How many marks there are.
        pub mark_count: i64,
        /// Whether they follow the screen.
        pub auto_refresh: bool,
        /// How often, milliseconds.
        pub refresh_interval_ms: i64,
        /// How far they are moved to the right, device pixels.
        pub offset_x: i64,
        /// How far they are moved down, device pixels.
        pub offset_y: i64,
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
    ObserveTop = "observe.top" (TopParams) -> Reply<Top>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Reads the screen as rows.
    ObserveScreen = "observe.screen" (ScreenParams) -> Reply<Screen>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads what can be acted on, each with an alias.
    ObserveRefs = "observe.refs" (RefsParams) -> Reply<Refs>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads the page: base context, whether it has settled, screen and refs, and what memory knows about it.
    ObservePage = "observe.page" (PageParams) -> Reply<Page>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"include":["refs"]}"#;
    /// Takes a picture of the screen and writes it to a file.
    ObserveScreenshot = "observe.screenshot" (ScreenshotParams) -> Reply<Screenshot>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, StoreFull, StoreUnavailable], r#"{"maxDim":700}"#;
    /// Tells what the phone itself draws on its screen.
    ObserveOverlayGet = "observe.overlayGet" (OverlayGetParams) -> Reply<Overlay>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Turns the marks on or off that the phone itself draws on its screen.
    ObserveOverlaySet = "observe.overlaySet" (OverlaySetParams) -> Reply<Overlay>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown], r#"{"enabled":true}"#;
    /// Waits until something is so on the screen; the device is free meanwhile.
    ObserveWait = "observe.wait" (WaitParams) -> Reply<Waited>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Timeout], r#"{"until":"settled","timeoutMs":5000}"#;
}
