//! `afctl setup`: adds afd to the settings of a program that runs agents, and a short skill if the program supports
//! skills. It shows the changes and writes them after confirmation. It preserves all other text in a file, and `--undo`
//! restores the previous content.

mod edit;
mod files;
mod programs;
mod record;

use std::io::Write;
use std::path::{Path, PathBuf};

use afd_proto::tool::Toolset;
use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::Value;

use crate::ask;
use crate::output::print;
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, Outcome, USAGE};
use programs::{Directories, Form, Place, Program, Scope};
use record::{Record, Splice};

/// Instructions for agents, for programs that load skills. The repository contains the file in the usual skill layout.
const SKILL: &str = include_str!("../../skills/afd/SKILL.md");

/// Options for `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// Program to set up
    #[arg(value_enum)]
    program: Program,
    /// Where to set it up: in this directory, or everywhere for this user [default: the program's usual scope]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Toolsets to offer in addition to core, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SET")]
    toolsets: Vec<Toolset>,
    /// Write the changes without asking for confirmation
    #[arg(long)]
    yes: bool,
    /// Restore the previous content of the files
    #[arg(long)]
    undo: bool,
}

/// A change to a file; if `after` is `None`, the file is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    file: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// Description of the change that is shown to the user.
    shows: String,
    /// Record for a later undo; `None` removes the existing record.
    record: Option<Record>,
    /// Directories to remove after the change has been made, if they are empty.
    directories: Vec<PathBuf>,
}

/// Reason why nothing can be written, and the lines to add by hand instead.
#[derive(Debug)]
struct Refused {
    why: String,
    by_hand: Option<String>,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, by_hand: None }
    }
}

/// Runs the command.
///
/// # Errors
/// If the arguments are invalid. If a file cannot be read or written, a failure is printed.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let setup = Setup::from_arg_matches(matches)?;
    let failure = match set_up(&setup) {
        Ok(true) => return Ok(0),
        Ok(false) => Failure::new("INVALID_PARAMS", "nothing was written", USAGE)
            .with_hint("repeat the command with --yes to write it"),
        Err(Refused { why, by_hand }) => {
            let failure = Failure::new("CONFLICT", why, FAILED);
            match by_hand {
                Some(lines) => failure.with_hint(format!("nothing was written; add this by hand:\n{lines}")),
                None => failure,
            }
        }
    };
    let outcome = Outcome::failed("setup", "write", failure);
    print(&outcome, context.global.output);
    Ok(outcome.exit())
}

/// Sets up a program, or undoes its setup; returns false if the user declined.
fn set_up(setup: &Setup) -> Result<bool, Refused> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = home.ok_or_else(|| "HOME is not set: cannot tell where programs keep their settings".to_owned())?;
    let here = std::env::current_dir().map_err(|e| format!("cannot tell the working directory: {e}"))?;
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|dir| !dir.is_empty())
        .map_or_else(|| home.join(".config"), PathBuf::from);
    let at = Directories { here: &here, home: &home, config: &config };
    let scope = setup.scope.unwrap_or_else(|| setup.program.usual_scope());
    let place = setup.program.place(scope, &at, &command_path(), &args(&setup.toolsets))?;
    let changes = if setup.undo { undone(&place)? } else { added(&place)? };
    if changes.is_empty() {
        say(if setup.undo { "nothing to undo: setup has written nothing there" } else { "already set up" });
        return Ok(true);
    }
    apply(setup, &changes)
}

fn args(toolsets: &[Toolset]) -> Vec<String> {
    let mut args = vec!["mcp".to_owned()];
    if !toolsets.is_empty() {
        args.push("--toolsets".to_owned());
        args.push(toolsets.iter().map(|set| set.word()).collect::<Vec<_>>().join(","));
    }
    args
}

/// Returns the command that runs this program: its name if it is found in PATH, else its path.
fn command_path() -> String {
    let own = std::env::current_exe().ok().and_then(|p| p.canonicalize().ok());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join("afctl"))
        .find(|p| p.is_file())
        .and_then(|p| p.canonicalize().ok());
    match (own, found) {
        (Some(own), found) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "afctl".to_owned(),
    }
}

/// Returns the changes that set up a program; none if it is already set up.
fn added(place: &Place) -> Result<Vec<Change>, Refused> {
    let mut changes = Vec::new();
    let file = files::real(&place.file, place.within.as_deref())?;
    let now = files::read(&file)?;
    let by_hand =
        |why: String| Refused { why: format!("{}: {why}", place.file.display()), by_hand: Some(place.lines()) };
    if has_entry(place, now.as_deref().unwrap_or_default()).map_err(by_hand)?.as_ref() != Some(&entry(place)) {
        let known = record::of(&file);
        // The content before the last setup, if the file has not been changed since then.
        let original = match (&known, &now) {
            (Some(Record { existed: false, splice: Some(splice), .. }), Some(now)) if splice.undone(now).is_some() => {
                Some(None)
            }
            (Some(Record { splice: Some(splice), .. }), Some(now)) => splice.undone(now).map(Some),
            (Some(_), _) => None,
            (None, _) => Some(now.clone()),
        };
        let base = original.clone().unwrap_or_else(|| now.clone());
        let after = edited(place, base.as_deref().unwrap_or_default()).map_err(by_hand)?;
        let kept = known.unwrap_or(Record {
            file: file.clone(),
            existed: now.is_some(),
            splice: None,
            entry: None,
            with_list: !has_list(place, now.as_deref().unwrap_or_default()),
            directories: Vec::new(),
        });
        let splice = original.map(|before| Splice::between(before.as_deref().unwrap_or_default(), &after));
        changes.push(Change {
            shows: format!("write {}{}\n\n{}", file.display(), through(&place.file, &file), place.lines()),
            file,
            before: now,
            after: Some(after),
            record: Some(Record { splice, entry: Some(entry(place)), ..kept }),
            directories: Vec::new(),
        });
    }
    changes.extend(skill_added(place)?);
    Ok(changes)
}

/// Returns a note that names the link through which a file was found, or an empty string if there was no link.
fn through(named: &Path, real: &Path) -> String {
    if named.file_name() == real.file_name()
        && named.parent().and_then(|p| p.canonicalize().ok()).as_deref() == real.parent()
    {
        return String::new();
    }
    if named.exists() && named.canonicalize().is_ok_and(|path| path != named) {
        format!(" (by the link {})", named.display())
    } else {
        String::new()
    }
}

fn skill_added(place: &Place) -> Result<Option<Change>, Refused> {
    let Some(skill) = &place.skill else { return Ok(None) };
    let file = files::real(skill, place.within.as_deref())?;
    let now = files::read(&file)?;
    if now.as_deref() == Some(SKILL) {
        return Ok(None);
    }
    let known = record::of(&file);
    let ours = known
        .as_ref()
        .and_then(|r| r.splice.as_ref())
        .zip(now.as_deref())
        .is_some_and(|(splice, now)| splice.undone(now).is_some());
    if now.is_some() && !ours {
        return Err(
            format!("{}: the file exists, and setup did not write it; move it away first", skill.display()).into()
        );
    }
    let kept = Record {
        file: file.clone(),
        existed: false,
        splice: None,
        entry: None,
        with_list: false,
        directories: Vec::new(),
    };
    Ok(Some(Change {
        shows: format!("write {} (a skill of {} lines)", file.display(), SKILL.lines().count()),
        file,
        before: now,
        after: Some(SKILL.to_owned()),
        record: Some(Record { splice: Some(Splice::between("", SKILL)), ..known.unwrap_or(kept) }),
        directories: Vec::new(),
    }))
}

/// Returns the changes that undo a setup.
fn undone(place: &Place) -> Result<Vec<Change>, Refused> {
    let mut changes = Vec::new();
    for (named, is_skill) in std::iter::once((&place.file, false)).chain(place.skill.iter().map(|skill| (skill, true)))
    {
        let file = files::real(named, place.within.as_deref())?;
        let now = files::read(&file)?;
        let Some(known) = record::of(&file) else {
            if !is_skill && now.as_deref().is_some_and(|now| matches!(has_entry(place, now), Ok(Some(_)))) {
                let why =
                    format!("{}: its entry {:?} is not from setup; remove it by hand", named.display(), edit::NAME);
                return Err(why.into());
            }
            continue;
        };
        let Some(now) = now else {
            record::forget(&file);
            continue;
        };
        let restored = known.splice.as_ref().and_then(|splice| splice.undone(&now));
        let after = match restored {
            Some(before) => known.existed.then_some(before),
            None if is_skill => {
                return Err(format!("{}: it was changed since; remove it by hand", named.display()).into());
            }
            None => Some(without_entry(place, &known, &now).map_err(|why| format!("{}: {why}", named.display()))?),
        };
        let verb = if after.is_some() { "restore" } else { "remove" };
        changes.push(Change {
            shows: format!("{verb} {}", file.display()),
            file,
            before: Some(now),
            after,
            record: None,
            directories: known.directories,
        });
    }
    Ok(changes)
}

/// Returns the file's text without the afd entry, for a file that was changed since setup wrote it.
fn without_entry(place: &Place, known: &Record, now: &str) -> Result<String, String> {
    match has_entry(place, now)? {
        None => Ok(now.to_owned()),
        own if own == known.entry => match place.form {
            Form::Json(list) => edit::set_json(now, list, None, known.with_list),
            Form::Toml(list) => edit::set_toml(now, list, None, known.with_list),
            Form::Yaml(_) => Err("it was changed since; remove the entry by hand".to_owned()),
        },
        Some(_) => Err(format!("its entry {:?} was changed since; remove it by hand", edit::NAME)),
    }
}

/// Returns the server's entry as text, for comparison.
fn entry(place: &Place) -> String {
    match place.form {
        Form::Json(_) => place.server.to_string(),
        Form::Toml(list) => {
            let whole = edit::set_toml("", list, Some(&place.table()), false).unwrap_or_default();
            edit::in_toml(&whole, list).ok().flatten().unwrap_or_default()
        }
        Form::Yaml(_) => place.lines(),
    }
}

/// Returns the server's entry in a file, in the same form as [`entry`].
fn has_entry(place: &Place, text: &str) -> Result<Option<String>, String> {
    match place.form {
        Form::Json(_) if text.trim_start_matches('\u{feff}').trim().is_empty() => Ok(None),
        Form::Json(list) => Ok(edit::in_json(text, list)?.as_ref().map(Value::to_string)),
        Form::Toml(list) => edit::in_toml(text, list),
        Form::Yaml(_) => Ok((text == place.lines()).then(|| place.lines())),
    }
}

fn has_list(place: &Place, text: &str) -> bool {
    match place.form {
        Form::Json(list) => edit::json_has(text, list),
        Form::Toml(list) => edit::toml_has(text, list),
        Form::Yaml(_) => false,
    }
}

fn edited(place: &Place, text: &str) -> Result<String, String> {
    match place.form {
        Form::Json(list) => edit::set_json(text, list, Some(&place.server), false),
        Form::Toml(list) => edit::set_toml(text, list, Some(&place.table()), false),
        Form::Yaml(_) if text.trim().is_empty() => Ok(place.lines()),
        Form::Yaml(_) => Err("a YAML file cannot be edited without a change to how it is written".to_owned()),
    }
}

/// Shows the changes and writes them; returns false if the user declined.
fn apply(setup: &Setup, changes: &[Change]) -> Result<bool, Refused> {
    changes.iter().for_each(|change| say(&format!("{}\n", change.shows.trim_end())));
    if !setup.yes && !ask::yes("Write this? [y/N] ")? {
        return Ok(false);
    }
    for change in changes {
        // Store the record first: a change without a record cannot be undone.
        if let Some(record) = &change.record {
            record::keep(record)?;
        }
        let made = files::replace(&change.file, change.before.as_deref(), change.after.as_deref())?;
        match &change.record {
            Some(record) if !made.is_empty() => {
                record::keep(&Record { directories: [record.directories.clone(), made].concat(), ..record.clone() })?
            }
            Some(_) => {}
            None => {
                record::forget(&change.file);
                // A directory that is not empty is in use by another program or the user, so it is kept.
                change.directories.iter().rev().for_each(|directory| _ = std::fs::remove_dir(directory));
            }
        }
    }
    say("done; restart the program if it is running");
    Ok(true)
}

fn say(text: &str) {
    // Ignore errors: standard output may be closed.
    let _ = writeln!(std::io::stdout(), "{text}");
}
