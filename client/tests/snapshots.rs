//! Snapshots of everything that `afctl` prints: the help of every command, and results for people and as text.
//!
//! After a wanted change: `INSTA_UPDATE=always cargo test -p afctl`, and read the difference.

use std::fmt::Write as _;

use afctl::human::{Human, render};
use afctl::{cli, output};
use afd_proto::Method;
use serde_json::Value;

/// Real results by group and verb; lists are cut to three items.
fn samples() -> serde_json::Map<String, Value> {
    serde_json::from_str(include_str!("samples.json")).expect("JSON")
}

/// Replaces times such as `11-22 23:22:01`, which depend on the time zone.
fn without_times(text: &str) -> String {
    const PATTERN: &[u8] = b"00-00 00:00:00";
    let fits = |window: &[u8]| window.iter().zip(PATTERN).all(|(a, b)| if *b == b'0' { a.is_ascii_digit() } else { a == b });
    let bytes = text.as_bytes();
    let (mut out, mut i) = (Vec::with_capacity(bytes.len()), 0);
    while i < bytes.len() {
        if bytes.get(i..i + PATTERN.len()).is_some_and(fits) {
            out.extend_from_slice(b"MM-DD HH:MM:SS");
            i += PATTERN.len();
        } else {
            out.push(bytes[i]);
            i += 1;
        }
    }
    String::from_utf8(out).expect("only ASCII was replaced")
}

/// Removes the styles, which the program removes too where the terminal has none.
fn without_styles(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Adds the help of a command and of its subcommands.
fn add_help(path: &str, command: &mut clap::Command, out: &mut String) {
    let help = command.render_long_help().to_string();
    // The global options are the same everywhere; they are shown once.
    let own = help.split_once("Global options:").filter(|_| path.contains(' ')).map_or(help.as_str(), |(own, _)| own);
    let _ = writeln!(out, "## {path}\n\n{own}");
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).filter(|n| n != "help").collect();
    for name in names {
        if let Some(subcommand) = command.find_subcommand_mut(&name) {
            add_help(&format!("{path} {name}"), subcommand, out);
        }
    }
}

#[test]
fn help() {
    let mut command = cli::command();
    command.build();
    let mut text = String::new();
    add_help("afctl", &mut command, &mut text);
    // The variables of whoever runs the test do not belong to it.
    let lines = text.lines().map(|l| l.trim_end()).map(|l| match l.find("[env: ") {
        Some(at) => l[..at].to_owned() + l[at..].split_once('=').map_or(&l[at..], |(name, _)| name),
        None => l.to_owned(),
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

/// Checks that nothing of a sample is lost by the types of the contract, and renders it.
fn human<M: Human>(name: &str, sample: &Value) -> String {
    keeps_everything::<M>(name, sample);
    let text = render::<M>(sample).unwrap_or_else(|| panic!("{name} cannot be decoded"));
    format!("## {name}\n\n{}\n", without_times(&without_styles(&text)))
}

fn keeps_everything<M: Method>(name: &str, sample: &Value) {
    let decoded: M::Result = serde_json::from_value(sample.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(&serde_json::to_value(&decoded).expect("serialises"), sample, "{name} loses something");
}

macro_rules! human_outputs {
    ($($name:literal => $method:path;)*) => {{
        let samples = samples();
        let mut out = String::new();
        $( out.push_str(&human::<$method>($name, &samples[$name])); )*
        out
    }};
}

#[test]
fn human_output() {
    let text = human_outputs! {
        "health health" => afd_proto::device::DeviceHealth;
        "daemon status" => afd_proto::daemon::DaemonStatus;
        "device list" => afd_proto::device::DeviceList;
        "connect usb" => afd_proto::device::DeviceConnectUsb;
        "observe top" => afd_proto::observe::ObserveTop;
        "observe screen" => afd_proto::observe::ObserveScreen;
        "observe page" => afd_proto::observe::ObservePage;
        "observe wait" => afd_proto::observe::ObserveWait;
        "observe screenshot" => afd_proto::picture::ObserveScreenshot;
        "act tap" => afd_proto::act::ActTap;
        "act scroll-to" => afd_proto::act::ActScrollTo;
        "verify node-exists" => afd_proto::verify::VerifyNodeExists;
        "recover relaunch" => afd_proto::recover::RecoverRelaunch;
        "memory experience" => afd_proto::memory::MemoryExperience;
        "memory log" => afd_proto::memory::MemoryLog;
        "memory save" => afd_proto::memory::MemorySave;
        "memory search" => afd_proto::memory::MemorySearch;
        "artifact list" => afd_proto::artifact::ArtifactList;
        "config list" => afd_proto::config::ConfigList;
        "config set" => afd_proto::config::ConfigSet;
        "visual learn" => afd_proto::visual::VisualLearn;
        "visual match" => afd_proto::template_match::VisualMatch;
        "visual states" => afd_proto::visual::VisualStates;
        "visual components" => afd_proto::visual::VisualComponents;
        "visual transitions" => afd_proto::graph::VisualTransitions;
        "visual path" => afd_proto::graph::VisualPath;
        "visual graph" => afd_proto::graph::VisualGraph;
        "visual history" => afd_proto::history::VisualHistory;
        "session start" => afd_proto::session::SessionStart;
        "session show" => afd_proto::session::SessionShow;
        "session task-start" => afd_proto::tasks::TaskStart;
        "session bug-add" => afd_proto::findings::BugAdd;
        "session bug-list" => afd_proto::findings::BugList;
        "session bug-show" => afd_proto::findings::BugShow;
        "session result-add" => afd_proto::findings::ResultAdd;
        "session tested" => afd_proto::findings::TestedMark;
        "session coverage" => afd_proto::coverage::SessionCoverage;
        "session progress" => afd_proto::progress::SessionProgress;
        "session resume" => afd_proto::progress::SessionResume;
        "session report" => afd_proto::session::SessionReport;
        "session export" => afd_proto::session::SessionExport;
        "session end" => afd_proto::session::SessionEnd;
        "conversation append" => afd_proto::conversation::ConversationAppend;
        "conversation context" => afd_proto::context::ConversationContext;
        "conversation usage" => afd_proto::context::ConversationUsage;
        "conversation working" => afd_proto::context::ConversationWorking;
        "conversation summary" => afd_proto::conversation::ConversationSummary;
        "conversation compact" => afd_proto::conversation::ConversationCompact;
        "pattern find" => afd_proto::pattern::PatternFind;
    };
    insta::assert_snapshot!(text);
}

#[test]
fn text_output() {
    let samples = samples();
    let text: Vec<String> = ["observe top", "act tap", "device list"]
        .iter()
        .map(|name| output::text(&serde_json::json!({"category": name, "status": "ok", "data": samples[*name]})))
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn results_of_a_newer_daemon_are_still_shown() {
    let samples = samples();
    let mut newer = samples["device list"].clone();
    newer["devices"][0]["battery"] = 80.into();
    assert!(render::<afd_proto::device::DeviceList>(&newer).is_some(), "an unknown field is ignored");
    newer["devices"][0]["state"] = "sleeping".into();
    assert_eq!(render::<afd_proto::device::DeviceList>(&newer), None, "an unknown word falls back to the fields");
}
