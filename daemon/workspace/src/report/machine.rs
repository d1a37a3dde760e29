//! Reports for other programs: JUnit XML, which CI servers show, and JSON.

use std::fmt::Write as _;

use afd_proto::findings::{ResultStatus, TestResult};
use serde_json::json;

use super::super::summary::Digest;
use super::Moment;
use afd_store::rfc3339;

/// Escapes text for an XML attribute or element. Replaces control characters other than line feeds, and characters that
/// XML 1.0 forbids, with spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Renders the test results as JUnit XML: one suite with a test case for each result, oldest first.
pub fn junit(digest: &Digest) -> String {
    let count = |status: ResultStatus| digest.results.iter().filter(|r| r.status == status).count();
    let time: f64 = digest.results.iter().filter_map(|r| r.duration_ms).sum::<i64>() as f64 / 1000.0;
    let name = escaped(&digest.session.name);
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{time:.3}\"",
        digest.results.len(),
        count(ResultStatus::Failed),
        count(ResultStatus::Error),
        count(ResultStatus::Skipped)
    );
    let mut xml = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n");
    let began = rfc3339(digest.session.began());
    let _ = writeln!(xml, "  <testsuite name=\"{name}\" {counts} timestamp=\"{}\">", began.trim_end_matches('Z'));
    for result in digest.results.iter().rev() {
        xml.push_str(&case(digest, result));
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn case(digest: &Digest, result: &TestResult) -> String {
    let class = result.app.as_deref().or(digest.session.app.as_deref()).unwrap_or(&digest.session.name);
    let time = result.duration_ms.unwrap_or(0) as f64 / 1000.0;
    let head =
        format!("    <testcase name=\"{}\" classname=\"{}\" time=\"{time:.3}\"", escaped(&result.name), escaped(class));
    let summary = escaped(result.summary.as_deref().unwrap_or(""));
    let place = escaped(&digest.place(result.page.as_deref(), result.state.as_deref()));
    match result.status {
        ResultStatus::Passed => format!("{head}/>\n"),
        ResultStatus::Skipped => format!("{head}>\n      <skipped message=\"{summary}\"/>\n    </testcase>\n"),
        ResultStatus::Failed => {
            format!("{head}>\n      <failure message=\"{summary}\">{place}</failure>\n    </testcase>\n")
        }
        ResultStatus::Error => {
            format!("{head}>\n      <error message=\"{summary}\">{place}</error>\n    </testcase>\n")
        }
    }
}

/// Renders a report as JSON.
pub fn json(digest: &Digest, moments: &[Moment]) -> String {
    let line = |d: &Moment| json!({"at": rfc3339(d.at), "what": d.what, "ok": d.ok, "activity": d.activity, "picture": d.picture});
    let timeline: Vec<_> = moments.iter().map(line).collect();
    let tasks: Vec<_> = digest.done.iter().chain(&digest.current).chain(&digest.queue).collect();
    let report = json!({
        "session": digest.info,
        "summary": digest.summary(true),
        "statistics": digest.statistics,
        "coverage": digest.coverage,
        "tasks": tasks,
        "bugs": digest.bugs,
        "results": digest.results,
        "tested": digest.tested,
        "pages": digest.pages,
        "nextSteps": digest.next_steps(),
        "blockers": digest.blockers(),
        "timeline": timeline,
    });
    format!("{report:#}\n")
}
