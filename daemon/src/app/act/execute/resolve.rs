//! Resolves the target of an action plan, and notes it in the event.

use std::collections::BTreeMap;

use afd_proto::ErrorCode;
use afd_proto::vocabulary::{Role, Target, Verb};
use serde_json::{Value, json};

use crate::app::act::resolve_target::ResolvedTarget;
use crate::app::act::target_spec::TargetSpec;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};
use afd_device::{DeviceGuard, DriverError};
use afd_experience::memory::Place;
use afd_experience::memory::events::Event;
use afd_screen::page::select::Gesture;
use afd_screen::page::{Ref, element_state};

impl Call {
    /// Reads the screen and resolves the target on it. Sets the page in `event` and, on failure, a description of the
    /// requested target.
    pub(super) async fn resolve_target(
        &self,
        spec: Option<&TargetSpec>,
        guard: &DeviceGuard,
        event: &mut Event,
    ) -> Result<Option<ResolvedTarget>> {
        let Some(spec) = spec else { return Ok(None) };
        let reading = match (guard.tree(self.target.token.as_ref()).await, spec) {
            (Ok(reading), _) => reading,
            // Tapping a point needs no element tree, so it works even if the tree cannot be read.
            (Err(DriverError::Refused { .. }), TargetSpec::Point(point)) => {
                return Ok(Some(ResolvedTarget::at(*point)));
            }
            (Err(error), _) => return Err(error.into()),
        };
        let mut capture = ScreenCapture::of(reading, false, false);
        if capture.reliable() {
            let structure = capture.structures().map(|s| self.structure_key(&s.front));
            let place = Place { structure, ..capture.place() };
            let seen = event.before.observation.take().filter(|_| event.before.page_key == place.page_key);
            event.before = Place { observation: seen, ..place };
        }
        event.seq = guard.next_seq();
        let is_empty = event.before.page_key.is_none() && capture.snapshot().nodes.is_empty();
        if is_empty && !matches!(spec, TargetSpec::Point(_)) {
            return Err(Error::new(ErrorCode::TargetNotFound, capture.doubt.unwrap_or("the screen is empty"))
                .hint("observe again; a point can be tapped by its coordinates"));
        }
        // Typed text must not enter memory as the value of a selector.
        let typed = matches!(spec, TargetSpec::Node { value, .. } if self.core.experience.secrets.was_typed(value));
        let gesture = match event.action.as_ref().map(|a| a.verb) {
            Some(Verb::LongPress | Verb::Drag) => Gesture::Press,
            Some(Verb::Fill) => Gesture::Fill,
            _ => Gesture::Tap,
        };
        let mut found = self.find_target(spec, &capture, gesture);
        if found.is_err()
            && let Some(node) = self.out_of_sight(spec, &capture, gesture)
            && guard.reveal(self.target.token.as_ref(), &node).await?
        {
            capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
            found = self.find_target(spec, &capture, gesture);
        }
        let resolved = match found {
            Ok(found) => self.unless_known_elsewhere(spec, &capture, &event.before, found).await,
            Err(error) => Err(self.known_elsewhere(spec, &capture, &event.before, error).await),
        };
        let resolved = resolved.map_err(|error| match typed {
            true => {
                Error { message: "the typed text does not match exactly one target on the screen".to_owned(), ..error }
            }
            false => error,
        });
        if let Err(error) = &resolved {
            if let Some(place) = self.page_of_alias(spec, &capture) {
                event.before = place;
            }
            if let Some(action) = event.action.as_mut().filter(|_| !typed) {
                action.target = self.unresolved_target(spec);
            }
            let wanted = if typed { json!("typed text") } else { spec_json(spec) };
            event.evidence = Some(json!({"wanted": wanted, "details": error.details}));
        }
        resolved.map(|resolved| Some(self.with_risk(resolved, &capture)))
    }

    /// Marks a resolved element that is risky.
    fn with_risk(&self, resolved: ResolvedTarget, capture: &ScreenCapture) -> ResolvedTarget {
        let is_acted = |r: &&Ref| resolved.node.as_ref() == Some(&capture.snapshot().nodes[r.node].id);
        let acted = capture.refs().iter().find(is_acted);
        let risky = acted.is_some_and(|acted| self.core.risk_rules().is_risky(capture.snapshot(), acted));
        let mut evidence = resolved.evidence;
        if let Some(evidence) = evidence.as_object_mut() {
            // What an undo has to restore. A text such as "Off" may be the name of a button.
            let snapshot = capture.snapshot();
            let is_switch = |i: usize| snapshot.nodes[i].checked.is_some() || snapshot.nodes[i].role == Role::Switch;
            let reports = |node: &usize| snapshot.subtree(*node).any(is_switch);
            let node = acted.map(|acted| acted.node).filter(reports);
            let on = node.and_then(|node| element_state::is_on(snapshot, node));
            on.into_iter().for_each(|on| drop(evidence.insert("on".to_owned(), json!(on))));
            if risky {
                evidence.insert("risky".to_owned(), json!(true));
            }
        }
        ResolvedTarget { risky, evidence, ..resolved }
    }
}

/// Stores the resolved element in the event.
pub(super) fn note_target(event: &mut Event, resolved: &ResolvedTarget) {
    let Some(action) = &mut event.action else { return };
    // The name may be text typed into a field; memory recognises the element by its other properties.
    action.target = resolved.target.clone().map(|target| Target { name: None, ..target });
    action.point = Some(resolved.point);
    event.evidence = Some(resolved.evidence.clone());
}

/// Describes the requested target, as evidence for the event.
fn spec_json(spec: &TargetSpec) -> Value {
    let entries: BTreeMap<&str, Value> = match spec {
        TargetSpec::Point(p) => BTreeMap::from([("x", json!(p.x)), ("y", json!(p.y))]),
        TargetSpec::Node { by, value, exact, partial } => {
            let mut entries =
                BTreeMap::from([("by", json!(by.word())), ("value", json!(value)), ("exactMatch", json!(exact))]);
            if *partial {
                entries.insert("partial", json!(true));
            }
            entries
        }
        TargetSpec::Alias { alias, .. } => BTreeMap::from([("by", json!("ref")), ("value", json!(alias))]),
        TargetSpec::Described(wanted) => BTreeMap::from([("target", json!(wanted.target))]),
    };
    json!(entries)
}
