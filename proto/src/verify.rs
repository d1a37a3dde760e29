//! `verify.*`: checking conditions on the screen.

use crate::vocabulary::{By, PageRef, Reply};

device_params! {
    /// Parameters of `verify.textContains`.
    #[derive(Default)]
    pub struct TextContainsParams {
        /// Text that some visible text or description must contain.
        pub text: String,
        /// Whether case matters; by default it does not.
        #[serde(default)]
        pub case_sensitive: bool,
    }

    /// Parameters of `verify.topActivity`.
    #[derive(Default)]
    pub struct TopActivityParams {
        /// Expected activity as `package/activity`, or part of it.
        pub expected: String,
        /// How to compare; by default `contains`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("default" = "contains")))]
        pub mode: Option<MatchMode>,
    }

    /// Parameters of `verify.nodeExists`.
    pub struct NodeExistsParams {
        /// Property by which the node is selected, as in `act.tap`.
        pub by: By,
        /// Text, description, resource id, class or alias to look for.
        pub value: String,
        /// Whether `value` must match completely and case-sensitively; by default a part of it in any case is enough.
        #[serde(default)]
        pub exact_match: bool,
    }
}

words! {
    /// Comparison of an expected text with the actual one.
    MatchMode {
        /// The actual text contains the expected one.
        Contains = "contains",
        /// Both texts are equal.
        Equals = "equals",
    }
}

wire! {
    /// Result of a verification that passed.
    pub struct VerifyResult {
        /// Uid of the event that records it.
        pub event_id: String,
        /// Always true; a verification that does not pass fails with `ASSERTION_FAILED`.
        pub matched: bool,
        /// Number of matching nodes; absent for `topActivity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub matched_count: Option<u32>,
        /// The first matching nodes, at most 20; absent for `topActivity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nodes: Option<Vec<crate::observe::Row>>,
        /// Actual activity; only for `topActivity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub actual: Option<String>,
        /// Id of the observation that was checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// Whether the page had settled.
        pub settled: bool,
        /// Page that was checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<PageRef>,
    }
}

methods! {
    /// Verifies that a visible text or description contains the text; ids, classes and flags are not searched.
    VerifyTextContains = "verify.textContains" (TextContainsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed], r#"{"text":"Wi-Fi"}"#, VERIFY;
    /// Verifies that the activity in the foreground is the expected one.
    VerifyTopActivity = "verify.topActivity" (TopActivityParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, Unsupported], r#"{"expected":"com.android.settings"}"#;
    /// Verifies that a visible node matches the selector.
    VerifyNodeExists = "verify.nodeExists" (NodeExistsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved], r#"{"by":"text","value":"Wi-Fi"}"#;
}
