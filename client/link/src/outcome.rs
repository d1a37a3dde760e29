//! The outcome of a command, its envelope and its exit code.

use afd_proto::{ErrorCode, ErrorData};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Exit code of a failure.
pub const FAILED: u8 = 1;
/// Exit code of a usage error.
pub const USAGE: u8 = 2;
/// Exit code if the daemon cannot be reached.
pub const NO_DAEMON: u8 = 3;
/// Exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// A function that renders a result for people. It returns `None` if the result cannot be decoded, for example if the
/// result comes from a newer daemon.
pub type Render = fn(&Value) -> Option<String>;

/// The outcome of a command.
#[derive(Debug)]
pub struct Outcome {
    /// Command group, for example `observe`.
    pub category: String,
    /// Verb within the group, for example `page`.
    pub op: String,
    /// The result as the daemon sent it, or the error.
    pub result: Result<Box<RawValue>, Failure>,
    /// Function that renders the result for people, if any.
    pub render: Option<Render>,
    /// Result fields to print as JSON instead of the whole envelope, if any.
    pub only: Option<&'static [&'static str]>,
}

/// An error, as shown in the envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// `failed` or `interrupted`.
    pub status: &'static str,
    /// Error code from the daemon, or `NO_DAEMON` or `INTERRUPTED`.
    pub code: String,
    /// Error message.
    pub message: String,
    /// Suggested next step.
    pub hint: Option<String>,
    /// Structured details of the error.
    pub details: Value,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Trace id, which identifies the call in events and logs.
    pub trace: Option<String>,
    /// Exit code with which the program ends.
    pub exit: u8,
}

impl Failure {
    /// Creates a failure that this program itself detected.
    pub fn new(code: &str, message: impl Into<String>, exit: u8) -> Self {
        Self {
            status: "failed",
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            details: Value::Null,
            retryable: false,
            trace: None,
            exit,
        }
    }

    /// Converts an error returned by the daemon. A code that is unknown to this version is kept.
    pub fn from_response(number: i64, message: String, mut data: Value) -> Self {
        let fallback = if number == -32601 { "UNSUPPORTED" } else { "INVALID_PARAMS" };
        let code = data.get("code").and_then(Value::as_str).unwrap_or(fallback).to_owned();
        if ErrorCode::from_name(&code).is_none() {
            // Replace the unknown code with a known one, so that the rest can be decoded.
            data["code"] = ErrorCode::Internal.name().into();
        }
        let Ok(data) = serde_json::from_value::<ErrorData>(data) else { return Self::new(&code, message, FAILED) };
        Self {
            status: "failed",
            code,
            message,
            hint: data.hint,
            details: data.details.unwrap_or_default(),
            retryable: data.retryable,
            trace: data.trace_id,
            exit: FAILED,
        }
    }

    /// Adds a suggested next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The JSON envelope that is printed for an outcome. It has the same form as in `af`; the keys are in alphabetical
/// order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    category: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<EnvelopeError<'a>>,
    op: &'a str,
    status: &'static str,
    trace_id: Option<String>,
}

#[derive(Serialize)]
struct EnvelopeError<'a> {
    code: &'a str,
    details: &'a Value,
    hint: Option<&'a str>,
    message: &'a str,
    raw: Option<&'a Value>,
    retryable: bool,
    status: Option<&'a Value>,
}

/// The trace id, the only result field that the envelope repeats.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Traced {
    #[serde(default)]
    trace_id: Option<String>,
}

impl Outcome {
    /// Creates the outcome of a command that failed before a call was sent.
    pub fn failed(category: &str, op: &str, failure: Failure) -> Self {
        Self { category: category.to_owned(), op: op.to_owned(), result: Err(failure), render: None, only: None }
    }

    /// Returns whether the call chose its actions to reach a goal, so that its result says in one sentence whether it did.
    pub(crate) fn has_goal(&self) -> bool {
        matches!((self.category.as_str(), self.op.as_str()), ("act", "go-to" | "undo") | ("recover", "auto"))
    }

    /// Returns the exit code. A walk that did not arrive is a failure, like a check that did not pass; so are a recovery and an
    /// undo that were not achieved.
    pub fn exit(&self) -> u8 {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Done {
            arrived: Option<bool>,
            recovered: Option<bool>,
            undone: Option<bool>,
            /// The action that undoes another one, which was sent if there is an event.
            action: Option<String>,
            event_id: Option<String>,
        }
        let missed = |data: &RawValue| {
            let done: Done = serde_json::from_str(data.get()).unwrap_or_default();
            let is_offer = done.action.is_some() && done.event_id.is_none();
            [done.arrived, done.recovered, done.undone.filter(|_| !is_offer)].contains(&Some(false))
        };
        match &self.result {
            Ok(data) if self.has_goal() && missed(data) => FAILED,
            Ok(_) => 0,
            Err(failure) => failure.exit,
        }
    }

    /// Returns the fields selected by `only` as JSON: the bare value of a single field, or an object with several
    /// fields. Returns `None` if no fields are selected or the command failed.
    pub fn alone(&self) -> Option<String> {
        let fields: std::collections::BTreeMap<&str, &RawValue> =
            serde_json::from_str(self.result.as_ref().ok()?.get()).ok()?;
        match self.only? {
            [one] => fields.get(one).map(|value| value.get().to_owned()),
            several => serde_json::to_string(
                &several
                    .iter()
                    .filter_map(|f| Some((*f, *fields.get(f)?)))
                    .collect::<std::collections::BTreeMap<_, _>>(),
            )
            .ok(),
        }
    }

    /// Returns the envelope as JSON.
    pub fn json(&self) -> String {
        let mut envelope =
            Envelope { category: &self.category, data: None, error: None, op: &self.op, status: "ok", trace_id: None };
        match &self.result {
            Ok(data) => {
                envelope.data = Some(data);
                envelope.trace_id = serde_json::from_str::<Traced>(data.get()).unwrap_or_default().trace_id;
            }
            Err(f) => {
                envelope.status = f.status;
                envelope.trace_id = f.trace.clone();
                envelope.error = Some(EnvelopeError {
                    code: &f.code,
                    details: &f.details,
                    hint: f.hint.as_deref(),
                    message: &f.message,
                    raw: f.details.get("raw"),
                    retryable: f.retryable,
                    status: f.details.get("status"),
                });
            }
        }
        serde_json::to_string(&envelope).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn envelope(result: Result<Value, Failure>) -> Value {
        let result = result.map(|data| serde_json::value::to_raw_value(&data).expect("JSON"));
        let outcome = Outcome { category: "observe".into(), op: "top".into(), result, render: None, only: None };
        serde_json::from_str(&outcome.json()).expect("JSON")
    }

    #[test]
    fn envelope_has_the_keys_of_af() {
        let data = json!({"traceId": "t", "topActivity": null});
        assert_eq!(
            envelope(Ok(data.clone())),
            json!({"category": "observe", "op": "top", "status": "ok", "traceId": "t", "data": data})
        );
        let mut failure = Failure::new("DEVICE_ERROR", "no", 1);
        failure.details = json!({"status": 500, "raw": "boom"});
        let failed = envelope(Err(failure));
        assert_eq!(failed["status"], "failed");
        assert_eq!((&failed["error"]["status"], &failed["error"]["raw"]), (&json!(500), &json!("boom")));
        assert_eq!(failed["traceId"], Value::Null);
    }

    #[test]
    fn error_codes_of_newer_daemons_are_kept() {
        let failure = Failure::from_response(
            -32099,
            "no".into(),
            json!({"code": "SOMETHING_NEW", "retryable": true, "hint": "wait"}),
        );
        assert_eq!(
            (failure.code.as_str(), failure.retryable, failure.hint.as_deref()),
            ("SOMETHING_NEW", true, Some("wait"))
        );
        let known = Failure::from_response(
            -32023,
            "no".into(),
            json!({"code": "DEVICE_BUSY", "retryable": true, "hint": "wait"}),
        );
        assert_eq!((known.code.as_str(), known.retryable, known.hint.as_deref()), ("DEVICE_BUSY", true, Some("wait")));
    }
}
