//! Devices, how they are reached, and the daemon itself.

use std::fmt::Write as _;

use serde_json::Value;

use super::{BAD, DIM, GOOD, WARN, items, paint, table, text};

pub(super) fn devices(rows: &[Value]) -> String {
    if rows.is_empty() {
        return format!("{}\n", paint(DIM, "no devices; add one with `afctl device add NAME --url http://PHONE:8081 --token TOKEN`"));
    }
    table(rows, &["name", "kind", "url", "state", "lease", "waiting", "source"])
}

pub(super) fn health(data: &Value) -> String {
    let token = match text(data, "token").as_str() {
        "accepted" => paint(GOOD, "token accepted"),
        "refused" => paint(BAD, "token refused: afctl config set device.NAME.token TOKEN"),
        _ => paint(WARN, "token not checked"),
    };
    let connection = &data["connection"];
    let over = text(connection, "device");
    let over = if over.is_empty() { String::new() } else { format!(" over the cable of {over}") };
    format!(
        "{} {} at {}{over}, {token} {}\n",
        paint(GOOD, &text(data, "status")),
        text(data, "device"),
        text(connection, "url"),
        paint(DIM, &format!("{} ms", text(data, "durationMs")))
    )
}

pub(super) fn connected(data: &Value) -> String {
    let verb = if data["printOnly"] == true { paint(WARN, "would connect") } else { paint(GOOD, "connected") };
    let forward = if data["reused"] == true { "through the forward that is there" } else { "through a new forward" };
    let mut out = format!("{verb} {} as {} at {} {forward}\n", text(data, "deviceSerial"), text(data, "device"), text(data, "remoteUrl"));
    if let Some(step) = data["nextStep"].as_str() {
        let _ = writeln!(out, "{} {step}", paint(WARN, "next:"));
    }
    out
}

pub(super) fn status(data: &Value) -> String {
    let mut out = String::new();
    let seconds = data["uptimeMs"].as_u64().unwrap_or(0) / 1000;
    let _ = writeln!(out, "afd {}  pid {}  up {} s", text(data, "version"), text(data, "pid"), seconds);
    for key in ["socket", "database", "config"] {
        let _ = writeln!(out, "{:9} {}", key, text(data, key));
    }
    let store = &data["store"];
    let health =
        if store["writable"] == true { paint(GOOD, "writable") } else { paint(BAD, &format!("read-only: {}", text(store, "damage"))) };
    let _ = writeln!(out, "store     {health}, {} KiB, schema {}", store["sizeBytes"].as_u64().unwrap_or(0) / 1024, text(store, "schema"));
    let _ = writeln!(out, "load      {} connections, {} calls in flight", text(data, "connections"), text(data, "callsInFlight"));
    if !text(data, "configError").is_empty() {
        let _ = writeln!(out, "{} {}", paint(BAD, "settings refused:"), text(data, "configError"));
    }
    for key in items(data, "configWarnings") {
        let _ = writeln!(out, "{} {}", paint(WARN, "unknown setting:"), key.as_str().unwrap_or_default());
    }
    out.push_str(&table(items(data, "devices"), &["name", "kind", "url", "state", "error", "lease", "waiting"]));
    out
}
