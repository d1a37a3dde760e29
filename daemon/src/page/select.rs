//! What a selector means on a screen.

use afd_proto::vocabulary::By;

use super::snapshot::{Flag, Node, Snapshot, WindowKind};

/// Names nodes by one of their properties.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'a> {
    /// Which property; aliases are resolved elsewhere.
    pub by: By,
    /// Its value.
    pub value: &'a str,
    /// Whole and case-sensitive, instead of a part in any case.
    pub exact: bool,
}

impl Selector<'_> {
    /// Whether a node matches.
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
        // The name alone is a whole id too: `title` means `android:id/title`.
        let by_name = self.by == By::ResId && self.exact && node.id_name() == Some(self.value);
        by_name || value.is_some_and(|v| compare(v, self.value, self.exact))
    }
}

fn compare(value: &str, wanted: &str, exact: bool) -> bool {
    if exact { value == wanted } else { value.to_lowercase().contains(&wanted.to_lowercase()) }
}

/// Indices of the visible nodes whose text or description contains this, overlays aside.
pub fn saying(snapshot: &Snapshot, text: &str, case_sensitive: bool) -> Vec<usize> {
    let fold = |text: &str| if case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let wanted = fold(text);
    let says = |i: &usize| {
        let node = &snapshot.nodes[*i];
        let overlay = snapshot.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Overlay);
        node.is(Flag::Visible) && !overlay && [&node.text, &node.desc].into_iter().flatten().any(|t| fold(t).contains(&wanted))
    };
    (0..snapshot.nodes.len()).filter(says).collect()
}

/// Indices of the visible nodes that match, overlays aside.
pub fn visible(snapshot: &Snapshot, selector: &Selector<'_>) -> Vec<usize> {
    (0..snapshot.nodes.len())
        .filter(|i| {
            let node = &snapshot.nodes[*i];
            let overlay = snapshot.windows.get(node.window).is_some_and(|w| w.kind == WindowKind::Overlay);
            !overlay && node.is(Flag::Visible) && node.bounds.area() > 0 && selector.matches(node)
        })
        .collect()
}

/// What a tap on the matching nodes could mean: each match, or the nearest node above it that takes taps; every one once.
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
