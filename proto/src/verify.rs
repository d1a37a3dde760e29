//! `verify.*`: checking conditions on the screen.

use crate::act::is_false;
use crate::vocabulary::{By, PageRef, Reply};

device_params! {
    /// Parameters of `verify.textContains`.
    #[derive(Default)]
    pub struct TextContainsParams {
        /// Text that must occur in the visible text or the description of at least one node on the screen.
        pub text: String,
        /// Whether the comparison is case-sensitive; by default it is not.
        #[serde(default)]
        pub case_sensitive: bool,
    }

    /// Parameters of `verify.topActivity`.
    #[derive(Default)]
    pub struct TopActivityParams {
        /// Expected activity as `package/activity`, or part of that string.
        pub expected: String,
        /// How the actual activity is compared with the expected one.
        pub mode: Option<MatchMode> = MatchMode::Contains,
    }

    /// Parameters of `verify.element`. Without `state` and `shows`, the text must be on the page.
    #[derive(Default)]
    pub struct ElementParams {
        /// Label, title, `#id` or alias of an element as printed in an outline, or text on the page. Whole words are
        /// compared, and case is ignored. Exception: inside longer text, words in capitals, such as `ON`, match only
        /// capitals. `value` is accepted as a synonym for this parameter.
        #[serde(alias = "value")]
        pub text: String,
        /// State that the element must have; mutually exclusive with `shows`.
        pub state: Option<ElementState>,
        /// Text that the element must show: the content of a field, or other text inside the element. Whole words are
        /// compared. Mutually exclusive with `state`.
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
        /// Switched off, or not checked.
        Off = "off",
        /// The element can be used.
        Enabled = "enabled",
        /// The element cannot be used.
        Disabled = "disabled",
        /// The element is not on the page.
        Gone = "gone",
    }

    /// How expected text is compared with the actual text.
    MatchMode {
        /// The actual text contains the expected text.
        Contains = "contains",
        /// The actual text equals the expected text.
        Equals = "equals",
    }
}

wire! {
    /// Result of a passed verification.
    pub struct VerifyResult {
        /// Uid of the event that records the verification.
        pub event_id: String,
        /// Always true; a verification that does not pass fails with `ASSERTION_FAILED`.
        pub matched: bool,
        /// Number of matching nodes; absent for `topActivity`.
        pub matched_count: Option<u32>,
        /// The first matching nodes, at most 20; absent for `topActivity`.
        pub nodes: Option<Vec<crate::rows::Row>>,
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
    /// Verifies that visible text or a description contains the given text; ids, classes and flags are not searched.
    VerifyTextContains = "verify.textContains" (TextContainsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed], r#"{"text":"Wi-Fi"}"#;
    /// Verifies that the given text is on the page, or that an element has the given state.
    VerifyElement = "verify.element" (ElementParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved, RefAliasStale, TargetNotFound, TargetAmbiguous, TargetCovered, Unsupported], r#"{"text":"Dark theme","state":"on"}"#, VERIFY;
    /// Verifies that the activity in the foreground is the expected one.
    VerifyTopActivity = "verify.topActivity" (TopActivityParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, Unsupported], r#"{"expected":"com.android.settings"}"#;
    /// Verifies that a visible node matches the selector.
    VerifyNodeExists = "verify.nodeExists" (NodeExistsParams, DEVICE) -> Reply<VerifyResult>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, AssertionFailed, RefAliasUnobserved], r#"{"by":"text","value":"Wi-Fi"}"#;
}
