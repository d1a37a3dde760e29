//! The report as one self-contained HTML page, with embedded images and styles and without scripts.

use std::collections::HashSet;

use afd_proto::coverage::Share;
use afd_proto::findings::Bug;
use afd_proto::tasks::Task;
use base64::Engine;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::summary::{Digest, duration, page_name};
use super::{Moment, Picture, find};
use afd_store::rfc3339;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --dim: #777; --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: .2rem; } h2 { margin-top: 2rem; border-bottom: 1px solid var(--line); }
.dim { color: var(--dim); } .tiles { display: flex; flex-wrap: wrap; gap: .8rem; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: .5rem 1rem; min-width: 6rem; }
.tile b { display: block; font-size: 1.5rem; }
.bug { border: 1px solid var(--line); border-left: 5px solid var(--dim); border-radius: 6px; padding: .2rem 1rem 1rem; margin: 1rem 0;
  display: flow-root; }
.critical, .high { border-left-color: var(--bad); } .medium { border-left-color: var(--warn); }
.bug img { float: right; max-width: 14rem; max-height: 26rem; margin: .8rem 0 .5rem 1rem; border: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
.passed { color: var(--good); } .failed, .error { color: var(--bad); } .skipped { color: var(--dim); }
dl { margin: .5rem 0; } dt { font-weight: 600; } dd { margin: 0 0 .4rem; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { white-space: pre-wrap; border: 1px solid var(--line); border-radius: 6px; padding: .8rem; }
meter { width: 8rem; vertical-align: middle; }
";

fn data_uri(picture: &Picture) -> String {
    format!("data:image/jpeg;base64,{}", base64::engine::general_purpose::STANDARD.encode(&picture.jpeg))
}

fn tile(number: i64, name: &str) -> Markup {
    html! { div.tile { b { (number) } (name) } }
}

fn share(name: &str, share: &Share) -> Markup {
    html! {
        @if share.known > 0 {
            p { (name) ": " meter min="0" max="100" value=(share.percent) {} " " (share.covered) " of " (share.known) " (" (format!("{:.1}", share.percent)) " %)"
                @if !share.missing.is_empty() { br; span.dim { "missing: " (share.missing.join(", ")) } }
            }
        }
    }
}

fn bug(digest: &Digest, bug: &Bug, pictures: &[Picture]) -> Markup {
    let place = Some(digest.place(bug.page.as_deref(), bug.state.as_deref())).filter(|p| !p.is_empty());
    let picture = find(pictures, bug.screenshot.as_ref());
    let field =
        |name: &str, value: Option<&String>| html! { @if let Some(value) = value { dt { (name) } dd { (value) } } };
    html! {
        section class={ "bug " (bug.severity.word()) } {
            @if let Some(picture) = picture { img src=(data_uri(picture)) alt={ "Screenshot of: " (bug.title) }; }
            h3 { (bug.title) }
            p.dim { (bug.severity.word()) ", " (bug.status.word()) ", found " (rfc3339(bug.created_at))
                @if let Some(at) = bug.resolved_at { ", resolved " (rfc3339(at)) } }
            dl {
                (field("Description", bug.description.as_ref()))
                @if !bug.steps.is_empty() { dt { "Steps" } dd { ol { @for step in &bug.steps { li { (step) } } } } }
                (field("Expected", bug.expected.as_ref()))
                (field("Actual", bug.actual.as_ref()))
                (field("Page", place.as_ref()))
                (field("Resolution", bug.resolution.as_ref()))
            }
        }
    }
}

fn tasks(digest: &Digest) -> Markup {
    let all: Vec<&Task> = digest.done.iter().chain(&digest.current).chain(&digest.queue).collect();
    html! {
        @if all.is_empty() { p { "None." } } @else {
            table { tr { th { "task" } th { "status" } th { "outcome" } }
                @for task in all { tr { td { (task.description) } td class=(task.status.word()) { (task.status.word()) }
                    td { (task.summary.as_deref().or(task.progress.as_deref().filter(|_| task.finished_at.is_none())).unwrap_or("")) } } } }
        }
    }
}

fn results(digest: &Digest, pictures: &[Picture]) -> Markup {
    html! {
        @if digest.results.is_empty() { p { "None." } } @else {
            table { tr { th { "test" } th { "status" } th { "page" } th { "duration" } th { "details" } }
                @for r in &digest.results { tr {
                    td { (r.name) } td class=(r.status.word()) { (r.status.word()) }
                    td { (digest.place(r.page.as_deref(), r.state.as_deref())) }
                    td { @if let Some(ms) = r.duration_ms { (ms) " ms" } }
                    td { (r.summary.as_deref().unwrap_or(""))
                        @if let Some(p) = find(pictures, r.evidence.as_ref()) {
                            details { summary { "image" } img style="max-width: 14rem" src=(data_uri(p)) alt={ "Evidence of: " (r.name) }; }
                        } }
                } } }
        }
    }
}

/// Returns the uids of the artifacts whose images are shown with bugs and test results.
fn shown(digest: &Digest) -> HashSet<&String> {
    digest
        .bugs
        .iter()
        .filter_map(|b| b.screenshot.as_ref())
        .chain(digest.results.iter().filter_map(|r| r.evidence.as_ref()))
        .collect()
}

/// Renders the timeline. Images in `shown` appear elsewhere on the page and are not embedded again.
fn timeline(moments: &[Moment], pictures: &[Picture], shown: &HashSet<&String>) -> Markup {
    let picture = |d: &Moment| find(pictures, d.picture.as_ref().filter(|uid| !shown.contains(uid)));
    html! {
        @if moments.is_empty() { p { "Nothing was done." } } @else {
            table { tr { th { "time" } th { "action or check" } th { "page" } }
                @for d in moments { tr {
                    td { (rfc3339(d.at)) }
                    td.failed[!d.ok] { (d.what)
                        @if let Some(p) = picture(d) {
                            details { summary { "image" } img style="max-width: 14rem" src=(data_uri(p)) alt={ "Screen at " (rfc3339(d.at)) }; }
                        } }
                    td { (d.activity.as_deref().unwrap_or("")) }
                } }
            }
        }
    }
}

fn items(title: &str, items: &[String]) -> Markup {
    html! { @if !items.is_empty() { h2 { (title) } ul { @for item in items { li { (item) } } } } }
}

/// Renders the report as an HTML page.
pub fn page(digest: &Digest, moments: &[Moment], pictures: &[Picture]) -> String {
    let (info, s) = (&digest.info, &digest.statistics);
    let title = format!("Session {}", digest.session.name);
    let ended = digest.session.ended_at.map_or("in progress".to_owned(), |at| format!("ended {}", rfc3339(at)));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                @if let Some(goal) = &digest.session.goal { p { (goal) } }
                p.dim { "started " (rfc3339(digest.session.began())) ", " (ended) ", " (duration(digest.elapsed_ms()))
                    @if let Some(app) = &digest.session.app { ", " (app) } }
                div.tiles {
                    (tile(info.tasks.passed + info.tasks.failed + info.tasks.skipped, "tasks done"))
                    (tile(info.tasks.pending + info.tasks.active, "tasks left"))
                    (tile(info.bugs.open, "open bugs")) (tile(info.bugs.critical, "critical"))
                    (tile(info.results.passed, "tests passed")) (tile(info.results.failed + info.results.error, "tests failed"))
                    (tile(s.actions_performed, "actions")) (tile(digest.coverage.pages_visited, "pages"))
                }
                h2 { "Bugs" }
                @if digest.bugs.is_empty() { p { "None." } }
                @for b in &digest.bugs { (bug(digest, b, pictures)) }
                h2 { "Tasks" } (tasks(digest))
                h2 { "Test results" } (results(digest, pictures))
                h2 { "Timeline" } (timeline(moments, pictures, &shown(digest)))
                h2 { "Coverage" }
                (share("Pages visited", &digest.coverage.pages)) (share("Pages tested", &digest.coverage.pages_tested))
                (share("Elements tested", &digest.coverage.elements))
                p { (digest.coverage.pages_visited) " pages visited, " (digest.coverage.elements_tested) " elements tested." }
                @if !digest.pages.is_empty() {
                    table { tr { th { "page" } th { "observations" } th { "last seen" } }
                        @for p in &digest.pages { tr { td { (page_name(p)) } td { (p.observations) } td { (rfc3339(p.last_seen)) } } } }
                }
                (items("Next steps", &digest.next_steps()))
                (items("Blockers", &digest.blockers()))
                h2 { "Summary" } pre { (digest.summary(true)) }
            }
        }
    };
    page.into_string()
}
