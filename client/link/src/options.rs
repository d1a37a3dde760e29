//! Options accepted by every command, and the device address derived from them.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, ValueEnum};

/// Options accepted by every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Session the call belongs to
    #[arg(long, short = 's', global = true, hide_short_help = true, env = "AFD_SESSION", value_name = "NAME")]
    pub session: Option<String>,
    /// Device name; optional if exactly one device is configured
    #[arg(long, short = 'd', global = true, hide_short_help = true, value_name = "NAME")]
    pub device: Option<String>,
    /// Base URL of the phone to use for this call instead of a configured device
    #[arg(long, global = true, hide_short_help = true, env = "AF_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Bearer token for --url
    #[arg(long, global = true, hide_short_help = true, env = "AF_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Output format; auto means human on a terminal and json in a pipe
    #[arg(long, short = 'o', global = true, hide_short_help = true, env = "AF_OUTPUT", value_parser = FormatParser, default_value = "auto")]
    pub output: Format,
    /// Client-side timeout for the response in milliseconds; for commands that wait for the device, the maximum time
    /// that they may take
    #[arg(long, global = true, hide_short_help = true, value_name = "MS")]
    pub timeout_ms: Option<u64>,
    /// Fail with exit code 3 instead of starting the daemon
    #[arg(long, global = true, hide_short_help = true)]
    pub no_spawn: bool,
    /// Path of the daemon's socket
    #[arg(long, global = true, hide_short_help = true, env = "AFD_SOCKET", value_name = "PATH", value_parser = path())]
    pub socket: Option<PathBuf>,
    /// Database for a daemon started by this call; a running daemon must use the same one
    #[arg(long, global = true, hide_short_help = true, env = "AF_DB", value_name = "FILE", alias = "trace-db", value_parser = path())]
    pub memory_db: Option<PathBuf>,
    /// Configuration file for a daemon started by this call
    #[arg(long, global = true, hide_short_help = true, env = "AFD_CONFIG", value_name = "FILE", value_parser = path())]
    pub config: Option<PathBuf>,
    /// Accepted for compatibility with af, but only as `auto`; set the proxy of a device with device.NAME.proxy
    #[arg(long, global = true, hide = true, value_parser = proxy)]
    pub proxy: Option<String>,
    /// Accepted for compatibility with af, without effect: actions are always recorded, so that none is sent twice
    #[arg(long, global = true, hide = true, alias = "no-trace")]
    pub no_memory: bool,
}

/// Returns a parser for paths that also accepts an empty one. An empty environment variable yields an empty path, which
/// `run` treats as unset.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    clap::builder::OsStringValueParser::new().map(PathBuf::from)
}

/// Parser for [`Format`]; an empty value, which an empty environment variable yields, means `auto`.
#[derive(Clone)]
struct FormatParser;

impl TypedValueParser for FormatParser {
    type Value = Format;

    fn parse_ref(
        &self,
        cmd: &Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Format, clap::Error> {
        if value.is_empty() {
            return Ok(Format::Auto);
        }
        clap::builder::EnumValueParser::<Format>::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(Format::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// Parses the value of `--proxy`.
fn proxy(text: &str) -> Result<String, String> {
    match text {
        "auto" => Ok(text.to_owned()),
        "direct" | "system" => Err(format!("the proxy is set per device: afctl config set device.NAME.proxy {text}")),
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
    /// Short text for language models: outlines of pages, and what each action changed
    Agent,
    /// One line of JSON
    Json,
    /// `key=value` lines
    Text,
}

/// Global options and device address, passed to every command.
pub struct Context {
    /// The global options.
    pub global: Global,
    /// Device address from options and environment.
    pub address: Address,
}

/// Address of the device, from options and environment.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// Base URL of an ad-hoc device.
    pub url: Option<String>,
    /// Bearer token for this call.
    pub token: Option<String>,
}

impl Address {
    /// Reads the address. Options take precedence over environment variables, which count only if no option names a
    /// device.
    pub fn of(global: &Global, matches: &ArgMatches) -> Self {
        let typed = |id: &str| is_typed(matches, id);
        let given = |id: &str, value: &Option<String>| {
            value.clone().filter(|v| !v.is_empty() && (typed(id) || global.device.is_none()))
        };
        let url = given("url", &global.url);
        // A token from the environment belongs to the URL given with it, not to a configured device.
        let token = given("token", &global.token).filter(|_| url.is_some() || typed("token"));
        Self { url, token }
    }
}

/// Returns whether an option was given on the command line rather than in the environment.
pub fn is_typed(matches: &ArgMatches, id: &str) -> bool {
    let innermost =
        std::iter::successors(Some(matches), |m| m.subcommand().map(|(_, sub)| sub)).last().unwrap_or(matches);
    innermost.value_source(id) == Some(ValueSource::CommandLine)
}

/// Returns the file given by `--config`. Ignores `AFD_CONFIG`, because that variable always names the daemon's
/// configuration file, even for commands whose `--config` means another file.
pub fn typed_config(global: &Global) -> Option<&std::path::PathBuf> {
    global.config.as_ref().filter(|path| std::env::var_os("AFD_CONFIG").is_none_or(|v| v != path.as_os_str()))
}

/// Returns the database path in `AF_DB`, if it is set.
pub fn af_database() -> Option<PathBuf> {
    std::env::var_os("AF_DB").filter(|v| !v.is_empty()).map(Into::into)
}
