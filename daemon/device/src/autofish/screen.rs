//! Parser for the text in which the service represents a screen.

use std::collections::HashMap;

use serde::Deserialize;

use crate::android;
use afd_proto::vocabulary::Role;
use afd_screen::page::snapshot::{Flag, Flags, Node, Snapshot, Traits, Window, WindowKind};

/// Maximum number of additional lines that a window title may span.
const MAX_TITLE_LINES: usize = 8;
/// Name of the mode in which the service cannot report activities.
const ACCESSIBILITY: &str = "ACCESSIBILITY";
/// Reason reported to callers when the service marks the screen as degraded.
const DEGRADED: &str = "the phone's accessibility service is off: the screen cannot be read";
/// Suffix with which the service marks truncated text.
const TRUNCATED: &str = "...truncated";

/// Error from parsing the text of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScreenParseError(&'static str);

/// A parsed screen.
pub(super) struct Screen {
    pub(super) snapshot: Snapshot,
    /// Whether the response had a line with the activity, as in dialect 2.
    pub(super) has_top_line: bool,
}

/// Parses the response of `/api/screen`.
///
/// # Errors
/// If the mode line is missing or a window header is malformed.
pub(super) fn parse(text: &str) -> Result<Screen, ScreenParseError> {
    let mut lines = text.split('\n').peekable();
    let mode = lines
        .next()
        .and_then(|l| bracket(l, "mode"))
        .ok_or(ScreenParseError("the screen does not start with a mode line"))?;
    let place_knowable = mode != ACCESSIBILITY;
    let place_advice = (!place_knowable).then_some("start Shizuku on the phone, so that activities are known as well");
    let mut snapshot = Snapshot { place_knowable, place_advice, mode: mode.to_owned(), ..Snapshot::default() };
    let top = lines.peek().and_then(|l| bracket(l, "topActivity")).map(str::to_owned);
    let has_top_line = top.is_some();
    let mut hierarchy: Option<Vec<usize>> = None;
    let mut listed = 0;
    while let Some(line) = lines.next() {
        if line.starts_with("--- window:") {
            let mut header = line.to_owned();
            // A title may contain line breaks, up to a limit.
            for _ in 0..MAX_TITLE_LINES {
                if window(&header).is_some() {
                    break;
                }
                header.push('\n');
                header.push_str(lines.next().unwrap_or_default());
            }
            snapshot.windows.push(window(&header).ok_or(ScreenParseError("malformed window header"))?);
            hierarchy = None;
            listed = snapshot.nodes.len();
        } else if line == "hierarchy:" {
            hierarchy = Some(Vec::new());
        } else if let Some(ancestors) = &mut hierarchy {
            set_parent(&mut snapshot.nodes, listed, line, ancestors);
            listed += usize::from(!line.trim().is_empty());
        } else if line.starts_with("note:DEGRADED") {
            snapshot.degraded = Some(DEGRADED);
        } else if let Some(size) = line.strip_prefix("screen:") {
            snapshot.size = size
                .split(' ')
                .next()
                .and_then(|s| s.split_once('x'))
                .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        } else if !line.starts_with("node_id\t")
            && let Some(node) = row(line, snapshot.windows.len().saturating_sub(1))
        {
            snapshot.nodes.push(node);
        }
    }
    snapshot.windows.is_empty().then(|| snapshot.nodes.clear());
    android::finish(&mut snapshot, top);
    Ok(Screen { snapshot, has_top_line })
}

fn bracket<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix('[')?.strip_suffix(']')?.strip_prefix(name)?.strip_prefix(':').map(str::trim)
}

/// Parses `--- window:12 type:APPLICATION pkg:a.b title:T layer:0 focused:true ---`; package and title are not escaped.
fn window(line: &str) -> Option<Window> {
    let rest = line.strip_prefix("--- window:")?.strip_suffix(" ---")?;
    let (rest, focused) = rest.rsplit_once(" focused:")?;
    let (rest, layer) = rest.rsplit_once(" layer:")?;
    let (id, rest) = rest.split_once(" type:")?;
    let (kind, rest) = rest.split_once(" pkg:")?;
    let (app, title) = rest.split_once(" title:")?;
    let known = |text: &str| if text == "unknown" { String::new() } else { text.to_owned() };
    Some(Window {
        id: id.parse().ok()?,
        // Placeholder; the kind is set once all nodes are known.
        kind: WindowKind::Page,
        type_name: kind.to_owned(),
        app: known(app),
        title: known(title),
        layer: layer.parse().ok()?,
        focused: focused == "true",
        place: None,
    })
}

fn row(line: &str, window: usize) -> Option<Node> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [id, class, text, desc, res_id, bounds, flags] = cells.as_slice() else { return None };
    let cell = |c: &str| (!c.is_empty() && c != "-").then(|| c.to_owned());
    let truncated = text.ends_with(TRUNCATED) || desc.ends_with(TRUNCATED);
    let full = |c: &str| cell(c.strip_suffix(TRUNCATED).unwrap_or(c));
    let mut node = Node {
        id: (*id).to_owned(),
        window,
        parent: None,
        class: cell(class).unwrap_or_default(),
        text: full(text),
        desc: full(desc),
        res_id: cell(res_id),
        bounds: bounds.parse().ok()?,
        flags: parse_flags(flags),
        role: Role::View,
        traits: Traits::default(),
        password: false,
        truncated,
        checked: None,
    };
    android::mask_password(&mut node);
    Some(node)
}

/// Parses comma-separated flag names. Both sets of names that the service uses are accepted; unknown names are ignored.
fn parse_flags(text: &str) -> Flags {
    text.split(',').fold(Flags::default(), |flags, name| match name.trim() {
        "on" => flags.with(Flag::Visible),
        "clk" => flags.with(Flag::Clickable),
        "lclk" | "lng" => flags.with(Flag::LongClickable),
        "foc" | "fcs" => flags.with(Flag::Focusable),
        "scr" => flags.with(Flag::Scrollable),
        "edt" => flags.with(Flag::Editable),
        "ena" => flags.with(Flag::Enabled),
        _ => flags,
    })
}

/// Sets the parent of a node from a line of the hierarchy. The line belongs to the row at the same index, and its
/// indentation gives the depth.
fn set_parent(nodes: &mut [Node], index: usize, line: &str, ancestors: &mut Vec<usize>) {
    let depth = (line.len() - line.trim_start_matches(' ').len()) / 2;
    if let Some(node) = nodes.get_mut(index).filter(|n| n.id == line.trim()) {
        ancestors.truncate(depth);
        node.parent = ancestors.last().copied();
        ancestors.push(index);
    }
}

/// Replaces truncated text with the full text from `/api/observe`.
///
/// # Errors
/// If the response is not the expected JSON.
pub(super) fn fill_texts(snapshot: &mut Snapshot, observed: &str) -> serde_json::Result<()> {
    #[derive(Deserialize)]
    struct Observed {
        screen: Option<Rows>,
    }
    #[derive(Deserialize)]
    struct Rows {
        rows: Vec<Row>,
    }
    #[derive(Deserialize)]
    struct Row {
        id: String,
        text: Option<String>,
        desc: Option<String>,
    }
    let observed: Observed = serde_json::from_str(observed)?;
    let rows: HashMap<String, Row> =
        observed.screen.map(|s| s.rows).unwrap_or_default().into_iter().map(|r| (r.id.clone(), r)).collect();
    for node in snapshot.nodes.iter_mut().filter(|n| n.truncated && !n.password) {
        // The screen may have changed since, so the full text must start with the truncated text.
        let continues = |truncated: &Option<String>, full: &Option<String>| match (truncated, full) {
            (Some(truncated), Some(full)) => {
                full.replace(['\t', '\n', '\r'], " ").trim().starts_with(truncated.as_str())
            }
            _ => false,
        };
        if let Some(row) = rows.get(&node.id) {
            let (text, desc) = (continues(&node.text, &row.text), continues(&node.desc, &row.desc));
            if text {
                node.text.clone_from(&row.text);
            }
            if desc {
                node.desc.clone_from(&row.desc);
            }
            node.truncated = !(text || desc);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use afd_screen::page::mask;

    use super::*;

    const SAMPLE: &str = "[mode: SYSTEM_API]\n[topActivity: com.a/.Main]\nnote:structural-only nodes are omitted from the tree\nscreen:1080x2400 density:420 orientation:portrait\n\
--- window:3 type:SYSTEM pkg:com.android.systemui title:unknown layer:1 focused:false ---\nnode_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n\
node_1\tImageView\t-\tBack\tcom.android.systemui:id/back\t0,0,10,10\ton,clk,ena\nhierarchy:\nnode_1\n\
--- window:12 type:APPLICATION pkg:com.a title:Two\nlines layer:0 focused:true ---\nnode_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n\
node_2\tRecyclerView\t-\t-\tcom.a:id/list\t0,10,100,90\ton,foc,scr,ena\nnode_3\tLinearLayout\t-\t-\t-\t0,10,100,30\ton,clk,ena\n\
node_4\tTextView\tWi-Fi\t-\t-\t0,10,50,20\ton,ena\nnode_5\tEditText\thunter2\t-\tcom.a:id/password\t0,30,100,50\ton,clk,edt,ena\n\
hierarchy:\nnode_2\n  node_3\n    node_4\n  node_5";

    #[test]
    fn parses_windows_rows_and_hierarchy() {
        let screen = parse(SAMPLE).expect("reads");
        let s = &screen.snapshot;
        assert!(screen.has_top_line && s.place_knowable);
        assert_eq!(
            (s.place.as_deref(), s.app.as_deref(), s.size),
            (Some("com.a/.Main"), Some("com.a"), Some((1080, 2400)))
        );
        assert_eq!(
            s.windows.iter().map(|w| (w.id, w.title.as_str(), w.focused)).collect::<Vec<_>>(),
            [(3, "", false), (12, "Two\nlines", true)]
        );
        assert_eq!(s.nodes.iter().map(|n| n.parent).collect::<Vec<_>>(), [None, None, Some(1), Some(2), Some(1)]);
        assert_eq!(s.nodes[4].text.as_deref(), Some(mask::HIDDEN));
    }

    #[test]
    fn app_comes_from_the_window_without_shizuku() {
        let text = SAMPLE.replace("SYSTEM_API", "ACCESSIBILITY").replace("com.a/.Main", "");
        let s = parse(&text).expect("reads").snapshot;
        assert_eq!((s.place.clone(), s.app.as_deref(), s.place_knowable), (None, Some("com.a"), false));
        assert_eq!(s.stand_in_place().as_deref(), Some("com.a/"));
    }

    #[test]
    fn truncated_texts_are_completed() {
        let long = "x".repeat(100);
        let text = SAMPLE.replace("Wi-Fi", &format!("{long}{TRUNCATED}"));
        let mut s = parse(&text).expect("reads").snapshot;
        assert!(s.nodes[3].truncated);
        fill_texts(&mut s, &format!(r#"{{"screen":{{"rows":[{{"id":"node_4","text":"{long}yz"}}]}}}}"#))
            .expect("reads");
        assert_eq!(s.nodes[3].text.as_deref(), Some(format!("{long}yz").as_str()));
        assert!(!s.nodes[3].truncated);
    }

    #[test]
    fn malformed_screens_are_rejected() {
        assert!(parse("").is_err());
        assert!(parse("[mode: X]\n--- window:1 type:").is_err());
        let endless = format!("[mode: X]\n--- window:{}", "\nx".repeat(1_000_000));
        assert!(parse(&endless).is_err(), "the number of title lines is limited");
        assert!(parse("[mode: SYSTEM_API]\nnode_1\ta\tb").expect("reads").snapshot.nodes.is_empty());
    }
}
