//! Executes a command line, from its arguments to the exit code.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use afd_proto::DeviceUse;
use afd_proto::Method;
use afd_proto::daemon::DaemonShutdown;
use clap::{ArgMatches, Command, FromArgMatches};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::cli::{self, Run};
use crate::commands::Call;
use crate::guess::{self, Guess};
use crate::output::{effective, print};
use crate::rewrite;
use afd_link::agent;
use afd_link::connection::Connection;
use afd_link::dial::{self, Purpose, Retry};
use afd_link::human;
use afd_link::options::{Address, Context, Format, Global, af_database, is_typed, typed_config};
use afd_link::outcome::{FAILED, Failure, INTERRUPTED, Outcome, USAGE};
use afd_link::own_settings;
use afd_link::request_key::request_key;

/// Runs a command line and returns the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args = rewritten(args.into_iter().collect());
    let format = typed_format(&args);
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let matches = match parse(cli::command_for(&words), &args).or_else(|_| parse(cli::command(), &args)) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, &words, format),
    };
    match dispatch(&matches) {
        Ok(exit) => exit,
        Err(error) => usage(&error, &words, format),
    }
}

fn parse(mut command: Command, args: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let parsed = command.try_get_matches_from_mut(args);
    // Freeing the clap command would take a quarter of the run time.
    std::mem::forget(command);
    parsed
}

/// Returns the command line in the syntax of this program. A command line that is not valid UTF-8 is returned
/// unchanged.
fn rewritten(args: Vec<OsString>) -> Vec<OsString> {
    let words: Option<Vec<String>> = args.iter().map(|arg| arg.to_str().map(str::to_owned)).collect();
    words.map_or(args, |words| rewrite::plain(words).into_iter().map(Into::into).collect())
}

fn dispatch(matches: &ArgMatches) -> Result<u8, clap::Error> {
    let global = Global::from_arg_matches(matches)?;
    if let Err(why) = afd_proto::paths::check() {
        let failure = Failure::new("INVALID_PARAMS", why, USAGE)
            .with_hint("settings, memory and logs are kept below the home directory");
        return Ok(finish(&Outcome::failed("cli", "start", failure), global.output));
    }
    if global.session.as_deref() == Some("") && is_typed(matches, "session") {
        let failure = Failure::new("INVALID_PARAMS", "--session: expected a name, got an empty string", USAGE);
        return Ok(finish(&Outcome::failed("cli", "parse", failure), global.output));
    }
    let global = without_empty(global);
    let context = Context { address: Address::of(&global, matches), global };
    let Some((entry, matches)) =
        matches.subcommand().and_then(|(name, matches)| Some((cli::ENTRIES.iter().find(|e| e.name == name)?, matches)))
    else {
        return Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand));
    };
    match entry.run {
        Run::Program(run) => run(matches, &context),
        Run::Whole(run) => run(matches, &context, cli::command()),
        Run::Call(call) => {
            let call = call(matches, &context)?;
            if context.global.no_memory {
                let _ =
                    writeln!(std::io::stderr(), "afctl: --no-memory has no effect: sent actions are always recorded");
            }
            Ok(finish(&perform(&context, call), output_of(&context.global)))
        }
    }
}

/// Prints an outcome and returns the exit code.
fn finish(outcome: &Outcome, format: Format) -> u8 {
    if print(outcome, format) { outcome.exit() } else { outcome.exit().max(1) }
}

/// Removes empty option values, because an empty environment variable counts as unset.
fn without_empty(mut global: Global) -> Global {
    for path in [&mut global.socket, &mut global.memory_db, &mut global.config] {
        path.take_if(|p| p.as_os_str().is_empty());
    }
    global.session.take_if(|s| s.is_empty());
    global
}

/// Returns the output format from the options, or else from the configuration file.
fn output_of(global: &Global) -> Format {
    if global.output != Format::Auto {
        return global.output;
    }
    let format = own_settings::text(global, "output", "default");
    format.and_then(|format| clap::ValueEnum::from_str(&format, true).ok()).unwrap_or(Format::Auto)
}

/// Returns the output format of a command line that may be invalid: from its option, else from the environment.
fn typed_format(args: &[OsString]) -> Format {
    let args: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let attached = |arg: &str| arg.strip_prefix("--output=").or_else(|| arg.strip_prefix("-o")).map(str::to_owned);
    let typed = args.iter().enumerate().find_map(|(i, arg)| match *arg {
        "-o" | "--output" => args.get(i + 1).map(|next| (*next).to_owned()),
        arg if !arg.starts_with("--") || arg.starts_with("--output=") => attached(arg),
        _ => None,
    });
    let format = typed.or_else(|| std::env::var("AF_OUTPUT").ok());
    format.and_then(|format| clap::ValueEnum::from_str(&format, true).ok()).unwrap_or(Format::Auto)
}

/// Reports a usage error: as text on standard error for people, else as the envelope on standard output. If the user
/// asked for help, prints the help.
fn usage(error: &clap::Error, args: &[String], format: Format) -> u8 {
    if let Some(Guess { message, command }) = guess::of(error, args) {
        let failure = Failure::new("INVALID_PARAMS", message, USAGE).with_hint(format!("try: {command}"));
        print(&Outcome::failed("cli", "parse", failure), format);
        return USAGE;
    }
    let asked_for = !error.use_stderr();
    // Programs read the envelope and people read the text, so only one of them is printed.
    if effective(format) == Format::Human || asked_for {
        let _ = error.print();
    } else {
        let text = error.to_string();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"))
            .collect();
        let mut message = lines.join(" ").trim().trim_start_matches("error: ").to_owned();
        if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            message = "missing subcommand; --help lists the subcommands".to_owned();
        }
        let usage =
            text.lines().find(|line| line.trim_start().starts_with("Usage:")).map(|line| line.trim().to_owned());
        let failure = Failure { hint: usage, ..Failure::new("INVALID_PARAMS", message, USAGE) };
        let _ = print(&Outcome::failed("cli", "parse", failure), format);
    }
    if asked_for { 0 } else { USAGE }
}

fn perform(context: &Context, call: Call) -> Outcome {
    let Call { category, op, render, only, .. } = &call;
    let (category, op, render, only) = (category.clone(), op.clone(), *render, *only);
    Outcome { category, op, result: send(context, call), render, only }
}

fn send(context: &Context, mut call: Call) -> Result<Box<RawValue>, Failure> {
    let mut params = std::mem::replace(&mut call.params, Ok(Map::new()))?;
    if let Some(work) = call.local.take() {
        let data = work(context)?;
        return serde_json::value::to_raw_value(&data).map_err(|e| Failure::new("INTERNAL", e.to_string(), FAILED));
    }
    add_shared_params(&call, context, &mut params);
    match effective(output_of(&context.global)) {
        Format::Agent => agent::add_defaults(&call.method, &mut params),
        Format::Human => human::add_defaults(&call.method, &mut params),
        Format::Auto | Format::Json | Format::Text => {}
    }
    let own_key = !params.contains_key("requestKey");
    let retry = add_request_key(&call.method, &mut params);
    let global = options_for(&context.global, &call);
    let purpose = if call.starts_daemon { Purpose::Call } else { Purpose::RunningOnly };
    let interrupt = install_interrupt_handler();
    // Only calls that may take long report progress.
    let shows_progress =
        call.takes.timeout && std::io::stderr().is_terminal() && effective(output_of(&context.global)) == Format::Human;
    let prepare = |connection: &mut Connection| {
        if let Some(flag) = &interrupt {
            connection.set_interrupt(flag.clone());
        }
        if shows_progress {
            connection.set_progress(Box::new(human::show_progress));
        }
    };
    // Look up the daemon's lock before the daemon exits.
    let leaving = (call.method == DaemonShutdown::INFO.name).then(|| dial::holder(&global)).flatten();
    let mut result = dial::call(&global, purpose, retry, prepare, &call.method, &json!(params));
    if own_key && result.as_ref().is_err_and(refuses_keys) {
        // Without its memory, the daemon cannot recognise a repeated key, so the call is sent without a key and not
        // retried.
        params.remove("requestKey");
        result = dial::call(&global, purpose, Retry::Never, prepare, &call.method, &json!(params));
    }
    if shows_progress {
        human::end_progress();
    }
    let result = result?;
    if let Some((lock, pid)) = leaving {
        dial::wait_for_exit(&lock, pid)?;
    }
    Ok(result)
}

/// Returns whether the daemon refused the call because it cannot honour request keys while its memory is damaged.
fn refuses_keys(failure: &Failure) -> bool {
    failure.code == "REFUSED" && failure.details["path"] == "requestKey"
}

/// Adapts the global options to a call. The client waits longer if the daemon enforces the timeout itself, and paths of
/// `af` files are not passed to the daemon.
fn options_for(global: &Global, call: &Call) -> Global {
    let mut global = global.clone();
    if call.takes.timeout {
        global.timeout_ms = global.timeout_ms.map(|ms| ms.saturating_add(10_000));
    }
    if call.about_af {
        if typed_config(&global).is_some() {
            global.config = std::env::var_os("AFD_CONFIG").map(Into::into);
        }
        if global.memory_db == af_database() {
            global.memory_db = None;
        }
    }
    global
}

/// Adds the device, session, URL, token and timeout to the parameters of a call, each only if the method takes it.
fn add_shared_params(call: &Call, context: &Context, params: &mut Map<String, Value>) {
    let Context { global, address } = context;
    let mut put = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            params.entry(name).or_insert_with(|| json!(value));
        }
    };
    match call.takes.device {
        DeviceUse::None => {}
        DeviceUse::Filter => put("device", global.device.as_ref()),
        DeviceUse::Observed => put("device", global.device.as_ref().or(address.url.as_ref())),
        DeviceUse::Reached => {
            put("url", address.url.as_ref());
            put("token", address.token.as_ref());
            put("device", global.device.as_ref());
        }
    }
    if call.takes.session {
        put("session", global.session.as_ref());
    }
    if let Some(ms) = global.timeout_ms.filter(|_| call.takes.timeout) {
        params.entry("timeoutMs").or_insert_with(|| json!(ms));
    }
}

/// Adds a request key to a call that writes, so that a retry does not execute it twice. Returns whether the call may be
/// retried.
fn add_request_key(method: &str, params: &mut Map<String, Value>) -> Retry {
    let Some(info) = afd_proto::method(method) else { return Retry::Never };
    if info.takes_request_key() {
        params.entry("requestKey").or_insert_with(|| json!(request_key()));
    }
    Retry::Safe
}

/// Handles Ctrl-C: the first one sets a flag, so that the envelope is still printed; a second one exits at once.
fn install_interrupt_handler() -> Option<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let sigint = signal_hook::consts::SIGINT;
    // The order matters: the first signal finds the flag unset, and sets it.
    let armed = signal_hook::flag::register_conditional_shutdown(sigint, i32::from(INTERRUPTED), flag.clone())
        .and_then(|_| signal_hook::flag::register(sigint, flag.clone()));
    // Without the handler, Ctrl-C ends the program as usual.
    armed.is_ok().then_some(flag)
}
