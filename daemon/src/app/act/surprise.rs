//! Compares the outcome of an action with what the memory expected.
//!
//! The outcome is *as expected* only if the most likely outcome was likely enough ([`MIN_EXPECTED`]) and came, without a
//! dialog over it and without a message about an error that the page did not show before. It is a *surprise* only if what came
//! had a low probability ([`MAX_SURPRISE`]). Everything between is neither. Nothing is claimed of a page that did not settle,
//! that cannot be read reliably, or on which another call acted.

use afd_proto::act::Look;
use afd_proto::events::Message;
use afd_proto::surprise::{Surprise, SurpriseKind, SurpriseNotice};

use crate::app::Call;
use crate::app::memory::predict::Named;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_experience::memory::{Place, events};
use afd_experience::prediction::{Destination, Effect};
use afd_experience::visual::states;
use afd_screen::page::error_text::error_text;
use afd_screen::page::folding::fold;
use afd_screen::page::mask;
use afd_screen::page::outline::quoted;
use afd_screen::page::structure::asks_for_password;
use afd_store::{now_ms, to_json};

/// Least probability of an outcome that is expected.
const MIN_EXPECTED: f64 = 0.6;
/// Greatest probability of an outcome that is a surprise.
const MAX_SURPRISE: f64 = 0.2;
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
        expected: Option<&Named>,
        (before, capture, now): (&Place, &ScreenCapture, Option<i64>),
        event: &str,
    ) {
        let Some(expected) = expected.filter(|named| !named.prediction.is_guess()) else { return };
        let Some(top) = expected.prediction.top().cloned() else { return };
        let likely = match top.effect {
            Effect::Page(_) | Effect::Before => top.probability,
            _ => expected.prediction.stays(),
        };
        if likely < MIN_EXPECTED || !capture.reliable() || !capture.settled || look.changed.is_none() {
            return;
        }
        let known = self.known_pages(&top.effect, before, now).await;
        let came = match (look.incidents.first(), came(&top.effect, &known, (before, capture), look.changed)) {
            (Some(incident), _) => Came { kind: SurpriseKind::Crash, name: Some(incident.app.clone()), effect: None },
            (None, Verdict::AsExpected) => {
                look.as_expected = Some(true);
                return;
            }
            (None, Verdict::Unclear) => return,
            (None, Verdict::Other(came)) => came,
        };
        let of_came = |one: &&afd_experience::prediction::Likely| Some(&one.effect) == came.effect.as_ref();
        let probability = expected.prediction.likely.iter().find(of_came).map_or(0.0, |one| one.probability);
        if probability >= MAX_SURPRISE {
            return;
        }
        look.as_expected = Some(false);
        let surprise = describe(came, expected, probability);
        look.surprise = Some(surprise.clone());
        self.tell(surprise, event).await;
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

/// Compares what is in front with the expected outcome.
fn came(
    expected: &Effect,
    known: &Known,
    (before, capture): (&Place, &ScreenCapture),
    changed: Option<bool>,
) -> Verdict {
    let place = capture.place();
    let other = |kind, name: Option<String>, effect| Verdict::Other(Came { kind, name, effect });
    let here = known.now.map(|state| Effect::Page(Destination::of_state(state)));
    let stays = matches!(expected, Effect::Nothing | Effect::Same);
    let is_expected = match expected {
        Effect::Page(destination) => known.now.is_some() && known.now == destination.state,
        _ => known.now.is_some() && known.now == known.before,
    };
    if place.dialog && !is_expected {
        return other(SurpriseKind::PopUp, place.title, here);
    }
    if changed == Some(false) {
        return match stays {
            true => Verdict::AsExpected,
            false => other(SurpriseKind::Nothing, None, Some(Effect::Nothing)),
        };
    }
    let is_known_text = |text: &str| known.texts.iter().any(|known| fold(known) == fold(text));
    if let Some(message) = error_text(capture.snapshot(), |text| !is_known_text(text)) {
        return other(SurpriseKind::Error, Some(message), None);
    }
    if is_expected {
        // A page of the same build with another title shows something else.
        let is_titled = |title: &String| place.title.as_ref().is_some_and(|now| is_same_title(title, now));
        let titled = stays || known.title.as_ref().is_none_or(is_titled);
        let quiet = matches!(expected, Effect::Nothing);
        return if titled && !quiet { Verdict::AsExpected } else { Verdict::Unclear };
    }
    if asks_for_password(capture.snapshot()) {
        return other(SurpriseKind::Login, place.title, here);
    }
    if place.app.is_some()
        && place.app != before.app
        && !known.place.starts_with(place.app.as_deref().unwrap_or_default())
    {
        return other(SurpriseKind::OtherApp, place.app, here);
    }
    match here {
        Some(here) => other(SurpriseKind::OtherPage, place.title, Some(here)),
        None => {
            let is_alike = !known.place.is_empty()
                && place.activity.as_deref() == Some(known.place.as_str())
                && known.title.is_some()
                && known.title == place.title;
            other(if is_alike { SurpriseKind::Changed } else { SurpriseKind::NewPage }, place.title, None)
        }
    }
}

/// Returns whether two titles are equal, apart from digits.
fn is_same_title(one: &str, other: &str) -> bool {
    fold(&mask::digits(one)) == fold(&mask::digits(other))
}

/// Describes a surprise in one sentence. Names come from the screen, so they are quoted.
fn describe(came: Came, expected: &Named, probability: f64) -> Surprise {
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
    let seen = match probability > 0.0 {
        true => format!(", probability {probability:.2}"),
        false => ", not seen here before".to_owned(),
    };
    Surprise {
        kind: came.kind,
        name: came.name,
        text: format!("{what}{seen}; expected {brief}"),
        expected: brief,
        probability: (probability * 1000.0).round() / 1000.0,
    }
}
