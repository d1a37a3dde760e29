//! `act.undo`: undoes the last action of a session where it is known how.
//!
//! An action that opened another page is undone by the action that most likely opens the page before: one that led there
//! from here, or Back. A touch that changed a switch is undone by another one. Nothing else is: what a text or a risky action
//! replaced is not known. Scrolls are passed over. The page is checked afterwards.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use afd_proto::act::ActCall;
use afd_proto::memory::{EventStatus, OutcomeKind};
use afd_proto::undo::{ActUndo, ActUndoParams, ActUndoResult};
use afd_proto::vocabulary::{Action, Reply, Role, Target, Verb};
use afd_proto::{ErrorCode, Method};
use serde::Serialize;
use serde_json::{Value, json};

use super::described::{self, DescribedTarget};
use super::keyed::{Key, Progress, run_once};
use super::leased::Leased;
use super::plan::Plan;
use super::target_spec::TargetSpec;
use super::then::{PATIENCE, patience};
use super::touching;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::state_ref;
use crate::app::{Call, Core, Error, Result, scope};
use afd_device::Input;
use afd_experience::memory::events;
use afd_experience::memory::pages::Page;
use afd_experience::memory::undo::{self, Done, Last};
use afd_experience::prediction::{Effect, Prediction};
use afd_experience::visual::states;
use afd_screen::page::outline::quoted;
use afd_screen::page::{element_state, target};

/// Least probability with which an action must lead back to be taken.
const MIN_PROBABILITY: f64 = 0.6;
/// Maximum length of a page's name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// How an action is undone.
enum Way {
    /// Everything is as it was before.
    Done,
    /// By an action that leads back with a probability.
    Act(Box<Plan>, Option<f64>),
}

/// What must be the case afterwards.
enum Goal {
    /// One of these structures is in front.
    Page(HashSet<String>, String),
    /// The element is on or off, in this activity.
    State(Target, bool, String),
}

/// The uid of an action's event.
#[derive(Serialize)]
struct StepEvent(String);

impl Progress for ActUndoResult {
    fn without_page(self) -> Self {
        Self { look: None, ..self }
    }

    fn interrupted(self) -> Self {
        self
    }

    fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

/// Implements `act.undo`.
///
/// # Errors
/// `NOT_FOUND` if the session has done nothing that can be undone or if it is not known how, `CONFLICT` if another session
/// acted since or if another page is in front.
pub async fn undo(core: &Arc<Core>, params: ActUndoParams) -> Result<Reply<ActUndoResult>> {
    let addressed = core.addressed(&params)?;
    let key = Key::of(core, ActUndo::INFO.name, &params, params.request_key.as_deref())?;
    let running = core.runtime.enter();
    let task = scope::spawn(async move {
        let _running = running;
        let call = addressed.open().await?;
        let result = run_once(&call, key, async |_| run(&call, &params).await).await?;
        Ok(call.reply(result))
    });
    match task.await {
        Ok(done) => done,
        Err(failed) => Err(Error::new(ErrorCode::Internal, format!("the undo was aborted: {failed}"))
            .hint("internal error; `afctl events` shows whether an action was sent")),
    }
}

async fn run(call: &Call, params: &ActUndoParams) -> Result<ActUndoResult> {
    let started = Instant::now();
    let _leased = Leased::take(call)?;
    // What is known is read before the page, because a look may change where the last action led.
    let mut done = call.last_done().await?;
    let capture = call.settled_page().await?;
    if done.outcome.is_none() {
        done = call.last_done().await?;
    }
    let goal = call.goal_of(&capture, &done).await?;
    let way = call.way_back(&capture, &done, &goal).await?;
    let mut result = offer(&done, &goal, &way);
    let (mut capture, mut unread) = (capture, None);
    if let (Way::Act(plan, _), false) = (way, params.dry_run) {
        let ticket = call.device().queue()?;
        let plan = Plan { decided_at: Some(capture.reading.inputs), ..*plan };
        let (event, sent) = call.perform_once(plan, None, ticket, |done| StepEvent(done.event)).await?;
        result.event_id = Some(event.0.clone());
        // From here on the action was sent, so no error is returned.
        match call.page_after(&sent, patience(None, PATIENCE), None).await {
            Ok(page) => {
                result.undone = call.is_reached(&goal, &page).await;
                capture = page;
            }
            Err(error) => unread = Some(error.message),
        }
        if result.undone {
            let (uid, undoes) = (event.0, json!(done.uid).to_string());
            let noted = call.core.store.write(move |c| events::add_evidence(c, &uid, undo::UNDOES, &undoes)).await;
            noted.unwrap_or_else(|error| tracing::warn!(%error, "cannot record which action was undone"));
        }
    }
    if let Some(state) = call.state_in_front(&capture).await {
        let found = call.core.store.read(move |c| states::get(c, state)).await;
        result.at = found.ok().flatten().map(|state| state_ref(&state));
    }
    let is_read = unread.is_none();
    result.text = match unread {
        Some(why) => format!("undo of {} was sent, but the page cannot be read: {why}", result.undid),
        None => sentence(&result, &goal, params.dry_run),
    };
    result.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    if let Some(then) = params.then().filter(|_| is_read) {
        result.look = Some(call.look_at_end(capture, then, result.duration_ms).await);
    }
    Ok(result)
}

/// Returns the result before anything is sent.
fn offer(done: &Done, goal: &Goal, way: &Way) -> ActUndoResult {
    let (action, probability) = match way {
        Way::Done => (None, None),
        Way::Act(plan, probability) => (Some(plan.sentence()), *probability),
    };
    ActUndoResult {
        undone: matches!(way, Way::Done),
        text: String::new(),
        undoes: done.uid.clone(),
        undid: target::sentence(&done.action),
        may_remain: matches!(goal, Goal::Page(..)) && !only_opens(&done.action),
        action,
        probability: probability.map(|p: f64| (p * 1000.0).round() / 1000.0),
        event_id: None,
        at: None,
        duration_ms: 0,
        look: None,
        replayed: false,
    }
}

/// Returns whether an action does nothing but open a page.
fn only_opens(action: &Action) -> bool {
    match action.verb {
        Verb::Tap => action.target.as_ref().is_some_and(|target| target.role == Role::Row),
        verb => matches!(verb, Verb::Back | Verb::Home | Verb::Launch | Verb::Relaunch),
    }
}

fn sentence(result: &ActUndoResult, goal: &Goal, dry_run: bool) -> String {
    let undid = &result.undid;
    let rest = if result.may_remain { "; what else it did is not known and not undone" } else { "" };
    let page = match goal {
        Goal::Page(_, name) => format!(": {} is in front again", quoted(name, MAX_NAME)),
        Goal::State(_, on, _) => format!(": it is {} again", if *on { "on" } else { "off" }),
    };
    match (&result.action, result.undone) {
        (None, _) => format!("nothing to do to undo {undid}{page}{rest}"),
        (Some(action), _) if dry_run => format!("{undid} would be undone by {action}{rest}"),
        (Some(action), true) => format!("undid {undid} by {action}{page}{rest}"),
        (Some(action), false) => {
            let at = result.at.as_ref().map_or("another page".to_owned(), |at| quoted(&at.name, MAX_NAME));
            format!("{action} did not undo {undid}: it led to {at}")
        }
    }
}

/// Returns the error for an action that cannot be undone.
fn unknown(action: &Action, why: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("it is not known how to undo {}: {why}", target::sentence(action)))
        .hint("look at the page, and act as a person would")
}

/// Returns the error for a page on which the action cannot be undone.
fn elsewhere(done: &Done) -> Error {
    Error::new(ErrorCode::Conflict, "another page is in front than the one to which the action led")
        .hint("look at the page, then decide again")
        .details(json!({"undoes": done.uid}))
}

/// Returns whether an action touched an element of a page, and so opened the page above that one.
fn opened_by_touch(done: &Done) -> bool {
    matches!(done.action.verb, Verb::Tap | Verb::LongPress | Verb::DoubleTap)
        && done.before.as_ref().is_some_and(|page| !page.dialog)
}

/// Returns whether an action touched a switch whose page stayed and looks different now: it may show a message, or the
/// settings that depend on the switch. It may also open a page of the same activity, so it must have changed.
fn switched_on_page(capture: &ScreenCapture, done: &Done, (target, on): (&Target, bool)) -> bool {
    let place = |page: &Option<Page>| page.as_ref().filter(|page| !page.dialog).map(|page| page.activity.clone());
    if place(&done.before).is_none() || place(&done.before) != place(&done.after) {
        return false;
    }
    let index = target::locate(capture.snapshot(), capture.refs(), target).filter(|_| capture.reliable());
    let now = index.and_then(|index| element_state::is_on(capture.snapshot(), capture.refs()[index].node));
    now == Some(!on)
}

/// Returns the name of a page for a sentence.
fn name_of(page: &Page) -> String {
    page.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| page.activity.clone())
}

impl Call {
    /// Returns the last action of the session, if it can be undone at all.
    async fn last_done(&self) -> Result<Done> {
        let origin = self.origin();
        let done = match self.core.store.read_all(move |c| undo::last_done(c, &origin)).await? {
            Last::Own(done) => *done,
            Last::Other => {
                return Err(Error::new(ErrorCode::Conflict, "the newest action on the device is another session's")
                    .hint("only the newest action on a device can be undone"));
            }
            Last::Nothing => {
                return Err(Error::new(ErrorCode::NotFound, "this session has done nothing that could be undone")
                    .hint("`afctl events` shows what was done"));
            }
        };
        if done.status != EventStatus::Ok {
            return Err(unknown(&done.action, "it failed, so its effect is not known"));
        }
        let was_risky = done.evidence.get("risky").and_then(Value::as_bool).unwrap_or_default()
            || done.action.target.as_ref().is_some_and(|target| self.core.risk_rules().is_risky_target(target));
        if was_risky {
            return Err(unknown(&done.action, "it is marked as risky, and leaving its page does not take it back"));
        }
        Ok(done)
    }

    /// Returns whether an action in a browser left its address as it was: it showed a message, a menu or a dialog, which Back
    /// would not take away. It would leave the page, and what was typed there.
    fn stayed_in_document(&self, done: &Done) -> bool {
        let place = |page: &Option<Page>| page.as_ref().map(|page| page.activity.clone());
        let is_touch = !matches!(done.action.verb, Verb::Back | Verb::Launch);
        is_touch && self.device().check_tabs().is_ok() && place(&done.before) == place(&done.after)
    }

    /// Returns what must be the case after an action is undone. `capture` is the page in front.
    async fn goal_of(&self, capture: &ScreenCapture, done: &Done) -> Result<Goal> {
        let action = &done.action;
        let class = action.target.as_ref().and_then(|target| target.class.as_deref()).unwrap_or_default();
        if class.to_lowercase().contains("radio") {
            return Err(unknown(
                action,
                "another choice must be made instead, and which one was made before is not stored",
            ));
        }
        if let (Some(on), Some(target), Verb::Tap) =
            (done.evidence.get("on").and_then(Value::as_bool), &action.target, action.verb)
            && (!matches!(done.outcome, Some(OutcomeKind::Page)) || switched_on_page(capture, done, (target, on)))
        {
            let activity = done.before.as_ref().map(|page| page.activity.clone()).unwrap_or_default();
            return Ok(Goal::State(target.clone(), on, activity));
        }
        if self.stayed_in_document(done) {
            return Err(unknown(action, "it changed its page in a way that is not known"));
        }
        match (action.verb, done.outcome) {
            (Verb::Text | Verb::Fill | Verb::Upload, _) => {
                return Err(unknown(action, "what was in the field before is not stored"));
            }
            (Verb::Key | Verb::PageTool | Verb::Shell | Verb::Intent, _) => {
                return Err(unknown(action, "what it does is not known"));
            }
            (Verb::Swipe | Verb::Drag, _) => {
                return Err(unknown(action, "swiping and dragging are not undone"));
            }
            (_, Some(OutcomeKind::Page)) => {}
            (_, Some(_)) => return Err(unknown(action, "it changed its page in a way that is not known")),
            (_, None) => return Err(unknown(action, "where it led is not known")),
        }
        let Some(before) = done.before.as_ref().filter(|page| !page.structure.is_empty()) else {
            return Err(unknown(action, "the page before it is not known"));
        };
        let key = before.structure.clone();
        let keys = self.core.store.read_all(move |c| states::structures_of_same_state(c, &key)).await?;
        Ok(Goal::Page(keys.into_iter().collect(), name_of(before)))
    }

    /// Returns how to reach a goal from the page in front.
    async fn way_back(&self, capture: &ScreenCapture, done: &Done, goal: &Goal) -> Result<Way> {
        if !capture.reliable() {
            return Err(Error::new(
                ErrorCode::DeviceError,
                capture.doubt.unwrap_or("the screen cannot be read reliably"),
            )
            .hint("try again"));
        }
        if let Goal::State(_, _, activity) = goal
            && capture.place().activity.unwrap_or_default() != *activity
        {
            return Err(elsewhere(done));
        }
        if self.is_reached(goal, capture).await {
            return Ok(Way::Done);
        }
        match goal {
            Goal::State(wanted, ..) => {
                let (snapshot, refs) = (capture.snapshot(), capture.refs());
                let index = target::locate(snapshot, refs, wanted)
                    .ok_or_else(|| unknown(&done.action, "the element is not in sight"))?;
                if element_state::is_on(snapshot, refs[index].node).is_none() {
                    return Err(unknown(&done.action, "the screen does not say whether the element is on"));
                }
                let target = target::describe(snapshot, refs[index].node);
                let page = capture.place();
                let described = DescribedTarget { target, page, unless_risky: Some(self.core.risk_rules()) };
                let plan = Plan::touch(Verb::Tap, TargetSpec::Described(Box::new(described)), 500);
                Ok(Way::Act(Box::new(plan), None))
            }
            Goal::Page(keys, _) => self.page_back(capture, done, keys).await,
        }
    }

    /// Returns the action that most likely opens one of the structures.
    async fn page_back(&self, capture: &ScreenCapture, done: &Done, keys: &HashSet<String>) -> Result<Way> {
        let front = self.structure_in_front(capture);
        let after = done.after.as_ref().map(|page| page.structure.clone()).filter(|key| !key.is_empty());
        let led_here = match (after, front) {
            (Some(after), Some(front)) => {
                let same = self.core.store.read_all(move |c| states::structures_of_same_state(c, &after)).await?;
                same.contains(&front)
            }
            _ => false,
        };
        if !led_here {
            return Err(elsewhere(done));
        }
        let leads_back = |prediction: &Prediction| -> f64 {
            let is_back =
                |effect: &Effect| matches!(effect, Effect::Page(to) if keys.iter().any(|key| to.has_key(key)));
            prediction.likely.iter().filter(|one| is_back(&one.effect)).map(|one| one.probability).sum()
        };
        let ways = self.ways(capture).await;
        let rated = || ways.iter().map(|(action, prediction)| (action, prediction, leads_back(prediction)));
        let back = rated().find(|(action, ..)| action.verb == Verb::Back);
        let press = |probability| Way::Act(Box::new(Plan::single(Verb::Back, Input::Back)), probability);
        match back {
            Some((.., probability)) if probability >= MIN_PROBABILITY => return Ok(press(Some(probability))),
            Some((_, prediction, _)) if !prediction.is_guess() => {}
            // Back usually returns to the page on which an element was touched, and it is checked.
            _ if opened_by_touch(done) => return Ok(press(None)),
            _ => {}
        }
        // A button that leads back may save something, so only rows and links are touched.
        let rules = self.core.risk_rules();
        let touch = |action: &Action| {
            let wanted = action.target.as_ref().filter(|_| action.verb == Verb::Tap)?;
            let index = target::locate(capture.snapshot(), capture.refs(), wanted)?;
            let leads_on = described::leads_on(&capture.snapshot().nodes[capture.refs()[index].node]);
            leads_on.then(|| touching::touch(capture, Verb::Tap, wanted, Some(&rules))).flatten()
        };
        let mut known: Vec<(&Action, f64)> = rated()
            .filter(|(_, prediction, probability)| !prediction.is_guess() && *probability >= MIN_PROBABILITY)
            .map(|(action, _, probability)| (action, probability))
            .collect();
        known.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let way = known.into_iter().find_map(|(action, probability)| Some((touch(action)?, probability)));
        let (plan, probability) =
            way.ok_or_else(|| unknown(&done.action, "nothing known leads back from here reliably enough"))?;
        Ok(Way::Act(Box::new(plan), Some(probability)))
    }

    fn structure_in_front(&self, capture: &ScreenCapture) -> Option<String> {
        let structures = capture.structures().filter(|_| capture.reliable())?;
        Some(self.structure_key(&structures.front))
    }

    async fn is_reached(&self, goal: &Goal, capture: &ScreenCapture) -> bool {
        match goal {
            Goal::Page(keys, _) => {
                // Loads the known states, by which the structure is recognised.
                self.state_in_front(capture).await;
                self.structure_in_front(capture).is_some_and(|front| keys.contains(&front))
            }
            Goal::State(wanted, on, _) => {
                let (snapshot, refs) = (capture.snapshot(), capture.refs());
                let index = target::locate(snapshot, refs, wanted).filter(|_| capture.reliable());
                index.and_then(|index| element_state::is_on(snapshot, refs[index].node)) == Some(*on)
            }
        }
    }
}
