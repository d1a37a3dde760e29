//! `recover.*`: getting out of a failure. Each is an action that is linked to the failure it answers.

use crate::{act::AppParams, vocabulary::Reply};

act_params! {
    /// Parameters of `recover.back`.
    #[derive(Default)]
    pub struct BackParams {
        /// How often, from 1 to 20, by default once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub times: Option<u32>,
    }
}

wire! {
    /// What a recovery did.
    pub struct Recovered {
        /// The event that recorded it.
        pub event_id: String,
        /// The device's own words.
        pub result: String,
        /// The failure that it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub failure_cause: Option<String>,
        /// The event of that failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub failure_event_id: Option<String>,
        /// How long it took, milliseconds.
        pub duration_ms: u64,
        /// True when `requestKey` was seen before and this is the recorded outcome.
        #[serde(default)]
        pub replayed: bool,
    }
}

methods! {
    /// Presses Back to get out of a failure.
    RecoverBack = "recover.back" (BackParams, DEVICE) -> Reply<Recovered>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"times":1}"#;
    /// Presses Home to get out of a failure.
    RecoverHome = "recover.home" (crate::act::PlainParams, DEVICE) -> Reply<Recovered>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], "{}";
    /// Goes Home and opens the app again.
    RecoverRelaunch = "recover.relaunch" (AppParams, DEVICE) -> Reply<Recovered>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict], r#"{"package":"com.android.settings"}"#;
}
