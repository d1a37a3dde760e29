//! The one table of error codes: the enum, the numbers, the documentation and the OpenRPC document come from it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! codes {
    ($( $variant:ident = $name:literal, $n:literal, $retryable:literal, $doc:literal; )*) => {
        /// Why a call failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ErrorCode { $( #[doc = $doc] #[serde(rename = $name)] $variant, )* }

        impl ErrorCode {
            /// Every code, in the order of their numbers.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name),* }
            }

            /// What it means, one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $doc),* }
            }

            /// Whether the same call may succeed later without a change.
            pub const fn retryable(self) -> bool {
                match self { $(ErrorCode::$variant => $retryable),* }
            }

            const fn offset(self) -> i32 {
                match self { $(ErrorCode::$variant => $n),* }
            }
        }
    };
}

codes! {
    InvalidParams = "INVALID_PARAMS", 0, false, "A parameter is missing, unknown, of the wrong type or out of range; `details.path` names it.";
    DeviceUnknown = "DEVICE_UNKNOWN", 1, false, "No device of that name is configured.";
    DeviceAmbiguous = "DEVICE_AMBIGUOUS", 2, false, "Several devices are configured and the call names none.";
    DeviceBusy = "DEVICE_BUSY", 3, true, "Another session holds a lease on the device.";
    DeviceUnreachable = "DEVICE_UNREACHABLE", 4, true, "The device could not be reached, or did not answer a question; no action was sent.";
    DeviceAuth = "DEVICE_AUTH", 5, false, "The device refused the token.";
    DeviceError = "DEVICE_ERROR", 6, false, "The device answered that it could not do it, or answered nonsense.";
    OutcomeUnknown = "OUTCOME_UNKNOWN", 7, false, "The action was sent and its answer was lost: it may or may not have happened.";
    RefAliasUnobserved = "REF_ALIAS_UNOBSERVED", 8, false, "The alias is not among the rows of the session's newest observation that returned refs.";
    RefAliasStale = "REF_ALIAS_STALE", 9, false, "What the alias stood for is no longer there, or no longer unique.";
    TargetNotFound = "TARGET_NOT_FOUND", 10, false, "Nothing on the screen matches the selector.";
    TargetAmbiguous = "TARGET_AMBIGUOUS", 11, false, "Several things on the screen match; `details.candidates` lists them.";
    AssertionFailed = "ASSERTION_FAILED", 12, false, "The screen was read and is not as expected.";
    NotFound = "NOT_FOUND", 13, false, "There is no such thing.";
    Conflict = "CONFLICT", 14, false, "The request contradicts what is already there.";
    Timeout = "TIMEOUT", 15, true, "The time ran out.";
    Unsupported = "UNSUPPORTED", 16, false, "This device or daemon cannot do that.";
    Refused = "REFUSED", 17, false, "The settings do not allow it.";
    LimitExceeded = "LIMIT_EXCEEDED", 18, false, "A limit of the daemon was exceeded; `details` names it.";
    ShuttingDown = "SHUTTING_DOWN", 19, true, "The daemon is stopping.";
    StoreUnavailable = "STORE_UNAVAILABLE", 20, false, "The memory database cannot be used.";
    StoreFull = "STORE_FULL", 21, true, "There is no room left for the memory database.";
    Internal = "INTERNAL", 22, false, "Internal error.";
    Cancelled = "CANCELLED", 23, true, "The call was cancelled before it changed anything.";
    TargetCovered = "TARGET_COVERED", 24, false, "The target is on the screen, but something else would take the touch; `details.coveredBy` names it.";
    ParseError = "PARSE_ERROR", 25, false, "The message is not valid JSON.";
    InvalidRequest = "INVALID_REQUEST", 26, false, "The message is not a JSON-RPC 2.0 request.";
    UnknownMethod = "UNKNOWN_METHOD", 27, false, "There is no such method.";
}

impl ErrorCode {
    /// The JSON-RPC error number: JSON-RPC's own for its own faults, `-32020 - n` for the rest.
    pub const fn number(self) -> i32 {
        match self {
            ErrorCode::InvalidParams => -32602,
            ErrorCode::ParseError => -32700,
            ErrorCode::InvalidRequest => -32600,
            ErrorCode::UnknownMethod => -32601,
            other => -32020 - other.offset(),
        }
    }

    /// The code of a wire name.
    pub fn from_name(name: &str) -> Option<ErrorCode> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

wire! {
    /// The `data` of every error of the daemon.
    pub struct ErrorData {
        /// Which error it is.
        pub code: ErrorCode,
        /// Whether the same call may succeed later without a change.
        pub retryable: bool,
        /// What to do next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hint: Option<String>,
        /// Facts about this failure; `path`, `expected` and `got` for a bad parameter.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub details: Option<Value>,
        /// Names the failed call in events and logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trace_id: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        let numbers: std::collections::HashSet<i32> = ErrorCode::ALL.iter().map(|c| c.number()).collect();
        assert_eq!(numbers.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.name()), Some(*code));
        }
        assert_eq!(ErrorCode::InvalidParams.number(), -32602);
        assert_eq!(ErrorCode::DeviceUnknown.number(), -32021);
    }
}
