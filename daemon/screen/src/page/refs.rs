//! Refs: the interactive elements of a screen, in the order in which aliases (`@n1`, `@n2` and so on) are assigned.
//! [`find`] locates a ref again on a later screen.
//!
//! Each ref has two tokens. The exact token is equal for the same element at the same place, and the identity token for
//! the same kind of element anywhere. Neither is enough alone, because the rows of a list may change while their places
//! stay the same. A ref is found again only if its label still matches, and only if there is exactly one candidate or
//! the page did not change at all.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::element_ref::Ref;
use super::label;
use super::snapshot::{Flag, Snapshot, WindowKind};
use super::{mask, naming};

/// Rounds a coordinate toward zero to a multiple of 8 pixels, as the service does, so that a shift of a few pixels
/// makes no difference.
fn coarse(v: i32) -> i32 {
    (v / 8) * 8
}

/// Returns all refs in sight, without those behind a dialog or an overlay. The refs of the focused window come first,
/// then those of the other windows by descending layer. Within a window, they are sorted by top edge, left edge and
/// descending area.
pub fn all(snapshot: &Snapshot) -> Vec<Ref> {
    let geometry = snapshot.geometry();
    let mut found: Vec<usize> = (0..snapshot.nodes.len())
        .filter(|i| {
            let node = &snapshot.nodes[*i];
            node.is_ref()
                && geometry.shown(*i).area() > 0
                && snapshot.kind_of(node) != WindowKind::Overlay
                && geometry.hidden_by(&snapshot.nodes, *i).is_none()
        })
        .collect();
    found.sort_by_key(|i| {
        let node = &snapshot.nodes[*i];
        let window = &snapshot.windows[node.window];
        (!window.focused, Reverse(window.layer), node.bounds.top, node.bounds.left, Reverse(node.bounds.area()))
    });
    let mut refs: Vec<Ref> = found.into_iter().map(|node| make(snapshot, node)).collect();
    add_contexts(snapshot, &mut refs);
    naming::add_names(snapshot, &mut refs);
    refs
}

/// Sets the context of each ref, which distinguishes equal elements.
fn add_contexts(snapshot: &Snapshot, refs: &mut [Ref]) {
    let what = |r: &Ref| (r.identity.clone(), r.label.title.clone());
    let mut alike: HashMap<(String, String), Vec<usize>> = HashMap::new();
    refs.iter().for_each(|r| alike.entry(what(r)).or_default().push(r.node));
    let titles: HashMap<usize, String> = refs.iter().map(|r| (r.node, r.label.title.clone())).collect();
    for r in refs.iter_mut() {
        let row = snapshot
            .ancestors(r.node)
            .take_while(|a| !snapshot.nodes[*a].is(Flag::Scrollable))
            .find_map(|a| titles.get(&a));
        let twins = &alike[&what(r)];
        r.context = match row {
            Some(title) => title.clone(),
            None if twins.len() > 1 => text_before(snapshot, r.node, twins),
            None => String::new(),
        };
    }
}

/// Maximum number of nodes before an element that are searched for its context.
const MAX_BEFORE: usize = 100;

/// Returns the nearest text between an element and the previous equal element, or an empty string if there is none.
/// Text inside other interactive elements does not count.
fn text_before(snapshot: &Snapshot, index: usize, twins: &[usize]) -> String {
    let twin = twins.iter().filter(|twin| **twin < index).max().map_or(0, |twin| twin + 1);
    let text = |i: usize| {
        let node = &snapshot.nodes[i];
        let own = node.text.as_deref().or(node.desc.as_deref()).filter(|t| !t.trim().is_empty())?;
        let apart = node.window == snapshot.nodes[index].window && node.is(Flag::Visible) && !node.is_ref();
        let acts = |a: usize| snapshot.nodes[a].is_ref() && !snapshot.nodes[a].is(Flag::Scrollable);
        (apart && !snapshot.ancestors(i).any(acts)).then(|| own.to_owned())
    };
    (twin.max(index.saturating_sub(MAX_BEFORE))..index).rev().find_map(text).unwrap_or_default()
}

fn make(snapshot: &Snapshot, index: usize) -> Ref {
    let node = &snapshot.nodes[index];
    let window = &snapshot.windows[node.window];
    let text = if node.is(Flag::Editable) { "" } else { node.text.as_deref().unwrap_or("") };
    let words = format!(
        "{}|{}|{text}|{}",
        node.res_id.as_deref().unwrap_or(""),
        node.class,
        node.desc.as_deref().unwrap_or("")
    );
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
        context: String::new(),
        name: None,
        is_caption: false,
    }
}

/// Returns the alias with a given number, such as `@n3`.
pub fn alias(number: u32) -> String {
    format!("@n{number}")
}

/// Returns the number in an alias that has the form returned by [`alias`], or `None` for any other text.
pub fn number_of(alias: &str) -> Option<u32> {
    let digits = alias.strip_prefix("@n").filter(|digits| !digits.starts_with(['0', '+']))?;
    digits.parse().ok()
}

/// A ref from an earlier screen, with the facts that distinguish it from the other refs on that screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// The ref.
    pub what: &'a Ref,
    /// [`exact_content`](super::fingerprint::exact_content) of the earlier screen, to tell duplicates apart.
    pub content: &'a str,
    /// Whether no other ref on the earlier screen had the same title.
    pub unique_title: bool,
    /// Whether another ref on the earlier screen differed from this ref only in digits, so that digits are significant.
    pub digits_count: bool,
}

/// Returns whether another ref differs from this one only in the digits of its label.
pub(super) fn differs_in_digits(one: &Ref, all: &[Ref]) -> bool {
    let masked = |r: &Ref| r.label.rest.iter().map(|w| mask::digits(w)).collect::<Vec<_>>();
    let alike = |r: &&Ref| r.identity == one.identity && r.label.title == one.label.title && r.label != one.label;
    all.iter().filter(alike).any(|r| masked(r) == masked(one))
}

/// Returns whether a ref has a title and no other ref has the same title.
pub(super) fn has_unique_title(one: &Ref, all: &[Ref]) -> bool {
    !one.label.title.is_empty() && all.iter().filter(|r| r.label.title == one.label.title).count() == 1
}

/// The location of a recorded ref on the current screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Index of the ref in the list of current refs.
    pub index: usize,
    /// Whether the place of the ref has changed.
    pub moved: bool,
}

/// Finds a recorded ref among the current refs, by its exact token or else by its identity token. In both cases its
/// context and label must still match, and no other ref may match as well, unless nothing on the page changed at all.
/// If its title was unique and still is, the rest of the label may differ, because a subtitle or the position of a
/// switch may change. `content` is the [`exact_content`](super::fingerprint::exact_content) of the current screen.
///
/// # Errors
/// Returns the number of candidates if there is not exactly one.
pub fn find(recorded: Recorded<'_>, now: &[Ref], content: &str) -> Result<Found, usize> {
    let labelled = |r: &Ref| match recorded.digits_count {
        true => r.label == recorded.what.label,
        false => r.label.same_element(&recorded.what.label),
    };
    let named = |r: &Ref| r.context == recorded.what.context && labelled(r);
    let same = |r: &Ref| r.identity == recorded.what.identity && named(r);
    let alike: Vec<usize> = (0..now.len()).filter(|i| same(&now[*i])).collect();
    let exact: Vec<usize> =
        (0..now.len()).filter(|i| now[*i].exact == recorded.what.exact && named(&now[*i])).collect();
    if let [index] = exact.as_slice()
        && (alike.len() <= 1 || recorded.content == content)
    {
        return Ok(Found { index: *index, moved: false });
    }
    let titled = |r: &Ref| {
        recorded.unique_title
            && !recorded.digits_count
            && r.context == recorded.what.context
            && r.identity == recorded.what.identity
            && r.label.title == recorded.what.label.title
            && has_unique_title(r, now)
    };
    let alike = if alike.is_empty() { (0..now.len()).filter(|i| titled(&now[*i])).collect() } else { alike };
    match alike.as_slice() {
        [index] => Ok(Found { index: *index, moved: now[*index].exact != recorded.what.exact }),
        several => Err(several.len()),
    }
}
