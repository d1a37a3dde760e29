//! What was said, and what was learned of it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{BAD, BOLD, DIM, GOOD, WARN, cell, fields, items, more, paint, shorten, table, text};

/// What `conversation.*` answered.
pub(super) fn answer(op: &str, data: &Value) -> String {
    match op {
        "clear" => format!("{} messages left the context; they stay on record\n", text(data, "messages")),
        "append" => appended(data),
        "list" => messages(data),
        "usage" => usage(data),
        "context" => context(data),
        "compact" => compacted(data),
        "summary" => summary(data),
        "working" => working(data),
        _ => fields(data, 0),
    }
}

pub(super) fn usage(data: &Value) -> String {
    let mut out = format!(
        "{} of {} tokens ({} %), {} of {} messages; compacted above {} %\n{}\n",
        text(data, "used"),
        text(data, "limit"),
        text(data, "percentage"),
        text(data, "messages"),
        text(data, "maxMessages"),
        text(data, "threshold"),
        paint(
            DIM,
            &format!("on record: {} messages, {} tokens; counted by {}", data["recorded"], data["recordedTokens"], text(data, "tokenizer"))
        )
    );
    if let Some(fits) = data["canAfford"].as_bool() {
        let word = if fits { paint(GOOD, "fit") } else { paint(BAD, "do not fit") };
        let _ = writeln!(out, "{} tokens more {word}", text(data, "asked"));
    }
    out
}

pub(super) fn appended(data: &Value) -> String {
    let set: Vec<String> =
        data["contextSet"].as_object().into_iter().flatten().map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default())).collect();
    let mut out = format!("{} messages {} to {}, {} tokens\n", paint(GOOD, "appended"), data["first"], data["last"], data["tokens"]);
    if !set.is_empty() {
        let _ = writeln!(out, "context: {}", set.join(" "));
    }
    if data["compacted"].as_i64() > Some(0) {
        let _ = writeln!(out, "{} messages left the context for a summary", data["compacted"]);
    }
    out
}

/// What a message says, in one line.
fn said(message: &Value) -> String {
    let content = match &message["content"] {
        Value::Array(parts) => parts.iter().map(|p| p["text"].as_str().unwrap_or("[picture]")).collect::<Vec<_>>().join(" "),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let calls: Vec<String> = items(message, "toolCalls").iter().map(|c| format!("[{}]", text(c, "name"))).collect();
    [content, calls.join(" ")].iter().filter(|p| !p.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

pub(super) fn messages(data: &Value) -> String {
    let rows: Vec<Value> = items(data, "messages")
        .iter()
        .map(|m| {
            json!({"position": m["position"], "at": cell(m, "at"), "role": m["role"], "tokens": m["tokens"],
                "context": if m["inContext"] == true { "yes" } else { "" }, "said": said(m)})
        })
        .collect();
    table(&rows, &["position", "at", "role", "tokens", "context", "said"]) + &more(data)
}

pub(super) fn context(data: &Value) -> String {
    let mut out = String::new();
    if let Some(system) = data["system"].as_str() {
        let _ = writeln!(out, "{}\n{system}\n", paint(BOLD, "system"));
    }
    for message in items(data, "messages") {
        let calls: String = ["toolCalls", "tool_calls"].iter().flat_map(|k| items(message, k)).map(|c| format!("\n{c}")).collect();
        let content = message["content"].as_str().map_or_else(|| message["content"].to_string(), str::to_owned);
        let content = if message["content"].is_null() { String::new() } else { content };
        let _ = writeln!(out, "{}\n{content}{calls}\n", paint(BOLD, &text(message, "role")));
    }
    let parts: Vec<String> = items(data, "parts").iter().map(|p| format!("{} {}", text(p, "part"), text(p, "tokens"))).collect();
    let _ = writeln!(
        out,
        "{}",
        paint(
            DIM,
            &format!(
                "{} of {} tokens by {} ({}); {} % saved of {}",
                data["tokens"],
                data["budget"],
                text(data, "tokenizer"),
                parts.join(", "),
                data["savedPercent"],
                data["tokensOfAll"]
            )
        )
    );
    for left in items(data, "leftOut") {
        let _ = writeln!(out, "{} {} {}: {}", paint(WARN, "left out"), text(left, "count"), text(left, "what"), text(left, "why"));
    }
    out
}

pub(super) fn summary(data: &Value) -> String {
    let mut out: String = items(data, "lines").iter().filter_map(Value::as_str).map(|l| format!("{l}\n")).collect();
    let keys = data["context"].as_object().into_iter().flatten();
    for (key, value) in keys {
        let _ = writeln!(out, "{key}: {}", value.as_str().unwrap_or_default());
    }
    let figures = format!("{} tokens in the place of {}, {} % saved", data["tokens"], data["tokensOfAll"], data["savedPercent"]);
    let _ = writeln!(out, "{}", paint(DIM, &figures));
    if let Some(kept) = data.get("compacted").filter(|k| !k.is_null()) {
        let _ = writeln!(out, "{} {}\n{}", paint(BOLD, "before that"), paint(DIM, &text(kept, "method")), text(kept, "text"));
    }
    out
}

pub(super) fn working(data: &Value) -> String {
    let mut out = usage(&data["usage"]);
    if let Some(what) = data["currentTask"]["description"].as_str() {
        let _ = writeln!(out, "{} {what}", paint(BOLD, "now"));
    }
    for (key, value) in data["context"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "{key}: {}", value.as_str().unwrap_or_default());
    }
    let row =
        |e: &Value| json!({"ref": e["ref"], "role": e["target"]["role"], "label": e["target"]["label"], "resId": e["target"]["resId"]});
    let rows: Vec<Value> = items(data, "activeElements").iter().map(row).collect();
    if !rows.is_empty() {
        let stale = if data["stale"] == true { paint(WARN, "something was done since") + "\n" } else { String::new() };
        out = out + &stale + &table(&rows, &["ref", "role", "label", "resId"]);
    }
    out + &table(items(data, "recentObservations"), &["at", "device", "source", "activity", "settled", "reliable"])
}

pub(super) fn compacted(data: &Value) -> String {
    let mut out = format!(
        "{} {} messages: {} tokens before, {} after; {} key facts learned\n",
        paint(GOOD, "compacted"),
        data["messages"],
        data["tokensBefore"],
        data["tokensAfter"],
        data["facts"]
    );
    if let Some(kept) = data.get("summary").filter(|k| !k.is_null()) {
        let waits = if kept["pending"] == true { ", a language model is asked for a better one" } else { "" };
        let _ = writeln!(out, "{}\n{}", paint(DIM, &format!("{}{waits}", text(kept, "method"))), text(kept, "text"));
    }
    out
}

fn pattern_row(p: &Value) -> Value {
    json!({"id": p["id"], "kind": p["kind"], "confidence": p["confidence"], "used": p["usageCount"], "app": p["app"], "page": p["page"],
        "text": p["text"]})
}

pub(super) fn patterns(data: &Value) -> String {
    let rows: Vec<Value> = match data.get("patterns") {
        Some(_) => items(data, "patterns").iter().map(pattern_row).collect(),
        None => vec![pattern_row(data)],
    };
    table(&rows, &["id", "kind", "confidence", "used", "text", "app", "page"])
}

pub(super) fn page_models(data: &Value) -> String {
    let row = |m: &Value| {
        let names: Vec<String> = items(m, "elements").iter().map(|e| text(e, "name")).collect();
        json!({"id": m["id"], "page": m["page"], "type": m["pageType"], "stability": m["stabilityScore"], "seen": m["seenCount"],
            "similarity": m["similarity"], "elements": shorten(&names.join(", "))})
    };
    let rows: Vec<Value> = match data.get("pageModels") {
        Some(_) => items(data, "pageModels").iter().map(row).collect(),
        None => vec![row(data)],
    };
    table(&rows, &["id", "page", "type", "stability", "seen", "similarity", "elements"])
}
