//! The command line: global options, and the table of command groups.
//!
//! A group describes its subcommands only when it is the one that was typed; describing all of them would cost more than the
//! call itself.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};

use crate::commands::{
    Call, act, app, artifact, config, connect, conversation, daemon, device, import, job, memory, observe, pattern, recover, session,
    verify, visual,
};
use crate::run::Address;
use crate::{demo, follow};

/// About the program, in one line.
const ABOUT: &str = "Let AI agents operate phones, and remember what they did there";

/// The rest of the long help.
const LONG_ABOUT: &str = "\
Let AI agents operate phones, and remember what they did there.

Every command is one call to the daemon `afd`, which is started if it is not running (except by `status` and `daemon shutdown`). \
Look first (`observe page`), act on what you saw (`act tap --by ref --value @n3`), then check (`verify text-contains --text \
Connected`). Everything is recorded; what was learned about a page comes back as hints with the next observation.

On a terminal the answer is formatted for people; in a pipe it is one line of JSON: {category, op, status, traceId, data | error}. \
Exit codes: 0 success, 1 failure (also a failed check), 2 usage error, 3 no daemon, 130 interrupted.";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Session that the call belongs to
    #[arg(long, short = 's', global = true, env = "AFD_SESSION", value_name = "NAME")]
    pub session: Option<String>,
    /// Configured device; optional while there is exactly one
    #[arg(long, short = 'd', global = true, value_name = "NAME")]
    pub device: Option<String>,
    /// Use the phone at this URL for this call, instead of a configured device
    #[arg(long, global = true, env = "AF_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Bearer token for --url
    #[arg(long, global = true, env = "AF_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Output format: auto is human on a terminal, json in a pipe
    #[arg(long, short = 'o', global = true, env = "AF_OUTPUT", value_parser = Formats, default_value = "auto")]
    pub output: Format,
    /// Client-side timeout for the response, milliseconds
    #[arg(long, global = true, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Fail with exit code 3 instead of starting the daemon
    #[arg(long, global = true)]
    pub no_spawn: bool,
    /// Socket of the daemon
    #[arg(long, global = true, env = "AFD_SOCKET", value_name = "PATH", value_parser = path())]
    pub socket: Option<PathBuf>,
    /// Database of the daemon, if this call starts it
    #[arg(long, global = true, env = "AF_DB", value_name = "FILE", alias = "trace-db", value_parser = path())]
    pub memory_db: Option<PathBuf>,
    /// Configuration file of the daemon, if this call starts it
    #[arg(long, global = true, env = "AFD_CONFIG", value_name = "FILE", value_parser = path())]
    pub config: Option<PathBuf>,
    /// Accepted for compatibility with af; only `auto`. The proxy is a setting of the device: device.NAME.proxy
    #[arg(long, global = true, hide = true, value_parser = proxy)]
    pub proxy: Option<String>,
    /// Accepted for compatibility with af, without effect: sent actions are always recorded, so that none is sent twice
    #[arg(long, global = true, hide = true, alias = "no-trace")]
    pub no_memory: bool,
}

/// Parses a path; an empty one, as from an empty variable, counts as none.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    clap::builder::OsStringValueParser::new().map(PathBuf::from)
}

/// Parses a format; an empty variable counts as `auto`.
#[derive(Clone)]
struct Formats;

impl TypedValueParser for Formats {
    type Value = Format;

    fn parse_ref(&self, cmd: &Command, arg: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<Format, clap::Error> {
        if value.is_empty() {
            return Ok(Format::Auto);
        }
        clap::builder::EnumValueParser::<Format>::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(Format::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// Parses `--proxy`.
fn proxy(text: &str) -> Result<String, String> {
    match text {
        "auto" => Ok(text.to_owned()),
        "direct" | "system" => Err(format!("the proxy is a setting of the device: afctl config set device.NAME.proxy {text}")),
        _ => Err("expected auto".to_owned()),
    }
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human on a terminal, JSON in a pipe
    Auto,
    /// Tables and colours
    Human,
    /// One line of JSON
    Json,
    /// `key=value` lines
    Text,
}

/// What a command may need beside its own arguments.
pub struct Context {
    /// The global options.
    pub global: Global,
    /// Device address from options and environment.
    pub address: Address,
}

/// What a command does.
pub enum Run {
    /// It is one call to the daemon.
    Call(fn(&ArgMatches, &Context) -> Result<Call, clap::Error>),
    /// It is a program of its own; returns the exit code.
    Program(fn(&ArgMatches, &Context) -> Result<u8, clap::Error>),
}

/// A command, or a group of commands.
pub struct Entry {
    /// As it is typed.
    pub name: &'static str,
    about: &'static str,
    describe: fn(Command) -> Command,
    /// What it does.
    pub run: Run,
}

/// A group of subcommands, each of which is one call.
pub trait Group: Subcommand {
    /// Returns the call that was typed.
    fn call(self, context: &Context) -> Call;
}

const fn group<G: Group>(name: &'static str, about: &'static str) -> Entry {
    Entry { name, about, describe: describe_group::<G>, run: Run::Call(call_of_group::<G>) }
}

const fn program<A: Args>(name: &'static str, about: &'static str, run: fn(&ArgMatches, &Context) -> Result<u8, clap::Error>) -> Entry {
    Entry { name, about, describe: describe_args::<A>, run: Run::Program(run) }
}

fn describe_group<G: Group>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    G::augment_subcommands(command).about(about).long_about(None).subcommand_required(true).arg_required_else_help(true)
}

fn describe_args<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about).long_about(None)
}

fn call_of_group<G: Group>(matches: &ArgMatches, context: &Context) -> Result<Call, clap::Error> {
    Ok(G::from_arg_matches(matches)?.call(context))
}

/// Every command, in the order of the help.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "health",
        about: "Check that the phone's service responds",
        describe: |c| c,
        run: Run::Call(|_, _| Ok(device::health())),
    },
    Entry {
        name: "status",
        about: "Show the state of the daemon, its devices and its database; never starts it",
        describe: |c| c,
        run: Run::Call(|_, _| Ok(daemon::status())),
    },
    group::<observe::Observe>("observe", "Read the screen"),
    group::<act::Act>("act", "Act on the device"),
    group::<verify::Verify>("verify", "Check that the screen is as expected"),
    group::<recover::Recover>("recover", "Recover from a failure; afd remembers which recovery fixed it"),
    group::<memory::Memory>("memory", "Notes, event log, and what was learned about pages"),
    group::<visual::Visual>("visual", "Components and states of screens, and paths between them"),
    group::<session::Session>("session", "Test sessions: goal, tasks, findings, progress, resume"),
    group::<conversation::Conversation>("conversation", "Conversation history and the context for the language model"),
    group::<pattern::Pattern>("pattern", "Learned patterns, across sessions"),
    group::<pattern::PageModel>("page-model", "Models of pages: type and elements"),
    group::<connect::Connect>("connect", "Connect a phone over USB"),
    group::<app::App>("app", "The phone's app, which adb installs"),
    group::<device::Device>("device", "Add, list and lease devices"),
    group::<artifact::Artifact>("artifact", "Stored files: screenshots, full screens, large results"),
    group::<config::Config>("config", "Settings, and where each value comes from"),
    group::<import::Import>("import", "Import data from another tool"),
    group::<job::Job>("job", "Background jobs of the daemon"),
    group::<daemon::Daemon>("daemon", "Start, stop and inspect the daemon"),
    program::<follow::Follow>("events", "Follow events live", follow::run),
    Entry {
        name: "rpc",
        about: "Call any method of the daemon with JSON parameters",
        describe: describe_args::<Rpc>,
        run: Run::Call(|matches, _| Ok(Rpc::from_arg_matches(matches)?.call())),
    },
    program::<demo::Demo>("demo", "Guided tour on a practice phone; touches nothing of yours", demo::run),
    program::<Completions>("completions", "Print a shell completion script", complete),
];

/// Returns the description of the command line; groups are described when they are needed.
pub fn command() -> Command {
    let command = Command::new("afctl")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .max_term_width(110)
        .subcommand_required(true)
        .arg_required_else_help(true);
    ENTRIES.iter().fold(Global::augment_args(command).about(ABOUT).long_about(LONG_ABOUT), |command, entry| {
        command.subcommand(Command::new(entry.name).about(entry.about).defer(entry.describe))
    })
}

/// Options of `rpc`.
#[derive(Debug, Args)]
pub struct Rpc {
    /// Method, for example observe.page; rpc.discover describes them all
    #[arg(value_parser = MethodNames)]
    method: String,
    /// Parameters, a JSON object
    #[arg(default_value = "{}")]
    params: String,
}

impl Rpc {
    fn call(self) -> Call {
        Call::raw(&self.method, &self.params)
    }
}

/// Accepts any method, also of a newer daemon; completes those that are known.
#[derive(Clone)]
struct MethodNames;

impl TypedValueParser for MethodNames {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(afd_proto::methods().map(|method| clap::builder::PossibleValue::new(method.name))))
    }
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    shell: clap_complete::Shell,
}

fn complete(matches: &ArgMatches, _: &Context) -> Result<u8, clap::Error> {
    let mut script = Vec::new();
    clap_complete::generate(Completions::from_arg_matches(matches)?.shell, &mut command(), "afctl", &mut script);
    Ok(u8::from(!crate::output::write(&script)))
}
