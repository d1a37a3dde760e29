//! Determines whether an element is on or off: from what the device reports, else from the element's texts, because some
//! devices do not report it.

use afd_proto::vocabulary::Role;

use super::folding::fold;
use super::layers::takes_touches;
use super::snapshot::{Flag, Snapshot};

/// Words that mean "on", folded.
const ON: &[&str] = &[
    "on",
    "checked",
    "selected",
    "ticked",
    "ein",
    "an",
    "aktiviert",
    "ausgew\u{e4}hlt",
    "angekreuzt",
    "activ\u{e9}",
    "coch\u{e9}",
    "s\u{e9}lectionn\u{e9}",
    "activado",
    "activada",
    "marcado",
    "marcada",
    "seleccionado",
    "attivo",
    "attivato",
    "selezionato",
    "ligado",
    "ativado",
    "\u{5f00}",
    "\u{5df2}\u{5f00}\u{542f}",
    "\u{5df2}\u{9009}\u{4e2d}",
    "\u{30aa}\u{30f3}",
    "\u{cf1c}\u{c9d0}",
    "\u{432}\u{43a}\u{43b}",
];

/// Words that mean "off", folded.
const OFF: &[&str] = &[
    "off",
    "not checked",
    "unchecked",
    "not selected",
    "unselected",
    "unticked",
    "aus",
    "deaktiviert",
    "nicht ausgew\u{e4}hlt",
    "nicht angekreuzt",
    "nicht aktiviert",
    "d\u{e9}sactiv\u{e9}",
    "non coch\u{e9}",
    "d\u{e9}coch\u{e9}",
    "desactivado",
    "desactivada",
    "no marcado",
    "no marcada",
    "no seleccionado",
    "disattivo",
    "disattivato",
    "non selezionato",
    "desligado",
    "desativado",
    "\u{5173}",
    "\u{5df2}\u{5173}\u{95ed}",
    "\u{672a}\u{9009}\u{4e2d}",
    "\u{30aa}\u{30d5}",
    "\u{aebc}\u{c9d0}",
    "\u{432}\u{44b}\u{43a}\u{43b}",
];

/// Returns whether an element is on, or `None` if neither the device nor its text says so, or if the text contradicts itself.
/// The switch inside an element counts for the element, if there is just one. A word for on or off
/// counts only if it is the whole text between commas, semicolons or line breaks. A sentence that merely contains the
/// word does not count.
pub fn is_on(snapshot: &Snapshot, index: usize) -> Option<bool> {
    let is_switch = |i: &usize| snapshot.nodes[*i].role == Role::Switch && snapshot.geometry().shown(*i).area() > 0;
    let inside = snapshot.subtree(index).filter(|i| *i != index).filter(is_switch);
    let scrolls = snapshot.nodes[index].is(Flag::Scrollable);
    let mut reported = inside.filter(|_| !scrolls).filter_map(|i| snapshot.nodes[i].checked);
    match (snapshot.nodes[index].checked, reported.next(), reported.next()) {
        (Some(own), ..) => return Some(own),
        (None, Some(only), None) => return Some(only),
        _ => {}
    }
    let texts = texts(snapshot, index);
    let parts: Vec<String> =
        texts.iter().flat_map(|t| t.split([',', '\n', ';'])).map(|p| fold(p.trim().trim_end_matches('.'))).collect();
    let any = |words: &[&str]| parts.iter().any(|p| words.contains(&p.as_str()));
    match (any(ON), any(OFF)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Returns whether an element can be used, that is, neither the element nor the node that takes its touches is
/// disabled.
pub fn is_enabled(snapshot: &Snapshot, index: usize) -> bool {
    let takes = std::iter::once(index).chain(snapshot.ancestors(index)).find(|i| takes_touches(&snapshot.nodes[*i]));
    snapshot.nodes[index].is(Flag::Enabled) && takes.is_none_or(|i| snapshot.nodes[i].is(Flag::Enabled))
}

/// Returns the strings that an element shows: its own text and description, including the value of a field, and those
/// of its visible descendants. Descendants that take touches themselves are left out with their content, unless they
/// are switches.
pub fn texts(snapshot: &Snapshot, index: usize) -> Vec<String> {
    let belongs = |i: &usize| {
        let other =
            |a: usize| a != index && takes_touches(&snapshot.nodes[a]) && snapshot.nodes[a].role != Role::Switch;
        !other(*i) && !snapshot.ancestors(*i).take_while(|a| *a != index).any(other)
    };
    let visible = |i: &usize| *i == index || snapshot.geometry().shown(*i).area() > 0;
    let nodes = snapshot.subtree(index).filter(visible).filter(belongs).map(|i| &snapshot.nodes[i]);
    nodes.flat_map(|n| [n.text.clone(), n.desc.clone()]).flatten().filter(|t| !t.trim().is_empty()).collect()
}
