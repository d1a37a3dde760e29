//! Selectors find the elements on a screen that a value refers to.
//!
//! All commands accept the same values: a label, a title, the beginning of a label, `#id`, or the place of an element
//! without a name, as an outline prints them. A label refers only to elements on the page: not to system bars, the
//! keyboard, or elements behind a dialog. An exact match wins over a folded one, and a whole match over a partial one.

use afd_proto::vocabulary::{By, Role};

use super::element_ref::Ref;
pub use super::folding::Fit;
use super::folding::Wanted;
use super::layers::Side;
use super::snapshot::{Flag, Node, Snapshot, WindowKind};
use super::{label, structure, touch};

/// A selector, which finds nodes by one of their properties.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'a> {
    /// Property to compare; aliases are resolved elsewhere.
    pub by: By,
    /// Value to look for.
    pub value: &'a str,
    /// Whether the property must equal the value, including case. Otherwise it must contain the value, ignoring case.
    pub exact: bool,
}

impl Selector<'_> {
    /// Returns whether a node matches.
    pub fn matches(&self, node: &Node) -> bool {
        let value = match self.by {
            By::Text => node.text.as_deref(),
            By::Desc => node.desc.as_deref(),
            By::Label => {
                let own = [&node.text, &node.desc].into_iter().flatten();
                return own.into_iter().any(|text| compare(text, self.value, self.exact));
            }
            By::ResId => node.res_id.as_deref(),
            By::Class => {
                let wanted = self.value.rsplit('.').next().unwrap_or(self.value);
                return compare(&node.class, wanted, self.exact);
            }
            By::Ref => None,
        };
        // An exact match may leave out the package: `title` matches `android:id/title`.
        let by_name =
            self.by == By::ResId && node.id_name().is_some_and(|name| name == self.value.trim_start_matches('#'));
        by_name || value.is_some_and(|v| compare(v, self.value, self.exact))
    }
}

fn compare(value: &str, wanted: &str, exact: bool) -> bool {
    if exact { value == wanted } else { Wanted::new(wanted).is_in(value) }
}

/// The gesture that is performed on an element. The gesture determines which ancestor of a text node is the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// A single or double tap.
    Tap,
    /// A long press or a drag.
    Press,
    /// Text entry into a field.
    Fill,
}

impl Gesture {
    fn is_taken_by(self, node: &Node) -> bool {
        let able = match self {
            Gesture::Tap => [Flag::Clickable, Flag::Editable].as_slice(),
            Gesture::Press => [Flag::LongClickable, Flag::Clickable, Flag::Editable].as_slice(),
            Gesture::Fill => [Flag::Editable].as_slice(),
        };
        node.is_ref() && able.iter().any(|f| node.is(*f))
    }
}

/// An element that a selector's value refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// How closely the element matches.
    pub fit: Fit,
    /// Index of the element's node.
    pub element: usize,
    /// Index of the node inside the element whose text matches, if it is a different node. A touch goes to that node.
    pub text: Option<usize>,
    /// Whether the flags of the element show that it takes the gesture.
    pub marked: bool,
}

/// The elements that a selector's value refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The best matches in sight.
    pub best: Vec<Match>,
    /// Indices of matching nodes that another window or an overlay hides.
    pub hidden: Vec<usize>,
    /// Indices of the closest matches that are off the screen, with the side on which they lie.
    pub off_screen: Vec<(usize, Side)>,
    /// How closely these match.
    pub off_screen_fit: Option<Fit>,
    /// Number of nodes that match, however closely.
    pub count: usize,
}

/// Finds the elements that a label, text or description refers to. `refs` are the refs of the snapshot.
pub fn find(snapshot: &Snapshot, refs: &[Ref], selector: &Selector<'_>, gesture: Gesture) -> Matches {
    let wanted = Wanted::new(selector.value);
    let mut found = Matches::default();
    let mut all: Vec<Match> = Vec::new();
    let mut off_screen: Vec<(Fit, usize, Side)> = Vec::new();
    for (index, node) in snapshot.nodes.iter().enumerate() {
        let Some(fit) = own_fit(node, selector, &wanted) else { continue };
        if !is_on_page(snapshot, node) {
            continue;
        }
        found.count += 1;
        if !node.is(Flag::Visible) || snapshot.geometry().shown(index).area() == 0 {
            off_screen.extend(touch::side(snapshot, index).filter(|_| fit <= Fit::Word).map(|side| (fit, index, side)));
        } else if snapshot.hidden_by(index).is_some() {
            found.hidden.extend((fit <= Fit::Word).then_some(index));
        } else {
            all.push(element_of(snapshot, refs, index, fit, gesture));
        }
    }
    found.off_screen_fit = off_screen.iter().map(|(fit, ..)| *fit).min();
    off_screen.retain(|(fit, ..)| Some(*fit) == found.off_screen_fit);
    found.off_screen = off_screen.into_iter().map(|(_, index, side)| (index, side)).collect();
    let by_label = matches!(selector.by, By::Label | By::Text);
    for r in refs.iter().filter(|r| by_label && is_on_page(snapshot, &snapshot.nodes[r.node])) {
        let node = &snapshot.nodes[r.node];
        if let Some(fit) = label_fit(r, node, selector.by, &wanted) {
            let marked = gesture.is_taken_by(node);
            if marked || gesture == Gesture::Press || (gesture == Gesture::Tap && takes_something(node)) {
                found.count += 1;
                all.push(Match { fit, element: r.node, text: None, marked });
            }
        }
    }
    if gesture == Gesture::Fill && all.iter().any(|m| m.marked) {
        all.retain(|m| m.marked);
    }
    if selector.exact {
        all.retain(|m| m.fit <= Fit::Title);
    }
    found.best = best(snapshot, all);
    found
}

/// Returns how closely a node's text or description matches, or `None` if neither matches.
fn own_fit(node: &Node, selector: &Selector<'_>, wanted: &Wanted) -> Option<Fit> {
    let texts: &[&Option<String>] = match selector.by {
        By::Text => &[&node.text],
        By::Desc => &[&node.desc],
        _ => &[&node.text, &node.desc],
    };
    texts.iter().copied().flatten().filter_map(|text| wanted.fit(text)).min()
}

/// Returns how closely a value matches the form in which an outline prints a ref: the ref's label or the beginning of
/// its label, its title, its caption, its id or its place. Returns `None` if none of these matches.
fn label_fit(r: &Ref, node: &Node, by: By, wanted: &Wanted) -> Option<Fit> {
    let at_most = |text: &str, least: Fit| wanted.fit(text).filter(|fit| *fit <= least);
    let label = r.label.text();
    let whole = (!label.is_empty()).then(|| at_most(&label, Fit::Start)).flatten();
    let title = (!r.label.title.is_empty())
        .then(|| at_most(&r.label.title, Fit::Whole).map(|fit| fit.max(Fit::Title)))
        .flatten();
    let name = r
        .name
        .as_deref()
        .filter(|_| by == By::Label)
        .and_then(|name| at_most(name, if r.is_caption { Fit::Start } else { Fit::Whole }));
    let id = node
        .id_name()
        .filter(|_| by == By::Label)
        .and_then(|id| at_most(&format!("#{id}"), Fit::Whole))
        .map(|fit| fit.max(Fit::Whole));
    [whole, title, name.map(|fit| fit.max(Fit::Title)), id].into_iter().flatten().min()
}

fn takes_something(node: &Node) -> bool {
    node.is(Flag::LongClickable) || node.is(Flag::Scrollable)
}

/// Returns whether a label can refer to a node: the node belongs to a page or to a banner over it.
fn is_on_page(snapshot: &Snapshot, node: &Node) -> bool {
    matches!(snapshot.kind_of(node), WindowKind::Page | WindowKind::Banner)
}

/// Share of the window's area, in percent, above which a node that takes a gesture counts as the container of the whole
/// page and not as an element.
const WHOLE_PERCENT: i64 = 60;

/// Returns the element that a text node belongs to: the node itself if it takes the gesture, or else its nearest
/// ancestor that does. If there is none, or if that ancestor is a list or covers most of the window, the text node
/// itself is the element.
fn element_of(snapshot: &Snapshot, refs: &[Ref], index: usize, fit: Fit, gesture: Gesture) -> Match {
    let geometry = snapshot.geometry();
    let window = geometry.extent(snapshot.nodes[index].window).unwrap_or_default().area();
    let is_whole = |i: usize| i != index && geometry.shown(i).area() * 100 > window * WHOLE_PERCENT;
    let is_list = |i: usize| {
        let node = &snapshot.nodes[i];
        i != index && (node.role == Role::List || structure::is_list(node) || label::stacks_rows(snapshot, i))
    };
    let takes =
        std::iter::once(index).chain(snapshot.ancestors(index)).find(|i| gesture.is_taken_by(&snapshot.nodes[*i]));
    let Some(element) = takes.filter(|i| !is_whole(*i) && !is_list(*i)) else {
        return Match { fit, element: index, text: None, marked: false };
    };
    let label = refs.iter().find(|r| r.node == element).map(|r| &r.label);
    let node = &snapshot.nodes[index];
    let is_title = label.is_some_and(|l| [&node.text, &node.desc].into_iter().flatten().any(|t| *t == l.title));
    let has_detail = label.is_some_and(|l| !l.rest.is_empty());
    let fit = match (element == index || is_title, fit) {
        (true, fit) if has_detail => fit.max(Fit::Title),
        (true, fit) => fit,
        // Text that is only a detail of a row does not name the row.
        (false, _) => Fit::Part,
    };
    Match { fit, element, text: (element != index).then_some(index), marked: true }
}

/// Returns the best matches, each element once. Elements that take the gesture win over plain text, with one exception:
/// plain text wins if it matches as a whole and is not the title of the page, while the elements match only in part.
fn best(snapshot: &Snapshot, all: Vec<Match>) -> Vec<Match> {
    let least = |marked: bool| all.iter().filter(|m| m.marked == marked).map(|m| m.fit).min();
    let names_page = |fit: Fit| {
        let title = structure::of(snapshot).and_then(|s| s.front.title);
        let text = |m: &Match| snapshot.nodes[m.element].text.as_deref().map(str::trim);
        title.is_some() && all.iter().any(|m| !m.marked && m.fit == fit && text(m) == title.as_deref())
    };
    let plain_wins = match (least(true), least(false)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(marked), Some(plain)) => plain <= Fit::Whole && marked > Fit::Whole && !names_page(plain),
    };
    let Some(fit) = least(!plain_wins) else { return Vec::new() };
    let mut found: Vec<Match> = Vec::new();
    for m in all.into_iter().filter(|m| m.marked != plain_wins && m.fit == fit) {
        if !found.iter().any(|f| f.element == m.element) {
            found.push(m);
        }
    }
    found
}

/// How a check or a wait compares text with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// The value may occur inside a word.
    Part,
    /// The value must occur as whole words.
    Words,
    /// The whole text must equal the value, including case.
    Exact,
}

/// Returns the nodes in sight on the page that show a value: the nodes whose text or description matches, and the refs
/// whose printed label or name matches or whose `#id` equals the value.
pub fn saying(snapshot: &Snapshot, refs: &[Ref], value: &str, compare: Compare) -> Vec<usize> {
    let wanted = Wanted::new(value);
    let has = |text: &str| match compare {
        Compare::Part => wanted.is_in(text),
        Compare::Words => wanted.is_words_of(text),
        Compare::Exact => text.trim() == value.trim(),
    };
    let in_sight = |i: usize| {
        is_on_page(snapshot, &snapshot.nodes[i])
            && snapshot.nodes[i].is(Flag::Visible)
            && snapshot.geometry().shown(i).area() > 0
            && snapshot.hidden_by(i).is_none()
    };
    let own = |i: &usize| [&snapshot.nodes[*i].text, &snapshot.nodes[*i].desc].into_iter().flatten().any(|t| has(t));
    let mut found: Vec<usize> = (0..snapshot.nodes.len()).filter(|i| in_sight(*i)).filter(own).collect();
    for r in refs.iter().filter(|r| in_sight(r.node)) {
        let printed = has(&r.label.text()) || r.name.as_deref().is_some_and(has);
        let id = snapshot.nodes[r.node].id_name().is_some_and(|id| value.trim().strip_prefix('#') == Some(id));
        // A row is not listed if text inside it was found already.
        let again = !id && found.iter().any(|i| snapshot.is_inside(*i, r.node));
        if (printed || id) && !again && !found.contains(&r.node) {
            found.push(r.node);
        }
    }
    found.sort_unstable();
    found
}

/// Returns the indices of the visible nodes whose text or description contains `text`, in all windows except overlays.
pub fn containing(snapshot: &Snapshot, text: &str, case_sensitive: bool) -> Vec<usize> {
    let wanted = Wanted::new(text);
    let has = |t: &String| if case_sensitive { t.contains(text) } else { wanted.is_in(t) };
    let contains = |i: &usize| {
        let node = &snapshot.nodes[*i];
        let overlay = snapshot.kind_of(node) == WindowKind::Overlay;
        node.is(Flag::Visible) && !overlay && [&node.text, &node.desc].into_iter().flatten().any(has)
    };
    (0..snapshot.nodes.len()).filter(contains).collect()
}

/// Returns the indices of the visible nodes that match a selector, except nodes of overlays.
pub fn visible(snapshot: &Snapshot, selector: &Selector<'_>) -> Vec<usize> {
    (0..snapshot.nodes.len())
        .filter(|i| {
            let node = &snapshot.nodes[*i];
            let overlay = snapshot.kind_of(node) == WindowKind::Overlay;
            !overlay && node.is(Flag::Visible) && node.bounds.area() > 0 && selector.matches(node)
        })
        .collect()
}

/// Returns the possible targets of a tap on the matching nodes, each once: each match itself, or its nearest ancestor
/// that takes taps, long presses or text.
pub fn tappable(snapshot: &Snapshot, matches: &[usize]) -> Vec<usize> {
    let takes_taps = |i: &usize| {
        let node = &snapshot.nodes[*i];
        node.is_ref() && (node.is(Flag::Clickable) || node.is(Flag::LongClickable) || node.is(Flag::Editable))
    };
    let mut found = Vec::new();
    for index in matches {
        let target = std::iter::once(*index).chain(snapshot.ancestors(*index)).find(takes_taps);
        if let Some(target) = target.filter(|t| !found.contains(t)) {
            found.push(target);
        }
    }
    found
}
