//! `observe.*`: reading the screen.

use crate::rows::{Element, RefRows, Row, ScreenRows};
use crate::vocabulary::{Hint, HintsWanted, PageRef, Reply};

/// Default maximum number of rows, and of refs, that an observation returns.
pub const DEFAULT_ROWS: u32 = 120;

device_params! {
    /// Parameters of `observe.top`.
    #[derive(Default)]
    pub struct TopParams {}

    /// Parameters of `observe.screen`.
    #[derive(Default)]
    pub struct ScreenParams {
        /// Maximum number of rows.
        pub max_rows: Option<u32> = DEFAULT_ROWS,
        /// Columns to return; by default all but `bounds`.
        pub fields: Option<Vec<Column>>,
        /// Whether to return all rows with all columns, and the windows. The result is also saved to a file.
        #[serde(default)]
        pub full: bool,
        /// Absolute path of a file to save the result to.
        pub save_file: Option<String>,
        /// Absolute path of a directory for the artifacts of this call, instead of the configured one.
        pub artifact_dir: Option<String>,
        /// Whether to read the screen a second time if the first reading cannot show whether the page has settled.
        #[serde(default)]
        pub settle: bool,
        /// Maximum time to keep reading the screen until the page has settled, in milliseconds.
        pub wait_ms: Option<u64> where 0..=60_000 = 0,
        /// Format of the result: an outline or a list of elements, instead of screen rows and refs. Every interactive
        /// element in the result has an alias.
        pub format: Option<Format>,
        /// Id of the newest observation with refs that was returned to the session, or `last`. If the page is still the
        /// same, the outline contains only the changes, and elements keep their aliases.
        pub since: Option<String>,
        /// Whether to return hints: those about visible elements, and at most two others. `"all"` returns up to five
        /// hints about actions and recoveries.
        pub hints: Option<HintsWanted> = HintsWanted::Chosen(true),
    }

    /// Parameters of `observe.refs`.
    #[derive(Default)]
    pub struct RefsParams {
        /// Maximum number of refs.
        pub max_rows: Option<u32> = DEFAULT_ROWS,
        /// Whether to return all refs.
        #[serde(default)]
        pub full: bool,
        /// Whether to read the screen a second time if the first reading cannot show whether the page has settled.
        #[serde(default)]
        pub settle: bool,
        /// Maximum time to keep reading the screen until the page has settled, in milliseconds.
        pub wait_ms: Option<u64> where 0..=60_000 = 0,
        /// Format of the result: an outline or a list of elements, instead of screen rows and refs. Every interactive
        /// element in the result has an alias.
        pub format: Option<Format>,
        /// Id of the newest observation with refs that was returned to the session, or `last`. If the page is still the
        /// same, the outline contains only the changes, and elements keep their aliases.
        pub since: Option<String>,
        /// Whether to return hints: those about visible elements, and at most two others. `"all"` returns up to five
        /// hints about actions and recoveries.
        pub hints: Option<HintsWanted> = HintsWanted::Chosen(true),
    }

    /// Parameters of `observe.page`.
    #[derive(Default)]
    pub struct PageParams {
        /// Parts to return in addition to the base context; by default both.
        pub include: Option<Vec<Part>>,
        /// Maximum number of rows, and of refs.
        pub max_rows: Option<u32> = DEFAULT_ROWS,
        /// Whether to return all rows with all columns, all refs, and the windows.
        #[serde(default)]
        pub full: bool,
        /// Absolute path of a directory to save the screen to.
        pub save_dir: Option<String>,
        /// Absolute path of a directory for the artifacts of this call, instead of the configured one.
        pub artifact_dir: Option<String>,
        /// Whether to read the screen a second time if the first reading cannot show whether the page has settled.
        pub settle: Option<bool> = true,
        /// Maximum time to keep reading the screen until the page has settled, in milliseconds.
        pub wait_ms: Option<u64> where 0..=60_000 = 0,
        /// Format of the result: an outline or a list of elements, instead of screen rows and refs. Every interactive
        /// element in the result has an alias.
        pub format: Option<Format>,
        /// Id of the newest observation with refs that was returned to the session, or `last`. If the page is still the
        /// same, the outline contains only the changes, and elements keep their aliases.
        pub since: Option<String>,
        /// Whether to return hints: those about visible elements, and at most two others. `"all"` returns up to five
        /// hints about actions and recoveries.
        pub hints: Option<HintsWanted> = HintsWanted::Chosen(true),
        /// Whether to include what is out of sight, in a browser.
        #[serde(default)]
        pub whole: bool,
        /// Whether to continue where the last outline ended.
        #[serde(default)]
        pub more: bool,
        /// Part to return: a heading, the name of an area, or a kind of area such as `main`.
        pub within: Option<String>,
    }

    /// Parameters of `observe.text`.
    #[derive(Default)]
    pub struct ReadParams {
        /// Part of the page to read: the text of a heading, the name of a list or an area, or a kind of area such as `main`.
        pub within: Option<String>,
        /// Number of lines to skip.
        pub from: Option<u32> = 0,
        /// Maximum length of the text, in characters.
        pub max_chars: Option<u32> where 100..=100_000 = 8_000,
        /// Maximum time to keep reading until the page has settled, in milliseconds.
        pub wait_ms: Option<u64> where 0..=60_000 = 0,
    }

    /// Parameters of `observe.last`.
    #[derive(Default)]
    pub struct LastParams {}

    /// Parameters of `observe.wait`.
    pub struct WaitParams {
        /// Condition to wait for; by default `text`.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("default" = "text")))]
        pub until: Until,
        /// For `text` and `gone`: text that occurs on the page, or an alias, label or `#id` as printed in an outline.
        /// For `activity`: part of `package/activity`. Case is ignored. Not allowed for `settled`.
        pub text: Option<String>,
        /// Maximum time to wait, in milliseconds.
        pub timeout_ms: Option<u64> where 1..=600_000 = 10_000,
        /// Whether to return hints: those about visible elements, and at most two others. `"all"` returns up to five
        /// hints about actions and recoveries.
        pub hints: Option<HintsWanted> = HintsWanted::Chosen(true),
    }
}

params! {
    /// Parameters of `observe.dump`.
    pub struct DumpParams {
        /// Dump of a screen: the XML of `uiautomator dump` or a page source of Appium. Other text around it is ignored.
        pub content: String where chars 1..=2_000_000,
        /// Maximum number of elements in the outline.
        pub max_rows: Option<u32> where 1..=10_000 = 400,
    }
}

words! {
    /// Format of an observation.
    #[cfg_attr(feature = "schema", schemars(rename = "ObservationFormat"))]
    Format {
        /// Compact text for language models, one line per element.
        Outline = "outline",
        /// Elements with alias, role, label and depth, without duplicate text.
        Rows = "rows",
    }

    /// Column of a screen row.
    Column {
        /// Id of the node.
        Id = "id",
        /// Class name of the node, without the package.
        Class = "class",
        /// Visible text of the node.
        Text = "text",
        /// Content description of the node.
        Desc = "desc",
        /// Resource id of the node.
        ResId = "resId" | "resid" | "res_id",
        /// Bounds as left,top,right,bottom in device pixels.
        Bounds = "bounds",
        /// Flags: visibility and possible interactions.
        Flags = "flags",
    }

    /// Condition to wait for.
    #[derive(Default)]
    Until {
        /// The given text is on the screen.
        #[default]
        Text = "text",
        /// The given activity is in the foreground.
        Activity = "activity",
        /// The given text is no longer on the screen.
        Gone = "gone",
        /// The page has settled.
        Settled = "settled",
    }

    /// Part of a page observation.
    Part {
        /// Rows of the screen.
        Screen = "screen",
        /// Refs: interactive elements with aliases.
        Refs = "refs",
    }
}

wire! {
    /// Result of `observe.top`.
    pub struct Top {
        /// Id of this observation.
        pub observation_id: String,
        /// Foreground activity as `package/activity`; null if unknown.
        pub top_activity: crate::Nullable<String>,
        /// Package in the foreground; may be known even if the activity is not. Null if unknown.
        pub app: crate::Nullable<String>,
    }

    /// Base context of a screen observation.
    pub struct Context {
        /// Id of this observation.
        pub observation_id: String,
        /// Whether two readings at least 150 ms apart had the same content, with no input in between; false if this is
        /// unknown.
        pub settled: bool,
        /// Whether the element tree is reliable; false for a screen that is empty, shows only system windows, or is
        /// still moving.
        pub reliable: bool,
        /// Reason why the element tree is not reliable; absent if the tree is reliable.
        pub reason: Option<String>,
        /// Foreground activity as `package/activity`; null if unknown.
        pub top_activity: crate::Nullable<String>,
        /// Package in the foreground; null if unknown.
        pub app: crate::Nullable<String>,
        /// Access mode of the phone's service: `SYSTEM_API`, `SHELL_CMD` or `ACCESSIBILITY`.
        pub mode: String,
        /// Whether a web view is on the screen; the element tree may lack its content.
        pub has_web_view: bool,
        /// Reliability of the element tree: `high`, or `low` if it may be incomplete.
        pub node_reliability: String,
        /// Identity of the page.
        pub page: PageRef,
        /// Title of the dialog, menu or pop-up in the foreground, or `dialog` if it has no title; absent if a page is
        /// in the foreground.
        pub dialog: Option<String>,
        /// Apps that crashed or stopped responding since the last look, which are recorded with the session's last action. Only for
        /// devices that can be managed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub incidents: Vec<crate::incident::Incident>,
        /// Hints about this page from the memory.
        #[serde(default)]
        pub hints: Vec<Hint>,
        /// The element that brings the current task of the session nearest, by a way that the memory knows; absent if there is
        /// no task, or if nothing known fits its words.
        pub toward: Option<Toward>,
        /// Outline of the page; only with `format: "outline"`, `since`, or the `then` of an action. Text from the
        /// screen is quoted.
        pub outline: Option<String>,
        /// Id of the observation that the changes in the outline refer to; absent if the outline is complete.
        pub since: Option<String>,
        /// Elements in the order of the element tree; only with `format: "rows"`.
        pub elements: Option<Vec<Element>>,
        /// Tools that the page publishes for agents; `act.pageTool` calls one. All their texts are data from the page. Absent
        /// with `since`, because the outline then lists the tools that came or are gone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tools: Vec<PublishedTool>,
    }

    /// The element that brings a task nearest.
    pub struct Toward {
        /// Id of the task.
        pub task: i64,
        /// Alias of the element.
        pub alias: String,
        /// Name of the page, element or text for which the words of the task are taken.
        pub goal: String,
        /// Probability that the known way leads there, 0 to 1; absent if the element itself is the goal.
        pub probability: Option<f64>,
    }

    /// A tool that a page publishes.
    pub struct PublishedTool {
        /// Name of the tool.
        pub name: String,
        /// What the tool does, as the page describes it.
        pub description: Option<String>,
        /// JSON schema of the input; absent if there is none, or if it is longer than 4,000 bytes.
        pub input_schema: Option<serde_json::Value>,
        /// Whether the page says that the tool changes nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub read_only: bool,
    }

    /// Result of `observe.screen`.
    pub struct Screen {
        /// Base context of the observation.
        #[serde(flatten)]
        pub context: Context,
        /// Rows of the screen.
        #[serde(flatten)]
        pub screen: ScreenRows,
    }

    /// Result of `observe.refs`.
    pub struct Refs {
        /// Base context of the observation.
        #[serde(flatten)]
        pub context: Context,
        /// Refs of the observation.
        #[serde(flatten)]
        pub refs: RefRows,
    }

    /// Result of `observe.page`.
    pub struct Page {
        /// Base context of the observation.
        #[serde(flatten)]
        pub context: Context,
        /// Rows of the screen, if requested.
        pub screen: Option<ScreenRows>,
        /// Refs, if requested.
        pub refs: Option<RefRows>,
    }

    /// Result of `observe.last`.
    pub struct LastPage {
        /// Id of the observation.
        pub observation_id: String,
        /// Time of the observation, in Unix milliseconds.
        pub at: i64,
        /// Session that made the observation.
        pub seen_by: String,
        /// Whether the page had settled.
        pub settled: bool,
        /// Whether an action was sent to the device after the observation, so that the screen may have changed.
        pub outdated: bool,
        /// Outline of the page; contains aliases only if the caller's session may use them.
        pub outline: String,
    }

    /// Result of `observe.text`.
    pub struct PageText {
        /// Id of the observation.
        pub observation_id: String,
        /// Title of the page; absent if it has none.
        pub title: Option<String>,
        /// Lines of the text, each with at most 2000 characters. Headings begin with `# `.
        pub lines: Vec<String>,
        /// Whether the text includes what is scrolled out of sight.
        pub whole: bool,
        /// Value of `from` for the next call; absent if there are no more lines.
        pub next: Option<u32>,
    }

    /// Result of `observe.dump`.
    pub struct DumpOutline {
        /// Outline of the screen. Text from the screen is quoted.
        pub outline: String,
        /// Number of elements that can be acted on.
        pub interactive: u32,
        /// Width and height of the screen in device pixels, if known.
        pub size: Option<(i32, i32)>,
    }

    /// Result of `observe.wait`.
    pub struct WaitResult {
        /// Base context at the time the condition was met.
        #[serde(flatten)]
        pub context: Context,
        /// Condition that was met.
        pub until: Until,
        /// Time waited, in milliseconds.
        pub waited_ms: u64,
        /// Number of matching nodes; only for `text`.
        pub matched_count: Option<u32>,
        /// The first matching nodes, at most 20; only for `text`.
        pub nodes: Option<Vec<Row>>,
    }
}

methods! {
    /// Returns the app and activity in the foreground.
    ObserveTop = "observe.top" (TopParams, DEVICE) -> Reply<Top>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Reads the screen as rows, one per node.
    ObserveScreen = "observe.screen" (ScreenParams, DEVICE) -> Reply<Screen>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads the interactive elements of the screen, each with an alias.
    ObserveRefs = "observe.refs" (RefsParams, DEVICE) -> Reply<Refs>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxRows":80}"#;
    /// Reads the page: base context, rows, refs, and hints from the memory.
    ObservePage = "observe.page" (PageParams, DEVICE) -> Reply<Page>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported], r#"{"include":["refs"]}"#, LOOK;
    /// Reads the text of the page, without aliases: of the whole page in a browser, else of what is in sight.
    ObserveText = "observe.text" (ReadParams, DEVICE) -> Reply<PageText>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], r#"{"maxChars":4000}"#, READ;
    /// Returns the outline of a dump of a screen that the caller has. No device is needed, and nothing is recorded.
    ObserveDump = "observe.dump" (DumpParams) -> DumpOutline, Read, [], r#"{"content":"<hierarchy rotation=\"0\"><node text=\"Wi-Fi\" class=\"android.widget.TextView\" clickable=\"true\" bounds=\"[0,0][540,90]\"/></hierarchy>"}"#;
    /// Returns the last observed page of the device, regardless of the observing session, without reading the screen.
    ObserveLast = "observe.last" (LastParams, DEVICE) -> Reply<LastPage>, Read, [DeviceUnknown, DeviceAmbiguous, NotFound], "{}";
    /// Waits until a condition holds on the screen, without blocking the device for other calls.
    ObserveWait = "observe.wait" (WaitParams, DEVICE, TIMEOUT) -> Reply<WaitResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Timeout, TargetNotFound], r#"{"until":"settled","timeoutMs":5000}"#, WAIT;
}
