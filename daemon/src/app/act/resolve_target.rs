//! Resolves the target of an action on the current screen, just before the action is sent.
//!
//! The agent decided on the basis of an older observation. Therefore the daemon resolves every target again on a fresh
//! capture. Invariant: it refuses the action rather than send it to a different element.
//!
//! * A point must lie on the screen. The node under it is only recorded.
//! * A label, text or description must match exactly one element on the page (`page::select::find`). The touch goes to
//!   the text that matches. A match with only part of a longer text is refused unless the caller passed `partial`.
//! * Any other property must lead to exactly one node that accepts taps: a matching node, or its nearest ancestor that
//!   accepts taps.
//! * An alias (`@n3`) must come from the session's newest observation with refs. The same app, activity and title must
//!   be in the foreground, and the recorded element must be found again unambiguously (`page::refs::find`). It may have
//!   moved.
//! * A node must have a visible part that no other node or window covers. The tap goes to that part. `page::touch`
//!   defines how large it must be.

use afd_proto::ErrorCode;
use afd_proto::vocabulary::{By, Point, Target, TargetSelector};
use serde_json::{Value, json};

use super::target_spec::{TargetSpec, named_target};
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};
use afd_experience::memory::Place;
use afd_screen::page::layers::Side;
use afd_screen::page::outline::quoted;
use afd_screen::page::select::{self, Fit, Gesture, Match, Selector};
use afd_screen::page::touch::{self, Obstacle, Touch};
use afd_screen::page::{Flag, Ref, Snapshot, WindowKind, naming, refs, target};

/// Maximum number of candidates listed in an error.
const MAX_CANDIDATES: usize = 20;

/// A resolved target: the point to tap and a description of what is there.
#[derive(Debug, Clone)]
pub(in crate::app) struct ResolvedTarget {
    pub point: Point,
    pub target: Option<Target>,
    /// Node id of the element that must receive the touch; `None` for a point.
    pub node: Option<String>,
    /// Text of that element, unless it is a field.
    pub text: Option<String>,
    /// Whether the element that an alias refers to has moved since it was observed.
    pub moved: bool,
    /// How closely a label matched; `None` for targets other than labels.
    pub fit: Option<Fit>,
    /// Whether the element is not marked as accepting the gesture.
    pub unmarked: bool,
    /// Whether the element is risky.
    pub risky: bool,
    pub evidence: Value,
}

impl Call {
    /// Resolves the target of a gesture using a capture of the screen.
    pub(in crate::app) fn find_target(
        &self,
        spec: &TargetSpec,
        capture: &ScreenCapture,
        gesture: Gesture,
    ) -> Result<ResolvedTarget> {
        let snapshot = capture.snapshot();
        match spec {
            TargetSpec::Point(point) => {
                check_on_screen(snapshot, point)?;
                let acted = touch::touched_node(snapshot, point.x, point.y);
                // The caller chose the point, whatever is there.
                Ok(ResolvedTarget { node: None, text: None, ..resolved(capture, *point, acted, false) })
            }
            TargetSpec::Node { by: by @ (By::Label | By::Text | By::Desc), value, exact, partial } => {
                let found = single_match(capture, &Selector { by: *by, value, exact: *exact }, (gesture, *partial))?;
                let touch = touch_of(capture, found.element, found.text)?;
                let target = resolved(capture, touch.point, Some(touch.receiver), false);
                Ok(ResolvedTarget { fit: Some(found.fit), unmarked: !found.marked, ..target })
            }
            TargetSpec::Node { by, value, exact, .. } => {
                let index = single_node(capture, &Selector { by: *by, value, exact: *exact })?;
                let touch = touch_of(capture, index, None)?;
                Ok(resolved(capture, touch.point, Some(touch.receiver), false))
            }
            TargetSpec::Alias { alias, observation } => {
                let (index, moved) = self.resolve_alias(alias, observation.as_deref(), capture)?;
                let touch = touch_of(capture, index, None)?;
                Ok(resolved(capture, touch.point, Some(touch.receiver), moved))
            }
            TargetSpec::Described(wanted) => {
                let touch = touch_of(capture, wanted.find(capture)?, None)?;
                Ok(resolved(capture, touch.point, Some(touch.receiver), false))
            }
        }
    }

    /// Returns the node that a target names, whether or not it can be touched.
    ///
    /// # Errors
    /// If there is not exactly one such node, or if the target is a point.
    pub(in crate::app) fn node_of(&self, spec: &TargetSpec, capture: &ScreenCapture) -> Result<usize> {
        match spec {
            TargetSpec::Point(_) => Err(Error::param("of", "an element", "a point")),
            TargetSpec::Node { by: by @ (By::Label | By::Text | By::Desc), value, exact, partial } => {
                let selector = Selector { by: *by, value, exact: *exact };
                Ok(single_match(capture, &selector, (Gesture::Tap, *partial))?.element)
            }
            TargetSpec::Node { by, value, exact, .. } => {
                single_node(capture, &Selector { by: *by, value, exact: *exact })
            }
            TargetSpec::Alias { alias, observation } => {
                Ok(self.resolve_alias(alias, observation.as_deref(), capture)?.0)
            }
            TargetSpec::Described(wanted) => wanted.find(capture),
        }
    }

    /// Describes a target that could not be resolved, so that the failure can be recorded for that target.
    pub(in crate::app) fn unresolved_target(&self, spec: &TargetSpec) -> Option<Target> {
        match spec {
            TargetSpec::Point(_) => None,
            TargetSpec::Node { by, value, .. } => Some(named_target(*by, value)),
            TargetSpec::Alias { alias, .. } => {
                let shown = self.core.experience.views.shown(self.session_id, self.device_id)?;
                shown.find(alias).map(|r| target::describe(&shown.snapshot, r.what.node))
            }
            TargetSpec::Described(wanted) => Some(wanted.target.clone()),
        }
    }

    /// Returns the page on which an alias was observed if another page is now in the foreground. The failure is then
    /// recorded for the observed page.
    pub(in crate::app) fn page_of_alias(&self, spec: &TargetSpec, capture: &ScreenCapture) -> Option<Place> {
        let TargetSpec::Alias { .. } = spec else { return None };
        let shown = self.core.experience.views.shown(self.session_id, self.device_id)?;
        (shown.place.page_key != capture.place().page_key).then(|| shown.place.clone())
    }

    /// Returns the label, caption or `#id` of the element that an alias refers to. Waits and scrolls need the name,
    /// because the element may not be on the screen.
    ///
    /// # Errors
    /// `TARGET_NOT_FOUND` if the alias was not returned to the session, or if its element has no name.
    pub(in crate::app) fn name_of_alias(&self, alias: &str) -> Result<String> {
        let alias = alias.trim();
        let shown = self.core.experience.views.shown(self.session_id, self.device_id);
        let name = shown.as_ref().and_then(|shown| {
            let recorded = shown.find(alias)?.what;
            let id = || shown.snapshot.nodes[recorded.node].id_name().map(|id| format!("#{id}"));
            naming::called(recorded).map(str::to_owned).or_else(id)
        });
        name.ok_or_else(|| {
            Error::new(
                ErrorCode::TargetNotFound,
                format!("{alias} is not among the elements returned to this session, or it has no name"),
            )
            .hint("observe the page, or give the label of the element")
        })
    }

    /// Returns the node that an alias refers to, and whether it has moved since it was observed.
    pub(in crate::app) fn resolve_alias(
        &self,
        alias: &str,
        observation: Option<&str>,
        capture: &ScreenCapture,
    ) -> Result<(usize, bool)> {
        let shown = self.core.experience.views.shown(self.session_id, self.device_id);
        let unobserved = || {
            Error::new(
                ErrorCode::RefAliasUnobserved,
                format!("{alias} is not among the refs most recently returned to this session"),
            )
            .hint(
                "call observe.refs or observe.page in this session, then use an alias from its rows; \
                     raise maxRows (afctl: --max-rows) if the list was truncated",
            )
        };
        let shown = shown.ok_or_else(unobserved)?;
        if let Some(wanted) = observation.filter(|o| *o != shown.observation) {
            return Err(stale_error(alias, "its observation is not the session's newest one with refs")
                .details(json!({"observationId": wanted, "newest": shown.observation})));
        }
        let recorded = shown.find(alias).ok_or_else(unobserved)?;
        let snapshot = capture.snapshot();
        if shown.snapshot.app != snapshot.app || shown.snapshot.place != snapshot.place {
            return Err(stale_error(alias, "another page is now in the foreground")
                .details(json!({"then": shown.snapshot.place, "now": snapshot.place})));
        }
        // A missing title proves nothing, because it may have scrolled out of view. Two different titles mean two
        // pages.
        let now = capture.place().title;
        if shown.place.title.is_some() && now.is_some() && shown.place.title != now {
            return Err(stale_error(alias, "another page of the same activity is now in the foreground")
                .details(json!({"then": shown.place.title, "now": now})));
        }
        let id = &shown.snapshot.nodes[recorded.what.node].id;
        let is_same = |r: &&Ref| snapshot.nodes[r.node].id == *id && r.label.same_element(&recorded.what.label);
        if self.device().knows_elements() {
            if let Some(same) = capture.refs().iter().find(is_same) {
                return Ok((same.node, same.exact != recorded.what.exact));
            }
            // Another element in sight can look like it.
            if snapshot.nodes.iter().any(|node| node.id == *id && node.is(Flag::OutOfSight)) {
                return Err(stale_error(alias, "the element is out of sight"));
            }
        }
        match refs::find(recorded, capture.refs(), capture.snapshot().exact_content()) {
            Ok(found) => Ok((capture.refs()[found.index].node, found.moved)),
            Err(count) => Err(stale_error(
                alias,
                if count == 0 { "the element is no longer on the screen" } else { "several elements now match" },
            )
            .details(json!({"label": recorded.what.label.text(), "candidates": count}))),
        }
    }
}

impl Call {
    /// Returns the node id of the only element that a target can mean, if that element, or all but an edge of it, is out
    /// of sight and the device can bring it into sight.
    pub(in crate::app) fn out_of_sight(
        &self,
        spec: &TargetSpec,
        capture: &ScreenCapture,
        gesture: Gesture,
    ) -> Option<String> {
        let snapshot = capture.snapshot();
        if !self.device().knows_elements() {
            return None;
        }
        let hidden = |i: usize| touch::side(snapshot, i).is_some() || touch::edge_in_sight(snapshot, i).is_some();
        let only = |all: Vec<usize>| {
            let outer = |i: &usize| !all.iter().any(|other| other != i && snapshot.is_inside(*i, *other));
            let mut outer = all.iter().copied().filter(outer);
            outer.next().filter(|_| outer.next().is_none())
        };
        let index = match spec {
            TargetSpec::Point(_) | TargetSpec::Described(_) => None,
            TargetSpec::Alias { alias, .. } => {
                let shown = self.core.experience.views.shown(self.session_id, self.device_id)?;
                let id = &shown.snapshot.nodes[shown.find(alias)?.what.node].id;
                let same_page = shown.snapshot.place == snapshot.place;
                snapshot.nodes.iter().position(|node| same_page && node.id == *id)
            }
            TargetSpec::Node { by: by @ (By::Label | By::Text | By::Desc), value, exact, .. } => {
                let selector = Selector { by: *by, value, exact: *exact };
                let found = select::find(snapshot, capture.refs(), &selector, gesture);
                // Several matches in sight are ambiguous, wherever there are more of them.
                match found.best.first() {
                    Some(best) if found.off_screen_fit.is_none_or(|off| off >= best.fit) => {
                        only(found.best.iter().map(|m| m.element).collect())
                    }
                    _ => only(found.off_screen.iter().map(|(index, _)| *index).collect()),
                }
            }
            TargetSpec::Node { by, value, exact, .. } => {
                let selector = Selector { by: *by, value, exact: *exact };
                only((0..snapshot.nodes.len()).filter(|i| selector.matches(&snapshot.nodes[*i])).collect())
            }
        };
        index.filter(|i| hidden(*i)).map(|i| snapshot.nodes[i].id.clone())
    }
}

/// Returns where to touch an element, or an error with the reason why it cannot be touched.
fn touch_of(capture: &ScreenCapture, index: usize, text: Option<usize>) -> Result<Touch> {
    let snapshot = capture.snapshot();
    touch::touch(snapshot, index, text).map_err(|obstacle| match obstacle {
        Obstacle::Covered(blocker) => covered_error(snapshot, blocker),
        Obstacle::OffScreen(side) => off_screen_error(&name_of(capture, index), side),
        Obstacle::Edge(pixels) => {
            let name = name_of(capture, index);
            Error::new(ErrorCode::TargetCovered, format!("only an edge of {name} is in sight ({pixels} pixels)"))
                .hint(format!("scroll to it first: scroll-to {name}"))
                .details(json!({"pixelsInSight": pixels}))
        }
    })
}

/// Returns an element's name in quotes, for use in a message.
fn name_of(capture: &ScreenCapture, index: usize) -> String {
    let what = target::describe(capture.snapshot(), index);
    let name = capture.refs().iter().find(|r| r.node == index).and_then(naming::called).map(str::to_owned);
    quoted(&name.or(what.title).or(what.res_id).unwrap_or_else(|| what.role.to_string()), target::MAX_TITLE)
}

/// Returns the error for an element that is entirely off the screen.
fn off_screen_error(name: &str, side: Side) -> Error {
    let where_to = match side {
        Side::Below => "scroll down, or scroll-to it",
        Side::Above => "scroll up, or scroll-to it",
        Side::Left => "swipe right, or open its container",
        Side::Right => "swipe left, or open its container",
    };
    Error::new(ErrorCode::TargetNotFound, format!("{name} is off the screen ({})", side.word()))
        .hint(where_to)
        .details(json!({"offScreen": side.word()}))
}

/// Returns the error for a target that is on the screen but covered by `blocker`, which would receive the tap.
fn covered_error(snapshot: &Snapshot, blocker: usize) -> Error {
    let what = target::describe(snapshot, blocker);
    let window = snapshot.windows.get(snapshot.nodes[blocker].window);
    let hint = "close what covers it, or target an element inside it";
    let (name, hint) = match window.map(|w| w.kind) {
        Some(WindowKind::Keyboard) => ("the keyboard".to_owned(), "close the keyboard first: press Back"),
        _ => {
            (format!("{:?}", what.label.clone().or(what.res_id.clone()).unwrap_or_else(|| what.role.to_string())), hint)
        }
    };
    Error::new(
        ErrorCode::TargetCovered,
        format!("the target is covered by {name}, which would receive the tap instead"),
    )
    .hint(hint)
    .details(json!({"coveredBy": what}))
}

fn stale_error(alias: &str, why: &str) -> Error {
    Error::new(ErrorCode::RefAliasStale, format!("{alias} is stale: {why}"))
        .hint("observe again and use one of the new refs")
}

/// Checks that a point is on the screen. The reported size may exclude the system bars, so coordinates may exceed it by
/// 20 %.
fn check_on_screen(snapshot: &Snapshot, point: &Point) -> Result<()> {
    let Some((width, height)) = snapshot.size.filter(|(w, h)| *w > 0 && *h > 0) else { return Ok(()) };
    for (path, value, size) in [("x", point.x, width), ("y", point.y, height)] {
        if value > f64::from(size) * 1.2 {
            return Err(Error::param(path, &format!("a point on the screen of {width}x{height}"), value));
        }
    }
    Ok(())
}

/// Returns the only element that matches a label, text or description.
pub(in crate::app) fn single_match(
    capture: &ScreenCapture,
    selector: &Selector<'_>,
    (gesture, partial): (Gesture, bool),
) -> Result<Match> {
    let snapshot = capture.snapshot();
    let found = select::find(snapshot, capture.refs(), selector, gesture);
    let elements: Vec<usize> = found.best.iter().map(|m| m.element).collect();
    let details = || json!({"matchedCount": found.count, "candidateCount": elements.len(), "candidates": candidate_list(capture, &elements)});
    let fit = found.best.first().map(|m| m.fit);
    let in_part = fit == Some(Fit::Part) && !partial;
    // What is only called similarly is not what was named, if an element with that very name is off the screen.
    let only_mentions = fit > Some(Fit::Title) && found.off_screen_fit.is_some_and(|off| off <= Fit::Title);
    // A hidden or off-screen match is closer than an element that merely contains the label.
    if fit.is_none() || in_part || only_mentions {
        if let Some(hidden) = found.hidden.first() {
            let blocker = touch::point(snapshot, *hidden).err();
            return Err(match blocker {
                Some(Obstacle::Covered(blocker)) => covered_error(snapshot, blocker),
                _ => Error::new(ErrorCode::TargetCovered, "the target is covered by what is in front of it"),
            });
        }
        if let Some((index, side)) = found.off_screen.first() {
            return Err(off_screen_error(&name_of(capture, *index), *side));
        }
    }
    if in_part {
        let what = format!("nothing on the screen is called {:?}; it is only part of other texts", selector.value);
        return Err(Error::new(ErrorCode::TargetNotFound, what)
            .hint("use a whole label, a ref, or partial (afctl: --partial) to take such a match")
            .details(details()));
    }
    if gesture == Gesture::Fill && found.best.first().is_some_and(|m| !m.marked) {
        return Err(Error::new(ErrorCode::TargetNotFound, "the target is not a field that accepts text")
            .hint("observe the page for its fields")
            .details(details()));
    }
    match found.best.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(not_found_error(selector)),
        several => Err(Error::new(
            ErrorCode::TargetAmbiguous,
            format!("{} elements match {}={:?}", several.len(), selector.by.word(), selector.value),
        )
        .hint("use one of the candidates' selectors, a longer value, or a ref")
        .details(details())),
    }
}

fn not_found_error(selector: &Selector<'_>) -> Error {
    if selector.value.trim().starts_with("@n") {
        return Error::param("value", "an alias such as @n3, or a label on the page", selector.value);
    }
    Error::new(
        ErrorCode::TargetNotFound,
        format!("nothing on the page matches {}={:?}", selector.by.word(), selector.value),
    )
    .hint(match is_point(selector.value) {
        true => "observe the screen; to tap a point, give x and y instead of a label (afctl: --xy X,Y)",
        false => "observe the screen; scroll, or match by another property",
    })
    .details(json!({"matchedCount": 0, "candidateCount": 0}))
}

/// Returns the only tappable node that matches an id or a class.
fn single_node(capture: &ScreenCapture, selector: &Selector<'_>) -> Result<usize> {
    let snapshot = capture.snapshot();
    let matches = select::visible(snapshot, selector);
    let candidates = select::tappable(snapshot, &matches);
    match candidates.as_slice() {
        [one] => Ok(*one),
        [] if matches.is_empty() => Err(not_found_error(selector)),
        [] => Err(Error::new(
            ErrorCode::TargetNotFound,
            match matches.len() {
                1 => "one node matches, but it accepts no taps".to_owned(),
                more => format!("{more} nodes match, but none of them accepts taps"),
            },
        )
        .hint("tap by coordinates if the app draws the element itself")
        .details(json!({"matchedCount": matches.len(), "candidateCount": 0, "candidates": candidate_list(capture, &matches)}))),
        several => Err(Error::new(
            ErrorCode::TargetAmbiguous,
            format!("{} elements match {}={:?}", several.len(), selector.by.word(), selector.value),
        )
        .hint("use one of the candidates' selectors, a longer value, or a ref")
        .details(json!({"matchedCount": matches.len(), "candidateCount": several.len(), "candidates": candidate_list(capture, several)}))),
    }
}

/// Returns whether a label looks like a point, such as `10,20`.
fn is_point(value: &str) -> bool {
    value.split_once(',').is_some_and(|(x, y)| [x, y].iter().all(|part| part.trim().parse::<f64>().is_ok()))
}

fn candidate_list(capture: &ScreenCapture, nodes: &[usize]) -> Vec<Value> {
    let snapshot = capture.snapshot();
    let label = |i: usize| {
        capture
            .refs()
            .iter()
            .find(|r: &&Ref| r.node == i)
            .map_or_else(|| afd_screen::page::label::of(snapshot, i), |r| r.label.clone())
    };
    nodes
        .iter()
        .take(MAX_CANDIDATES)
        .map(|i| {
            let node = &snapshot.nodes[*i];
            // Equal elements can be told apart only by their position.
            let place = || {
                let Point { x, y } = touch::point(snapshot, *i).ok()?;
                Some(TargetSelector { x: Some(x), y: Some(y), ..TargetSelector::default() })
            };
            let selector = target::selector(snapshot, capture.refs(), *i).or_else(place);
            json!({"label": label(*i).text(), "class": node.class, "resId": node.res_id, "bounds": node.bounds.to_string(), "selector": selector})
        })
        .collect()
}

impl ResolvedTarget {
    /// Creates a target that is only a point.
    pub(in crate::app) fn at(point: Point) -> Self {
        Self {
            point,
            target: None,
            node: None,
            text: None,
            moved: false,
            fit: None,
            unmarked: false,
            risky: false,
            evidence: json!({"x": point.x, "y": point.y}),
        }
    }
}

/// Describes a resolved target, with the node under the point as evidence.
pub(in crate::app) fn resolved(
    capture: &ScreenCapture,
    point: Point,
    index: Option<usize>,
    moved: bool,
) -> ResolvedTarget {
    let snapshot = capture.snapshot();
    let under = touch::node_at(snapshot, point.x, point.y).map(|i| {
        let node = &snapshot.nodes[i];
        let app = snapshot.windows.get(node.window).map(|w| w.app.clone());
        json!({"what": target::describe(snapshot, i), "bounds": node.bounds.to_string(), "app": app})
    });
    let name = |i: usize| capture.refs().iter().find(|r| r.node == i).and_then(|r| r.name.clone());
    ResolvedTarget {
        point,
        target: index.map(|i| Target { name: name(i), ..target::describe(snapshot, i) }),
        node: index.map(|i| snapshot.nodes[i].id.clone()),
        text: index
            .map(|i| &snapshot.nodes[i])
            .filter(|n| !n.is(Flag::Editable) && !n.password)
            .and_then(|n| n.text.clone()),
        moved,
        fit: None,
        unmarked: false,
        risky: false,
        evidence: json!({"x": point.x, "y": point.y, "under": under, "moved": moved}),
    }
}
