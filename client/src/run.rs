//! From arguments to exit code.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use serde_json::{Map, Value, json};

use crate::cli::{Cli, Command, Format, Global};
use crate::commands::{Call, device::Device};
use crate::connection::Connection;
use crate::dial::{self, Purpose, Repeat};
use crate::outcome::{FAILED, Failure, INTERRUPTED, Outcome, USAGE};
use crate::output::{effective, print};
use crate::{demo, follow, human, spawn};

/// Runs a command line and returns the exit code.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> u8 {
    let mut command = Cli::command();
    let parsed = command.try_get_matches_from_mut(args);
    // Taking the description of all commands apart would cost a quarter of a short life.
    std::mem::forget(command);
    let matches = match parsed {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if cli.global.session.as_deref() == Some("") && is_typed(&matches, "session") {
        let failure = Failure::new("INVALID_PARAMS", "--session: expected a name, got an empty text", USAGE);
        let outcome = Outcome { category: "cli".into(), op: "parse".into(), result: Err(failure) };
        return if print(&outcome, cli.global.output) { outcome.exit() } else { outcome.exit().max(1) };
    }
    let cli = without_empty(cli);
    let address = Address::of(&cli.global, &matches);
    match &cli.command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "afctl", &mut script);
            u8::from(!crate::output::write(&script))
        }
        Command::Demo(options) => demo::run(options),
        Command::Events(options) => follow::run(&cli.global, options),
        command => {
            if cli.global.no_memory {
                let _ =
                    writeln!(std::io::stderr(), "afctl: --no-memory has no effect: what is sent is recorded, so that it is sent only once");
            }
            let outcome = perform(&cli.global, &address, command);
            if print(&outcome, output_of(&cli.global)) { outcome.exit() } else { outcome.exit().max(1) }
        }
    }
}

/// Whether an option was typed, and does not come from the environment.
fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    let innermost = std::iter::successors(Some(matches), |m| m.subcommand().map(|(_, sub)| sub)).last().unwrap_or(matches);
    innermost.value_source(id) == Some(ValueSource::CommandLine)
}

/// An empty variable counts as none.
fn without_empty(mut cli: Cli) -> Cli {
    let global = &mut cli.global;
    for path in [&mut global.socket, &mut global.memory_db, &mut global.config] {
        path.take_if(|p| p.as_os_str().is_empty());
    }
    global.session.take_if(|s| s.is_empty());
    cli
}

/// How to print: what was said, else what the settings say.
fn output_of(global: &Global) -> Format {
    if global.output != Format::Auto {
        return global.output;
    }
    let path = typed_config(global).cloned().unwrap_or_else(afd_proto::paths::config);
    // Most settings say nothing about it, and need no parsing.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let table: Option<toml::Table> = text.contains("output").then(|| text.parse().ok()).flatten();
    let said = table.as_ref().and_then(|t| t.get("output")?.get("default")?.as_str());
    said.and_then(|format| clap::ValueEnum::from_str(format, true).ok()).unwrap_or(Format::Auto)
}

/// A wrong command line: the words for people on standard error, the envelope where a program reads.
fn usage(error: &clap::Error) -> u8 {
    let _ = error.print();
    if !error.use_stderr() {
        return 0;
    }
    let asked = std::env::var("AF_OUTPUT").ok().and_then(|v| clap::ValueEnum::from_str(&v, true).ok()).unwrap_or(Format::Auto);
    if effective(asked) != Format::Human {
        let message = error.to_string();
        let words: Vec<&str> =
            message.lines().map(str::trim).take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")).collect();
        let mut first = words.join(" ").trim().trim_start_matches("error: ").to_owned();
        if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            first = "a subcommand is missing; --help lists them".to_owned();
        }
        let outcome = Outcome { category: "cli".into(), op: "parse".into(), result: Err(Failure::new("INVALID_PARAMS", first, USAGE)) };
        let _ = print(&outcome, asked);
    }
    USAGE
}

/// Which device a call goes to, from flags and environment.
#[derive(Debug, Clone, Default)]
pub struct Address {
    url: Option<String>,
    token: Option<String>,
}

impl Address {
    /// A flag counts always; the environment only while no flag names a device.
    fn of(global: &Global, matches: &ArgMatches) -> Self {
        let typed = |id: &str| is_typed(matches, id);
        let wanted = |id: &str, value: &Option<String>| value.clone().filter(|v| !v.is_empty() && (typed(id) || global.device.is_none()));
        let url = wanted("url", &global.url);
        // A token from the environment belongs to the URL beside it, not to whatever device is configured.
        let token = wanted("token", &global.token).filter(|_| url.is_some() || typed("token"));
        Self { url, token }
    }
}

fn perform(asked: &Global, address: &Address, command: &Command) -> Outcome {
    let (category, op) = name(command, asked);
    let result = call_of(command, asked).and_then(|call| {
        let never_starts = matches!(command, Command::Daemon(d) if d.never_starts()) || matches!(command, Command::Status);
        let purpose = if never_starts { Purpose::Running } else { Purpose::Call };
        let mut patient = patience(asked, &call.method);
        if matches!(command, Command::Import(_)) {
            // Both name things of af here, and not of the daemon.
            if typed_config(asked).is_some() {
                patient.config = std::env::var_os("AFD_CONFIG").map(Into::into);
            }
            if asked.memory_db == af_database() {
                patient.memory_db = None;
            }
        }
        let interrupt = watch_for_interrupt();
        let prepare = |connection: &mut Connection| {
            if let Some(flag) = &interrupt {
                connection.set_interrupt(flag.clone());
            }
        };
        let mut params = complete(&call, asked, address);
        let repeat = make_repeatable(&call.method, &mut params);
        let pid = spawn::holder(&dial::socket(&patient));
        let result = dial::call(&patient, purpose, repeat, prepare, &call.method, &params)?;
        if call.method == "daemon.shutdown" && !dial::wait_for_end(&patient, pid) {
            let mut failure = Failure::new("TIMEOUT", "the daemon was asked to stop and has not ended yet", FAILED);
            failure.hint = Some("its log says what it waits for; `afctl status` tells whether it is still there".into());
            return Err(failure);
        }
        Ok(result)
    });
    Outcome { category, op, result }
}

/// Methods about the session of --session.
fn takes_session(method: &str) -> bool {
    let of_all = matches!(method, "session.list" | "session.bug.list" | "session.bug.show" | "session.bug.resolve" | "session.result.list");
    method.starts_with("conversation.") || (method.starts_with("session.") && !of_all)
}

/// Methods that take their own time-out.
fn takes_timeout(method: &str) -> bool {
    matches!(method, "observe.wait" | "act.scrollTo" | "act.shell")
}

/// The settings file that was typed. What the environment says is about the daemon, also where the option means something else.
fn typed_config(global: &Global) -> Option<&std::path::PathBuf> {
    global.config.as_ref().filter(|path| std::env::var_os("AFD_CONFIG").is_none_or(|v| v != path.as_os_str()))
}

/// The database that af uses, as its variable names it.
fn af_database() -> Option<std::path::PathBuf> {
    std::env::var_os("AF_DB").filter(|v| !v.is_empty()).map(Into::into)
}

/// Waits longer for the answer of a method whose time the daemon keeps.
fn patience(global: &Global, method: &str) -> Global {
    let more = global.timeout_ms.map(|ms| if takes_timeout(method) { ms.saturating_add(10_000) } else { ms });
    Global { timeout_ms: more, ..global.clone() }
}

/// A call by name.
struct Named {
    method: String,
    params: Map<String, Value>,
}

impl From<Call> for Named {
    fn from(call: Call) -> Self {
        Self { method: call.method.to_owned(), params: call.params }
    }
}

fn call_of(command: &Command, global: &Global) -> Result<Named, Failure> {
    Ok(match command {
        Command::Health => Call::new("device.health").into(),
        Command::Status => Call::new("daemon.status").into(),
        Command::Observe(c) => c.call().into(),
        Command::Act(c) => c.call().into(),
        Command::Verify(c) => c.call().into(),
        Command::Recover(c) => c.call().into(),
        Command::Memory(c) => c.call().into(),
        Command::App(app) => return Err(app.answer(global.device.as_ref())),
        Command::Connect(c) => c.call(global.device.as_ref()).into(),
        Command::Device(c) => c.call().into(),
        Command::Artifact(c) => c.call().into(),
        Command::Visual(c) => c.call()?.into(),
        Command::Session(c) => c.call().into(),
        Command::Conversation(c) => c.call()?.into(),
        Command::Pattern(c) => c.call()?.into(),
        Command::PageModel(c) => c.call()?.into(),
        Command::Config(c) => c.call().into(),
        Command::Import(c) => c.call(typed_config(global)).into(),
        Command::Job(c) => c.call().into(),
        Command::Daemon(c) => c.call().into(),
        Command::Rpc(rpc) => {
            let params = serde_json::from_str(&rpc.params)
                .map_err(|e| Failure::new("INVALID_PARAMS", format!("the parameters are no JSON object: {e}"), USAGE))?;
            Named { method: rpc.method.clone(), params }
        }
        Command::Events(_) | Command::Demo(_) | Command::Completions { .. } => unreachable!("handled before"),
    })
}

/// Adds device, session, URL and token where the method takes them.
fn complete(call: &Named, global: &Global, address: &Address) -> Value {
    let mut params = call.params.clone();
    let mut put = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            params.entry(name).or_insert_with(|| json!(value));
        }
    };
    let namespace = call.method.split('.').next().unwrap_or_default();
    let plain = matches!(call.method.as_str(), "device.list" | "device.remove" | "device.connectUsb");
    if call.method == "device.add" {
        put("url", &address.url);
        put("token", &address.token);
    } else if matches!(namespace, "observe" | "act" | "verify" | "recover") || (namespace == "device" && !plain) {
        put("url", &address.url);
        put("token", &address.token);
        put("device", &global.device);
        put("session", &global.session);
        if let Some(ms) = global.timeout_ms.filter(|_| takes_timeout(&call.method)) {
            params.entry("timeoutMs").or_insert_with(|| json!(ms));
        }
    } else if matches!(call.method.as_str(), "visual.learn" | "visual.match") {
        put("url", &address.url);
        put("token", &address.token);
        put("device", &global.device);
        put("session", &global.session);
    } else if call.method == "visual.import" {
        put("session", &global.session);
    } else if (namespace == "visual" && call.method != "visual.export")
        || matches!(call.method.as_str(), "memory.context" | "memory.experience")
    {
        put("device", &global.device.clone().or_else(|| address.url.clone()));
        put("session", &global.session);
    } else if call.method == "memory.log" {
        put("device", &global.device);
    } else if matches!(call.method.as_str(), "memory.save" | "pattern.save") || takes_session(&call.method) {
        put("session", &global.session);
    }
    Value::Object(params)
}

/// Group and verb of a command, as they were typed.
fn name(command: &Command, global: &Global) -> (String, String) {
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    match command {
        Command::Health => pair("health", "health"),
        Command::Status => pair("daemon", "status"),
        Command::Device(Device::Add(_)) => pair("device", "add"),
        Command::Rpc(rpc) => pair("rpc", &rpc.method),
        Command::App(app) => pair("app", app.verb()),
        Command::Connect(_) => pair("connect", "usb"),
        Command::Import(_) => pair("import", "af"),
        Command::Visual(visual) => pair("visual", visual.verb()),
        Command::Conversation(conversation) => pair("conversation", conversation.verb()),
        Command::Pattern(pattern) => pair("pattern", pattern.verb()),
        Command::PageModel(model) => pair("page-model", model.verb()),
        other => match call_of(other, global) {
            Ok(call) => {
                let (group, verb) = call.method.split_once('.').unwrap_or((&call.method, ""));
                pair(group, &human::kebab(verb))
            }
            Err(_) => pair("cli", "parse"),
        },
    }
}

/// Gives a call that writes a key of its own, so that asking again does nothing twice.
fn make_repeatable(method: &str, params: &mut Value) -> Repeat {
    let Some(info) = afd_proto::method(method) else { return Repeat::Never };
    if !info.takes_request_key() {
        return Repeat::Safe;
    }
    if let Some(params) = params.as_object_mut() {
        params.entry("requestKey").or_insert_with(|| json!(random_key()));
    }
    Repeat::Safe
}

/// A key that nobody else has: 128 random bits, which the standard library draws for its hash tables.
fn random_key() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let draw = || RandomState::new().build_hasher().finish();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("afctl-{:016x}{:016x}-{:x}-{:x}", draw(), draw(), now.as_nanos(), std::process::id())
}

/// Ctrl-C prints the envelope too, and a second one ends at once.
fn watch_for_interrupt() -> Option<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let sigint = signal_hook::consts::SIGINT;
    // The order matters: the first signal finds the flag unset, and sets it.
    let armed = signal_hook::flag::register_conditional_shutdown(sigint, i32::from(INTERRUPTED), flag.clone())
        .and_then(|_| signal_hook::flag::register(sigint, flag.clone()));
    // Without it Ctrl-C merely ends the program, as it does anyway.
    armed.is_ok().then_some(flag)
}
