//! The type for refs.

use super::label::Label;

/// A ref: an interactive element of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// Index of the element's node in the snapshot.
    pub node: usize,
    /// Label of the element.
    pub label: Label,
    /// Token by which the same element at the same place is found on a later screen.
    pub exact: String,
    /// Token by which the same kind of element is found at any place on a later screen.
    pub identity: String,
    /// Text that distinguishes the element from equal ones: the title of the row or card around it or, if there are
    /// several equal elements, the text before it. Empty if there is no such text.
    pub context: String,
    /// Name of the element, if it has no label; see [`super::naming`].
    pub name: Option<String>,
    /// Whether `name` is a caption; otherwise it describes the element's place on the screen.
    pub is_caption: bool,
}
