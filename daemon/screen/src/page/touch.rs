//! Touch points: where to touch a node so that the touch reaches it and nothing else.
//!
//! A touch goes to the centre of a node's visible part or, if that point is covered, to the centre of the largest
//! uncovered part. A node can be covered by the keyboard, by nodes of higher windows, by the whole extent of higher
//! pages and banners, and by descendants that take touches themselves. Nodes of the same window that only display
//! content let touches through. If a single descendant that takes touches fills the node, that descendant receives the
//! touch.
//!
//! The drawing order of two nodes of one window is unknown unless one lies inside the other, so there are two passes.
//! The first pass avoids every overlapping node that takes touches. If that leaves no free point, the second pass
//! assumes that the later node in the tree is in front.
//!
//! Invariant: a point is returned only after a check that no known node, window or keyboard would take the touch there,
//! under the drawing order that the pass assumes. Otherwise the result is an [`Obstacle`].
//!
//! The thresholds are the constants below. `MIN_FREE` leaves room for a finger, and `EDGE_DIVISOR` excludes an edge of
//! less than 24 pixels on a screen whose shorter side has 1080 pixels. The unit tests check randomly covered targets,
//! and `tests/e2e/field/places.rs` checks whole screens.

use afd_proto::vocabulary::Point;

use super::layers::{Side, has_words, takes_touches};
use super::snapshot::{Flag, Node, Rect, Snapshot, WindowKind};

/// Maximum number of covering areas that are subtracted from a target. The resulting point is checked against all
/// covering areas, so a target with more of them may count as covered although part of it is free.
const MAX_BLOCKERS: usize = 200;
/// Minimum width and height of an uncovered part that can be touched, in device pixels. A finger needs some room.
const MIN_FREE: i32 = 4;
/// Number by which the screen's shorter side is divided to get the minimum width or height of a visible edge of a
/// target. A smaller edge cannot be touched.
const EDGE_DIVISOR: i32 = 45;
/// Distance by which a banner is assumed to extend beyond its visible nodes, in device pixels.
const BANNER_MARGIN: i32 = 40;
/// Minimum share of a node's area that a descendant must cover to fill the node, in percent.
const FILLS_PERCENT: i64 = 80;

/// The reason why a node cannot be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Another node would receive the touch; holds the index of that node.
    Covered(usize),
    /// The whole node is out of sight; holds the side of the screen or scroll container beyond which it lies.
    OffScreen(Side),
    /// Only an edge of the node is in sight; holds the width or height of the visible edge, in device pixels.
    Edge(i32),
}

/// A touch point and the node that receives the touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Point to touch, in device pixels.
    pub point: Point,
    /// Index of the node that receives the touch: the target, or the descendant that fills it.
    pub receiver: usize,
}

/// Returns the point at which a touch reaches a node. If the target was named by text inside it, `text` is the node
/// with that text, and the touch goes to that node's place.
///
/// # Errors
/// Returns the obstacle that prevents the touch.
pub fn touch(snapshot: &Snapshot, index: usize, text: Option<usize>) -> Result<Touch, Obstacle> {
    let geometry = snapshot.geometry();
    if let Some(over) = geometry.hidden_by(&snapshot.nodes, index) {
        let there = blocker(snapshot, index, &middle(&geometry.shown(index)), Order::Unknown);
        return Err(Obstacle::Covered(there.filter(|_| geometry.shown(index).area() > 0).unwrap_or(over)));
    }
    let area = match text.map(|text| geometry.shown(text)).filter(|r| r.area() > 0) {
        Some(text) if geometry.shown(index).area() > 0 => text.intersection(&geometry.shown(index)),
        _ => geometry.shown(index),
    };
    // Many toolkits do not pass a touch to the part of a node that lies outside its parent.
    let area = snapshot.ancestors(index).map(|a| snapshot.nodes[a].bounds).fold(area, |area, parent| {
        let inside = area.intersection(&parent);
        if inside.area() > 0 { inside } else { area }
    });
    if area.area() == 0 {
        return Err(Obstacle::OffScreen(side(snapshot, index).unwrap_or(Side::Below)));
    }
    if let Some(pixels) = edge_in_sight(snapshot, index) {
        return Err(Obstacle::Edge(pixels));
    }
    let middle = middle(&area);
    if let Some(filler) = filler(snapshot, index) {
        let free = blocker(snapshot, filler, &middle, Order::Unknown).is_none();
        return if free { Ok(Touch { point: middle, receiver: filler }) } else { touch(snapshot, filler, None) };
    }
    let mut covered = index;
    for order in [Order::Unknown, Order::Tree] {
        let Some(over) = blocker(snapshot, index, &middle, order) else {
            return Ok(Touch { point: middle, receiver: index });
        };
        covered = over;
        let blockers = blockers(snapshot, index, order);
        if let Some(free) = largest_free(&area, &blockers) {
            let point = self::middle(&free);
            // Blockers beyond `MAX_BLOCKERS` were not subtracted.
            if blocker(snapshot, index, &point, order).is_none() {
                return Ok(Touch { point, receiver: index });
            }
        }
    }
    Err(Obstacle::Covered(covered))
}

/// Returns the point at which to touch a node; see [`touch`].
///
/// # Errors
/// Returns the obstacle that prevents the touch.
pub fn point(snapshot: &Snapshot, index: usize) -> Result<Point, Obstacle> {
    touch(snapshot, index, None).map(|t| t.point)
}

fn middle(r: &Rect) -> Point {
    Point { x: f64::midpoint(r.left.into(), r.right.into()), y: f64::midpoint(r.top.into(), r.bottom.into()) }
}

/// Returns the side of the screen, or of a scroll container, beyond which a node lies. Returns `None` if a part of the
/// node is in sight or its position is unknown.
pub fn side(snapshot: &Snapshot, index: usize) -> Option<Side> {
    let geometry = snapshot.geometry();
    let bounds = snapshot.nodes[index].bounds;
    if bounds.area() == 0 || geometry.shown(index).area() > 0 {
        return None;
    }
    let containers =
        snapshot.ancestors(index).filter(|a| snapshot.nodes[*a].is(Flag::Scrollable)).map(|a| snapshot.nodes[a].bounds);
    containers.chain(geometry.screen()).filter(|r| r.area() > 0).find_map(|r| {
        let beyond = [
            (bounds.top >= r.bottom, Side::Below),
            (bounds.bottom <= r.top, Side::Above),
            (bounds.left >= r.right, Side::Right),
            (bounds.right <= r.left, Side::Left),
        ];
        beyond.into_iter().find(|(is, _)| *is).map(|(_, side)| side)
    })
}

/// Returns the visible height or width of a node, in device pixels, if only an edge of the node is in sight because the
/// rest lies outside the screen or the scroll container, or is cut off there. Returns `None` for any other node.
pub fn edge_in_sight(snapshot: &Snapshot, index: usize) -> Option<i32> {
    let geometry = snapshot.geometry();
    let (bounds, shown) = (snapshot.nodes[index].bounds, geometry.shown(index));
    let screen = geometry.screen()?;
    let least = screen.width().min(screen.height()) / EDGE_DIVISOR;
    let clip = snapshot
        .ancestors(index)
        .find(|a| snapshot.nodes[*a].is(Flag::Scrollable))
        .map_or(screen, |a| geometry.shown(a));
    // The device may report bounds that are already clipped to the scroll container.
    let cut = |low: i32, high: i32, from: i32, to: i32| low <= from || high >= to;
    let narrow = |shown: i32, whole: i32, at_edge: bool| shown < least && (shown < whole || at_edge);
    let scrolls = snapshot.ancestors(index).any(|a| snapshot.nodes[a].is(Flag::Scrollable));
    let low = narrow(shown.height(), bounds.height(), scrolls && cut(shown.top, shown.bottom, clip.top, clip.bottom));
    let thin = narrow(shown.width(), bounds.width(), false);
    match (low, thin) {
        (true, _) => Some(shown.height()),
        (false, true) => Some(shown.width()),
        (false, false) => None,
    }
}

/// Returns whether a node can be used without scrolling: the whole node or its centre is in sight, and a touch reaches
/// it.
pub fn is_usable(snapshot: &Snapshot, index: usize) -> bool {
    let geometry = snapshot.geometry();
    let (bounds, shown) = (snapshot.nodes[index].bounds, geometry.shown(index));
    let (x, y) = bounds.center();
    let centre = Point { x: x.into(), y: y.into() };
    (shown == bounds || shown.contains(centre.x, centre.y))
        && edge_in_sight(snapshot, index).is_none()
        && touch(snapshot, index, None).is_ok()
}

/// The assumed drawing order of two nodes that overlap if neither lies inside the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Either of the nodes may be in front.
    Unknown,
    /// The node that comes later in the tree is in front.
    Tree,
}

/// Returns the descendant that fills a node and receives its touches, if there is one. Every other descendant that
/// takes touches must lie inside it.
fn filler(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let geometry = snapshot.geometry();
    let own = geometry.shown(index);
    let mut inside =
        snapshot.subtree(index).skip(1).filter(|i| takes_touches(&snapshot.nodes[*i]) && geometry.shown(*i).area() > 0);
    let first = inside.next()?;
    let fills = geometry.shown(first).intersection(&own).area() * 100 >= own.area() * FILLS_PERCENT;
    let inside_first = |i: usize| snapshot.is_inside(i, first);
    (fills && takes_touches(&snapshot.nodes[index]) && inside.all(inside_first)).then_some(first)
}

/// Returns the uncovered part of a rectangle that has the longest shorter side or, among equals, the largest area.
///
/// Each blocker splits a free part into four parts: to its left, to its right, above it and below it, each at full
/// length. These parts overlap, so the largest is always among them.
fn largest_free(target: &Rect, blockers: &[Rect]) -> Option<Rect> {
    let mut free = vec![*target];
    for b in blockers {
        let mut rest = Vec::with_capacity(free.len());
        for f in free {
            if b.left >= f.right || b.right <= f.left || b.top >= f.bottom || b.bottom <= f.top {
                rest.push(f);
                continue;
            }
            let parts = [
                Rect { right: b.left, ..f },
                Rect { left: b.right, ..f },
                Rect { bottom: b.top, ..f },
                Rect { top: b.bottom, ..f },
            ];
            for part in parts {
                if part.width() >= MIN_FREE && part.height() >= MIN_FREE && !rest.contains(&part) {
                    rest.push(part);
                }
            }
        }
        // Keeping only the best parts bounds the work.
        rest.sort_by_key(|r| std::cmp::Reverse(size(r)));
        rest.truncate(64);
        free = rest;
    }
    free.into_iter().max_by_key(size)
}

/// Returns the key by which free rectangles are ranked: the shorter side, then the area.
fn size(r: &Rect) -> (i32, i64) {
    (r.width().min(r.height()), r.area())
}

/// Returns the node that would take a touch at this point instead of the given node.
fn blocker(snapshot: &Snapshot, index: usize, p: &Point, order: Order) -> Option<usize> {
    if let Some((node, area)) = snapshot.geometry().keyboard().filter(|(_, area)| area.contains(p.x, p.y))
        && is_below(snapshot, index, node)
        && area.area() > 0
    {
        return Some(node);
    }
    let at = |i: &usize| snapshot.geometry().shown(*i).contains(p.x, p.y);
    let node = (0..snapshot.nodes.len()).rev().filter(at).find(|i| blocks(snapshot, index, *i, order));
    node.or_else(|| covering_windows(snapshot, index).find(|(area, _)| area.contains(p.x, p.y)).map(|(_, node)| node))
}

/// Returns the areas of the banners and pages in windows above a node's window, each with one of its nodes. The whole
/// extent of a window counts, because devices leave out the frames around the nodes.
fn covering_windows(snapshot: &Snapshot, index: usize) -> impl Iterator<Item = (Rect, usize)> + '_ {
    let windows = (0..snapshot.windows.len()).filter(move |w| {
        let (window, own) = (&snapshot.windows[*w], snapshot.windows.get(snapshot.nodes[index].window));
        matches!(window.kind, WindowKind::Page | WindowKind::Banner) && own.is_some_and(|own| window.layer > own.layer)
    });
    windows.filter_map(|w| {
        let node = (0..snapshot.nodes.len())
            .find(|i| snapshot.nodes[*i].window == w && snapshot.geometry().shown(*i).area() > 0)?;
        let margin = if snapshot.windows[w].kind == WindowKind::Banner { BANNER_MARGIN } else { 0 };
        Some((snapshot.geometry().extent(w)?.grown(margin), node))
    })
}

/// Returns the areas in which the keyboard, higher windows or other nodes take touches meant for a node; at most
/// [`MAX_BLOCKERS`] areas.
fn blockers(snapshot: &Snapshot, index: usize, order: Order) -> Vec<Rect> {
    let geometry = snapshot.geometry();
    let own = geometry.shown(index);
    let keyboard = geometry.keyboard().filter(|(node, _)| is_below(snapshot, index, *node)).map(|(_, area)| area);
    let near =
        (0..snapshot.nodes.len()).filter(|i| geometry.shown(*i).overlaps(&own) && blocks(snapshot, index, *i, order));
    let windows = covering_windows(snapshot, index).map(|(area, _)| area).filter(|area| area.overlaps(&own));
    keyboard.into_iter().chain(windows).chain(near.map(|i| geometry.shown(i))).take(MAX_BLOCKERS).collect()
}

/// Returns whether a node lies in a lower window than another node.
fn is_below(snapshot: &Snapshot, index: usize, other: usize) -> bool {
    let layer = |i: usize| snapshot.windows.get(snapshot.nodes[i].window).map_or(i64::MIN, |w| w.layer);
    layer(index) < layer(other)
}

/// Returns whether another node takes touches meant for a node: any node in a higher window, or a node of the same
/// window that takes touches itself, regardless of whether it is enabled. Nodes that only display content let touches
/// through.
fn blocks(snapshot: &Snapshot, index: usize, other: usize, order: Order) -> bool {
    let node = &snapshot.nodes[other];
    if other == index || !node.is(Flag::Visible) || snapshot.kind_of(node) == WindowKind::Overlay {
        return false;
    }
    if node.window != snapshot.nodes[index].window {
        return is_below(snapshot, index, other);
    }
    // Plain text is touched directly, so no other text may cover it.
    let hides = takes_touches(node)
        || (!takes_touches(&snapshot.nodes[index]) && has_words(node) && !snapshot.is_inside(other, index));
    if !hides || snapshot.is_inside(index, other) {
        return false;
    }
    // Nodes that an overlay hides take no touches meant for the overlay.
    if snapshot.hidden_by(other).is_some() {
        return false;
    }
    order == Order::Unknown || snapshot.is_inside(other, index) || other > index
}

/// Returns the deepest visible node at a point, in the topmost window that has one there.
pub fn node_at(snapshot: &Snapshot, x: f64, y: f64) -> Option<usize> {
    let hits = |i: &usize| {
        let node: &Node = &snapshot.nodes[*i];
        snapshot.geometry().shown(*i).contains(x, y) && snapshot.kind_of(node) != WindowKind::Overlay
    };
    let layer = |i: &usize| snapshot.windows[snapshot.nodes[*i].window].layer;
    let found: Vec<usize> = (0..snapshot.nodes.len()).filter(hits).collect();
    let top = found.iter().map(layer).max()?;
    found.into_iter().rfind(|i| layer(i) == top)
}

/// Returns the node on which a touch at a point acts: the deepest node there if it is clickable, else its nearest
/// clickable ancestor, else the deepest node.
pub fn touched_node(snapshot: &Snapshot, x: f64, y: f64) -> Option<usize> {
    let deepest = node_at(snapshot, x, y)?;
    std::iter::once(deepest)
        .chain(snapshot.ancestors(deepest))
        .find(|i| snapshot.nodes[*i].is_ref() && snapshot.nodes[*i].is(Flag::Clickable))
        .or(Some(deepest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Rect = Rect { left: 0, top: 0, right: 100, bottom: 100 };

    fn free(blockers: &[[i32; 4]]) -> Option<Rect> {
        let blockers: Vec<Rect> = blockers
            .iter()
            .map(|[left, top, right, bottom]| Rect { left: *left, top: *top, right: *right, bottom: *bottom })
            .collect();
        largest_free(&TARGET, &blockers)
    }

    #[test]
    fn the_largest_free_part_is_found() {
        assert_eq!(free(&[]), Some(TARGET));
        assert_eq!(free(&[[10, 10, 90, 70]]), Some(Rect { top: 70, ..TARGET }), "the strip below");
        assert_eq!(free(&[[0, 0, 100, 40], [0, 60, 100, 100]]), Some(Rect { top: 40, bottom: 60, ..TARGET }));
        assert_eq!(free(&[[0, 0, 100, 100]]), None);
        assert_eq!(free(&[[0, 0, 98, 100]]), None, "two pixels are too few");
    }

    #[test]
    fn result_is_free_for_random_blockers() {
        let mut state = 1_u64;
        let mut next = |below: i32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i32::try_from((state >> 33) % u64::try_from(below).expect("positive")).expect("small")
        };
        for _ in 0..200 {
            let blockers: Vec<[i32; 4]> = (0..next(12))
                .map(|_| {
                    let (left, top) = (next(100) - 10, next(100) - 10);
                    [left, top, left + next(60), top + next(60)]
                })
                .collect();
            let Some(found) = free(&blockers) else { continue };
            let (x, y) = (
                f64::midpoint(found.left.into(), found.right.into()),
                f64::midpoint(found.top.into(), found.bottom.into()),
            );
            assert!(TARGET.contains(x, y));
            for [left, top, right, bottom] in &blockers {
                let covered = Rect { left: *left, top: *top, right: *right, bottom: *bottom }.contains(x, y);
                assert!(!covered, "{found:?} in {blockers:?}");
            }
        }
    }
}
