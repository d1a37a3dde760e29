//! `memory.predict`: where actions on the page in front most likely lead.

use crate::memory::OutcomeKind;
use crate::vocabulary::{Action, PageRef, Reply, Verb};

words! {
    /// Where the nearest attempts were made from which an action is predicted.
    PredictedFrom {
        /// The same action on this page.
        Page = "page",
        /// The same element on another page of the activity or site.
        Activity = "activity",
        /// The same element in another activity of the app.
        App = "app",
        /// Equal rows of this page.
        Rows = "rows",
        /// Elements of the same role in the app.
        Role = "role",
    }
}

device_params! {
    /// Parameters of `memory.predict`.
    #[derive(Default)]
    pub struct PredictParams {
        /// Predict this verb on each element in sight, for example `longPress`; by default `tap`, and Back.
        pub verb: Option<Verb>,
        /// Maximum number of actions.
        pub limit: Option<u32> where 1..=1_000 = 200,
    }
}

wire! {
    /// The most likely outcome of tapping an element.
    pub struct LeadsTo {
        /// Whether another page opens (`page`), the content of this page changes (`same`), or nothing changes (`nothing`).
        pub kind: OutcomeKind,
        /// Name of the page that opens.
        pub name: Option<String>,
        /// Id of the state of that page, if it has one.
        pub state: Option<String>,
        /// Whether that page is a dialog.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub dialog: bool,
        /// Probability of this outcome, 0 to 1.
        pub probability: f64,
        /// Whether this was never tried on this page, so that it is derived from other pages, other rows or other elements.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub guess: bool,
    }

    /// A possible outcome of an action.
    pub struct LikelyOutcome {
        /// Kind of outcome: `page`, `same` or `nothing`.
        pub kind: OutcomeKind,
        /// Name of the page that opens.
        pub name: Option<String>,
        /// Id of the state of that page, if it has one.
        pub state: Option<String>,
        /// Whether that page is a dialog.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub dialog: bool,
        /// Probability, 0 to 1.
        pub probability: f64,
    }

    /// An action and the outcomes to expect of it.
    pub struct PredictedAction {
        /// The action.
        pub action: Action,
        /// The action in words.
        pub text: String,
        /// Alias of the element, if the session received one with its last observation of this page.
        pub alias: Option<String>,
        /// Where the nearest attempts were made.
        pub from: PredictedFrom,
        /// Number of attempts there.
        pub attempts: i64,
        /// Whether the action was never tried on this page.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub guess: bool,
        /// The outcomes, most likely first.
        pub outcomes: Vec<LikelyOutcome>,
        /// Probability of an outcome that was never seen, 0 to 1.
        pub unknown: f64,
    }

    /// Result of `memory.predict`.
    pub struct Predictions {
        /// Id of the observation whose page the predictions are about: the newest one of the device.
        pub observation_id: String,
        /// The page.
        pub page: PageRef,
        /// Name of the page before, to which Back leads in most apps; absent if it is not known.
        pub before: Option<String>,
        /// The actions: elements in the order of their refs, then actions without a target. Actions of which nothing is known
        /// are left out.
        pub predictions: Vec<PredictedAction>,
    }
}

methods! {
    /// Predicts where the actions on the last observed page lead, also those that were never tried there.
    MemoryPredict = "memory.predict" (PredictParams, DEVICE) -> Reply<Predictions>, Read, [DeviceUnknown, DeviceAmbiguous, NotFound, StoreUnavailable], "{}";
}
