//! Labels of refs: a list row without a text of its own is labelled by the texts of its children, for example "Wi-Fi,
//! Connected".

use super::mask;
use super::snapshot::{Flag, Node, Snapshot};

/// The label of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// First text; empty when there is none.
    pub title: String,
    /// Further texts.
    pub rest: Vec<String>,
}

impl Label {
    /// Returns all texts, joined by commas.
    pub fn text(&self) -> String {
        std::iter::once(&self.title).chain(&self.rest).filter(|w| !w.is_empty()).cloned().collect::<Vec<_>>().join(", ")
    }

    /// Returns whether two labels are those of the same element: equal titles, and equal other texts once digits and times are
    /// masked.
    pub fn same_element(&self, other: &Label) -> bool {
        let masked = |l: &Label| l.rest.iter().map(|w| mask::digits(w)).collect::<Vec<_>>();
        self.title == other.title && masked(self) == masked(other)
    }
}

/// Returns the text or description of a node itself. Text typed into a field does not count.
fn own_words(node: &Node) -> Option<&str> {
    let text = if node.is(Flag::Editable) { None } else { node.text.as_deref() };
    text.or(node.desc.as_deref()).filter(|w| !w.is_empty())
}

/// Returns the label of a node: its own text or description, else the texts of the descendants that are not inside another ref.
/// Scroll containers and fields only have their own.
pub fn of(snapshot: &Snapshot, index: usize) -> Label {
    let node = &snapshot.nodes[index];
    if let Some(own) = own_words(node) {
        return Label { title: own.to_owned(), rest: Vec::new() };
    }
    if node.is(Flag::Scrollable) || node.is(Flag::Editable) {
        return Label::default();
    }
    let mut words = Vec::new();
    for (i, below) in snapshot.nodes.iter().enumerate().skip(index + 1) {
        if below.window != node.window || !snapshot.ancestors(i).any(|a| a == index) {
            break;
        }
        let inside_other = below.is_ref() || snapshot.ancestors(i).take_while(|a| *a != index).any(|a| snapshot.nodes[a].is_ref());
        if !inside_other
            && below.is(Flag::Visible)
            && let Some(word) = own_words(below)
        {
            words.push(word.to_owned());
        }
    }
    let mut words = words.into_iter();
    Label { title: words.next().unwrap_or_default(), rest: words.collect() }
}
