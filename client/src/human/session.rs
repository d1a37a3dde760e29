//! What an agent is doing, what was said, what was learned.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{BAD, BOLD, DIM, GOOD, WARN, cell, items, paint, shorten, table, text, time};

fn more(data: &Value) -> String {
    data.get("nextCursor").map(|cursor| paint(DIM, &format!("more: --cursor {cursor}\n"))).unwrap_or_default()
}

fn lines(out: &mut String, title: &str, rows: &[Value]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", paint(BOLD, title));
    for row in rows {
        let _ = writeln!(out, "  {}", row.as_str().map_or_else(|| row.to_string(), str::to_owned));
    }
}

fn severity(word: &str) -> String {
    let style = match word {
        "critical" | "high" => BAD,
        "medium" => WARN,
        _ => DIM,
    };
    paint(style, word)
}

fn status(word: &str) -> String {
    let style = match word {
        "passed" | "active" | "resolved" => GOOD,
        "failed" | "error" | "open" => BAD,
        _ => DIM,
    };
    paint(style, word)
}

fn day(value: &Value) -> String {
    value.as_i64().map(time).unwrap_or_default()
}

pub(super) fn sessions(data: &Value) -> String {
    let row = |s: &Value| {
        let (tasks, bugs) = (&s["tasks"], &s["bugs"]);
        let done = ["passed", "failed", "skipped"].iter().filter_map(|k| tasks[k].as_i64()).sum::<i64>();
        let left = ["pending", "active"].iter().filter_map(|k| tasks[k].as_i64()).sum::<i64>();
        json!({
            "session": s["session"], "status": s["status"], "app": s["app"], "goal": s["goal"], "started": day(&s["startedAt"]),
            "lastActivity": day(&s["lastActivityAt"]), "done": done, "left": left, "openBugs": bugs["open"],
        })
    };
    let rows: Vec<Value> = items(data, "sessions").iter().map(row).collect();
    table(&rows, &["session", "status", "started", "lastActivity", "done", "left", "openBugs", "app", "goal"]) + &more(data)
}

pub(super) fn shown(data: &Value) -> String {
    let mut out = format!("{} {}\n", paint(BOLD, &text(data, "session")), status(&text(data, "status")));
    out.push_str(&text(data, "summary"));
    out.push('\n');
    if let Some(task) = data["currentTask"].as_object() {
        let task = Value::Object(task.clone());
        let _ = writeln!(out, "{} {}  {}", paint(BOLD, "now"), text(&task, "description"), paint(DIM, &text(&task, "progress")));
    }
    if !items(data, "queue").is_empty() {
        out.push_str(&tasks_table(items(data, "queue")));
    }
    if !items(data, "openBugs").is_empty() {
        out.push_str(&bugs_table(items(data, "openBugs")));
    }
    lines(&mut out, "next", items(data, "nextSteps"));
    lines(&mut out, "in the way", items(data, "blockers"));
    out
}

fn tasks_table(tasks: &[Value]) -> String {
    let blocked = |t: &Value| {
        let ids: Vec<String> = items(t, "blockedBy").iter().map(Value::to_string).collect();
        ids.join(",")
    };
    let row = |t: &Value| {
        json!({"id": t["id"], "status": t["status"], "priority": t["priority"], "waitsFor": blocked(t), "task": t["description"],
            "outcome": if t["status"] == "active" { &t["progress"] } else { &t["summary"] }})
    };
    let rows: Vec<Value> = tasks.iter().map(row).collect();
    table(&rows, &["id", "status", "priority", "waitsFor", "task", "outcome"])
}

pub(super) fn tasks(data: &Value) -> String {
    tasks_table(items(data, "tasks"))
}

pub(super) fn task(data: &Value) -> String {
    format!("task {} {}: {}\n", text(data, "id"), status(&text(data, "status")), text(data, "description"))
}

fn bugs_table(bugs: &[Value]) -> String {
    let rows: Vec<Value> = bugs
        .iter()
        .map(|b| {
            json!({"id": b["id"], "severity": b["severity"], "status": b["status"], "found": day(&b["createdAt"]), "session": b["session"],
                "title": b["title"], "page": page(b)})
        })
        .collect();
    table(&rows, &["id", "severity", "status", "found", "session", "title", "page"])
}

pub(super) fn bugs(data: &Value) -> String {
    let c = &data["counts"];
    let counts = format!(
        "{} bugs, {} open: {} critical, {} high, {} medium, {} low",
        c["total"], c["open"], c["critical"], c["high"], c["medium"], c["low"]
    );
    format!("{}\n{}{}", paint(DIM, &counts), bugs_table(items(data, "bugs")), more(data))
}

pub(super) fn bug_added(data: &Value) -> String {
    let bug = &data["bug"];
    let mut out =
        format!("{} bug {} {}: {}\n", paint(GOOD, "recorded"), text(bug, "id"), severity(&text(bug, "severity")), text(bug, "title"));
    if !items(data, "similar").is_empty() {
        let _ = writeln!(out, "{}", paint(WARN, "open bugs that are called much the same:"));
        out.push_str(&bugs_table(items(data, "similar")));
    }
    out
}

pub(super) fn bug_in_full(data: &Value) -> String {
    let mut out = format!(
        "{} {} {}  {}\n",
        paint(BOLD, &text(data, "title")),
        severity(&text(data, "severity")),
        status(&text(data, "status")),
        paint(DIM, &day(&data["createdAt"]))
    );
    for (name, key) in [
        ("description", "description"),
        ("expected", "expected"),
        ("actual", "actual"),
        ("resolution", "resolution"),
        ("session", "session"),
        ("app", "app"),
        ("screenshot", "screenshot"),
    ] {
        if !text(data, key).is_empty() {
            let _ = writeln!(out, "{name}: {}", text(data, key));
        }
    }
    if !page(data).is_empty() {
        let _ = writeln!(out, "page: {}", page(data));
    }
    let steps: Vec<Value> = items(data, "steps")
        .iter()
        .enumerate()
        .map(|(i, s)| Value::from(format!("{}. {}", i + 1, s.as_str().unwrap_or_default())))
        .collect();
    lines(&mut out, "steps", &steps);
    out
}

/// Where it is: a page key begins with its activity, and goes on with what only programs read.
fn page(row: &Value) -> String {
    let page = text(row, "page");
    page.strip_prefix("act=").and_then(|rest| rest.split('|').next()).map_or(page.clone(), str::to_owned)
}

pub(super) fn bug(data: &Value) -> String {
    let why = text(data, "resolution");
    format!("bug {} {}: {} {}\n", text(data, "id"), status(&text(data, "status")), text(data, "title"), paint(DIM, &why))
}

pub(super) fn results(data: &Value) -> String {
    let c = &data["counts"];
    let counts =
        format!("{} results: {} passed, {} failed, {} skipped, {} errors", c["total"], c["passed"], c["failed"], c["skipped"], c["error"]);
    let rows: Vec<Value> = items(data, "results")
        .iter()
        .map(|r| {
            json!({"id": r["id"], "status": r["status"], "at": day(&r["createdAt"]), "session": r["session"], "test": r["name"],
                "ms": r["durationMs"], "seen": r["summary"]})
        })
        .collect();
    format!("{}\n{}{}", paint(DIM, &counts), table(&rows, &["id", "status", "at", "session", "test", "ms", "seen"]), more(data))
}

pub(super) fn result(data: &Value) -> String {
    format!("{} result {} {}: {}\n", paint(GOOD, "recorded"), text(data, "id"), status(&text(data, "status")), text(data, "name"))
}

pub(super) fn tested(data: &Value) -> String {
    let rows = items(data, "elements");
    format!(
        "{} {} elements, {} in all\n{}",
        paint(GOOD, "marked"),
        rows.len(),
        text(data, "total"),
        table(rows, &["element", "component", "passed", "failed", "times"])
    )
}

pub(super) fn coverage(data: &Value) -> String {
    let row = |what: &str, key: &str| {
        let missing: Vec<&str> = items(&data[key], "missing").iter().filter_map(Value::as_str).collect();
        json!({"what": what, "known": data[key]["known"], "covered": data[key]["covered"], "percent": data[key]["percent"],
            "missing": shorten(&missing.join(", "))})
    };
    let rows = [row("pages visited", "pages"), row("pages tested", "pagesTested"), row("elements tested", "elements")];
    format!(
        "{}: {} %\n{}",
        paint(BOLD, &text(data, "app")),
        text(data, "coveragePercent"),
        table(&rows, &["what", "known", "covered", "percent", "missing"])
    )
}

fn warnings(data: &Value) -> String {
    items(data, "warnings").iter().filter_map(Value::as_str).map(|w| format!("{} {w}\n", paint(WARN, "warning"))).collect()
}

pub(super) fn progress(data: &Value) -> String {
    let auto = if data["auto"] == true { ", and again on every change" } else { "" };
    format!("{} {}\n        {}{auto}\n{}", paint(GOOD, "written"), text(data, "file"), text(data, "reportFile"), warnings(data))
}

pub(super) fn resumed(data: &Value) -> String {
    format!("{}\n\n{}\n", paint(GOOD, &text(data, "summary")), text(data, "resumptionPrompt"))
}

pub(super) fn reported(data: &Value) -> String {
    format!("{} {} ({} bytes, {} pictures)\n", paint(GOOD, "written"), text(data, "file"), text(data, "sizeBytes"), text(data, "pictures"))
}

pub(super) fn ended(data: &Value) -> String {
    format!(
        "{} {}\n{}\nreport   {}\nprogress {}\n",
        paint(GOOD, "ended"),
        text(data, "session"),
        text(data, "summary"),
        text(&data["report"], "file"),
        text(data, "progressFile")
    )
}

pub(super) fn exported(data: &Value) -> String {
    match data.get("document") {
        Some(document) => serde_json::to_string_pretty(document).unwrap_or_default() + "\n",
        None => format!("{} {} ({} bytes)\n", paint(GOOD, "written"), text(data, "file"), text(data, "sizeBytes")),
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
    let rows: Vec<Value> = items(data, "patterns").iter().map(pattern_row).collect();
    table(&rows, &["id", "kind", "confidence", "used", "text", "app", "page"])
}

pub(super) fn pattern(data: &Value) -> String {
    table(&[pattern_row(data)], &["id", "kind", "confidence", "used", "text", "app", "page"])
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
