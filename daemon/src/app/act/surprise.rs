//! Compares the outcome of an action with what the memory expected.
//!
//! The outcome is *as expected* only if the most likely outcome was likely enough ([`MIN_EXPECTED`]) and came, without a
//! dialog over it and without a message about an error that is not among the page's known texts. It is a *surprise* only if what
//! came had a low probability ([`MAX_SURPRISE`]). Everything between is neither. Nothing is claimed of a page that did not settle,
//! that cannot be read reliably, or on which another call acted.

use afd_proto::events::Message;
use afd_proto::look::Look;
use afd_proto::surprise::{Surprise, SurpriseKind, SurpriseNotice};
use afd_proto::vocabulary::{Action, Verb};

use crate::app::Call;
use crate::app::act::execute::Performed;
use crate::app::memory::predict::Named;
use crate::app::observe::outline;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_base::text::cut;
use afd_experience::memory::{Place, events};
use afd_experience::prediction::{Destination, Effect, Likely};
use afd_experience::visual::states;
use afd_screen::page::error_text::error_text;
use afd_screen::page::folding::fold;
use afd_screen::page::outline::quoted;
use afd_screen::page::structure::asks_for_password;
use afd_screen::page::{mask, target};
use afd_store::{now_ms, to_json};

/// Least probability of an outcome that is expected.
pub(in crate::app) const MIN_EXPECTED: f64 = 0.6;
/// Greatest probability of an outcome that is a surprise.
pub(in crate::app) const MAX_SURPRISE: f64 = 0.2;
/// Maximum length of a name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// What came, as far as it can be compared with what was expected.
struct Came {
    kind: SurpriseKind,
    name: Option<String>,
    /// The same outcome among those that were predicted.
    effect: Option<Effect>,
}

/// What the memory knows of the pages before and after an action.
struct Known {
    /// Row id of the state before.
    before: Option<i64>,
    /// Row id of the state in front.
    now: Option<i64>,
    /// Title and texts of the expected page; empty if it is not known.
    title: Option<String>,
    texts: Vec<String>,
    /// Activity or address pattern of the expected page.
    place: String,
}

impl Call {
    /// Says in `look` whether the outcome of an action is as expected, and records and publishes a surprise. `now` is the row id
    /// of the state in front.
    pub(in crate::app) async fn judge(
        &self,
        look: &mut Look,
        done: &Performed,
        (capture, now): (&ScreenCapture, Option<i64>),
    ) {
        let (before, named) = (&done.before, done.expectation.as_ref().and_then(|known| known.named.as_ref()));
        let Some(expected) = named.filter(|named| !named.prediction.is_guess()) else { return };
        let Some(top) = expected.prediction.top().cloned() else { return };
        let likely = match top.effect {
            Effect::Page(_) | Effect::Before => top.probability,
            _ => expected.prediction.stays(),
        };
        if likely < MIN_EXPECTED || !capture.reliable() || !capture.settled || look.changed.is_none() {
            return;
        }
        let known = self.known_pages(&top.effect, before, now).await;
        let compared = Compared { expected, action: done.action.as_ref(), before, capture, look };
        let came = match compared.verdict(&top.effect, &known) {
            Verdict::AsExpected => {
                look.as_expected = Some(true);
                return;
            }
            Verdict::Unclear => return,
            Verdict::Other(came) => came,
        };
        // A crash of another app has nothing to do with the outcome.
        let is_own = |app: &String| Some(app) == before.app.as_ref() || Some(app) == capture.place().app.as_ref();
        let crashed = look.incidents.iter().map(|incident| &incident.app).find(|app| is_own(app));
        let came = match crashed {
            Some(app) => Came { kind: SurpriseKind::Crash, name: Some(app.clone()), effect: None },
            None => came,
        };
        let of_came = |one: &&Likely| Some(&one.effect) == came.effect.as_ref();
        let likely = expected.prediction.likely.iter().find(of_came);
        let probability = likely.map_or(expected.prediction.unknown(), |one| one.probability);
        if probability >= MAX_SURPRISE {
            return;
        }
        look.as_expected = Some(false);
        let is_new = likely.is_none();
        // A message on the screen may quote what was typed.
        let shown = came.name.filter(|name| !self.core.experience.secrets.reveals_typed(name));
        let name = shown.map(|name| cut::brief(&cut::one_line(&name), MAX_NAME));
        let surprise = describe(Came { name, ..came }, expected, (probability, is_new));
        look.surprise = Some(surprise.clone());
        self.tell(surprise, &done.event).await;
    }

    /// Records a surprise with its event, and tells subscribers.
    async fn tell(&self, surprise: Surprise, event: &str) {
        let (uid, recorded) = (event.to_owned(), to_json(&surprise));
        let write = self.core.store.write(move |c| events::add_evidence(c, &uid, "surprise", &recorded));
        if let Err(error) = write.await {
            tracing::warn!(%error, "cannot record a surprise");
        }
        self.core.live.publish(Message::Surprise(Box::new(SurpriseNotice {
            event_id: event.to_owned(),
            at: now_ms(),
            session: self.echo.session.clone(),
            device: self.echo.device.clone(),
            surprise,
        })));
    }

    /// Returns what is known of the pages before and after an action, and of the expected one.
    async fn known_pages(&self, expected: &Effect, before: &Place, now: Option<i64>) -> Known {
        let key = before.structure.clone();
        let wanted = match expected {
            Effect::Page(Destination { state, .. }) => *state,
            _ => None,
        };
        let stays = matches!(expected, Effect::Nothing | Effect::Same);
        let read = move |c: &afd_store::Connection| {
            let before = match key.as_deref() {
                Some(key) => states::by_structure(c, &[key])?.first().map(|(_, state)| *state),
                None => None,
            };
            let page = match if stays { before } else { wanted } {
                Some(state) => states::get(c, state)?,
                None => None,
            };
            Ok((before, page))
        };
        let found = self.core.store.read(read).await;
        let (before, page) = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot read the expected page");
            (None, None)
        });
        let (title, texts, place) = page.map(|page| (page.title, page.texts, page.place)).unwrap_or_default();
        Known { before, now, title, texts, place }
    }
}

/// How an outcome compares with the expected one.
enum Verdict {
    AsExpected,
    Unclear,
    Other(Came),
}

/// An outcome, and what was expected.
struct Compared<'a> {
    expected: &'a Named,
    action: Option<&'a Action>,
    before: &'a Place,
    capture: &'a ScreenCapture,
    look: &'a Look,
}

impl Compared<'_> {
    /// Returns whether the expected page is in front; `None` if that cannot be told, because it is not a known state.
    fn is_expected(&self, effect: &Effect, known: &Known) -> Option<bool> {
        let key = self.capture.place().structure;
        let (state, is_same_build) = match effect {
            Effect::Page(page) => (page.state, key.as_ref().is_some_and(|key| page.has_key(key))),
            _ => (known.before, key.is_some() && key == self.before.structure),
        };
        match (state, known.now) {
            (Some(state), now) => Some(now == Some(state)),
            (None, _) if is_same_build => Some(true),
            (None, _) => None,
        }
    }

    /// Compares what is in front with the expected outcome.
    fn verdict(&self, effect: &Effect, known: &Known) -> Verdict {
        let place = self.capture.place();
        let shown = || outline::title(self.capture).map(str::to_owned);
        let other = |kind, name: Option<String>, effect| Verdict::Other(Came { kind, name, effect });
        let here = known.now.map(|state| Effect::Page(Destination::of_state(state)));
        let Some(is_expected) = self.is_expected(effect, known) else { return Verdict::Unclear };
        if place.dialog && !is_expected {
            // A dialog that came with the page before is neither expected nor a surprise.
            let is_known = known.now.is_some_and(|now| self.expected.prediction.dialogs.contains(&now));
            return if is_known { Verdict::Unclear } else { other(SurpriseKind::PopUp, shown(), here) };
        }
        if self.look.changed == Some(false) {
            // Scrolling ends somewhere, and typing and the focus show nothing.
            let moves =
                |action: &Action| matches!(action.verb, Verb::Scroll | Verb::ScrollTo | Verb::Swipe | Verb::Drag);
            let is_hidden = self.action.is_some_and(|action| moves(action) || target::has_hidden_effect(action));
            return match effect {
                _ if is_hidden || self.look.keyboard.is_some() => Verdict::Unclear,
                Effect::Nothing => Verdict::AsExpected,
                _ => other(SurpriseKind::Nothing, None, Some(Effect::Nothing)),
            };
        }
        let is_known_text = |text: &str| known.texts.iter().any(|known| fold(known) == fold(text));
        let error = error_text(self.capture.snapshot(), |text| !is_known_text(text));
        if is_expected {
            // A page of the same build with another title shows something else, and a message about an error may be old.
            let stays = matches!(effect, Effect::Nothing | Effect::Same);
            let is_titled = |title: &String| place.title.as_ref().is_some_and(|now| is_same_title(title, now));
            let is_titled = stays || known.title.as_ref().is_none_or(is_titled);
            let is_sure = is_titled && error.is_none() && !matches!(effect, Effect::Nothing);
            return if is_sure { Verdict::AsExpected } else { Verdict::Unclear };
        }
        if let Some(message) = error {
            return other(SurpriseKind::Error, Some(message), here);
        }
        if asks_for_password(self.capture.snapshot()) {
            return other(SurpriseKind::Login, shown(), here);
        }
        let expected_app = known.place.split('/').next().filter(|app| !app.is_empty());
        if place.app.is_some() && place.app != self.before.app && place.app.as_deref() != expected_app {
            return other(SurpriseKind::OtherApp, place.app, here);
        }
        let is_alike = !known.place.is_empty()
            && place.activity.as_deref() == Some(known.place.as_str())
            && known.title.is_some()
            && known.title == place.title;
        match here {
            Some(here) => other(SurpriseKind::OtherPage, shown(), Some(here)),
            None if is_alike => other(SurpriseKind::Changed, shown(), None),
            None => other(SurpriseKind::NewPage, shown(), None),
        }
    }
}

/// Returns whether two titles are equal, apart from digits.
fn is_same_title(one: &str, other: &str) -> bool {
    fold(&mask::digits(one)) == fold(&mask::digits(other))
}

/// Describes a surprise in one sentence. Names come from the screen, so they are quoted.
fn describe(came: Came, expected: &Named, (probability, is_new): (f64, bool)) -> Surprise {
    let name = came.name.as_deref().map(|name| quoted(name, MAX_NAME));
    let named = |what: &str| name.as_ref().map_or_else(|| what.to_owned(), |name| format!("{what} {name}"));
    let what = match came.kind {
        SurpriseKind::PopUp => named("a dialog"),
        SurpriseKind::Login => named("a page that asks for a password:"),
        SurpriseKind::Error => named("an error:"),
        SurpriseKind::Nothing => "nothing changed".to_owned(),
        SurpriseKind::OtherPage => named("another page:"),
        SurpriseKind::NewPage => named("an unknown page:"),
        SurpriseKind::Changed => named("the page looks different than before:"),
        SurpriseKind::OtherApp => named("another app:"),
        SurpriseKind::Crash => named("a crash of"),
    };
    let brief = expected.brief();
    let seen = if is_new { ", not seen here before".to_owned() } else { format!(", probability {probability:.2}") };
    Surprise {
        kind: came.kind,
        name: came.name,
        text: format!("{what}{seen}; expected {brief}"),
        expected: brief,
        probability: (probability * 1000.0).round() / 1000.0,
    }
}
