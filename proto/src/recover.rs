//! `recover.*`: recovering from a failure. Each recovery is an action that is linked to the preceding failure.

use crate::{act::AppParams, vocabulary::Reply};

act_params! {
    /// Parameters of `recover.back`.
    #[derive(Default)]
    pub struct BackParams {
        /// Number of times to press Back.
        pub times: Option<u32> where 1..=20 = 1,
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
        pub look: Option<crate::act::Look>,
        /// Whether this is the recorded outcome of an earlier call with the same `requestKey`, in which case the action
        /// was not repeated.
        #[serde(default)]
        pub replayed: bool,
    }
}

crate::act::with_look!(RecoverResult);

methods! {
    /// Presses Back to recover from a failure.
    RecoverBack = "recover.back" (BackParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"times":1}"#, RECOVER_BACK;
    /// Presses Home to recover from a failure.
    RecoverHome = "recover.home" (crate::act::PlainParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Presses Home and launches the app to recover from a failure.
    RecoverRelaunch = "recover.relaunch" (AppParams, DEVICE) -> Reply<RecoverResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
}
