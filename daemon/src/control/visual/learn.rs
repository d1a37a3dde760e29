//! `visual.learn`, and learning from what is observed anyway.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::visual::{Detection, LearnParams, Learned, StateRef};
use afd_proto::vocabulary::{DEFAULT_SESSION, ObservationSource, Role};

use rusqlite::Connection;

use super::super::look::Look;
use super::super::reading::Effort;
use super::super::rows::count;
use super::super::{Call, Core, Error, Result};
use super::pictures::{self, Shown};
use super::{UPKEEP_JOB, find};
use crate::device::{Device, PendingRead, TreeReading};
use crate::memory::Place;
use crate::page::snapshot::Rect;
use crate::page::structure::Structure;
use crate::page::{Flag, Node, Snapshot, element, site};
use crate::store::now_ms;
use crate::task::run_blocking;
use crate::visual::detections::{self, Detected};
use crate::visual::detector::{self, DetectorError};
use crate::visual::index::Unpublished;
use crate::visual::learn;
use crate::visual::lesson::{Lesson, Sighting, TREE};
use crate::visual::scope::{self, Scope};
use crate::visual::{files, index, states};

/// No screen is larger, pixels.
const MAX_PLACE: i32 = 100_000;

/// What the tree of a screen teaches.
fn lesson(snapshot: &Snapshot, structure: &Structure, page: Option<String>, at: i64) -> Lesson {
    Lesson {
        scope: index::of(structure),
        structure: Some(structure.clone()),
        sightings: element::all(snapshot).into_iter().map(sighting).collect(),
        texts: element::visible_texts(snapshot),
        page,
        at,
    }
}

fn sighting(element: element::Element) -> Sighting {
    Sighting {
        steady: element.role != Role::Text,
        key: element.key,
        name: element.name,
        source: TREE.to_owned(),
        kind: element.role.to_string(),
        label: element.label,
        scrolls: element.scrolls,
        res_id: element.res_id,
        class: Some(element.class),
        bounds: Some(element.bounds),
        confidence: None,
        crop: None,
    }
}

impl Call {
    /// Learns from a look behind the answer, unless that is switched off or the look teaches nothing.
    pub(in super::super) fn learn_behind(&self, look: &Look) {
        let Some(structures) = look.structures.clone().filter(|_| look.settled && look.reliable()) else { return };
        if !self.core.config.get().visual.learn {
            return;
        }
        let (core, origin) = (self.core.clone(), self.core.store.origin().to_owned());
        let lesson = lesson(look.snapshot(), &structures.front, None, look.at);
        // Without room in the queue the lesson is left out: the next look teaches the same.
        let learn = move |c: &Connection| {
            let learned = learn::learn(c, &origin, &core.visual, &lesson)?;
            if learned.missed > 0 {
                core.jobs.nudge(UPKEEP_JOB);
            }
            Ok(learned.unpublished)
        };
        self.core.store.try_write_behind("what a screen teaches", learn, Unpublished::publish);
    }
}

/// `visual.learn`
///
/// # Errors
/// When the screen cannot be read or trusted, or what was seen cannot be kept.
pub async fn learn(core: &Arc<Core>, params: &LearnParams) -> Result<Learned> {
    if let Some(threshold) = params.forget_threshold.filter(|t| !(1..=100_000).contains(t)) {
        return Err(Error::param("forgetThreshold", "1 to 100000", threshold));
    }
    if params.detect && params.detections.is_some() {
        return Err(Error::param("detect", "nothing, as detections were sent", "true"));
    }
    if params.detections.is_none() && params.picture.is_some() && !params.detect {
        return Err(Error::param("picture", "detections, or detect", "neither"));
    }
    let first = match (&params.detections, &params.picture) {
        (None, None) => Some(core.call_reading(params, Device::tree).await?),
        _ => None,
    };
    let (own, params) = (core.clone(), params.clone());
    core.finish(async move { learn_all(&own, &params, first).await }).await?
}

/// Learns and keeps everything that belongs to it, even if the caller goes away.
async fn learn_all(core: &Arc<Core>, params: &LearnParams, first: Option<(Call, PendingRead<TreeReading>)>) -> Result<Learned> {
    let learned = match (&params.detections, &params.picture, first) {
        (Some(detections), ..) => from_detections(core, params, detections).await?,
        (None, Some(picture), _) => from_picture(core, params, picture).await?,
        (None, None, Some((call, first))) => from_screen(core, params, call, first).await?,
        (None, None, None) => return Err(Error::new(ErrorCode::Internal, "the screen was not read")),
    };
    if let Some(site) = params.site.as_deref().and_then(site::parse) {
        let scope = Scope { app: learned.about.app.clone(), site: learned.about.site.clone() };
        core.store.write(move |c| scope::add_host(c, &scope, &site.host, site.port)).await?;
    }
    Ok(learned)
}

/// What was seen without a device, which cannot tell the app.
fn scope_of(params: &LearnParams) -> Result<Scope> {
    let site = params.site.as_deref().map(find::site_name).transpose()?;
    match params.app.as_ref().filter(|app| !app.trim().is_empty()) {
        Some(app) => Ok(Scope { app: app.clone(), site }),
        None => Err(Error::param("app", "the app that was seen", "nothing")),
    }
}

/// What a client detected; it needs no device if it says what app it was.
async fn from_detections(core: &Arc<Core>, params: &LearnParams, detections: &[Detection]) -> Result<Learned> {
    let scope = scope_of(params)?;
    let seen = all_detected(detections, "detections")?;
    let session = core.session_row(params.session.as_deref().unwrap_or(DEFAULT_SESSION)).await?;
    let mut shown = None;
    if let Some(picture) = &params.picture {
        shown = Some(pictures::from_file(picture).await?);
    }
    let given = detections.iter().map(|d| d.crop.clone()).collect();
    let seen = core.keep_given_crops(&scope, given, seen, session).await?;
    let lesson = Lesson { scope, structure: None, sightings: Vec::new(), texts: Vec::new(), page: params.page.clone(), at: now_ms() };
    let keeper = shown.map(|shown| Keeper { shown, session, device: None });
    keep(core, lesson, Some(("detections".to_owned(), seen)), keeper, params.forget_threshold).await
}

/// What the detector program sees on a picture of the caller.
async fn from_picture(core: &Arc<Core>, params: &LearnParams, picture: &str) -> Result<Learned> {
    let scope = scope_of(params)?;
    let shown = pictures::from_file(picture).await?;
    let session = core.session_row(params.session.as_deref().unwrap_or(DEFAULT_SESSION)).await?;
    let detected = core.detect(&shown).await?;
    let lesson = Lesson { scope, structure: None, sightings: Vec::new(), texts: Vec::new(), page: params.page.clone(), at: now_ms() };
    let keeper = params.pictures.then_some(Keeper { shown, session, device: None });
    keep(core, lesson, Some(detected), keeper, params.forget_threshold).await
}

/// What is on the screen: its tree, what the detector sees, or both where both can be trusted.
async fn from_screen(core: &Arc<Core>, params: &LearnParams, call: Call, first: PendingRead<TreeReading>) -> Result<Learned> {
    let (first, shown) = match params.detect || params.pictures {
        true => (None, Some(call.whole_picture(first).await?)),
        false => (Some(first), None),
    };
    let look = match (shown.as_ref().and_then(|s| s.look.clone()), first) {
        (Some(look), _) => look,
        (None, Some(first)) => call.look(Effort { settle: true, ..Effort::default() }, first).await?,
        (None, None) => return Err(Error::new(ErrorCode::Internal, "the picture has no tree")),
    };
    let structures = look.structures.clone().filter(|_| look.reliable());
    let detected = match &shown {
        Some(shown) if params.detect => {
            let (name, seen) = core.detect(shown).await?;
            Some((name, seen.into_iter().filter(|d| !core.was_typed(d, look.snapshot())).collect()))
        }
        _ => None,
    };
    let on_screen = look.snapshot().app.clone();
    if let (Some(app), Some(there)) = (&params.app, &on_screen)
        && app != there
    {
        return Err(Error::param("app", &format!("the app on the screen, {there:?}"), format!("{app:?}")));
    }
    let site = params.site.as_deref().map(find::site_name).transpose()?.or_else(|| look.snapshot().site.clone());
    let lesson = match structures {
        Some(structures) => {
            let structure = Structure { site: site.clone(), ..structures.front.clone() };
            lesson(look.snapshot(), &structure, params.page.clone(), look.at)
        }
        None if detected.is_some() => {
            let app = params.app.clone().or(on_screen).ok_or_else(|| untrusted(&look))?;
            Lesson {
                scope: Scope { app, site },
                structure: None,
                sightings: Vec::new(),
                texts: Vec::new(),
                page: params.page.clone(),
                at: look.at,
            }
        }
        None => return Err(untrusted(&look)),
    };
    let keeper = shown.filter(|_| params.pictures).map(|shown| Keeper { shown, session: call.session_id, device: Some(call.device_id) });
    let (learned, key) = take_up(core, lesson, detected, keeper, params.forget_threshold).await?;
    // The page is named as it was learned, so that what led here leads to its state.
    let place = call.place_of(&look);
    let structure = if look.reliable() { key } else { None };
    call.record_at(&look, ObservationSource::Learn, None, Place { structure, ..place }).await;
    Ok(learned)
}

impl Core {
    /// Whether what was detected lies in a field, or says what was typed.
    fn was_typed(&self, detected: &Detected, snapshot: &Snapshot) -> bool {
        let b = detected.bounds;
        let (x, y) = (f64::from(b.left) / 2.0 + f64::from(b.right) / 2.0, f64::from(b.top) / 2.0 + f64::from(b.bottom) / 2.0);
        let secret = |n: &Node| n.is(Flag::Editable) || n.password || site::is_address_bar(n.id_name());
        snapshot.nodes.iter().any(|n| secret(n) && n.bounds.contains(x, y))
            || detected.label.as_deref().is_some_and(|label| self.secrets.was_typed(label))
    }

    /// Runs the detector of the settings on a picture.
    async fn detect(&self, shown: &Shown) -> Result<(String, Vec<Detected>)> {
        let settings = self.config.get().visual.clone();
        let file = shown.file.clone();
        let suffix = if file.starts_with(b"\x89PNG") { ".png" } else { ".jpg" };
        let written = run_blocking(move || {
            // For the program alone, and gone when it is done.
            let mut picture = tempfile::Builder::new().prefix("afd-").suffix(suffix).tempfile()?;
            std::io::Write::write_all(&mut picture, &file)?;
            Ok::<_, std::io::Error>(picture)
        });
        let picture = written.await.map_err(std::io::Error::other).flatten();
        let picture =
            picture.map_err(|e| Error::new(ErrorCode::StoreUnavailable, format!("the picture cannot be given to the detector: {e}")))?;
        let found = detector::run(&settings, picture.path()).await?;
        let name = detector::name_of(&settings).unwrap_or_else(|| "detector".to_owned());
        Ok((name, all_detected(&found, "the detector's output")?))
    }
}

impl From<DetectorError> for Error {
    fn from(error: DetectorError) -> Self {
        let hint = "name a program with `afctl config set visual.detector PROGRAM`, or `tesseract` for texts";
        match &error {
            DetectorError::None => Error::new(ErrorCode::Unsupported, error.to_string()).hint(hint),
            DetectorError::Missing { .. } => Error::new(ErrorCode::Unsupported, error.to_string()).hint("install it, or name another one"),
            DetectorError::Late { .. } => Error::new(ErrorCode::Timeout, error.to_string()).hint("see visual.detector_timeout_ms"),
            DetectorError::Failed { .. } => Error::new(ErrorCode::DeviceError, error.to_string()).hint(hint),
        }
    }
}

/// All detections, or what is wrong with one of them.
fn all_detected(detections: &[Detection], field: &str) -> Result<Vec<Detected>> {
    let one = |(i, d): (usize, &Detection)| {
        detected(d).map_err(|(member, expected, got)| Error::param(&format!("{field}[{i}].{member}"), expected, got))
    };
    detections.iter().enumerate().map(one).collect()
}

/// A detection as it is learned, or what is wrong with it.
fn detected(d: &Detection) -> std::result::Result<Detected, (&'static str, &'static str, String)> {
    let [left, top, right, bottom] = d.bounds;
    let sane = -MAX_PLACE..=MAX_PLACE;
    if right <= left || bottom <= top || ![left, top, right, bottom].iter().all(|v| sane.contains(v)) {
        return Err(("box", "left, top, right and bottom of something with an area", format!("{:?}", d.bounds)));
    }
    if let Some(confidence) = d.confidence.filter(|c| !(0.0..=1.0).contains(c)) {
        return Err(("confidence", "0 to 1", confidence.to_string()));
    }
    if let Some(name) = d.name.as_ref().filter(|n| n.trim().is_empty()) {
        return Err(("name", "a name", format!("{name:?}")));
    }
    Ok(Detected {
        name: d.name.clone(),
        kind: d.kind.clone().unwrap_or_else(|| if d.label.is_some() { "text" } else { "icon" }.to_owned()),
        label: d.label.clone(),
        bounds: Rect { left, top, right, bottom },
        confidence: d.confidence,
        crop: None,
        same_as: None,
    })
}

fn untrusted(look: &Look) -> Error {
    let why = look.doubt.unwrap_or("its activity is not known");
    Error::new(ErrorCode::DeviceError, format!("the screen teaches nothing: {why}"))
        .hint("learn from a picture instead: `afctl visual learn --detect`, or send detections")
}

/// Keeps pictures of what is learned.
struct Keeper {
    shown: Shown,
    session: i64,
    device: Option<i64>,
}

/// Takes up a lesson and tells what came of it.
async fn keep(
    core: &Arc<Core>,
    lesson: Lesson,
    detected: Option<(String, Vec<Detected>)>,
    keeper: Option<Keeper>,
    threshold: Option<u32>,
) -> Result<Learned> {
    take_up(core, lesson, detected, keeper, threshold).await.map(|(learned, _)| learned)
}

/// The same, with the key that the page is recorded by.
async fn take_up(
    core: &Arc<Core>,
    mut lesson: Lesson,
    detected: Option<(String, Vec<Detected>)>,
    keeper: Option<Keeper>,
    threshold: Option<u32>,
) -> Result<(Learned, Option<String>)> {
    let source = detected.as_ref().map_or_else(|| TREE.to_owned(), |(name, _)| name.clone());
    let mut skipped = Vec::new();
    if let Some((name, detected)) = detected {
        let (origin, scope) = (core.store.origin().to_owned(), lesson.scope.clone());
        let intake = move |c: &Connection| detections::sightings(c, scope::take_up(c, &origin, &scope)?.id, &name, detected);
        let (sightings, passed_over) = core.store.write(intake).await?;
        lesson.texts.extend(sightings.iter().filter(|s| s.kind == "text").filter_map(|s| s.label.clone()));
        lesson.sightings.extend(sightings);
        skipped = passed_over;
    }
    let mut picture = None;
    if let Some(keeper) = keeper {
        picture = Some(core.keep_pictures(&mut lesson, &keeper).await?);
    }
    let (origin, index) = (core.store.origin().to_owned(), core.visual.clone());
    let (seen, scope) = (lesson.sightings.len(), lesson.scope.clone());
    let (learned, state) = core
        .store
        .write_then(
            move |c| {
                if let Some(threshold) = threshold {
                    scope::set_threshold(c, scope::take_up(c, &origin, &lesson.scope)?.id, i64::from(threshold))?;
                }
                let learned = learn::learn(c, &origin, &index, &lesson)?;
                let state = learned.state.map(|id| states::get(c, id)).transpose()?.flatten();
                Ok((learned, state))
            },
            |(learned, _)| learned.unpublished.publish(),
        )
        .await?;
    if let Some((page, artifact)) = &picture {
        core.keep_page(learned.app, page.clone(), artifact.clone()).await?;
    }
    core.jobs.nudge(UPKEEP_JOB);
    let Scope { app, site } = scope;
    let told = Learned {
        about: afd_proto::visual::About { app, site },
        state: state.and_then(|s| Some(StateRef { id: s.code.clone()?, name: s.called().to_owned() })),
        new_state: learned.defined,
        seen: count(seen),
        new_components: count(learned.new_components),
        missed: count(learned.missed),
        learn_count: learned.learn_count,
        source,
        skipped,
        picture: picture.map(|(_, artifact)| artifact),
    };
    Ok((told, learned.key))
}

impl Core {
    /// Keeps a picture of the page and of each component that has none; answers the name of the page's picture and its uid.
    async fn keep_pictures(self: &Arc<Self>, lesson: &mut Lesson, keeper: &Keeper) -> Result<(String, String)> {
        let scope = lesson.scope.clone();
        let keys: Vec<String> = lesson.sightings.iter().filter(|s| s.crop.is_none() && s.bounds.is_some()).map(|s| s.key.clone()).collect();
        let wanted = self
            .store
            .read_all(move |c| match scope::find(c, &scope)? {
                Some(known) => pictures::without_picture(c, known.id, &keys),
                None => Ok(keys.into_iter().collect()),
            })
            .await?;
        let chosen: Vec<usize> = (0..lesson.sightings.len()).filter(|i| wanted.contains(&lesson.sightings[*i].key)).collect();
        let bounds = chosen.iter().filter_map(|i| lesson.sightings[*i].bounds).collect();
        let crops = self.keep_crops(&keeper.shown.pixels, bounds, keeper.session, keeper.device).await?;
        for (i, crop) in chosen.into_iter().zip(crops) {
            lesson.sightings[i].crop = crop;
        }
        let file = keeper.shown.file.to_vec();
        let kind = if file.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
        let own = lesson.structure.as_ref().map(|s| s.title.clone().unwrap_or_else(|| s.key()[..8].to_owned()));
        let name = format!("{}.{}", files::picture_of(lesson.page.as_deref().or(own.as_deref()).unwrap_or("page")), kind.1);
        let uid = self.keep_picture("page_image", kind, file, keeper.session, keeper.device, "visual.learn").await?;
        Ok((name, uid))
    }
}
