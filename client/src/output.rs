//! Prints an outcome: the envelope as JSON or as `key=value` lines, or formatted for people.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use afd_link::options::Format;
use afd_link::outcome::Outcome;
use afd_link::safe;
use afd_link::{agent, human};

/// Resolves `auto` to `human` if standard output is a terminal, else to `json`.
pub fn effective(format: Format) -> Format {
    match format {
        Format::Auto if std::io::stdout().is_terminal() => Format::Human,
        Format::Auto => Format::Json,
        other => other,
    }
}

/// Prints an outcome; returns false if it could not be written.
pub fn print(outcome: &Outcome, format: Format) -> bool {
    if let Some(field) = outcome.alone() {
        return write(format!("{}\n", safe::json(&field)).as_bytes());
    }
    match effective(format) {
        Format::Human => {
            human::print(outcome);
            true
        }
        Format::Agent => write(format!("{}\n", agent::text(outcome)).as_bytes()),
        Format::Text => {
            let envelope = serde_json::from_str(&outcome.json()).unwrap_or_default();
            write(format!("{}\n", text(&envelope)).as_bytes())
        }
        Format::Json | Format::Auto => write(format!("{}\n", safe::json(&outcome.json())).as_bytes()),
    }
}

/// Writes to standard output; returns false if that fails. A closed pipe is not a failure.
pub fn write(bytes: &[u8]) -> bool {
    let mut out = std::io::stdout();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.is_ok() || written.is_err_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Formats an envelope as `key=value` lines: `status`, `category`, `op` and `traceId`, then the data as
/// `data.<path>=<value>`, sorted by key.
pub fn text(envelope: &Value) -> String {
    let mut lines: Vec<String> =
        ["status", "category", "op", "traceId"].iter().map(|k| format!("{k}={}", scalar(&envelope[*k]))).collect();
    for part in ["data", "error"] {
        if let Some(value) = envelope.get(part) {
            flatten(part, value, &mut lines);
        }
    }
    lines.join("\n")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => safe::line(text),
        other => other.to_string(),
    }
}

fn flatten(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(k, v)| flatten(&format!("{path}.{}", safe::line(k)), v, out))
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(i, v)| flatten(&format!("{path}[{i}]"), v, out))
        }
        other => out.push(format!("{path}={}", scalar(other))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_output_is_flattened() {
        let envelope = json!({"category": "c", "op": "o", "status": "ok", "traceId": "t", "data": {"b": [1, {"x": "y"}], "a": {}, "traceId": "t"}});
        assert_eq!(
            text(&envelope),
            "status=ok\ncategory=c\nop=o\ntraceId=t\ndata.a={}\ndata.b[0]=1\ndata.b[1].x=y\ndata.traceId=t"
        );
    }
}
