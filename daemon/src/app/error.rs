//! The error type of all use cases, independent of JSON-RPC, and conversions from lower-level errors.

use afd_proto::ErrorCode;
use serde_json::{Value, json};

use afd_base::task::Panicked;
use afd_device::{BadParam, Busy, DriverError, ResolveError};
use afd_store::StoreError;

/// Result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// Error returned by a call: code, message, and advice for the caller.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Error code by which programs distinguish errors.
    pub code: ErrorCode,
    /// Description of what went wrong.
    pub message: String,
    /// Advice on what to do next.
    pub hint: Option<String>,
    /// Details of the error as JSON, for programs.
    pub details: Option<Value>,
}

impl Error {
    /// Creates an error without a hint or details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: None }
    }

    /// Sets the advice for the caller.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts a further sentence before the advice for the caller.
    pub fn add_hint(self, first: &str) -> Self {
        let hint = self.hint.as_ref().map_or_else(|| first.to_owned(), |hint| format!("{first}; {hint}"));
        self.hint(hint)
    }

    /// Sets the structured details.
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Creates an `INVALID_PARAMS` error with the path of the parameter, what was expected, and what was received.
    pub fn param(path: &str, expected: &str, got: impl std::fmt::Display) -> Self {
        let got = got.to_string();
        Self::new(ErrorCode::InvalidParams, format!("{path}: expected {expected}, got {got}"))
            .details(json!({"path": path, "expected": expected, "got": got}))
    }

    /// Serialises the error for storage with an event.
    pub fn to_json(&self) -> Value {
        json!({"code": self.code.name(), "message": self.message, "hint": self.hint, "details": self.details})
    }

    /// Restores an error that was stored with an event.
    pub fn from_json(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            code: text("code").and_then(|c| ErrorCode::from_name(&c)).unwrap_or(ErrorCode::Internal),
            message: text("message").unwrap_or_default(),
            hint: text("hint"),
            details: value.get("details").filter(|d| !d.is_null()).cloned(),
        }
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        let details = match &error {
            DriverError::Refused { status, message } => Some(json!({"status": status, "raw": &**message})),
            _ => None,
        };
        Self { code: error.code(), message: error.to_string(), hint: Some(error.advice().to_owned()), details }
    }
}

impl From<BadParam> for Error {
    fn from(bad: BadParam) -> Self {
        Error::param(&bad.path, bad.expected, bad.got)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let (code, hint) = match &error {
            StoreError::Full => {
                (ErrorCode::StoreFull, "free some disk space; no change that was reported as successful is lost")
            }
            StoreError::Locked => (
                ErrorCode::StoreBusy,
                "nothing was changed: end the program that has the memory open, such as an SQLite shell, or try again",
            ),
            StoreError::Damaged(_) | StoreError::Unavailable(_) | StoreError::TooNew { .. } => {
                (ErrorCode::StoreUnavailable, "see `afctl status`")
            }
            StoreError::Sql(_) | StoreError::Panicked(_) => {
                (ErrorCode::Internal, "internal error; see the afd log for details")
            }
        };
        if matches!(error, StoreError::Sql(_) | StoreError::Panicked(_)) {
            tracing::error!(%error, "database operation failed");
        }
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Self {
        Self::new(ErrorCode::Internal, panicked.to_string()).hint("internal error; see the afd log for details")
    }
}

impl From<Busy> for Error {
    fn from(busy: Busy) -> Self {
        Self::new(ErrorCode::DeviceBusy, busy.to_string())
            .hint("wait until the lease expires, or use another device; observing needs no lease")
            .details(json!({"holder": busy.0.session, "remainingMs": busy.0.remaining_ms}))
    }
}

impl From<ResolveError> for Error {
    fn from(unresolved: ResolveError) -> Self {
        let message = unresolved.to_string();
        match unresolved {
            ResolveError::Unknown { known, .. } => Self::new(ErrorCode::DeviceUnknown, message)
                .hint("`afctl device list` lists the devices; `afctl device add` adds one")
                .details(json!({"known": known})),
            ResolveError::None => {
                Self::new(ErrorCode::DeviceUnknown, message).hint("`afctl init` adds one; or pass --url for a single call")
            }
            ResolveError::Ambiguous(names) => Self::new(ErrorCode::DeviceAmbiguous, message)
                .hint("name one with `device` (afctl: --device)")
                .details(json!({"devices": names})),
            ResolveError::BadUrl { .. } => Self::new(ErrorCode::InvalidParams, message)
                .hint("check --url and AF_URL")
                .details(json!({"path": "url", "expected": "a URL such as http://192.168.1.20:8081", "got": "an invalid URL"})),
            ResolveError::Both => Self::new(ErrorCode::InvalidParams, message)
                .details(json!({"path": "url", "expected": "either url or device", "got": "both"})),
        }
    }
}
