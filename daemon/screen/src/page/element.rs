//! Selects the elements of a screen that are remembered as components, and computes the key that identifies each of
//! them.
//!
//! A key consists of stable properties: resource id, class and role. The text of an element is part of its key only if
//! nothing else identifies the element and the text is not expected to change. The rows of a list share one component
//! per kind of row, regardless of their contents.

use afd_proto::vocabulary::Role;
use std::collections::{HashMap, HashSet};

use super::snapshot::{Flag, Node, Rect, Snapshot, Trait};
use super::{label, mask, structure};

/// Maximum length of a name made from a label, in characters.
pub const MAX_NAME: usize = 30;

/// An element that is remembered as a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Key that identifies the element within its app, across observations.
    pub key: String,
    /// Preferred name, used if no other component already has that name.
    pub name: String,
    /// Role of the element.
    pub role: Role,
    /// Label of the element; never contains typed text, and is `None` for elements in lists.
    pub label: Option<String>,
    /// Full resource id, if the element has one.
    pub res_id: Option<String>,
    /// Class name of the element, without the package.
    pub class: String,
    /// Bounds of the element, in device pixels.
    pub bounds: Rect,
    /// Whether the element lies in a scroll container, and so moves in and out of view.
    pub scrolls: bool,
    /// Whether the element lies in a web page or shows one.
    pub web: bool,
}

/// An element before duplicate keys are resolved.
struct Draft {
    element: Element,
    words: Option<String>,
    of_list: bool,
}

/// Prefix of the keys of elements inside list rows.
const OF_LIST: &str = "list>";

/// Returns whether a key belongs to an element inside list rows.
pub fn belongs_to_list(key: &str) -> bool {
    key.starts_with(OF_LIST)
}

/// Returns the elements of the foreground window, in reading order.
pub fn all(snapshot: &Snapshot) -> Vec<Element> {
    let mut nodes = structure::front_nodes(snapshot);
    nodes.retain(|i| snapshot.nodes[*i].bounds.area() > 0);
    nodes.sort_by_key(|i| (snapshot.nodes[*i].bounds.top, snapshot.nodes[*i].bounds.left));
    let drafts: Vec<Draft> = nodes.into_iter().filter_map(|i| draft(snapshot, i)).collect();
    resolve_duplicates(drafts)
}

/// Returns the readable text of the nodes in the foreground window, in reading order and without duplicates. Typed text
/// and secrets are left out.
pub fn visible_texts(snapshot: &Snapshot) -> Vec<String> {
    let mut nodes = structure::front_nodes(snapshot);
    nodes.sort_by_key(|i| (snapshot.nodes[*i].bounds.top, snapshot.nodes[*i].bounds.left));
    let readable = |n: &Node| !n.is(Flag::Editable) && !n.password && !n.has(Trait::AddressBar);
    let nodes = nodes.into_iter().map(|i| &snapshot.nodes[i]).filter(|n| readable(n));
    let texts = nodes.filter_map(|n| n.text.as_deref().or(n.desc.as_deref())).map(str::trim).filter(|t| !t.is_empty());
    let mut met = HashSet::new();
    texts.filter(|t| met.insert(*t)).map(str::to_owned).collect()
}

fn acts(node: &Node) -> bool {
    [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable].into_iter().any(|f| node.is(f))
}

fn draft(snapshot: &Snapshot, index: usize) -> Option<Draft> {
    let node = &snapshot.nodes[index];
    let has_text = node.text.is_some() || node.desc.is_some();
    if !acts(node) && (!has_text || node.is(Flag::Editable)) {
        return None;
    }
    let list = snapshot.ancestors(index).find(|a| structure::is_list(&snapshot.nodes[*a]));
    let web = structure::in_web(snapshot, index);
    let role = node.role;
    let mut draft = match list {
        Some(list) => Some(row(node, role, &snapshot.nodes[list])),
        None if web => web_element(snapshot, index, role),
        None => Some(element(snapshot, index, role)),
    }?;
    draft.element.web = web || node.has(Trait::Web);
    Some(draft)
}

/// Returns the element that represents the same part of every row in a list.
fn row(node: &Node, role: Role, list: &Node) -> Draft {
    let within = list.res_id.as_deref().unwrap_or(&list.class);
    let what = node.res_id.as_deref().unwrap_or(&node.class);
    let name = format!("{}_{}", list.id_name().unwrap_or("list"), node.id_name().unwrap_or("row"));
    let element = Element {
        key: format!("{OF_LIST}{within}>{what}|{}|{role}", node.class),
        name: clean(&name),
        role,
        label: None,
        res_id: node.res_id.clone(),
        class: node.class.clone(),
        bounds: node.bounds,
        scrolls: true,
        web: false,
    };
    Draft { element, words: None, of_list: true }
}

/// Returns the element for a node inside a web page. Web pages can change at any time, so only interactive elements
/// with a short label without digits are remembered.
fn web_element(snapshot: &Snapshot, index: usize, role: Role) -> Option<Draft> {
    let words = label::of(snapshot, index).title;
    let plain = !words.is_empty() && words.chars().count() <= MAX_NAME && !words.chars().any(char::is_numeric);
    (acts(&snapshot.nodes[index]) && plain).then(|| element(snapshot, index, role))
}

fn element(snapshot: &Snapshot, index: usize, role: Role) -> Draft {
    let node = &snapshot.nodes[index];
    let words = label::of(snapshot, index).title;
    let typed = node.has(Trait::AddressBar);
    let words = (!words.is_empty() && !node.is(Flag::Scrollable) && !typed).then_some(words);
    let steady = words.as_deref().filter(|words| acts(node) && is_name(snapshot, node, words)).map(mask::digits);
    let above = snapshot.ancestors(index).find_map(|a| snapshot.nodes[a].id_name()).unwrap_or_default();
    let key = match &node.res_id {
        Some(id) if !node.has(Trait::SystemId) => format!("{id}|{}|{role}", node.class),
        Some(id) => format!("{id}|{}|{role}|{}", node.class, steady.as_deref().unwrap_or_default()),
        None => format!("{above}/{}|{role}|{}", node.class, steady.as_deref().unwrap_or_default()),
    };
    let named_by_words = steady.as_deref().filter(|s| !s.contains('#')).map(clean);
    let name = named_by_words.or_else(|| node.id_name().map(clean)).unwrap_or_else(|| unlabeled(&node.bounds));
    let element = Element {
        key,
        name,
        role,
        label: words,
        res_id: node.res_id.clone(),
        class: node.class.clone(),
        bounds: node.bounds,
        scrolls: snapshot.ancestors(index).any(|a| snapshot.nodes[a].is(Flag::Scrollable)),
        web: false,
    };
    Draft { element, words: steady, of_list: false }
}

/// Returns whether the words of an interactive element are its name. Those of a switch or a field may be its state or its
/// value, except on a web page, which names them.
fn is_name(snapshot: &Snapshot, node: &Node, words: &str) -> bool {
    match node.role {
        Role::Switch => snapshot.site.is_some() && !label::is_state(words),
        Role::Field => snapshot.site.is_some() && node.is(Flag::Editable) && !label::is_state(words),
        _ => true,
    }
}

/// Makes keys unique. Duplicates inside a list become one element. Other duplicates get their text as a suffix if no
/// two have the same text. Otherwise every duplicate after the first gets its ordinal number as a suffix.
fn resolve_duplicates(drafts: Vec<Draft>) -> Vec<Element> {
    let mut by_key: HashMap<&str, Duplicates<'_>> = HashMap::new();
    for draft in &drafts {
        let duplicates = by_key.entry(&draft.element.key).or_default();
        duplicates.count += 1;
        duplicates.words.extend(draft.words.as_deref());
    }
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(drafts.len());
    for draft in &drafts {
        let duplicates = &by_key[draft.element.key.as_str()];
        let at = met.entry(&draft.element.key).or_default();
        *at += 1;
        let mut element = draft.element.clone();
        if draft.of_list && *at > 1 {
            continue;
        }
        if !draft.of_list && duplicates.count > 1 {
            if duplicates.words.len() == duplicates.count {
                element.key = format!("{}|{}", element.key, draft.words.as_deref().unwrap_or_default());
            } else if *at > 1 {
                element.key = format!("{}|{at}", element.key);
            }
        }
        out.push(element);
    }
    out
}

/// Elements with the same key.
#[derive(Default)]
struct Duplicates<'a> {
    count: usize,
    words: HashSet<&'a str>,
}

/// Converts a label into a name of at most [`MAX_NAME`] characters. Whitespace and control characters become `_`, and
/// slashes become `-`.
pub fn clean(label: &str) -> String {
    let clean = |c: char| match c {
        '/' => '-',
        c if c.is_whitespace() || c.is_control() => '_',
        c => c,
    };
    label.chars().map(clean).take(MAX_NAME).collect()
}

/// Returns a name for an element without a label, made from the coordinates of its centre.
pub fn unlabeled(bounds: &Rect) -> String {
    let (x, y) = bounds.center();
    format!("unlabeled_{x}_{y}")
}
