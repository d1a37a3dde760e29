//! Where to touch a node so that the touch reaches it and nothing else.

use afd_proto::vocabulary::Point;

use super::snapshot::{Flag, Node, Snapshot, WindowKind};

/// The middle of a node, or another point of it where a touch reaches it.
///
/// # Errors
/// The node that lies over its middle, when it is covered everywhere.
pub fn point(snapshot: &Snapshot, index: usize) -> Result<Point, usize> {
    let bounds = snapshot.nodes[index].bounds;
    let at = |fx: f64, fy: f64| Point {
        x: f64::from(bounds.left) + f64::from(bounds.width()) * fx,
        y: f64::from(bounds.top) + f64::from(bounds.height()) * fy,
    };
    const SPOTS: [(f64, f64); 9] =
        [(0.5, 0.5), (0.25, 0.5), (0.1, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75), (0.1, 0.1), (0.9, 0.1), (0.1, 0.9)];
    let free = SPOTS.into_iter().map(|(x, y)| at(x, y)).find(|p| blocker(snapshot, index, p).is_none());
    free.ok_or_else(|| blocker(snapshot, index, &at(0.5, 0.5)).unwrap_or(index))
}

/// What would take a touch at this point instead: anything in a higher window, or in the same window a later node that takes
/// touches itself. What merely shows something lets a touch through.
fn blocker(snapshot: &Snapshot, index: usize, p: &Point) -> Option<usize> {
    let layer = |i: usize| snapshot.windows.get(snapshot.nodes[i].window).map_or(i64::MIN, |w| w.layer);
    let takes = |node: &Node| node.is_ref() && [Flag::Clickable, Flag::LongClickable, Flag::Editable].into_iter().any(|f| node.is(f));
    (0..snapshot.nodes.len()).rev().find(|i| {
        let node = &snapshot.nodes[*i];
        let overlay = snapshot.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Overlay);
        if *i == index || overlay || !node.is(Flag::Visible) || !node.bounds.contains(p.x, p.y) {
            return false;
        }
        let same_window = node.window == snapshot.nodes[index].window;
        if same_window { *i > index && takes(node) } else { layer(*i) > layer(index) }
    })
}

/// The deepest visible node under a point, in the topmost window that has one there.
pub fn under(snapshot: &Snapshot, x: f64, y: f64) -> Option<usize> {
    let hits = |i: &usize| {
        let node: &Node = &snapshot.nodes[*i];
        node.is(Flag::Visible)
            && node.bounds.contains(x, y)
            && snapshot.windows.get(node.window).is_some_and(|w| w.kind != WindowKind::Overlay)
    };
    let layer = |i: &usize| snapshot.windows[snapshot.nodes[*i].window].layer;
    let found: Vec<usize> = (0..snapshot.nodes.len()).filter(hits).collect();
    let top = found.iter().map(layer).max()?;
    found.into_iter().rfind(|i| layer(i) == top)
}

/// The node that a touch under a point would act on: the deepest one, or the nearest above it that takes taps.
pub fn acts_on(snapshot: &Snapshot, x: f64, y: f64) -> Option<usize> {
    let deepest = under(snapshot, x, y)?;
    std::iter::once(deepest)
        .chain(snapshot.ancestors(deepest))
        .find(|i| snapshot.nodes[*i].is_ref() && snapshot.nodes[*i].is(Flag::Clickable))
        .or(Some(deepest))
}
