//! What came of a command, and the envelope that says it.

use serde_json::{Map, Value, json};

/// Exit code of a failure.
pub const FAILED: u8 = 1;
/// Exit code of a wrong command line.
pub const USAGE: u8 = 2;
/// Exit code when there is no daemon.
pub const NO_DAEMON: u8 = 3;
/// Exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The group, for example `observe`.
    pub category: String,
    /// The verb, for example `page`.
    pub op: String,
    /// The data, or the error.
    pub result: Result<Value, Failure>,
}

/// An error as the envelope has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// `failed` or `interrupted`.
    pub status: &'static str,
    /// One of the daemon's codes, or `NO_DAEMON`, `INTERRUPTED`.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Facts.
    pub details: Value,
    /// Whether the same may succeed later.
    pub retryable: bool,
    /// Names the call in events and logs.
    pub trace: Option<String>,
    /// Exit code.
    pub exit: u8,
}

impl Failure {
    /// A failure of this program itself.
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
}

impl Outcome {
    /// The exit code that says it.
    pub fn exit(&self) -> u8 {
        self.result.as_ref().err().map_or(0, |f| f.exit)
    }

    /// The envelope of `af`.
    pub fn envelope(&self) -> Value {
        let mut envelope = Map::new();
        envelope.insert("category".into(), json!(self.category));
        envelope.insert("op".into(), json!(self.op));
        let trace = match &self.result {
            Ok(data) => data.get("traceId").cloned().unwrap_or_default(),
            Err(failure) => json!(failure.trace),
        };
        envelope.insert("traceId".into(), trace);
        match &self.result {
            Ok(data) => {
                envelope.insert("status".into(), json!("ok"));
                envelope.insert("data".into(), data.clone());
            }
            Err(f) => {
                envelope.insert("status".into(), json!(f.status));
                let detail = |key: &str| f.details.get(key).cloned().unwrap_or(Value::Null);
                let error = json!({
                    "code": f.code, "message": f.message, "hint": f.hint, "retryable": f.retryable,
                    "details": f.details, "raw": detail("raw"), "status": detail("status"),
                });
                envelope.insert("error".into(), error);
            }
        }
        Value::Object(envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_has_the_keys_of_af() {
        let ok = Outcome { category: "observe".into(), op: "top".into(), result: Ok(json!({"traceId": "t", "topActivity": null})) };
        assert_eq!(
            ok.envelope(),
            json!({"category": "observe", "op": "top", "status": "ok", "traceId": "t", "data": {"traceId": "t", "topActivity": null}})
        );
        let mut failure = Failure::new("DEVICE_ERROR", "no", 1);
        failure.details = json!({"status": 500, "raw": "boom"});
        let failed = Outcome { category: "act".into(), op: "tap".into(), result: Err(failure) }.envelope();
        assert_eq!(failed["status"], "failed");
        assert_eq!((&failed["error"]["status"], &failed["error"]["raw"]), (&json!(500), &json!("boom")));
    }
}
