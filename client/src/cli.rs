//! What can be typed.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    act, app, artifact, config, connect, conversation, daemon, device, import, job, memory, observe, pattern, recover, session, verify,
    visual,
};

/// Hands on a phone and a memory of what they did there, for AI agents.
///
/// Every command is one call to the daemon `afd`, which is started when it does not run (not for `status` and
/// `daemon shutdown`). Look first (`observe page`), act
/// on what you saw (`act tap --by ref --value @n3`), then check (`verify text-contains --text Connected`). Everything is
/// recorded; what was learned about a page comes back as hints with the next observation.
///
/// On a terminal the answer is for people; in a pipe it is one line of JSON: {category, op, status, traceId, data | error}.
/// Exit codes: 0 done, 1 failed (also a check that does not hold), 2 usage, 3 no daemon, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "afctl", version, max_term_width = 110)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Session that the call belongs to
    #[arg(long, short = 's', global = true, env = "AFD_SESSION", value_name = "NAME")]
    pub session: Option<String>,
    /// Configured device; may be left out while there is exactly one
    #[arg(long, short = 'd', global = true, value_name = "NAME")]
    pub device: Option<String>,
    /// Reach this phone instead of a configured device, for this call
    #[arg(long, global = true, env = "AF_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Bearer token for --url
    #[arg(long, global = true, env = "AF_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// How to print: auto is human on a terminal, json in a pipe
    #[arg(long, short = 'o', global = true, env = "AF_OUTPUT", value_parser = Formats, default_value = "auto")]
    pub output: Format,
    /// Give up waiting for the answer after so long
    #[arg(long, global = true, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Fail with exit code 3 instead of starting the daemon
    #[arg(long, global = true)]
    pub no_spawn: bool,
    /// Socket of the daemon
    #[arg(long, global = true, env = "AFD_SOCKET", value_name = "PATH", value_parser = path())]
    pub socket: Option<PathBuf>,
    /// Database of the daemon, when this call starts it
    #[arg(long, global = true, env = "AF_DB", value_name = "FILE", alias = "trace-db", value_parser = path())]
    pub memory_db: Option<PathBuf>,
    /// Settings file of the daemon, when this call starts it
    #[arg(long, global = true, env = "AFD_CONFIG", value_name = "FILE", value_parser = path())]
    pub config: Option<PathBuf>,
    /// As in af; only auto, which means the same here. Otherwise it is a setting: device.NAME.proxy
    #[arg(long, global = true, hide = true, value_parser = proxy)]
    pub proxy: Option<String>,
    /// As in af; it has no effect here, where what is sent is recorded so that it is sent only once
    #[arg(long, global = true, hide = true, alias = "no-trace")]
    pub no_memory: bool,
}

/// A path; an empty one, as an empty variable is, counts as none.
fn path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    clap::builder::OsStringValueParser::new().map(PathBuf::from)
}

/// The formats; an empty variable counts as `auto`.
#[derive(Clone)]
struct Formats;

impl clap::builder::TypedValueParser for Formats {
    type Value = Format;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&clap::Arg>, value: &std::ffi::OsStr) -> Result<Format, clap::Error> {
        if value.is_empty() {
            return Ok(Format::Auto);
        }
        clap::builder::EnumValueParser::<Format>::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(Format::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// What `--proxy` may be.
fn proxy(text: &str) -> Result<String, String> {
    match text {
        "auto" => Ok(text.to_owned()),
        "direct" | "system" => Err(format!("this is a setting of the device here: afctl config set device.NAME.proxy {text}")),
        _ => Err("expected auto".to_owned()),
    }
}

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human on a terminal, JSON in a pipe.
    Auto,
    /// Tables and colours.
    Human,
    /// One line of JSON.
    Json,
    /// `key=value` lines.
    Text,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask whether the phone's service is there
    Health,
    /// How the daemon, its devices and its database are doing; never starts it
    Status,
    /// Look at the screen
    #[command(subcommand)]
    Observe(observe::Observe),
    /// Do something on the device
    #[command(subcommand)]
    Act(act::Act),
    /// Check that the screen is as expected
    #[command(subcommand)]
    Verify(verify::Verify),
    /// Get out of a failure; what cures it is remembered
    #[command(subcommand)]
    Recover(recover::Recover),
    /// What was done and learned
    #[command(subcommand)]
    Memory(memory::Memory),
    /// What screens are made of, and how to get from one to another
    #[command(subcommand)]
    Visual(visual::Visual),
    /// What an agent is doing, how far it is, and how somebody else goes on
    #[command(subcommand)]
    Session(session::Session),
    /// What was said, and what of it goes into the model's context
    #[command(subcommand)]
    Conversation(conversation::Conversation),
    /// What was learned about pages and in general
    #[command(subcommand)]
    Pattern(pattern::Pattern),
    /// What pages are made of
    #[command(subcommand)]
    PageModel(pattern::PageModel),
    /// Reach a phone over its cable
    #[command(subcommand)]
    Connect(connect::Connect),
    /// The phone's app, which adb installs
    #[command(subcommand)]
    App(app::App),
    /// Devices: add, list, lease
    #[command(subcommand)]
    Device(device::Device),
    /// Files that were written: screenshots, full screens, large pages
    #[command(subcommand)]
    Artifact(artifact::Artifact),
    /// The settings, and where each comes from
    #[command(subcommand)]
    Config(config::Config),
    /// Take over what another tool remembered
    #[command(subcommand)]
    Import(import::Import),
    /// What the daemon does in the background
    #[command(subcommand)]
    Job(job::Job),
    /// The daemon itself
    #[command(subcommand)]
    Daemon(daemon::Daemon),
    /// Follow what happens, live
    Events(Follow),
    /// Call any method of the daemon with JSON parameters
    Rpc(Rpc),
    /// A guided tour on a practice phone; touches nothing of yours
    Demo(Demo),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Options of `events`.
#[derive(Debug, Args)]
pub struct Follow {
    /// Begin with what happened after this cursor (the `cursor` of an event; 0 is all)
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    pub since: Option<i64>,
    /// Only this session
    #[arg(long, value_name = "NAME")]
    pub for_session: Option<String>,
    /// Only this device
    #[arg(long, value_name = "NAME")]
    pub for_device: Option<String>,
    /// Stop after so many messages
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
}

/// Options of `rpc`.
#[derive(Debug, Args)]
pub struct Rpc {
    /// For example observe.page; rpc.discover describes them all
    pub method: String,
    /// A JSON object
    #[arg(default_value = "{}")]
    pub params: String,
}

/// Options of `demo`.
#[derive(Debug, Clone, Args)]
pub struct Demo {
    /// Another phone and another task
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Pause after each step, milliseconds; by default 700 on a terminal and none in a pipe
    #[arg(long, value_name = "MS")]
    pub pause_ms: Option<u64>,
}
