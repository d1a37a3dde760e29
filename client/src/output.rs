//! Printing an outcome: the envelope as JSON, as `key=value` lines, or for people.

use std::io::{IsTerminal, Write};

use serde_json::{Map, Value, json};

use crate::cli::Format;
use crate::human;

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

/// The format that is meant by `auto`.
pub fn effective(format: Format) -> Format {
    match format {
        Format::Auto if std::io::stdout().is_terminal() => Format::Human,
        Format::Auto => Format::Json,
        other => other,
    }
}

/// Prints an outcome.
pub fn print(outcome: &Outcome, format: Format) {
    match effective(format) {
        Format::Human => human::print(outcome),
        Format::Text => line(&text(&outcome.envelope())),
        Format::Json | Format::Auto => line(&outcome.envelope().to_string()),
    }
}

/// A reader that goes away early is no fault.
fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// `status=`, `category=`, `op=`, `traceId=`, then `data.<path>=<value>` with sorted keys.
fn text(envelope: &Value) -> String {
    let mut lines: Vec<String> = ["status", "category", "op", "traceId"].iter().map(|k| format!("{k}={}", scalar(&envelope[*k]))).collect();
    for part in ["data", "error"] {
        if let Some(value) = envelope.get(part) {
            flatten(part, value, &mut lines);
        }
    }
    lines.join("\n")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('\n', "\\n"),
        other => other.to_string(),
    }
}

fn flatten(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => map.iter().for_each(|(k, v)| flatten(&format!("{path}.{k}"), v, out)),
        Value::Array(items) if !items.is_empty() => items.iter().enumerate().for_each(|(i, v)| flatten(&format!("{path}[{i}]"), v, out)),
        other => out.push(format!("{path}={}", scalar(other))),
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

    #[test]
    fn text_is_flat() {
        let outcome = Outcome { category: "c".into(), op: "o".into(), result: Ok(json!({"b": [1, {"x": "y"}], "a": {}, "traceId": "t"})) };
        assert_eq!(
            text(&outcome.envelope()),
            "status=ok\ncategory=c\nop=o\ntraceId=t\ndata.a={}\ndata.b[0]=1\ndata.b[1].x=y\ndata.traceId=t"
        );
    }
}
