//! The table of error codes, from which their numbers, their documentation and the OpenRPC document are generated.

use serde::{Deserialize, Serialize};
use serde_json::Value;

macro_rules! codes {
    ($( $variant:ident = $name:literal, $n:literal, $retryable:literal, $doc:literal; )*) => {
        /// Reason why a call failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ErrorCode { $( #[doc = $doc] #[serde(rename = $name)] $variant, )* }

        impl ErrorCode {
            /// All error codes, in the order of the table.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),*];

            /// Returns the code's name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name),* }
            }

            /// Returns a one-sentence description of the code.
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $doc),* }
            }

            /// Returns whether the same call may succeed if it is repeated later without changes.
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
    DeviceUnknown = "DEVICE_UNKNOWN", 1, false, "No device with this name is configured.";
    DeviceAmbiguous = "DEVICE_AMBIGUOUS", 2, false, "Several devices are available, and the call does not name one.";
    DeviceBusy = "DEVICE_BUSY", 3, true, "Another session holds a lease on the device.";
    DeviceUnreachable = "DEVICE_UNREACHABLE", 4, true, "The device could not be reached, or did not respond to a read; no action was sent.";
    DeviceAuth = "DEVICE_AUTH", 5, false, "The device rejected the token.";
    DeviceError = "DEVICE_ERROR", 6, false, "The device reported an error, or its response was malformed.";
    OutcomeUnknown = "OUTCOME_UNKNOWN", 7, false, "The action was sent, but its response was lost: it may or may not have been performed.";
    RefAliasUnobserved = "REF_ALIAS_UNOBSERVED", 8, false, "The alias is not among the refs most recently returned to the session.";
    RefAliasStale = "REF_ALIAS_STALE", 9, false, "The element of the alias is gone or can no longer be identified.";
    TargetNotFound = "TARGET_NOT_FOUND", 10, false, "Nothing on the screen matches the selector.";
    TargetAmbiguous = "TARGET_AMBIGUOUS", 11, false, "Several elements on the screen match the selector; `details.candidates` lists them.";
    AssertionFailed = "ASSERTION_FAILED", 12, false, "The screen was read, but the condition does not hold.";
    NotFound = "NOT_FOUND", 13, false, "The requested item does not exist.";
    Conflict = "CONFLICT", 14, false, "The request conflicts with the current state.";
    Timeout = "TIMEOUT", 15, true, "The operation timed out.";
    Unsupported = "UNSUPPORTED", 16, false, "The device or the daemon does not support this.";
    Refused = "REFUSED", 17, false, "The settings do not allow this.";
    LimitExceeded = "LIMIT_EXCEEDED", 18, false, "A limit of the daemon was exceeded; `details` names it.";
    ShuttingDown = "SHUTTING_DOWN", 19, true, "The daemon is stopping.";
    StoreUnavailable = "STORE_UNAVAILABLE", 20, false, "The memory database or the artifact storage cannot be used.";
    StoreFull = "STORE_FULL", 21, true, "There is no disk space left for the memory database or an artifact.";
    Internal = "INTERNAL", 22, false, "Internal error.";
    Cancelled = "CANCELLED", 23, true, "The call was cancelled before it changed anything.";
    TargetCovered = "TARGET_COVERED", 24, false, "The target is on the screen, but something covers it; `details.coveredBy` names it.";
    TextDiffers = "TEXT_DIFFERS", 28, false, "The text was typed, but the field shows another one.";
    StoreBusy = "STORE_BUSY", 29, true, "Another program holds the memory database; nothing was changed.";
    ParseError = "PARSE_ERROR", 25, false, "The message is not valid JSON.";
    InvalidRequest = "INVALID_REQUEST", 26, false, "The message is not a JSON-RPC 2.0 request.";
    UnknownMethod = "UNKNOWN_METHOD", 27, false, "There is no method with this name.";
}

impl ErrorCode {
    /// Returns the JSON-RPC error number: the standard number for protocol errors, or -32020 minus the code's number in
    /// the table for all others.
    pub const fn number(self) -> i32 {
        match self {
            ErrorCode::InvalidParams => -32602,
            ErrorCode::ParseError => -32700,
            ErrorCode::InvalidRequest => -32600,
            ErrorCode::UnknownMethod => -32601,
            other => -32020 - other.offset(),
        }
    }

    /// Returns the code with this wire name, or `None` if there is no such code.
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
    /// Content of `data` in every error that the daemon returns.
    pub struct ErrorData {
        /// Code of the error.
        pub code: ErrorCode,
        /// Whether the same call may succeed if it is repeated later without changes.
        pub retryable: bool,
        /// Suggested next step.
        pub hint: Option<String>,
        /// Structured details of the failure; for an invalid parameter, these are `path`, `expected` and `got`.
        pub details: Option<Value>,
        /// Trace id of the failed call in events and logs.
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
