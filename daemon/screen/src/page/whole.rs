//! The whole page, with what is scrolled out of sight.

use super::snapshot::{Flag, Lazy, Snapshot};

/// Returns a snapshot in which everything is visible that scrolling can bring into sight. Positions in it are not those
/// on the screen. Returns `None` if the device reports nothing out of sight, or if something in front hides the page.
pub fn of(snapshot: &Snapshot) -> Option<Snapshot> {
    let all = || 0..snapshot.nodes.len();
    if !all().any(|i| snapshot.nodes[i].is(Flag::OutOfSight)) || is_covered(snapshot) {
        return None;
    }
    let mut whole = Snapshot { size: None, ..snapshot.clone() };
    for node in whole.nodes.iter_mut().filter(|node| node.is(Flag::OutOfSight)) {
        node.flags = node.flags.with(Flag::Visible);
    }
    // What scrolls is made as large as its content, so that it clips nothing. Inner ones come last in the tree.
    for i in all().rev().filter(|i| snapshot.nodes[*i].is(Flag::Scrollable)) {
        let content = whole.nodes[snapshot.subtree(i)].iter().filter(|node| node.is(Flag::Visible));
        whole.nodes[i].bounds = content.fold(whole.nodes[i].bounds, |all, node| all.union(&node.bounds));
    }
    whole.geometry = Lazy::default();
    Some(whole)
}

/// Returns whether something in front hides a part of the page.
pub fn is_covered(snapshot: &Snapshot) -> bool {
    (0..snapshot.nodes.len()).any(|i| snapshot.nodes[i].is(Flag::Visible) && snapshot.hidden_by(i).is_some())
}

#[cfg(test)]
mod tests {
    use crate::page::refs;
    use crate::page::snapshot::Flag;
    use crate::page::tests::long_list;

    #[test]
    fn what_is_scrolled_out_of_sight_is_listed_and_has_a_ref() {
        let mut snapshot = long_list(40);
        snapshot.hide_what_is_off_screen();
        let seen = refs::all(&snapshot).len();
        let out = snapshot.nodes.iter().filter(|n| n.is(Flag::OutOfSight) && n.is(Flag::Clickable)).count();
        assert!(out > 0 && seen > 0);
        let whole = super::of(&snapshot).expect("something is out of sight");
        assert_eq!(refs::all(&whole).len(), seen + out);
        assert_eq!(super::of(&long_list(3)), None, "all of it is in sight");
    }
}
