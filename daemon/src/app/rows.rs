//! Converts captures to the rows of a response, and moves rows that are too large for a response to a file.

use afd_proto::artifact::SavedArtifact;
use afd_proto::observe::{Column, Context, DEFAULT_ROWS};
use afd_proto::rows::{RefRow, RefRows, Row, ScreenRows, WindowRow};
use serde::Serialize;

use super::artifacts::{Content, Destination};
use super::memory::predict::Predicted;
use super::observe::screen_capture::ScreenCapture;
use super::{Call, Result};
use afd_base::task::over_nodes;
use afd_screen::page::risk::RiskRules;
use afd_screen::page::{Node, Ref, target};

/// Converts a count to the type used in responses; values that are too large saturate.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the columns that a row contains: all of them if `full`, else the requested ones, else the default ones.
pub(super) fn columns(asked: Option<&[Column]>, full: bool) -> Vec<Column> {
    const DEFAULT: [Column; 6] = [Column::Id, Column::Class, Column::Text, Column::Desc, Column::ResId, Column::Flags];
    match (full, asked) {
        (true, _) => DEFAULT.into_iter().chain([Column::Bounds]).collect(),
        (false, Some(asked)) => asked.to_vec(),
        (false, None) => DEFAULT.to_vec(),
    }
}

/// Converts a node to a row with the given columns.
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

pub(super) fn screen_rows(capture: &ScreenCapture, columns: &[Column], max: Option<u32>, full: bool) -> ScreenRows {
    let snapshot = capture.snapshot();
    let returned = max_rows(max, full).min(snapshot.nodes.len());
    let rows: Vec<_> = over_nodes(returned, || snapshot.nodes.iter().take(returned).map(|n| row(n, columns)).collect());
    let windows = full.then(|| {
        let window = |w: &afd_screen::page::Window| WindowRow {
            id: w.id,
            kind: w.type_name.clone(),
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

pub(super) fn ref_rows(
    capture: &ScreenCapture,
    max: Option<u32>,
    full: bool,
    rules: &RiskRules,
    predicted: &Predicted,
) -> RefRows {
    let nodes = &capture.snapshot().nodes;
    let row = |(i, r): (usize, &Ref)| {
        let node = &nodes[r.node];
        RefRow {
            alias: capture.alias(i),
            label: r.label.text(),
            title: Some(target::short(&r.label.title)).filter(|t| !t.is_empty() && *t != r.label.text()),
            detail: Some(r.label.rest.join(", ")).filter(|d| !d.is_empty()),
            node_id: node.id.clone(),
            class: node.class.clone(),
            text: node.text.clone(),
            desc: node.desc.clone(),
            res_id: node.res_id.clone(),
            bounds: node.bounds.to_string(),
            flags: node.flags.text(false),
            window: capture
                .snapshot()
                .windows
                .get(node.window)
                .filter(|w| !w.focused)
                .map(|w| format!("{} {}", w.type_name, w.app)),
            risky: rules.is_risky(capture.snapshot(), r),
            leads_to: predicted.leads_to(i),
        }
    };
    let returned = max_rows(max, full).min(capture.refs().len());
    let rows: Vec<RefRow> =
        over_nodes(returned, || capture.refs().iter().take(returned).enumerate().map(row).collect());
    RefRows {
        ref_version: 0,
        ref_count: count(capture.refs().len()),
        returned_rows: count(rows.len()),
        truncated: rows.len() < capture.refs().len(),
        rows,
        artifact: None,
        rows_in_artifact: false,
    }
}

/// Content of a file that holds part of an observation.
#[derive(Serialize)]
struct Document<'a, T> {
    #[serde(flatten)]
    context: &'a Context,
    #[serde(flatten)]
    part: &'a T,
}

/// Returns the size of a value as JSON, in bytes.
fn json_size<T: Serialize>(value: &T) -> usize {
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
    // Counting cannot fail, and a value that cannot be serialised fails again when the response is written.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// When and where rows are written to a file instead of the response.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpillPolicy<'a> {
    pub kind: &'static str,
    pub op: &'static str,
    /// Whether to write the file even if the rows fit into the response.
    pub always: bool,
    pub destination: Destination<'a>,
}

/// Rows that can be moved from the response to a file.
pub(super) trait Rows: Serialize {
    /// Sets the file that holds the rows.
    fn set_artifact(&mut self, artifact: SavedArtifact);
    /// Removes the rows from the response, leaving them only in the file.
    fn drop_rows(&mut self);
}

impl Rows for ScreenRows {
    fn set_artifact(&mut self, artifact: SavedArtifact) {
        self.artifact = Some(artifact);
    }

    fn drop_rows(&mut self) {
        self.rows.clear();
        self.windows = None;
        (self.returned_rows, self.truncated, self.rows_in_artifact) = (0, true, true);
    }
}

impl Rows for RefRows {
    fn set_artifact(&mut self, artifact: SavedArtifact) {
        self.artifact = Some(artifact);
    }

    fn drop_rows(&mut self) {
        self.rows.clear();
        (self.returned_rows, self.truncated, self.rows_in_artifact) = (0, true, true);
    }
}

impl Call {
    /// Writes rows to a file if the policy or their size demands it. Rows over the inline limit are then removed from
    /// the response.
    pub(super) async fn spill(&self, context: &Context, rows: &mut impl Rows, policy: SpillPolicy<'_>) -> Result<()> {
        let too_large = json_size(rows) > self.core.config.get().limits.inline_bytes;
        if !too_large && !policy.always {
            return Ok(());
        }
        let content = Content::json(policy.kind, policy.op, &Document { context, part: rows })?;
        rows.set_artifact(self.save_artifact(content, policy.destination).await?);
        if too_large {
            rows.drop_rows();
        }
        Ok(())
    }
}
