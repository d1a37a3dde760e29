//! `visual.learn`, and learning in the background from every trustworthy observation.
//!
//! A lesson (the data learned from one observation of a screen) has one of three sources: the element tree of the
//! screen, the output of the configured detector program for a screenshot, or detections sent by the caller. The tree
//! and the detector can be combined. Without a device, the caller must name the app.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::visual::{Detection, LearnParams, LearnResult, StateRef, VisualLearn};
use afd_proto::vocabulary::{ObservationSource, Role};

use super::UPKEEP_JOB;
use super::detected::all_detected;
use super::pictures::{self, Screenshot};
use crate::app::checks::site_name;
use crate::app::observe::capture::CaptureOptions;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::rows::count;
use crate::app::{Call, Core, Error, Methods, Result};
use afd_base::task::{over_nodes, run_blocking};
use afd_device::{Device, PendingRead, TreeReading};
use afd_experience::memory::Place;
use afd_experience::visual::detections::{self, Detected};
use afd_experience::visual::detector;
use afd_experience::visual::index::Unpublished;
use afd_experience::visual::lesson::{Lesson, Sighting, TREE};
use afd_experience::visual::scope::{self, Scope};
use afd_experience::visual::{files, index, learn, states};
use afd_screen::page::element::Element;
use afd_screen::page::structure::Structure;
use afd_screen::page::{Flag, Node, Screen, Snapshot, Trait, element, site, structure};
use afd_store::{Connection, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualLearn, _, _>(|core, p| async move { learn(&core, &p).await });
}

/// Maximum number of elements that are learned from one page, in reading order. Learning more would block other writes.
const MAX_ELEMENTS: usize = 500;

/// Builds a lesson from the element tree of a screen, and a second lesson about the browser's own bars around the page
/// of a website.
fn lessons(snapshot: &Screen, structure: &Structure, page: Option<String>, at: i64) -> (Lesson, Option<Lesson>) {
    let bars = structure::of_bars(snapshot).filter(|_| structure.site.is_some() && !structure.dialog);
    let (of_page, of_bars) = snapshot.elements().iter().partition(|e| bars.is_none() || e.web);
    let build = |structure: &Structure, elements: Vec<&Element>, texts, page| Lesson {
        scope: index::of(structure),
        structure: Some(structure.clone()),
        cut: elements.len() > MAX_ELEMENTS,
        sightings: elements.into_iter().take(MAX_ELEMENTS).map(sighting).collect(),
        texts,
        scrolled_from: None,
        page,
        host: snapshot.host.clone().filter(|_| structure.site.is_some()),
        size: snapshot.size,
        at,
    };
    let about_bars = bars.map(|bars| build(&bars, of_bars, Vec::new(), None));
    (build(structure, of_page, element::visible_texts(snapshot), page), about_bars)
}

fn sighting(element: &Element) -> Sighting {
    Sighting {
        steady: element.role != Role::Text,
        key: element.key.clone(),
        name: element.name.clone(),
        source: TREE.to_owned(),
        kind: element.role.to_string(),
        label: element.label.clone(),
        scrolls: element.scrolls,
        res_id: element.res_id.clone(),
        class: Some(element.class.clone()),
        bounds: Some(element.bounds),
        confidence: None,
        crop: None,
    }
}

impl Call {
    /// Learns from a capture in the background, without delaying the response. Does nothing if learning is disabled, or
    /// if the capture has not settled or is unreliable.
    pub(in super::super) fn learn_in_background(&self, look: &ScreenCapture) {
        let Some(structures) = look.structures().filter(|_| look.settled && look.reliable()) else { return };
        if !self.core.config.get().visual.learn {
            return;
        }
        let nodes = look.snapshot().nodes.len();
        let (mut lesson, bars) = over_nodes(nodes, || lessons(look.snapshot(), &structures.front, None, look.at));
        lesson.scrolled_from =
            self.core.experience.views.scrolled_from(self.device_id, look.reading.inputs, &structures.front);
        // If the write queue is full, the lesson is dropped. The next capture of the screen provides the same lesson.
        self.learn_behind(lesson);
        bars.into_iter().for_each(|bars| self.learn_behind(bars));
    }

    /// Queues a lesson, to be learned when the writer thread has time.
    fn learn_behind(&self, lesson: Lesson) {
        let (core, origin) = (self.core.clone(), self.core.store.origin().to_owned());
        let learn = move |c: &Connection| {
            let learned = learn::learn(c, &origin, &core.experience.visual, &lesson)?;
            if learned.missed > 0 {
                core.jobs.nudge(UPKEEP_JOB);
            }
            Ok(learned.unpublished)
        };
        self.core.store.try_write_behind("learning from a screen", learn, Unpublished::publish);
    }
}

/// `visual.learn`: learns components and the state from the screen, a picture or detections.
///
/// # Errors
/// If the screen cannot be read or is unreliable, or if the result cannot be stored.
pub async fn learn(core: &Arc<Core>, params: &LearnParams) -> Result<LearnResult> {
    if params.detect && params.detections.is_some() {
        return Err(Error::param("detect", "no value together with detections", "true"));
    }
    if params.detections.is_none() && params.picture.is_some() && !params.detect {
        return Err(Error::param("picture", "detections or detect together with it", "neither"));
    }
    let first = match (&params.detections, &params.picture) {
        (None, None) => Some(core.call_reading(params, Device::tree).await?),
        _ => None,
    };
    let (own, params) = (core.clone(), params.clone());
    core.finish(async move { learn_all(&own, &params, first).await }).await?
}

/// Learns from the given source and records the site's host. Runs to completion even if the caller disconnects.
async fn learn_all(
    core: &Arc<Core>,
    params: &LearnParams,
    first: Option<(Call, PendingRead<TreeReading>)>,
) -> Result<LearnResult> {
    let learned = match (&params.detections, &params.picture, first) {
        (Some(detections), ..) => from_detections(core, params, detections).await?,
        (None, Some(picture), _) => from_picture(core, params, picture).await?,
        (None, None, Some((call, first))) => from_screen(core, params, call, first).await?,
        (None, None, None) => return Err(Error::new(ErrorCode::Internal, "the screen was not read")),
    };
    if let Some(site) = params.site.as_deref().and_then(site::parse) {
        let scope = Scope { app: learned.about.app.clone(), site: learned.about.site.clone() };
        core.store.write(move |c| scope::add_host(c, &scope, &site.address)).await?;
    }
    Ok(learned)
}

/// Returns the scope given by the parameters. Without a device, the app must be named.
fn scope_of(params: &LearnParams) -> Result<Scope> {
    let site = params.site.as_deref().map(site_name).transpose()?;
    match params.app.as_ref().filter(|app| !app.trim().is_empty()) {
        Some(app) => Ok(Scope { app: app.clone(), site }),
        None => Err(Error::param("app", "the name of the app", "nothing")),
    }
}

/// Learns from detections sent by the caller.
async fn from_detections(core: &Arc<Core>, params: &LearnParams, detections: &[Detection]) -> Result<LearnResult> {
    let scope = scope_of(params)?;
    let seen = all_detected(detections, "detections")?;
    let session = core.sessions.row(&core.store, params.session()).await?;
    let mut screenshot = None;
    if let Some(picture) = &params.picture {
        screenshot = Some(pictures::from_file(picture).await?);
    }
    let given = detections.iter().map(|d| d.crop.clone()).collect();
    let seen = core.save_given_crops(&scope, given, seen, session).await?;
    let lesson = Lesson::of_picture(scope, params.page.clone(), now_ms());
    let picture_source = screenshot.map(|screenshot| PictureSource { screenshot, session, device: None });
    ingest(core, lesson, Some(("detections".to_owned(), seen)), picture_source, params.forget_threshold).await
}

/// Learns from a picture file given by the caller, using the detector program.
async fn from_picture(core: &Arc<Core>, params: &LearnParams, picture: &str) -> Result<LearnResult> {
    let scope = scope_of(params)?;
    let screenshot = pictures::from_file(picture).await?;
    let session = core.sessions.row(&core.store, params.session()).await?;
    let detected = core.detect(&screenshot).await?;
    let lesson = Lesson::of_picture(scope, params.page.clone(), now_ms());
    let picture_source = params.pictures.then_some(PictureSource { screenshot, session, device: None });
    ingest(core, lesson, Some(detected), picture_source, params.forget_threshold).await
}

/// Learns from the screen of a device: from the element tree if it is reliable, and from the detector's output if
/// requested.
async fn from_screen(
    core: &Arc<Core>,
    params: &LearnParams,
    call: Call,
    first: PendingRead<TreeReading>,
) -> Result<LearnResult> {
    let (first, screenshot) = match params.detect || params.pictures {
        true => (None, Some(call.whole_picture(first).await?)),
        false => (Some(first), None),
    };
    let look = match (screenshot.as_ref().and_then(|s| s.look.clone()), first) {
        (Some(look), _) => look,
        (None, Some(first)) => {
            call.capture(CaptureOptions { settle: true, ..CaptureOptions::default() }, first).await?
        }
        (None, None) => return Err(Error::new(ErrorCode::Internal, "no element tree was read with the screenshot")),
    };
    let structures = look.structures().filter(|_| look.reliable());
    let detected = match &screenshot {
        Some(screenshot) if params.detect => {
            let (name, seen) = core.detect(screenshot).await?;
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
    let site = params.site.as_deref().map(site_name).transpose()?.or_else(|| look.snapshot().site.clone());
    let lesson = match structures {
        Some(structures) => {
            let structure = Structure { site: site.clone(), ..structures.front.clone() };
            lessons(look.snapshot(), &structure, params.page.clone(), look.at).0
        }
        None if detected.is_some() => {
            let app = params.app.clone().or(on_screen).ok_or_else(|| untrusted(&look))?;
            Lesson::of_picture(Scope { app, site }, params.page.clone(), look.at)
        }
        None => return Err(untrusted(&look)),
    };
    let picture_source = screenshot.filter(|_| params.pictures).map(|screenshot| PictureSource {
        screenshot,
        session: call.session_id,
        device: Some(call.device_id),
    });
    let (learned, key) = ingest_with_key(core, lesson, detected, picture_source, params.forget_threshold).await?;
    // Record the page under the key it was learned by, so that transitions to it lead to its state.
    let place = call.place_of(&look);
    let structure = if look.reliable() { key } else { None };
    call.record_capture_at(&look, ObservationSource::Learn, None, Place { structure, ..place }).await;
    Ok(learned)
}

impl Core {
    /// Returns whether a detection may show typed text: it lies in an input field or address bar, or its label is text
    /// that was typed.
    fn was_typed(&self, detected: &Detected, snapshot: &Snapshot) -> bool {
        let b = detected.bounds;
        let (x, y) =
            (f64::from(b.left) / 2.0 + f64::from(b.right) / 2.0, f64::from(b.top) / 2.0 + f64::from(b.bottom) / 2.0);
        let secret = |n: &Node| n.is(Flag::Editable) || n.password || n.has(Trait::AddressBar);
        snapshot.nodes.iter().any(|n| secret(n) && n.bounds.contains(x, y))
            || detected.label.as_deref().is_some_and(|label| self.experience.secrets.was_typed(label))
    }

    /// Runs the configured detector on a picture. Returns the detector's name and its detections.
    async fn detect(&self, screenshot: &Screenshot) -> Result<(String, Vec<Detected>)> {
        let settings = self.config.get().visual.clone();
        let file = screenshot.file.clone();
        let suffix = if file.starts_with(b"\x89PNG") { ".png" } else { ".jpg" };
        let written = run_blocking(move || {
            // The file is readable by this user only, and is deleted when dropped.
            let mut picture = tempfile::Builder::new().prefix("afd-").suffix(suffix).tempfile()?;
            std::io::Write::write_all(&mut picture, &file)?;
            Ok::<_, std::io::Error>(picture)
        });
        let picture = written.await.map_err(std::io::Error::other).flatten();
        let picture = picture.map_err(|e| {
            Error::new(ErrorCode::StoreUnavailable, format!("cannot write the picture for the detector: {e}"))
        })?;
        let found = detector::run(&settings, picture.path()).await?;
        let name = detector::name_of(&settings).unwrap_or_else(|| "detector".to_owned());
        Ok((name, all_detected(&found, "the detector's output")?))
    }
}

/// Returns the error for a screen that cannot be learned from.
fn untrusted(look: &ScreenCapture) -> Error {
    let why = look.doubt.unwrap_or("its activity is unknown");
    Error::new(ErrorCode::DeviceError, format!("cannot learn from this screen: {why}"))
        .hint("learn from a picture instead: `afctl visual learn --detect`, or send detections")
}

/// Screenshot from which pictures of learned components are cropped, and the session and device that they are recorded
/// for.
struct PictureSource {
    screenshot: Screenshot,
    session: i64,
    device: Option<i64>,
}

/// Stores a lesson, with the detections that belong to it, and returns the result of the call.
async fn ingest(
    core: &Arc<Core>,
    lesson: Lesson,
    detected: Option<(String, Vec<Detected>)>,
    picture_source: Option<PictureSource>,
    threshold: Option<u32>,
) -> Result<LearnResult> {
    ingest_with_key(core, lesson, detected, picture_source, threshold).await.map(|(learned, _)| learned)
}

/// Like [`ingest`], but also returns the key under which observations record the page.
async fn ingest_with_key(
    core: &Arc<Core>,
    mut lesson: Lesson,
    detected: Option<(String, Vec<Detected>)>,
    picture_source: Option<PictureSource>,
    threshold: Option<u32>,
) -> Result<(LearnResult, Option<String>)> {
    let source = detected.as_ref().map_or_else(|| TREE.to_owned(), |(name, _)| name.clone());
    let mut skipped = Vec::new();
    if let Some((name, detected)) = detected {
        let (origin, scope) = (core.store.origin().to_owned(), lesson.scope.clone());
        let intake = move |c: &Connection| {
            detections::sightings(c, scope::get_or_create(c, &origin, &scope)?.id, &name, detected)
        };
        let (sightings, passed_over) = core.store.write(intake).await?;
        lesson.texts.extend(sightings.iter().filter(|s| s.kind == "text").filter_map(|s| s.label.clone()));
        lesson.sightings.extend(sightings);
        skipped = passed_over;
    }
    let mut picture = None;
    if let Some(picture_source) = picture_source {
        picture = Some(core.save_pictures(&mut lesson, &picture_source).await?);
    }
    let (origin, index) = (core.store.origin().to_owned(), core.experience.visual.clone());
    let (seen, scope) = (lesson.sightings.len(), lesson.scope.clone());
    let (learned, state) = core
        .store
        .write_then(
            move |c| {
                if let Some(threshold) = threshold {
                    scope::set_threshold(c, scope::get_or_create(c, &origin, &lesson.scope)?.id, i64::from(threshold))?;
                }
                let learned = learn::learn(c, &origin, &index, &lesson)?;
                let state = learned.state.map(|id| states::get(c, id)).transpose()?.flatten();
                Ok((learned, state))
            },
            |(learned, _)| learned.unpublished.publish(),
        )
        .await?;
    if let Some((page, artifact)) = &picture {
        core.save_page_picture(learned.app, page.clone(), artifact.clone()).await?;
    }
    core.jobs.nudge(UPKEEP_JOB);
    let Scope { app, site } = scope;
    let result = LearnResult {
        about: afd_proto::visual::ScopeInfo { app, site },
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
    Ok((result, learned.key))
}

impl Core {
    /// Saves a picture of the page, and of each component that has none yet. Returns the file name and uid of the
    /// page's picture.
    async fn save_pictures(
        self: &Arc<Self>,
        lesson: &mut Lesson,
        picture_source: &PictureSource,
    ) -> Result<(String, String)> {
        let scope = lesson.scope.clone();
        let keys: Vec<String> =
            lesson.sightings.iter().filter(|s| s.crop.is_none() && s.bounds.is_some()).map(|s| s.key.clone()).collect();
        let wanted = self
            .store
            .read_all(move |c| match scope::find(c, &scope)? {
                Some(known) => pictures::without_picture(c, known.id, &keys),
                None => Ok(keys.into_iter().collect()),
            })
            .await?;
        let chosen: Vec<usize> =
            (0..lesson.sightings.len()).filter(|i| wanted.contains(&lesson.sightings[*i].key)).collect();
        let bounds = chosen.iter().filter_map(|i| lesson.sightings[*i].bounds).collect();
        let crops = self
            .save_crops(&picture_source.screenshot.pixels, bounds, picture_source.session, picture_source.device)
            .await?;
        for (i, crop) in chosen.into_iter().zip(crops) {
            lesson.sightings[i].crop = crop;
        }
        let file = picture_source.screenshot.file.to_vec();
        let kind = if file.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
        let own = lesson.structure.as_ref().map(|s| s.title.clone().unwrap_or_else(|| s.key()[..8].to_owned()));
        let name =
            format!("{}.{}", files::picture_of(lesson.page.as_deref().or(own.as_deref()).unwrap_or("page")), kind.1);
        let uid = self
            .save_picture("page_image", kind, file, picture_source.session, picture_source.device, "visual.learn")
            .await?;
        Ok((name, uid))
    }
}
