//! Output for people: headlines, tables, and colours if the terminal supports them.

pub mod backup;
mod conversation;
pub mod daemon;
mod devices;
mod manage;
mod memory;
mod observe;
pub mod parts;
pub mod recall;
mod records;
pub mod render;
mod session;
mod visual;

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Map, Value};

use crate::outcome::{Outcome, Render};
use crate::safe;

pub use devices::status;
pub(crate) use observe::incident;
pub use observe::ref_table;
use parts::{BAD, DIM, WARN, fields};
pub use parts::{bytes, count, kebab, paint, table};
pub use records::{experience, live, log};

/// Adds the default parameters for people: requests the outline of a page, unless the call asks for rows or files.
pub fn add_defaults(method: &str, params: &mut Map<String, Value>) {
    let more = ["include", "maxRows", "saveDir"].iter().any(|name| params.contains_key(*name))
        || params.get("full") == Some(&Value::Bool(true));
    if method == "observe.page" && !more {
        params.entry("format").or_insert_with(|| "outline".into());
    }
}

/// Returns the function that renders a method's result; `None` if the result's fields are listed instead.
pub fn render_of(method: &str) -> Option<Render> {
    let modules = [
        backup::RENDERS,
        conversation::RENDERS,
        daemon::RENDERS,
        devices::RENDERS,
        manage::RENDERS,
        memory::RENDERS,
        observe::RENDERS,
        recall::RENDERS,
        records::RENDERS,
        session::RENDERS,
        visual::RENDERS,
    ];
    modules.into_iter().flatten().find(|(name, _)| *name == method).map(|(_, render)| *render)
}

/// Shows a call's progress on one line of standard error, in place of any progress shown before.
pub fn show_progress(step: afd_proto::rpc::Progress) {
    let done = match step.total {
        // Waits report their progress in milliseconds.
        Some(total) => format!("{} of {} s", step.done / 1000, total / 1000),
        None => step.done.to_string(),
    };
    let mut out = anstream::stderr();
    let _ = write!(out, "\r\u{1b}[K{}", paint(parts::DIM, &format!("{} ({done})", safe::line(&step.message))));
    let _ = out.flush();
}

/// Erases the progress line.
pub fn end_progress() {
    let mut out = anstream::stderr();
    let _ = write!(out, "\r\u{1b}[K");
    let _ = out.flush();
}

/// Prints an outcome: the result on standard output, a failure on standard error.
pub fn print(outcome: &Outcome) {
    match &outcome.result {
        Ok(data) => {
            let mut data: Value = serde_json::from_str(data.get()).unwrap_or_default();
            safe::value(&mut data);
            let text = outcome.render.and_then(|render| render(&data)).unwrap_or_else(|| fields(&data, 0));
            let _ = writeln!(anstream::stdout(), "{}", text.trim_end());
        }
        Err(failure) => {
            let mut failure = failure.clone();
            safe::value(&mut failure.details);
            failure.message = safe::foreign(&failure.message);
            failure.hint = failure.hint.map(|hint| safe::block(&hint));
            let mut text = format!("{} {}", paint(BAD.bold(), &failure.code), failure.message);
            if let Some(candidates) = failure.details.get("candidates").and_then(Value::as_array) {
                let cell = |candidate: &Value, key: &str| candidate[key].as_str().unwrap_or_default().to_owned();
                let rows = candidates.iter().map(|c| ["label", "class", "resId", "bounds"].map(|key| cell(c, key)));
                let _ = write!(text, "\n{}", table(["label", "class", "resId", "bounds"], rows));
            }
            for known in failure.details.get("remembered").and_then(Value::as_array).into_iter().flatten() {
                let word = |key: &str| known[key].as_str().unwrap_or_default();
                let from = paint(DIM, &format!("({}, by {})", word("type"), word("source")));
                let _ = write!(text, "\n{} {} {from}", paint(WARN, "remembered:"), word("text"));
            }
            if let Some(why) = failure.details.get("rememberedMissing").and_then(Value::as_str) {
                let _ = write!(text, "\n{} {why}", paint(WARN, "missing:"));
            }
            if let Some(hint) = &failure.hint {
                let _ = write!(text, "\n{} {hint}", paint(WARN, "hint:"));
            }
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }
}
