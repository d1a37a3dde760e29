//! Session reports: Markdown with linked images, one self-contained HTML page, or a machine-readable format
//! ([`machine`]).

pub mod html;
pub mod machine;

use afd_proto::findings::{Bug, TestResult};

use super::summary::{Digest, duration, page_name};
use afd_store::rfc3339;

/// An image used in a report.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Uid of the image artifact.
    pub artifact: String,
    /// Path of the image file.
    pub file: String,
    /// JPEG data of the image.
    pub jpeg: Vec<u8>,
}

/// An entry in the session timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Time of the action or check, in Unix milliseconds.
    pub at: i64,
    /// Description of the action or check, without typed text.
    pub what: String,
    /// Whether the action or check succeeded.
    pub ok: bool,
    /// Foreground activity, as `package/activity`.
    pub activity: Option<String>,
    /// Uid of the screenshot artifact.
    pub picture: Option<String>,
}

impl Picture {
    /// Returns the target for a Markdown link to the image file.
    fn link(&self) -> String {
        format!("<{}>", self.file.replace(['<', '>', '\n', '|'], "_"))
    }
}

/// Returns the picture with the given artifact uid.
fn find<'a>(pictures: &'a [Picture], artifact: Option<&String>) -> Option<&'a Picture> {
    pictures.iter().find(|p| Some(&p.artifact) == artifact)
}

/// Escapes text for a Markdown table cell or line.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            // Line breaks, and control characters that a terminal would interpret.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn bug(digest: &Digest, bug: &Bug, pictures: &[Picture]) -> String {
    let place = digest.place(bug.page.as_deref(), bug.state.as_deref());
    let mut lines =
        vec![format!("### {} ({}, {})", plain(&bug.title), bug.severity.word(), bug.status.word()), String::new()];
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!("* {name}: {}", plain(value)));
        }
    };
    field("Found", Some(rfc3339(bug.created_at).as_str()));
    field("Page", Some(place.as_str()).filter(|p| !p.is_empty()));
    field("Description", bug.description.as_deref());
    field("Expected", bug.expected.as_deref());
    field("Actual", bug.actual.as_deref());
    field("Resolution", bug.resolution.as_deref());
    if !bug.steps.is_empty() {
        lines.extend([String::new(), "Steps:".to_owned(), String::new()]);
        lines.extend(bug.steps.iter().enumerate().map(|(i, step)| format!("{}. {}", i + 1, plain(step))));
    }
    if let Some(picture) = find(pictures, bug.screenshot.as_ref()) {
        lines.extend([String::new(), format!("![screenshot]({})", picture.link())]);
    }
    lines.join("\n")
}

fn result(digest: &Digest, result: &TestResult, pictures: &[Picture]) -> String {
    let took = result.duration_ms.map_or(String::new(), |ms| format!("{ms} ms"));
    let shown =
        find(pictures, result.evidence.as_ref()).map_or(String::new(), |p| format!(" ![evidence]({})", p.link()));
    let cells = [
        plain(&result.name),
        result.status.word().to_owned(),
        plain(&digest.place(result.page.as_deref(), result.state.as_deref())),
        took,
        plain(result.summary.as_deref().unwrap_or("")) + &shown,
    ];
    format!("| {} |", cells.join(" | "))
}

/// Renders the report as Markdown; images are linked, not embedded.
pub fn markdown(digest: &Digest, moments: &[Moment], pictures: &[Picture]) -> String {
    let mut parts = vec![format!("# Session {}", plain(&digest.session.name))];
    if let Some(goal) = &digest.session.goal {
        parts.push(format!("Goal: {}", plain(goal)));
    }
    let ended = digest.session.ended_at.map_or("in progress".to_owned(), |at| format!("ended {}", rfc3339(at)));
    parts.push(format!("Started {}, {ended}, {}.", rfc3339(digest.session.began()), duration(digest.elapsed_ms())));
    parts.push(format!(
        "```text\n{}\n```",
        digest.summary(true).replace("```", "'''").replace(|c: char| c.is_control() && c != '\n', " ")
    ));
    let tasks = digest.done.iter().chain(&digest.current).chain(&digest.queue).map(|t| {
        let outcome = t
            .summary
            .as_deref()
            .or(t.progress.as_deref().filter(|_| t.finished_at.is_none()))
            .map_or(String::new(), |s| format!(": {}", plain(s)));
        format!("* [{}] {}{outcome}", t.status.word(), plain(&t.description))
    });
    parts.push(section("Tasks", tasks.collect()));
    parts
        .push(format!("## Bugs\n\n{}", joined(digest.bugs.iter().map(|b| bug(digest, b, pictures)).collect(), "\n\n")));
    if !digest.results.is_empty() {
        let rows: Vec<String> = digest.results.iter().map(|r| result(digest, r, pictures)).collect();
        parts.push(format!(
            "## Test results\n\n| test | status | page | duration | details |\n|---|---|---|---|---|\n{}",
            rows.join("\n")
        ));
    }
    parts.push(section("Timeline", moments.iter().map(|m| moment(m, pictures)).collect()));
    let pages = digest.pages.iter().map(|p| format!("* {} ({} observations)", plain(&page_name(p)), p.observations));
    parts.push(section("Pages", pages.collect()));
    parts.push(section("Next steps", digest.next_steps().iter().map(|s| format!("* {}", plain(s))).collect()));
    let blockers = digest.blockers();
    if !blockers.is_empty() {
        parts.push(section("Blockers", blockers.iter().map(|b| format!("* {}", plain(b))).collect()));
    }
    parts.join("\n\n") + "\n"
}

fn moment(moment: &Moment, pictures: &[Picture]) -> String {
    let place = moment.activity.as_deref().map_or(String::new(), |activity| format!(", on {}", plain(activity)));
    let shown =
        find(pictures, moment.picture.as_ref()).map_or(String::new(), |p| format!(" ![screenshot]({})", p.link()));
    format!("* {} {}{place}{shown}", rfc3339(moment.at), plain(&moment.what))
}

fn joined(lines: Vec<String>, between: &str) -> String {
    if lines.is_empty() { "None.".to_owned() } else { lines.join(between) }
}

fn section(title: &str, lines: Vec<String>) -> String {
    format!("## {title}\n\n{}", joined(lines, "\n"))
}
