//! `recover.*`: recovering from a failure. Each recovery is an action that is linked to the preceding failure.

use crate::act::AppParams;
use crate::visual::StateRef;
use crate::vocabulary::Reply;

act_params! {
    /// Parameters of `recover.back`.
    #[derive(Default)]
    pub struct BackParams {
        /// Number of times to press Back.
        pub times: Option<u32> where 1..=20 = 1,
    }

    /// Parameters of `recover.auto`.
    #[derive(Default)]
    pub struct RecoverAutoParams {
        /// Package of the app that should be in front; for a browser, the URL or domain of a page. By default the app in
        /// which the failure occurred, or the one in front.
        pub app: Option<String> where chars 1..=200,
        /// Maximum number of actions.
        pub max_steps: Option<u32> where 1..=20 = 5,
        /// Whether elements that are marked as risky may be touched, and pages may be left that have a field with text.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub allow_risky: bool,
        /// Maximum duration, in milliseconds; an action that has begun is completed.
        pub timeout_ms: Option<u64> where 1..=600_000 = 60_000,
    }
}

words! {
    /// Why a recovery ended.
    RecoverStop {
        /// The device has recovered.
        Recovered = "recovered",
        /// Nothing is left to try.
        NothingLeft = "nothingLeft",
        /// What is left to try would leave a page that has a field with text.
        Unsaved = "unsaved",
        /// Another call acted on the device between the actions.
        Disturbed = "disturbed",
        /// An action failed; `failedWith` has its error.
        Failed = "failed",
        /// The maximum number of actions is used up.
        Limit = "limit",
        /// The time is used up.
        Timeout = "timeout",
        /// The call was cancelled, or its client has gone.
        Cancelled = "cancelled",
        /// The daemon stopped in the middle of the recovery.
        Interrupted = "interrupted",
    }

    /// Why an action was chosen to recover.
    RecoverBasis {
        /// It fixed this failure on this page before.
        Known = "known",
        /// Something is in front of the page.
        Dismiss = "dismiss",
        /// The page before may be the right one.
        Back = "back",
        /// The app starts on a page that it can be used from.
        Relaunch = "relaunch",
        /// Nothing else is left.
        Home = "home",
    }
}

wire! {
    /// An action that was taken to recover. Each one is recorded as an event.
    pub struct RecoverStep {
        /// Why the action was chosen.
        pub basis: RecoverBasis,
        /// The action in words, such as `tap button "Not now"`.
        pub action: String,
        /// Uid of the event that records the action; absent if nothing was sent.
        pub event_id: Option<String>,
        /// Number of times that the action fixed this failure before; only if `basis` is `known`.
        pub worked: Option<i64>,
        /// Number of times that it was tried; only if `basis` is `known`.
        pub tried: Option<i64>,
        /// Name of the page that was in front afterwards; absent if it could not be read.
        pub led_to: Option<String>,
        /// Error code of an action that failed; absent if it was performed.
        pub failure_cause: Option<String>,
    }

    /// Result of `recover.auto`.
    pub struct RecoverAutoResult {
        /// Whether the screen shows that the device has recovered: the target of the failed action can be touched, or the
        /// text of the failed check is in sight; after other failures, the app is in front, and nothing covers it.
        pub recovered: bool,
        /// Why the recovery ended.
        pub stopped: RecoverStop,
        /// The result in one sentence.
        pub text: String,
        /// Error code of the failure from which to recover; absent if the last action or check of the session succeeded.
        pub failure_cause: Option<String>,
        /// Uid of the event that records the failure; absent if there was none.
        pub failure_event_id: Option<String>,
        /// State in front at the end; absent if it is not known.
        pub at: Option<StateRef>,
        /// Actions, in order.
        pub steps: Vec<RecoverStep>,
        /// Error code of the action that ended the recovery; only if `stopped` is `failed`.
        pub failed_with: Option<String>,
        /// Duration of the recovery, in milliseconds.
        pub duration_ms: u64,
        /// The page at the end; only with `then`.
        pub look: Option<crate::look::Look>,
        /// Whether this is the recorded result of an earlier call with the same `requestKey`, in which case nothing was
        /// done.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub replayed: bool,
    }
}

wire! {
    /// Result of a recovery.
    pub struct RecoverResult {
        /// Uid of the event that records the recovery.
        pub event_id: String,
        /// Message that the device returned.
        pub result: String,
        /// Error code of the failure that the recovery followed; absent if there was none.
        pub failure_cause: Option<String>,
        /// Uid of the event that records the failure; absent if there was none.
        pub failure_event_id: Option<String>,
        /// Duration of the recovery, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the recovery; only with `then`.
        pub look: Option<crate::look::Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the action
        /// was not repeated.
        #[serde(default)]
        pub replayed: bool,
    }
}

crate::look::with_look!(RecoverResult, RecoverAutoResult);

methods! {
    /// Presses Back to recover from a failure.
    RecoverBack = "recover.back" (BackParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"times":1}"#;
    /// Presses Home to recover from a failure.
    RecoverHome = "recover.home" (crate::act::PlainParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses Home and launches the app to recover from a failure.
    RecoverRelaunch = "recover.relaunch" (AppParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
    /// Recovers from the last failure by what fixed it here before, else by general means, and checks each action.
    RecoverAuto = "recover.auto" (RecoverAutoParams, DEVICE, TIMEOUT) -> Reply<RecoverAutoResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}", RECOVER;
}
