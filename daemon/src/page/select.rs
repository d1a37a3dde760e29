//! Selectors: finding the nodes of a screen by a property or by text.

use afd_proto::vocabulary::By;

use super::snapshot::{Flag, Node, Snapshot, WindowKind};

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
