//! Disturbs a screen in the ways in which a second read may differ: nodes missing, rows reordered, digits changed.

use std::collections::{HashMap, HashSet};

use afd_phone::layout::Rng;
use afd_phone::recording::{RawNode, Screen};

const LISTS: &[&str] = &["RecyclerView", "ListView", "GridView"];

/// Returns a copy of a screen in which a tenth of the nodes is missing, the rows of lists are shuffled, and all digits
/// are replaced with random ones. At least one node is missing, but never the root. The children of a missing node move
/// up to its parent.
pub(super) fn disturb(screen: &Screen, rng: &mut Rng) -> Screen {
    let mut children: HashMap<i64, Vec<&RawNode>> = HashMap::new();
    screen.nodes.iter().for_each(|n| children.entry(n.1).or_default().push(n));
    let candidates: Vec<i64> = screen.nodes.iter().filter(|n| n.1 >= 0).map(|n| n.0).collect();
    let mut dropped = HashSet::new();
    let wanted = (candidates.len() / 10).max(1).min(candidates.len());
    while dropped.len() < wanted {
        dropped.insert(candidates[rng.below(candidates.len() as u64) as usize]);
    }
    let mut nodes = Vec::new();
    for root in children.get(&-1).into_iter().flatten() {
        walk(root, -1, &children, &dropped, rng, &mut nodes);
    }
    Screen { nodes, ..screen.clone() }
}

fn walk(
    node: &RawNode,
    parent: i64,
    children: &HashMap<i64, Vec<&RawNode>>,
    dropped: &HashSet<i64>,
    rng: &mut Rng,
    out: &mut Vec<RawNode>,
) {
    let mut new_parent = parent;
    if !dropped.contains(&node.0) {
        new_parent = node.0;
        let mut copy = node.clone();
        copy.1 = parent;
        copy.4 = copy.4.map(|text| other_digits(&text, rng));
        copy.5 = copy.5.map(|text| other_digits(&text, rng));
        out.push(copy);
    }
    let mut ordered: Vec<&RawNode> = children.get(&node.0).cloned().unwrap_or_default();
    if LISTS.iter().any(|c| node.2.contains(c)) {
        for i in (1..ordered.len()).rev() {
            ordered.swap(i, rng.below(i as u64 + 1) as usize);
        }
    }
    ordered.into_iter().for_each(|child| walk(child, new_parent, children, dropped, rng, out));
}

fn other_digits(text: &str, rng: &mut Rng) -> String {
    let change = |c: char| if c.is_ascii_digit() { char::from_digit(rng.below(10) as u32, 10).unwrap_or(c) } else { c };
    text.chars().map(change).collect()
}
