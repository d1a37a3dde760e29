//! Names for controls without a label: the caption in their row or directly above them, or else their place on the
//! screen.
//!
//! Names are only for people and agents. Memory recognises an element by its label, id and position in the tree.

use std::collections::HashMap;

use afd_proto::vocabulary::Role;

use super::element_ref::Ref;
use super::snapshot::{Flag, Rect, Snapshot, Trait};
use super::{folding, label};

/// Number by which the longer side of the screen is divided to get the maximum distance between a caption and the
/// control below it.
const ABOVE_DIVISOR: i32 = 40;
/// Number by which the longer side of the screen is divided to get the maximum distance between a caption and the field
/// beside it, on pages that name their controls.
const BESIDE_DIVISOR: i32 = 10;
/// Maximum length of a caption, in characters.
const MAX_CAPTION: usize = 80;
/// Minimum number of words of a sentence.
const MIN_SENTENCE: usize = 4;

/// Sets the names of refs that have no label.
pub(super) fn add_names(snapshot: &Snapshot, refs: &mut [Ref]) {
    let nameless: Vec<usize> = (0..refs.len()).filter(|i| refs[*i].label.title.is_empty()).collect();
    if nameless.is_empty() {
        return;
    }
    let captions = captions(snapshot);
    let controls: Vec<usize> =
        refs.iter().map(|r| r.node).filter(|i| !snapshot.nodes[*i].is(Flag::Scrollable)).collect();
    for i in &nameless {
        let node = refs[*i].node;
        if takes_caption(snapshot, node)
            && let Some(caption) = hint(snapshot, node).or_else(|| caption(snapshot, node, &captions, &controls))
        {
            (refs[*i].name, refs[*i].is_caption) = (Some(caption), true);
        }
    }
    let named: Vec<usize> = nameless.into_iter().filter(|i| refs[*i].name.is_none()).collect();
    add_places(snapshot, refs, &named);
}

/// Returns whether a control can take a caption: a field, a switch or an adjustable control such as a slider.
fn takes_caption(snapshot: &Snapshot, index: usize) -> bool {
    let node = &snapshot.nodes[index];
    node.has(Trait::Adjustable) || matches!(node.role, Role::Field | Role::Switch)
}

/// Returns the first piece of text inside a control, such as the hint of an empty field.
fn hint(snapshot: &Snapshot, index: usize) -> Option<String> {
    let inside =
        snapshot.subtree(index).skip(1).map(|i| &snapshot.nodes[i]).filter(|n| n.is(Flag::Visible) && !n.is_ref());
    inside.into_iter().find_map(|n| label::own_words(n).map(str::to_owned))
}

/// Returns the nodes whose text can be a caption, with that text. A caption occurs only once on the screen, and does
/// not lie in a control of up to four times its height.
fn captions(snapshot: &Snapshot) -> Vec<(usize, &str)> {
    let geometry = snapshot.geometry();
    let stands_alone = |i: usize| {
        let acts = |a: usize| snapshot.nodes[a].is_ref() && !snapshot.nodes[a].is(Flag::Scrollable);
        let large = |a: usize| geometry.shown(a).height() > 4 * geometry.shown(i).height().max(1);
        let node = &snapshot.nodes[i];
        geometry.shown(i).area() > 0
            && !node.is_ref()
            && !node.is(Flag::Editable)
            && snapshot.is_content(node)
            && geometry.hidden_by(&snapshot.nodes, i).is_none()
            && !snapshot.ancestors(i).any(|a| acts(a) && !large(a))
    };
    let texts: Vec<(usize, &str)> = (0..snapshot.nodes.len())
        .filter(|i| stands_alone(*i))
        .filter_map(|i| label::own_words(&snapshot.nodes[i]).map(|t| (i, t.trim())))
        .filter(|(_, t)| t.chars().count() <= MAX_CAPTION && t.chars().any(char::is_alphanumeric) && !is_sentence(t))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    texts.iter().for_each(|(_, t)| *counts.entry(t).or_default() += 1);
    texts.into_iter().filter(|(_, t)| counts[t] == 1).collect()
}

/// Returns whether text is a sentence, such as an instruction above a form, or the row of a table. Neither names a
/// single control.
fn is_sentence(text: &str) -> bool {
    let ends = text.ends_with(['.', '!', '。']) && text.split_whitespace().count() >= MIN_SENTENCE;
    ends || text.contains(" | ")
}

/// Returns the caption of a control: the nearest text in its row, else the text directly above it. No other control may
/// lie between the caption and the control.
fn caption(snapshot: &Snapshot, index: usize, captions: &[(usize, &str)], controls: &[usize]) -> Option<String> {
    let geometry = snapshot.geometry();
    let own = geometry.shown(index);
    let is_field = snapshot.nodes[index].role == Role::Field;
    let longer = geometry.screen().map_or(2400, |s| s.width().max(s.height()));
    let same_window = |i: usize| snapshot.nodes[i].window == snapshot.nodes[index].window;
    let others =
        || controls.iter().copied().filter(|c| *c != index && same_window(*c) && !snapshot.is_inside(index, *c));
    let between = |area: Rect| others().any(|c| geometry.shown(c).overlaps(&area) && !area.encloses(&own));
    let in_row = |text: &Rect| {
        let shared = own.bottom.min(text.bottom) - own.top.max(text.top);
        let apart = text.right <= own.left || text.left >= own.right;
        // The text to the right of a field is a unit, not its name.
        let side = !is_field || text.right <= own.left;
        apart && side && shared * 2 >= own.height().min(text.height())
    };
    let gap = |text: &Rect| (own.left - text.right).max(text.left - own.right);
    let near = captions
        .iter()
        .filter(|(i, _)| same_window(*i) && !snapshot.is_inside(*i, index))
        .map(|(i, t)| (geometry.shown(*i), *t));
    // The captions of fields are often a column.
    let farthest = longer / if is_field { BESIDE_DIVISOR } else { ABOVE_DIVISOR };
    let is_close = |r: &Rect| !snapshot.names_controls || gap(r) <= farthest;
    let row = near.clone().filter(|(r, _)| in_row(r) && is_close(r)).min_by_key(|(r, _)| gap(r)).filter(|(r, _)| {
        let span = Rect {
            left: own.right.min(r.right),
            right: own.left.max(r.left),
            top: own.top.max(r.top),
            bottom: own.bottom.min(r.bottom),
        };
        !others().any(|c| geometry.shown(c).overlaps(&span) && !is_control_of_row(snapshot, c, index))
    });
    let above = || {
        let is_above = |r: &Rect| {
            r.bottom <= own.top + own.height() / 4
                && r.right > own.left
                && r.left < own.right
                && own.top - r.bottom <= longer / ABOVE_DIVISOR
        };
        near.clone().filter(|(r, _)| is_above(r)).max_by_key(|(r, _)| r.bottom).filter(|(r, _)| {
            !between(Rect { left: own.left.max(r.left), right: own.right.min(r.right), top: r.bottom, bottom: own.top })
        })
    };
    row.or_else(above).map(|(_, text)| text.to_owned())
}

/// Returns whether two controls in one row can share its caption: they have the same role, and controls with this role
/// can take captions.
fn is_control_of_row(snapshot: &Snapshot, one: usize, other: usize) -> bool {
    takes_caption(snapshot, one) && snapshot.nodes[one].role == snapshot.nodes[other].role
}

/// Names refs by their place on the screen, such as `top left`. Several refs at one place are numbered in reading
/// order.
fn add_places(snapshot: &Snapshot, refs: &mut [Ref], nameless: &[usize]) {
    let Some(screen) = snapshot.geometry().screen() else { return };
    let third = |at: i32, from: i32, size: i32| if size <= 0 { 1 } else { ((at - from) * 3 / size).clamp(0, 2) };
    let place = |index: usize| {
        let (x, y) = snapshot.geometry().shown(index).center();
        match (third(y, screen.top, screen.height()), third(x, screen.left, screen.width())) {
            (0, 0) => "top left",
            (0, 1) => "top",
            (0, _) => "top right",
            (1, 0) => "left",
            (1, 1) => "center",
            (1, _) => "right",
            (_, 0) => "bottom left",
            (_, 1) => "bottom",
            (_, _) => "bottom right",
        }
    };
    let is_placed = |i: usize| {
        let node = &snapshot.nodes[refs[i].node];
        // A container needs no name.
        node.role != Role::List && snapshot.geometry().shown(refs[i].node).area() > 0
    };
    let placed: Vec<(usize, &str)> =
        nameless.iter().copied().filter(|i| is_placed(*i)).map(|i| (i, place(refs[i].node))).collect();
    let mut met: HashMap<&str, usize> = HashMap::new();
    for (i, place) in &placed {
        let nth = met.entry(place).or_default();
        *nth += 1;
        let several = placed.iter().filter(|(_, p)| p == place).count() > 1;
        refs[*i].name = Some(if several { format!("{place} {nth}") } else { (*place).to_owned() });
    }
}

/// Returns the displayed name of an element: its title or else its name. Returns `None` if it has neither, or if the
/// displayed name consists only of icon characters.
pub fn called(r: &Ref) -> Option<&str> {
    (!r.label.title.is_empty()).then_some(r.label.title.as_str()).or(r.name.as_deref()).filter(|t| !folding::is_icon(t))
}
