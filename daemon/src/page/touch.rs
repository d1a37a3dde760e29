//! Touch points: where to touch a node so that the touch reaches it and nothing else.
//!
//! A node is touched at its centre, or at the centre of the largest part of it that nothing covers. It is covered by anything
//! in a higher window, and by later nodes of its own window that take touches themselves; nodes that only show something let
//! touches through. A focused app window above it takes every touch, like a modal dialog.

use afd_proto::vocabulary::Point;

use super::snapshot::{Flag, Node, Rect, Snapshot, WindowKind};

/// Maximum number of covering nodes that are subtracted from a target; more heavily covered targets are given up.
const MAX_BLOCKERS: usize = 200;
/// Minimum width and height of a free part, device pixels: a finger needs some room.
const MIN_FREE: i32 = 4;

/// Returns the centre of a node, or that of its largest uncovered part, so that a touch there reaches the node. Parts that are
/// off the screen do not count.
///
/// # Errors
/// The node that covers its centre, when it is covered everywhere.
pub fn point(snapshot: &Snapshot, index: usize) -> Result<Point, usize> {
    let whole = snapshot.nodes[index].bounds;
    let shown = on_screen(snapshot, whole);
    // A node that is completely off the screen keeps its own centre.
    let bounds = if shown.area() > 0 && shown.width() > 0 { shown } else { whole };
    let middle = middle(&bounds);
    if let Some(over) = modal_over(snapshot, index) {
        return Err(blocker(snapshot, index, &middle).unwrap_or(over));
    }
    let Some(over) = blocker(snapshot, index, &middle) else { return Ok(middle) };
    let blockers: Vec<Rect> =
        (0..snapshot.nodes.len()).filter(|i| blocks(snapshot, index, *i)).map(|i| snapshot.nodes[i].bounds).take(MAX_BLOCKERS).collect();
    let point = self::middle(&largest_free(&bounds, &blockers).ok_or(over)?);
    // Blockers beyond the limit were not subtracted.
    blocker(snapshot, index, &point).map_or(Ok(point), Err)
}

fn middle(r: &Rect) -> Point {
    Point { x: f64::midpoint(r.left.into(), r.right.into()), y: f64::midpoint(r.top.into(), r.bottom.into()) }
}

/// Returns a node of a modal window above a node: a focused app window takes every touch, even outside its own bounds.
fn modal_over(snapshot: &Snapshot, index: usize) -> Option<usize> {
    modal_above(snapshot, snapshot.nodes[index].window)
}

/// Returns which windows lie behind a modal one.
pub(super) fn behind_modal(snapshot: &Snapshot) -> Vec<bool> {
    (0..snapshot.windows.len()).map(|window| modal_above(snapshot, window).is_some()).collect()
}

fn modal_above(snapshot: &Snapshot, own: usize) -> Option<usize> {
    let layer = snapshot.windows.get(own)?.layer;
    let modal = |w: &usize| {
        let window = &snapshot.windows[*w];
        window.focused && window.kind == WindowKind::Application && window.layer > layer && overlap(snapshot, *w, own)
    };
    let window = (0..snapshot.windows.len()).find(modal)?;
    (0..snapshot.nodes.len()).find(|i| snapshot.nodes[*i].window == window && snapshot.nodes[*i].is(Flag::Visible))
}

/// Returns whether two windows share a part of the screen; windows side by side do not.
fn overlap(snapshot: &Snapshot, a: usize, b: usize) -> bool {
    let extent = |window: usize| {
        let shown = snapshot.nodes.iter().filter(|n| n.window == window && n.is(Flag::Visible) && n.bounds.area() > 0);
        shown.map(|n| n.bounds).reduce(|a, b| Rect {
            left: a.left.min(b.left),
            top: a.top.min(b.top),
            right: a.right.max(b.right),
            bottom: a.bottom.max(b.bottom),
        })
    };
    let (Some(a), Some(b)) = (extent(a), extent(b)) else { return false };
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

fn on_screen(snapshot: &Snapshot, bounds: Rect) -> Rect {
    let Some((width, height)) = snapshot.size.filter(|(w, h)| *w > 0 && *h > 0) else { return bounds };
    Rect { left: bounds.left.max(0), top: bounds.top.max(0), right: bounds.right.min(width), bottom: bounds.bottom.min(height) }
}

/// Returns the free part of a rectangle whose shorter side is longest; among equal ones the largest.
///
/// Each blocker splits every free part into what lies left, right, above and below of it, at full length. The parts overlap, so
/// the largest is always among them.
fn largest_free(target: &Rect, blockers: &[Rect]) -> Option<Rect> {
    let mut free = vec![*target];
    for b in blockers {
        let mut rest = Vec::with_capacity(free.len());
        for f in free {
            if b.left >= f.right || b.right <= f.left || b.top >= f.bottom || b.bottom <= f.top {
                rest.push(f);
                continue;
            }
            let parts =
                [Rect { right: b.left, ..f }, Rect { left: b.right, ..f }, Rect { bottom: b.top, ..f }, Rect { top: b.bottom, ..f }];
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

/// Returns the rank of a rectangle: its shorter side, then its area.
fn size(r: &Rect) -> (i32, i64) {
    (r.width().min(r.height()), r.area())
}

/// Returns the node that would take a touch at this point instead.
fn blocker(snapshot: &Snapshot, index: usize, p: &Point) -> Option<usize> {
    (0..snapshot.nodes.len()).rev().find(|i| snapshot.nodes[*i].bounds.contains(p.x, p.y) && blocks(snapshot, index, *i))
}

/// Returns whether another node takes touches that are meant for a node: anything in a higher window, or a later node of the
/// same window that takes touches itself. Nodes that only show something let touches through.
fn blocks(snapshot: &Snapshot, index: usize, other: usize) -> bool {
    let node = &snapshot.nodes[other];
    let window = |i: usize| snapshot.windows.get(snapshot.nodes[i].window);
    let layer = |i: usize| window(i).map_or(i64::MIN, |w| w.layer);
    if other == index || !node.is(Flag::Visible) || window(other).is_some_and(|w| w.kind == WindowKind::Overlay) {
        return false;
    }
    if node.window != snapshot.nodes[index].window {
        return layer(other) > layer(index);
    }
    let takes = node.is_ref() && [Flag::Clickable, Flag::LongClickable, Flag::Editable].into_iter().any(|f| node.is(f));
    other > index && takes
}

/// Returns the deepest visible node at a point, in the topmost window that has one there.
pub fn node_at(snapshot: &Snapshot, x: f64, y: f64) -> Option<usize> {
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

/// Returns the node that a touch at a point acts on: the deepest one, or its nearest clickable ancestor.
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
        let blockers: Vec<Rect> =
            blockers.iter().map(|[left, top, right, bottom]| Rect { left: *left, top: *top, right: *right, bottom: *bottom }).collect();
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
            let (x, y) = (f64::midpoint(found.left.into(), found.right.into()), f64::midpoint(found.top.into(), found.bottom.into()));
            assert!(TARGET.contains(x, y));
            for [left, top, right, bottom] in &blockers {
                let covered = Rect { left: *left, top: *top, right: *right, bottom: *bottom }.contains(x, y);
                assert!(!covered, "{found:?} in {blockers:?}");
            }
        }
    }
}
