//! Why a call failed, before it becomes a JSON-RPC error.

use afd_proto::ErrorCode;
use serde_json::{Value, json};

use crate::device::{Busy, DriverError, Unresolved};
use crate::store::StoreError;
use crate::task::Panicked;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Which error.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Facts.
    pub details: Option<Value>,
}

impl Error {
    /// An error without hint and details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: None }
    }

    /// With what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With facts.
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// A bad parameter: where, what was expected, what came.
    pub fn param(path: &str, expected: &str, got: impl std::fmt::Display) -> Self {
        let got = got.to_string();
        Self::new(ErrorCode::InvalidParams, format!("{path}: expected {expected}, got {got}"))
            .details(json!({"path": path, "expected": expected, "got": got}))
    }

    /// As it is kept with an event.
    pub fn to_json(&self) -> Value {
        json!({"code": self.code.name(), "message": self.message, "hint": self.hint, "details": self.details})
    }

    /// From what was kept with an event.
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
        let hint = match &error {
            DriverError::Unreachable(_) => "check that the phone is on, its service runs and the URL is right: `afctl health`",
            DriverError::Auth(_) => {
                "take the token that the phone's app shows: `afctl config set device.NAME.token TOKEN`, or --token beside --url"
            }
            DriverError::Lost(_) => "it may have happened: observe again before you decide, and do not simply repeat it",
            DriverError::Nonsense(_) => "check that the URL is that of the phone's service: `afctl health`",
            DriverError::Crowded(_) => "wait for the answers of earlier calls before sending more",
            DriverError::Failed(_) => "try again; `afctl status` shows the devices and the background tasks",
            DriverError::Refused { .. } => "observe again; some actions need Shizuku or the accessibility service on the phone",
        };
        let details = match &error {
            DriverError::Refused { status, message } => Some(json!({"status": status, "raw": message})),
            _ => None,
        };
        Self { code: error.code(), message: error.to_string(), hint: Some(hint.to_owned()), details }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let (code, hint) = match &error {
            StoreError::Full => (ErrorCode::StoreFull, "make room on the disk; nothing that was answered with success is lost"),
            StoreError::Damaged(_) | StoreError::Unavailable(_) | StoreError::TooNew { .. } => {
                (ErrorCode::StoreUnavailable, "see `afctl status`")
            }
            StoreError::Sql(_) | StoreError::Panicked(_) => (ErrorCode::Internal, "this is a fault of afd; its log says more"),
        };
        if matches!(error, StoreError::Sql(_) | StoreError::Panicked(_)) {
            tracing::error!(%error, "a piece of database work failed");
        }
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Self {
        Self::new(ErrorCode::Internal, panicked.to_string()).hint("this is a fault of afd; its log says more")
    }
}

impl From<Busy> for Error {
    fn from(busy: Busy) -> Self {
        Self::new(ErrorCode::DeviceBusy, busy.to_string())
            .hint("wait until the lease ends, or use another device; observing needs no lease")
            .details(json!({"holder": busy.0.session, "remainingMs": busy.0.remaining_ms}))
    }
}

impl From<Unresolved> for Error {
    fn from(unresolved: Unresolved) -> Self {
        let message = unresolved.to_string();
        match unresolved {
            Unresolved::Unknown { known, .. } => Self::new(ErrorCode::DeviceUnknown, message)
                .hint("`afctl device list` shows the devices; `afctl device add` adds one")
                .details(json!({"known": known})),
            Unresolved::None => Self::new(ErrorCode::DeviceUnknown, message)
                .hint("add one: `afctl device add NAME --url http://PHONE:8081 --token TOKEN`, or name one for a single call with --url"),
            Unresolved::Ambiguous(names) => Self::new(ErrorCode::DeviceAmbiguous, message)
                .hint("name one with `device` (afctl: --device)")
                .details(json!({"devices": names})),
            Unresolved::BadUrl { .. } => Self::new(ErrorCode::InvalidParams, message)
                .hint("see --url and AF_URL")
                .details(json!({"path": "url", "expected": "a URL such as http://192.168.1.20:8081", "got": "another text"})),
            Unresolved::Both => Self::new(ErrorCode::InvalidParams, message)
                .details(json!({"path": "url", "expected": "no url beside device", "got": "both"})),
        }
    }
}
