//! The table of commands.
//!
//! Only the invoked group builds its subcommands, because building those of all groups would take longer than the call
//! itself.

use clap::builder::StyledStr;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use afd_proto::limits::Range;

use crate::commands::act::Act;
use crate::commands::observe::Observe;
use crate::commands::rpc::Rpc;
use crate::commands::verify::Verify;
use crate::commands::{
    Call, Group, act, app, artifact, backup, config, connect, conversation, daemon, device, doctor, import, job, mcp,
    memory, observe, pattern, recall, recover, service, session, uninstall, verify, visual,
};
use crate::completions::Completions;
use crate::{completions, demo, examples, follow, init, man, setup};
use afd_link::bridge::Mcp;
use afd_link::options::{Context, Global};

/// One-line description of the program.
const ABOUT: &str = "Let AI agents operate phones, and remember what they did there";

/// Text shown by `--help`.
const LONG_ABOUT: &str = "\
Let AI agents operate phones, and remember what they did there.

Every command makes one call to the daemon `afd` and starts it if it is not running (except `status` and `daemon shutdown`). \
Observe first (`observe page`), act on what you saw (`act tap --by ref --value @n3`), then verify (`verify text-contains --text \
Connected`). Everything is recorded; what was learned about a page is returned as hints with the next observation.

On a terminal the output is formatted for people; in a pipe it is one line of JSON: {category, op, status, traceId, data | error}. \
Exit codes: 0 success, 1 failure (including a failed check), 2 usage error, 3 no daemon, 130 interrupted.";

/// How a command is executed.
pub enum Run {
    /// Function that builds the single call to the daemon that the command makes.
    Call(fn(&ArgMatches, &Context) -> Result<Call, clap::Error>),
    /// A function that runs the command itself and returns the exit code.
    Program(fn(&ArgMatches, &Context) -> Result<u8, clap::Error>),
    /// Like [`Run::Program`], for a command that needs the clap description of all commands.
    Whole(fn(&ArgMatches, &Context, Command) -> Result<u8, clap::Error>),
}

/// A command, or a group of commands.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Alternative names on the command line.
    pub aliases: &'static [&'static str],
    /// Full command that the entry abbreviates, such as `observe page`; `None` if the entry is not an abbreviation.
    full: Option<&'static str>,
    about: &'static str,
    /// Function that adds the arguments and subcommands with their help, examples and limits.
    describe: fn(Command) -> Command,
    /// How the command is executed.
    pub run: Run,
}

const fn group<G: Group>(name: &'static str, about: &'static str) -> Entry {
    Entry { name, aliases: &[], full: None, about, describe: describe_group::<G>, run: Run::Call(call_of_group::<G>) }
}

const fn program<A: Args>(
    name: &'static str,
    about: &'static str,
    run: fn(&ArgMatches, &Context) -> Result<u8, clap::Error>,
) -> Entry {
    Entry { name, aliases: &[], full: None, about, describe: describe_args::<A>, run: Run::Program(run) }
}

/// Defines a top-level command that abbreviates a command in a group.
macro_rules! short {
    ($name:literal, $aliases:expr, $full:literal, $about:literal, $variant:path, $args:ty) => {
        Entry {
            name: $name,
            aliases: $aliases,
            full: Some($full),
            about: concat!($about, "; the same as `", $full, "`"),
            describe: describe_args::<$args>,
            run: Run::Call(|matches, context| Ok($variant(<$args>::from_arg_matches(matches)?).call(context))),
        }
    };
}

fn describe_group<G: Group>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    let path = command.get_name().to_owned();
    let command = G::augment_subcommands(command).about(about).long_about(None);
    with_examples(command.subcommand_required(true).arg_required_else_help(true), &path)
}

fn describe_args<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    let path = command.get_name().to_owned();
    with_examples(A::augment_args(command).about(about).long_about(None), &path)
}

fn call_of_group<G: Group>(matches: &ArgMatches, context: &Context) -> Result<Call, clap::Error> {
    Ok(G::from_arg_matches(matches)?.call(context))
}

/// All commands, in help order.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "health",
        aliases: &[],
        full: None,
        about: "Check that the phone's service responds",
        describe: |c| with_examples(c, "health"),
        run: Run::Call(|_, _| Ok(device::health())),
    },
    Entry {
        name: "status",
        aliases: &[],
        full: None,
        about: "Show the state of the daemon, its devices and its database, without starting it",
        describe: describe_args::<daemon::Status>,
        run: Run::Call(|matches, _| Ok(daemon::Status::from_arg_matches(matches)?.call())),
    },
    group::<observe::Observe>("observe", "Read the screen"),
    group::<act::Act>("act", "Perform actions on the device"),
    short!("look", &["snapshot", "dump", "ui"], "observe page", "Show the page", Observe::Page, observe::Page),
    short!("read", &[], "observe text", "Read the text of the page", Observe::Text, observe::Text),
    short!("screenshot", &[], "observe screenshot", "Take a screenshot", Observe::Screenshot, observe::Screenshot),
    short!("wait", &["wait-for"], "observe wait", "Wait for something on the screen", Observe::Wait, observe::Wait),
    short!("tap", &["click"], "act tap", "Tap a target", Act::Tap, act::Tap),
    short!("long-press", &["longpress"], "act long-press", "Long-press a target", Act::LongPress, act::LongPress),
    short!("type", &[], "act text", "Type text into the focused field", Act::Text, act::Text),
    short!("fill", &[], "act fill", "Fill a field", Act::Fill, act::Fill),
    short!("press", &["key", "keyevent"], "act key", "Press a key", Act::Key, act::KeyCode),
    short!("scroll", &[], "act scroll", "Scroll the screen", Act::Scroll, act::Scroll),
    short!("go", &["goto"], "act go-to", "Go to a page or an element by the known way", Act::GoTo, act::GoTo),
    short!("scroll-to", &[], "act scroll-to", "Scroll until an element is on the screen", Act::ScrollTo, act::ScrollTo),
    short!(
        "launch",
        &["open", "start"],
        "act launch",
        "Launch an app by its package or its name",
        Act::Launch,
        act::Launch
    ),
    short!("back", &[], "act back", "Press Back", Act::Back, act::Key),
    short!("undo", &[], "act undo", "Undo the last action", Act::Undo, act::Undo),
    short!("home", &[], "act home", "Press Home", Act::Home, act::Key),
    short!("tab", &[], "act tab", "Choose, open or close a tab of a browser", Act::Tab, act::Tab),
    short!(
        "check",
        &["assert"],
        "verify element",
        "Check that a text is on the page, or the state of an element",
        Verify::Element,
        verify::Element
    ),
    group::<verify::Verify>("verify", "Check that the screen is as expected"),
    group::<recover::Recover>("recover", "Recover from a failure; afd remembers which recovery fixed it"),
    group::<memory::Memory>("memory", "Notes, event log, and what was learned about pages"),
    short!("export", &[], "memory export", "Export the whole memory to a file", memory::Memory::Export, memory::Export),
    group::<visual::Visual>("visual", "Learned components and states of screens, and paths between them"),
    group::<session::Session>("session", "Test sessions: goal, tasks, findings, progress, resume"),
    group::<conversation::Conversation>("conversation", "Conversation history and the context for the language model"),
    group::<pattern::Pattern>("pattern", "Learned patterns, across sessions"),
    group::<pattern::PageModel>("page-model", "Page models: page types and their elements"),
    group::<recall::Recall>("recall", "Search everything in memory, by words and by meaning"),
    group::<recall::Model>("model", "Embedding models for `recall`"),
    group::<connect::Connect>("connect", "Connect a phone over USB, or any Android that adb lists"),
    group::<app::App>("app", "List, install, uninstall, launch and stop apps"),
    group::<device::Device>("device", "Add, list and lease devices"),
    group::<artifact::Artifact>("artifact", "Stored files: screenshots, full-screen dumps, large results"),
    group::<config::Config>("config", "Settings, and where each value comes from"),
    group::<import::Import>("import", "Import data from another tool"),
    group::<backup::Backup>("backup", "Create, verify and restore backups of the memory"),
    group::<job::Job>("job", "Background jobs of the daemon"),
    group::<daemon::Daemon>("daemon", "Start, stop and inspect the daemon"),
    group::<service::Service>("service", "Run the daemon under systemd, and show its log"),
    program::<doctor::Doctor>("doctor", "Check the daemon, its memory, its settings and the devices", doctor::run),
    program::<init::Init>(
        "init",
        "Add the first device: a practice phone, a phone, an emulator or a browser",
        init::run,
    ),
    program::<Mcp>("mcp", "Serve MCP clients such as Claude Code on standard input and output", mcp::run),
    program::<setup::Setup>("setup", "Add afd to Claude Code, Codex, Cursor, VS Code and other programs", setup::run),
    program::<follow::Follow>("events", "Follow events live", follow::run),
    Entry {
        name: "rpc",
        aliases: &[],
        full: None,
        about: "Call any daemon method with JSON parameters",
        describe: describe_args::<Rpc>,
        run: Run::Call(|matches, _| Ok(Rpc::from_arg_matches(matches)?.call())),
    },
    program::<demo::Demo>(
        "demo",
        "Guided tour on a practice phone or site; does not touch your devices or data",
        demo::run,
    ),
    Entry {
        name: "uninstall",
        aliases: &[],
        full: None,
        about: "Show what afd has stored, and delete it with --purge",
        describe: describe_args::<uninstall::Uninstall>,
        run: Run::Call(|matches, _| Ok(uninstall::Uninstall::from_arg_matches(matches)?.call())),
    },
    Entry {
        name: "completions",
        aliases: &[],
        full: None,
        about: "Print a shell completion script",
        describe: describe_args::<Completions>,
        run: Run::Whole(completions::run),
    },
    Entry {
        name: "man",
        aliases: &[],
        full: None,
        about: "Write the manual pages of all commands to a directory",
        describe: describe_args::<man::Man>,
        run: Run::Whole(man::run),
    },
];

/// Section headings in `--help`, and the commands under each.
const SECTIONS: &[(&str, &[&str])] = &[
    ("Start", &["init", "demo", "setup", "mcp", "doctor", "status", "health"]),
    (
        "Act",
        &[
            "look",
            "go",
            "tap",
            "long-press",
            "type",
            "fill",
            "press",
            "scroll",
            "scroll-to",
            "launch",
            "back",
            "home",
            "undo",
            "tab",
            "wait",
            "read",
            "screenshot",
            "observe",
            "act",
            "recover",
        ],
    ),
    ("Check", &["check", "verify", "session", "events"]),
    ("Memory", &["memory", "visual", "recall", "conversation", "pattern", "page-model", "export", "import"]),
    (
        "Admin",
        &[
            "connect",
            "app",
            "device",
            "artifact",
            "config",
            "backup",
            "job",
            "daemon",
            "service",
            "model",
            "rpc",
            "uninstall",
            "completions",
            "man",
        ],
    ),
];

/// Returns the program's help template, which lists the commands by section.
fn help_template() -> String {
    let about = |name: &str| ENTRIES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.about);
    let sections = SECTIONS.iter().map(|(heading, names)| {
        let lines: String = names.iter().map(|name| format!("  {name:<14}{}\n", about(name))).collect();
        format!("{heading}:\n{lines}\n")
    });
    let sections: String = sections.collect();
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{sections}Options:\n{{options}}{{after-help}}")
}

/// Returns the clap command with only those commands whose names are among `words`. It parses a command line that names
/// one of them in the same way as the result of [`command`]. Building the other commands would take up most of the run
/// time of a short call.
pub fn command_for(words: &[String]) -> Command {
    let named = |entry: &&Entry| words.iter().any(|w| w == entry.name || entry.aliases.contains(&w.as_str()));
    let command = Global::augment_args(Command::new("afctl")).subcommand_required(true);
    ENTRIES.iter().filter(named).fold(command, |command, entry| {
        command.subcommand(Command::new(entry.name).aliases(entry.aliases).defer(entry.describe))
    })
}

/// Returns the clap command for the whole program; groups build their subcommands only when needed.
pub fn command() -> Command {
    let command = Command::new("afctl")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .max_term_width(110)
        .help_template(help_template())
        .subcommand_required(true)
        .arg_required_else_help(true);
    ENTRIES.iter().fold(Global::augment_args(command).about(ABOUT).long_about(LONG_ABOUT), |command, entry| {
        command.subcommand(Command::new(entry.name).aliases(entry.aliases).about(entry.about).defer(entry.describe))
    })
}

/// Returns a group with its subcommands, without the rest of the program.
pub fn group_of(name: &str) -> Option<Command> {
    let entry = ENTRIES.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
    Some((entry.describe)(Command::new(entry.name)))
}

/// Adds examples to the help for a command and its subcommands.
fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = with_limits(command, path);
    let command = match examples::of(path) {
        Some(example) => command.after_help(format!("Example: {example}")),
        None => command,
    };
    names.into_iter().fold(command, |command, name| {
        let inner = format!("{path} {name}");
        command.mut_subcommand(name, |sub| with_examples(sub, &inner))
    })
}

/// Adds the range and default of each parameter, as defined by the corresponding method, to the help for a command's
/// options.
fn with_limits(command: Command, path: &str) -> Command {
    let path = ENTRIES.iter().find(|entry| entry.name == path).and_then(|entry| entry.full).unwrap_or(path);
    let Some(method) = afd_proto::methods().find(|method| is_method_of(method.name, path)) else { return command };
    // The id of an option is the name of its field. A field whose name clashes with a global option has a qualified id.
    let field_of = |id: &str| id.rsplit('.').next().unwrap_or_default().to_owned();
    let limits = |field: &str| {
        let of_field = || method.limits.iter().filter(|limit| limit.field == field);
        let range = of_field().find_map(|limit| limit.range).filter(|range| matches!(range, Range::Numbers(..)));
        let default = of_field().find_map(|limit| limit.default?()).map(|default| format!("default: {default}"));
        let limits: Vec<String> = range.map(|range| range.to_string()).into_iter().chain(default).collect();
        (!limits.is_empty()).then(|| format!("[{}]", limits.join("; ")))
    };
    let with = |text: Option<&StyledStr>, limits: &str| format!("{} {limits}", text.cloned().unwrap_or_default());
    let ids: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    // `--timeout-ms` is a global option, so its limits go into the summary of a command whose method takes a timeout.
    let timeout = limits("timeout_ms").filter(|_| !ids.iter().any(|id| field_of(id) == "timeout_ms"));
    let command = match timeout {
        Some(limits) => {
            let about = with(command.get_about(), &limits);
            command.about(about)
        }
        None => command,
    };
    ids.into_iter().fold(command, |command, id| match limits(&field_of(&id)) {
        Some(limits) => command.mut_arg(id, |arg| {
            let help = with(arg.get_help(), &limits);
            arg.help(help)
        }),
        None => command,
    })
}

/// Returns whether a method corresponds to a command, for example `act.scrollTo` to `act scroll-to`, or
/// `observe.overlaySet` to `observe overlay set`.
fn is_method_of(method: &str, path: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase())
    }
    letters(method).eq(letters(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_section_of_the_help() {
        let mut listed: Vec<&str> = SECTIONS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
        let help = command().render_help().to_string();
        let at =
            |heading: &str| help.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("no {heading}: {help}"));
        let places = ["Start", "Act", "Check", "Memory", "Admin", "Options"].map(at);
        assert!(places.is_sorted(), "{help}");
    }
}
