//! The layout of a page: where each element is, and what it is in the document, from `DOMSnapshot.captureSnapshot`.

use std::collections::HashMap;

use afd_screen::page::Rect;
use serde_json::Value;

/// Styles that the browser reports for each element, in this order.
pub const STYLES: [&str; 7] =
    ["visibility", "opacity", "overflow-y", "pointer-events", "position", "display", "cursor"];

/// An element in the layout.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    /// Bounds in the window, in CSS pixels.
    pub bounds: Rect,
    /// Position of its top left corner in the window, which may be clipped off.
    pub corner: (f64, f64),
    /// Whether it is drawn.
    pub drawn: bool,
    /// Whether its content scrolls inside of it.
    pub scrolls: bool,
    /// Whether the page listens to clicks on it, or shows that it does by the form of the mouse cursor.
    pub clickable: bool,
    /// Whether the mouse cursor has the form that links have.
    points: bool,
    /// Whether it is laid out as a block, and not as a part of a line.
    pub is_block: bool,
    /// Name of the tag, in capitals.
    pub tag: String,
    /// Attribute `id`, else `name` or `data-testid`.
    pub id: Option<String>,
    /// The longest class that is made of words, such as `fa-trash`. It tells icons apart that have no name.
    pub class: Option<String>,
    /// Attribute `type`.
    pub kind: Option<String>,
    /// Attribute `placeholder`.
    pub placeholder: Option<String>,
    /// Value of a field.
    pub value: Option<String>,
    /// Position of a frame's content, relative to the frame's bounds.
    inset: (f64, f64),
    clipping: Clipping,
}

/// How an element clips its descendants.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Clipping {
    /// Whether its descendants are not drawn outside its bounds. False for a container that scrolls, because a user can
    /// scroll to them.
    clips: bool,
    /// Style `position`.
    position: Position,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Position {
    /// In the flow of the document.
    #[default]
    Flow,
    /// Moved, or a box for absolute elements in it.
    Relative,
    /// Relative to the nearest element around it that is not in the flow.
    Absolute,
    /// Relative to the window.
    Fixed,
}

/// Hides the elements that those around them clip. `frame` is the part of the window that the document can cover.
fn clip(nodes: &Value, found: &mut [Element], frame: Option<Rect>) {
    // For each node: the bounds that clip its descendants in the flow, and those that clip absolute ones.
    let mut inner: Vec<(Option<Rect>, Option<Rect>)> = vec![(frame, frame); found.len()];
    let both = |a: Option<Rect>, b: Rect| a.map_or(b, |a| a.intersection(&b));
    for (node, element) in found.iter_mut().enumerate() {
        element.corner = (f64::from(element.bounds.left), f64::from(element.bounds.top));
        let (flow, absolute) =
            index_of(&nodes["parentIndex"][node]).and_then(|p| inner.get(p).copied()).unwrap_or((frame, frame));
        let own = match element.clipping.position {
            Position::Fixed => frame,
            Position::Absolute => absolute,
            _ => flow,
        };
        let shown = both(own, element.bounds);
        if element.drawn {
            element.drawn = shown.area() > 0;
            element.bounds = if element.drawn { shown } else { element.bounds };
        }
        // The window clips a whole page.
        let clips = element.clipping.clips && !matches!(element.tag.as_str(), "HTML" | "BODY");
        let flow = if clips { Some(shown) } else { own };
        let holds = element.clipping.position != Position::Flow;
        inner[node] = (flow, if holds { flow } else { absolute });
    }
}

/// The elements of all documents of a page, by their backend node ids.
#[derive(Debug, Default)]
pub struct Layout {
    /// The elements by id.
    pub elements: HashMap<i64, Element>,
    /// The frames; the page itself comes first.
    pub frames: Vec<FrameIn>,
    /// Title of the page.
    pub title: String,
    /// Parents of the nodes, by id. The parent of a frame's document is the element that the frame is in.
    pub parents: HashMap<i64, i64>,
}

/// A frame of a page, or the page itself.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameIn {
    /// Id of the frame.
    pub id: String,
    /// Session that reads it.
    pub session: String,
    /// Id of the element that it is in; 0 for the page.
    pub owner: i64,
    /// What is added to the ids of its nodes. Frames of other sites have nodes with the same ids.
    pub offset: i64,
    /// Position of its content in the window, in CSS pixels.
    pub at: (f64, f64),
}

impl Layout {
    /// Returns a node and those around it, innermost first.
    pub fn around(&self, node: i64) -> impl Iterator<Item = i64> {
        std::iter::successors(Some(node), |node| self.parents.get(node).copied()).take(MAX_DEPTH)
    }

    /// Returns the session that knows a node, and its id there.
    pub fn node_of(&self, id: i64) -> Option<(String, i64)> {
        let offset = id - id % OFFSET;
        let frame = self.frames.iter().find(|frame| frame.offset == offset)?;
        Some((frame.session.clone(), id - offset))
    }

    /// Returns the block that a node is in, such as the paragraph of a text.
    pub fn block(&self, node: i64) -> Option<i64> {
        self.around(node).find(|id| self.elements.get(id).is_some_and(|element| element.is_block))
    }
}

/// Width of the arrows at the right of a field for numbers, in CSS pixels. A click on them would change the number.
const ARROWS: i32 = 24;

/// Maximum number of nodes around each other that are looked at.
const MAX_DEPTH: usize = 2_000;

/// Difference of the offsets of two sites. Ids of nodes are smaller.
const OFFSET: i64 = 1 << 40;

impl Layout {
    /// Adds what a session captured: the page itself, and the frames of its site.
    pub fn add_page(&mut self, session: &str, captured: &Value) {
        let strings = strings(captured);
        if let Some(title) = captured["documents"].get(0).and_then(|page| text_at(&strings, &page["title"])) {
            self.title = title.trim().to_owned();
        }
        self.add(
            session,
            captured,
            &strings,
            Frame { document: 0, at: (0.0, 0.0), element: 0, bounds: None, offset: 0 },
        );
    }

    /// Adds what the session of a frame of another site captured. `owner` is the id of the element that the frame is in.
    pub fn add_frame(&mut self, session: &str, captured: &Value, owner: i64) {
        let Some(Element { bounds, corner, inset, drawn, .. }) = self.elements.get(&owner) else { return };
        let at = (corner.0 + inset.0, corner.1 + inset.1);
        let bounds = Some(if *drawn { *bounds } else { Rect::default() });
        let offset = self.frames.iter().map(|frame| frame.offset).max().unwrap_or_default() + OFFSET;
        let frame = Frame { document: 0, at, element: owner, bounds, offset };
        self.add(session, captured, &strings(captured), frame);
    }

    fn add(&mut self, session: &str, captured: &Value, strings: &[&str], first: Frame) {
        let documents = captured["documents"].as_array().map_or(&[][..], Vec::as_slice);
        let mut open = vec![first];
        let mut at = 0;
        while at < open.len() {
            let frame = open[at];
            at += 1;
            if let Some(document) = documents.get(frame.document) {
                self.frames.push(FrameIn {
                    id: text_at(strings, &document["frameId"]).unwrap_or_default().to_owned(),
                    session: session.to_owned(),
                    owner: frame.element,
                    offset: frame.offset,
                    at: frame.at,
                });
                let frames = of_document(document, strings, frame, self);
                open.extend(frames.into_iter().filter(|inner| inner.document > frame.document));
            }
        }
    }
}

fn strings(captured: &Value) -> Vec<&str> {
    list(&captured["strings"]).iter().map(|text| text.as_str().unwrap_or_default()).collect()
}

fn text_at<'a>(strings: &[&'a str], index: &Value) -> Option<&'a str> {
    strings.get(usize::try_from(index.as_i64()?).ok()?).copied()
}

/// A frame, or the page itself.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Index of its document.
    document: usize,
    /// Position of its content in the window.
    at: (f64, f64),
    /// Id of the element that it is in; 0 for the page.
    element: i64,
    /// Bounds of that element.
    bounds: Option<Rect>,
    /// What is added to the ids of its nodes.
    offset: i64,
}

/// Adds the elements of a document. Returns the frames in it.
fn of_document(document: &Value, strings: &[&str], frame: Frame, layout: &mut Layout) -> Vec<Frame> {
    let nodes = &document["nodes"];
    let ids: Vec<i64> =
        list(&nodes["backendNodeId"]).iter().map(|id| id.as_i64().unwrap_or_default() + frame.offset).collect();
    let mut found: Vec<Element> = (0..ids.len()).map(|i| element(nodes, i, strings)).collect();
    for index in list(&nodes["isClickable"]["index"]).iter().filter_map(index_of) {
        found.get_mut(index).into_iter().for_each(|element| element.clickable = true);
    }
    set_values(nodes, strings, &mut found);
    let scrolled = (number(&document["scrollOffsetX"]), number(&document["scrollOffsetY"]));
    place(&document["layout"], strings, (frame.at.0 - scrolled.0, frame.at.1 - scrolled.1), &mut found);
    mark_pointed(nodes, &mut found);
    clip(nodes, &mut found, frame.bounds);
    let frames = &nodes["contentDocumentIndex"];
    let frames = list(&frames["index"]).iter().zip(list(&frames["value"])).filter_map(|(node, child)| {
        let node = index_of(node)?;
        let Element { bounds, corner, inset, drawn, .. } = found.get(node)?;
        let at = (corner.0 + inset.0, corner.1 + inset.1);
        let bounds = if *drawn { *bounds } else { Rect::default() };
        Some(Frame {
            document: index_of(child)?,
            at,
            element: *ids.get(node)?,
            bounds: Some(bounds),
            offset: frame.offset,
        })
    });
    let frames = frames.collect();
    for (node, id) in ids.iter().enumerate() {
        let parent = index_of(&nodes["parentIndex"][node]).and_then(|parent| ids.get(parent).copied());
        layout.parents.extend(parent.or((frame.element != 0).then_some(frame.element)).map(|parent| (*id, parent)));
    }
    layout.elements.extend(ids.iter().copied().zip(found));
    frames
}

/// Marks the outermost elements with the cursor of links as clickable. Those in them inherit the cursor.
fn mark_pointed(nodes: &Value, found: &mut [Element]) {
    for node in 0..found.len() {
        let parent = index_of(&nodes["parentIndex"][node]);
        found[node].clickable |= found[node].points && !parent.is_some_and(|parent| found[parent].points);
    }
}

/// Returns an element with its tag and its attributes.
fn element(nodes: &Value, index: usize, strings: &[&str]) -> Element {
    let tag = text_at(strings, &nodes["nodeName"][index]).unwrap_or_default().to_owned();
    let mut element = Element { tag, ..Element::default() };
    for pair in list(&nodes["attributes"][index]).chunks_exact(2) {
        let (Some(name), Some(value)) = (text_at(strings, &pair[0]), text_at(strings, &pair[1])) else { continue };
        let own = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match name {
            "id" => element.id = own().or(element.id),
            "name" | "data-testid" => element.id = element.id.or_else(own),
            "class" => element.class = telling_class(value),
            "type" => element.kind = own().map(|kind| kind.to_lowercase()),
            "placeholder" => element.placeholder = own(),
            _ => {}
        }
    }
    element
}

/// Returns the longest of the classes of an element that consist of words. Those with digits are often generated, and
/// some say only in which state an element is.
fn telling_class(classes: &str) -> Option<String> {
    const STATES: [&str; 9] =
        ["active", "selected", "disabled", "hover", "focus", "open", "hidden", "visible", "current"];
    let words = |class: &&str| {
        let is_word = class.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_');
        is_word && (3..=24).contains(&class.len()) && !STATES.iter().any(|state| class.contains(state))
    };
    classes.split_whitespace().filter(words).max_by_key(|class| class.len()).map(str::to_owned)
}

/// Sets the values of fields. A list of choices has the text of the chosen one.
fn set_values(nodes: &Value, strings: &[&str], found: &mut [Element]) {
    // Fields of several lines come second.
    for values in [&nodes["inputValue"], &nodes["textValue"]] {
        for (index, value) in list(&values["index"]).iter().zip(list(&values["value"])) {
            if let Some(element) = index_of(index).and_then(|index| found.get_mut(index)) {
                element.value = text_at(strings, value).map(str::to_owned);
            }
        }
    }
    let parent = |node: usize| index_of(&nodes["parentIndex"][node]);
    for option in list(&nodes["optionSelected"]["index"]).iter().filter_map(index_of) {
        let text = (0..found.len()).find(|node| parent(*node) == Some(option));
        let text = text.and_then(|node| text_at(strings, &nodes["nodeValue"][node]));
        let mut around = std::iter::successors(parent(option), |node| parent(*node));
        let choices = around.find(|node| found.get(*node).is_some_and(|element| element.tag == "SELECT"));
        if let Some(element) = choices.and_then(|node| found.get_mut(node)) {
            element.value = text.map(|text| text.trim().to_owned());
        }
    }
}

/// Sets where elements are. `left` and `top` are the position of the document in the window.
fn place(laid: &Value, strings: &[&str], (left, top): (f64, f64), found: &mut [Element]) {
    for (i, index) in list(&laid["nodeIndex"]).iter().enumerate() {
        let Some(element) = index_of(index).and_then(|index| found.get_mut(index)) else { continue };
        let [x, y, width, height] = [0, 1, 2, 3].map(|n| number(&laid["bounds"][i][n]));
        let (x, y) = (x + left, y + top);
        let bounds = Rect {
            left: x.round() as i32,
            top: y.round() as i32,
            right: (x + width).round() as i32,
            bottom: (y + height).round() as i32,
        };
        let style = |n: usize| text_at(strings, &laid["styles"][i][n]).unwrap_or_default();
        let drawn = style(0) != "hidden" && style(1) != "0" && bounds.area() > 0;
        element.bounds = if element.drawn { element.bounds.union(&bounds) } else { bounds };
        if element.kind.as_deref() == Some("number") {
            element.bounds.right -= ARROWS.min(element.bounds.width() / 2);
        }
        element.drawn |= drawn;
        let (all, shown) = (number(&laid["scrollRects"][i][3]), number(&laid["clientRects"][i][3]));
        element.scrolls = matches!(style(2), "auto" | "scroll") && all > shown + 1.0 && shown > 0.0;
        element.clickable &= style(3) != "none";
        element.points = style(6) == "pointer" && style(3) != "none" && !element.tag.starts_with('#');
        // A text has the style of the element that it is in.
        let is_inline = style(5).is_empty() || style(5).starts_with("inline") || style(5) == "contents";
        element.is_block = !is_inline && !element.tag.starts_with('#');
        element.inset = (number(&laid["clientRects"][i][0]), number(&laid["clientRects"][i][1]));
        element.clipping.clips = matches!(style(2), "hidden" | "clip");
        element.clipping.position = match style(4) {
            "fixed" => Position::Fixed,
            "absolute" => Position::Absolute,
            "relative" | "sticky" => Position::Relative,
            _ => Position::Flow,
        };
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index_of(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|index| usize::try_from(index).ok())
}
