//! Reads dumps of the screen: the XML of `uiautomator dump`, with and without `--windows`, that of the servers of
//! uiautomator2, and the page sources of Appium.

use std::collections::HashMap;

use afd_proto::vocabulary::Role;
use roxmltree::{Document, ParsingOptions};

use super::finish::{finish, mask_password};
use super::xml;
use afd_screen::page::mask;
use afd_screen::page::snapshot::{Flag, Flags, Node, Rect, Snapshot, Traits, Window, WindowKind};

/// Maximum number of elements and attributes in a document.
const MAX_ITEMS: u32 = 1_000_000;
/// Maximum number of windows, and of elements.
const MAX_ROOTS: usize = 50;
const MAX_NODES: usize = 20_000;
/// Package of the system's own dialogs, such as that of an app that does not respond.
const SYSTEM_DIALOGS: &str = "android";
/// Package of the system's bars and panels.
const SYSTEM_UI: &str = "com.android.systemui";
/// Parts of the packages of keyboards.
const KEYBOARDS: [&str; 3] = ["inputmethod", ".ime", "keyboard"];
/// Layers of windows where a dump does not tell them: of an app, of the app in front, of keyboards, and of the system.
const LAYERS: [i64; 4] = [1, 2, 3, 4];

/// Error from reading a dump.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// The text contains no dump.
    #[error("there is no `<hierarchy>` in it")]
    Missing,
    /// The document has more windows or elements than a screen has.
    #[error("it has more than {MAX_NODES} elements or {MAX_ROOTS} windows")]
    TooLarge,
    /// The XML is malformed.
    #[error("the XML cannot be read: {0}")]
    Malformed(String),
}

/// What a device says of its screen beside the dump.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Activity on top, as `package/activity`.
    pub activity: Option<String>,
    /// Whether the source does not report activities, as a file. The package is then used instead.
    pub without_activity: bool,
    /// Width and height of the screen in its natural orientation, in pixels.
    pub size: Option<(i32, i32)>,
    /// Bounds of the keyboard, if one is shown. A dump of one window does not contain it.
    pub keyboard: Option<Rect>,
    /// Name of the source.
    pub mode: String,
}

/// Reads a dump. Text around the document is ignored.
///
/// # Errors
/// If there is no document, or if its XML is malformed.
pub fn parse(output: &str, known: Known) -> Result<Snapshot, DumpError> {
    let document = xml::repaired(xml::document(output).ok_or(DumpError::Missing)?);
    let options = ParsingOptions { nodes_limit: MAX_ITEMS, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(&document, options).map_err(|error| DumpError::Malformed(error.to_string()))?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "hierarchy" | "displays") {
        return Err(DumpError::Missing);
    }
    let listed: Vec<Element<'_>> = root.descendants().filter(|element| element.has_tag_name("window")).collect();
    let windows = listed.len().max(root.children().filter(Element::is_element).count());
    if windows > MAX_ROOTS || root.descendants().filter(Element::is_element).count() > MAX_NODES {
        return Err(DumpError::TooLarge);
    }
    let is_activity = known.activity.as_deref().is_some_and(|activity| activity.starts_with("android/"));
    let mut reader =
        Reader { system_is_app: is_activity, nodes: Vec::new(), windows: Vec::new(), next: 1, focused: None };
    match listed.is_empty() {
        true => reader.roots(root),
        false => listed.iter().for_each(|window| reader.listed(*window)),
    }
    let Reader { mut nodes, mut windows, focused, .. } = reader;
    let rotation = root.descendants().find_map(|element| element.attribute("rotation"));
    let is_turned = matches!(rotation, Some("1" | "3"));
    let turned = |(width, height)| if is_turned { (height, width) } else { (width, height) };
    let size = known.size.map(turned).or_else(|| size(root));
    if listed.is_empty() {
        order(&mut windows, &mut nodes, focused);
    }
    if let Some(bounds) = known.keyboard {
        add_keyboard(&mut windows, &mut nodes, bounds);
    }
    let knowable = !known.without_activity;
    let mut snapshot =
        Snapshot { mode: known.mode, place_knowable: knowable, size, windows, nodes, ..Snapshot::default() };
    finish(&mut snapshot, known.activity);
    Ok(snapshot)
}

type Element<'a> = roxmltree::Node<'a, 'a>;

struct Reader {
    /// Whether the activity in front is one of the package `android`.
    system_is_app: bool,
    nodes: Vec<Node>,
    windows: Vec<Window>,
    /// Number of the next node.
    next: usize,
    /// Index of the window with the focused element.
    focused: Option<usize>,
}

impl Reader {
    /// Reads a dump without windows: each root is one.
    fn roots(&mut self, hierarchy: Element<'_>) {
        for root in hierarchy.children().filter(Element::is_element) {
            let app = root.attribute("package").unwrap_or_default().to_owned();
            let type_name = if KEYBOARDS.iter().any(|part| app.to_lowercase().contains(part)) {
                "INPUT_METHOD"
            } else if app == SYSTEM_UI || app == SYSTEM_DIALOGS && !self.system_is_app {
                "SYSTEM"
            } else {
                "APPLICATION"
            };
            let id = i64::try_from(self.windows.len()).unwrap_or_default() + 1;
            self.window(Window {
                id,
                kind: WindowKind::Page,
                type_name: type_name.to_owned(),
                app,
                title: String::new(),
                layer: 0,
                focused: false,
                place: None,
            });
            self.tree(root);
        }
    }

    /// Reads a window of a dump with windows, which come topmost first.
    fn listed(&mut self, window: Element<'_>) {
        let number = |name: &str| window.attribute(name).and_then(|text| text.parse::<i64>().ok());
        let kind = window.attribute("type").unwrap_or_default();
        let roots: Vec<Element<'_>> =
            window.children().filter(|child| child.has_tag_name("hierarchy")).flat_map(|h| h.children()).collect();
        let app = roots.iter().find_map(|root| root.attribute("package")).unwrap_or_default();
        self.window(Window {
            id: number("id").unwrap_or_default(),
            kind: WindowKind::Page,
            type_name: kind.strip_prefix("TYPE_").unwrap_or(kind).to_owned(),
            app: app.to_owned(),
            title: window.attribute("title").unwrap_or_default().to_owned(),
            layer: number("layer").unwrap_or_default(),
            focused: window.attribute("focused") == Some("true"),
            place: None,
        });
        roots.into_iter().filter(Element::is_element).for_each(|root| self.tree(root));
    }

    fn window(&mut self, window: Window) {
        self.windows.push(window);
    }

    /// Adds the nodes of a tree to the last window. Nodes without content that take no input are left out.
    fn tree(&mut self, root: Element<'_>) {
        let window = self.windows.len().saturating_sub(1);
        // The nearest listed node at or above each element.
        let mut above: HashMap<roxmltree::NodeId, usize> = HashMap::new();
        for element in root.descendants().filter(Element::is_element) {
            let parent = element.parent().and_then(|parent| above.get(&parent.id()).copied());
            let number = self.next;
            self.next += 1;
            if element.attribute("focused") == Some("true") {
                self.focused.get_or_insert(window);
            }
            match node(element, number, window, parent).filter(has_content) {
                Some(node) => {
                    above.insert(element.id(), self.nodes.len());
                    self.nodes.push(node);
                }
                None => above.extend(parent.map(|parent| (element.id(), parent))),
            }
        }
    }
}

fn has_content(node: &Node) -> bool {
    let acts = [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable];
    node.text.is_some()
        || node.desc.is_some()
        || node.res_id.is_some()
        || node.checked.is_some()
        || acts.into_iter().any(|flag| node.is(flag))
}

/// Reads a node; `None` if it has no bounds.
fn node(element: Element<'_>, number: usize, window: usize, parent: Option<usize>) -> Option<Node> {
    let text = |name: &str| element.attribute(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let is = |name: &str| element.attribute(name) == Some("true");
    // In page sources of Appium, the tag is the class.
    let class = element.attribute("class").unwrap_or_else(|| element.tag_name().name());
    let class = class.rsplit('.').next().unwrap_or(class).to_owned();
    let is_visible = ["visible-to-user", "displayed"].iter().all(|name| element.attribute(*name) != Some("false"));
    let is_field = class.contains("EditText") || class.contains("AutoComplete");
    let flags = [
        (Flag::Visible, is_visible),
        (Flag::Clickable, is("clickable")),
        (Flag::LongClickable, is("long-clickable")),
        (Flag::Focusable, is("focusable")),
        (Flag::Scrollable, is("scrollable")),
        (Flag::Editable, is_field),
        (Flag::Enabled, element.attribute("enabled") != Some("false")),
    ];
    let flags = flags.into_iter().filter(|(_, on)| *on).fold(Flags::default(), |flags, (flag, _)| flags.with(flag));
    let mut node = Node {
        id: format!("node_{number}"),
        window,
        parent,
        class,
        text: text("text"),
        desc: text("content-desc"),
        res_id: text("resource-id"),
        bounds: bounds(element.attribute("bounds")?)?,
        flags,
        role: Role::View,
        traits: Traits::default(),
        password: false,
        truncated: false,
        // Some radio buttons are marked as selected instead of checked.
        checked: is("checkable").then(|| is("checked") || is("selected")),
    };
    let hint = text("hint");
    if is_field && hint.is_some() {
        // An empty field shows its hint as its text.
        node.text = node.text.filter(|text| Some(text) != hint.as_ref());
        node.desc = node.desc.or(hint);
    }
    // An empty field shows its hint.
    if is("password") && node.text.is_some() && node.text != node.desc {
        node.text = Some(mask::HIDDEN.to_owned());
    }
    node.password = is("password");
    mask_password(&mut node);
    Some(node)
}

/// Parses `[left,top][right,bottom]`.
pub(crate) fn bounds(text: &str) -> Option<Rect> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let (from, to) = inner.split_once("][")?;
    let point = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some((x.trim().parse::<i32>().ok()?, y.trim().parse::<i32>().ok()?))
    };
    let ((left, top), (right, bottom)) = (point(from)?, point(to)?);
    Some(Rect { left, top, right, bottom })
}

/// Returns the size of the screen: what the document says, else what its elements cover.
fn size(root: Element<'_>) -> Option<(i32, i32)> {
    let said = |name: &str| root.attribute(name)?.parse::<i32>().ok().filter(|length| *length > 0);
    let all = root.descendants().filter_map(|element| bounds(element.attribute("bounds")?));
    let covered = || all.reduce(|one, other| one.union(&other)).map(|all| (all.right, all.bottom));
    said("width").zip(said("height")).or_else(covered)
}

/// Puts the roots of a dump without windows in order, topmost first, and marks the one in front. That is the one with the
/// focused element, else the smallest one of an app that takes input, because a dialog is smaller than the page below it.
fn order(windows: &mut Vec<Window>, nodes: &mut [Node], focused: Option<usize>) {
    let mut bounds = vec![None::<Rect>; windows.len()];
    let mut takes_input = vec![false; windows.len()];
    for node in nodes.iter() {
        let all = &mut bounds[node.window];
        *all = Some(all.map_or(node.bounds, |all| all.union(&node.bounds)));
        takes_input[node.window] |= node.is_ref();
    }
    let areas: Vec<i64> = bounds.iter().map(|bounds| bounds.unwrap_or_default().area()).collect();
    let apps = || (0..windows.len()).filter(|window| windows[*window].type_name == "APPLICATION");
    let is_app = |window: &usize| apps().any(|app| app == *window);
    let front = focused
        .filter(is_app)
        .or_else(|| apps().filter(|window| takes_input[*window]).min_by_key(|window| areas[*window]));
    let front = front.or_else(|| apps().next()).unwrap_or_default();
    for (index, window) in windows.iter_mut().enumerate() {
        window.focused = index == front;
        window.layer = match window.type_name.as_str() {
            "SYSTEM" => LAYERS[3],
            "INPUT_METHOD" => LAYERS[2],
            _ => LAYERS[usize::from(index == front)],
        };
    }
    let mut by_layer: Vec<usize> = (0..windows.len()).collect();
    by_layer.sort_by_key(|window| (-windows[*window].layer, areas[*window]));
    let mut places = vec![0; windows.len()];
    by_layer.iter().enumerate().for_each(|(place, window)| places[*window] = place);
    nodes.iter_mut().for_each(|node| node.window = places[node.window]);
    *windows = by_layer.iter().map(|window| windows[*window].clone()).collect();
}

/// Adds the window of a keyboard. Its keys are not known.
fn add_keyboard(windows: &mut Vec<Window>, nodes: &mut Vec<Node>, bounds: Rect) {
    let layer = windows.iter().map(|window| window.layer).max().unwrap_or_default() + 1;
    windows.push(Window {
        id: -1,
        kind: WindowKind::Keyboard,
        type_name: "INPUT_METHOD".to_owned(),
        app: String::new(),
        title: String::new(),
        layer,
        focused: false,
        place: None,
    });
    nodes.push(Node {
        id: "keyboard".to_owned(),
        window: windows.len() - 1,
        parent: None,
        class: "Keyboard".to_owned(),
        text: None,
        desc: None,
        res_id: None,
        bounds,
        flags: Flags::default().with(Flag::Visible).with(Flag::Enabled),
        role: Role::View,
        traits: Traits::default(),
        password: false,
        truncated: false,
        checked: None,
    });
}

#[cfg(test)]
#[path = "dump_tests.rs"]
mod tests;
