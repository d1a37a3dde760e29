//! Pictures of pages and components: screenshots, crops, and finding components by their pictures (`visual.match`).
//!
//! A component's picture is a crop of a screenshot with a margin of [`PADDING`] pixels. Components that fill a fifth of
//! the screen or more count as containers and get none. `visual.match` searches a screenshot for these pictures with
//! the normalised cross-correlation of `picture::ncc`, limited to the front window and starting at the position where
//! each component was last seen. What is found updates the component's bounds; what is not found counts as a miss,
//! unless the component scrolls and may just be out of view. Components with dynamic text are not searched; pictures
//! without contrast cannot be matched and are reported as `flat`.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::template_match::{FoundComponent, MatchParams, MatchResult, MatchStage, VisualMatch};
use base64::Engine;
use image::{RgbImage, imageops};

use super::{UPKEEP_JOB, find};
use crate::app::checks::absolute;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::rows::count;
use crate::app::{Call, Core, Error, Methods, Result};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_device::{Device, PendingRead, ScreenshotOptions, TreeReading};
use afd_experience::visual::components::{self, Component, Filter};
use afd_experience::visual::detections::Detected;
use afd_experience::visual::scope::{self, Known, Scope};
use afd_experience::visual::{index, states};
use afd_screen::page::snapshot::Rect;
use afd_screen::page::{Snapshot, structure};
use afd_screen::picture::{self, PictureError, ncc, ncc::Scene, ncc::Template, ncc::TemplateQuery};
use afd_store::{artifact, now_ms};

/// Registers the methods of this file.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualMatch, _, _>(|core, p| async move { find_components(&core, &p).await });
}

/// Margin around a component that its picture includes, pixels.
const PADDING: i32 = 4;
/// Maximum size of a picture file, bytes.
const MAX_PICTURE: u64 = 64 << 20;
/// Margin added to the bounds of the front window when searching it, pixels.
const WINDOW_MARGIN: i32 = 30;
/// A component that covers at least one in this many parts of a screenshot is a container.
const CONTAINER_DIVISOR: i64 = 5;
/// Limit on the sides of a requested screenshot, so large that it is never scaled down, pixels.
const MAX_SCREENSHOT_SIDE: u32 = 20_000;

/// A screenshot taken from a device or passed by the caller.
pub(super) struct Screenshot {
    pub pixels: Arc<RgbImage>,
    /// The encoded PNG or JPEG.
    pub file: Arc<Vec<u8>>,
    /// Screen that it shows; `None` for a file of the caller.
    pub look: Option<ScreenCapture>,
}

fn unreadable(field: &str, error: impl std::fmt::Display) -> Error {
    Error::param(field, "a PNG or JPEG file", error)
}

/// Reads a screenshot from a file named by the caller.
pub(super) async fn from_file(path: &str) -> Result<Screenshot> {
    let path: PathBuf = absolute("picture", path)?;
    let read = move || -> Result<(Vec<u8>, RgbImage)> {
        let file = file::read_capped(&path, MAX_PICTURE).map_err(|e| unreadable("picture", e))?;
        let pixels = picture::decode_any(&file).map_err(|e| unreadable("picture", e))?;
        Ok((file, pixels))
    };
    let (file, pixels) = run_blocking(read).await??;
    Ok(Screenshot { pixels: Arc::new(pixels), file: Arc::new(file), look: None })
}

impl Call {
    /// Takes a screenshot at full size, together with the element tree it shows.
    pub(super) async fn whole_picture(&self, first: PendingRead<TreeReading>) -> Result<Screenshot> {
        let (file, look) = self
            .screenshot_with_tree(
                ScreenshotOptions { max_dim: MAX_SCREENSHOT_SIDE, quality: 95, hide_overlay: true },
                first,
            )
            .await?;
        let jpeg = file.clone();
        let pixels = run_blocking(move || picture::decode(&jpeg)).await?;
        let pixels = pixels.map_err(|e| {
            Error::new(ErrorCode::DeviceError, format!("the device returned an unreadable picture: {e}"))
        })?;
        Ok(Screenshot { pixels: Arc::new(pixels), file, look: Some(look) })
    }
}

/// Tells whether a component is small enough to have a picture of its own. A larger one is a container, whose picture
/// would show its content.
fn is_standalone(pixels: &RgbImage, bounds: &Rect) -> bool {
    bounds.area().saturating_mul(CONTAINER_DIVISOR) < i64::from(pixels.width()) * i64::from(pixels.height())
}

/// Crops a component with its margin. `None` if it lies outside the picture.
fn crop_component(pixels: &RgbImage, bounds: &Rect) -> Option<RgbImage> {
    let (width, height) = (i32::try_from(pixels.width()).ok()?, i32::try_from(pixels.height()).ok()?);
    let padded = bounds.grown(PADDING);
    let (left, top) = (padded.left.clamp(0, width), padded.top.clamp(0, height));
    let (right, bottom) = (padded.right.clamp(0, width), padded.bottom.clamp(0, height));
    let side = |a: i32, b: i32| u32::try_from(b - a).ok().filter(|s| *s > 0);
    let (w, h) = (side(left, right)?, side(top, bottom)?);
    Some(imageops::crop_imm(pixels, u32::try_from(left).ok()?, u32::try_from(top).ok()?, w, h).to_image())
}

fn png(pixels: &RgbImage) -> std::result::Result<Vec<u8>, PictureError> {
    picture::encode(pixels, afd_proto::picture::PictureFormat::Png, 100)
}

impl Core {
    /// Crops components from one screenshot and saves their pictures. Returns the uids of the artifacts in the same
    /// order; `None` for containers and components outside the screenshot.
    pub(super) async fn save_crops(
        self: &Arc<Self>,
        pixels: &Arc<RgbImage>,
        wanted: Vec<Rect>,
        session: i64,
        device: Option<i64>,
    ) -> Result<Vec<Option<String>>> {
        let source = pixels.clone();
        let encoded = run_blocking(move || {
            wanted
                .iter()
                .map(|b| {
                    Some(b)
                        .filter(|b| is_standalone(&source, b))
                        .and_then(|b| crop_component(&source, b))
                        .and_then(|crop| png(&crop).ok())
                })
                .collect::<Vec<_>>()
        })
        .await?;
        let mut kept = Vec::with_capacity(encoded.len());
        for content in encoded {
            kept.push(match content {
                Some(content) => Some(
                    self.save_picture(
                        "component_image",
                        ("image/png", "png"),
                        content,
                        session,
                        device,
                        "visual.learn",
                    )
                    .await?,
                ),
                None => None,
            });
        }
        Ok(kept)
    }

    /// Decodes and saves the pictures sent with detections. A detection with neither name nor label gets the key of the
    /// unnamed component whose picture it matches.
    pub(super) async fn save_given_crops(
        self: &Arc<Self>,
        scope: &Scope,
        given: Vec<Option<String>>,
        mut detected: Vec<Detected>,
        session: i64,
    ) -> Result<Vec<Detected>> {
        if given.iter().all(Option::is_none) {
            return Ok(detected);
        }
        let known = self.unnamed_with_picture(scope).await?;
        for (i, (text, detected)) in given.into_iter().zip(&mut detected).enumerate() {
            let Some(text) = text else { continue };
            let field = format!("detections[{i}].crop");
            let read = move || -> Result<(Vec<u8>, RgbImage)> {
                let file = base64::engine::general_purpose::STANDARD
                    .decode(text.trim())
                    .map_err(|e| Error::param(&field, "base64", e))?;
                let pixels = picture::decode_any(&file).map_err(|e| unreadable(&field, e))?;
                Ok((file, pixels))
            };
            let (file, pixels) = run_blocking(read).await??;
            if detected.name.is_none() && detected.label.is_none() {
                let known = known.clone();
                let same = run_blocking(move || {
                    known
                        .iter()
                        .find(|(_, other)| ncc::similarity(&pixels, other) > ncc::SAME_SCORE)
                        .map(|(key, _)| key.clone())
                });
                detected.same_as = same.await?;
            }
            let kind = if file.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
            detected.crop =
                Some(self.save_picture("component_image", kind, file, session, None, "visual.learn").await?);
        }
        Ok(detected)
    }

    /// Loads the pictures of the unnamed components of a scope, with the key of each component.
    async fn unnamed_with_picture(self: &Arc<Self>, scope: &Scope) -> Result<Arc<Vec<(String, RgbImage)>>> {
        let scope = scope.clone();
        let files = self
            .store
            .read_all(move |c| {
                let Some(known) = scope::find(c, &scope)? else { return Ok(Vec::new()) };
                let (all, _) = components::list(c, known.id, &Filter { unlabelled: true, ..Filter::default() })?;
                let file =
                    |c: &afd_store::Connection, component: Component| -> afd_store::Result<Option<(String, PathBuf)>> {
                        let Some(crop) = component.crop else { return Ok(None) };
                        Ok(artifact::file_of(c, &crop)?.map(|file| (component.key, file)))
                    };
                all.into_iter()
                    .filter_map(|component| file(c, component).transpose())
                    .collect::<afd_store::Result<Vec<_>>>()
            })
            .await?;
        let load = move || {
            files
                .into_iter()
                .filter_map(|(key, file)| Some((key, picture::decode_any(&std::fs::read(file).ok()?).ok()?)))
                .collect()
        };
        Ok(Arc::new(run_blocking(load).await?))
    }
}

/// A component to search for.
struct SearchTarget {
    component: Component,
    /// `None` if the picture is flat.
    template: Option<Template>,
    /// Width and height of its picture.
    size: (i32, i32),
}

/// `visual.match`: finds known components on the screen, or in a picture file, by their pictures.
///
/// # Errors
/// If no screenshot can be taken or read, or if none of the requested components has a picture.
pub async fn find_components(core: &Arc<Core>, params: &MatchParams) -> Result<MatchResult> {
    let screenshot = match &params.picture {
        Some(path) => from_file(path).await?,
        None => {
            let (call, first) = core.call_reading(params, Device::tree).await?;
            call.whole_picture(first).await?
        }
    };
    let on_screen = screenshot.look.as_ref().and_then(|l| l.snapshot().app.clone());
    let site_shown = screenshot.look.as_ref().and_then(|l| l.snapshot().site.clone());
    let site = params.site.clone().or_else(|| site_shown.filter(|_| params.app.is_none() || params.app == on_screen));
    let app = params.app.clone().or(on_screen);
    let of = afd_proto::visual::ScopeSelector {
        app: app.as_deref(),
        site: site.as_deref(),
        session: params.session.as_deref(),
        device: params.device.as_deref(),
    };
    let known = find::scope(core, of).await?;
    let targets = core.search_targets(&known, params.state.as_deref(), params.components.as_deref()).await?;
    if targets.is_empty() {
        return Err(Error::new(ErrorCode::NotFound, "none of the requested components has a picture")
            .hint("`afctl visual learn --pictures` saves pictures of what is on the screen"));
    }
    let bounds = screenshot.look.as_ref().map_or((0, 0, i32::MAX, i32::MAX), |l| search_bounds(l.snapshot()));
    let begun = std::time::Instant::now();
    let pixels = screenshot.pixels.clone();
    let (components, hits) = run_blocking(move || search(&pixels, targets, bounds)).await?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let state = screenshot
        .look
        .as_ref()
        .filter(|l| l.reliable())
        .and_then(|l| l.structures())
        .and_then(|s| core.experience.visual.recognise(&s.front));
    let matched = answer(&known, components, hits, took_ms);
    // The state on the screen is only relevant if it belongs to the searched app or site.
    let here =
        screenshot.look.as_ref().and_then(|l| l.structures()).is_some_and(|s| index::of(&s.front) == known.scope);
    core.note_matches(&known, state.filter(|_| here).map(|s| s.state), &matched.1, &matched.2).await?;
    Ok(matched.0)
}

impl Core {
    /// Returns the requested components that have a picture.
    async fn search_targets(
        self: &Arc<Self>,
        known: &Known,
        state: Option<&str>,
        names: Option<&[String]>,
    ) -> Result<Vec<SearchTarget>> {
        let (app, state, names) = (known.id, state.map(str::to_owned), names.map(<[String]>::to_vec));
        let found = self
            .store
            .read_all(move |c| {
                let all = states::list(c, app, false)?;
                let state = match &state {
                    Some(given) => match find::state(all.iter(), "state", given) {
                        Ok(Some(state)) => Some(state.id),
                        Ok(None) => return Ok(Err(find::no_state(all.iter(), given))),
                        Err(error) => return Ok(Err(error)),
                    },
                    None => None,
                };
                let (mut components, _) = components::list(c, app, &Filter { state, ..Filter::default() })?;
                // A component whose text changes looks different each time.
                components.retain(|c| !c.dynamic);
                if let Some(names) = &names {
                    if let Some(missing) = names.iter().find(|n| !components.iter().any(|c| c.name == **n)) {
                        return Ok(Err(find::no_state(all.iter(), missing)));
                    }
                    components.retain(|c| names.contains(&c.name));
                }
                let file = |component: Component| -> afd_store::Result<Option<(Component, PathBuf)>> {
                    let Some(crop) = &component.crop else { return Ok(None) };
                    Ok(artifact::file_of(c, crop)?.map(|file| (component, file)))
                };
                Ok(Ok(components
                    .into_iter()
                    .filter_map(|component| file(component).transpose())
                    .collect::<afd_store::Result<Vec<_>>>()?))
            })
            .await??;
        let load = move || {
            let decode = |file: &PathBuf| picture::decode_any(&std::fs::read(file).ok()?).ok();
            let targets = found.into_iter().filter_map(|(component, file)| {
                let pixels = decode(&file)?;
                let side = |v: u32| i32::try_from(v).unwrap_or(i32::MAX);
                Some(SearchTarget {
                    component,
                    template: Template::of(&pixels),
                    size: (side(pixels.width()), side(pixels.height())),
                })
            });
            targets.collect()
        };
        Ok(run_blocking(load).await?)
    }

    /// Records which components were found, and which were missing although they could have been there.
    async fn note_matches(
        self: &Arc<Self>,
        known: &Known,
        state: Option<i64>,
        found: &[(i64, Rect)],
        missed: &[i64],
    ) -> Result<()> {
        let (app, found, missed) = (known.id, found.to_vec(), missed.to_vec());
        let index = self.experience.visual.clone();
        self.store
            .write(move |c| {
                let done = states::note_matches(c, app, state, &found, &missed, now_ms())?;
                if done > 0 {
                    index.touch(app, None);
                }
                Ok(())
            })
            .await?;
        self.jobs.nudge(UPKEEP_JOB);
        Ok(())
    }
}

/// Returns the bounds of the front window, enlarged by [`WINDOW_MARGIN`]; unlimited if it has no nodes.
fn search_bounds(snapshot: &Snapshot) -> (i32, i32, i32, i32) {
    let nodes = structure::front_nodes(snapshot);
    let edge = |of: fn(&Rect) -> i32| nodes.iter().map(move |i| of(&snapshot.nodes[*i].bounds));
    match (edge(|b| b.left).min(), edge(|b| b.top).min(), edge(|b| b.right).max(), edge(|b| b.bottom).max()) {
        (Some(left), Some(top), Some(right), Some(bottom)) => {
            let window = Rect { left, top, right, bottom }.grown(WINDOW_MARGIN);
            (window.left, window.top, window.right, window.bottom)
        }
        _ => (0, 0, i32::MAX, i32::MAX),
    }
}

/// Each component with the size of its picture, and its result: `None` for a flat picture, `Some(None)` if it was not
/// found.
type SearchResults = (Vec<(Component, (i32, i32))>, Vec<Option<Option<ncc::Match>>>);

/// Searches a screenshot for the targets within bounds.
fn search(pixels: &RgbImage, targets: Vec<SearchTarget>, bounds: (i32, i32, i32, i32)) -> SearchResults {
    let scene = Scene::of(pixels);
    let mut at = HashMap::new();
    let mut wanted: Vec<TemplateQuery> = Vec::new();
    let mut components = Vec::with_capacity(targets.len());
    for (i, s) in targets.into_iter().enumerate() {
        if let Some(template) = s.template {
            at.insert(i, wanted.len());
            // The picture includes a margin, so it starts above and to the left of the component.
            wanted.push((
                template,
                s.component.bounds.map(|b| (b.grown(PADDING).left.max(0), b.grown(PADDING).top.max(0))),
            ));
        }
        components.push((s.component, s.size));
    }
    let hits = ncc::find_all(&scene, &wanted, bounds);
    let hits = (0..components.len()).map(|i| at.get(&i).map(|w| hits[*w])).collect();
    (components, hits)
}

/// The result of the call, the components that were found with their bounds, and the ones that were missed.
type Answer = (MatchResult, Vec<(i64, Rect)>, Vec<i64>);

/// Evaluates the search results.
fn answer(
    known: &Known,
    components: Vec<(Component, (i32, i32))>,
    hits: Vec<Option<Option<ncc::Match>>>,
    took_ms: u64,
) -> Answer {
    let (mut found, mut missing, mut flat) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seen, mut missed) = (Vec::new(), Vec::new());
    for ((component, size), hit) in components.into_iter().zip(hits) {
        match hit {
            None => flat.push(component.name),
            Some(None) => {
                // A component that scrolls may just be out of view.
                if !component.scrolls {
                    missed.push(component.id);
                }
                missing.push(component.name);
            }
            Some(Some(hit)) => {
                let bounds = match component.bounds {
                    Some(b) => {
                        // The margin is smaller where the component touches an edge of the screen.
                        let (dx, dy) = (PADDING.min(b.left.max(0)), PADDING.min(b.top.max(0)));
                        let (left, top) = (hit.x + dx, hit.y + dy);
                        Rect {
                            left,
                            top,
                            right: left.saturating_add(b.width()),
                            bottom: top.saturating_add(b.height()),
                        }
                    }
                    None => Rect { left: hit.x, top: hit.y, right: hit.x + size.0, bottom: hit.y + size.1 },
                };
                let moved = component.bounds.is_some_and(|b| b != bounds);
                // What is not sure changes nothing that is stored.
                if hit.sure {
                    seen.push((component.id, bounds));
                }
                let how = match hit.how {
                    ncc::SearchStep::InPlace => MatchStage::InPlace,
                    ncc::SearchStep::Coarsely => MatchStage::Coarsely,
                    ncc::SearchStep::Thoroughly => MatchStage::Thoroughly,
                };
                found.push(FoundComponent {
                    name: component.name,
                    bounds: bounds.to_string(),
                    x: f64::midpoint(f64::from(bounds.left), f64::from(bounds.right)),
                    y: f64::midpoint(f64::from(bounds.top), f64::from(bounds.bottom)),
                    likeness: (hit.score * 1000.0).round() / 1000.0,
                    how,
                    moved,
                });
            }
        }
    }
    let looked = count(found.len() + missing.len());
    (MatchResult { about: super::about(known), looked_for: looked, found, missing, flat, took_ms }, seen, missed)
}

/// Returns those of `keys` whose component has no picture yet.
pub(super) fn without_picture(
    connection: &afd_store::Connection,
    app: i64,
    keys: &[String],
) -> afd_store::Result<HashSet<String>> {
    let all = components::all(connection, app)?;
    let with_picture: HashSet<String> = all.into_iter().filter(|c| c.crop.is_some()).map(|c| c.key).collect();
    Ok(keys.iter().filter(|k| !with_picture.contains(*k)).cloned().collect())
}
