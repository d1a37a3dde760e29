//! The trouble: what failed, and how the screen shows that it is over.

use afd_proto::memory::Category;
use afd_proto::vocabulary::{By, Role, Target};
use afd_proto::{ErrorCode, Word};
use serde_json::Value;

use crate::app::Call;
use crate::app::act::failing::is_about_page;
use crate::app::act::target_spec::TargetSpec;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::graph::scope_in_front;
use afd_experience::memory::Place;
use afd_experience::memory::failures::Failure;
use afd_screen::page::outline::quoted;
use afd_screen::page::pattern;
use afd_screen::page::select::{self, Gesture};
use afd_screen::page::{target, touch};

/// Maximum length of a name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// How the screen shows that the trouble is over.
#[derive(Debug, Clone)]
enum Sign {
    /// The target of the failed action can be touched, given by one of its properties.
    Named(TargetSpec, Gesture),
    /// The same, given by a full description.
    Element(Target),
    /// The text of the failed check is in sight.
    Text(String),
    /// The expected app is in front, and nothing covers its page.
    Clear,
}

/// What failed, and what should be in front.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    /// Error code of the failure; `None` if nothing failed.
    pub cause: Option<String>,
    /// Uid of the failure's event.
    pub event: Option<String>,
    sign: Sign,
    /// Package of the app, or name of the site, that should be in front; `None` if it is not known.
    pub app: Option<String>,
    /// Key of the page that should be in front; `None` if it is not known.
    pub page_key: Option<String>,
    /// Key of the dialog that the session expects in front.
    own_dialog: Option<String>,
    /// Structure of the page on which it failed.
    structure: Option<String>,
}

impl Trouble {
    /// Describes a failure. `app` is the app that should be in front according to the caller, `seen` the page that the
    /// session expects to be in front, `front` the key of the page that is taken for it
    /// otherwise.
    pub fn of(failure: Option<&Failure>, app: Option<String>, seen: Option<Place>, front: Option<String>) -> Self {
        let page = failure.and_then(|failure| failure.page.as_ref());
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let seen = seen.unwrap_or_default();
        let before = failure.and_then(|failure| failure.app.clone());
        Self {
            cause: failure.map(|failure| failure.cause.clone()),
            event: failure.map(|failure| failure.uid.clone()),
            // A caller who names an app wants that one.
            sign: failure.filter(|_| app.is_none()).map_or(Sign::Clear, sign_of),
            app: app.or(seen.app).or(before).or_else(|| page.and_then(|page| some(&page.app))),
            own_dialog: seen.page_key.clone().filter(|_| seen.dialog),
            page_key: seen.page_key.or(front),
            structure: page.and_then(|page| some(&page.structure)),
        }
    }

    /// Returns whether the screen shows that the trouble is over.
    pub fn is_over(&self, call: &Call, capture: &ScreenCapture) -> bool {
        // Another app may have an element with the same name.
        if !capture.reliable() || !self.is_app_in_front(capture) {
            return false;
        }
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        match &self.sign {
            Sign::Named(spec, gesture) => call.find_target(spec, capture, *gesture).is_ok(),
            Sign::Element(wanted) => target::locate(snapshot, refs, wanted)
                .is_some_and(|index| touch::touch(snapshot, refs[index].node, None).is_ok()),
            Sign::Text(text) => !select::containing(snapshot, text, false).is_empty(),
            Sign::Clear => !self.is_covered(capture),
        }
    }

    /// Returns whether the app that should be in front is.
    pub fn is_app_in_front(&self, capture: &ScreenCapture) -> bool {
        let Some(wanted) = &self.app else { return capture.reliable() };
        let front = scope_in_front(capture);
        let name = pattern::origin(wanted);
        front.is_some_and(|front| {
            front.app == *wanted || front.site.is_some_and(|site| site == *wanted || name.contains(&site))
        })
    }

    /// Returns whether a dialog is in front that is in the way.
    pub fn is_covered(&self, capture: &ScreenCapture) -> bool {
        let Some(structures) = capture.structures().filter(|structures| structures.front.dialog) else { return false };
        // An action that failed on a dialog for another reason than its target may be repeated there.
        let failed_here = matches!(self.sign, Sign::Clear) && self.structure == Some(structures.front.key());
        !failed_here && (self.own_dialog.is_none() || capture.place().page_key != self.own_dialog)
    }

    /// Returns whether the page that should be in front is.
    pub fn is_page_in_front(&self, capture: &ScreenCapture) -> bool {
        self.page_key.is_none() || capture.place().page_key == self.page_key
    }

    /// Returns how the screen shows that the trouble is over, in words.
    pub fn sign(&self, call: &Call) -> String {
        let named = |name: &str| match call.core.experience.secrets.was_typed(name) {
            true => "the typed text".to_owned(),
            false => quoted(name, MAX_NAME),
        };
        match &self.sign {
            Sign::Named(TargetSpec::Node { value, .. }, _) => format!("{} can be used", named(value)),
            Sign::Element(wanted) => {
                format!("{} can be used", target::title(wanted).map_or_else(|| "the element".to_owned(), named))
            }
            Sign::Text(text) => format!("{} is in sight", named(text)),
            Sign::Named(..) | Sign::Clear => match &self.app {
                Some(app) => format!("{} is in front, and nothing covers it", quoted(app, MAX_NAME)),
                None => "nothing covers the page in front".to_owned(),
            },
        }
    }
}

/// Returns how the screen shows that a failure is over.
fn sign_of(failure: &Failure) -> Sign {
    let text = |name: &str| failure.evidence.get(name).and_then(Value::as_str).map(str::to_owned);
    if failure.category == Category::Verify {
        // What other checks expect cannot be read from their record.
        let expected = text("expected").filter(|_| failure.op == "textContains");
        return expected.map_or(Sign::Clear, Sign::Text);
    }
    let action = failure.action.as_ref();
    let is_about_target = ErrorCode::from_name(&failure.cause).is_some_and(is_about_page);
    if !is_about_target {
        return Sign::Clear;
    }
    let wanted = failure.evidence.get("wanted");
    let of = |name: &str| wanted.and_then(|wanted| wanted.get(name)).and_then(Value::as_str);
    let gesture = match action.map(|action| action.verb.word()) {
        Some("fill") => Gesture::Fill,
        Some("longPress" | "drag") => Gesture::Press,
        _ => Gesture::Tap,
    };
    match (of("by").and_then(By::of), of("value")) {
        (Some(by), Some(value)) if by != By::Ref => {
            let exact = wanted.and_then(|wanted| wanted.get("exactMatch")).and_then(Value::as_bool).unwrap_or_default();
            let partial = wanted.and_then(|wanted| wanted.get("partial")).and_then(Value::as_bool).unwrap_or_default();
            Sign::Named(TargetSpec::Node { by, value: value.to_owned(), exact, partial }, gesture)
        }
        _ => match action.and_then(|action| action.target.clone()).filter(|target| target.role != Role::Any) {
            Some(target) => Sign::Element(target),
            None => Sign::Clear,
        },
    }
}
