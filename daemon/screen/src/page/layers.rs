//! Geometry of windows and nodes: which window is in front, which part of each node is visible, and which nodes are
//! hidden.
//!
//! The visible part of a node is its bounds, clipped to the screen and to each container that scrolls it. It never
//! extends beyond the bounds that the device reports.
//!
//! The drawing order is known between windows (by their layers), between a node and its descendants, and for an overlay
//! that covers its whole window. Between other nodes it is unknown, because the tree is in reading order. A node counts
//! as hidden only if the order is known: a modal window is above its window, or an overlay of its window takes every
//! touch. If two nodes of a window qualify as its overlay, neither is used. [`touch`](super::touch) handles the partial
//! coverage between other nodes.

use super::node::{Flag, Node, Rect, Scene, WindowKind};

/// Maximum depth of a bar, measured from the edge of the screen, in percent of the screen's longer side.
const BAR_PERCENT: i32 = 8;
/// Minimum share of its window that an overlay covers in width and in height, in percent.
const OVERLAY_PERCENT: i32 = 85;
/// Minimum number of keys that a keyboard must expose before it can be recognised as floating from their extent.
const FLOATING_KEYS: usize = 20;
/// Maximum amount by which the screen may exceed the reported size, in percent. The reported size may exclude the
/// system bars.
const BEYOND_PERCENT: i32 = 20;
/// Maximum number of elements per layer that are compared to detect whether two layers of content collide.
const MAX_COMPARED: usize = 100;
/// Words by which the id or class name of a node shows that it is an overlay.
const OVERLAY_WORDS: &[&str] =
    &["dialog", "overlay", "modal", "popup", "interstitial", "lightbox", "paywall", "bottomsheet", "bottom_sheet"];
/// Words by which the id, text or description of a control shows that it closes an overlay.
const CLOSING_WORDS: &[&str] = &[
    "close",
    "dismiss",
    "skip",
    "not now",
    "no thanks",
    "schlie\u{df}en",
    "fermer",
    "cerrar",
    "chiudi",
    "\u{d7}",
    "\u{2715}",
];

/// Side of the screen beyond which an element lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The element lies beyond the left edge.
    Left,
    /// The element lies beyond the right edge.
    Right,
    /// The element lies beyond the top edge.
    Above,
    /// The element lies beyond the bottom edge.
    Below,
}

impl Side {
    /// Returns the name of the side.
    pub fn word(self) -> &'static str {
        match self {
            Side::Left => "left",
            Side::Right => "right",
            Side::Above => "above",
            Side::Below => "below",
        }
    }
}

/// The geometry of the windows and nodes of a screen.
#[derive(Debug, Default)]
pub struct Geometry {
    ends: Vec<usize>,
    shown: Vec<Rect>,
    screen: Option<Rect>,
    extents: Vec<Option<Rect>>,
    front: Option<usize>,
    behind: Vec<Option<usize>>,
    overlay: Option<usize>,
    keyboard: Option<(usize, Rect)>,
}

impl Geometry {
    pub(super) fn of(scene: Scene<'_>) -> Self {
        let screen = screen(scene);
        let mut geometry = Self { ends: ends(scene), shown: shown(scene, screen), screen, ..Self::default() };
        geometry.extents = extents(scene, &geometry.shown);
        geometry.front = front(scene, &geometry.extents);
        geometry.behind = (0..scene.windows.len()).map(|w| modal_above(scene, &geometry.extents, w)).collect();
        geometry.overlay =
            geometry.front.and_then(|window| geometry.find_overlay(scene, window, geometry.extent(window)?));
        let keyboard = (0..scene.windows.len()).find(|w| scene.windows[*w].kind == WindowKind::Keyboard);
        geometry.keyboard = keyboard.and_then(|w| Some((first_node(scene, w)?, geometry.keyboard_area(scene, w)?)));
        geometry
    }

    /// Returns the index after the last descendant of a node.
    pub(super) fn end(&self, index: usize) -> usize {
        self.ends.get(index).copied().unwrap_or(index + 1)
    }

    /// Returns the visible part of a node: the part on the screen and inside the containers that scroll it. Its area is
    /// 0 if no part is visible.
    pub(super) fn shown(&self, index: usize) -> Rect {
        self.shown.get(index).copied().unwrap_or_default()
    }

    /// Returns the rectangle that the screen covers, or `None` if the screen size is unknown.
    pub(super) fn screen(&self) -> Option<Rect> {
        self.screen
    }

    /// Returns the index of the window in front.
    pub(super) fn front(&self) -> Option<usize> {
        self.front
    }

    /// Returns a node of the keyboard and the area that the keyboard covers, or `None` if no keyboard is shown.
    pub(super) fn keyboard(&self) -> Option<(usize, Rect)> {
        self.keyboard
    }

    /// Returns the node that hides another node completely: a node of a modal window above the other node's window, or
    /// an overlay in its window.
    pub(super) fn hidden_by(&self, nodes: &[Node], index: usize) -> Option<usize> {
        let window = nodes[index].window;
        if let Some(modal) = self.behind.get(window).copied().flatten() {
            return Some(modal);
        }
        let overlay = self.overlay.filter(|o| nodes[*o].window == window)?;
        let related = self.is_inside(index, overlay) || self.is_inside(overlay, index);
        (!related).then_some(overlay)
    }

    fn is_inside(&self, index: usize, container: usize) -> bool {
        (container..self.end(container)).contains(&index)
    }

    /// Returns the smallest rectangle that contains the visible parts of a window's nodes, or `None` if none is
    /// visible.
    pub(super) fn extent(&self, window: usize) -> Option<Rect> {
        self.extents.get(window).copied().flatten()
    }

    /// Returns the area that a keyboard covers: the width of the screen, from the top edge of the keyboard down. A
    /// keyboard may expose few of its keys, so their extent alone can be too small. A floating keyboard covers only the
    /// extent of its keys: a keyboard floats if it exposes at least [`FLOATING_KEYS`] keys, on less than 80 % of the
    /// screen's width.
    fn keyboard_area(&self, scene: Scene<'_>, window: usize) -> Option<Rect> {
        let extent = self.extent(window)?;
        let screen = self.screen.unwrap_or(extent);
        let keys = scene.nodes.iter().filter(|n| n.window == window && n.is(Flag::Visible)).count();
        let floats = keys >= FLOATING_KEYS && extent.width() * 100 < screen.width() * 80;
        let below = Rect { left: screen.left, right: screen.right, bottom: screen.bottom.max(extent.bottom), ..extent };
        Some(if floats { extent } else { below })
    }

    /// Finds the overlay of a window. A candidate covers the window, takes touches or is named as an overlay, does not
    /// scroll, and has content beside it in the tree. There must be exactly one candidate, and it must have content of
    /// its own. It is an overlay if it is named as one. It is also an overlay if it contains a control that closes it
    /// and at least two elements that collide with the content beside it.
    fn find_overlay(&self, scene: Scene<'_>, window: usize, extent: Rect) -> Option<usize> {
        let covers = |i: usize| {
            let shown = self.shown(i);
            shown.width() * 100 >= extent.width() * OVERLAY_PERCENT
                && shown.height() * 100 >= extent.height() * OVERLAY_PERCENT
        };
        let nodes = || (0..scene.nodes.len()).filter(|i| scene.nodes[*i].window == window && self.shown(*i).area() > 0);
        let is_element = |i: &usize| scene.nodes[*i].is_ref() || has_words(&scene.nodes[*i]);
        let mut found = None;
        let mut next = 0;
        for index in nodes().filter(|i| covers(*i)) {
            // Skip nodes inside a candidate.
            if index < next {
                continue;
            }
            let node = &scene.nodes[index];
            let takes = takes_touches(node);
            let named = takes || names_overlay(node);
            let beside: Vec<usize> = nodes()
                .filter(|i| !self.is_inside(*i, index) && !self.is_inside(index, *i))
                .filter(is_element)
                .take(MAX_COMPARED)
                .collect();
            if !named || node.is(Flag::Scrollable) || beside.is_empty() {
                continue;
            }
            if found.is_some() {
                // The order of two candidates is unknown.
                return None;
            }
            found = Some((index, beside));
            next = self.end(index);
        }
        let (overlay, beside) = found?;
        let inside: Vec<usize> = (overlay..self.end(overlay)).filter(|i| self.shown(*i).area() > 0).collect();
        let says_so = inside.iter().any(|i| covers(*i) && names_overlay(&scene.nodes[*i]));
        let closes =
            || inside.iter().any(|i| scene.nodes[*i].is_ref() && *i != overlay && names_closing(&scene.nodes[*i]));
        let elements: Vec<usize> = inside
            .iter()
            .copied()
            .filter(|i| *i != overlay && !covers(*i))
            .filter(is_element)
            .take(MAX_COMPARED)
            .collect();
        let collide = |a: &usize, b: &usize| {
            let (a, b) = (self.shown(*a), self.shown(*b));
            a.intersection(&b).area() * 2 > a.area().min(b.area())
        };
        let collisions = || elements.iter().filter(|a| beside.iter().any(|b| collide(a, b))).count();
        let has_content = !elements.is_empty();
        (has_content && (says_so || (closes() && collisions() >= 2))).then_some(overlay)
    }
}

/// Returns whether a node takes touches itself, regardless of whether it is enabled.
pub(super) fn takes_touches(node: &Node) -> bool {
    [Flag::Clickable, Flag::LongClickable, Flag::Editable].into_iter().any(|f| node.is(f))
}

pub(super) fn has_words(node: &Node) -> bool {
    [&node.text, &node.desc].into_iter().flatten().any(|t| !t.trim().is_empty())
}

fn names_overlay(node: &Node) -> bool {
    let id = node.id_name().unwrap_or_default().to_lowercase();
    let class = node.class.to_lowercase();
    OVERLAY_WORDS.iter().any(|w| id.contains(w) || class.contains(w))
}

fn names_closing(node: &Node) -> bool {
    let words = [node.text.as_deref(), node.desc.as_deref(), node.id_name()];
    let folded = words.into_iter().flatten().map(|w| w.trim().to_lowercase());
    folded.into_iter().any(|text| {
        CLOSING_WORDS
            .iter()
            .any(|w| text == *w || text.starts_with(&format!("{w} ")) || text.ends_with(&format!("_{w}")))
    })
}

/// Returns, for each node, the index after its last descendant; nodes are in pre-order.
fn ends(scene: Scene<'_>) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=scene.nodes.len()).collect();
    for i in (0..scene.nodes.len()).rev() {
        if let Some(parent) = scene.nodes[i].parent.filter(|p| *p < i) {
            ends[parent] = ends[parent].max(ends[i]);
        }
    }
    ends
}

/// Returns the rectangle of the screen: the reported size, extended to the bars and root nodes that reach up to
/// [`BEYOND_PERCENT`] percent beyond it.
fn screen(scene: Scene<'_>) -> Option<Rect> {
    let (width, height) = scene.size.filter(|(w, h)| *w > 0 && *h > 0)?;
    let beyond = |size: i32, edge: i32| {
        edge > size && i64::from(edge) * 100 <= i64::from(size) * i64::from(100 + BEYOND_PERCENT)
    };
    let mut screen = Rect { left: 0, top: 0, right: width, bottom: height };
    for node in scene.nodes.iter().filter(|n| n.is(Flag::Visible)) {
        let root = node.parent.is_none() && node.bounds.left <= 0 && node.bounds.top <= 0;
        if root || scene.kind_of(node) == WindowKind::Bar {
            if beyond(width, node.bounds.right) {
                screen.right = screen.right.max(node.bounds.right);
            }
            if beyond(height, node.bounds.bottom) {
                screen.bottom = screen.bottom.max(node.bounds.bottom);
            }
        }
    }
    Some(screen)
}

/// Returns the visible part of each node.
fn shown(scene: Scene<'_>, screen: Option<Rect>) -> Vec<Rect> {
    let everything = Rect { left: i32::MIN, top: i32::MIN, right: i32::MAX, bottom: i32::MAX };
    let screen = screen.unwrap_or(everything);
    // The rectangle to which the children of each node are clipped.
    let mut clips: Vec<Rect> = Vec::with_capacity(scene.nodes.len());
    let mut shown = Vec::with_capacity(scene.nodes.len());
    for (i, node) in scene.nodes.iter().enumerate() {
        let clip = node.parent.filter(|p| *p < i).map_or(screen, |p| clips[p]);
        let visible = node.bounds.intersection(&clip);
        clips.push(if node.is(Flag::Scrollable) && node.bounds.area() > 0 { visible } else { clip });
        shown.push(if node.is(Flag::Visible) && visible.area() > 0 { visible } else { Rect::default() });
    }
    shown
}

fn extents(scene: Scene<'_>, shown: &[Rect]) -> Vec<Option<Rect>> {
    let mut extents: Vec<Option<Rect>> = vec![None; scene.windows.len()];
    for (node, shown) in scene.nodes.iter().zip(shown).filter(|(_, shown)| shown.area() > 0) {
        if let Some(extent) = extents.get_mut(node.window) {
            *extent = Some(extent.map_or(*shown, |e| e.union(shown)));
        }
    }
    extents
}

/// Returns the window in front, among the pages that show something: the focused page, else the topmost page of the
/// foreground app, else the topmost page.
fn front(scene: Scene<'_>, extents: &[Option<Rect>]) -> Option<usize> {
    let shows = |w: &usize| scene.windows[*w].kind == WindowKind::Page && extents[*w].is_some();
    (0..scene.windows.len()).filter(shows).max_by_key(|w| {
        let window = &scene.windows[*w];
        (window.focused, scene.app == Some(window.app.as_str()), window.layer, std::cmp::Reverse(*w))
    })
}

fn first_node(scene: Scene<'_>, window: usize) -> Option<usize> {
    (0..scene.nodes.len()).find(|i| scene.nodes[*i].window == window && scene.nodes[*i].is(Flag::Visible))
}

/// Returns a node of the modal window above a window. A focused page on a higher layer takes every touch, even outside
/// its own bounds. Windows side by side do not cover each other.
fn modal_above(scene: Scene<'_>, extents: &[Option<Rect>], own: usize) -> Option<usize> {
    let own_extent = extents[own]?;
    if scene.windows[own].kind != WindowKind::Page {
        return None;
    }
    let modal = |w: &usize| {
        let window = &scene.windows[*w];
        window.focused
            && window.kind == WindowKind::Page
            && window.layer > scene.windows[own].layer
            && extents[*w].is_some_and(|e| e.overlaps(&own_extent))
    };
    (0..scene.windows.len()).find(modal).and_then(|w| first_node(scene, w))
}

/// Returns whether an unfocused window is a bar: the whole window lies at one edge of the screen. Returns `None` if the
/// window shows nothing or the screen size is unknown.
pub fn is_bar(scene: Scene<'_>, window: usize) -> Option<bool> {
    let (width, height) = scene.size.filter(|(w, h)| *w > 0 && *h > 0)?;
    let screen = Rect { left: 0, top: 0, right: width, bottom: height };
    let visible = |n: &&Node| n.window == window && n.is(Flag::Visible) && n.bounds.area() > 0;
    // A window beyond the reported size is a bar that the size excludes.
    let extent = scene.nodes.iter().filter(visible).map(|n| n.bounds).reduce(|a, b| a.union(&b))?;
    let depth = width.max(height) * BAR_PERCENT / 100;
    let tall = extent.height() * 2 >= height;
    let at_side = extent.right <= depth || extent.left >= screen.right - depth;
    Some(extent.bottom <= depth || extent.top >= screen.bottom - depth || (tall && at_side))
}
