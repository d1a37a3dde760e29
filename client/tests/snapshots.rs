//! Snapshots of everything that `afctl` prints: the help of every command, and results for people and as text.
//!
//! After an intended change, run `INSTA_UPDATE=always cargo test -p afctl` and review the diff.

use std::fmt::Write as _;

use afctl::{cli, output};
use afd_link::human;
use afd_link::human::render::render;
use serde_json::Value;

/// Real results by method; lists are truncated to three items.
fn samples() -> serde_json::Map<String, Value> {
    serde_json::from_str(include_str!("../../proto/src/examples.json")).expect("JSON")
}

/// Sets all times to a date in another year, so that the output does not depend on the current date.
fn with_fixed_times(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|ms| ms > 1_000_000_000_000) => {
            *value = 992_606_400_000_i64.into()
        }
        Value::Array(all) => all.iter_mut().for_each(with_fixed_times),
        Value::Object(map) => map.values_mut().for_each(with_fixed_times),
        _ => {}
    }
}

/// Removes the styles, as the program does if the terminal does not support them.
fn without_styles(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// Adds the help of a command and of its subcommands.
fn add_help(path: &str, command: &mut clap::Command, out: &mut String) {
    let help = command.render_long_help().to_string();
    // The global options are the same for all commands, so they are shown only once.
    let own = help.split_once("Global options:").filter(|_| path.contains(' ')).map_or(help.as_str(), |(own, _)| own);
    let _ = writeln!(out, "## {path}\n\n{own}");
    let names: Vec<String> =
        command.get_subcommands().map(|c| c.get_name().to_owned()).filter(|n| n != "help").collect();
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
    // The test must not depend on the environment variables of the user who runs it.
    let lines = text.lines().map(|l| l.trim_end()).map(|l| match l.find("[env: ") {
        Some(at) => l[..at].to_owned() + l[at..].split_once('=').map_or(&l[at..], |(name, _)| name),
        None => l.to_owned(),
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn human_output() {
    let mut samples = samples();
    samples.values_mut().for_each(with_fixed_times);
    let mut text = String::new();
    for info in afd_proto::methods() {
        let Some(render) = human::render_of(info.name) else { continue };
        let shown = render(&samples[info.name]).unwrap_or_else(|| panic!("{} cannot be decoded", info.name));
        let _ = writeln!(text, "## {}\n\n{}\n", info.name, without_styles(&shown));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn text_output() {
    let samples = samples();
    let text: Vec<String> = ["observe.top", "act.tap", "device.list"]
        .iter()
        .map(|name| output::text(&serde_json::json!({"category": name, "status": "ok", "data": samples[*name]})))
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn results_of_a_newer_daemon_are_still_shown() {
    let samples = samples();
    let mut newer = samples["device.list"].clone();
    newer["devices"][0]["battery"] = 80.into();
    assert!(render::<afd_proto::device::DeviceList>(&newer).is_some(), "an unknown field is ignored");
    newer["devices"][0]["state"] = "sleeping".into();
    assert_eq!(render::<afd_proto::device::DeviceList>(&newer), None, "an unknown word falls back to the fields");
}
