//! Snapshots as rows of an answer, or of a file when they are too many for one.

use afd_proto::artifact::Written;
use afd_proto::observe::{Column, Context, RefRow, RefRows, Row, ScreenRows, WindowRow};
use serde::Serialize;

use super::artifacts::{Content, Wish};
use super::look::Look;
use super::{Call, Result};
use crate::page::Node;

/// Rows that are returned unless the caller says otherwise.
const DEFAULT_ROWS: u32 = 120;

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

fn max_rows(max: Option<u32>, full: bool) -> usize {
    if full { usize::MAX } else { max.unwrap_or(DEFAULT_ROWS) as usize }
}

pub(super) fn screen_rows(look: &Look, columns: &[Column], max: Option<u32>, full: bool) -> ScreenRows {
    let snapshot = look.snapshot();
    let rows: Vec<_> = snapshot.nodes.iter().take(max_rows(max, full)).map(|n| row(n, columns)).collect();
    let windows = full.then(|| {
        let window = |w: &crate::page::Window| WindowRow {
            id: w.id,
            kind: w.kind.name().to_owned(),
            app: w.app.clone(),
            title: w.title.clone(),
            layer: w.layer,
            focused: w.focused,
        };
        snapshot.windows.iter().map(window).collect()
    });
    ScreenRows {
        row_count: count(snapshot.nodes.len()),
        returned_rows: count(rows.len()),
        truncated: rows.len() < snapshot.nodes.len(),
        rows,
        windows,
        artifact: None,
        rows_in_artifact: false,
    }
}

pub(super) fn ref_rows(look: &Look, max: Option<u32>, full: bool) -> RefRows {
    let nodes = &look.snapshot().nodes;
    let rows: Vec<RefRow> = look
        .refs
        .iter()
        .take(max_rows(max, full))
        .enumerate()
        .map(|(i, r)| {
            let node = &nodes[r.node];
            RefRow {
                alias: format!("@n{}", i + 1),
                label: r.label.text(),
                node_id: node.id.clone(),
                class: node.class.clone(),
                text: node.text.clone(),
                desc: node.desc.clone(),
                res_id: node.res_id.clone(),
                bounds: node.bounds.to_string(),
                flags: node.flags.text(false),
                window: look.snapshot().windows.get(node.window).filter(|w| !w.focused).map(|w| format!("{} {}", w.kind.name(), w.app)),
            }
        })
        .collect();
    RefRows {
        ref_count: count(look.refs.len()),
        returned_rows: count(rows.len()),
        truncated: rows.len() < look.refs.len(),
        rows,
        artifact: None,
        rows_in_artifact: false,
    }
}

/// A part of an observation as a file has it.
#[derive(Serialize)]
struct Document<'a, T> {
    #[serde(flatten)]
    context: &'a Context,
    #[serde(flatten)]
    part: &'a T,
}

/// How many bytes a value has as JSON.
fn weight<T: Serialize>(value: &T) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail; what cannot be JSON will not be answered either.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Where and when rows are written to a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filing<'a> {
    pub kind: &'static str,
    pub op: &'static str,
    /// Whether they are written even if they are few.
    pub always: bool,
    pub wish: Wish<'a>,
}

/// Rows of an answer that may be in a file instead.
pub(super) trait Rows: Serialize {
    /// Names the file.
    fn filed(&mut self, artifact: Written);
    /// Leaves the rows to the file.
    fn empty(&mut self);
}

impl Rows for ScreenRows {
    fn filed(&mut self, artifact: Written) {
        self.artifact = Some(artifact);
    }

    fn empty(&mut self) {
        self.rows.clear();
        self.windows = None;
        (self.returned_rows, self.truncated, self.rows_in_artifact) = (0, true, true);
    }
}

impl Rows for RefRows {
    fn filed(&mut self, artifact: Written) {
        self.artifact = Some(artifact);
    }

    fn empty(&mut self) {
        self.rows.clear();
        (self.returned_rows, self.truncated, self.rows_in_artifact) = (0, true, true);
    }
}

impl Call {
    /// Writes rows to a file, if need be; then they are only there, if they are too many for an answer.
    pub(super) async fn file(&self, context: &Context, rows: &mut impl Rows, filing: Filing<'_>) -> Result<()> {
        let too_many = weight(rows) > self.core.config.get().limits.inline_bytes;
        if !too_many && !filing.always {
            return Ok(());
        }
        let content = Content::json(filing.kind, filing.op, &Document { context, part: rows })?;
        rows.filed(self.save_artifact(content, filing.wish).await?);
        if too_many {
            rows.empty();
        }
        Ok(())
    }
}
