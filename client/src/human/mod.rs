//! Answers for people: a headline, tables, colours where the terminal has them.

mod conversation;
mod devices;
mod parts;
mod records;
mod session;
mod visual;

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::AnsiColor;
use serde_json::Value;

use crate::outcome::Outcome;
use crate::safe;

use parts::{BAD, BOLD, DIM, GOOD, WARN, action, cell, fields, first, items, lines, more, shorten, target, text, time};
pub use parts::{kebab, paint, table};
use records::{artifacts, config, event_row, imported, notes, saved, setting_changed};
pub use records::{experience, log};

/// Prints an outcome: the data on standard output, a failure on standard error.
pub fn print(outcome: &Outcome) {
    match &outcome.result {
        Ok(data) => {
            let mut data = data.clone();
            safe::value(&mut data);
            let _ = writeln!(anstream::stdout(), "{}", success(outcome, &data).trim_end());
        }
        Err(failure) => {
            let mut failure = failure.clone();
            safe::value(&mut failure.details);
            failure.message = safe::block(&failure.message);
            failure.hint = failure.hint.map(|hint| safe::block(&hint));
            let mut text = format!("{} {}", paint(BAD.bold(), &failure.code), failure.message);
            if let Some(candidates) = failure.details.get("candidates").and_then(Value::as_array) {
                let _ = write!(text, "\n{}", table(candidates, &["label", "class", "resId", "bounds"]));
            }
            if let Some(hint) = &failure.hint {
                let _ = write!(text, "\n{} {hint}", paint(WARN, "hint:"));
            }
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }
}

fn success(outcome: &Outcome, data: &Value) -> String {
    match (outcome.category.as_str(), outcome.op.as_str()) {
        ("observe", op) => observed(op, data),
        ("act", "shell") => shell(data),
        ("act", op) => acted(op, data),
        ("recover", op) => recovered(op, data),
        ("verify", op) => verified(op, data),
        ("memory", "log") => log(data),
        ("memory", "save") => saved(data),
        ("memory", "search") => notes(data),
        ("memory", "experience") => experience(data),
        ("device", "list") => devices::devices(items(data, "devices")),
        ("device", "packages") => lines(items(data, "packages")),
        ("import", _) => imported(data),
        ("connect", _) => devices::connected(data),
        ("health", _) => devices::health(data),
        ("job", "list") => table(items(data, "jobs"), &["name", "everyMs", "runs", "lastRunAt", "lastResult", "lastError", "about"]),
        ("artifact", "list") => artifacts(data),
        ("config", "list") => config(data),
        ("config", _) => setting_changed(data),
        ("visual", op) => visual::answer(op, data),
        ("session", op) => session::answer(op, data),
        ("conversation", op) => conversation::answer(op, data),
        ("pattern" | "page-model", "delete") => format!("{} {}\n", paint(GOOD, "deleted"), text(data, "id")),
        ("pattern", _) => conversation::patterns(data),
        ("page-model", _) => conversation::page_models(data),
        ("daemon", "status") => devices::status(data),
        _ => fields(data, 0),
    }
}

fn observed(op: &str, data: &Value) -> String {
    match op {
        "top" => format!("{}\n", first(&[text(data, "topActivity"), text(data, "app"), "unknown".into()])),
        "screenshot" => screenshot(data),
        "overlay-get" | "overlay-set" => fields(data, 0),
        "wait" => {
            format!("{} {} after {} ms\n{}", paint(GOOD, "it is so:"), text(data, "until"), text(data, "waitedMs"), observation(data))
        }
        _ => observation(data),
    }
}

fn recovered(op: &str, data: &Value) -> String {
    let cause = text(data, "failureCause");
    let about = if cause.is_empty() { String::new() } else { format!(" after {cause}") };
    format!("{} recover {op}{about}: {}\n", paint(GOOD, "done"), text(data, "result"))
}

fn observation(data: &Value) -> String {
    let mut out = String::new();
    let place = first(&[text(data, "topActivity"), text(data, "app"), "unknown place".into()]);
    let moving = data["reliable"] == false && text(data, "reason").contains("moving");
    let state = match (data["settled"] == true, moving) {
        (true, _) => paint(GOOD, "settled"),
        (false, true) => paint(BAD, "still moving"),
        (false, false) => paint(WARN, "read once: not known to be settled"),
    };
    let _ = writeln!(out, "{}  {state}  {}", paint(BOLD, &place), paint(DIM, &text(data, "mode")));
    if data["reliable"] == false {
        let _ = writeln!(out, "{} {}", paint(BAD, "not reliable:"), text(data, "reason"));
    }
    let _ = writeln!(out, "{}", paint(DIM, data["page"]["fingerprint"].as_str().unwrap_or_default()));
    for part in [data, &data["screen"], &data["refs"]] {
        out.push_str(&rows_table(part));
    }
    hints(items(data, "hints"), &mut out);
    out
}

/// The rows of a part, and where the others are.
fn rows_table(part: &Value) -> String {
    let mut out = String::new();
    let rows = items(part, "rows");
    if let Some(file) = part["artifact"]["savedFile"].as_str() {
        let _ = writeln!(out, "{}", paint(DIM, &format!("written to {file}")));
    }
    if rows.is_empty() {
        return out;
    }
    let columns: &[&str] = if rows[0].get("ref").is_some() {
        &["ref", "label", "class", "resId", "flags", "bounds", "window"]
    } else {
        &["id", "class", "text", "desc", "resId", "flags", "bounds"]
    };
    out.push_str(&table(rows, columns));
    if part["truncated"] == true {
        let all = first(&[text(part, "refCount"), text(part, "rowCount")]);
        let shown = format!("{} of {all} rows: --max-rows or --full shows more, and text or id still reach the rest", rows.len());
        let _ = writeln!(out, "{}", paint(WARN, &shown));
    }
    out
}

fn screenshot(data: &Value) -> String {
    let file = &data["artifact"]["savedFile"];
    let mut out =
        format!("{}x{} {} in {}", text(data, "width"), text(data, "height"), text(data, "mimeType"), file.as_str().unwrap_or_default());
    if let Some(scale) = data["scale"].as_f64() {
        let _ = write!(
            out,
            " {}",
            paint(DIM, &format!("{scale:.3} of the screen's {}x{}", text(data, "deviceWidth"), text(data, "deviceHeight")))
        );
    }
    out.push('\n');
    out.push_str(&rows_table(&data["refs"]));
    out
}

fn hints(hints: &[Value], out: &mut String) {
    for hint in hints {
        let style = match text(hint, "kind").as_str() {
            "action" => GOOD,
            "recovery" => AnsiColor::Cyan.on_default(),
            _ => BAD,
        };
        let _ = writeln!(
            out,
            "{} {} {}",
            paint(style, &text(hint, "kind")),
            text(hint, "text"),
            paint(DIM, &format!("confidence {}", text(hint, "confidence")))
        );
    }
}

fn acted(op: &str, data: &Value) -> String {
    let what = data.get("target").map(|t| format!(" {}", target(t))).unwrap_or_default();
    let moved = if data["moved"] == true { paint(WARN, " (it had moved)") } else { String::new() };
    let replayed = if data["replayed"] == true { paint(WARN, " (recorded before; nothing was done now)") } else { String::new() };
    format!(
        "{} {op}{what}{moved}{replayed}: {} {}\n",
        paint(GOOD, "done"),
        text(data, "result"),
        paint(DIM, &format!("{} ms", text(data, "durationMs")))
    )
}

fn shell(data: &Value) -> String {
    let file = data["artifact"]["savedFile"].as_str();
    match (data["output"].as_str(), file) {
        (Some(output), _) => output.to_owned(),
        (None, Some(file)) => format!("{}\n", paint(DIM, &format!("the output is in {file}"))),
        (None, None) => format!("{}\n", paint(WARN, "run before; its output was not kept")),
    }
}

fn verified(op: &str, data: &Value) -> String {
    let count = text(data, "matchedCount");
    let found = if count.is_empty() { text(data, "actual") } else { format!("{count} matching") };
    let mut out = format!("{} {op}: {found}\n", paint(GOOD, "holds"));
    if !items(data, "nodes").is_empty() {
        out.push_str(&table(items(data, "nodes"), &["class", "text", "desc", "resId", "bounds"]));
    }
    out
}

/// One line of the live stream.
pub fn live(message: &Value) -> String {
    match text(message, "kind").as_str() {
        "event" => {
            let row = event_row(message);
            let status = text(&row, "status");
            let style = if status == "ok" { GOOD } else { BAD };
            format!(
                "{} {:>6} {}/{} {} {} {} {}",
                paint(DIM, &cell(message, "at")),
                text(message, "seq"),
                text(message, "session"),
                text(message, "device"),
                paint(style, &status),
                text(&row, "what"),
                paint(BAD, &text(&row, "cause")),
                paint(DIM, &text(&row, "activity"))
            )
        }
        "observation" => format!(
            "{} {:>6} {}/{} {}",
            paint(DIM, &cell(message, "at")),
            text(message, "seq"),
            text(message, "session"),
            text(message, "device"),
            paint(DIM, &format!("observe {} {}", text(message, "source"), text(message, "activity")))
        ),
        "visual" => visual::change(message).trim_end().to_owned(),
        "device" => format!("device {} is {}", text(message, "device"), paint(WARN, &text(message, "state"))),
        _ => message.to_string(),
    }
}
