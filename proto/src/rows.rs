//! The rows of an observation: nodes, refs, windows and elements of a screen.

use crate::artifact::SavedArtifact;
use crate::predict::LeadsTo;
use crate::vocabulary::Role;

wire! {
    /// A node of the screen. Columns that are empty or were not requested are absent.
    #[derive(Default)]
    pub struct Row {
        /// Node id; equals `nodeId` of the ref for the same node in the same observation.
        pub id: Option<String>,
        /// Class name of the node, without the package.
        pub class: Option<String>,
        /// Visible text of the node.
        pub text: Option<String>,
        /// Content description of the node.
        pub desc: Option<String>,
        /// Resource id of the node.
        pub res_id: Option<String>,
        /// Bounds as `left,top,right,bottom` in device pixels.
        pub bounds: Option<String>,
        /// `on` if the node is visible, else `off`, followed by the flags that apply: `clk` clickable, `lclk`
        /// long-clickable, `foc` focusable, `scr` scrollable, `edt` editable, `ena` enabled; separated by commas.
        pub flags: Option<String>,
    }

    /// A ref: an interactive element with an alias.
    #[derive(Default)]
    pub struct RefRow {
        /// Alias, for example `@n1`; valid until the session's next observation that returns refs.
        #[serde(rename = "ref")]
        pub alias: String,
        /// Label: the element's own text or description, else the text of its children, title first.
        pub label: String,
        /// Title: the stable part of the label, at most 80 characters; absent if it equals the whole label.
        pub title: Option<String>,
        /// The rest of the label: a subtitle, the position of a switch, a counter; absent if there is none.
        pub detail: Option<String>,
        /// Node id; equals `id` of the screen row for the same node in the same observation.
        pub node_id: String,
        /// Class name of the node, without the package.
        pub class: String,
        /// Visible text of the node itself.
        pub text: Option<String>,
        /// Content description of the node itself.
        pub desc: Option<String>,
        /// Resource id of the node.
        pub res_id: Option<String>,
        /// Bounds as `left,top,right,bottom` in device pixels.
        pub bounds: String,
        /// `on`, followed by the flags that apply: `clk` clickable, `lclk` long-clickable, `scr` scrollable, `edt`
        /// editable, `ena` enabled; separated by commas.
        pub flags: String,
        /// Kind and package of the element's window; absent if the element is in the focused window. An element in
        /// another window may be covered by the focused window.
        pub window: Option<String>,
        /// Whether the name of the element says that it deletes, pays, sends, signs out or the like.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub risky: bool,
        /// Where tapping the element most likely leads; absent if nothing is known, if it is only a guess that is less likely
        /// than not, or if no hints were requested. `memory.predict` returns all predictions.
        pub leads_to: Option<LeadsTo>,
    }

    /// A window on the screen; returned only with `full`.
    pub struct WindowRow {
        /// Window id on the device.
        pub id: i64,
        /// Kind of window, for example `APPLICATION`, `SYSTEM` or `INPUT_METHOD`.
        pub kind: String,
        /// Package that owns the window.
        pub app: String,
        /// Title of the window.
        pub title: String,
        /// Position in the window stack; higher layers cover lower ones.
        pub layer: i64,
        /// Whether the window has the input focus.
        pub focused: bool,
    }

    /// An element on the screen, including plain text.
    pub struct Element {
        /// Alias; absent if the element is not interactive.
        #[serde(rename = "ref")]
        pub alias: Option<String>,
        /// Role of the element.
        pub role: Role,
        /// Label, including the text of non-interactive elements inside the element.
        pub label: Option<String>,
        /// Text in the element, if it is a field.
        pub value: Option<String>,
        /// Number of elements that enclose this one.
        pub depth: u32,
        /// Whether the element is disabled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub disabled: bool,
        /// Whether the name of the element says that it deletes, pays, sends, signs out or the like.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub risky: bool,
        /// Where tapping the element most likely leads; absent if nothing is known, if it is only a guess that is less likely
        /// than not, or if no hints were requested. `memory.predict` returns all predictions.
        pub leads_to: Option<LeadsTo>,
    }

    /// Rows of the screen.
    pub struct ScreenRows {
        /// Total number of rows.
        pub row_count: u32,
        /// Number of rows returned.
        pub returned_rows: u32,
        /// Whether rows were omitted because of `maxRows`.
        pub truncated: bool,
        /// Rows in the order of the element tree; empty if the rows are only in the artifact.
        pub rows: Vec<Row>,
        /// Windows; only with `full`.
        pub windows: Option<Vec<WindowRow>>,
        /// File with the complete result, if one was written.
        pub artifact: Option<SavedArtifact>,
        /// Whether the rows are only in the artifact because their size exceeds `limits.inline_bytes`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub rows_in_artifact: bool,
    }

    /// Refs of an observation.
    pub struct RefRows {
        /// Version number of the device's refs, from 1. It is incremented if the content of the refs differs from that
        /// of the refs returned last, and reset when the daemon restarts.
        #[serde(default)]
        pub ref_version: u64,
        /// Total number of refs.
        pub ref_count: u32,
        /// Number of refs returned; only these have a valid alias.
        pub returned_rows: u32,
        /// Whether refs were omitted because of `maxRows`; the omitted elements can still be selected by text or id.
        pub truncated: bool,
        /// Refs, sorted by window (the focused one first), then from the top left; empty if they are only in the
        /// artifact.
        pub rows: Vec<RefRow>,
        /// File with the complete result, if one was written.
        pub artifact: Option<SavedArtifact>,
        /// Whether the refs are only in the artifact because their size exceeds `limits.inline_bytes`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub rows_in_artifact: bool,
    }
}
