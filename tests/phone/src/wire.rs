//! The service's formats: the screen as text, the observe payload, envelopes.

use serde::Serialize;

use crate::refs::{RefRow, RefState};
use crate::scene::{Flat, Node, Scene};

/// Joins the names of the flags that hold.
pub fn flags(flags: &[(&str, bool)]) -> String {
    flags.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// The envelope of an answer; `data` is always a string.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    /// Whether it went well.
    pub ok: bool,
    /// The payload.
    pub data: Option<&'a str>,
    /// The fault.
    pub error: Option<&'a str>,
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// A cell of the screen table.
fn cell(text: Option<&str>) -> String {
    let clean = text.unwrap_or("").replace(['\t', '\n', '\r'], " ");
    let clean = clean.trim();
    if clean.is_empty() {
        return "-".to_owned();
    }
    let units: Vec<u16> = clean.encode_utf16().collect();
    if units.len() > 100 { format!("{}...truncated", String::from_utf16_lossy(&units[..100])) } else { clean.to_owned() }
}

fn kept(node: &Node) -> bool {
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

/// `/api/screen`. `top` is absent in dialect 1 and empty when unknown in dialect 2; no scene means a degraded service.
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
            if !kept(node) {
                continue;
            }
            lines.push(format!(
                "{id}\t{}\t{}\t{}\t{}\t{}\t{}",
                simple(&node.class),
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

/// Whether a class names a web view.
pub fn is_web_view(class: &str) -> bool {
    class.to_lowercase().contains("webview")
}

/// `high` unless there is a web view or nothing at all.
pub fn reliability(has_web_view: bool, rows: usize) -> &'static str {
    if has_web_view || rows == 0 { "low" } else { "high" }
}

/// `/api/screen/refs`.
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

/// Builds `/api/screen/refs`; `top` is absent in dialect 1.
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

/// `/api/observe`, as the JSON text inside the envelope.
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

/// A node as `/api/nodes/find` prints it.
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
mod tests {
    use super::*;
    use crate::refs::Refs;
    use crate::scene::{OnTap, Rect, Window};

    /// The sample screen of a settings list whose ids and tokens are known from the service.
    fn sample() -> Scene {
        let text = |id: &str, text: &str, r: Rect| Node::new("android.widget.TextView", r).id(id).text(text);
        let row =
            |t: i32, children| Node::new("android.widget.LinearLayout", Rect::new(0, t, 1080, t + 210)).tap(OnTap::Back).with(children);
        let mut list = Node::new("androidx.recyclerview.widget.RecyclerView", Rect::new(0, 300, 1080, 2274))
            .id("com.android.settings:id/recycler_view");
        list.scrollable = true;
        list.focusable = true;
        list.children = vec![
            row(
                310,
                vec![
                    text("android:id/title", "Wi-Fi", Rect::new(180, 340, 400, 400)),
                    text("android:id/summary", "Connected", Rect::new(180, 410, 500, 460)),
                ],
            ),
            row(520, vec![text("android:id/title", "Bluetooth", Rect::new(180, 550, 480, 610))]),
        ];
        let mut back = Node::new("android.widget.ImageView", Rect::new(120, 2274, 300, 2400))
            .id("com.android.systemui:id/back")
            .desc("Back")
            .tap(OnTap::Back);
        back.long_clickable = true;
        let frame = |r| Node::new("android.widget.FrameLayout", r);
        Scene {
            width: 1080,
            height: 2400,
            density: 420,
            windows: vec![
                Window {
                    id: 3,
                    kind: "SYSTEM",
                    pkg: "com.android.systemui".into(),
                    title: None,
                    layer: 1,
                    focused: false,
                    root: frame(Rect::new(0, 2274, 1080, 2400)).with(vec![back]),
                },
                Window {
                    id: 12,
                    kind: "APPLICATION",
                    pkg: "com.android.settings".into(),
                    title: Some("Settings".into()),
                    layer: 0,
                    focused: true,
                    root: frame(Rect::new(0, 0, 1080, 2400)).with(vec![list]),
                },
            ],
        }
    }

    #[test]
    fn the_sample_screen_reads_as_on_the_phone() {
        let scene = sample();
        let text = screen_text(Some(&scene), "SYSTEM_API", Some("com.android.settings/.Settings"), (1080, 2400, 420));
        let tail: Vec<&str> = text.lines().skip(6).collect();
        assert_eq!(
            tail,
            [
                "--- window:3 type:SYSTEM pkg:com.android.systemui title:unknown layer:1 focused:false ---",
                "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags",
                "node_947ffb79\tImageView\t-\tBack\tcom.android.systemui:id/back\t120,2274,300,2400\ton,clk,lclk,foc,ena",
                "hierarchy:",
                "node_947ffb79",
                "--- window:12 type:APPLICATION pkg:com.android.settings title:Settings layer:0 focused:true ---",
                "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags",
                "node_220e63a1\tRecyclerView\t-\t-\tcom.android.settings:id/recycler_view\t0,300,1080,2274\ton,foc,scr,ena",
                "node_2aab029f\tLinearLayout\t-\t-\t-\t0,310,1080,520\ton,clk,foc,ena",
                "node_f9cdffb\tTextView\tWi-Fi\t-\tandroid:id/title\t180,340,400,400\ton,ena",
                "node_a7fbf1e9\tTextView\tConnected\t-\tandroid:id/summary\t180,410,500,460\ton,ena",
                "node_b0036a00\tLinearLayout\t-\t-\t-\t0,520,1080,730\ton,clk,foc,ena",
                "node_37e49d52\tTextView\tBluetooth\t-\tandroid:id/title\t180,550,480,610\ton,ena",
                "hierarchy:",
                "node_220e63a1",
                "  node_2aab029f",
                "    node_f9cdffb",
                "    node_a7fbf1e9",
                "  node_b0036a00",
                "    node_37e49d52",
            ]
        );
    }

    #[test]
    fn the_sample_refs_have_the_known_tokens() {
        let mut refs = Refs::default();
        let state = refs.compute(&sample(), 1_775_000_000_000);
        let got: Vec<(&str, &str, &str)> =
            state.refs.iter().map(|r| (r.row.alias.as_str(), r.exact.as_str(), r.identity.as_str())).collect();
        assert_eq!(
            got,
            [
                ("@n1", "rt_efbfa0d", "ri_d61c8306"),
                ("@n2", "rt_3e046056", "ri_7d2b365d"),
                ("@n3", "rt_97a4fca4", "ri_7d2b365d"),
                ("@n4", "rt_10e267c8", "ri_e6affc7a"),
            ]
        );
        let json = serde_json::to_string(&ref_screen(state, "SYSTEM_API", None)).expect("serialises");
        assert!(json.starts_with(
            r#"{"refVersion":1,"refCount":4,"updatedAtMs":1775000000000,"mode":"SYSTEM_API","hasWebView":false,"nodeReliability":"high","rows":[{"ref":"@n1","node_id":"node_220e63a1","class_name":"androidx.recyclerview.widget.RecyclerView","text":null,"desc":null,"res_id":"com.android.settings:id/recycler_view","bounds":"0,300,1080,2274","flags":"on,scr,ena"}"#
        ));
        assert!(json.ends_with("}]}"), "dialect 1 has no topActivity");
        assert!(
            serde_json::to_string(&ref_screen(state, "ACCESSIBILITY", Some(None)))
                .expect("serialises")
                .ends_with(r#","topActivity":null}"#)
        );
    }

    #[test]
    fn observe_lists_every_node_in_window_order() {
        let scene = sample();
        let text = observe(Some(&scene), "SYSTEM_API", Some("com.android.settings/.Settings"), true, None, 2);
        assert_eq!(
            text,
            r#"{"topActivity":"com.android.settings/.Settings","mode":"SYSTEM_API","hasWebView":false,"nodeReliability":"high","screen":{"rowCount":9,"rows":[{"id":"node_a059769d","class":"android.widget.FrameLayout","bounds":"0,2274,1080,2400","flags":"on,ena"},{"id":"node_947ffb79","class":"android.widget.ImageView","desc":"Back","res_id":"com.android.systemui:id/back","bounds":"120,2274,300,2400","flags":"on,clk,lng,fcs,ena"}]},"refs":null}"#
        );
    }

    #[test]
    fn find_computes_ids_from_another_root() {
        let scene = sample();
        let window = scene.active().expect("a focused window");
        let flat = Scene::flatten(window, "root");
        let wifi = flat.iter().find(|f| f.node.text.as_deref() == Some("Wi-Fi")).expect("Wi-Fi");
        assert_eq!(
            found_line(wifi),
            "node_4ec548f4\tandroid.widget.TextView\ttext=Wi-Fi\tdesc=null\tres=android:id/title\tbounds=BoundsData(left=180, top=340, right=400, bottom=400)"
        );
    }

    #[test]
    fn cells_are_cleaned_and_cut_at_100_units() {
        assert_eq!(cell(Some(" a\tb\nc ")), "a b c");
        assert_eq!(cell(Some("  ")), "-");
        assert_eq!(cell(Some(&"x".repeat(100))), "x".repeat(100));
        assert_eq!(cell(Some(&"x".repeat(101))), format!("{}...truncated", "x".repeat(100)));
    }
}
