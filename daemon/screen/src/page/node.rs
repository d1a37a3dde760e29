//! The windows and nodes of a screen, with their flags and traits.

use std::str::FromStr;

use afd_proto::vocabulary::Role;

/// A rectangle in device pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rect {
    /// Left edge, inclusive.
    pub left: i32,
    /// Top edge, inclusive.
    pub top: i32,
    /// Right edge, exclusive.
    pub right: i32,
    /// Bottom edge, exclusive.
    pub bottom: i32,
}

impl Rect {
    /// Returns the width, or 0 for an inverted rectangle.
    pub fn width(&self) -> i32 {
        self.right.saturating_sub(self.left).max(0)
    }

    /// Returns the height, or 0 for an inverted rectangle.
    pub fn height(&self) -> i32 {
        self.bottom.saturating_sub(self.top).max(0)
    }

    /// Returns the area in square pixels, or 0 for an inverted rectangle.
    pub fn area(&self) -> i64 {
        i64::from(self.width()) * i64::from(self.height())
    }

    /// Returns the `(x, y)` coordinates of the centre.
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

    /// Returns the intersection of two rectangles; its area is 0 if they do not overlap.
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// Returns the smallest rectangle that contains both rectangles.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Returns whether two rectangles share any pixel.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.intersection(other).area() > 0
    }

    /// Returns whether the rectangle contains another rectangle completely.
    pub fn encloses(&self, other: &Self) -> bool {
        self.left <= other.left && self.top <= other.top && self.right >= other.right && self.bottom >= other.bottom
    }

    /// Returns whether a point lies in the rectangle.
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
    /// Can take the input focus.
    Focusable = 8,
    /// Can be scrolled.
    Scrollable = 16,
    /// Accepts text input.
    Editable = 32,
    /// Enabled; a disabled node takes no input.
    Enabled = 64,
    /// Drawn, but not visible until something is scrolled. Only drivers that know the whole page set it.
    OutOfSight = 128,
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

    /// Returns the set with a flag removed.
    pub fn without(self, flag: Flag) -> Self {
        Self(self.0 & !(flag as u8))
    }

    /// Returns the names of the flags, joined by commas. The first is `on` if the node is visible, otherwise `off`.
    /// `Flag::Focusable` is included only if `with_focusable` is true. Callers leave it out for refs.
    pub fn text(self, with_focusable: bool) -> String {
        let first = if self.has(Flag::Visible) { "on" } else { "off" };
        let rest =
            NAMES.iter().filter(|(f, _)| self.has(*f) && (with_focusable || *f != Flag::Focusable)).map(|(_, n)| *n);
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join(",")
    }
}

/// A characteristic of a node, beyond its role. Drivers derive it from the data of their device, such as classes and
/// ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Trait {
    /// A list or grid. Its rows scroll in and out of view, and do not identify the page.
    List = 1,
    /// An element that shows web pages.
    Web = 2,
    /// An element whose content changes without user input, such as a clock or a progress bar.
    Volatile = 4,
    /// An element whose class characterises the kind of page.
    Landmark = 8,
    /// The bar of a page, which contains its title and its actions.
    Bar = 16,
    /// Text that takes no input.
    StaticText = 32,
    /// An element whose id identifies it as a title.
    Title = 64,
    /// The address bar of a browser, whose text is treated as typed.
    AddressBar = 128,
    /// An element with an id that the system defines. Apps use the same system id for different elements.
    SystemId = 256,
    /// An element with an id that occurs in every window.
    CommonId = 512,
    /// A control whose value is set in steps, such as a slider.
    Adjustable = 1024,
    /// A heading, according to the page itself.
    Heading = 2048,
    /// An element that leads to another page or part of one: a link, a tab, an entry of a menu.
    Link = 4096,
    /// A switch whose last word is a text of its own that says whether it is on.
    EndsWithState = 8192,
}

/// A set of [`Trait`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Traits(u16);

impl Traits {
    /// Returns the set, with a trait added if `holds` is true.
    #[must_use]
    pub fn with(self, what: Trait, holds: bool) -> Self {
        Self(if holds { self.0 | what as u16 } else { self.0 })
    }

    /// Returns whether a trait is in the set.
    pub fn has(self, what: Trait) -> bool {
        self.0 & what as u16 != 0
    }
}

/// The purpose of a window. Drivers derive it from the data of their device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// A window with the content of an app, or a focused system window. Only windows of this kind can be the page in
    /// front.
    Page,
    /// A window that the system draws over the page without taking the focus, such as a notification or a volume panel.
    Banner,
    /// A system bar or the divider of a split screen.
    Bar,
    /// A keyboard.
    Keyboard,
    /// A window drawn by an accessibility service, including the marks of the device's own overlay.
    Overlay,
}

/// A window on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Id of the window on the device.
    pub id: i64,
    /// Purpose of the window.
    pub kind: WindowKind,
    /// The device's own name for the type of the window, as returned to callers.
    pub type_name: String,
    /// Package of the app that drew the window; empty if unknown.
    pub app: String,
    /// Title of the window.
    pub title: String,
    /// Layer of the window; windows on higher layers cover those on lower layers.
    pub layer: i64,
    /// Whether the window has the input focus.
    pub focused: bool,
    /// `package/activity` or URL of the window's page, if known. A page under another app's dialog may also have one.
    pub place: Option<String>,
}

/// A node that has content or is interactive; purely structural nodes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Id on the device; valid within one snapshot only.
    pub id: String,
    /// Index of the window that contains the node.
    pub window: usize,
    /// Index of the nearest ancestor that is not left out of the snapshot, if there is one.
    pub parent: Option<usize>,
    /// Class name of the node, without the package.
    pub class: String,
    /// Text that the node displays.
    pub text: Option<String>,
    /// Content description, which screen readers announce.
    pub desc: Option<String>,
    /// Full resource id.
    pub res_id: Option<String>,
    /// Bounds of the node, in device pixels.
    pub bounds: Rect,
    /// Flags for the node's properties and capabilities.
    pub flags: Flags,
    /// Role of the node.
    pub role: Role,
    /// Characteristics of the node beyond its role.
    pub traits: Traits,
    /// Whether the node holds a secret. Its text is already masked.
    pub password: bool,
    /// Whether the device truncated the node's text or description.
    pub truncated: bool,
    /// Whether the node is on, as the device reports it; `None` if it cannot be on or off, or if only its texts may say so.
    pub checked: Option<bool>,
}

impl Node {
    /// Returns whether a flag is set.
    pub fn is(&self, flag: Flag) -> bool {
        self.flags.has(flag)
    }

    /// Returns whether the node has a trait.
    pub fn has(&self, what: Trait) -> bool {
        self.traits.has(what)
    }

    /// Returns whether the node can be interacted with now.
    pub fn is_ref(&self) -> bool {
        let able =
            [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable].into_iter().any(|f| self.is(f));
        able && self.is(Flag::Enabled) && self.is(Flag::Visible) && self.bounds.area() > 0
    }

    /// Returns the part of the resource id after the last `/`.
    pub fn id_name(&self) -> Option<&str> {
        self.res_id.as_deref().map(|id| id.rsplit('/').next().unwrap_or(id)).filter(|n| !n.is_empty())
    }
}

/// The windows and nodes of a screen, before anything is computed from them.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// Windows, topmost first.
    pub windows: &'a [Window],
    /// Nodes of all windows in pre-order.
    pub nodes: &'a [Node],
    /// Width and height of the screen in device pixels, if known.
    pub size: Option<(i32, i32)>,
    /// App of the page in front, if known.
    pub app: Option<&'a str>,
}

impl Scene<'_> {
    /// Returns the purpose of a node's window, or `Overlay` for a node without a window.
    pub fn kind_of(&self, node: &Node) -> WindowKind {
        self.windows.get(node.window).map_or(WindowKind::Overlay, |w| w.kind)
    }
}
