//! `visual.learn`, and learning from what is observed anyway.

use std::sync::Arc;

use afd_proto::visual::{Detection, LearnParams, Learned, StateRef};

use super::super::reading::{Effort, Look};
use super::super::rows::count;
use super::super::{Call, Core, Error, Result};
use super::{UPKEEP_JOB, find};
use crate::page::snapshot::Rect;
use crate::page::structure::Structure;
use crate::page::{Snapshot, element};
use crate::store::now_ms;
use crate::visual::detections::{self, Detected};
use crate::visual::learn::{self, Lesson, Sighting, TREE};
use crate::visual::scope::{self, Scope};
use crate::visual::{index, states};

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
        steady: element.role != "text",
        key: element.key,
        name: element.name,
        source: TREE.to_owned(),
        kind: element.role.to_owned(),
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
        let (snapshot, at) = (look.reading.value.clone(), look.at);
        self.core.store.write_behind("what a screen teaches", move |c| {
            let lesson = lesson(&snapshot, &structures.front, None, at);
            let learned = learn::learn(c, &origin, &core.visual, &lesson)?;
            if learned.missed > 0 {
                core.jobs.nudge(UPKEEP_JOB);
            }
            Ok(())
        });
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
    match &params.detections {
        Some(detections) => from_detections(core, params, detections).await,
        None => from_tree(core, params).await,
    }
}

/// What a client detected; it needs no device if it says what app it was.
async fn from_detections(core: &Arc<Core>, params: &LearnParams, detections: &[Detection]) -> Result<Learned> {
    let mut seen = Vec::with_capacity(detections.len());
    for (i, d) in detections.iter().enumerate() {
        seen.push(detected(d).map_err(|(field, expected, got)| Error::param(&format!("detections[{i}].{field}"), expected, got))?);
    }
    let scope = match (&params.app, &params.site) {
        (Some(app), site) if !app.trim().is_empty() => Scope { app: app.clone(), site: site.as_deref().map(find::site_name).transpose()? },
        _ => return Err(Error::param("app", "the app that the detections are of", "nothing")),
    };
    let lesson = Lesson { scope, structure: None, sightings: Vec::new(), texts: Vec::new(), page: params.page.clone(), at: now_ms() };
    keep(core, lesson, Eye::Detector("detections", seen), params.forget_threshold).await
}

/// A detection as it is learned, or what is wrong with it.
fn detected(d: &Detection) -> std::result::Result<Detected, (&'static str, &'static str, String)> {
    let [left, top, right, bottom] = d.bounds;
    if right <= left || bottom <= top {
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

/// What a lesson was seen with.
enum Eye {
    Tree,
    Detector(&'static str, Vec<Detected>),
}

async fn from_tree(core: &Arc<Core>, params: &LearnParams) -> Result<Learned> {
    let call = core.call(params).await?;
    let look = call.look(Effort { settle: true, ..Effort::default() }).await?;
    call.record_only(&look, "learn", None);
    let structures = look.structures.clone().filter(|_| look.reliable()).ok_or_else(|| untrusted(&look))?;
    let mut structure = structures.front.clone();
    if let Some(app) = params.app.as_ref().filter(|app| **app != structure.app) {
        return Err(Error::param("app", &format!("the app on the screen, {:?}", structure.app), format!("{app:?}")));
    }
    if let Some(site) = &params.site {
        structure.site = Some(find::site_name(site)?);
    }
    let lesson = lesson(look.snapshot(), &structure, params.page.clone(), look.at);
    keep(core, lesson, Eye::Tree, params.forget_threshold).await
}

fn untrusted(look: &Look) -> Error {
    let why = look.doubt.unwrap_or("its activity is not known");
    Error::new(afd_proto::ErrorCode::DeviceError, format!("the screen teaches nothing: {why}"))
        .hint("learn from a picture instead: `afctl visual learn --detect`, or send detections")
}

/// Takes up a lesson and tells what came of it.
async fn keep(core: &Arc<Core>, mut lesson: Lesson, eye: Eye, threshold: Option<u32>) -> Result<Learned> {
    let (origin, index) = (core.store.origin().to_owned(), core.visual.clone());
    let scope = lesson.scope.clone();
    let source = match &eye {
        Eye::Tree => TREE,
        Eye::Detector(name, _) => name,
    };
    let (learned, seen, skipped, state) = core
        .store
        .write(move |c| {
            let known = scope::take_up(c, &origin, &lesson.scope)?;
            if let Some(threshold) = threshold {
                scope::set_threshold(c, known.id, i64::from(threshold))?;
            }
            let mut skipped = Vec::new();
            if let Eye::Detector(name, detected) = eye {
                (lesson.sightings, skipped) = detections::sightings(c, known.id, name, detected)?;
                lesson.texts = lesson.sightings.iter().filter(|s| s.kind == "text").filter_map(|s| s.label.clone()).collect();
            }
            let learned = learn::learn(c, &origin, &index, &lesson)?;
            let state = learned.state.map(|id| states::get(c, id)).transpose()?.flatten();
            Ok((learned, lesson.sightings.len(), skipped, state))
        })
        .await?;
    core.jobs.nudge(UPKEEP_JOB);
    let Scope { app, site } = scope;
    Ok(Learned {
        about: afd_proto::visual::About { app, site },
        state: state.and_then(|s| Some(StateRef { id: s.code.clone()?, name: s.called().to_owned() })),
        new_state: learned.defined,
        seen: count(seen),
        new_components: count(learned.new_components),
        missed: count(learned.missed),
        learn_count: learned.learn_count,
        source: source.to_owned(),
        skipped,
        picture: None,
    })
}
