//! Hints returned with an observation: knowledge from memory that can be used on the foreground page.
//!
//! Each hint costs tokens in each response, and a wrong hint misleads the agent. Therefore a hint must pass these
//! filters:
//!
//! * The action was recorded on this page: in the state that the page is in now, or, if its state was unknown then, under
//!   its page key (`Query::unasked`).
//! * The target is on the screen, or can be reached by scrolling and leads to another page ([`in_sight`]). A target
//!   with equal siblings is left out, because their order may have changed.
//! * The transition is informative ([`is_useful`]). By default it must also be specific to this page and more than a
//!   single failure or attempt without effect ([`is_worth_telling`]).
//!
//! Hints that need scrolling come last. Otherwise [`rank`] decides the order. An observation has at most [`MAX_HINTS`]
//! hints from outcomes, of which up to [`MAX_RECOVERIES`] are recoveries. By default, at most [`MAX_BELOW`] hints are
//! not about a visible element ([`chosen`]). The confidence of a hint is its success rate with add-one smoothing.

use std::cmp::Reverse;

use afd_proto::memory::{Outcome, OutcomeKind, Recovery, Scope, Transition};
use afd_proto::pattern::{Pattern, PatternKind};
use afd_proto::vocabulary::{Hint, HintKind, HintsWanted, Role, Verb};

use super::screen_capture::ScreenCapture;
use crate::app::Call;
use crate::app::memory::experience;
use crate::app::memory::predict::{Named, Predicted};
use afd_base::text::cut;
use afd_experience::memory::Place;
use afd_experience::memory::experience::Query;
use afd_screen::page::outline::quoted;
use afd_screen::page::{pattern, target};
use afd_workspace::patterns;

/// Maximum number of hints in an observation.
const MAX_HINTS: usize = 5;
/// Maximum number of recoveries among the hints in an observation.
const MAX_RECOVERIES: usize = 2;
/// Maximum number of transitions from which the hints are chosen.
const CANDIDATES: usize = 40;

impl Call {
    /// Returns hints for the page of a capture, best first; empty if nothing is known or the database cannot be read.
    /// `shown` is the number of refs returned with the capture, whose aliases the hints may use.
    pub(in crate::app) async fn hints(
        &self,
        capture: &ScreenCapture,
        place: &Place,
        (shown, predicted): (usize, &Predicted),
        wanted: HintsWanted,
    ) -> Vec<Hint> {
        if place.page_key.is_none() {
            return Vec::new();
        }
        // Only knowledge about the page itself is used. Knowledge about other pages would be noise in every response,
        // and would mislead an agent that believes it.
        let query = Query { place: place.clone(), unasked: true, limit: CANDIDATES, ..Query::default() };
        let known = match self.core.store.read(move |c| experience::find(c, query)).await {
            Ok(known) => known,
            Err(error) => {
                tracing::debug!(%error, "cannot read hints");
                return Vec::new();
            }
        };
        let useful = known.transitions.into_iter().filter(is_useful).filter(|t| wanted.all() || is_worth_telling(t));
        let mut useful: Vec<(Transition, Sight)> =
            useful.filter_map(|t| in_sight(&t, capture).map(|sight| (t, sight))).collect();
        useful.sort_by_key(|(t, sight)| (*sight == Sight::Scroll, rank(t)));
        let recoveries: Vec<Hint> =
            known.recoveries.iter().filter(|r| r.success_count > 0).take(MAX_RECOVERIES).map(recovery_hint).collect();
        let mut hints: Vec<Hint> = useful
            .into_iter()
            .take(MAX_HINTS - recoveries.len())
            .map(|(t, sight)| action_hint(t, sight, capture, (shown, predicted)))
            .collect();
        hints.extend(recoveries);
        hints
    }
}

/// Minimum confidence for a pattern to be returned automatically.
const MIN_CONFIDENCE: f64 = 0.4;
/// Maximum number of patterns that are returned automatically.
const MAX_PATTERNS: usize = 4;

impl Call {
    /// Returns the patterns saved for exactly the page of a capture: validation rules, flaky elements, visual
    /// baselines.
    pub(in crate::app) async fn page_hints(&self, place: &Place, state: Option<&str>) -> Vec<Hint> {
        let named = [place.page_key.as_deref(), place.activity.as_deref(), state];
        let pages: Vec<String> = named.into_iter().flatten().map(pattern::of).collect();
        let (app, session) = (place.app.clone().unwrap_or_default(), self.session_id);
        let found = self
            .core
            .store
            .read(move |c| patterns::of_pages(c, &pages, &app, session, MIN_CONFIDENCE, MAX_PATTERNS))
            .await;
        found.unwrap_or_default().into_iter().filter_map(pattern_hint).collect()
    }
}

/// Returns a pattern as a hint; `None` if it is not about the page itself.
fn pattern_hint(pattern: Pattern) -> Option<Hint> {
    let kind = match pattern.kind {
        PatternKind::ValidationRule => HintKind::Rule,
        PatternKind::FlakyElement => HintKind::Flaky,
        PatternKind::VisualBaseline => HintKind::Baseline,
        _ => return None,
    };
    Some(Hint {
        kind,
        // The text comes from a user or an agent, so it is forced onto one line.
        text: cut::brief(&cut::one_line(&said(&pattern)), MAX_PATTERN),
        first: None,
        target: None,
        alias: None,
        selector: None,
        outcome: None,
        confidence: pattern.confidence,
        evidence: vec![pattern.uid],
    })
}

/// Returns the text of a pattern, with its source unless the source is the agent.
fn said(pattern: &Pattern) -> String {
    match pattern.source.as_deref() {
        None | Some("assistant") => pattern.text.clone(),
        Some(source) => format!("{} (said by {source})", pattern.text),
    }
}

/// Maximum length of the text in a pattern hint, in characters.
const MAX_PATTERN: usize = 240;

/// Location of a hint's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// The action has no target.
    NoTarget,
    /// On the screen, at this index among the refs.
    At(usize),
    /// Not visible, but probably reachable by scrolling.
    Scroll,
}

/// Returns the location of a transition's target; `None` if the target cannot be reached from here. A target that is
/// not visible counts only if the action led to another page.
fn in_sight(t: &Transition, capture: &ScreenCapture) -> Option<Sight> {
    let Some(wanted) = &t.action.target else { return Some(Sight::NoTarget) };
    // Among several equal elements the right one is not known, because their order may have changed.
    if wanted.ordinal.is_some() {
        return None;
    }
    let leads = t.outcomes.iter().any(|o| o.kind == OutcomeKind::Page);
    match target::locate(capture.snapshot(), capture.refs(), wanted) {
        Some(index) => Some(Sight::At(index)),
        None => (leads && target::may_scroll_to(capture.snapshot(), wanted)).then_some(Sight::Scroll),
    }
}

/// Returns whether a transition can become a hint. An action with a target needs a role for the target or a success. An
/// action without a target needs another page as its outcome. Waiting needs two successes, because a person may have
/// opened a page that appeared only once.
fn is_useful(t: &Transition) -> bool {
    let named = match (&t.action.target, &t.action.point) {
        (Some(target), _) => target.role != Role::Any || t.success_count > 0,
        (None, point) => point.is_none(),
    };
    let waits_once = t.action.verb == Verb::Wait && t.success_count < 2;
    // An action without a target that stays on the page, such as a scroll, is not useful knowledge.
    let leads = t.action.target.is_some() || t.outcomes.iter().any(|o| o.kind == OutcomeKind::Page);
    // Another tab is no page that this one leads to.
    let is_tab = t.action.verb == Verb::Tab;
    named && leads && !is_tab && !waits_once && t.success_count + t.nothing_count + t.failure_count > 0
}

/// Returns whether a transition is worth its tokens in every observation. Actions that any page offers (Home, Back, a
/// launch) are not, nor are changes to the same page, such as turning a switch on. A single failure or attempt without
/// effect is not either, because it may have had another cause.
fn is_worth_telling(t: &Transition) -> bool {
    let leads = t.outcomes.iter().any(|o| matches!(o.kind, OutcomeKind::Page | OutcomeKind::Refuted));
    let general =
        matches!(t.action.verb, Verb::Home | Verb::Back | Verb::Launch | Verb::Stop | Verb::Relaunch | Verb::Key);
    let nothing = if target::has_hidden_effect(&t.action) { 0 } else { t.nothing_count };
    !general && (leads || nothing + t.failure_count > 1)
}

/// Maximum number of hints that are not about a visible element.
const MAX_BELOW: usize = 2;

/// Joins hints about actions with other hints about a page. Limits the number of hints that are not about a visible
/// element.
pub(in crate::app) fn chosen(known: Vec<Hint>, about_page: Vec<Hint>, wanted: HintsWanted) -> Vec<Hint> {
    let in_sight = |h: &Hint| h.kind == HintKind::Action && h.first.is_none() && h.target.is_some();
    let mut about_page = about_page;
    if !wanted.all() {
        about_page.truncate(MAX_BELOW);
    }
    let mut below = MAX_BELOW.saturating_sub(about_page.len());
    let mut fits = |hint: &Hint| {
        let fits = wanted.all() || in_sight(hint) || below > 0;
        below = below.saturating_sub(usize::from(!in_sight(hint)));
        fits
    };
    let mut hints: Vec<Hint> = known.into_iter().filter(|hint| fits(hint)).collect();
    hints.append(&mut about_page);
    hints
}

/// Returns the sort key of a transition. The order is: known for this state, verified, leading to another page,
/// changing the page, likely. Actions that did nothing or failed come last.
fn rank(t: &Transition) -> impl Ord + use<> {
    let of = |kind| t.outcomes.iter().filter(|o| o.kind == kind).map(|o| o.count).max().unwrap_or_default();
    let share = t
        .outcomes
        .iter()
        .filter(|o| o.kind == OutcomeKind::Page)
        .map(|o| (o.share * 100.0) as i64)
        .max()
        .unwrap_or_default();
    let nearest = t.match_scope == Scope::State;
    Reverse((
        nearest,
        t.verified_count > 0,
        of(OutcomeKind::Page) > 0,
        of(OutcomeKind::Same) > 0,
        share,
        t.success_count,
    ))
}

/// Returns the success rate with add-one smoothing, which pulls it towards 0.5 while there are few observations.
fn confidence(good: i64, bad: i64) -> f64 {
    let mean = (good as f64 + 1.0) / ((good + bad) as f64 + 2.0);
    (mean * 100.0).round() / 100.0
}

fn action_hint(t: Transition, sight: Sight, capture: &ScreenCapture, (shown, predicted): (usize, &Predicted)) -> Hint {
    let (fails, outcome) = (t.success_count + t.nothing_count == 0, in_brief(&t, predicted.of(&t.action)));
    // Knowledge that is filed under the page key alone may concern a similar page.
    let elsewhere = if t.match_scope == Scope::State { "" } else { "on a page with this key: " };
    Hint {
        kind: if fails { HintKind::Failure } else { HintKind::Action },
        text: format!("{elsewhere}{}{}", if sight == Sight::Scroll { "after scrolling to it: " } else { "" }, t.text),
        first: (sight == Sight::Scroll).then(|| Verb::Scroll.word().to_owned()),
        target: match sight {
            // The element is described as it is now, because its label may have changed.
            Sight::At(index) => Some(target::describe(capture.snapshot(), capture.refs()[index].node)),
            Sight::NoTarget | Sight::Scroll => t.action.target,
        },
        alias: match sight {
            Sight::At(index) if index < shown && capture.has_alias(index) => Some(capture.alias(index)),
            _ => None,
        },
        selector: match sight {
            Sight::At(index) => target::selector(capture.snapshot(), capture.refs(), capture.refs()[index].node),
            Sight::NoTarget | Sight::Scroll => None,
        },
        outcome: Some(outcome),
        confidence: confidence(t.success_count, t.nothing_count + t.failure_count),
        evidence: vec![t.uid],
    }
}

/// Maximum number of outcomes in a brief description.
const MAX_OUTCOMES: usize = 2;
/// Maximum length of a page name in a brief description, in characters.
const MAX_NAME: usize = 40;

/// Returns the outcomes to expect of an action in brief, with their probabilities: `-> "Wi-Fi" 0.94`, `does nothing 0.86`.
/// An action that always failed has no prediction; then the number of failures is returned.
fn in_brief(t: &Transition, predicted: Option<&Named>) -> String {
    let verb = if t.action.verb == Verb::Tap { String::new() } else { format!("{}: ", t.action.verb) };
    if let Some(named) = predicted.filter(|_| t.success_count + t.nothing_count > 0) {
        return format!("{verb}{}", named.brief());
    }
    let tried: i64 = t.outcomes.iter().filter(|o| o.kind != OutcomeKind::Refuted).map(|o| o.count).sum();
    let one = |o: &Outcome| {
        let what = match o.kind {
            OutcomeKind::Page => {
                let name = quoted(o.name.as_deref().unwrap_or("another page"), MAX_NAME);
                format!("-> {}{name}", if o.dialog { "dialog " } else { "" })
            }
            OutcomeKind::Same => "changes this page".to_owned(),
            OutcomeKind::Nothing => "does nothing".to_owned(),
            OutcomeKind::Failed => format!("fails with {}", o.failure_cause.as_deref().unwrap_or("an error")),
            OutcomeKind::Refuted => "was not what was expected".to_owned(),
        };
        format!("{what} {}/{tried}", o.count)
    };
    let told: Vec<String> =
        t.outcomes.iter().filter(|o| o.kind != OutcomeKind::Refuted).take(MAX_OUTCOMES).map(one).collect();
    format!("{verb}{}", told.join(", "))
}

fn recovery_hint(r: &Recovery) -> Hint {
    Hint {
        kind: HintKind::Recovery,
        text: r.text.clone(),
        first: None,
        target: None,
        alias: None,
        selector: None,
        outcome: None,
        confidence: confidence(r.success_count, r.failure_count),
        evidence: vec![r.uid.clone()],
    }
}
