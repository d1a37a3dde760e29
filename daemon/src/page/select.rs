//! Selectors: finding the nodes of a screen by a property or by text.

use afd_proto::vocabulary::By;

use super::snapshot::{Flag, Node, Snapshot, WindowKind};
use super::{label, touch};

/// Selects nodes by one of their properties.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'a> {
    /// Property to compare; aliases are resolved elsewhere.
    pub by: By,
    /// Value to look for.
    pub value: &'a str,
    /// Whether the value must match completely and case-sensitively, instead of being contained in any case.
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
        let by_name = self.by == By::ResId && self.exact && node.id_name() == Some(self.value);
        by_name || value.is_some_and(|v| compare(v, self.value, self.exact))
    }
}

fn compare(value: &str, wanted: &str, exact: bool) -> bool {
    if exact { value == wanted } else { value.to_lowercase().contains(&wanted.to_lowercase()) }
}

/// How closely a text fits what was looked for, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is the same.
    Exact,
    /// It is the same as the title, and there is more to the label.
    Title,
    /// It is the same in another case.
    Whole,
    /// It begins with it.
    Start,
    /// A word in it begins with it.
    Word,
    /// It contains it inside a word, or only a detail does.
    Part,
}

/// Returns how closely a text fits; `None` if it does not contain what was looked for.
fn fit(text: &str, wanted: &str) -> Option<Fit> {
    if text == wanted {
        return Some(Fit::Exact);
    }
    let (text, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    if text == wanted {
        return Some(Fit::Whole);
    }
    let mut places = text.match_indices(&wanted).map(|(at, _)| at).peekable();
    places.peek()?;
    let begins_word = |at: usize| text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    Some(match places.clone().next() {
        Some(0) => Fit::Start,
        _ if places.any(begins_word) => Fit::Word,
        _ => Fit::Part,
    })
}

/// Returns the elements that a selector by label, text or description is about, those that fit best, and how closely they do. `matches`
/// are the nodes that it matches. A text that is only the detail of a row does not name the row.
pub fn named(snapshot: &Snapshot, selector: &Selector<'_>, matches: &[usize]) -> Option<(Fit, Vec<usize>)> {
    let mut found: Vec<(Fit, usize)> = Vec::new();
    for index in matches {
        let node = &snapshot.nodes[*index];
        let Some(target) = tappable(snapshot, &[*index]).pop() else { continue };
        let own = [&node.text, &node.desc].into_iter().flatten().filter_map(|text| fit(text.trim(), selector.value.trim())).min();
        let is_name = target == *index || [&node.text, &node.desc].into_iter().flatten().any(|t| *t == label::of(snapshot, target).title);
        let has_detail = !label::of(snapshot, target).rest.is_empty();
        let named = |fit: Fit| if has_detail { fit.max(Fit::Title) } else { fit };
        found.extend(own.map(|fit| (if is_name { named(fit) } else { Fit::Part }, target)));
    }
    // A label as it is printed has the texts of several nodes.
    let all: Vec<usize> = (0..snapshot.nodes.len()).collect();
    let refs = all.into_iter().filter(|i| snapshot.nodes[*i].is_ref() && selector.by != By::Desc && tappable(snapshot, &[*i]) == [*i]);
    for index in refs {
        let label = label::of(snapshot, index);
        let whole = fit(&label.text(), selector.value.trim()).filter(|fit| *fit <= Fit::Whole);
        let title = fit(&label.title, selector.value.trim()).filter(|fit| *fit <= Fit::Whole).map(|fit| fit.max(Fit::Title));
        found.extend(whole.into_iter().chain(title).min().map(|fit| (fit, index)));
    }
    // What lies behind a dialog is not meant while something else is.
    let behind = touch::behind_modal(snapshot);
    let in_front = |i: usize| !behind[snapshot.nodes[i].window];
    if found.iter().any(|(fit, target)| in_front(*target) && *fit < Fit::Part) {
        found.retain(|(_, target)| in_front(*target));
    }
    // What belongs to the app comes before a system bar.
    let of_app = |i: usize| snapshot.is_content(&snapshot.nodes[i]);
    if found.iter().any(|(fit, target)| of_app(*target) && *fit < Fit::Part) {
        found.retain(|(_, target)| of_app(*target));
    }
    let best = found.iter().map(|(fit, _)| *fit).min()?;
    let mut targets: Vec<usize> = Vec::new();
    for (_, target) in found.into_iter().filter(|(fit, _)| *fit == best) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Some((best, targets))
}

/// Returns the indices of the visible nodes whose text or description contains `text`, without overlays.
pub fn containing(snapshot: &Snapshot, text: &str, case_sensitive: bool) -> Vec<usize> {
    let fold = |text: &str| if case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let wanted = fold(text);
    let contains = |i: &usize| {
        let node = &snapshot.nodes[*i];
        let overlay = snapshot.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Overlay);
        node.is(Flag::Visible) && !overlay && [&node.text, &node.desc].into_iter().flatten().any(|t| fold(t).contains(&wanted))
    };
    (0..snapshot.nodes.len()).filter(contains).collect()
}

/// Returns the indices of the visible nodes that match, without overlays.
pub fn visible(snapshot: &Snapshot, selector: &Selector<'_>) -> Vec<usize> {
    (0..snapshot.nodes.len())
        .filter(|i| {
            let node = &snapshot.nodes[*i];
            let overlay = snapshot.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Overlay);
            !overlay && node.is(Flag::Visible) && node.bounds.area() > 0 && selector.matches(node)
        })
        .collect()
}

/// Returns the nodes that a tap on the matching nodes could be meant for: each match itself, or its nearest ancestor that takes
/// taps; each once.
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
