//! Turns a page's accessibility tree and its layout into a snapshot.
//!
//! The accessibility tree says what the elements are: role, name, value and states. The layout says where they are, and
//! which of them react to clicks. An element without a place in the layout is left out. The name of an interactive
//! element includes the texts in it, so these texts are not separate elements.

use std::collections::{HashMap, HashSet};

use afd_base::text::cut;
use afd_proto::vocabulary::Role;
use afd_screen::page::snapshot::Flags;
use afd_screen::page::{Flag, Node, Rect, Trait, Traits};
use afd_screen::page::{label, mask};
use serde_json::Value;

use super::layout::{Element, Layout};
use super::said::{Said, Shown, shown};

/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 2_000;
/// Maximum length of the title of a page, in characters. Longer ones are cut.
const MAX_TITLE: usize = 40;
/// Maximum width and height of an icon that takes clicks, in CSS pixels.
const MAX_ICON: i32 = 40;
/// Maximum distance between two pieces of a word, in CSS pixels.
const MAX_GAP: i32 = 1;
/// Maximum depth of the tree.
const MAX_DEPTH: usize = 400;

/// The nodes of a page, in the order of the document.
pub struct Builder<'a> {
    layout: &'a Layout,
    /// Size of the window, in CSS pixels.
    view: Rect,
    /// Position of the top left corner of the document in the window.
    start: (i32, i32),
    nodes: Vec<Node>,
    window: usize,
    /// Trees of the frames, by the element that each is in, with what is added to the ids of their nodes.
    frames: HashMap<i64, (&'a Value, i64)>,
    /// What is added to the ids of the nodes that are visited.
    offset: i64,
    /// Names of the fields and switches, which their labels repeat.
    labelled: HashSet<&'a str>,
    /// Number of labels around the node that is visited.
    in_labels: usize,
    /// The text that was added last, if the next piece of text may continue it.
    line: Option<Line>,
    /// Id of the row of a table around the node that is visited.
    row: Option<i64>,
}

/// A text, which the pieces of text after it may continue.
#[derive(Clone, Copy)]
struct Line {
    /// Index of its node.
    node: usize,
    /// Id of the block that it is in.
    block: Option<i64>,
    /// Id of the row of a table that it is in.
    row: Option<i64>,
    /// Whether white space follows it.
    open: bool,
    /// Bounds of its last piece.
    end: Rect,
}

impl Line {
    /// Returns what separates the text from `next`, whose text is `raw`; `None` if that is a text of its own.
    fn gap(&self, next: &Line, raw: &str) -> Option<&'static str> {
        if self.block.is_none() || self.block != next.block {
            return (self.row.is_some() && self.row == next.row).then_some(" | ");
        }
        let (a, b) = (self.end, next.end);
        let of_one_line = (a.height() - b.height()).abs() * 2 < a.height().min(b.height());
        let (stacked, side_by_side) = (b.top >= a.bottom, of_one_line);
        // Pieces that are drawn apart are read apart. The bounds of a text of several lines say nothing of its ends.
        let apart = stacked || side_by_side && (b.left - a.right).abs() > MAX_GAP;
        Some(if self.open || raw.starts_with(char::is_whitespace) || apart { " " } else { "" })
    }
}

impl<'a> Builder<'a> {
    /// Returns a builder for a window that is `width` and `height` CSS pixels large, with a document that begins at
    /// `start`.
    pub fn new(
        layout: &'a Layout,
        (width, height): (i32, i32),
        start: (i32, i32),
        frames: HashMap<i64, (&'a Value, i64)>,
    ) -> Self {
        let view = Rect { left: 0, top: 0, right: width, bottom: height };
        Self {
            layout,
            view,
            start,
            nodes: Vec::new(),
            window: 0,
            frames,
            offset: 0,
            labelled: HashSet::new(),
            in_labels: 0,
            line: None,
            row: None,
        }
    }

    /// Returns the nodes of the page with a title, whose own accessibility tree is `tree`. The title is the first node, at
    /// the edge of the window.
    pub fn build(mut self, tree: &'a Value, title: &str) -> Vec<Node> {
        let short = title.chars().take(MAX_TITLE).collect::<String>();
        self.nodes.extend(shortened(&short).map(|title| Node {
            id: "title".to_owned(),
            window: self.window,
            parent: None,
            class: "title".to_owned(),
            text: Some(title),
            desc: None,
            res_id: None,
            bounds: Rect { left: 0, top: 0, right: self.view.right, bottom: 1 },
            flags: Flags::default().with(Flag::Visible).with(Flag::Enabled),
            role: Role::Text,
            traits: Traits::default().with(Trait::Title, true).with(Trait::StaticText, true),
            password: false,
            truncated: false,
            checked: None,
        }));
        self.tree(tree, None, None, 0);
        self.nodes
    }

    fn tree(&mut self, tree: &'a Value, parent: Option<usize>, label: Option<&'a str>, depth: usize) {
        let all = tree["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let by_id: HashMap<&str, &Value> =
            all.iter().filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect();
        let named = all
            .iter()
            .map(|node| Said::of(node, self.offset))
            .filter(|said| matches!(shown(said.role), Shown::Input(Role::Field | Role::Switch)));
        self.labelled.extend(named.map(|said| said.name));
        if let Some(root) = all.iter().find(|node| node["parentId"].is_null()) {
            self.visit(&by_id, root, parent, label, depth);
        }
    }

    /// Adds a node and its descendants. `label` is the name of the interactive element around it.
    fn visit(
        &mut self,
        by_id: &HashMap<&'a str, &'a Value>,
        node: &'a Value,
        parent: Option<usize>,
        label: Option<&'a str>,
        depth: usize,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        let said = Said::of(node, self.offset);
        let ignored = node["ignored"].as_bool() == Some(true);
        let mut inner = (parent, label);
        if said.role == "LineBreak" {
            self.line = None;
        }
        if let Some(element) = self.layout.elements.get(&said.element)
            && let Some(mut made) = self.node(&said, element, (parent, label), ignored)
            && !self.continues(&said, &made)
        {
            made.traits = made.traits.with(Trait::EndsWithState, ends_with_state(&said, by_id, node));
            self.nodes.push(made);
            let index = self.nodes.len() - 1;
            let is_whole = !matches!(shown(said.role), Shown::Structure(_)) && !said.name.is_empty();
            inner = (Some(index), if is_whole { Some(said.name) } else { label });
        }
        let first = self.nodes.len();
        if let Some((tree, offset)) = self.frames.get(&said.element).copied() {
            let own = std::mem::replace(&mut self.offset, offset);
            self.tree(tree, inner.0, inner.1, depth + 1);
            self.offset = own;
        }
        // The options of a closed list are not visible, and a text includes its parts.
        if matches!(said.role, "StaticText" | "MenuListPopup" | "InlineTextBox") || said.is_editor() {
            return;
        }
        self.in_labels += usize::from(said.role == "LabelText");
        let row = self.row;
        if said.role == "row" {
            self.row = Some(said.element);
        }
        let children = node["childIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for child in children.filter_map(|id| by_id.get(id).copied()) {
            self.visit(by_id, child, inner.0, inner.1, depth + 1);
        }
        self.in_labels -= usize::from(said.role == "LabelText");
        self.row = row;
        if inner.0 != parent && inner.0.is_some_and(|own| own + 1 == first) {
            self.settle(first - 1);
        }
    }

    /// Adds a piece of text to the text before it, if both are in one block or in one row of a table, with nothing
    /// between them. Returns whether it did.
    fn continues(&mut self, said: &Said<'_>, piece: &Node) -> bool {
        if said.role != "StaticText" {
            return false;
        }
        let own = Line {
            node: self.nodes.len(),
            block: self.layout.block(said.element),
            row: self.row,
            open: said.raw.ends_with(char::is_whitespace),
            end: piece.bounds,
        };
        let before = self.line.filter(|line| line.node + 1 == own.node && self.nodes[line.node].parent == piece.parent);
        let Some((line, between)) = before.and_then(|line| Some((line, line.gap(&own, said.raw)?))) else {
            self.line = Some(own);
            return false;
        };
        let node = &mut self.nodes[line.node];
        let (text, more) = (node.text.take().unwrap_or_default(), piece.text.as_deref().unwrap_or_default());
        node.text = shortened(&format!("{text}{between}{more}"));
        if piece.is(Flag::Visible) {
            node.bounds = if node.is(Flag::Visible) { node.bounds.union(&piece.bounds) } else { piece.bounds };
            node.flags = node.flags.with(Flag::Visible);
        }
        self.line = Some(Line { node: line.node, ..own });
        true
    }

    /// Decides which of the elements that take input a node and those in it are, once all of these are known. What is
    /// an element of its own inside of a node with the same name is that node. A node that listens to clicks for those
    /// in it is a group.
    fn settle(&mut self, own: usize) {
        if !self.nodes[own].is(Flag::Clickable) || self.nodes.len() == own + 1 {
            return;
        }
        let takes_input = |node: &Node| node.is(Flag::Clickable) || node.is(Flag::Editable);
        let inputs: Vec<usize> = (own + 1..self.nodes.len()).filter(|i| takes_input(&self.nodes[*i])).collect();
        if let [inner] = inputs[..]
            && self.nodes.len() == inner + 1
            && self.nodes[own].text.is_some()
            && self.nodes[inner].text == self.nodes[own].text
            && self.nodes[inner].role == Role::Button
        {
            self.nodes[own].bounds = self.nodes[inner].bounds;
            self.nodes.truncate(inner);
        } else if !inputs.is_empty() && self.nodes[own].role == Role::Row && self.nodes[own].text.is_none() {
            let of_input = |i: usize| {
                let mut around = std::iter::successors(Some(i), |i| self.nodes[*i].parent);
                around.any(|i| inputs.contains(&i))
            };
            if (own + 1..self.nodes.len()).all(of_input) {
                let node = &mut self.nodes[own];
                (node.role, node.flags) = (Role::View, node.flags.without(Flag::Clickable));
            }
        }
    }

    fn node(
        &self,
        said: &Said<'_>,
        element: &Element,
        (parent, label): (Option<usize>, Option<&str>),
        ignored: bool,
    ) -> Option<Node> {
        let what = if ignored { Shown::Other } else { said.shown() };
        let (role, input) = self.role(what, said, element, label)?;
        let secret = element.kind.as_deref() == Some("password");
        let visible = element.drawn && element.bounds.intersection(&self.view).area() > 0;
        let clickable = input || element.clickable && !matches!(said.role, "StaticText" | "LabelText");
        let (text, desc) = texts(said, element, role);
        let is_nameless = text.is_none() && desc.is_none();
        let list = role == Role::List;
        let traits = Traits::default()
            .with(Trait::List, list)
            .with(Trait::StaticText, role == Role::Text)
            .with(Trait::Bar, matches!(said.role, "banner" | "toolbar"))
            .with(Trait::Landmark, list || role == Role::Field || matches!(what, Shown::Structure(_)))
            .with(Trait::Volatile, matches!(said.role, "progressbar" | "timer" | "marquee"))
            .with(Trait::Adjustable, said.role == "slider")
            .with(Trait::Heading, said.role == "heading")
            .with(Trait::Link, matches!(said.role, "link" | "tab" | "menuitem" | "treeitem"));
        Some(Node {
            id: said.element.to_string(),
            window: self.window,
            parent,
            class: said.role.to_owned(),
            text: if secret { text.map(|_| mask::HIDDEN.to_owned()) } else { text },
            desc,
            res_id: element.id.clone().or_else(|| element.class.clone().filter(|_| clickable && is_nameless)),
            // The part of a long list outside the window is ignored.
            bounds: if visible { element.bounds.intersection(&self.view) } else { element.bounds },
            flags: flags(&[
                (Flag::Visible, visible),
                (Flag::OutOfSight, element.drawn && !visible && self.can_scroll_to(&element.bounds, parent)),
                (Flag::Clickable, clickable),
                (Flag::Focusable, said.states.contains_key("focusable")),
                (Flag::Scrollable, element.scrolls),
                (Flag::Editable, role == Role::Field && is_editable(said, element)),
                (Flag::Enabled, !said.has("disabled")),
            ]),
            role,
            traits,
            password: secret,
            truncated: false,
            checked: said.checked(),
        })
    }

    /// Returns whether a user can scroll to an element that is out of sight. Texts for screen readers are often placed
    /// beyond the top or left edge of the document.
    fn can_scroll_to(&self, bounds: &Rect, parent: Option<usize>) -> bool {
        let mut around = std::iter::successors(parent, |i| self.nodes[*i].parent);
        bounds.right > self.start.0 && bounds.bottom > self.start.1
            || around.any(|i| self.nodes[i].is(Flag::Scrollable))
    }

    /// Returns the role of an element, and whether it takes input; `None` if it is not shown. `label` is the name of the
    /// element around it.
    fn role(&self, what: Shown, said: &Said<'_>, element: &Element, label: Option<&str>) -> Option<(Role, bool)> {
        match what {
            Shown::Input(role) => Some((role, true)),
            Shown::Structure(role) => Some((role, false)),
            Shown::Content(role) => {
                // The name of an element contains the texts in it.
                let is_label = self.in_labels > 0 && self.labelled.contains(said.name);
                let is_said = is_label || label.is_some_and(|label| label.contains(said.name));
                if said.name.is_empty() && role == Role::Image {
                    return self.role(Shown::Other, said, element, label);
                }
                (!said.name.is_empty() && !is_said).then_some((role, false))
            }
            Shown::Other => {
                // Pages often listen for clicks on large containers and handle those on the elements inside.
                let is_small = element.bounds.area() * 4 < self.view.area();
                let is_own = label.is_none()
                    && said.role != "RootWebArea"
                    && !matches!(element.tag.as_str(), "LABEL" | "FORM" | "HTML" | "BODY");
                // What the keyboard can reach takes input, unless it only scrolls.
                let focusable = said.states.contains_key("focusable")
                    && !element.scrolls
                    && !matches!(said.role, "RootWebArea" | "Iframe");
                if (element.clickable || focusable) && is_small && is_own {
                    let is_icon = element.bounds.width().max(element.bounds.height()) <= MAX_ICON;
                    return Some((if is_icon { Role::Button } else { Role::Row }, true));
                }
                element.scrolls.then_some((Role::List, false))
            }
        }
    }
}

fn flags(all: &[(Flag, bool)]) -> Flags {
    all.iter().filter(|(_, holds)| *holds).fold(Flags::default(), |flags, (flag, _)| flags.with(*flag))
}

fn is_editable(said: &Said<'_>, element: &Element) -> bool {
    said.states.contains_key("editable") && !said.has("readonly")
        || element.tag == "SELECT"
        || matches!(element.kind.as_deref(), Some("date" | "time" | "color" | "range" | "month" | "week"))
}

/// Returns whether the last word of a switch's name is a text of its own in it that says whether it is on, as in
/// `Delivery texts <b>off</b>`. It is then no part of the name proper, which stays the same when the switch is flipped.
fn ends_with_state(said: &Said<'_>, by_id: &HashMap<&str, &Value>, node: &Value) -> bool {
    if !matches!(said.role, "switch" | "checkbox" | "menuitemcheckbox") || said.checked().is_none() {
        return false;
    }
    let mut texts = Vec::new();
    collect_texts(by_id, node, &mut texts, STATE_DEPTH);
    let [_, .., state] = texts[..] else { return false };
    let is_word = label::is_state(state) && !state.contains(char::is_whitespace);
    is_word && said.name.strip_suffix(state).is_some_and(|name| name.ends_with(char::is_whitespace))
}

/// Number of levels in a switch at which its texts are looked for.
const STATE_DEPTH: usize = 8;

/// Adds the texts in an element, in their order.
fn collect_texts<'v>(by_id: &HashMap<&str, &'v Value>, node: &'v Value, texts: &mut Vec<&'v str>, depth: usize) {
    let children = node["childIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for child in children.filter_map(|id| by_id.get(id).copied()) {
        match child["role"]["value"].as_str() {
            Some("StaticText") => {
                let text = child["name"]["value"].as_str().map(str::trim);
                texts.extend(text.filter(|text| !text.is_empty()));
            }
            _ if depth > 0 => collect_texts(by_id, child, texts, depth - 1),
            _ => {}
        }
    }
}

/// Returns the text and the description of an element. A field has its value as its text.
fn texts(said: &Said<'_>, element: &Element, role: Role) -> (Option<String>, Option<String>) {
    let states = said.words();
    if role != Role::Field {
        return (shortened(said.name), shortened(&states));
    }
    // The tree lacks the values of fields with pickers, and updates that of a list of choices with a delay.
    // What a field contains is told exactly.
    let value = element.value.as_deref().filter(|value| !value.is_empty()).unwrap_or(&said.value);
    let value = Some(cut::head(value, MAX_TEXT).to_owned()).filter(|value| !value.is_empty());
    let placeholder = element.placeholder.as_deref().unwrap_or_default();
    let name = if said.name.is_empty() { placeholder } else { said.name };
    let parts: Vec<&str> = [name, &states].into_iter().filter(|part| !part.is_empty()).collect();
    (value, shortened(&parts.join(", ")))
}

/// Returns a text on one line and of limited length; `None` if it is blank.
pub(super) fn shortened(text: &str) -> Option<String> {
    let text = cut::one_line(cut::head(text.trim(), MAX_TEXT));
    (!text.is_empty()).then_some(text)
}
