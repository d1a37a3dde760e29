//! What is kept: events, knowledge, notes, artifacts, settings.

use std::fmt::Write as _;

use serde_json::Value;

use super::{BOLD, DIM, GOOD, WARN, action, first, items, kebab, paint, table, text};

/// Where a setting comes from, in words.
fn origin(setting: &Value) -> String {
    match (text(setting, "source").as_str(), text(setting, "origin")) {
        ("env", name) => format!("env {name}"),
        (source, _) => source.to_owned(),
    }
}

fn setting(setting: &Value) -> String {
    match &setting["value"] {
        Value::Null => "-".to_owned(),
        _ => text(setting, "value"),
    }
}

pub(super) fn config(data: &Value) -> String {
    let row = |s: &Value| serde_json::json!({"key": s["key"], "value": setting(s), "source": origin(s), "about": s["about"]});
    let rows: Vec<Value> = items(data, "settings").iter().map(row).collect();
    format!("{}\n{}", paint(DIM, &text(data, "file")), table(&rows, &["key", "value", "source", "about"]))
}

pub(super) fn imported(data: &Value) -> String {
    let mut out = String::new();
    if data["dryRun"] == true {
        let _ = writeln!(out, "{}", paint(WARN, "nothing was done; this is what would come of it"));
    }
    let row = |name: &str| {
        let mut row = data[name].clone();
        row["what"] = Value::from(name);
        row
    };
    let rows: Vec<Value> = ["notes", "transitions", "recoveries", "artifacts", "events"].map(row).into();
    out.push_str(&table(&rows, &["what", "found", "added", "present", "cleaned", "skipped"]));
    if !items(data, "settings").is_empty() {
        out.push_str(&table(items(data, "settings"), &["key", "outcome", "remark"]));
    }
    if !items(data, "remarks").is_empty() {
        out.push_str(&table(items(data, "remarks"), &["table", "id", "outcome", "why"]));
    }
    out
}

pub(super) fn artifacts(data: &Value) -> String {
    let mut out = table(items(data, "artifacts"), &["artifactId", "createdAt", "session", "kind", "sizeBytes", "status", "filePath"]);
    if let Some(cursor) = data.get("nextCursor") {
        let _ = writeln!(out, "{}", paint(DIM, &format!("more: --cursor {cursor}")));
    }
    out
}

pub(super) fn saved(data: &Value) -> String {
    let note = &data["note"];
    let chain = text(data, "chainLength");
    let mut out = format!("{} note {} in {} ({chain} in its chain)\n", paint(GOOD, "saved"), text(note, "id"), text(note, "topic"));
    for similar in items(data, "similar") {
        let _ =
            writeln!(out, "{} {} {}: {}", paint(WARN, "similar"), text(similar, "id"), text(similar, "topic"), text(similar, "content"));
    }
    out
}

pub(super) fn notes(data: &Value) -> String {
    let mut out = String::new();
    if data["matched"] == "any" {
        let _ = writeln!(out, "{}", paint(WARN, "no note has all the words; these have some"));
    }
    for note in items(data, "notes") {
        let app = first(&[text(note, "app"), "any app".to_owned()]);
        let _ = writeln!(out, "{} {}  {}", paint(BOLD, &text(note, "id")), paint(GOOD, &text(note, "topic")), paint(DIM, &app));
        let _ = writeln!(out, "    {}", first(&[text(note, "snippet"), text(note, "content")]).replace('\n', "\n    "));
    }
    if out.is_empty() {
        return format!("{}\n", paint(DIM, "nothing"));
    }
    if let Some(cursor) = data.get("nextCursor") {
        let _ = writeln!(out, "{}", paint(DIM, &format!("more: --cursor {cursor}")));
    }
    out
}

/// Events as a table.
pub fn log(data: &Value) -> String {
    let rows: Vec<Value> = items(data, "events").iter().map(event_row).collect();
    let mut out = table(&rows, &["seq", "at", "session", "device", "what", "status", "cause", "ms", "activity"]);
    if let Some(cursor) = data.get("nextCursor") {
        let _ = writeln!(out, "{}", paint(DIM, &format!("more: --cursor {cursor}")));
    }
    out
}

pub(super) fn event_row(event: &Value) -> Value {
    let expected = &event["evidence"]["expected"];
    let expected = if expected.is_null() { String::new() } else { format!(" {expected}") };
    let what = event.get("action").map_or_else(|| format!("{}{expected}", kebab(&text(event, "op"))), action);
    serde_json::json!({
        "seq": event["seq"], "at": event["at"], "session": event["session"], "device": event["device"],
        "what": format!("{} {what}", text(event, "category")), "status": event["status"], "cause": text(event, "failureCause"),
        "ms": event["durationMs"], "activity": text(event, "activity"),
    })
}

/// What is known, as two tables.
pub fn experience(data: &Value) -> String {
    let transition = |t: &Value| {
        serde_json::json!({
            "scope": t["matchScope"], "on": text(t, "preActivity"), "action": action(&t["action"]), "leads to": text(t, "postActivity"),
            "ok": t["successCount"], "verified": t["verifiedCount"], "failed": t["failureCount"], "last failure": text(t, "failureCause"),
        })
    };
    let recovery = |r: &Value| serde_json::json!({"scope": r["matchScope"], "on": text(r, "preActivity"), "after": r["failureCause"], "recover": action(&r["recovery"]), "worked": r["successCount"], "failed": r["failureCount"]});
    let transitions: Vec<Value> = items(data, "transitions").iter().map(transition).collect();
    let recoveries: Vec<Value> = items(data, "recoveries").iter().map(recovery).collect();
    format!(
        "{}\n{}{}\n{}",
        paint(BOLD, "What actions do"),
        table(&transitions, &["scope", "on", "action", "leads to", "ok", "verified", "failed", "last failure"]),
        paint(BOLD, "What cured failures"),
        table(&recoveries, &["scope", "on", "after", "recover", "worked", "failed"])
    )
}

/// A setting, and when it counts.
pub(super) fn setting_changed(data: &Value) -> String {
    let restart = data["changed"] == true && data["needsRestart"] == true;
    let later = if restart { paint(WARN, "\ncounts from the next start of the daemon on") } else { String::new() };
    format!("{} = {}  {}{later}\n", text(data, "key"), setting(data), paint(DIM, &origin(data)))
}
