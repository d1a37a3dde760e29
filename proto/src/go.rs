//! `act.goTo`: walks to a page or an element by the way that the memory knows.

use crate::look::Look;
use crate::visual::StateRef;
use crate::vocabulary::Reply;

act_params! {
    /// Parameters of `act.goTo`: exactly one of `goal`, `state`, `element`, `text` and `address`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
        {"required": ["goal"]}, {"required": ["state"]}, {"required": ["element"]}, {"required": ["text"]}, {"required": ["address"]},
    ])))]
    pub struct GoToParams {
        /// Name of a page, an element or a text, or words for it, such as `dark mode`.
        pub goal: Option<String> where chars 1..=200,
        /// Id, uid or name of the state to reach.
        pub state: Option<String> where chars 1..=200,
        /// Label of an element. The walk ends when the element is in sight.
        pub element: Option<String> where chars 1..=200,
        /// Text on a page. The walk ends when the text is in sight.
        pub text: Option<String> where chars 1..=200,
        /// Address of the page to open, in a browser.
        pub address: Option<String> where chars 1..=2000,
        /// Package of the app in which the goal is; by default the app in front. If another app is in front, it is opened.
        pub app: Option<String> where chars 1..=200,
        /// Maximum number of actions.
        pub max_steps: Option<u32> where 1..=100 = 20,
        /// Maximum number of unknown elements to try where no known way leads on.
        pub explore: Option<u32> where 0..=50 = 0,
        /// Whether elements that are marked as risky may be touched.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub allow_risky: bool,
        /// Whether to relaunch the app, once, where the walk would end without a way on.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub recover: bool,
        /// Maximum duration, in milliseconds; a step that has begun is completed.
        pub timeout_ms: Option<u64> where 1..=600_000 = 120_000,
    }
}

words! {
    /// Why a walk ended.
    GoStop {
        /// The goal is reached.
        Arrived = "arrived",
        /// No known way leads on, and nothing is left to try.
        NoWay = "noWay",
        /// The goal, or the page that it was on, seems to have another name now; `text` says which.
        Changed = "changed",
        /// The only way leads through an element that is marked as risky.
        Risky = "risky",
        /// The only way leads through a field that needs text.
        NeedsText = "needsText",
        /// The page asks for a password.
        Login = "login",
        /// Something is in front of the page and does not go away.
        Covered = "covered",
        /// The screen cannot be read reliably.
        Unreadable = "unreadable",
        /// Another call acted on the device between the steps.
        Disturbed = "disturbed",
        /// An action failed; `failureCause` has its error.
        Failed = "failed",
        /// The maximum number of steps is used up.
        Limit = "limit",
        /// The time is used up.
        Timeout = "timeout",
        /// Another page came instead of the one with the address.
        Elsewhere = "elsewhere",
        /// The call was cancelled, or its client has gone.
        Cancelled = "cancelled",
        /// The daemon stopped in the middle of the walk.
        Interrupted = "interrupted",
    }

    /// Purpose of a step.
    GoStepKind {
        /// A step of the known way.
        Way = "way",
        /// Dismisses something in front of the page.
        Dismiss = "dismiss",
        /// Tries an element that the memory does not know.
        Explore = "explore",
        /// Scrolls to an element.
        Scroll = "scroll",
        /// Opens the app or the address.
        Open = "open",
        /// Relaunches the app where no way led on.
        Recover = "recover",
    }
}

wire! {
    /// A step of a walk. Each step is recorded as an event.
    pub struct GoStep {
        /// Purpose of the step.
        pub kind: GoStepKind,
        /// The action in words, such as `tap row "Display"`.
        pub action: String,
        /// Uid of the event that records the action; absent if nothing was sent.
        pub event_id: Option<String>,
        /// Name of the page to which the step should lead; absent if this is not known.
        pub expected: Option<String>,
        /// Probability with which it should lead there, 0 to 1; absent if this is not known.
        pub probability: Option<f64>,
        /// Name of the page that was in front afterwards; absent if it could not be read.
        pub led_to: Option<String>,
        /// Whether that is the expected page; absent if none was expected.
        pub as_expected: Option<bool>,
        /// Error code of a step that failed; absent if it was performed.
        pub failure_cause: Option<String>,
    }

    /// Result of `act.goTo`.
    pub struct GoToResult {
        /// Whether the goal is reached.
        pub arrived: bool,
        /// Why the walk ended.
        pub stopped: GoStop,
        /// The result in one sentence.
        pub text: String,
        /// What the goal was taken for, in words.
        pub goal: String,
        /// State in front at the end; absent if it is not known.
        pub at: Option<StateRef>,
        /// Steps, in order.
        pub steps: Vec<GoStep>,
        /// Error code of the failure that ended the walk; only if `stopped` is `failed`.
        pub failure_cause: Option<String>,
        /// Duration of the walk, in milliseconds.
        pub duration_ms: u64,
        /// The page at the end; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded result of an earlier call with the same `requestKey`, in which case nothing was
        /// done.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub replayed: bool,
    }
}

crate::look::with_look!(GoToResult);

methods! {
    /// Goes to a page or an element by the way that the memory knows, and checks each step.
    ActGoTo = "act.goTo" (GoToParams, DEVICE, TIMEOUT) -> Reply<GoToResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, NotFound, Conflict, Unsupported], r#"{"goal":"Dark theme"}"#, GO;
}
