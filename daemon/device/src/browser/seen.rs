//! What the current tab showed when it was read last: which element a click must hit.

use afd_screen::page::outline::quoted;
use afd_screen::page::{Flag, Node, mask};

use super::layout::Layout;

/// Maximum length of a name in an error, in characters.
const MAX_NAME: usize = 60;
/// Maximum number of elements that an error offers.
const MAX_OFFERED: usize = 4;
/// Maximum area of a control, as a multiple of the area of the element in it that takes the input.
const MAX_SPREAD: i64 = 4;
/// Area up to which an element counts as small, in square CSS pixels. The element that takes the input can be hidden.
const SMALL: i64 = 64 * 64;

/// A page as it was read last.
#[derive(Default)]
pub struct Seen {
    /// Session of the tab.
    pub session: String,
    /// Its layout.
    pub layout: Layout,
    /// The elements that take input.
    pub inputs: Vec<SeenInput>,
}

/// An element that took input.
#[derive(Debug)]
pub struct SeenInput {
    /// Id of its node.
    pub id: i64,
    /// Its name; `None` if it is a field, whose text is its value, or if it has none.
    name: Option<String>,
}

impl SeenInput {
    /// Describes a node; `None` if its id is not one of an element.
    pub fn of(node: &Node) -> Option<Self> {
        let name = node.text.as_deref().filter(|_| !node.is(Flag::Editable) && !node.password);
        Some(Self { id: node.id.parse().ok()?, name: name.map(str::to_owned) })
    }
}

impl Seen {
    /// Returns the sessions of the frames of other sites at a point, innermost first, with the positions of their content
    /// in the window.
    pub fn foreign_at(&self, x: f64, y: f64) -> Vec<(String, f64, f64)> {
        let is_there =
            |owner: i64| self.layout.elements.get(&owner).is_some_and(|element| element.bounds.contains(x, y));
        let foreign = self.layout.frames.iter().rev().filter(|frame| frame.session != self.session);
        foreign
            .filter(|frame| is_there(frame.owner))
            .map(|frame| (frame.session.clone(), frame.at.0, frame.at.1))
            .collect()
    }

    /// Describes the node that covers an element, for an error: the name of the element that takes input around it, else its
    /// tag and id or class; and what in the same layer takes input, because that may close it.
    pub fn describe(&self, node: i64, covered: i64) -> String {
        let around: Vec<i64> = self.layout.around(node).collect();
        let under: Vec<i64> = self.layout.around(covered).collect();
        let layer = around.iter().take_while(|id| !under.contains(id)).last();
        let is_in_layer =
            |input: &&SeenInput| layer.is_some_and(|layer| self.layout.around(input.id).any(|id| id == *layer));
        let names: Vec<String> = self
            .inputs
            .iter()
            .filter(is_in_layer)
            .filter_map(|input| input.name.as_deref())
            .take(MAX_OFFERED)
            .map(|name| quoted(name, MAX_NAME))
            .collect();
        let what = self.named(&around);
        match names.as_slice() {
            [] => what,
            [one] if *one == what => what,
            _ => format!("{what}, which has {}", names.join(", ")),
        }
    }

    /// Names the innermost of these nodes, each around the one before, that has a name.
    fn named(&self, around: &[i64]) -> String {
        let input = around.iter().find_map(|id| self.inputs.iter().find(|input| input.id == *id)?.name.as_deref());
        if let Some(name) = input {
            return quoted(name, MAX_NAME);
        }
        let named = around.iter().filter_map(|id| self.layout.elements.get(id)).find_map(|element| {
            let name = element.id.as_deref().or(element.class.as_deref())?;
            Some(format!("{} {}", element.tag.to_lowercase(), quoted(name, MAX_NAME)))
        });
        named.unwrap_or_else(|| "another element".to_owned())
    }

    /// Returns the frame of another site that an element holds: its session, what is added to the ids of its nodes, and
    /// the position of its content in the window.
    pub fn frame_of(&self, element: i64) -> Option<(String, i64, (f64, f64))> {
        let frame = self.layout.frames.iter().find(|frame| frame.owner == element && frame.session != self.session)?;
        Some((frame.session.clone(), frame.offset, frame.at))
    }

    /// Returns the id of the frame that a node is in.
    pub fn frame_around(&self, node: i64) -> Option<String> {
        let (session, _) = self.layout.node_of(node)?;
        let owners = self.layout.around(node).skip(1);
        let inner = owners.filter_map(|id| self.layout.frames.iter().find(|frame| frame.owner == id && id != 0));
        let of_session = || self.layout.frames.iter().find(|frame| frame.session == session);
        let frame = inner.into_iter().find(|frame| frame.session == session).or_else(of_session)?;
        Some(frame.id.clone())
    }

    /// Returns the element that the frame of another site around a node is in; `None` if it is in no such frame.
    pub fn owner_of(&self, node: i64) -> Option<i64> {
        let (session, _) = self.layout.node_of(node)?;
        let frame = self.layout.frames.iter().find(|frame| frame.session == session && session != self.session)?;
        Some(frame.owner)
    }

    /// Returns whether a click on the topmost node `hit` at a point is one on the element `wanted`: if `hit` is that
    /// element, a part of it or of its label, or if both are parts of one control.
    pub fn allows(&self, session: &str, hit: i64, wanted: i64) -> bool {
        // Another tab may have opened since.
        if self.session != session {
            return false;
        }
        let tag = |id: &i64| self.layout.elements.get(id).map_or("", |element| element.tag.as_str());
        let around: Vec<i64> = self.layout.around(hit).collect();
        // A click on a text hits what the text is in.
        let Some(wanted) = self.layout.around(wanted).find(|id| !tag(id).starts_with('#')) else { return false };
        // The browser does not look into some frames.
        let whole = around.iter().find(|id| **id == hit && matches!(tag(id), "IFRAME" | "FRAME") || tag(id) == "LABEL");
        let is_in_whole = whole.is_some_and(|whole| self.layout.around(wanted).any(|node| node == *whole));
        around.contains(&wanted) || is_in_whole || self.is_one_control(&around, wanted)
    }

    /// Returns whether what is drawn over an element is a part of the same control: if what is around both is hardly larger
    /// than the element, and holds no other element that takes input. `around` are the nodes around what is drawn there.
    fn is_one_control(&self, around: &[i64], wanted: i64) -> bool {
        let is_in = |node: i64, outer: i64| self.layout.around(node).any(|around| around == outer);
        let Some(both) = around.iter().copied().find(|id| is_in(wanted, *id)) else { return false };
        let area = |id: i64| self.layout.elements.get(&id).map_or(0, |element| element.bounds.area());
        let mut others = self.inputs.iter().map(|input| input.id).filter(|id| *id != wanted && *id != both);
        area(both) <= MAX_SPREAD * area(wanted).max(SMALL) && !others.any(|id| is_in(id, both))
    }

    /// Returns the name of an element, and whether it is the only one with that name but for digits; `None` if the
    /// element took no input or has no name.
    pub fn name_of(&self, id: i64) -> Option<(&str, bool)> {
        let name = self.inputs.iter().find(|input| input.id == id)?.name.as_deref()?;
        let masked = mask::digits(name);
        let alike =
            self.inputs.iter().filter_map(|input| input.name.as_deref()).filter(|one| mask::digits(one) == masked);
        Some((name, alike.count() == 1))
    }
}
