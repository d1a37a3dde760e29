//! What an agent is doing, what was said, what was learned.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{BAD, BOLD, DIM, GOOD, WARN, fields, items, more, paint, shorten, table, text, time};

/// What `session.*` answered.
pub(super) fn answer(op: &str, data: &Value) -> String {
    match op {
        "list" => sessions(data),
        "start" | "show" => shown(data),
        "end" => ended(data),
        "progress" => progress(data),
        "resume" => resumed(data),
        "report" => reported(data),
        "export" => exported(data),
        "coverage" => coverage(data),
        "tested" => tested(data),
        "task-list" => tasks(data),
        "task-add" | "task-start" | "task-update" | "task-finish" => task(data),
        "bug-add" => bug_added(data),
        "bug-list" => bugs(data),
        "bug-show" => bug_in_full(data),
        "bug-resolve" => bug(data),
        "result-add" => result(data),
        "result-list" => results(data),
        _ => fields(data, 0),
    }
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
