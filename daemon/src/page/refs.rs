//! What can be acted on, in the order in which aliases are given, and finding it again later.

use std::cmp::Reverse;

use super::label::{self, Label};
use super::snapshot::{Flag, Snapshot, WindowKind};

/// Something that can be acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// Index of its node in the snapshot.
    pub node: usize,
    /// What it says.
    pub label: Label,
    /// Equal for the same thing at the same place.
    pub exact: String,
    /// Equal for the same kind of thing anywhere.
    pub identity: String,
}

/// Rounds toward zero to a multiple of 8, as the service does: a shift of a few pixels is none.
fn coarse(v: i32) -> i32 {
    (v / 8) * 8
}

/// All refs: the focused window first, then the highest layer; within a window from the top left, larger before smaller.
pub fn all(snapshot: &Snapshot) -> Vec<Ref> {
    let mut found: Vec<usize> = (0..snapshot.nodes.len())
        .filter(|i| {
            let node = &snapshot.nodes[*i];
            node.is_ref() && snapshot.windows.get(node.window).is_some_and(|w| w.kind != WindowKind::Overlay)
        })
        .collect();
    found.sort_by_key(|i| {
        let node = &snapshot.nodes[*i];
        let window = &snapshot.windows[node.window];
        (!window.focused, Reverse(window.layer), node.bounds.top, node.bounds.left, Reverse(node.bounds.area()))
    });
    found.into_iter().map(|node| make(snapshot, node)).collect()
}

fn make(snapshot: &Snapshot, index: usize) -> Ref {
    let node = &snapshot.nodes[index];
    let window = &snapshot.windows[node.window];
    let text = if node.is(Flag::Editable) { "" } else { node.text.as_deref().unwrap_or("") };
    let words = format!("{}|{}|{text}|{}", node.res_id.as_deref().unwrap_or(""), node.class, node.desc.as_deref().unwrap_or(""));
    let place = format!("{}|{}", window.layer, window.focused);
    let b = &node.bounds;
    let able: String = [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable]
        .map(|f| if node.is(f) { '1' } else { '0' })
        .iter()
        .collect();
    Ref {
        node: index,
        label: label::of(snapshot, index),
        exact: format!("{words}|{},{},{},{}|{place}", coarse(b.left), coarse(b.top), coarse(b.right), coarse(b.bottom)),
        identity: format!("{words}|{},{}|{able}|{place}", coarse(b.width()), coarse(b.height())),
    }
}

/// A ref as a session was shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The ref.
    pub what: Ref,
    /// [`exact_content`](super::fingerprint::exact_content) of that observation; tells twins apart.
    pub content: std::sync::Arc<str>,
}

/// Where a recorded ref is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Index into the current refs.
    pub index: usize,
    /// Whether it is at another place than it was.
    pub moved: bool,
}

/// Finds a recorded ref among the current ones: by its exact token, else by its identity token, each time only if the
/// label is still of the same thing; and only if it is the one such ref, or nothing on the page changed at all (`content` is
/// the hash of what is there now).
///
/// # Errors
/// How many candidates there were, when there was not exactly one.
pub fn find(recorded: &Recorded, now: &[Ref], content: &str) -> Result<Found, usize> {
    let same = |r: &Ref| r.identity == recorded.what.identity && r.label.same_thing(&recorded.what.label);
    let alike: Vec<usize> = (0..now.len()).filter(|i| same(&now[*i])).collect();
    let exact: Vec<usize> =
        (0..now.len()).filter(|i| now[*i].exact == recorded.what.exact && now[*i].label.same_thing(&recorded.what.label)).collect();
    if let [index] = exact.as_slice()
        && (alike.len() <= 1 || *recorded.content == *content)
    {
        return Ok(Found { index: *index, moved: false });
    }
    match alike.as_slice() {
        [index] => Ok(Found { index: *index, moved: now[*index].exact != recorded.what.exact }),
        several => Err(several.len()),
    }
}
