//! Snapshots as rows of an answer.

use afd_proto::observe::{Column, Row};

use crate::page::Node;

/// A count on the wire.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The columns of a row: those that were asked for, all of them, or the usual ones.
pub(super) fn columns(asked: Option<&[Column]>, full: bool) -> Vec<Column> {
    const USUAL: [Column; 6] = [Column::Id, Column::Class, Column::Text, Column::Desc, Column::ResId, Column::Flags];
    match (full, asked) {
        (true, _) => USUAL.into_iter().chain([Column::Bounds]).collect(),
        (false, Some(asked)) => asked.to_vec(),
        (false, None) => USUAL.to_vec(),
    }
}

/// A node as a row with these columns.
pub(super) fn row(node: &Node, columns: &[Column]) -> Row {
    let has = |column| columns.contains(&column);
    Row {
        id: has(Column::Id).then(|| node.id.clone()),
        class: has(Column::Class).then(|| node.class.clone()),
        text: node.text.clone().filter(|_| has(Column::Text)),
        desc: node.desc.clone().filter(|_| has(Column::Desc)),
        res_id: node.res_id.clone().filter(|_| has(Column::ResId)),
        bounds: has(Column::Bounds).then(|| node.bounds.to_string()),
        flags: has(Column::Flags).then(|| node.flags.text(true)),
    }
}
