//! `verify.*`: checking conditions on the screen.

use crate::act::is_false;
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
        /// Comparison method.
        pub mode: Option<MatchMode> = MatchMode::Contains,
    }

    /// Parameters of `verify.element`. Without `state` and `shows`, the text must be on the page.
    #[derive(Default)]
    pub struct ElementParams {
        /// Label, title, `#id` or alias of an element as an outline prints it, or a text on the page. Whole words are
        /// compared, and case is ignored. Exception: words in capitals, such as `ON`, match only capitals inside a
        /// longer text. `value` is accepted as a synonym of this parameter.
        #[serde(alias = "value")]
        pub text: String,
        /// State that the element must have; excludes `shows`.
        pub state: Option<ElementState>,
        /// Text that the element must show: the content of a field, or a text inside the element. Whole words are
        /// compared. Excludes `state`.
        pub shows: Option<String>,
        /// Whether `text` and `shows` must match completely and case-sensitively.
        #[serde(default, skip_serializing_if = "is_false")]
        pub exact_match: bool,
    }

    /// Parameters of `verify.nodeExists`.
    pub struct NodeExistsParams {
        /// Property by which the node is selected, as in `act.tap`.
        pub by: By,
        /// Text, description, resource id, class or alias to look for.
        pub value: String,
        /// Whether `value` must match completely and case-sensitively; by default the property only has to contain
        /// `value`, and case is ignored.
        #[serde(default)]
        pub exact_match: bool,
    }
}

words! {
    /// State of an element.
    ElementState {
        /// Switched on, checked or selected, according to the words on the screen.
        On = "on",
        /// Switched off or not checked.
        Off = "off",
        /// Can be used.
        Enabled = "enabled",
        /// Cannot be used.
        Disabled = "disabled",
        /// Not on the page.
        Gone = "gone",
    }

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
        pub matched_count: Option<u32>,
        /// The first matching nodes, at most 20; absent for `topActivity`.
        pub nodes: Option<Vec<crate::observe::Row>>,
        /// Actual activity; only for `topActivity`.
        pub actual: Option<String>,
        /// Id of the observation that was checked.
        pub observation_id: Option<String>,
        /// Whether the page had settled.
        pub settled: bool,
        /// Page that was checked.
        pub page: Option<PageRef>,
    }
}

methods! {
    /// Verifies that a visible text or description contains the text; ids, classes and flags are not searched.
    VerifyTextContains = "verify.textContains" (TextContainsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed], r#"{"text":"Wi-Fi"}"#;
    /// Verifies that a text is on the page, or the state of an element.
    VerifyElement = "verify.element" (ElementParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Unsupported], r#"{"text":"Dark theme","state":"on"}"#, VERIFY;
    /// Verifies that the activity in the foreground is the expected one.
    VerifyTopActivity = "verify.topActivity" (TopActivityParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, Unsupported], r#"{"expected":"com.android.settings"}"#;
    /// Verifies that a visible node matches the selector.
    VerifyNodeExists = "verify.nodeExists" (NodeExistsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved], r#"{"by":"text","value":"Wi-Fi"}"#;
}
