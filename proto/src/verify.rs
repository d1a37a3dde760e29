//! `verify.*`: is the screen as expected?

use crate::vocabulary::{By, PageRef, Reply};

device_params! {
    /// Parameters of `verify.textContains`.
    #[derive(Default)]
    pub struct TextContainsParams {
        /// What some visible text or description is to contain.
        pub text: String,
        /// Upper and lower case differ.
        #[serde(default)]
        pub case_sensitive: bool,
    }

    /// Parameters of `verify.topActivity`.
    #[derive(Default)]
    pub struct TopActivityParams {
        /// `package/activity`, or a part of it.
        pub expected: String,
        /// How to compare, by default `contains`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mode: Option<MatchMode>,
    }

    /// Parameters of `verify.nodeExists`.
    pub struct NodeExistsParams {
        /// How the node is named; the same as in `act.tap`.
        pub by: By,
        /// The text, description, id, class or alias.
        pub value: String,
        /// Whole and case-sensitive instead of a part in any case.
        #[serde(default)]
        pub exact_match: bool,
    }
}

words! {
    /// How to compare.
    MatchMode {
        /// A part is enough.
        Contains = "contains",
        /// The whole.
        Equals = "equals",
    }
}

wire! {
    /// A check that held.
    pub struct Verified {
        /// The event that recorded it.
        pub event_id: String,
        /// Always true; a check that does not hold is the error `ASSERTION_FAILED`.
        pub matched: bool,
        /// How many nodes matched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub matched_count: Option<u32>,
        /// The first of them, at most 20.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nodes: Option<Vec<crate::observe::Row>>,
        /// What was found, for `topActivity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub actual: Option<String>,
        /// The observation that was judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// Whether it had settled.
        pub settled: bool,
        /// The page that was judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<PageRef>,
    }
}

methods! {
    /// Holds when some visible text or description contains the text; ids, classes and flags never do.
    VerifyTextContains = "verify.textContains" (TextContainsParams, DEVICE) -> Reply<Verified>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed], r#"{"text":"Wi-Fi"}"#;
    /// Holds when the top activity is the expected one.
    VerifyTopActivity = "verify.topActivity" (TopActivityParams, DEVICE) -> Reply<Verified>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed], r#"{"expected":"com.android.settings"}"#;
    /// Holds when a visible node matches the selector.
    VerifyNodeExists = "verify.nodeExists" (NodeExistsParams, DEVICE) -> Reply<Verified>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved], r#"{"by":"text","value":"Wi-Fi"}"#;
}
