//! Outlines: the contents of a screen as short text, with one line per element in one tree, for agents that pay per
//! token.
//!
//! A line contains the alias, the role and the label of an element, and the value of a field. Its indentation shows
//! which elements enclose it. System bars, the keyboard, elements behind a modal dialog, and text that a label already
//! contains are left out. All text from the screen is quoted on its line ([`quoted`]), so that no text can imitate
//! another line.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use afd_proto::vocabulary::Role;

use super::element_ref::Ref;
use super::folding::MAX_TEXT;
pub use super::quoting::{plain, quoted};
use super::snapshot::{Flag, Node, Snapshot, Trait, WindowKind};
use super::{element_state, label, touch};

/// An element in an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Index of the node.
    pub node: usize,
    /// Number of elements in the outline that enclose this element.
    pub depth: usize,
    /// Index of the element in the list of refs; `None` for plain text.
    pub at: Option<usize>,
    /// Role of the element.
    pub role: Role,
    /// Label of the element; empty if it has none.
    pub label: String,
    /// Name part of the element's resource id, if the element has no label.
    pub id: Option<String>,
    /// Name, if the element has no label: its caption or, if it has neither a caption nor an id, its place.
    pub name: Option<Name>,
    /// Text in a field; `None` for an empty field or any other element.
    pub value: Option<String>,
    /// Whether the element appears interactive but is disabled.
    pub disabled: bool,
    /// Whether the element is a heading.
    pub heading: bool,
    /// Whether the element is risky; [`items`] leaves this to the caller, who knows the rules.
    pub risky: bool,
}

/// Name of an element that has no label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// Text inside, beside or directly above the element.
    Caption(String),
    /// The place of the element on the screen.
    Place(String),
}

/// Returns the elements of a screen in tree order. `refs` are the refs of the snapshot. The first plain text that
/// equals `title` is left out, because the outline begins with the title.
pub fn items(snapshot: &Snapshot, refs: &[Ref], title: Option<&str>) -> Vec<Item> {
    let at: HashMap<usize, usize> = refs.iter().enumerate().map(|(at, r)| (r.node, at)).collect();
    // The depth and label of each listed node, to find the element that encloses another node.
    let mut told: HashMap<usize, (usize, String)> = HashMap::new();
    let mut title = title;
    // A caption is printed as the name of its control.
    let captions: HashSet<&str> = refs.iter().filter(|r| r.is_caption).filter_map(|r| r.name.as_deref()).collect();
    let mut items = Vec::new();
    for (index, node) in snapshot.nodes.iter().enumerate() {
        let told_of = matches!(snapshot.kind_of(node), WindowKind::Page | WindowKind::Banner);
        if !told_of || snapshot.geometry().shown(index).area() == 0 || snapshot.hidden_by(index).is_some() {
            continue;
        }
        let enclosing = snapshot.ancestors(index).find_map(|a| told.get(&a));
        let depth = enclosing.map_or(0, |(depth, _)| depth + 1);
        let item = match at.get(&index) {
            Some(at) => Some(element(snapshot, &refs[*at], *at, depth)),
            None => plain_text(snapshot, index, depth, enclosing.map(|(_, label)| label.as_str())),
        };
        let Some(item) = item else { continue };
        // The visible edge of a row whose texts are out of sight carries no information.
        if item.label.is_empty() && item.id.is_none() && touch::edge_in_sight(snapshot, index).is_some() {
            continue;
        }
        if item.at.is_none() && !item.disabled && captions.contains(item.label.as_str()) {
            continue;
        }
        if item.at.is_none() && title == Some(item.label.as_str()) {
            title = None;
            continue;
        }
        // Plain text encloses nothing.
        if item.at.is_some() {
            told.insert(index, (depth, item.label.clone()));
        }
        items.push(item);
    }
    items
}

fn element(snapshot: &Snapshot, r: &Ref, at: usize, depth: usize) -> Item {
    let node = &snapshot.nodes[r.node];
    // An empty field shows its hint.
    let value = node.text.clone().filter(|t| node.is(Flag::Editable) && !t.is_empty() && *t != r.label.title);
    let role = node.role;
    // An element may describe its state, apart from its name.
    let is_on = role == Role::Switch && node.text.is_some() && element_state::is_on(snapshot, r.node).is_some();
    let is_state = |desc: &String| is_on || !node.is(Flag::Editable) && label::is_state(desc);
    let value =
        value.or_else(|| node.desc.clone().filter(|desc| is_state(desc) && !r.label.title.contains(desc.as_str())));
    let value = value.or_else(|| reported(node));
    // A container that scrolls needs no name.
    let id = node.id_name().filter(|_| r.label.title.is_empty() && role != Role::List).map(str::to_owned);
    let name = r.name.clone().filter(|_| r.is_caption || id.is_none()).map(if r.is_caption {
        Name::Caption
    } else {
        Name::Place
    });
    Item {
        node: r.node,
        depth,
        at: Some(at),
        role,
        label: r.label.text(),
        id,
        name,
        value,
        disabled: false,
        heading: false,
        risky: false,
    }
}

/// Returns whether an element is on, as the device reports it.
fn reported(node: &Node) -> Option<String> {
    node.checked.map(|on| if on { "checked" } else { "not checked" }.to_owned())
}

/// Returns the item of a node that is not interactive: its text, unless the label of the enclosing element contains it.
fn plain_text(snapshot: &Snapshot, index: usize, depth: usize, enclosing: Option<&str>) -> Option<Item> {
    let node = &snapshot.nodes[index];
    let own = label::own_words(node).map(str::trim).filter(|t| !t.is_empty())?;
    let able = [Flag::Clickable, Flag::Editable].into_iter().any(|f| node.is(f)) || node.role == Role::Button;
    let disabled = able && !node.is(Flag::Enabled);
    // A disabled control is listed even if the enclosing label contains its text: a card with a disabled button must
    // not look like a card with a working one.
    if !disabled && enclosing.is_some_and(|label| label.contains(own)) {
        return None;
    }
    let role = if disabled { node.role } else { Role::Text };
    Some(Item {
        node: index,
        depth,
        at: None,
        role,
        label: label::of(snapshot, index).text(),
        id: None,
        name: None,
        value: reported(node),
        disabled,
        heading: node.has(Trait::Heading),
        risky: false,
    })
}

/// Returns the number of interactive elements that a dialog or an overlay hides.
pub fn behind(snapshot: &Snapshot) -> usize {
    let is_behind = |i: &usize| {
        let node = &snapshot.nodes[*i];
        node.is_ref() && snapshot.is_content(node) && snapshot.hidden_by(*i).is_some()
    };
    (0..snapshot.nodes.len()).filter(is_behind).count()
}

impl Item {
    /// Returns the line of the item without its indentation. `alias` is the alias of its ref.
    pub fn line(&self, alias: Option<&str>) -> String {
        let mut line = String::new();
        if let Some(alias) = alias {
            let _ = write!(line, "{alias} ");
        }
        // An alias already shows that the element is interactive. The generic roles add nothing to that.
        let telling = !matches!(self.role, Role::Text | Role::View | Role::Any);
        if self.heading {
            line.push_str("heading ");
        } else if telling {
            let _ = write!(line, "{} ", self.role);
        }
        let is_plain = |id: &&String| id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        match (self.id.as_ref().filter(is_plain), &self.name) {
            (_, Some(Name::Caption(caption))) => drop(write!(line, "{} ", quoted(caption, MAX_TEXT))),
            (Some(id), _) => drop(write!(line, "#{id} ")),
            (None, _) if !self.label.is_empty() => drop(write!(line, "{} ", quoted(&self.label, MAX_TEXT))),
            (None, Some(Name::Place(place))) => drop(write!(line, "{place} ")),
            (None, None) => {}
        }
        if let Some(value) = &self.value {
            let _ = write!(line, "= {} ", quoted(value, MAX_TEXT));
        }
        if self.disabled {
            line.push_str("disabled ");
        }
        if self.risky {
            line.push_str("risky ");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns the alias numbers of the current refs. A ref that was shown before keeps its number; other refs get new
/// numbers above all earlier numbers. `same` has the numbers of the refs that are certainly the same elements. Others are
/// paired by identity, title and context. If several of these are alike and their count changed, none of them keeps its
/// number.
pub fn carried_numbers(now: &[Ref], before: &[(u32, &Ref)], same: &HashMap<usize, u32>) -> Vec<u32> {
    fn what(r: &Ref) -> (&str, &str, &str) {
        (&r.identity, &r.label.title, &r.context)
    }
    let mut known: HashMap<(&str, &str, &str), Vec<u32>> = HashMap::new();
    let taken: HashSet<u32> = same.values().copied().collect();
    let mut ordered: Vec<&(u32, &Ref)> = before.iter().filter(|(number, _)| !taken.contains(number)).collect();
    ordered.sort_by_key(|(number, _)| *number);
    ordered.iter().for_each(|(number, r)| known.entry(what(r)).or_default().push(*number));
    let mut counts: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let others = now.iter().filter(|r| !same.contains_key(&r.node));
    others.for_each(|r| *counts.entry(what(r)).or_default() += 1);
    let mut next = before.iter().map(|(number, _)| *number).max().unwrap_or_default();
    let mut met: HashMap<(&str, &str, &str), usize> = HashMap::new();
    now.iter()
        .map(|r| {
            if let Some(number) = same.get(&r.node) {
                return *number;
            }
            let nth = met.entry(what(r)).or_default();
            *nth += 1;
            let kept = known
                .get(&what(r))
                .filter(|numbers| numbers.len() == counts[&what(r)])
                .map(|numbers| numbers[*nth - 1]);
            kept.unwrap_or_else(|| {
                next += 1;
                next
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_can_forge_a_line() {
        assert_eq!(quoted(" Wi-Fi ", 100), "\"Wi-Fi\"");
        assert_eq!(quoted("a\n@n9 button \"Pay\"", 100), "\"a\\n@n9 button \\\"Pay\\\"\"");
        assert_eq!(quoted("\u{202e}evil\u{85}\u{1b}[2J", 100), "\"\\u{202e}evil\\u{85}\\u{1b}[2J\"");
        assert_eq!(quoted("abcdef", 3), "\"abc\u{2026}\"");
    }

    fn r(title: &str) -> Ref {
        let label = label::Label { title: title.to_owned(), rest: Vec::new() };
        Ref {
            node: 0,
            label,
            exact: String::new(),
            identity: "row".to_owned(),
            context: String::new(),
            name: None,
            is_caption: false,
        }
    }

    #[test]
    fn refs_keep_their_numbers_where_that_is_certain() {
        let (a, b, c, twin) = (r("a"), r("b"), r("c"), r("twin"));
        let before = [(1, &a), (2, &b), (3, &twin), (4, &twin)];
        assert_eq!(carried_numbers(&[b.clone(), c.clone(), a.clone()], &before, &HashMap::new()), [2, 5, 1]);
        assert_eq!(carried_numbers(&[twin.clone(), twin.clone()], &before, &HashMap::new()), [3, 4]);
        let (first, second) = (Ref { node: 7, ..twin.clone() }, Ref { node: 8, ..a.clone() });
        let carried = |same: &[(usize, u32)]| {
            carried_numbers(&[first.clone(), second.clone()], &before, &same.iter().copied().collect())
        };
        assert_eq!(carried(&[]), [5, 1], "it is unknown which one it is");
        assert_eq!(carried(&[(7, 4)]), [4, 1], "it is known which one it is");
        assert_eq!(carried_numbers(&[b.clone(), c], &[], &HashMap::new()), [1, 2]);
    }
}
