//! Screen contents in one model for all drivers: windows, nodes and their flags.

use super::layers::Geometry;
pub use super::node::{Flag, Flags, Node, Rect, Scene, Trait, Traits, Window, WindowKind};
use super::published::PageTool;

/// The contents of a screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Package of the app that drew the window in front; `None` while it is unknown.
    pub app: Option<String>,
    /// `package/activity` or URL of the page in front; `None` while it is unknown.
    pub place: Option<String>,
    /// Activity that the device reports as topmost, if it is not the activity of the window in front. A system dialog
    /// may cover it.
    pub activity_below: Option<String>,
    /// Whether the place can be known in this mode. If it cannot, the package is used as a substitute.
    pub place_knowable: bool,
    /// Advice on how to make the place known on the device, if it cannot be known in this mode.
    pub place_advice: Option<&'static str>,
    /// Name of the site that a browser shows; see [`super::site`].
    pub site: Option<String>,
    /// Host of the site, with the port if the address has one.
    pub host: Option<String>,
    /// Hash of the address's path pattern, as 8 hexadecimal digits; `None` for the start page. The path itself is not
    /// kept, because it may have been typed.
    pub path: Option<String>,
    /// Mode in which the device reads the screen.
    pub mode: String,
    /// Reason why the device could read nothing or only part of the screen, if the device reports this problem.
    pub degraded: Option<&'static str>,
    /// Whether the window in front and the place that the device reports belong to different apps.
    pub of_another_app: bool,
    /// Whether the page itself says which text names which control. Only texts close to a control are captions then.
    pub names_controls: bool,
    /// Width and height of the screen in device pixels, if known.
    pub size: Option<(i32, i32)>,
    /// Windows, topmost first.
    pub windows: Vec<Window>,
    /// Nodes of all windows in pre-order.
    pub nodes: Vec<Node>,
    /// Tools that the page in front publishes for agents.
    pub tools: Vec<PageTool>,
    /// The geometry, computed on first use.
    pub geometry: Lazy<Geometry>,
}

/// A value that is computed at most once. Comparisons of the containing value ignore it, and clones compute their own.
#[derive(Debug)]
pub struct Lazy<T>(std::sync::OnceLock<T>);

impl<T> Lazy<T> {
    pub(super) fn get(&self, compute: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(compute)
    }
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(std::sync::OnceLock::new())
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Lazy<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Lazy<T> {}

impl Snapshot {
    /// Returns whether a node belongs to a page, and not to a system bar, a banner, a keyboard or an overlay.
    pub fn is_content(&self, node: &Node) -> bool {
        self.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Page)
    }

    /// Returns the window in front: the focused page, else the topmost page of the foreground app, else the topmost
    /// page.
    pub fn front_window(&self) -> Option<&Window> {
        self.geometry().front().map(|w| &self.windows[w])
    }

    /// Returns whether any window of this kind has a visible node.
    pub fn shows(&self, kind: WindowKind) -> bool {
        self.nodes.iter().any(|n| n.is(Flag::Visible) && self.kind_of(n) == kind)
    }

    /// Returns a view of the windows and nodes from which the geometry can be computed.
    pub fn scene(&self) -> Scene<'_> {
        Scene { windows: &self.windows, nodes: &self.nodes, size: self.size, app: self.app.as_deref() }
    }

    /// Returns the purpose of a node's window, or `Overlay` for a node without a window.
    pub fn kind_of(&self, node: &Node) -> WindowKind {
        self.scene().kind_of(node)
    }

    /// Clears the visible flag of nodes that are entirely off the screen or outside the containers that scroll them,
    /// even if the device reports them as visible. A driver calls this method once its snapshot is complete.
    pub fn hide_what_is_off_screen(&mut self) {
        let hidden: Vec<usize> = (0..self.nodes.len())
            .filter(|i| {
                self.nodes[*i].is(Flag::Visible)
                    && self.nodes[*i].bounds.area() > 0
                    && self.geometry().shown(*i).area() == 0
            })
            .collect();
        for i in hidden {
            self.nodes[i].flags = self.nodes[i].flags.without(Flag::Visible).with(Flag::OutOfSight);
        }
        self.geometry = Lazy::default();
    }

    /// Returns the geometry, computed on first use. The snapshot must not change afterwards.
    pub(super) fn geometry(&self) -> &Geometry {
        self.geometry.get(|| Geometry::of(self.scene()))
    }

    /// Returns the node that hides another node: a node of a modal window above the other node's window, or an overlay
    /// in its window.
    pub fn hidden_by(&self, index: usize) -> Option<usize> {
        self.geometry().hidden_by(&self.nodes, index)
    }

    /// Returns the indices of a node and its descendants.
    pub fn subtree(&self, index: usize) -> std::ops::Range<usize> {
        index..self.geometry().end(index)
    }

    /// Returns whether a node is the container itself or lies inside it.
    pub fn is_inside(&self, index: usize, container: usize) -> bool {
        self.subtree(container).contains(&index)
    }

    /// Returns the nodes that belong to the app's own content.
    pub fn content(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|n| self.is_content(n))
    }

    /// Returns the indices of a node's ancestors, nearest first.
    pub fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[index].parent, |i| self.nodes[*i].parent)
    }

    /// Returns whether the app's own content contains a web view.
    pub fn has_web_view(&self) -> bool {
        self.content().any(|n| n.has(Trait::Web))
    }

    /// Returns the substitute for a place that cannot be known: the package of the foreground app, followed by `/`.
    pub fn stand_in_place(&self) -> Option<String> {
        self.app.as_ref().map(|app| format!("{app}/"))
    }
}
