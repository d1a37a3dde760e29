//! Is the target still what the agent saw?

use afd_proto::ErrorCode;
use afd_proto::act::TapParams;
use afd_proto::vocabulary::{By, Point, Role, Target};
use serde_json::{Value, json};

use super::look::Look;
use super::{Call, Error, Result};
use crate::memory::Place;
use crate::page::refs::{self, Ref};
use crate::page::select::{self, Selector};
use crate::page::{Snapshot, fingerprint, target, touch};

/// At most this many candidates are listed.
const MAX_CANDIDATES: usize = 20;

/// How a caller named a target.
#[derive(Debug, Clone)]
pub(super) enum Aim {
    /// A point.
    Point(Point),
    /// A property of a node.
    Node { by: By, value: String, exact: bool },
    /// An alias.
    Alias { alias: String, observation: Option<String> },
}

impl Aim {
    /// Reads the parameters of a tap.
    pub(super) fn of(params: &TapParams) -> Result<Self> {
        match (params.by, &params.value, params.x, params.y) {
            (None, None, Some(x), Some(y)) => Ok(Aim::Point(Point { x: coordinate("x", x)?, y: coordinate("y", y)? })),
            (Some(by), Some(value), None, None) => Self::named(by, value, params.exact_match, params.observation_id.clone()),
            (Some(_), None, ..) => Err(Error::param("value", "what to look for", "nothing")),
            (None, Some(_), ..) => Err(Error::param("by", "text, desc, resId, class or ref", "nothing")),
            (None, None, Some(_), None) => Err(Error::param("y", "a number beside x", "nothing")),
            (None, None, None, Some(_)) => Err(Error::param("x", "a number beside y", "nothing")),
            (None, None, None, None) => Err(Error::param("by", "either by with value, or x with y", "neither")),
            (Some(_), Some(_), ..) => Err(Error::param("x", "either by with value, or x with y", "both")),
        }
    }

    pub(super) fn named(by: By, value: &str, exact: bool, observation: Option<String>) -> Result<Self> {
        if value.trim().is_empty() {
            return Err(Error::param("value", "at least one character", "an empty text"));
        }
        if by != By::Ref {
            return Ok(Aim::Node { by, value: value.to_owned(), exact });
        }
        let alias = value.trim();
        let number =
            alias.strip_prefix("@n").or_else(|| alias.strip_prefix('n')).filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        match number {
            Some(number) => Ok(Aim::Alias { alias: format!("@n{number}"), observation }),
            None => Err(Error::param("value", "an alias such as @n3", value)),
        }
    }
}

/// A target of which only one property is known.
pub(super) fn named_target(by: By, value: &str) -> Target {
    let (value, role) = (Some(value.to_owned()), Role::Any);
    match by {
        By::ResId => Target { role, res_id: value, ..Target::default() },
        By::Class => Target { role, class: value, ..Target::default() },
        By::Text | By::Desc | By::Ref => Target { role, label: value, ..Target::default() },
    }
}

/// A coordinate that a screen can have.
pub(super) fn coordinate(path: &str, value: f64) -> Result<f64> {
    if value.is_finite() && (0.0..=100_000.0).contains(&value) {
        Ok(value)
    } else {
        Err(Error::param(path, "0 to 100000 device pixels", value))
    }
}

/// Where to touch, and what lies there.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub point: Point,
    pub target: Option<Target>,
    pub moved: bool,
    pub evidence: Value,
}

impl Call {
    /// Finds where to touch on the screen as it is now.
    pub(super) fn aim(&self, aim: &Aim, look: &Look) -> Result<Hit> {
        let snapshot = look.snapshot();
        match aim {
            Aim::Point(point) => {
                on_screen(snapshot, point)?;
                let acted = touch::acts_on(snapshot, point.x, point.y);
                Ok(hit(snapshot, *point, acted, false))
            }
            Aim::Node { by, value, exact } => {
                let index = one_node(look, &Selector { by: *by, value, exact: *exact })?;
                let point = touch::point(snapshot, index).map_err(|over| covered(snapshot, over))?;
                on_screen(snapshot, &point)?;
                Ok(hit(snapshot, point, Some(index), false))
            }
            Aim::Alias { alias, observation } => {
                let (index, moved) = self.resolve_alias(alias, observation.as_deref(), look)?;
                let point = touch::point(snapshot, index).map_err(|over| covered(snapshot, over))?;
                on_screen(snapshot, &point)?;
                Ok(hit(snapshot, point, Some(index), moved))
            }
        }
    }

    /// What was aimed at, for an act that did not find it: failures are remembered by target as well.
    pub(super) fn missed(&self, aim: &Aim) -> Option<Target> {
        match aim {
            Aim::Point(_) => None,
            Aim::Node { by, value, .. } => Some(named_target(*by, value)),
            Aim::Alias { alias, .. } => {
                let shown = self.core.views.shown(self.session_id, self.device_id)?;
                shown.refs.get(alias).map(|r| target::describe(&shown.snapshot, r.what.node))
            }
        }
    }

    /// The page that an alias was read from, when another one is in front: what fails there says nothing about this one.
    pub(super) fn shown_elsewhere(&self, aim: &Aim, look: &Look) -> Option<Place> {
        let Aim::Alias { .. } = aim else { return None };
        let shown = self.core.views.shown(self.session_id, self.device_id)?;
        (shown.place.page_key != look.place().page_key).then(|| shown.place.clone())
    }

    /// The node that an alias stands for, and whether it moved.
    pub(super) fn resolve_alias(&self, alias: &str, observation: Option<&str>, look: &Look) -> Result<(usize, bool)> {
        let shown = self.core.views.shown(self.session_id, self.device_id);
        let unobserved = || {
            Error::new(ErrorCode::RefAliasUnobserved, format!("{alias} is not among the refs that this session was shown last"))
                .hint("observe refs or page in this session, then use an alias from its rows; ask for more rows with maxRows (afctl: --max-rows) if it was cut off")
        };
        let shown = shown.ok_or_else(unobserved)?;
        if let Some(wanted) = observation.filter(|o| *o != shown.observation) {
            return Err(stale(alias, "the observation it was read from is not the session's newest with refs")
                .details(json!({"observationId": wanted, "newest": shown.observation})));
        }
        let recorded = shown.refs.get(alias).ok_or_else(unobserved)?;
        let snapshot = look.snapshot();
        if shown.snapshot.app != snapshot.app || shown.snapshot.place != snapshot.place {
            return Err(stale(alias, "another page is in front now").details(json!({"then": shown.snapshot.place, "now": snapshot.place})));
        }
        match refs::find(recorded, &look.refs, &fingerprint::exact_content(snapshot)) {
            Ok(found) => Ok((look.refs[found.index].node, found.moved)),
            Err(count) => Err(stale(alias, if count == 0 { "it is no longer there" } else { "several things are now alike" })
                .details(json!({"label": recorded.what.label.text(), "candidates": count}))),
        }
    }
}

/// The target is there, but a touch would reach something else.
fn covered(snapshot: &Snapshot, over: usize) -> Error {
    let what = target::describe(snapshot, over);
    let name = what.label.clone().or(what.res_id.clone()).unwrap_or_else(|| what.role.to_string());
    Error::new(ErrorCode::TargetCovered, format!("the target is covered by {name:?}, which a touch would reach instead"))
        .hint("close what lies over it (a keyboard: `act back`), or act on a part of it")
        .details(json!({"coveredBy": what}))
}

fn stale(alias: &str, why: &str) -> Error {
    Error::new(ErrorCode::RefAliasStale, format!("{alias} is stale: {why}")).hint("observe again and choose from the new refs")
}

/// A point far off the screen is a mistake. The size that the phone tells may leave out its bars, so there is some slack.
fn on_screen(snapshot: &Snapshot, point: &Point) -> Result<()> {
    let Some((width, height)) = snapshot.size.filter(|(w, h)| *w > 0 && *h > 0) else { return Ok(()) };
    for (path, value, size) in [("x", point.x, width), ("y", point.y, height)] {
        if value > f64::from(size) * 1.2 {
            return Err(Error::param(path, &format!("a point on the screen of {width}x{height}"), value));
        }
    }
    Ok(())
}

/// The one node that a selector means.
fn one_node(look: &Look, selector: &Selector<'_>) -> Result<usize> {
    let snapshot = look.snapshot();
    let matches = select::visible(snapshot, selector);
    let candidates = select::tappable(snapshot, &matches);
    match candidates.as_slice() {
        [one] => Ok(*one),
        [] if matches.is_empty() => {
            Err(Error::new(ErrorCode::TargetNotFound, format!("nothing on the screen matches {}={:?}", selector.by.word(), selector.value))
                .hint("observe the screen; scroll, or match by another property")
                .details(json!({"matchedCount": 0, "candidateCount": 0})))
        }
        [] => Err(Error::new(ErrorCode::TargetNotFound, format!("{} nodes match, but none of them takes taps", matches.len()))
            .hint("tap by coordinates if it is drawn by the app itself")
            .details(json!({"matchedCount": matches.len(), "candidateCount": 0, "candidates": candidate_list(look, &matches)}))),
        several => Err(Error::new(
            ErrorCode::TargetAmbiguous,
            format!("{} things match {}={:?}", several.len(), selector.by.word(), selector.value),
        )
        .hint("use exactMatch, a longer value, another property, or a ref")
        .details(json!({"matchedCount": matches.len(), "candidateCount": several.len(), "candidates": candidate_list(look, several)}))),
    }
}

fn candidate_list(look: &Look, nodes: &[usize]) -> Vec<Value> {
    let snapshot = look.snapshot();
    let label =
        |i: usize| look.refs.iter().find(|r: &&Ref| r.node == i).map_or_else(|| crate::page::label::of(snapshot, i), |r| r.label.clone());
    nodes
        .iter()
        .take(MAX_CANDIDATES)
        .map(|i| {
            let node = &snapshot.nodes[*i];
            json!({"label": label(*i).text(), "class": node.class, "resId": node.res_id, "bounds": node.bounds.to_string()})
        })
        .collect()
}

pub(super) fn hit(snapshot: &Snapshot, point: Point, index: Option<usize>, moved: bool) -> Hit {
    let under = touch::under(snapshot, point.x, point.y).map(|i| {
        let node = &snapshot.nodes[i];
        let app = snapshot.windows.get(node.window).map(|w| w.app.clone());
        json!({"what": target::describe(snapshot, i), "bounds": node.bounds.to_string(), "app": app})
    });
    Hit {
        point,
        target: index.map(|i| target::describe(snapshot, i)),
        moved,
        evidence: json!({"x": point.x, "y": point.y, "under": under, "moved": moved}),
    }
}
