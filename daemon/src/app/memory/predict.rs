//! `memory.predict`, and the predictions in observations: where the actions on a page most likely lead.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::memory::OutcomeKind;
use afd_proto::predict::{
    LeadsTo, LikelyOutcome, MemoryPredict, PredictParams, PredictedAction, PredictedFrom, Predictions,
};
use afd_proto::vocabulary::{Action, Reply, Target, Verb};

use super::experience::Names;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Core, Methods, Result};
use afd_base::task::over_nodes;
use afd_experience::memory::experience::PageName;
use afd_experience::memory::{Place, pages};
use afd_experience::prediction::{self, AttemptsHere, Destination, Effect, History, Level, Likely, Origin, Prediction};
use afd_experience::visual::states;
use afd_screen::page::outline::quoted;
use afd_screen::page::target;
use afd_store::{Connection, Result as Stored, now_ms};

/// Registers the RPC method that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemoryPredict, _, _>(|core, p| async move { predict(&core, &p).await });
}

/// Maximum number of refs for which a tap is predicted, in their order.
const MAX_REFS: usize = 300;
/// Least probability of a further outcome that is printed.
const MIN_PRINTED: f64 = 0.2;
/// Least probability of the most likely outcome of a guess that `memory.predict` returns.
const MIN_PREDICTED: f64 = 0.2;
/// Least probability of a page that is returned as a guess without being asked for.
const MIN_GUESS: f64 = 0.5;
/// Maximum number of outcomes that are printed.
const MAX_PRINTED: usize = 2;
/// Maximum length of a page's name that is printed, in characters.
const MAX_NAME: usize = 40;

/// An action and what to expect of it, with the names of the pages.
#[derive(Debug, Clone)]
pub(in crate::app) struct Named {
    pub action: Action,
    pub prediction: Prediction,
    /// Names of the outcomes, in their order: the page, and whether it is a dialog. `None` if the page stays.
    names: Vec<Option<(PageName, bool)>>,
}

/// What to expect of the actions on a page.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Predicted {
    by_action: HashMap<String, Named>,
    /// Keys of a tap on each ref, in the order of the refs.
    taps: Vec<String>,
    before: Option<String>,
}

/// What is known of an action on a page before it is performed.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Expectation {
    /// The outcomes to expect; `None` if nothing is known.
    pub named: Option<Named>,
    /// Longest mean time of its outcomes, in milliseconds.
    pub mean_ms: Option<i64>,
    /// Warning that it never had an effect on the page.
    pub warning: Option<String>,
}

/// Rounds a probability for a response.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Returns whether the page stays.
fn stays(one: &Likely) -> bool {
    matches!(one.effect, Effect::Nothing | Effect::Same)
}

fn kind(effect: &Effect) -> OutcomeKind {
    match effect {
        Effect::Nothing => OutcomeKind::Nothing,
        Effect::Same => OutcomeKind::Same,
        Effect::Page(_) | Effect::Before => OutcomeKind::Page,
    }
}

impl Named {
    /// Returns the most likely outcome, and its name.
    fn top(&self) -> Option<(&Likely, Option<&(PageName, bool)>)> {
        let top = self.prediction.top()?;
        let at = self.prediction.likely.iter().position(|one| one == top)?;
        Some((top, self.names.get(at)?.as_ref()))
    }

    /// Returns the outcomes in brief: `-> "Wi-Fi" 0.94`, `does nothing 0.86`.
    pub(in crate::app) fn brief(&self) -> String {
        let part = |(one, name): (&Likely, Option<&(PageName, bool)>)| {
            let what = match (&one.effect, name) {
                (Effect::Nothing, _) => "does nothing".to_owned(),
                (Effect::Same, _) => "changes this page".to_owned(),
                (Effect::Page(_) | Effect::Before, name) => {
                    let (name, dialog) = name.map_or(("another page", false), |(n, d)| (n.name.as_str(), *d));
                    format!("-> {}{}", if dialog { "dialog " } else { "" }, quoted(name, MAX_NAME))
                }
            };
            format!("{what} {:.2}", self.stated(one).min(0.99))
        };
        let Some((top, name)) = self.top() else { return String::new() };
        let others = self.prediction.likely.iter().zip(&self.names).filter(|(one, _)| *one != top);
        let others = others.filter(|(one, _)| one.probability >= MIN_PRINTED && !(stays(one) && stays(top)));
        let parts: Vec<String> = std::iter::once((top, name))
            .chain(others.map(|(one, name)| (one, name.as_ref())))
            .take(MAX_PRINTED)
            .map(part)
            .collect();
        format!("{}{}", if self.prediction.is_guess() { "guess: " } else { "" }, parts.join(", "))
    }

    /// Returns the probability that is stated for an outcome. That the page changes includes that it stays as it is.
    fn stated(&self, one: &Likely) -> f64 {
        if one.effect == Effect::Same { self.prediction.stays() } else { one.probability }
    }

    /// Returns whether the prediction is worth its tokens in every observation although the action was never tried on the
    /// page: another page is likelier than not.
    pub(in crate::app) fn is_good_guess(&self) -> bool {
        let is_likely = |top: &Likely| matches!(top.effect, Effect::Page(_)) && top.probability >= MIN_GUESS;
        self.prediction.is_guess()
            && self.prediction.level != Level::Role
            && self.prediction.top().is_some_and(is_likely)
    }

    /// Returns whether the prediction is worth telling with the outcome of the action.
    pub(in crate::app) fn is_worth_telling(&self) -> bool {
        !self.prediction.is_guess() || self.is_good_guess()
    }

    /// Returns whether the action most likely opens a page that it opened from here before.
    pub(in crate::app) fn leads_from_here(&self) -> bool {
        let is_page = |top: &Likely| matches!(top.effect, Effect::Page(_));
        !self.prediction.is_guess() && self.prediction.top().is_some_and(is_page)
    }

    /// Returns the probability of the most likely outcome, 0 to 1.
    pub(in crate::app) fn probability(&self) -> f64 {
        self.prediction.top().map_or(0.0, |top| top.probability)
    }

    /// Returns the most likely outcome, unless it is a guess that is as likely as not.
    fn leads_to(&self) -> Option<LeadsTo> {
        let (top, name) = self.top()?;
        if self.prediction.is_guess() && top.probability < MIN_GUESS {
            return None;
        }
        Some(LeadsTo {
            kind: kind(&top.effect),
            name: name.map(|(name, _)| name.name.clone()),
            state: name.and_then(|(name, _)| name.state.clone()),
            dialog: name.is_some_and(|(_, dialog)| *dialog),
            probability: rounded(self.stated(top)),
            guess: self.prediction.is_guess(),
        })
    }
}

impl Predicted {
    /// Returns what to expect of an action.
    pub(in crate::app) fn of(&self, action: &Action) -> Option<&Named> {
        self.by_action.get(&target::action_key(action))
    }

    /// Returns what to expect of a tap on a ref, by its index.
    pub(in crate::app) fn of_tap(&self, index: usize) -> Option<&Named> {
        self.by_action.get(self.taps.get(index)?)
    }

    /// Returns the most likely outcome of a tap on a ref, by its index.
    pub(in crate::app) fn leads_to(&self, index: usize) -> Option<LeadsTo> {
        self.of_tap(index)?.leads_to()
    }
}

/// Returns the action of a verb on a target.
fn touch(verb: Verb, target: Target) -> Action {
    let slots = if verb == Verb::Fill { vec!["text".to_owned()] } else { Vec::new() };
    Action { target: Some(Target { name: None, ..target }), slots, ..Action::of(verb) }
}

/// Names the pages of a prediction.
fn named(connection: &Connection, names: &Names, action: Action, prediction: Prediction) -> Stored<Named> {
    let mut found = Vec::with_capacity(prediction.likely.len());
    for one in &prediction.likely {
        found.push(match &one.effect {
            Effect::Page(destination) => name_of(connection, names, destination)?,
            _ => None,
        });
    }
    Ok(Named { action, prediction, names: found })
}

/// Returns the name of a page, and whether it is a dialog.
fn name_of(connection: &Connection, names: &Names, destination: &Destination) -> Stored<Option<(PageName, bool)>> {
    let page = match destination.page {
        Some(id) => pages::get(connection, id)?,
        None => None,
    };
    Ok(match page {
        Some(page) => Some((names.of(connection, &page)?, page.dialog)),
        None => None,
    })
}

/// Returns the keys of all structures of the state of a page.
fn structures_of(connection: &Connection, place: &Place) -> Stored<Vec<String>> {
    match &place.structure {
        Some(key) => states::structures_of_same_state(connection, key),
        None => Ok(Vec::new()),
    }
}

/// Predicts actions on a page and, with `all`, those that were performed there before.
fn at(
    connection: &Connection,
    history: &History,
    place: Place,
    (actions, all): (&[Action], bool),
) -> Stored<Predicted> {
    let structures = structures_of(connection, &place)?;
    let before = prediction::page_before(connection, history, &structures)?;
    let names = Names::default();
    let before_name = match &before {
        Some(before) => name_of(connection, &names, before)?,
        None => None,
    };
    let (app, activity) = (place.app.unwrap_or_default(), place.activity.unwrap_or_default());
    let in_tab = history.tab_of.is_some();
    let origin = Origin { structures, app, activity, dialog: place.dialog, before, in_tab };
    let found = prediction::of_actions(connection, &origin, actions, (all, now_ms()))?;
    let mut by_action = HashMap::with_capacity(found.len());
    for (key, (action, prediction)) in found {
        by_action.insert(key, named(connection, &names, action, prediction)?);
    }
    Ok(Predicted { by_action, taps: Vec::new(), before: before_name.map(|(name, _)| name.name) })
}

impl Call {
    /// Returns what to expect of the actions on the page of a capture: of a tap on each ref, of Back, and of all actions that
    /// were performed there. Returns nothing for an unreliable capture, or if the database cannot be read.
    pub(in crate::app) async fn predicted(&self, capture: &ScreenCapture) -> Predicted {
        self.predicted_verb(capture, Verb::Tap, false).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot predict");
            Predicted::default()
        })
    }

    /// Returns what is known of the actions that may lead on from the page of a capture: of a tap on each ref, of Back, of
    /// launching apps, and of all actions that were performed there. The latest outcomes are included.
    pub(in crate::app) async fn ways(&self, capture: &ScreenCapture) -> Vec<(Action, Prediction)> {
        let predicted = self.predicted_verbs(capture, &[Verb::Tap, Verb::Launch], true).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot predict");
            Predicted::default()
        });
        predicted.by_action.into_values().map(|named| (named.action, named.prediction)).collect()
    }

    /// Returns whose events lead to the page in front: the device's, or those of the session in its tab.
    fn history(&self) -> History {
        let has_tabs = self.device().check_tabs().is_ok();
        let tab_of = has_tabs.then_some(self.session_id);
        History { store: self.origin().store, device: self.device_id, tab_of }
    }

    /// Predicts a verb on the page of a capture. With `latest`, waits for what is still being written.
    async fn predicted_verb(&self, capture: &ScreenCapture, verb: Verb, latest: bool) -> Stored<Predicted> {
        self.predicted_verbs(capture, &[verb], latest).await
    }

    /// Predicts verbs on the page of a capture; at most one of them may have targets.
    async fn predicted_verbs(&self, capture: &ScreenCapture, verbs: &[Verb], latest: bool) -> Stored<Predicted> {
        let Some(structures) = capture.structures().filter(|_| capture.reliable()).cloned() else {
            return Ok(Predicted::default());
        };
        // Loads the known states of the app or site, by which the structure is recognised.
        self.recognised(&structures.front).await;
        let key = self.structure_key(&structures.front);
        let place = capture.place();
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        let touched = [Verb::Tap, Verb::LongPress, Verb::DoubleTap, Verb::Hover, Verb::Fill];
        let (with_target, without): (Vec<Verb>, Vec<Verb>) = verbs.iter().partition(|verb| touched.contains(verb));
        let nodes: Vec<usize> = refs.iter().take(MAX_REFS).map(|r| r.node).collect();
        let touches: Vec<Action> = match with_target.first() {
            Some(verb) => over_nodes(snapshot.nodes.len(), || {
                target::describe_each(snapshot, &nodes).into_iter().map(|target| touch(*verb, target)).collect()
            }),
            None => Vec::new(),
        };
        let (history, place) = (self.history(), Place { structure: Some(key), ..place });
        let read = move |connection: &Connection| {
            let mut actions = touches.clone();
            actions.push(Action::of(Verb::Back));
            for verb in &without {
                let app = place.app.as_deref().unwrap_or_default();
                actions.extend(prediction::without_target(connection, app, *verb)?);
            }
            let taps = touches.iter().map(target::action_key).collect();
            Ok(Predicted { taps, ..at(connection, &history, place, (&actions, true))? })
        };
        if latest { self.core.store.read_all(read).await } else { self.core.store.read(read).await }
    }

    /// Returns what is known of an action on a page, before it is performed. With `latest`, waits for what is still being written.
    pub(in crate::app) async fn expectation(&self, action: &Action, page: &Place, latest: bool) -> Expectation {
        let (place, action, verb) = (page.clone(), action.clone(), action.verb);
        let (history, key) = (self.history(), target::action_key(&action));
        let read = move |c: &Connection| {
            let structures = structures_of(c, &place)?;
            let attempts = prediction::attempts_here(c, &structures, &action, now_ms())?;
            let warning = never_worked(&action, &attempts);
            let mut predicted = at(c, &history, place, (&[action], false))?;
            Ok(Expectation { named: predicted.by_action.remove(&key), mean_ms: attempts.mean_ms, warning })
        };
        if page.structure.is_none() || !target::depends_on_page(verb) {
            return Expectation::default();
        }
        let known = if latest { self.core.store.read_all(read).await } else { self.core.store.read(read).await };
        known.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot predict an action");
            Expectation::default()
        })
    }
}

/// Least weight of the attempts without effect after which an action is warned of, so that old ones count no more.
const MIN_IN_VAIN: f64 = 1.5;

/// Returns a warning of an action that did nothing visible, or failed, each time it was tried on the page. Scrolling does
/// nothing at the end, and typing shows nothing; both may do something the next time, so for them only failures count.
fn never_worked(action: &Action, attempts: &AttemptsHere) -> Option<String> {
    let shows =
        matches!(action.verb, Verb::Tap | Verb::LongPress | Verb::DoubleTap) && !target::has_hidden_effect(action);
    let is_in_vain = attempts.worked == 0.0 && (shows || attempts.nothing == 0.0);
    if !is_in_vain || attempts.nothing + attempts.failed < MIN_IN_VAIN {
        return None;
    }
    let what = match (attempts.nothing > 0.0, attempts.failed > 0.0) {
        (true, false) => "changed nothing visible",
        (false, _) => "failed",
        (true, true) => "changed nothing visible or failed",
    };
    Some(format!("this {what} each of the {} times it was tried on this page", attempts.in_vain))
}

/// Implements `memory.predict`.
///
/// # Errors
/// `NOT_FOUND` if nothing has been observed on the device since the daemon started. An error is also returned if the database
/// cannot be read.
pub async fn predict(core: &Arc<Core>, params: &PredictParams) -> Result<Reply<Predictions>> {
    let call = core.call(params).await?;
    let newest = call.newest_capture()?;
    let capture = &newest.capture;
    let verb = params.verb.unwrap_or(Verb::Tap);
    let mut predicted = call.predicted_verb(capture, verb, true).await?;
    let shown = core.experience.views.shown(call.session_id, call.device_id);
    let shown = shown.filter(|shown| shown.observation == capture.uid);
    let is_worth = |named: &Named| !named.prediction.is_guess() || named.probability() >= MIN_PREDICTED;
    let alias =
        |index: usize| shown.is_some().then(|| capture.has_alias(index).then(|| capture.alias(index))).flatten();
    let mut predictions = Vec::new();
    for (index, key) in std::mem::take(&mut predicted.taps).iter().enumerate() {
        let named = predicted.by_action.remove(key).filter(is_worth);
        predictions.extend(named.map(|named| to_wire(named, alias(index))));
    }
    // Elements that are out of sight cannot be acted on here, and guesses that are mostly wrong are noise.
    let asked = |named: &Named| match params.verb {
        Some(verb) => named.action.verb == verb,
        None => target::depends_on_page(named.action.verb),
    };
    let in_reach = |named: &Named| match &named.action.target {
        Some(wanted) => target::is_in_sight(capture.snapshot(), wanted),
        None => named.action.point.is_none(),
    };
    let mut rest: Vec<Named> =
        predicted.by_action.into_values().filter(|named| asked(named) && is_worth(named) && in_reach(named)).collect();
    rest.sort_by_cached_key(|named| (named.action.target.is_none(), target::action_key(&named.action)));
    predictions.extend(rest.into_iter().map(|named| to_wire(named, None)));
    predictions.truncate(params.limit() as usize);
    let mut page = capture.context().page;
    page.state = call.state_of(capture.structures().filter(|_| capture.reliable())).await;
    Ok(call.reply(Predictions { observation_id: capture.uid.clone(), page, before: predicted.before, predictions }))
}

/// Converts a prediction to its wire type.
fn to_wire(named: Named, alias: Option<String>) -> PredictedAction {
    let outcome = |(one, name): (&Likely, &Option<(PageName, bool)>)| LikelyOutcome {
        kind: kind(&one.effect),
        name: name.as_ref().map(|(name, _)| name.name.clone()),
        state: name.as_ref().and_then(|(name, _)| name.state.clone()),
        dialog: name.as_ref().is_some_and(|(_, dialog)| *dialog),
        probability: rounded(one.probability),
    };
    PredictedAction {
        text: target::sentence(&named.action),
        alias,
        from: match named.prediction.level {
            Level::State => PredictedFrom::Page,
            Level::Activity => PredictedFrom::Activity,
            Level::App => PredictedFrom::App,
            Level::Row => PredictedFrom::Rows,
            Level::Role => PredictedFrom::Role,
        },
        attempts: named.prediction.attempts,
        guess: named.prediction.is_guess(),
        outcomes: named.prediction.likely.iter().zip(&named.names).map(outcome).collect(),
        unknown: rounded(named.prediction.unknown()),
        action: named.action,
    }
}
