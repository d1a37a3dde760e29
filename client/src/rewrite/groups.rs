//! Command groups: `bug TITLE`, `task done 3`, `sessions ls`.

use crate::cli::ENTRIES;

/// Short group names, each with the group that it refers to and a default command. The default command takes the words
/// after the group name as text if the first of them is not one of the group's verbs.
const GROUPS: &[(&str, &[&str], &[&str])] = &[
    ("bug", &["session", "bug"], &["session", "bug", "add"]),
    ("task", &["session", "task"], &["session", "task", "add"]),
    ("result", &["session", "result"], &["session", "result", "add"]),
    ("recall", &["recall"], &["recall", "search"]),
    ("note", &["memory"], &["memory", "save", "--topic", "note"]),
];

/// Verbs in command groups, and the synonyms that users type for them.
const VERBS: &[(&str, &[&str])] = &[
    ("add", &["new", "create", "file", "report", "open"]),
    ("list", &["ls", "all"]),
    ("finish", &["done", "complete", "end", "close", "pass"]),
    ("resolve", &["close", "fix", "fixed", "done"]),
    ("show", &["get", "view", "info", "describe"]),
    ("delete", &["rm", "remove", "del"]),
    ("save", &["add", "new", "create"]),
    ("search", &["find", "query"]),
    ("start", &["begin", "new", "create"]),
    ("end", &["stop", "finish", "close", "done"]),
];

/// Rewrites a command in a group, such as `bug TITLE`, `task done` or `session new`.
pub fn rewrite(first: &str, rest: &[&str]) -> Option<Vec<String>> {
    // `session bug close 7` is `bug close 7`.
    if let ("session", [inner @ ("bug" | "task" | "result"), more @ ..]) = (first, rest) {
        return if more.is_empty() { None } else { rewrite(inner, more) };
    }
    // `sessions ls` is `session list`; `sessions` alone is rewritten by the table.
    let singular = first.strip_suffix('s').filter(|_| !is_command(first));
    let typed = first;
    let first = match (singular, rest.first()) {
        (Some(one), Some(verb)) if !verb.starts_with('-') && !["apps", "notes", "files"].contains(&first) => one,
        _ => first,
    };
    let (path, default): (&[&str], Option<&[&str]>) = match GROUPS.iter().find(|(name, ..)| *name == first) {
        Some((_, path, default)) => (path, Some(default)),
        None if ["session", "device", "artifact", "backup", "job", "memory", "pattern", "conversation"]
            .contains(&first) =>
        {
            (&[], None)
        }
        None => return None,
    };
    let own = [first];
    let path = if path.is_empty() { &own[..] } else { path };
    let (verb, more) = rest.split_first()?;
    // The commands of a group are built only if there may be something to rewrite.
    let is_text = more.first().is_some_and(|word| !word.starts_with('-'));
    if first == "note" && is_text && ["add", "new", "create", "save"].contains(verb) {
        return rewrite(first, more);
    }
    if default.is_none() && !is_text && typed == first && !VERBS.iter().any(|(_, others)| others.contains(verb)) {
        return None;
    }
    let verbs = verbs_of(path)?;
    let has = |verb: &str| verbs.iter().any(|known| known == verb);
    let whole = |parts: &[&str], more: &[&str]| Some(parts.iter().chain(more).map(|word| (*word).to_owned()).collect());
    let known = if has(verb) {
        Some(*verb)
    } else {
        VERBS.iter().find(|(known, others)| has(known) && others.contains(verb)).map(|(known, _)| *known)
    };
    if let Some(verb) = known {
        return whole(&[path, &[verb][..], &flag_of(path, verb, more)].concat(), more);
    }
    if verb.starts_with('-') || *verb == "help" {
        return whole(&[path, &[*verb]].concat(), more);
    }
    let count = rest.iter().take_while(|word| !is_option(word)).count();
    let text = rest[..count].join(" ");
    match (default?, first) {
        (default, "note") => whole(&[default, &["--content", text.as_str()]].concat(), &rest[count..]),
        (default, _) => whole(&[default, &[text.as_str()]].concat(), &rest[count..]),
    }
}

/// Flags that may be inserted before a word that directly follows a verb, in the order in which they are tried.
const FIRST: &[&str] =
    &["--id", "--goal", "--query", "--name", "--topic", "--title", "--description", "--text", "--to"];

/// Returns the flag to insert before the first word after a verb that takes no positional argument, for example `--id`
/// for `bug show 7`. If no flag of a `session` verb fits, the word is taken as the name of a session.
fn flag_of(path: &[&str], verb: &str, words: &[&str]) -> Vec<&'static str> {
    let is_text = words.first().is_some_and(|word| !word.starts_with('-'));
    let Some(sub) = path.split_first().and_then(|(first, inner)| {
        let group = inner.iter().try_fold(crate::cli::group_of(first)?, |at, name| at.find_subcommand(name).cloned());
        group?.find_subcommand(verb).cloned()
    }) else {
        return Vec::new();
    };
    if !is_text || sub.has_subcommands() || sub.get_positionals().next().is_some() {
        return Vec::new();
    }
    let number = words[0].parse::<u32>().is_ok();
    let has = |flag: &str| {
        sub.get_arguments().any(|arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)))
    };
    let flag = FIRST.iter().find(|flag| has(flag) && (**flag != "--id" || number));
    match (flag, path) {
        (Some(flag), _) => vec![flag],
        (None, ["session"]) => vec!["--session"],
        _ => Vec::new(),
    }
}

/// Returns the names and aliases of the verbs in a group.
fn verbs_of(path: &[&str]) -> Option<Vec<String>> {
    let (first, inner) = path.split_first()?;
    let mut at = crate::cli::group_of(first)?;
    for name in inner {
        at = at.find_subcommand(name)?.clone();
    }
    let names = |sub: &clap::Command| {
        std::iter::once(sub.get_name()).chain(sub.get_all_aliases()).map(str::to_owned).collect::<Vec<_>>()
    };
    Some(at.get_subcommands().flat_map(names).collect())
}

/// Returns whether a word is an option. Words such as `-` and `-5` are not options but part of unquoted text.
pub(super) fn is_option(word: &str) -> bool {
    let is_short = matches!(word.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic());
    is_short || word.starts_with("--")
}

pub(super) fn is_command(word: &str) -> bool {
    ENTRIES.iter().any(|entry| entry.name == word || entry.aliases.contains(&word))
}
