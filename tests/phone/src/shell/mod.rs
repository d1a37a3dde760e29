//! The shell of the practice phone: a part of the language of `sh`, and the commands that an Android phone has.
//!
//! Commands run in this process and see only the phone and its own files, so a client of the `adb` port cannot run programs
//! of this machine. Not there: loops, functions, conditions.

mod apps;
mod dumpsys;
mod input;
mod log;
mod props;
mod run;
mod tools;
mod tree;
mod video;
mod words;

use std::time::Duration;

use crate::server::Shared;
pub(crate) use run::run;

/// What a command printed, and its exit code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
    /// What was written to the terminal, past all redirections.
    pub tty: Vec<u8>,
    /// Exit code.
    pub code: u8,
}

impl Output {
    /// Returns an output with a text.
    fn text(text: impl Into<String>) -> Self {
        Self { out: text.into().into_bytes(), ..Self::default() }
    }

    /// Returns a failure with a message and an exit code.
    fn failed(message: impl Into<String>, code: u8) -> Self {
        Self { err: message.into().into_bytes(), code, ..Self::default() }
    }
}

/// What a command runs with.
struct Call<'a> {
    phone: &'a Shared,
    /// Name and arguments.
    args: &'a [String],
    /// Standard input.
    input: &'a [u8],
    /// Time after which the command is killed.
    limit: Option<Duration>,
}

impl<'a> Call<'a> {
    fn name(&self) -> &'a str {
        self.args.first().map_or("", String::as_str)
    }

    /// Returns the arguments as texts.
    fn rest(&self) -> Vec<&'a str> {
        self.args.iter().skip(1).map(String::as_str).collect()
    }
}

/// Runs a command.
fn command(call: &Call<'_>) -> Output {
    let name = call.name().rsplit('/').next().unwrap_or_default();
    match name {
        "uiautomator" => tree::uiautomator(call),
        "screencap" => tree::screencap(call),
        "input" => input::input(call),
        "wm" => props::wm(call),
        "getprop" => props::getprop(call),
        "settings" => props::settings(call),
        "content" => props::content(call),
        "dumpsys" => dumpsys::dumpsys(call),
        "service" => Output::text("Found 0 services:\n"),
        "pm" => apps::pm(&call.rest(), call),
        "am" => apps::am(&call.rest(), call),
        "cmd" => apps::cmd(call),
        "monkey" => apps::monkey(call),
        "ime" => props::ime(call),
        "logcat" => log::logcat(call),
        "screenrecord" => video::screenrecord(call),
        "pkill" | "killall" => video::pkill(call),
        "kill" => video::kill(call),
        "pidof" | "pgrep" => video::pidof(call),
        "ps" => video::ps(call),
        "svc" => props::svc(call),
        _ => tools::tool(name, call).unwrap_or_else(|| {
            Output::failed(format!("/system/bin/sh: {}: inaccessible or not found\n", call.name()), 127)
        }),
    }
}
