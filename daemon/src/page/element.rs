//! What on a screen is worth remembering as a component, and what makes it the same one the next time.
//!
//! A component is named by what it is: resource id, class, role, and its words only where nothing else tells and they do not
//! change by themselves. Rows of lists are one component for each kind of row, whatever they say.

use afd_proto::vocabulary::Role;
use std::collections::{HashMap, HashSet};

use super::snapshot::{Flag, Node, Rect, Snapshot};
use super::{label, mask, site, structure, target};

/// The longest name made of a label, characters (seed 001).
pub const MAX_NAME: usize = 30;

/// Something to be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Equal for the same element of an app, whenever and wherever it is seen.
    pub key: String,
    /// What to call it, if nothing else is called so.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// What it says; never what was typed into it, and nothing for what belongs to a list.
    pub label: Option<String>,
    /// Resource id.
    pub res_id: Option<String>,
    /// Class.
    pub class: String,
    /// Where it is.
    pub bounds: Rect,
    /// Whether it moves in and out of view with what it lies in.
    pub scrolls: bool,
}

/// An element before its twins are told apart.
struct Draft {
    element: Element,
    words: Option<String>,
    of_list: bool,
}

/// How the keys of what belongs to the rows of a list begin.
const OF_LIST: &str = "list>";

/// Whether a key is that of what belongs to the rows of a list.
pub fn is_of_list(key: &str) -> bool {
    key.starts_with(OF_LIST)
}

/// The elements of what is in front, in reading order.
pub fn all(snapshot: &Snapshot) -> Vec<Element> {
    let mut nodes = structure::front_nodes(snapshot);
    nodes.retain(|i| snapshot.nodes[*i].bounds.area() > 0);
    nodes.sort_by_key(|i| (snapshot.nodes[*i].bounds.top, snapshot.nodes[*i].bounds.left));
    let drafts: Vec<Draft> = nodes.into_iter().filter_map(|i| draft(snapshot, i)).collect();
    tell_twins_apart(drafts)
}

/// The texts that can be read on the screen, typed ones and secrets aside; each once, in reading order.
pub fn visible_texts(snapshot: &Snapshot) -> Vec<String> {
    let mut nodes = structure::front_nodes(snapshot);
    nodes.sort_by_key(|i| (snapshot.nodes[*i].bounds.top, snapshot.nodes[*i].bounds.left));
    let said = |n: &Node| !n.is(Flag::Editable) && !n.password && !site::is_address_bar(n.id_name());
    let nodes = nodes.into_iter().map(|i| &snapshot.nodes[i]).filter(|n| said(n));
    let texts = nodes.filter_map(|n| n.text.as_deref().or(n.desc.as_deref())).map(str::trim).filter(|t| !t.is_empty());
    let mut met = HashSet::new();
    texts.filter(|t| met.insert(*t)).map(str::to_owned).collect()
}

fn acts(node: &Node) -> bool {
    [Flag::Clickable, Flag::LongClickable, Flag::Editable, Flag::Scrollable].into_iter().any(|f| node.is(f))
}

fn draft(snapshot: &Snapshot, index: usize) -> Option<Draft> {
    let node = &snapshot.nodes[index];
    let says = node.text.is_some() || node.desc.is_some();
    if !acts(node) && (!says || node.is(Flag::Editable)) {
        return None;
    }
    let list = snapshot.ancestors(index).find(|a| structure::is_list(&snapshot.nodes[*a]));
    let web = snapshot.ancestors(index).any(|a| snapshot.nodes[a].class.contains("WebView"));
    let role = target::role(node);
    match list {
        Some(list) => Some(row(node, role, &snapshot.nodes[list])),
        None if web => web_element(snapshot, index, role),
        None => Some(element(snapshot, index, role)),
    }
}

/// A part of a list's rows: the same for all rows.
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
    };
    Draft { element, words: None, of_list: true }
}

/// A page of the web changes as it likes: only links and buttons with few plain words are remembered.
fn web_element(snapshot: &Snapshot, index: usize, role: Role) -> Option<Draft> {
    let words = label::of(snapshot, index).title;
    let plain = !words.is_empty() && words.chars().count() <= MAX_NAME && !words.chars().any(char::is_numeric);
    (acts(&snapshot.nodes[index]) && plain).then(|| element(snapshot, index, role))
}

fn element(snapshot: &Snapshot, index: usize, role: Role) -> Draft {
    let node = &snapshot.nodes[index];
    let words = label::of(snapshot, index).title;
    let typed = site::is_address_bar(node.id_name());
    let words = (!words.is_empty() && !node.is(Flag::Scrollable) && !typed).then_some(words);
    // What it says tells what it is only where it is there to be used; a switch says how it stands.
    let steady = words.as_deref().filter(|_| acts(node) && role != Role::Switch && role != Role::Field).map(mask::digits);
    let above = snapshot.ancestors(index).find_map(|a| snapshot.nodes[a].id_name()).unwrap_or_default();
    let key = match &node.res_id {
        Some(id) if !is_generic(id) => format!("{id}|{}|{role}", node.class),
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
    };
    Draft { element, words: steady, of_list: false }
}

/// Ids that the system gives to what is different in each app and dialog.
fn is_generic(res_id: &str) -> bool {
    res_id.starts_with("android:")
}

/// Elements alike in all else: those of a list are one, others are told apart by their words, or by their order.
fn tell_twins_apart(drafts: Vec<Draft>) -> Vec<Element> {
    let mut by_key: HashMap<&str, Twins<'_>> = HashMap::new();
    for draft in &drafts {
        let twins = by_key.entry(&draft.element.key).or_default();
        twins.count += 1;
        twins.words.extend(draft.words.as_deref());
    }
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(drafts.len());
    for draft in &drafts {
        let twins = &by_key[draft.element.key.as_str()];
        let at = met.entry(&draft.element.key).or_default();
        *at += 1;
        let mut element = draft.element.clone();
        if draft.of_list && *at > 1 {
            continue;
        }
        if !draft.of_list && twins.count > 1 {
            if twins.words.len() == twins.count {
                element.key = format!("{}|{}", element.key, draft.words.as_deref().unwrap_or_default());
            } else if *at > 1 {
                element.key = format!("{}|{at}", element.key);
            }
        }
        out.push(element);
    }
    out
}

/// Elements alike in all else.
#[derive(Default)]
struct Twins<'a> {
    count: usize,
    words: HashSet<&'a str>,
}

/// A label as a name: spaces become `_`, slashes `-`; at most [`MAX_NAME`] characters (seed 001).
pub fn clean(label: &str) -> String {
    let clean = |c: char| match c {
        '/' => '-',
        c if c.is_whitespace() || c.is_control() => '_',
        c => c,
    };
    label.chars().map(clean).take(MAX_NAME).collect()
}

/// The name of something that has none.
pub fn unlabeled(bounds: &Rect) -> String {
    let (x, y) = bounds.center();
    format!("unlabeled_{x}_{y}")
}
