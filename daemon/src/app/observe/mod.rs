//! `observe.*`: the foreground activity, screen, refs, page, and the device's own overlay.

pub(in crate::app) mod capture;
mod changes;
mod dump;
pub(in crate::app) mod hints;
mod incidents;
pub(in crate::app) mod known_titles;
pub(in crate::app) mod outline;
mod part;
mod picture;
pub(in crate::app) mod screen_capture;
pub mod screenshot;
pub(in crate::app) mod streams;
mod text;
mod toward;
pub mod wait;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::observe::{
    Context, LastPage, LastParams, ObserveDump, ObserveLast, ObservePage, ObserveRefs, ObserveScreen, ObserveText,
    ObserveTop, Page, PageParams, Part, Refs, RefsParams, Screen, ScreenParams, Top, TopParams,
};
use afd_proto::picture::{
    MarkScope, ObserveOverlayGet, ObserveOverlaySet, Overlay, OverlayGetParams, OverlaySetParams,
};
use afd_proto::rows::{RefRows, ScreenRows};
use afd_proto::vocabulary::{DeviceCall, HintsWanted, ObservationSource, Reply};

use super::artifacts::Destination;
use super::memory::predict::Predicted;
use super::rows::{SpillPolicy, columns, ref_rows, screen_rows};
use super::{Call, Core, Error, Result};
use crate::app::Methods;
use afd_base::task::over_nodes;
use afd_device::{Device, OverlaySetting};
use afd_experience::memory::Place;
use afd_experience::memory::observations::Observation;
use afd_store::{new_uid, now_ms};
use capture::CaptureOptions;
use outline::Shape;
use part::PagePart;
use screen_capture::{NewestCapture, ScreenCapture};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ObserveTop, _, _>(|core, p| async move { top(&core, &p).await });
    methods.add::<ObserveScreen, _, _>(|core, p| async move { screen(&core, &p).await });
    methods.add::<ObserveRefs, _, _>(|core, p| async move { refs(&core, &p).await });
    methods.add::<ObservePage, _, _>(|core, p| async move { page(&core, &p).await });
    methods.add::<ObserveText, _, _>(|core, p| async move { text::text(&core, &p).await });
    methods.add::<ObserveDump, _, _>(|_, p| async move { dump::dump(p).await });
    methods.add::<ObserveLast, _, _>(|core, p| async move { last(&core, &p).await });
    methods.add::<ObserveOverlayGet, _, _>(|core, p| async move { overlay(&core, &p).await });
    methods.add::<ObserveOverlaySet, _, _>(|core, p| async move { set_overlay(&core, &p).await });
}

/// Implements `observe.top`.
///
/// # Errors
/// If the device cannot report the foreground activity.
pub async fn top(core: &Arc<Core>, params: &TopParams) -> Result<Reply<Top>> {
    let (call, first) = core.call_reading(params, Device::top).await?;
    let reading = first.answer().await?;
    let uid = new_uid();
    let top =
        Top { observation_id: uid.clone(), top_activity: reading.value.place.clone(), app: reading.value.app.clone() };
    call.record(Observation {
        uid,
        seq: reading.seq,
        source: ObservationSource::Top,
        place: Place { app: reading.value.app, activity: reading.value.place.clone(), ..Place::default() },
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

/// Parameters that every method has which observes the page.
trait Observes: DeviceCall {
    /// Returns how to read the screen.
    fn options(&self) -> CaptureOptions;

    /// Returns the requested form.
    fn shape(&self) -> Shape;
}

macro_rules! observes {
    ($($params:ident: $settles:expr, $part:expr);* $(;)?) => {
        $(impl Observes for $params {
            fn options(&self) -> CaptureOptions {
                let settles: fn(&Self) -> bool = $settles;
                CaptureOptions { settle: settles(self), wait: Duration::from_millis(self.wait_ms()) }
            }

            fn shape(&self) -> Shape {
                let part: fn(&Self) -> PagePart = $part;
                Shape {
                    format: self.format,
                    since: self.since.clone(),
                    hints: self.hints,
                    max_rows: self.max_rows,
                    part: part(self),
                    after_action: false,
                }
            }
        })*
    };
}

// An outline shows the page as it has settled.
observes! {
    ScreenParams: |p| p.settle || p.shape().is_outline(), |_| PagePart::default();
    RefsParams: |p| p.settle || p.shape().is_outline(), |_| PagePart::default();
    PageParams: |p| p.settle(), |p| PagePart { whole: p.whole, more: p.more, within: p.within.clone() };
}

/// Reads the screen. If the caller requests an outline, also records the observation and returns the outline in its
/// context.
async fn observed<P: Observes>(
    core: &Arc<Core>,
    params: &P,
    source: ObservationSource,
) -> Result<(Call, ScreenCapture, Option<Context>)> {
    let (call, first) = core.call_reading(params, Device::tree).await?;
    let mut capture = call.capture(params.options(), first).await?;
    let shape = params.shape();
    let outline = match shape.is_outline() {
        true => {
            shape.part.check(shape.since.is_some(), &call)?;
            let mut context = call.shaped(&mut capture, source, &shape).await?;
            context.incidents = call.incidents(None).await;
            Some(context)
        }
        false => None,
    };
    Ok((call, capture, outline))
}

/// Implements `observe.screen`.
///
/// # Errors
/// If the screen cannot be read, or if a file cannot be written.
pub async fn screen(core: &Arc<Core>, params: &ScreenParams) -> Result<Reply<Screen>> {
    let (call, capture, outline) = observed(core, params, ObservationSource::Screen).await?;
    if let Some(context) = outline {
        return Ok(call.reply(Screen {
            context,
            screen: ScreenRows { rows: Vec::new(), ..screen_rows(&capture, &[], Some(0), false) },
        }));
    }
    call.record_and_learn(&capture, ObservationSource::Screen, None).await;
    let mut screen =
        screen_rows(&capture, &columns(params.fields.as_deref(), params.full), params.max_rows, params.full);
    let context = call.with_hints(&capture, params.hints, 0, &call.predicted_if(&capture, params.hints).await).await;
    let policy = SpillPolicy {
        kind: if params.full { "screen_full_json" } else { "screen_json" },
        op: "observe.screen",
        always: params.full || params.save_file.is_some(),
        destination: Destination {
            path: params.save_file.as_deref().map(|p| ("saveFile", p)),
            root: params.artifact_dir.as_deref(),
        },
    };
    call.spill(&context, &mut screen, policy).await?;
    Ok(call.reply(Screen { context, screen }))
}

/// Implements `observe.refs`.
///
/// # Errors
/// If the screen cannot be read.
pub async fn refs(core: &Arc<Core>, params: &RefsParams) -> Result<Reply<Refs>> {
    let (call, capture, outline) = observed(core, params, ObservationSource::Refs).await?;
    if let Some(context) = outline {
        let refs = RefRows {
            ref_version: call.ref_version(&capture),
            ..ref_rows(&capture, Some(0), false, &core.risk_rules(), &Predicted::default())
        };
        return Ok(call.reply(Refs { context, refs }));
    }
    let predicted = call.predicted_if(&capture, params.hints).await;
    let mut refs = ref_rows(&capture, params.max_rows, params.full, &core.risk_rules(), &predicted);
    call.record_and_learn(&capture, ObservationSource::Refs, Some(refs.rows.len())).await;
    refs.ref_version = call.ref_version(&capture);
    let context = call.with_hints(&capture, params.hints, refs.rows.len(), &predicted).await;
    let policy =
        SpillPolicy { kind: "page_refs_json", op: "observe.refs", always: false, destination: Destination::default() };
    call.spill(&context, &mut refs, policy).await?;
    Ok(call.reply(Refs { context, refs }))
}

/// Implements `observe.page`.
///
/// # Errors
/// If the screen cannot be read, or if a file cannot be written.
pub async fn page(core: &Arc<Core>, params: &PageParams) -> Result<Reply<Page>> {
    let (call, capture, outline) = observed(core, params, ObservationSource::Page).await?;
    if let Some(context) = outline {
        return Ok(call.reply(Page { context, screen: None, refs: None }));
    }
    let wants = |part| params.include.as_ref().is_none_or(|parts| parts.contains(&part));
    let predicted = call.predicted_if(&capture, params.hints).await;
    let mut refs =
        wants(Part::Refs).then(|| ref_rows(&capture, params.max_rows, params.full, &core.risk_rules(), &predicted));
    let mut screen =
        wants(Part::Screen).then(|| screen_rows(&capture, &columns(None, params.full), params.max_rows, params.full));
    call.record_and_learn(&capture, ObservationSource::Page, refs.as_ref().map(|r| r.rows.len())).await;
    if let Some(refs) = &mut refs {
        refs.ref_version = call.ref_version(&capture);
    }
    let context = call.with_hints(&capture, params.hints, refs.as_ref().map_or(0, |r| r.rows.len()), &predicted).await;
    let destination =
        Destination { path: params.save_dir.as_deref().map(|p| ("saveDir", p)), root: params.artifact_dir.as_deref() };
    if let Some(screen) = &mut screen {
        let policy = SpillPolicy {
            kind: "page_screen_json",
            op: "observe.page",
            always: params.save_dir.is_some(),
            destination,
        };
        call.spill(&context, screen, policy).await?;
    }
    if let Some(refs) = &mut refs {
        call.spill(
            &context,
            refs,
            SpillPolicy { kind: "page_refs_json", op: "observe.page", always: false, destination },
        )
        .await?;
    }
    Ok(call.reply(Page { context, screen, refs }))
}

/// Implements `observe.last`.
///
/// # Errors
/// `NOT_FOUND` if nothing has been observed on the device since the daemon started.
pub async fn last(core: &Arc<Core>, params: &LastParams) -> Result<Reply<LastPage>> {
    let call = core.call(params).await?;
    let newest = call.newest_capture()?;
    let page = LastPage {
        observation_id: newest.capture.uid.clone(),
        at: newest.capture.at,
        seen_by: newest.session.clone(),
        settled: newest.capture.settled,
        outdated: newest.capture.reading.inputs != call.device().inputs(),
        outline: call.outline_of(&newest.capture).await,
    };
    Ok(call.reply(page))
}

/// Implements `observe.overlayGet`.
///
/// # Errors
/// If the device cannot report its overlay.
pub async fn overlay(core: &Arc<Core>, params: &OverlayGetParams) -> Result<Reply<Overlay>> {
    let call = core.call(params).await?;
    let overlay = call.device().overlay(call.target.token.clone()).await?;
    Ok(call.reply(overlay))
}

/// Implements `observe.overlaySet`. This call changes the screen, so it queues for exclusive access to the device and
/// respects leases.
///
/// # Errors
/// If a value is out of range, if another session holds the lease, or if the device cannot set the overlay.
pub async fn set_overlay(core: &Arc<Core>, params: &OverlaySetParams) -> Result<Reply<Overlay>> {
    let interval = params.refresh_interval_ms();
    let max_marks = params.max_marks();
    if max_marks == 0 {
        return Err(Error::param("maxMarks", "at least 1", max_marks));
    }
    let call = core.call(params).await?;
    let setting = OverlaySetting {
        enabled: params.enabled,
        max_marks,
        interactive_only: params.mark_scope == Some(MarkScope::Interactive),
        auto_refresh: params.auto_refresh(),
        refresh_interval_ms: interval,
        offset_x: params.offset_x,
        offset_y: params.offset_y,
    };
    call.device().check_lease(&call.echo.session)?;
    let guard = call.device().queue()?.guard().await?;
    call.device().check_lease(&call.echo.session)?;
    let overlay = guard.set_overlay(call.target.token.as_ref(), &setting).await?;
    drop(guard);
    Ok(call.reply(overlay))
}

impl Call {
    /// Returns the newest recorded capture of the device, whichever session it was recorded for.
    ///
    /// # Errors
    /// `NOT_FOUND` if nothing has been observed on the device since the daemon started.
    pub(in crate::app) fn newest_capture(&self) -> Result<Arc<NewestCapture>> {
        let newest = self.core.screens.newest.lock().get(&self.device_id).cloned();
        newest.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, "nothing has been observed on this device since the daemon started")
                .hint("observe the page (`afctl look`)")
        })
    }

    /// Returns the version of the device's refs, and records that the session received this version. The version of an
    /// unreliable capture's refs is not recorded.
    pub(super) fn ref_version(&self, capture: &ScreenCapture) -> u64 {
        let mut hash = std::hash::DefaultHasher::new();
        over_nodes(capture.refs().len(), || {
            for r in capture.refs().iter() {
                let node = &capture.snapshot().nodes[r.node];
                (r.label.text(), &node.res_id, &node.class, node.bounds.to_string(), node.flags.text(false))
                    .hash(&mut hash);
            }
        });
        let session = capture.reliable().then_some(self.session_id);
        self.core.experience.views.ref_version(session, self.device_id, hash.finish())
    }

    /// Returns what to expect of the actions on the page of a capture, if hints are wanted.
    pub(super) async fn predicted_if(&self, capture: &ScreenCapture, wanted: Option<HintsWanted>) -> Predicted {
        match wanted.is_none_or(HintsWanted::any) {
            true => self.predicted(capture).await,
            false => Predicted::default(),
        }
    }

    /// Returns the context of a capture with its state and, unless `wanted` is false, with hints; `shown` is the number
    /// of refs returned with it.
    pub(super) async fn with_hints(
        &self,
        capture: &ScreenCapture,
        wanted: Option<HintsWanted>,
        shown: usize,
        predicted: &Predicted,
    ) -> afd_proto::observe::Context {
        let mut context = capture.context();
        if capture.reliable() {
            context.page.state = self.state_of(capture.structures()).await;
        }
        let wanted = wanted.unwrap_or(HintsWanted::Chosen(true));
        if !wanted.any() {
            return context;
        }
        let structure = capture.structures().filter(|_| capture.reliable()).map(|s| self.structure_key(&s.front));
        let mut hints = Vec::new();
        if let Some(structures) = capture.structures().filter(|s| s.front.dialog && capture.reliable()) {
            hints.extend(self.dismissal_hint(&structures.front).await);
        }
        if capture.reliable() {
            hints.extend(self.page_hints(&capture.place(), context.page.state.as_deref()).await);
        }
        let known = self.hints(capture, &Place { structure, ..capture.place() }, (shown, predicted), wanted).await;
        context.hints = hints::chosen(known, hints, wanted);
        if shown > 0 && capture.reliable() {
            context.toward = self.toward(capture).await;
        }
        context
    }
}
