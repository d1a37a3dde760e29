//! The service's wire formats: the screen as text, the JSON payloads, the envelope.

use serde::Serialize;

use crate::refs::{RefRow, RefState};
use crate::scene::{Flat, Node, Scene};

/// Joins the names of the flags that are set.
pub fn flags(flags: &[(&str, bool)]) -> String {
    flags.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// The envelope of a response; `data` is always a string.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    /// Whether the request succeeded.
    pub ok: bool,
    /// Payload; `None` if the request failed.
    pub data: Option<&'a str>,
    /// Error message; `None` if the request succeeded.
    pub error: Option<&'a str>,
}

fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Formats a cell of the screen table: on one line, `-` if empty, truncated to 100 UTF-16 units.
fn cell(text: Option<&str>) -> String {
    let clean = text.unwrap_or("").replace(['\t', '\n', '\r'], " ");
    let clean = clean.trim();
    if clean.is_empty() {
        return "-".to_owned();
    }
    let units: Vec<u16> = clean.encode_utf16().collect();
    if units.len() > 100 {
        format!("{}...truncated", String::from_utf16_lossy(&units[..100]))
    } else {
        clean.to_owned()
    }
}

fn is_listed(node: &Node) -> bool {
    let has = |t: &Option<String>| t.as_ref().is_some_and(|t| !t.is_empty());
    has(&node.text) || has(&node.desc) || has(&node.res_id) || node.interactive()
}

fn screen_flags(node: &Node) -> String {
    let visible = if node.hidden { "off" } else { "on" };
    flags(&[
        (visible, true),
        ("clk", node.clickable),
        ("lclk", node.long_clickable),
        ("foc", node.focusable),
        ("scr", node.scrollable),
        ("edt", node.editable),
        ("ena", !node.disabled),
    ])
}

/// Returns the payload of `/api/screen`. `top` is `None` in dialect 1, and in dialect 2 empty if unknown; no scene
/// means a degraded service.
pub fn screen_text(scene: Option<&Scene>, mode: &str, top: Option<&str>, size: (i32, i32, i32)) -> String {
    let mut lines = vec![format!("[mode: {mode}]")];
    if let Some(top) = top {
        lines.push(format!("[topActivity: {top}]"));
    }
    if scene.is_none() {
        lines.push("note:DEGRADED \u{2014} multi-window unavailable, only active window reported".to_owned());
    }
    lines.push("note:structural-only nodes are omitted from the tree".to_owned());
    lines.push(
        "note:flags: on=onscreen off=offscreen clk=clickable lclk=longClickable foc=focusable scr=scrollable edt=editable ena=enabled"
            .to_owned(),
    );
    lines.push("note:offscreen items require scroll_to_node before interaction".to_owned());
    let (width, height, density) = size;
    let orientation = if width > height { "landscape" } else { "portrait" };
    lines.push(format!("screen:{width}x{height} density:{density} orientation:{orientation}"));
    for window in scene.map(|s| s.windows.as_slice()).unwrap_or_default() {
        lines.push(format!(
            "--- window:{} type:{} pkg:{} title:{} layer:{} focused:{} ---",
            window.id,
            window.kind,
            window.pkg,
            window.title.as_deref().unwrap_or("unknown"),
            window.layer,
            window.focused
        ));
        lines.push("node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags".to_owned());
        let mut hierarchy = Vec::new();
        let mut ancestors: Vec<usize> = Vec::new();
        for Flat { node, depth, id, .. } in Scene::flatten(window, &format!("root_w{}", window.id)) {
            while ancestors.last().is_some_and(|d| *d >= depth) {
                ancestors.pop();
            }
            if !is_listed(node) {
                continue;
            }
            lines.push(format!(
                "{id}\t{}\t{}\t{}\t{}\t{}\t{}",
                simple_name(&node.class),
                cell(node.text.as_deref()),
                cell(node.desc.as_deref()),
                cell(node.res_id.as_deref()),
                node.bounds.text(),
                screen_flags(node)
            ));
            hierarchy.push(format!("{}{id}", "  ".repeat(ancestors.len())));
            ancestors.push(depth);
        }
        lines.push("hierarchy:".to_owned());
        lines.append(&mut hierarchy);
    }
    lines.join("\n").trim_end_matches('\n').to_owned()
}

/// Returns whether a class name is that of a web view.
pub fn is_web_view(class: &str) -> bool {
    class.to_lowercase().contains("webview")
}

/// Returns `low` if there is a web view or no row at all, else `high`.
pub fn reliability(has_web_view: bool, rows: usize) -> &'static str {
    if has_web_view || rows == 0 { "low" } else { "high" }
}

/// Payload of `/api/screen/refs`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefScreen<'a> {
    ref_version: i64,
    ref_count: usize,
    updated_at_ms: i64,
    mode: &'a str,
    has_web_view: bool,
    node_reliability: &'a str,
    rows: Vec<&'a RefRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_activity: Option<Option<&'a str>>,
}

/// Builds the payload of `/api/screen/refs`; `top` is `None` in dialect 1.
pub fn ref_screen<'a>(state: &'a RefState, mode: &'a str, top: Option<Option<&'a str>>) -> RefScreen<'a> {
    let has_web_view = state.refs.iter().any(|r| is_web_view(&r.row.class_name));
    RefScreen {
        ref_version: state.version,
        ref_count: state.refs.len(),
        updated_at_ms: state.updated_at_ms,
        mode,
        has_web_view,
        node_reliability: reliability(has_web_view, state.refs.len()),
        rows: state.refs.iter().map(|r| &r.row).collect(),
        top_activity: top,
    }
}

#[derive(Debug, Serialize)]
struct ObserveRow<'a> {
    id: &'a str,
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    res_id: Option<&'a str>,
    bounds: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    flags: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScreenSlice<'a> {
    row_count: usize,
    rows: Vec<ObserveRow<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RefSlice<'a> {
    ref_version: i64,
    ref_count: usize,
    updated_at_ms: i64,
    rows: Vec<&'a RefRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Observe<'a> {
    top_activity: Option<&'a str>,
    mode: &'a str,
    has_web_view: bool,
    node_reliability: &'a str,
    screen: Option<ScreenSlice<'a>>,
    refs: Option<RefSlice<'a>>,
}

/// Returns the payload of `/api/observe`: the JSON text inside the envelope.
pub fn observe(
    scene: Option<&Scene>,
    mode: &str,
    top: Option<&str>,
    with_screen: bool,
    refs: Option<&RefState>,
    max_rows: usize,
) -> String {
    let flat = scene.map(Scene::flat).unwrap_or_default();
    let has_web_view = flat.iter().any(|f| is_web_view(&f.node.class));
    let rows = flat.iter().take(max_rows).map(|f| ObserveRow {
        id: &f.id,
        class: Some(f.node.class.as_str()),
        text: f.node.text.as_deref(),
        desc: f.node.desc.as_deref(),
        res_id: f.node.res_id.as_deref(),
        bounds: f.node.bounds.text(),
        flags: flags(&[
            ("on", !f.node.hidden),
            ("clk", f.node.clickable),
            ("lng", f.node.long_clickable),
            ("scr", f.node.scrollable),
            ("edt", f.node.editable),
            ("fcs", f.node.focusable),
            ("ena", !f.node.disabled),
        ]),
    });
    let payload = Observe {
        top_activity: top,
        mode,
        has_web_view,
        node_reliability: reliability(has_web_view, flat.len()),
        screen: with_screen.then(|| ScreenSlice { row_count: flat.len(), rows: rows.collect() }),
        refs: refs.map(|s| RefSlice {
            ref_version: s.version,
            ref_count: s.refs.len(),
            updated_at_ms: s.updated_at_ms,
            rows: s.refs.iter().take(max_rows).map(|r| &r.row).collect(),
        }),
    };
    serde_json::to_string(&payload).unwrap_or_default()
}

/// Formats a node as `/api/nodes/find` prints it.
pub fn found_line(f: &Flat<'_>) -> String {
    let null = |t: &Option<String>| t.clone().unwrap_or_else(|| "null".to_owned());
    let b = f.node.bounds;
    format!(
        "{}\t{}\ttext={}\tdesc={}\tres={}\tbounds=BoundsData(left={}, top={}, right={}, bottom={})",
        f.id,
        f.node.class,
        null(&f.node.text),
        null(&f.node.desc),
        null(&f.node.res_id),
        b.l,
        b.t,
        b.r,
        b.b
    )
}

#[cfg(test)]
mod tests;
