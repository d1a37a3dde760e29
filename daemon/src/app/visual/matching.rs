//! `visual.match`: finds components on a screenshot by their pictures.
//!
//! The normalised cross-correlation of `picture::ncc` is limited to the front window and starts at the position where
//! each component was last seen. A component that is found gets new bounds. A component that is not found counts as
//! missed, unless it scrolls and may just be out of view. Components with dynamic text are not searched. Pictures
//! without contrast cannot be matched and are reported as `flat`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::template_match::{FoundComponent, MatchParams, MatchResult, MatchStage, VisualMatch};
use image::RgbImage;

use super::pictures::{PADDING, from_file};
use super::{UPKEEP_JOB, find};
use crate::app::rows::count;
use crate::app::{Core, Error, Methods, Result};
use afd_base::task::run_blocking;
use afd_device::Device;
use afd_experience::visual::components::{self, Component, Filter};
use afd_experience::visual::scope::Known;
use afd_experience::visual::{index, states};
use afd_screen::page::snapshot::Rect;
use afd_screen::page::{Snapshot, structure};
use afd_screen::picture::{self, ncc, ncc::Scene, ncc::Template, ncc::TemplateQuery};
use afd_store::{artifact, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualMatch, _, _>(|core, p| async move { find_components(&core, &p).await });
}

/// Margin added to the bounds of the front window when searching it, in pixels.
const WINDOW_MARGIN: i32 = 30;

/// A component to search for on a screenshot.
struct SearchTarget {
    component: Component,
    /// Template made from the picture; `None` if the picture has no contrast (`flat`).
    template: Option<Template>,
    /// Width and height of the component's picture, in pixels.
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

    /// Records which components were found, and which were missing although they could have been visible.
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

/// Search results: each component with the size of its picture, and its match. The match is `None` for a flat picture
/// and `Some(None)` if the component was not found.
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

/// The result of the call, the ids and bounds of the components that were found, and the ids of the components that
/// were missed.
type Answer = (MatchResult, Vec<(i64, Rect)>, Vec<i64>);

/// Evaluates the search results and builds the result of the call.
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
                // An uncertain match changes no stored data.
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
