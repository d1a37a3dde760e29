//! Pictures of pages and components: taking them, cutting them out, and finding components by them (`visual.match`).

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::looks::{Found, How, MatchParams, Matched};
use base64::Engine;
use image::RgbImage;
use image::imageops;

use super::super::artifacts::absolute;
use super::super::look::Look;
use super::super::rows::count;
use super::super::{Call, Core, Error, Result};
use super::{UPKEEP_JOB, find};
use crate::artifact;
use crate::device::{Device, PendingRead, Shot, TreeReading};
use crate::file;
use crate::page::snapshot::Rect;
use crate::page::{Snapshot, structure};
use crate::picture::ncc::{self, Scene, Template, Wanted};
use crate::picture::{self, PictureError};
use crate::store::now_ms;
use crate::task::run_blocking;
use crate::visual::components::{self, Component, Filter};
use crate::visual::detections::Detected;
use crate::visual::scope::{self, Known, Scope};
use crate::visual::{index, states};

/// How much of what is around a component is cut out with it, pixels (seed 001).
const PADDING: i32 = 4;
/// The largest picture that is read, bytes.
const MAX_PICTURE: u64 = 64 << 20;
/// A window's bounds are taken this much larger (seed 001), pixels.
const WINDOW_MARGIN: i32 = 30;
/// What fills more than one part in this many of a picture is a container.
const CONTAINER: i64 = 5;
/// The largest side of a screen that a picture is asked for.
const WHOLE: u32 = 20_000;

/// A picture, and the screen that it shows, if it is of a device.
pub(super) struct Shown {
    pub pixels: Arc<RgbImage>,
    pub file: Arc<Vec<u8>>,
    pub look: Option<Look>,
}

fn unreadable(field: &str, error: impl std::fmt::Display) -> Error {
    Error::param(field, "a PNG or JPEG file", error)
}

/// A picture of a caller.
pub(super) async fn from_file(path: &str) -> Result<Shown> {
    let path: PathBuf = absolute("picture", path)?;
    let read = move || -> Result<(Vec<u8>, RgbImage)> {
        let file = file::read_capped(&path, MAX_PICTURE).map_err(|e| unreadable("picture", e))?;
        let pixels = picture::decode_any(&file).map_err(|e| unreadable("picture", e))?;
        Ok((file, pixels))
    };
    let (file, pixels) = run_blocking(read).await??;
    Ok(Shown { pixels: Arc::new(pixels), file: Arc::new(file), look: None })
}

impl Call {
    /// A picture of the whole screen, at its full size, and the tree that it shows.
    pub(super) async fn whole_picture(&self, first: PendingRead<TreeReading>) -> Result<Shown> {
        let (file, look) = self.picture_of_look(Shot { max_dim: WHOLE, quality: 95, hide_overlay: true }, first).await?;
        let jpeg = file.clone();
        let pixels = run_blocking(move || picture::decode(&jpeg)).await?;
        let pixels =
            pixels.map_err(|e| Error::new(ErrorCode::DeviceError, format!("the device gave a picture that cannot be read: {e}")))?;
        Ok(Shown { pixels: Arc::new(pixels), file, look: Some(look) })
    }
}

/// Whether a component is a thing by itself: what fills a large part of the screen is a container, and its picture that of its content.
fn is_thing(pixels: &RgbImage, bounds: &Rect) -> bool {
    bounds.area().saturating_mul(CONTAINER) < i64::from(pixels.width()) * i64::from(pixels.height())
}

/// Cuts a component out of a picture, with a little of what is around it.
fn cut(pixels: &RgbImage, bounds: &Rect) -> Option<RgbImage> {
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
    /// Keeps pictures of components, cut out of one picture; answers the uids of the artifacts in the same order.
    pub(super) async fn keep_crops(
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
                .map(|b| Some(b).filter(|b| is_thing(&source, b)).and_then(|b| cut(&source, b)).and_then(|crop| png(&crop).ok()))
                .collect::<Vec<_>>()
        })
        .await?;
        let mut kept = Vec::with_capacity(encoded.len());
        for content in encoded {
            kept.push(match content {
                Some(content) => {
                    Some(self.keep_picture("component_image", ("image/png", "png"), content, session, device, "visual.learn").await?)
                }
                None => None,
            });
        }
        Ok(kept)
    }

    /// Decodes pictures that came with detections and keeps them; those of something that is known by its picture get its key.
    pub(super) async fn keep_given_crops(
        self: &Arc<Self>,
        scope: &Scope,
        given: Vec<Option<String>>,
        mut detected: Vec<Detected>,
        session: i64,
    ) -> Result<Vec<Detected>> {
        if given.iter().all(Option::is_none) {
            return Ok(detected);
        }
        let known = self.pictured(scope).await?;
        for (i, (text, detected)) in given.into_iter().zip(&mut detected).enumerate() {
            let Some(text) = text else { continue };
            let field = format!("detections[{i}].crop");
            let read = move || -> Result<(Vec<u8>, RgbImage)> {
                let file = base64::engine::general_purpose::STANDARD.decode(text.trim()).map_err(|e| Error::param(&field, "base64", e))?;
                let pixels = picture::decode_any(&file).map_err(|e| unreadable(&field, e))?;
                Ok((file, pixels))
            };
            let (file, pixels) = run_blocking(read).await??;
            if detected.name.is_none() && detected.label.is_none() {
                let known = known.clone();
                let same = run_blocking(move || {
                    known.iter().find(|(_, other)| ncc::alike(&pixels, other) > ncc::SAME).map(|(key, _)| key.clone())
                });
                detected.same_as = same.await?;
            }
            let kind = if file.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
            detected.crop = Some(self.keep_picture("component_image", kind, file, session, None, "visual.learn").await?);
        }
        Ok(detected)
    }

    /// The components of a scope that have no name and a picture, by key.
    async fn pictured(self: &Arc<Self>, scope: &Scope) -> Result<Arc<Vec<(String, RgbImage)>>> {
        let scope = scope.clone();
        let files = self
            .store
            .read_all(move |c| {
                let Some(known) = scope::find(c, &scope)? else { return Ok(Vec::new()) };
                let (all, _) = components::list(c, known.id, &Filter { unlabelled: true, ..Filter::default() })?;
                let file = |c: &rusqlite::Connection, component: Component| -> crate::store::Result<Option<(String, PathBuf)>> {
                    let Some(crop) = component.crop else { return Ok(None) };
                    Ok(artifact::file_of(c, &crop)?.map(|file| (component.key, file)))
                };
                all.into_iter().filter_map(|component| file(c, component).transpose()).collect::<crate::store::Result<Vec<_>>>()
            })
            .await?;
        let load = move || {
            files.into_iter().filter_map(|(key, file)| Some((key, picture::decode_any(&std::fs::read(file).ok()?).ok()?))).collect()
        };
        Ok(Arc::new(run_blocking(load).await?))
    }
}

/// What is looked for, with what is known of it.
struct Sought {
    component: Component,
    template: Option<Template>,
    /// Width and height of its picture.
    size: (i32, i32),
}

/// `visual.match`
///
/// # Errors
/// When there is no picture, or nothing to look for.
pub async fn find_components(core: &Arc<Core>, params: &MatchParams) -> Result<Matched> {
    let shown = match &params.picture {
        Some(path) => from_file(path).await?,
        None => {
            let (call, first) = core.call_reading(params, Device::tree).await?;
            call.whole_picture(first).await?
        }
    };
    let on_screen = shown.look.as_ref().and_then(|l| l.snapshot().app.clone());
    let site_shown = shown.look.as_ref().and_then(|l| l.snapshot().site.clone());
    let site = params.site.clone().or_else(|| site_shown.filter(|_| params.app.is_none() || params.app == on_screen));
    let app = params.app.clone().or(on_screen);
    let of = afd_proto::visual::ScopeOf {
        app: app.as_deref(),
        site: site.as_deref(),
        session: params.session.as_deref(),
        device: params.device.as_deref(),
    };
    let known = find::scope(core, of).await?;
    let sought = core.sought(&known, params.state.as_deref(), params.components.as_deref()).await?;
    if sought.is_empty() {
        return Err(Error::new(ErrorCode::NotFound, "no component that is meant has a picture")
            .hint("`afctl visual learn --pictures` keeps pictures of what is on the screen"));
    }
    let bounds = shown.look.as_ref().map_or((0, 0, i32::MAX, i32::MAX), |l| window(l.snapshot()));
    let begun = std::time::Instant::now();
    let pixels = shown.pixels.clone();
    let (sought, hits) = run_blocking(move || search(&pixels, sought, bounds)).await?;
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let state =
        shown.look.as_ref().filter(|l| l.reliable()).and_then(|l| l.structures.as_ref()).and_then(|s| core.visual.recognise(&s.front));
    let matched = answer(&known, sought, hits, took_ms);
    // A page of another app, or of another site, says nothing about these.
    let here = shown.look.as_ref().and_then(|l| l.structures.as_ref()).is_some_and(|s| index::of(&s.front) == known.scope);
    core.note_matches(&known, state.filter(|_| here).map(|s| s.state), &matched.1, &matched.2).await?;
    Ok(matched.0)
}

impl Core {
    /// The components that are meant and have a picture.
    async fn sought(self: &Arc<Self>, known: &Known, state: Option<&str>, names: Option<&[String]>) -> Result<Vec<Sought>> {
        let (app, state, names) = (known.id, state.map(str::to_owned), names.map(<[String]>::to_vec));
        let found = self
            .store
            .read_all(move |c| {
                let all = states::list(c, app, false)?;
                let state = match &state {
                    Some(given) => match find::state(all.iter(), given) {
                        Some(state) => Some(state.id),
                        None => return Ok(Err(find::no_state(all.iter(), given))),
                    },
                    None => None,
                };
                let (mut components, _) = components::list(c, app, &Filter { state, ..Filter::default() })?;
                // What says something else each time looks different each time.
                components.retain(|c| !c.dynamic);
                if let Some(names) = &names {
                    if let Some(missing) = names.iter().find(|n| !components.iter().any(|c| c.name == **n)) {
                        return Ok(Err(find::no_state(all.iter(), missing)));
                    }
                    components.retain(|c| names.contains(&c.name));
                }
                let file = |component: Component| -> crate::store::Result<Option<(Component, PathBuf)>> {
                    let Some(crop) = &component.crop else { return Ok(None) };
                    Ok(artifact::file_of(c, crop)?.map(|file| (component, file)))
                };
                Ok(Ok(components
                    .into_iter()
                    .filter_map(|component| file(component).transpose())
                    .collect::<crate::store::Result<Vec<_>>>()?))
            })
            .await??;
        let load = move || {
            let template = |file: &PathBuf| picture::decode_any(&std::fs::read(file).ok()?).ok();
            let sought = found.into_iter().filter_map(|(component, file)| {
                let pixels = template(&file)?;
                let side = |v: u32| i32::try_from(v).unwrap_or(i32::MAX);
                Some(Sought { component, template: Template::of(&pixels), size: (side(pixels.width()), side(pixels.height())) })
            });
            sought.collect()
        };
        Ok(run_blocking(load).await?)
    }

    /// What was found was seen, and what was not found was missed, where it could have been.
    async fn note_matches(self: &Arc<Self>, known: &Known, state: Option<i64>, found: &[(i64, Rect)], missed: &[i64]) -> Result<()> {
        let (app, found, missed) = (known.id, found.to_vec(), missed.to_vec());
        let index = self.visual.clone();
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

/// The bounds of the window in front, a little larger.
fn window(snapshot: &Snapshot) -> (i32, i32, i32, i32) {
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

/// What was looked for, with the size of its picture, and what came of it: nothing for flat pictures, else whether it is there.
type Looked = (Vec<(Component, (i32, i32))>, Vec<Option<Option<ncc::Hit>>>);

fn search(pixels: &RgbImage, sought: Vec<Sought>, bounds: (i32, i32, i32, i32)) -> Looked {
    let scene = Scene::of(pixels);
    let mut at = HashMap::new();
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut components = Vec::with_capacity(sought.len());
    for (i, s) in sought.into_iter().enumerate() {
        if let Some(template) = s.template {
            at.insert(i, wanted.len());
            // The picture has a little of what is around.
            wanted.push((template, s.component.bounds.map(|b| (b.grown(PADDING).left.max(0), b.grown(PADDING).top.max(0)))));
        }
        components.push((s.component, s.size));
    }
    let hits = ncc::find_all(&scene, &wanted, bounds);
    let hits = (0..components.len()).map(|i| at.get(&i).map(|w| hits[*w])).collect();
    (components, hits)
}

type Answer = (Matched, Vec<(i64, Rect)>, Vec<i64>);

fn answer(known: &Known, components: Vec<(Component, (i32, i32))>, hits: Vec<Option<Option<ncc::Hit>>>, took_ms: u64) -> Answer {
    let (mut found, mut missing, mut flat) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seen, mut missed) = (Vec::new(), Vec::new());
    for ((component, size), hit) in components.into_iter().zip(hits) {
        match hit {
            None => flat.push(component.name),
            Some(None) => {
                // What scrolls may merely be out of view.
                if !component.scrolls {
                    missed.push(component.id);
                }
                missing.push(component.name);
            }
            Some(Some(hit)) => {
                let bounds = match component.bounds {
                    Some(b) => {
                        // How much was around it, which is less at the edges of the screen.
                        let (dx, dy) = (PADDING.min(b.left.max(0)), PADDING.min(b.top.max(0)));
                        let (left, top) = (hit.x + dx, hit.y + dy);
                        Rect { left, top, right: left.saturating_add(b.width()), bottom: top.saturating_add(b.height()) }
                    }
                    None => Rect { left: hit.x, top: hit.y, right: hit.x + size.0, bottom: hit.y + size.1 },
                };
                let moved = component.bounds.is_some_and(|b| b != bounds);
                seen.push((component.id, bounds));
                let how = match hit.how {
                    ncc::How::InPlace => How::InPlace,
                    ncc::How::Coarsely => How::Coarsely,
                    ncc::How::Thoroughly => How::Thoroughly,
                };
                found.push(Found {
                    name: component.name,
                    bounds: bounds.to_string(),
                    x: f64::midpoint(f64::from(bounds.left), f64::from(bounds.right)),
                    y: f64::midpoint(f64::from(bounds.top), f64::from(bounds.bottom)),
                    likeness: (hit.likeness * 1000.0).round() / 1000.0,
                    how,
                    moved,
                });
            }
        }
    }
    let looked = count(found.len() + missing.len());
    (Matched { about: super::about(known), looked_for: looked, found, missing, flat, took_ms }, seen, missed)
}

/// The components among these keys that have no picture yet.
pub(super) fn without_picture(connection: &rusqlite::Connection, app: i64, keys: &[String]) -> crate::store::Result<HashSet<String>> {
    let all = components::all(connection, app)?;
    let pictured: HashSet<String> = all.into_iter().filter(|c| c.crop.is_some()).map(|c| c.key).collect();
    Ok(keys.iter().filter(|k| !pictured.contains(*k)).cloned().collect())
}
