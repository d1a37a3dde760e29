//! What screens are made of, and how to get from one to another.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{BAD, BOLD, DIM, GOOD, WARN, cell, fields, items, more, paint, table, text};

/// What `visual.*` answered.
pub(super) fn answer(op: &str, data: &Value) -> String {
    match op {
        "learn" => learned(data),
        "match" => matched(data),
        "components" => components(data),
        "states" => states(data),
        "transitions" => transitions(data),
        "path" => path(data),
        "graph" => graph(data),
        "history" => changes(data),
        "delete" | "undo" => change(data),
        "cleanup" => cleaned(data),
        "import" => imported(data),
        "export" => exported(data),
        _ => fields(data, 0),
    }
}

/// What it is about, and how many there are.
fn head(data: &Value, what: &str, count: usize) -> String {
    let site = data.get("site").and_then(Value::as_str).map(|s| format!(" / {s}")).unwrap_or_default();
    paint(DIM, &format!("{}{site}: {count} {what}", text(data, "app"))) + "\n"
}

fn joined(value: &Value) -> String {
    value.as_array().map(|a| a.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

fn percent(value: &Value) -> String {
    value.as_f64().map(|v| format!("{:.0}%", v * 100.0)).unwrap_or_default()
}

pub(super) fn learned(data: &Value) -> String {
    let state = match (&data["state"], data["newState"] == true) {
        (Value::Null, _) => paint(WARN, "no state yet: it takes a second look"),
        (state, new) => format!("{} {}{}", text(state, "id"), text(state, "name"), if new { " (new)" } else { "" }),
    };
    let count = |key: &str| text(data, key);
    let mut out = format!("{} {state}\n", paint(GOOD, "learned"));
    let _ = writeln!(
        out,
        "{} seen, {} new, {} missed; learned {} times of {}",
        count("seen"),
        count("newComponents"),
        count("missed"),
        count("learnCount"),
        text(data, "app")
    );
    for skipped in items(data, "skipped").iter().filter_map(Value::as_str) {
        let _ = writeln!(out, "{} {skipped}", paint(WARN, "skipped"));
    }
    out
}

pub(super) fn components(data: &Value) -> String {
    let rows = items(data, "components");
    let row = |c: &Value| {
        json!({
            "name": c["name"], "type": c["type"], "label": c["label"], "bounds": c["bounds"], "seen": c["seenCount"],
            "missed": c["consecutiveMisses"], "states": joined(&c["states"]), "lastSeen": cell(c, "lastSeen"),
        })
    };
    let shown: Vec<Value> = rows.iter().map(row).collect();
    head(data, "components", rows.len())
        + &table(&shown, &["name", "type", "label", "bounds", "seen", "missed", "states", "lastSeen"])
        + &more(data)
}

pub(super) fn states(data: &Value) -> String {
    let rows = items(data, "states");
    let row = |s: &Value| {
        let way = s["interrupt"]["dismissals"].get(0).map(|d| text(d, "action"));
        let about = if s["interrupt"].is_null() {
            text(s, "place")
        } else {
            format!("pop-up; {}", way.unwrap_or_else(|| "no way out known".into()))
        };
        json!({
            "id": s["id"], "name": s["name"], "kind": s["kind"], "visits": s["visitCount"], "place": about,
            "components": s["definingComponents"].as_array().map(Vec::len), "lastSeen": cell(s, "lastSeen"),
        })
    };
    let shown: Vec<Value> = rows.iter().map(row).collect();
    head(data, "states", rows.len()) + &table(&shown, &["id", "name", "kind", "visits", "components", "place", "lastSeen"])
}

fn step(edge: &Value) -> Value {
    json!({
        "from": edge["from"], "action": edge["action"], "to": edge["to"], "count": edge["count"], "tries": edge["attempts"],
        "success": percent(&edge["successRate"]), "chance": percent(&edge["probability"]), "ms": edge["meanMs"],
    })
}

pub(super) fn transitions(data: &Value) -> String {
    let rows: Vec<Value> = items(data, "transitions").iter().map(step).collect();
    head(data, "transitions", rows.len()) + &table(&rows, &["from", "action", "to", "count", "tries", "success", "ms"])
}

fn route(name: &str, route: &Value) -> String {
    let steps: Vec<Value> = items(route, "steps").iter().map(step).collect();
    let chance = percent(&route["probability"]);
    let title = paint(BOLD, &format!("{name}: {chance}, {} ms", text(route, "expectedMs")));
    if steps.is_empty() { String::new() } else { format!("{title}\n{}", table(&steps, &["from", "action", "to", "chance", "ms"])) }
}

pub(super) fn path(data: &Value) -> String {
    let style = if data["known"] == true { GOOD } else { BAD };
    let mut out = paint(style, &text(data, "text")) + "\n";
    out.push_str(&route("way", &data["route"]));
    for (i, other) in items(data, "alternatives").iter().enumerate() {
        out.push_str(&route(&format!("other way {}", i + 1), other));
    }
    for popup in items(data, "interrupts") {
        let way = popup["interrupt"]["dismissals"].get(0).map(|d| text(d, "action")).unwrap_or_else(|| "no way out known".into());
        let _ = writeln!(out, "{} {}: {way}", paint(WARN, "may come up:"), text(popup, "name"));
    }
    out
}

pub(super) fn graph(data: &Value) -> String {
    match data.get("graph").and_then(Value::as_str) {
        Some(drawing) => drawing.to_owned(),
        None => format!(
            "{} {} ({} states, {} transitions)\n",
            paint(GOOD, "saved"),
            text(&data["artifact"], "savedFile"),
            text(data, "states"),
            text(data, "transitions")
        ),
    }
}

/// A change as a line.
pub(super) fn change(change: &Value) -> String {
    let undone = if change["undoneAt"].is_null() { String::new() } else { paint(WARN, " (undone)") };
    let line = format!("{:>5} {} {} {}", text(change, "id"), cell(change, "at"), paint(GOOD, &text(change, "op")), text(change, "what"));
    format!("{line}{undone} {}\n", paint(DIM, &format!("{}: {}", text(change, "app"), text(change, "why"))))
}

pub(super) fn changes(data: &Value) -> String {
    let lines: String = items(data, "changes").iter().map(change).collect();
    if lines.is_empty() { paint(DIM, "nothing") + "\n" } else { lines + &more(data) }
}

pub(super) fn cleaned(data: &Value) -> String {
    let rows = items(data, "changes");
    let done = if data["dryRun"] == true { paint(WARN, "would go:") } else { paint(GOOD, "gone:") };
    format!("{done} {} components\n{}", rows.len(), table(rows, &["component", "why", "historyId"]))
}

fn about(row: &Value) -> String {
    let site = row.get("site").and_then(Value::as_str).map(|s| format!(" / {s}")).unwrap_or_default();
    text(row, "app") + &site
}

pub(super) fn imported(data: &Value) -> String {
    let mut out =
        if data["dryRun"] == true { paint(WARN, "nothing was done; this is what would come of it") + "\n" } else { String::new() };
    let mut rows = Vec::new();
    for app in items(data, "imported") {
        for what in ["components", "states", "transitions", "pictures"] {
            let mut row = app[what].clone();
            row["app"] = about(app).into();
            row["what"] = what.into();
            rows.push(row);
        }
    }
    out.push_str(&table(&rows, &["app", "what", "found", "added", "present", "skipped"]));
    let remarks: Vec<Value> = items(data, "imported").iter().flat_map(|app| items(app, "remarks")).cloned().collect();
    if !remarks.is_empty() {
        out.push_str(&table(&remarks, &["file", "key", "why"]));
    }
    out
}

pub(super) fn exported(data: &Value) -> String {
    let row = |app: &Value| {
        let mut row = app.clone();
        row["app"] = about(app).into();
        row
    };
    let rows: Vec<Value> = items(data, "exported").iter().map(row).collect();
    table(&rows, &["app", "components", "states", "transitions", "pictures", "missingPictures", "dir"])
}

pub(super) fn matched(data: &Value) -> String {
    let found = items(data, "found");
    let title = format!("{} of {} found in {} ms\n", found.len(), text(data, "lookedFor"), text(data, "tookMs"));
    let mut out = paint(GOOD, title.trim_end()) + "\n" + &table(found, &["name", "bounds", "likeness", "how", "moved"]);
    for (key, what) in [("missing", "not there:"), ("flat", "of one brightness, not looked for:")] {
        let names = joined(&data[key]);
        if !names.is_empty() {
            let _ = writeln!(out, "{} {names}", paint(WARN, what));
        }
    }
    out
}
