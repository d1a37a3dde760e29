//! The screen model: windows with trees of accessibility nodes.

use crate::app::Action;

/// A rectangle in device pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    /// Left edge.
    pub l: i32,
    /// Top edge.
    pub t: i32,
    /// Right edge, exclusive.
    pub r: i32,
    /// Bottom edge, exclusive.
    pub b: i32,
}

impl Rect {
    /// Creates a rectangle from its edges.
    pub const fn new(l: i32, t: i32, r: i32, b: i32) -> Self {
        Self { l, t, r, b }
    }

    /// Returns width times height; 0 if the edges are inverted.
    pub fn area(&self) -> i64 {
        i64::from((self.r - self.l).max(0)) * i64::from((self.b - self.t).max(0))
    }

    /// Returns the centre.
    pub fn center(&self) -> (f32, f32) {
        ((self.l + self.r) as f32 / 2.0, (self.t + self.b) as f32 / 2.0)
    }

    /// Returns whether a point lies inside.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        x >= self.l as f32 && x < self.r as f32 && y >= self.t as f32 && y < self.b as f32
    }

    /// Returns the intersection with another rectangle; its edges may be inverted.
    pub fn clip(&self, other: &Rect) -> Rect {
        Rect::new(self.l.max(other.l), self.t.max(other.t), self.r.min(other.r), self.b.min(other.b))
    }

    /// Returns the rectangle moved by an offset.
    pub fn shift(&self, dx: i32, dy: i32) -> Rect {
        Rect::new(self.l + dx, self.t + dy, self.r + dx, self.b + dy)
    }

    /// Formats the rectangle as `l,t,r,b`.
    pub fn text(&self) -> String {
        format!("{},{},{},{}", self.l, self.t, self.r, self.b)
    }
}

/// What a tap on a node does.
#[derive(Debug, Clone)]
pub enum OnTap {
    /// Runs an action of the app's data file.
    Run(Action),
    /// Moves the input focus to the text field bound to this variable.
    Focus(String),
    /// Presses Back.
    Back,
    /// Presses Home.
    Home,
}

/// A node of the accessibility tree.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Full resource id.
    pub res_id: Option<String>,
    /// Full class name.
    pub class: String,
    /// Text.
    pub text: Option<String>,
    /// Content description.
    pub desc: Option<String>,
    /// Position on the screen.
    pub bounds: Rect,
    /// Can be tapped.
    pub clickable: bool,
    /// Can be long-pressed.
    pub long_clickable: bool,
    /// Can receive the input focus.
    pub focusable: bool,
    /// Can be scrolled.
    pub scrollable: bool,
    /// Accepts text input.
    pub editable: bool,
    /// Not enabled.
    pub disabled: bool,
    /// Not visible to the user.
    pub hidden: bool,
    /// Drawn above its siblings, regardless of their order.
    pub elevated: bool,
    /// Texts drawn on the node that are not in the accessibility tree, with their positions.
    pub painted: Vec<(String, Rect)>,
    /// What a tap does.
    pub on_tap: Option<OnTap>,
    /// Child nodes.
    pub children: Vec<Node>,
}

impl Node {
    /// Creates a node without text or action.
    pub fn new(class: &str, bounds: Rect) -> Self {
        Self { class: class.to_owned(), bounds, ..Self::default() }
    }

    /// Sets the resource id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.res_id = Some(id.into());
        self
    }

    /// Sets the text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets the content description.
    pub fn desc(mut self, desc: impl Into<String>) -> Self {
        self.desc = Some(desc.into());
        self
    }

    /// Makes the node clickable and focusable, and sets what a tap does.
    pub fn tap(mut self, on_tap: OnTap) -> Self {
        self.clickable = true;
        self.focusable = true;
        self.on_tap = Some(on_tap);
        self
    }

    /// Sets the child nodes.
    pub fn with(mut self, children: Vec<Node>) -> Self {
        self.children = children;
        self
    }

    /// Returns whether a client may want to act on the node.
    pub fn interactive(&self) -> bool {
        self.clickable || self.long_clickable || self.editable || self.scrollable
    }

    /// Returns whether the node is the field that a variable is bound to.
    pub fn binds(&self, variable: Option<&str>) -> bool {
        matches!((&self.on_tap, variable), (Some(OnTap::Focus(own)), Some(variable)) if own == variable)
    }

    /// Moves the node and its descendants.
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
    /// Android's window id.
    pub id: i64,
    /// `APPLICATION`, `SYSTEM`, `INPUT_METHOD` or `ACCESSIBILITY_OVERLAY`.
    pub kind: &'static str,
    /// Package.
    pub pkg: String,
    /// Title.
    pub title: Option<String>,
    /// Stacking order; higher layers cover lower ones.
    pub layer: i32,
    /// Whether it has the input focus.
    pub focused: bool,
    /// Root of the node tree.
    pub root: Node,
}

/// The windows on the screen.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Width, in device pixels.
    pub width: i32,
    /// Height, in device pixels.
    pub height: i32,
    /// Pixel density, dots per inch.
    pub density: i32,
    /// Windows in Android's order: the highest layer first.
    pub windows: Vec<Window>,
}

/// A node with the depth and id that follow from its position in the tree.
#[derive(Debug, Clone)]
pub struct Flat<'a> {
    /// Window that contains it.
    pub window: &'a Window,
    /// The node.
    pub node: &'a Node,
    /// Depth in the tree; 0 for the root.
    pub depth: usize,
    /// Node id: `node_` and a hash.
    pub id: String,
}

/// Maximum depth to which the service descends.
const MAX_DEPTH: usize = 100;

impl Scene {
    /// Returns the scene on a screen that is turned by a quarter: everything is as much wider and lower as the screen is.
    pub fn turned(mut self) -> Self {
        fn stretch(node: &mut Node, across: f32, down: f32) {
            let scale = |value: i32, by: f32| (value as f32 * by).round() as i32;
            let of = |r: Rect| Rect::new(scale(r.l, across), scale(r.t, down), scale(r.r, across), scale(r.b, down));
            node.bounds = of(node.bounds);
            node.painted.iter_mut().for_each(|(_, bounds)| *bounds = of(*bounds));
            node.children.iter_mut().for_each(|child| stretch(child, across, down));
        }
        let (width, height) = (self.width as f32, self.height as f32);
        self.windows.iter_mut().for_each(|window| stretch(&mut window.root, height / width, width / height));
        (self.width, self.height) = (self.height, self.width);
        self
    }

    /// Returns the nodes of one window in pre-order. `root` is the parent id from which the id of the root node is
    /// computed.
    pub fn flatten<'a>(window: &'a Window, root: &str) -> Vec<Flat<'a>> {
        fn walk<'a>(
            window: &'a Window,
            node: &'a Node,
            depth: usize,
            index: usize,
            parent: &str,
            out: &mut Vec<Flat<'a>>,
        ) {
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

    /// Returns the nodes of all windows, in Android's window order.
    pub fn flat(&self) -> Vec<Flat<'_>> {
        self.windows.iter().flat_map(|w| Self::flatten(w, &format!("root_w{}", w.id))).collect()
    }

    /// Returns the windows in the order in which refs are collected: the focused one, then from the highest layer down.
    pub fn by_focus(&self) -> Vec<&Window> {
        let mut windows: Vec<&Window> = self.windows.iter().collect();
        windows.sort_by_key(|w| (!w.focused, -w.layer));
        windows
    }

    /// Returns the window that `/nodes/find` searches: the focused one, else the first.
    pub fn active(&self) -> Option<&Window> {
        self.windows.iter().find(|w| w.focused).or_else(|| self.windows.first())
    }

    /// Returns the node that a tap at a point reaches, with its window: the deepest node of the topmost window there
    /// that takes taps or long presses.
    pub fn hit(&self, x: f32, y: f32) -> Option<(&Window, &Node)> {
        fn deepest(node: &Node, x: f32, y: f32) -> Option<&Node> {
            if node.hidden || !node.bounds.contains(x, y) {
                return None;
            }
            front_first(node)
                .find_map(|c| deepest(c, x, y))
                .or_else(|| ((node.clickable || node.long_clickable) && !node.disabled).then_some(node))
        }
        let top = self.window_at(x, y)?;
        deepest(&top.root, x, y).map(|node| (top, node))
    }

    /// Returns the node that is drawn last at a point, whether it is clickable or not.
    pub fn drawn_at(&self, x: f32, y: f32) -> Option<&Node> {
        fn deepest(node: &Node, x: f32, y: f32) -> Option<&Node> {
            if node.hidden || !node.bounds.contains(x, y) {
                return None;
            }
            front_first(node).find_map(|c| deepest(c, x, y)).or(Some(node))
        }
        deepest(&self.window_at(x, y)?.root, x, y)
    }

    /// Returns the topmost window at a point.
    fn window_at(&self, x: f32, y: f32) -> Option<&Window> {
        let mut windows: Vec<&Window> = self.windows.iter().filter(|w| w.kind != "ACCESSIBILITY_OVERLAY").collect();
        windows.sort_by_key(|w| -w.layer);
        windows.into_iter().find(|w| w.root.bounds.contains(x, y))
    }
}

/// Returns the children of a node, frontmost first.
fn front_first(node: &Node) -> impl Iterator<Item = &Node> {
    let of = |elevated: bool| node.children.iter().rev().filter(move |c| c.elevated == elevated);
    of(true).chain(of(false))
}

/// Returns the texts that a user would read in a node and its descendants, joined by commas.
pub fn visible_text(node: &Node) -> String {
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
