//! Screen contents in one model for all drivers: windows, nodes and their flags.

use std::str::FromStr;

/// A rectangle in device pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rect {
    /// Left edge.
    pub left: i32,
    /// Top edge.
    pub top: i32,
    /// Right edge, exclusive.
    pub right: i32,
    /// Bottom edge, exclusive.
    pub bottom: i32,
}

impl Rect {
    /// Returns the width; 0 for an inverted rectangle.
    pub fn width(&self) -> i32 {
        self.right.saturating_sub(self.left).max(0)
    }

    /// Returns the height; 0 for an inverted rectangle.
    pub fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top).max(0)
    }

    /// Returns width times height.
    pub fn area(&self) -> i64 {
        i64::from(self.width()) * i64::from(self.height())
    }

    /// Returns the centre.
    pub fn center(&self) -> (i32, i32) {
        // The mean of two 32-bit numbers always fits into 32 bits.
        let mean = |a: i32, b: i32| i32::try_from((i64::from(a) + i64::from(b)) / 2).unwrap_or(a);
        (mean(self.left, self.right), mean(self.top, self.bottom))
    }

    /// Returns the rectangle extended by a margin on each side.
    pub fn grown(&self, margin: i32) -> Self {
        Self {
            left: self.left.saturating_sub(margin),
            top: self.top.saturating_sub(margin),
            right: self.right.saturating_add(margin),
            bottom: self.bottom.saturating_add(margin),
        }
    }

    /// Returns whether a point lies in it.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        x >= f64::from(self.left) && x < f64::from(self.right) && y >= f64::from(self.top) && y < f64::from(self.bottom)
    }
}

impl std::fmt::Display for Rect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{},{},{}", self.left, self.top, self.right, self.bottom)
    }
}

impl FromStr for Rect {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split(',').map(|p| p.trim().parse::<i32>());
        let mut next = || parts.next().and_then(Result::ok).ok_or(());
        let rect = Rect { left: next()?, top: next()?, right: next()?, bottom: next()? };
        if parts.next().is_some() { Err(()) } else { Ok(rect) }
    }
}

/// A property or capability of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Flag {
    /// Visible to the user.
    Visible = 1,
    /// Accepts taps.
    Clickable = 2,
    /// Accepts long presses.
    LongClickable = 4,
    /// Can take the focus.
    Focusable = 8,
    /// Can be scrolled.
    Scrollable = 16,
    /// Accepts text input.
    Editable = 32,
    /// Enabled.
    Enabled = 64,
}

/// A set of [`Flag`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u8);

const NAMES: [(Flag, &str); 6] = [
    (Flag::Clickable, "clk"),
    (Flag::LongClickable, "lclk"),
    (Flag::Focusable, "foc"),
    (Flag::Scrollable, "scr"),
    (Flag::Editable, "edt"),
    (Flag::Enabled, "ena"),
];

impl Flags {
    /// Returns whether a flag is set.
    pub fn has(self, flag: Flag) -> bool {
        self.0 & flag as u8 != 0
    }

    /// Returns the set with a flag added.
    pub fn with(self, flag: Flag) -> Self {
        Self(self.0 | flag as u8)
    }

    /// Returns the names of the flags, `on` or `off` first, joined by commas; `focusable` is left out for refs.
    pub fn text(self, with_focusable: bool) -> String {
        let first = if self.has(Flag::Visible) { "on" } else { "off" };
        let rest = NAMES.iter().filter(|(f, _)| self.has(*f) && (with_focusable || *f != Flag::Focusable)).map(|(_, n)| *n);
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join(",")
    }

    /// Parses the names of flags. Both vocabularies of the service are accepted; unknown names are ignored.
    pub fn parse(text: &str) -> Self {
        text.split(',').fold(Self::default(), |flags, name| match name.trim() {
            "on" => flags.with(Flag::Visible),
            "clk" => flags.with(Flag::Clickable),
            "lclk" | "lng" => flags.with(Flag::LongClickable),
            "foc" | "fcs" => flags.with(Flag::Focusable),
            "scr" => flags.with(Flag::Scrollable),
            "edt" => flags.with(Flag::Editable),
            "ena" => flags.with(Flag::Enabled),
            _ => flags,
        })
    }
}

/// Type of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowKind {
    /// An app.
    Application,
    /// System bars.
    System,
    /// A keyboard.
    InputMethod,
    /// Drawn by an accessibility service, including the marks of our own.
    Overlay,
    /// Any other type, with the device's name for it.
    Other(String),
}

impl WindowKind {
    /// Returns the device's name of the type.
    pub fn name(&self) -> &str {
        match self {
            WindowKind::Application => "APPLICATION",
            WindowKind::System => "SYSTEM",
            WindowKind::InputMethod => "INPUT_METHOD",
            WindowKind::Overlay => "ACCESSIBILITY_OVERLAY",
            WindowKind::Other(name) => name,
        }
    }

    /// Returns the type with this name.
    pub fn parse(name: &str) -> Self {
        match name {
            "APPLICATION" => WindowKind::Application,
            "SYSTEM" => WindowKind::System,
            "INPUT_METHOD" => WindowKind::InputMethod,
            "ACCESSIBILITY_OVERLAY" => WindowKind::Overlay,
            other => WindowKind::Other(other.to_owned()),
        }
    }
}

/// A window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Id on the device.
    pub id: i64,
    /// Type.
    pub kind: WindowKind,
    /// The package that drew it; empty when unknown.
    pub app: String,
    /// Title.
    pub title: String,
    /// Layer; windows on higher layers cover those on lower ones.
    pub layer: i64,
    /// Whether it has the input focus.
    pub focused: bool,
}

/// A node that has content or is interactive; purely structural nodes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Id on the device; valid within one snapshot only.
    pub id: String,
    /// Index of its window.
    pub window: usize,
    /// Index of its nearest ancestor that is listed.
    pub parent: Option<usize>,
    /// Class without its package.
    pub class: String,
    /// Visible text.
    pub text: Option<String>,
    /// Content description.
    pub desc: Option<String>,
    /// Full resource id.
    pub res_id: Option<String>,
    /// Bounds in device pixels.
    pub bounds: Rect,
    /// Properties and capabilities.
    pub flags: Flags,
    /// Whether it holds a secret; its text is masked already.
    pub password: bool,
    /// Whether the device truncated its text.
    pub truncated: bool,
}

impl Node {
    /// Returns whether a flag is set.
    pub fn is(&self, flag: Flag) -> bool {
        self.flags.has(flag)
    }

    /// Returns whether the node can be interacted with now.
    pub fn is_ref(&self) -> bool {
        let able = [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable].into_iter().any(|f| self.is(f));
        able && self.is(Flag::Enabled) && self.is(Flag::Visible) && self.bounds.area() > 0
    }

    /// Returns the part of the resource id after the last `/`.
    pub fn id_name(&self) -> Option<&str> {
        self.res_id.as_deref().map(|id| id.rsplit('/').next().unwrap_or(id)).filter(|n| !n.is_empty())
    }
}

/// The contents of a screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Package of the foreground app; `None` while it is unknown.
    pub app: Option<String>,
    /// `package/activity` or a URL; `None` while it is unknown.
    pub place: Option<String>,
    /// Whether the place can be known at all in this mode. Where it cannot, the package stands in for it.
    pub place_knowable: bool,
    /// Name of the site, for browsers.
    pub site: Option<String>,
    /// Host of the site, with its port if it has one.
    pub host: Option<String>,
    /// Hash of the path pattern of the address, 8 hexadecimal digits; `None` for the start page. The path itself is not kept, as it
    /// may have been typed.
    pub path: Option<String>,
    /// Mode in which the device's service reads the screen.
    pub mode: String,
    /// Whether the service reports that it sees less than it should.
    pub degraded: bool,
    /// Width and height in device pixels, when known.
    pub size: Option<(i32, i32)>,
    /// Windows, topmost first.
    pub windows: Vec<Window>,
    /// Nodes of all windows in pre-order.
    pub nodes: Vec<Node>,
}

impl Snapshot {
    /// Returns whether a node belongs to the app's own content: not to the system bars, a keyboard or an overlay.
    pub fn is_content(&self, node: &Node) -> bool {
        self.windows.get(node.window).is_some_and(|w| match &w.kind {
            WindowKind::Application | WindowKind::Other(_) => true,
            WindowKind::System | WindowKind::InputMethod | WindowKind::Overlay => false,
        })
    }

    /// Returns the nodes of the app's own content.
    pub fn content(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|n| self.is_content(n))
    }

    /// Returns the indices of a node's ancestors, nearest first.
    pub fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[index].parent, |i| self.nodes[*i].parent)
    }

    /// Returns whether the app's own content contains a web view.
    pub fn has_web_view(&self) -> bool {
        self.content().any(|n| n.class.to_lowercase().contains("webview"))
    }

    /// Returns the substitute for a place that cannot be known: the package of the foreground app, followed by `/`.
    pub fn stand_in_place(&self) -> Option<String> {
        self.app.as_ref().map(|app| format!("{app}/"))
    }
}
