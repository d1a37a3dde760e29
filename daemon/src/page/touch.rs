//! Where to touch a node so that the touch reaches it and nothing else.

use afd_proto::vocabulary::Point;

use super::snapshot::{Flag, Node, Snapshot, WindowKind};

/// The middle of a node, or another point of it where no ref inside it and no higher window lies; the middle when there
/// is none.
pub fn point(snapshot: &Snapshot, index: usize) -> Point {
    let bounds = snapshot.nodes[index].bounds;
    let at = |fx: f64, fy: f64| Point {
        x: f64::from(bounds.left) + f64::from(bounds.width()) * fx,
        y: f64::from(bounds.top) + f64::from(bounds.height()) * fy,
    };
    const SPOTS: [(f64, f64); 9] =
        [(0.5, 0.5), (0.25, 0.5), (0.1, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75), (0.1, 0.1), (0.9, 0.1), (0.1, 0.9)];
    SPOTS.into_iter().map(|(x, y)| at(x, y)).find(|p| reaches(snapshot, index, p)).unwrap_or_else(|| at(0.5, 0.5))
}

fn reaches(snapshot: &Snapshot, index: usize, p: &Point) -> bool {
    match under(snapshot, p.x, p.y) {
        None => true,
        Some(hit) => {
            hit == index
                || snapshot.ancestors(hit).take_while(|a| *a != index).chain([hit]).all(|i| i == index || !snapshot.nodes[i].is_ref())
                    && snapshot.ancestors(hit).any(|a| a == index)
        }
    }
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
