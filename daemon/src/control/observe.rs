//! `observe.*`

use std::sync::Arc;
use std::time::Duration;

use afd_proto::observe::{Page, PageParams, Part, Refs, RefsParams, Screen, ScreenParams, Top, TopParams};
use afd_proto::picture::{MarkScope, Overlay, OverlayGetParams, OverlaySetParams};
use afd_proto::vocabulary::{ObservationSource, Reply};

use super::artifacts::Wish;
use super::look::Look;
use super::reading::Effort;
use super::rows::{Filing, columns, ref_rows, screen_rows};
use super::{Call, Core, Error, Result};
use crate::device::{Device, DriverError, Input, OverlaySetting};
use crate::memory::Place;
use crate::memory::observations::Observation;
use crate::store::{new_uid, now_ms};

/// The longest that a caller may wait for a page to settle.
const MAX_WAIT_MS: u64 = 60_000;

fn wait(wait_ms: Option<u64>) -> Result<Duration> {
    match wait_ms.unwrap_or(0) {
        ms if ms > MAX_WAIT_MS => Err(Error::param("waitMs", "at most 60000", ms)),
        ms => Ok(Duration::from_millis(ms)),
    }
}

/// `observe.top`
///
/// # Errors
/// When the device does not tell.
pub async fn top(core: &Arc<Core>, params: &TopParams) -> Result<Reply<Top>> {
    let (call, first) = core.call_reading(params, Device::top).await?;
    let reading = first.answer().await?;
    let uid = new_uid();
    let top = Top { observation_id: uid.clone(), top_activity: reading.value.place.clone(), app: reading.value.app.clone() };
    call.record(Observation {
        uid,
        seq: reading.seq,
        source: ObservationSource::Top,
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
    })
    .await;
    Ok(call.reply(top))
}

/// `observe.screen`
///
/// # Errors
/// When the screen cannot be read, or a file not be written.
pub async fn screen(core: &Arc<Core>, params: &ScreenParams) -> Result<Reply<Screen>> {
    let effort = Effort { settle: params.settle, wait: wait(params.wait_ms)? };
    let (call, first) = core.call_reading(params, Device::tree).await?;
    let look = call.look(effort, first).await?;
    call.record_look(&look, ObservationSource::Screen, None).await;
    let mut screen = screen_rows(&look, &columns(params.fields.as_deref(), params.full), params.max_rows, params.full);
    let context = call.with_hints(&look, params.hints).await;
    let filing = Filing {
        kind: if params.full { "screen_full_json" } else { "screen_json" },
        op: "observe.screen",
        always: params.full || params.save_file.is_some(),
        wish: Wish { path: params.save_file.as_deref().map(|p| ("saveFile", p)), root: params.artifact_dir.as_deref() },
    };
    call.file(&context, &mut screen, filing).await?;
    Ok(call.reply(Screen { context, screen }))
}

/// `observe.refs`
///
/// # Errors
/// When the screen cannot be read.
pub async fn refs(core: &Arc<Core>, params: &RefsParams) -> Result<Reply<Refs>> {
    let effort = Effort { settle: params.settle, wait: wait(params.wait_ms)? };
    let (call, first) = core.call_reading(params, Device::tree).await?;
    let look = call.look(effort, first).await?;
    let mut refs = ref_rows(&look, params.max_rows, params.full);
    call.record_look(&look, ObservationSource::Refs, Some(refs.rows.len())).await;
    let context = call.with_hints(&look, params.hints).await;
    let filing = Filing { kind: "page_refs_json", op: "observe.refs", always: false, wish: Wish::default() };
    call.file(&context, &mut refs, filing).await?;
    Ok(call.reply(Refs { context, refs }))
}

/// `observe.page`
///
/// # Errors
/// When the screen cannot be read, or a file not be written.
pub async fn page(core: &Arc<Core>, params: &PageParams) -> Result<Reply<Page>> {
    let effort = Effort { settle: params.settle.unwrap_or(true), wait: wait(params.wait_ms)? };
    let (call, first) = core.call_reading(params, Device::tree).await?;
    let look = call.look(effort, first).await?;
    let wants = |part| params.include.as_ref().is_none_or(|parts| parts.contains(&part));
    let mut refs = wants(Part::Refs).then(|| ref_rows(&look, params.max_rows, params.full));
    let mut screen = wants(Part::Screen).then(|| screen_rows(&look, &columns(None, params.full), params.max_rows, params.full));
    call.record_look(&look, ObservationSource::Page, refs.as_ref().map(|r| r.rows.len())).await;
    let context = call.with_hints(&look, params.hints).await;
    let wish = Wish { path: params.save_dir.as_deref().map(|p| ("saveDir", p)), root: params.artifact_dir.as_deref() };
    if let Some(screen) = &mut screen {
        let filing = Filing { kind: "page_screen_json", op: "observe.page", always: params.save_dir.is_some(), wish };
        call.file(&context, screen, filing).await?;
    }
    if let Some(refs) = &mut refs {
        call.file(&context, refs, Filing { kind: "page_refs_json", op: "observe.page", always: false, wish }).await?;
    }
    Ok(call.reply(Page { context, screen, refs }))
}

/// `observe.overlayGet`
///
/// # Errors
/// When the device does not tell.
pub async fn overlay(core: &Arc<Core>, params: &OverlayGetParams) -> Result<Reply<Overlay>> {
    let call = core.call(params).await?;
    let overlay = call.device().overlay(call.target.token.clone()).await?;
    Ok(call.reply(overlay))
}

/// `observe.overlaySet`. It changes what is on the screen, so that it waits for its turn and heeds a lease.
///
/// # Errors
/// When a value is out of range, somebody else holds the device, or it does not do it.
pub async fn set_overlay(core: &Arc<Core>, params: &OverlaySetParams) -> Result<Reply<Overlay>> {
    let interval = params.refresh_interval_ms.unwrap_or(800);
    if !(200..=5000).contains(&interval) {
        return Err(Error::param("refreshIntervalMs", "200 to 5000", interval));
    }
    let max_marks = params.max_marks.unwrap_or(300);
    if max_marks == 0 {
        return Err(Error::param("maxMarks", "at least 1", max_marks));
    }
    let call = core.call(params).await?;
    let setting = OverlaySetting {
        enabled: params.enabled,
        max_marks,
        interactive_only: params.mark_scope == Some(MarkScope::Interactive),
        auto_refresh: params.auto_refresh.unwrap_or(true),
        refresh_interval_ms: interval,
        offset_x: params.offset_x,
        offset_y: params.offset_y,
    };
    call.device().check_lease(&call.echo.session)?;
    let guard = call.device().queue()?.guard().await?;
    call.device().check_lease(&call.echo.session)?;
    let state = guard.perform(call.target.token.as_ref(), &Input::Overlay(setting)).await?;
    drop(guard);
    let overlay = serde_json::from_str(&state).map_err(|e| DriverError::Lost(format!("the overlay's state cannot be read: {e}")))?;
    Ok(call.reply(overlay))
}

impl Call {
    pub(super) async fn with_hints(&self, look: &Look, wanted: Option<bool>) -> afd_proto::observe::Context {
        let mut context = look.context();
        if look.reliable() {
            context.page.state = self.state_of(look.structures.as_ref()).await;
        }
        if wanted.unwrap_or(true) {
            context.hints = self.hints(&look.place()).await;
            if let Some(structures) = look.structures.as_ref().filter(|s| s.front.dialog && look.reliable()) {
                context.hints.extend(self.way_out(&structures.front).await);
            }
        }
        context
    }
}
