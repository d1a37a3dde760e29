//! The layout of a page: where each element is, and what it is in the document, from `DOMSnapshot.captureSnapshot`.

use std::collections::HashMap;

use afd_screen::page::Rect;
use serde_json::Value;

/// Styles that the browser reports for each element, in this order.
pub const STYLES: [&str; 4] = ["visibility", "opacity", "overflow-y", "pointer-events"];

/// What the layout says of an element.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    /// Bounds in the window, in CSS pixels.
    pub bounds: Rect,
    /// Whether it is drawn.
    pub drawn: bool,
    /// Whether its content scrolls inside of it.
    pub scrolls: bool,
    /// Whether the page listens to clicks on it.
    pub clickable: bool,
    /// Name of the tag, in capitals.
    pub tag: String,
    /// Attribute `id`, else `name` or `data-testid`.
    pub id: Option<String>,
    /// Attribute `type`.
    pub kind: Option<String>,
    /// Attribute `placeholder`.
    pub placeholder: Option<String>,
    /// Value of a field.
    pub value: Option<String>,
}

/// The elements of all documents of a page, by their backend node ids.
#[derive(Debug, Default)]
pub struct Layout {
    /// The elements by id.
    pub elements: HashMap<i64, Element>,
    /// Ids of the frames, with the id of the element that each is in; the page itself comes first, with id 0.
    pub frames: Vec<(String, i64)>,
    /// Title of the page.
    pub title: String,
    /// Parents of the nodes, by id. The parent of a frame's document is the element that the frame is in.
    pub parents: HashMap<i64, i64>,
}

impl Layout {
    /// Returns a node and those around it, innermost first.
    pub fn around(&self, node: i64) -> impl Iterator<Item = i64> {
        std::iter::successors(Some(node), |node| self.parents.get(node).copied()).take(MAX_DEPTH)
    }
}

/// Maximum number of nodes around each other that are looked at.
const MAX_DEPTH: usize = 2_000;

/// Reads the layout of a page.
pub fn read(captured: &Value) -> Layout {
    let strings: Vec<&str> =
        captured["strings"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default()).collect();
    let documents = captured["documents"].as_array().map_or(&[][..], Vec::as_slice);
    let mut layout = Layout::default();
    if let Some(title) = documents.first().and_then(|page| text_at(&strings, &page["title"])) {
        layout.title = title.trim().to_owned();
    }
    // Documents in the order in which their frames are found, with the position of the frame's content and its element.
    let mut open: Vec<(usize, (f64, f64), i64)> = vec![(0, (0.0, 0.0), 0)];
    let mut at = 0;
    while at < open.len() {
        let (index, offset, owner) = open[at];
        at += 1;
        if let Some(document) = documents.get(index) {
            let text = |index: &Value| text_at(&strings, index);
            layout.frames.push((text(&document["frameId"]).unwrap_or_default().to_owned(), owner));
            let frames = of_document(document, &strings, (offset, owner), &mut layout);
            open.extend(frames.into_iter().filter(|(child, ..)| *child > index));
        }
    }
    layout
}

fn text_at<'a>(strings: &[&'a str], index: &Value) -> Option<&'a str> {
    strings.get(usize::try_from(index.as_i64()?).ok()?).copied()
}

/// Adds the elements of a document. Returns the frames in it: the index of the document, the position of its content, and
/// the id of the element.
fn of_document(
    document: &Value,
    strings: &[&str],
    ((left, top), owner): ((f64, f64), i64),
    layout: &mut Layout,
) -> Vec<(usize, (f64, f64), i64)> {
    let nodes = &document["nodes"];
    let ids: Vec<i64> = list(&nodes["backendNodeId"]).iter().map(|id| id.as_i64().unwrap_or_default()).collect();
    let mut found: Vec<Element> = (0..ids.len()).map(|i| element(nodes, i, strings)).collect();
    for index in list(&nodes["isClickable"]["index"]).iter().filter_map(index_of) {
        found.get_mut(index).into_iter().for_each(|element| element.clickable = true);
    }
    set_values(nodes, strings, &mut found);
    let scrolled = (number(&document["scrollOffsetX"]), number(&document["scrollOffsetY"]));
    place(&document["layout"], strings, (left - scrolled.0, top - scrolled.1), &mut found);
    let frames = &nodes["contentDocumentIndex"];
    let frames = list(&frames["index"]).iter().zip(list(&frames["value"])).filter_map(|(node, child)| {
        let node = index_of(node)?;
        let bounds = found.get(node)?.bounds;
        Some((index_of(child)?, (f64::from(bounds.left), f64::from(bounds.top)), *ids.get(node)?))
    });
    let frames = frames.collect();
    for (node, id) in ids.iter().enumerate() {
        let parent = index_of(&nodes["parentIndex"][node]).and_then(|parent| ids.get(parent).copied());
        layout.parents.extend(parent.or((owner != 0).then_some(owner)).map(|parent| (*id, parent)));
    }
    layout.elements.extend(ids.iter().copied().zip(found));
    frames
}

/// Returns an element with its tag and its attributes.
fn element(nodes: &Value, index: usize, strings: &[&str]) -> Element {
    let tag = text_at(strings, &nodes["nodeName"][index]).unwrap_or_default().to_owned();
    let mut element = Element { tag, ..Element::default() };
    for pair in list(&nodes["attributes"][index]).chunks_exact(2) {
        let (Some(name), Some(value)) = (text_at(strings, &pair[0]), text_at(strings, &pair[1])) else { continue };
        let value = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match name {
            "id" => element.id = value().or(element.id),
            "name" | "data-testid" => element.id = element.id.or_else(value),
            "type" => element.kind = value().map(|kind| kind.to_lowercase()),
            "placeholder" => element.placeholder = value(),
            _ => {}
        }
    }
    element
}

/// Sets the values of fields. A list of choices has the text of the chosen one.
fn set_values(nodes: &Value, strings: &[&str], found: &mut [Element]) {
    let values = &nodes["inputValue"];
    for (index, value) in list(&values["index"]).iter().zip(list(&values["value"])) {
        if let Some(element) = index_of(index).and_then(|index| found.get_mut(index)) {
            element.value = text_at(strings, value).map(str::to_owned);
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
        element.drawn |= drawn;
        let (all, shown) = (number(&laid["scrollRects"][i][3]), number(&laid["clientRects"][i][3]));
        element.scrolls = matches!(style(2), "auto" | "scroll") && all > shown + 1.0 && shown > 0.0;
        element.clickable &= style(3) != "none";
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
