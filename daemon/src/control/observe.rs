//! `observe.*`

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::observe::{
    Column, Page, PageParams, Part, RefRow, RefRows, Refs, RefsParams, Screen, ScreenParams, ScreenRows, Screenshot, ScreenshotParams, Top,
    TopParams, WindowRow,
};
use afd_proto::vocabulary::Reply;
use base64::Engine;

use super::reading::{Effort, Look};
use super::{Call, Core, Error, Result, reply};
use crate::memory::Place;
use crate::memory::observations::Observation;
use crate::store::{new_uid, now_ms};

/// Rows that are returned unless the caller says otherwise.
const DEFAULT_ROWS: u32 = 120;
/// The longest that a caller may wait for a page to settle.
const MAX_WAIT_MS: u64 = 60_000;
/// The most that travels inline, bytes of base64.
const MAX_INLINE: usize = 6 << 20;

fn wait(wait_ms: Option<u64>) -> Result<Duration> {
    match wait_ms.unwrap_or(0) {
        ms if ms > MAX_WAIT_MS => Err(Error::param("waitMs", "at most 60000", ms)),
        ms => Ok(Duration::from_millis(ms)),
    }
}

fn max_rows(max: Option<u32>, full: bool) -> usize {
    if full { usize::MAX } else { max.unwrap_or(DEFAULT_ROWS) as usize }
}

/// `observe.top`
///
/// # Errors
/// When the device does not tell.
pub async fn top(core: &Arc<Core>, params: &TopParams) -> Result<Reply<Top>> {
    let call = core.call(params).await?;
    let reading = call.device().top(call.target.token.clone()).await?;
    let uid = new_uid();
    let top = Top { observation_id: uid.clone(), top_activity: reading.value.place.clone(), app: reading.value.app.clone() };
    call.record(Observation {
        uid,
        seq: reading.seq,
        source: "top",
        place: Place { app: reading.value.app, activity: reading.value.place.clone(), ..Place::default() },
        content_hash: None,
        settled: false,
        reliable: reading.value.place.is_some(),
        reason: None,
        mode: None,
        has_web_view: None,
        node_reliability: None,
        nodes: None,
        refs: None,
        at: now_ms(),
    });
    Ok(call.reply(top))
}

/// `observe.screen`
///
/// # Errors
/// When the screen cannot be read.
pub async fn screen(core: &Arc<Core>, params: &ScreenParams) -> Result<Reply<Screen>> {
    let call = core.call(params).await?;
    let look = call.look(Effort { settle: params.settle, wait: wait(params.wait_ms)? }).await?;
    call.record_look(&look, "screen", None);
    let columns = reply::columns(params.fields.as_deref(), params.full);
    let screen = screen_rows(&look, &columns, params.max_rows, params.full);
    let context = call.with_hints(&look, params.hints).await;
    Ok(call.reply(Screen { context, screen }))
}

/// `observe.refs`
///
/// # Errors
/// When the screen cannot be read.
pub async fn refs(core: &Arc<Core>, params: &RefsParams) -> Result<Reply<Refs>> {
    let call = core.call(params).await?;
    let look = call.look(Effort { settle: params.settle, wait: wait(params.wait_ms)? }).await?;
    let refs = ref_rows(&look, params.max_rows, params.full);
    call.record_look(&look, "refs", Some(refs.rows.len()));
    let context = call.with_hints(&look, params.hints).await;
    Ok(call.reply(Refs { context, refs }))
}

/// `observe.page`
///
/// # Errors
/// When the screen cannot be read.
pub async fn page(core: &Arc<Core>, params: &PageParams) -> Result<Reply<Page>> {
    let call = core.call(params).await?;
    let effort = Effort { settle: params.settle.unwrap_or(true), wait: wait(params.wait_ms)? };
    let look = call.look(effort).await?;
    let wants = |part| params.include.as_ref().is_none_or(|parts| parts.contains(&part));
    let refs = wants(Part::Refs).then(|| ref_rows(&look, params.max_rows, params.full));
    let screen = wants(Part::Screen).then(|| screen_rows(&look, &reply::columns(None, params.full), params.max_rows, params.full));
    call.record_look(&look, "page", refs.as_ref().map(|r| r.rows.len()));
    let context = call.with_hints(&look, params.hints).await;
    Ok(call.reply(Page { context, screen, refs }))
}

/// `observe.screenshot`
///
/// # Errors
/// When the picture cannot be taken or is too large to travel.
pub async fn screenshot(core: &Arc<Core>, params: &ScreenshotParams) -> Result<Reply<Screenshot>> {
    let max_dim = params.max_dim.unwrap_or(700);
    let quality = params.quality.unwrap_or(80);
    if !(1..=10_000).contains(&max_dim) {
        return Err(Error::param("maxDim", "1 to 10000", max_dim));
    }
    if !(1..=100).contains(&quality) {
        return Err(Error::param("quality", "1 to 100", quality));
    }
    let call = core.call(params).await?;
    let picture = call.device().screenshot(call.target.token.clone(), max_dim, quality).await?;
    let screenshot_base64 = base64::engine::general_purpose::STANDARD.encode(picture.as_slice());
    if screenshot_base64.len() > MAX_INLINE {
        return Err(Error::new(
            ErrorCode::LimitExceeded,
            format!("the picture has {} bytes, more than an answer may carry", picture.len()),
        )
        .hint("ask for a smaller maxDim or quality"));
    }
    Ok(call.reply(Screenshot { mime_type: "image/jpeg".into(), size_bytes: picture.len() as u64, max_dim, quality, screenshot_base64 }))
}

fn screen_rows(look: &Look, columns: &[Column], max: Option<u32>, full: bool) -> ScreenRows {
    let snapshot = look.snapshot();
    let rows: Vec<_> = snapshot.nodes.iter().take(max_rows(max, full)).map(|n| reply::row(n, columns)).collect();
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
        row_count: reply::count(snapshot.nodes.len()),
        returned_rows: reply::count(rows.len()),
        truncated: rows.len() < snapshot.nodes.len(),
        rows,
        windows,
    }
}

fn ref_rows(look: &Look, max: Option<u32>, full: bool) -> RefRows {
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
        ref_count: reply::count(look.refs.len()),
        returned_rows: reply::count(rows.len()),
        truncated: rows.len() < look.refs.len(),
        rows,
    }
}

impl Call {
    async fn with_hints(&self, look: &Look, wanted: Option<bool>) -> afd_proto::observe::Context {
        let mut context = look.context();
        if wanted.unwrap_or(true) {
            context.hints = self.hints(&look.place()).await;
        }
        context
    }
}
