//! The type of refs.

use super::label::Label;

/// An interactive element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// Index of its node in the snapshot.
    pub node: usize,
    /// Its label.
    pub label: Label,
    /// Token that is equal for the same element at the same place.
    pub exact: String,
    /// Token that is equal for the same kind of element anywhere.
    pub identity: String,
    /// Text that distinguishes it from equal elements: the title of the row or card that it lies in, or, for one of
    /// several equal elements, the text before it; empty if there is none.
    pub context: String,
    /// Name of an element without a label, see [`super::naming`].
    pub name: Option<String>,
    /// Whether the name is a caption. Otherwise it is the place of the element.
    pub is_caption: bool,
}
