//! Where to touch a node so that the touch reaches it and nothing else.

use afd_proto::vocabulary::Point;

use super::snapshot::{Flag, Node, Rect, Snapshot, WindowKind};

/// At most this many things that lie over a target are taken apart; what is covered more is not worth looking for.
const MAX_BLOCKERS: usize = 200;
/// A free place must be at least this wide and high, device pixels: a finger is no needle.
const MIN_FREE: i32 = 4;

/// The middle of a node, or the middle of its largest part that nothing covers, so that a touch there reaches it. What is not on
/// the screen is no part of it.
///
/// # Errors
/// The node that lies over its middle, when it is covered everywhere.
pub fn point(snapshot: &Snapshot, index: usize) -> Result<Point, usize> {
    let whole = snapshot.nodes[index].bounds;
    let shown = on_screen(snapshot, whole);
    // What lies off the screen has its middle there.
    let bounds = if shown.area() > 0 && shown.width() > 0 { shown } else { whole };
    let middle = middle(&bounds);
    if let Some(over) = modal_over(snapshot, index) {
        return Err(blocker(snapshot, index, &middle).unwrap_or(over));
    }
    let Some(over) = blocker(snapshot, index, &middle) else { return Ok(middle) };
    let blockers: Vec<Rect> =
        (0..snapshot.nodes.len()).filter(|i| blocks(snapshot, index, *i)).map(|i| snapshot.nodes[i].bounds).take(MAX_BLOCKERS).collect();
    let point = self::middle(&largest_free(&bounds, &blockers).ok_or(over)?);
    // Beyond the limit of blockers nothing was subtracted.
    blocker(snapshot, index, &point).map_or(Ok(point), Err)
}

fn middle(r: &Rect) -> Point {
    Point { x: f64::midpoint(r.left.into(), r.right.into()), y: f64::midpoint(r.top.into(), r.bottom.into()) }
}

/// A node of a dialog over the window of a target: a focused window of an app that lies over it takes every touch, also those
/// outside of itself.
fn modal_over(snapshot: &Snapshot, index: usize) -> Option<usize> {
    let own = snapshot.nodes[index].window;
    let layer = snapshot.windows.get(own)?.layer;
    let modal = |w: &usize| {
        let window = &snapshot.windows[*w];
        window.focused && window.kind == WindowKind::Application && window.layer > layer && overlap(snapshot, *w, own)
    };
    let window = (0..snapshot.windows.len()).find(modal)?;
    (0..snapshot.nodes.len()).find(|i| snapshot.nodes[*i].window == window && snapshot.nodes[*i].is(Flag::Visible))
}

/// Whether two windows share a part of the screen; those that stand side by side do not.
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

/// The free part of a rectangle whose shorter side is longest; among equal ones the largest.
///
/// Takes each blocker in turn and splits every free part into what lies left, right, above and below of it, at full length, so
/// that the parts overlap and the largest is among them.
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
        // The best few are enough, and their number stays bounded.
        rest.sort_by_key(|r| std::cmp::Reverse(size(r)));
        rest.truncate(64);
        free = rest;
    }
    free.into_iter().max_by_key(size)
}

fn size(r: &Rect) -> (i32, i64) {
    (r.width().min(r.height()), r.area())
}

/// What would take a touch at this point instead.
fn blocker(snapshot: &Snapshot, index: usize, p: &Point) -> Option<usize> {
    (0..snapshot.nodes.len()).rev().find(|i| snapshot.nodes[*i].bounds.contains(p.x, p.y) && blocks(snapshot, index, *i))
}

/// Whether a node takes touches that are meant for another one: anything in a higher window, or in the same window a later node
/// that takes touches itself. What merely shows something lets a touch through.
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
    fn what_is_found_is_free_whatever_lies_there() {
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
