//! What is on the screen: windows with trees of nodes.

use crate::app::Do;

/// A rectangle in device pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    /// Left.
    pub l: i32,
    /// Top.
    pub t: i32,
    /// Right.
    pub r: i32,
    /// Bottom.
    pub b: i32,
}

impl Rect {
    /// A rectangle from its edges.
    pub const fn new(l: i32, t: i32, r: i32, b: i32) -> Self {
        Self { l, t, r, b }
    }

    /// Width times height, 0 when it is inside out.
    pub fn area(&self) -> i64 {
        i64::from((self.r - self.l).max(0)) * i64::from((self.b - self.t).max(0))
    }

    /// The middle.
    pub fn center(&self) -> (f32, f32) {
        ((self.l + self.r) as f32 / 2.0, (self.t + self.b) as f32 / 2.0)
    }

    /// Whether a point lies in it.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        x >= self.l as f32 && x < self.r as f32 && y >= self.t as f32 && y < self.b as f32
    }

    /// The part of it inside another.
    pub fn clip(&self, other: &Rect) -> Rect {
        Rect::new(self.l.max(other.l), self.t.max(other.t), self.r.min(other.r), self.b.min(other.b))
    }

    /// Moved by a distance.
    pub fn shift(&self, dx: i32, dy: i32) -> Rect {
        Rect::new(self.l + dx, self.t + dy, self.r + dx, self.b + dy)
    }

    /// `l,t,r,b`.
    pub fn text(&self) -> String {
        format!("{},{},{},{}", self.l, self.t, self.r, self.b)
    }
}

/// What a tap on a node does.
#[derive(Debug, Clone)]
pub enum OnTap {
    /// Runs the data file's instructions.
    Run(Do),
    /// Moves the input focus to the field of this variable.
    Focus(String),
    /// Presses Back.
    Back,
    /// Presses Home.
    Home,
}

/// A node of the accessibility tree.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Resource id, whole.
    pub res_id: Option<String>,
    /// Full class name.
    pub class: String,
    /// Text.
    pub text: Option<String>,
    /// Content description.
    pub desc: Option<String>,
    /// Where it is.
    pub bounds: Rect,
    /// Takes taps.
    pub clickable: bool,
    /// Takes long presses.
    pub long_clickable: bool,
    /// Can take the focus.
    pub focusable: bool,
    /// Scrolls.
    pub scrollable: bool,
    /// Takes text.
    pub editable: bool,
    /// Not enabled.
    pub disabled: bool,
    /// Not visible to the user.
    pub hidden: bool,
    /// Texts that are painted on it and stand in no tree, and where.
    pub painted: Vec<(String, Rect)>,
    /// What a tap does.
    pub on_tap: Option<OnTap>,
    /// Nodes below.
    pub children: Vec<Node>,
}

impl Node {
    /// A node with no text that does nothing.
    pub fn new(class: &str, bounds: Rect) -> Self {
        Self { class: class.to_owned(), bounds, ..Self::default() }
    }

    /// With a resource id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.res_id = Some(id.into());
        self
    }

    /// With a text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// With a content description.
    pub fn desc(mut self, desc: impl Into<String>) -> Self {
        self.desc = Some(desc.into());
        self
    }

    /// Clickable and focusable.
    pub fn tap(mut self, on_tap: OnTap) -> Self {
        self.clickable = true;
        self.focusable = true;
        self.on_tap = Some(on_tap);
        self
    }

    /// With nodes below.
    pub fn with(mut self, children: Vec<Node>) -> Self {
        self.children = children;
        self
    }

    /// Whether a client may want to act on it.
    pub fn interactive(&self) -> bool {
        self.clickable || self.long_clickable || self.editable || self.scrollable
    }

    /// Moves it and all below.
    pub fn shift(&mut self, dx: i32, dy: i32) {
        self.bounds = self.bounds.shift(dx, dy);
        for child in &mut self.children {
            child.shift(dx, dy);
        }
    }
}

/// A window.
#[derive(Debug, Clone)]
pub struct Window {
    /// Android's number for it.
    pub id: i64,
    /// `APPLICATION`, `SYSTEM`, `INPUT_METHOD` or `ACCESSIBILITY_OVERLAY`.
    pub kind: &'static str,
    /// Package.
    pub pkg: String,
    /// Title.
    pub title: Option<String>,
    /// Higher lies over lower.
    pub layer: i32,
    /// Whether input goes to it.
    pub focused: bool,
    /// Its tree.
    pub root: Node,
}

/// A screen full of windows, in Android's order: the highest layer first.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Device pixels.
    pub width: i32,
    /// Device pixels.
    pub height: i32,
    /// Dots per inch.
    pub density: i32,
    /// The windows.
    pub windows: Vec<Window>,
}

/// A node with what follows from its place in the tree.
#[derive(Debug, Clone)]
pub struct Flat<'a> {
    /// Its window.
    pub window: &'a Window,
    /// The node.
    pub node: &'a Node,
    /// 0 for a root.
    pub depth: usize,
    /// `node_` and a hash.
    pub id: String,
}

/// How deep the service looks.
const MAX_DEPTH: usize = 100;

impl Scene {
    /// The nodes of one window in pre-order. `root` is the parent that the root's id is computed with.
    pub fn flatten<'a>(window: &'a Window, root: &str) -> Vec<Flat<'a>> {
        fn walk<'a>(window: &'a Window, node: &'a Node, depth: usize, index: usize, parent: &str, out: &mut Vec<Flat<'a>>) {
            let id = crate::ids::node_id(node, depth, index, parent);
            out.push(Flat { window, node, depth, id: id.clone() });
            if depth < MAX_DEPTH {
                for (i, child) in node.children.iter().enumerate() {
                    walk(window, child, depth + 1, i, &id, out);
                }
            }
        }
        let mut out = Vec::new();
        walk(window, &window.root, 0, 0, root, &mut out);
        out
    }

    /// All nodes of all windows, windows in Android's order.
    pub fn flat(&self) -> Vec<Flat<'_>> {
        self.windows.iter().flat_map(|w| Self::flatten(w, &format!("root_w{}", w.id))).collect()
    }

    /// The windows in the order in which refs are collected: focused first, then the highest layer.
    pub fn by_focus(&self) -> Vec<&Window> {
        let mut windows: Vec<&Window> = self.windows.iter().collect();
        windows.sort_by_key(|w| (!w.focused, -w.layer));
        windows
    }

    /// The window that `/nodes/find` looks at.
    pub fn active(&self) -> Option<&Window> {
        self.windows.iter().find(|w| w.focused).or_else(|| self.windows.first())
    }

    /// The node that a tap at a point reaches: the deepest clickable one of the topmost window there.
    pub fn hit(&self, x: f32, y: f32) -> Option<(&Window, &Node)> {
        fn deepest(node: &Node, x: f32, y: f32) -> Option<&Node> {
            if node.hidden || !node.bounds.contains(x, y) {
                return None;
            }
            node.children.iter().rev().find_map(|c| deepest(c, x, y)).or_else(|| (node.clickable && !node.disabled).then_some(node))
        }
        let mut windows: Vec<&Window> = self.windows.iter().filter(|w| w.kind != "ACCESSIBILITY_OVERLAY").collect();
        windows.sort_by_key(|w| -w.layer);
        let top = windows.into_iter().find(|w| w.root.bounds.contains(x, y))?;
        deepest(&top.root, x, y).map(|node| (top, node))
    }
}

/// What a person would read in a node and below it, joined by commas.
pub fn spoken(node: &Node) -> String {
    fn collect(node: &Node, out: &mut Vec<String>) {
        if let Some(text) = node.text.as_ref().or(node.desc.as_ref()) {
            out.push(text.clone());
        }
        for child in &node.children {
            collect(child, out);
        }
    }
    let mut words = Vec::new();
    collect(node, &mut words);
    words.join(", ")
}
