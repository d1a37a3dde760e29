//! Command lines as people who know other tools write them, rewritten to commands of this program: `resume`, `bug TITLE`, `tap 300 600`,
//! `--json`. Only what is no command of its own is rewritten.

use crate::cli::ENTRIES;

/// What becomes of the words after a rewritten command.
enum Rest {
    /// They stay as they are.
    Stay,
    /// They become the value of this flag, joined by spaces.
    Joined(&'static str),
    /// The first becomes the value of this flag; the others stay.
    First(&'static str),
}

/// First words, whether words must follow, what they stand for, and what becomes of the words that follow.
type Command = (&'static [&'static str], Option<bool>, &'static [&'static str], Rest);

/// What people call commands that have another name here.
const COMMANDS: &[Command] = &[
    (&["devices", "phones"], None, &["device", "list"], Rest::Stay),
    (&["list", "ls"], Some(false), &["device", "list"], Rest::Stay),
    (&["packages"], None, &["device", "packages"], Rest::Stay),
    (&["apps"], None, &["device", "packages"], Rest::Stay),
    (&["sessions"], None, &["session", "list"], Rest::Stay),
    (&["tasks"], None, &["session", "task", "list"], Rest::Stay),
    (&["bugs"], None, &["session", "bug", "list"], Rest::Stay),
    (&["results"], None, &["session", "result", "list"], Rest::Stay),
    (&["resume"], Some(false), &["session", "resume"], Rest::Stay),
    (&["resume"], Some(true), &["session", "resume"], Rest::First("--session")),
    (&["progress"], None, &["session", "progress"], Rest::Stay),
    (&["coverage"], None, &["session", "coverage"], Rest::Stay),
    (&["report"], None, &["session", "report"], Rest::Stay),
    (&["notes"], Some(false), &["memory", "search"], Rest::Stay),
    (&["notes", "search", "grep"], Some(true), &["memory", "search"], Rest::Joined("--query")),
    (&["history", "log"], None, &["memory", "log"], Rest::Stay),
    (&["hints", "experience", "learned"], None, &["memory", "experience"], Rest::Stay),
    (&["path", "route", "navigate", "goto", "go-to"], Some(true), &["visual", "path"], Rest::Joined("--to")),
    (&["states", "pages"], None, &["visual", "states"], Rest::Stay),
    (&["graph"], None, &["visual", "graph"], Rest::Stay),
    (&["version"], None, &["daemon", "version"], Rest::Stay),
    (&["metrics"], None, &["daemon", "metrics"], Rest::Stay),
    (&["methods", "api"], None, &["daemon", "methods"], Rest::Stay),
    (&["restart"], None, &["daemon", "restart"], Rest::Stay),
    (&["reload"], None, &["daemon", "reload"], Rest::Stay),
    (&["stop", "shutdown", "quit", "exit"], Some(false), &["daemon", "shutdown"], Rest::Stay),
    (&["stop", "kill", "close", "force-stop", "stop-app", "terminate", "kill-app"], Some(true), &["act", "stop"], Rest::Stay),
    (&["elements", "refs"], None, &["observe", "refs"], Rest::Stay),
    (&["tree", "hierarchy", "dump", "screen", "outline", "describe", "read"], None, &["look"], Rest::Stay),
    (&["top", "activity", "current", "foreground", "current-app", "current-activity"], None, &["observe", "top"], Rest::Stay),
    (&["find", "exists", "locate", "expect", "see", "visible", "assert-visible"], Some(true), &["check"], Rest::Stay),
    (&["enter", "input", "write"], Some(true), &["type"], Rest::Stay),
    (&["double-tap", "doubletap", "double-click"], Some(true), &["act", "double-tap"], Rest::Stay),
    (&["drag"], Some(true), &["act", "drag"], Rest::Stay),
    (&["shell", "exec"], Some(true), &["act", "shell"], Rest::Joined("--command")),
    (&["intent"], Some(true), &["act", "intent"], Rest::Stay),
    (&["screenshots", "artifacts", "files"], None, &["artifact", "list"], Rest::Stay),
    (&["settings"], Some(false), &["config", "list"], Rest::Stay),
    (&["set"], Some(true), &["config", "set"], Rest::Stay),
    (&["get"], Some(true), &["config", "get"], Rest::Stay),
    (&["unset"], Some(true), &["config", "unset"], Rest::Stay),
    (&["watch", "follow", "tail", "stream"], None, &["events"], Rest::Stay),
    (&["lock", "lease", "reserve", "acquire"], None, &["device", "lease"], Rest::Stay),
    (&["unlock", "release", "unlease"], None, &["device", "release"], Rest::Stay),
    (&["diagnose", "selftest", "diag"], None, &["doctor"], Rest::Stay),
    (&["serve", "server", "mcp-server"], Some(false), &["mcp"], Rest::Stay),
    (&["practice", "emulator"], Some(false), &["init", "practice"], Rest::Stay),
    (&["screencap", "capture", "take-screenshot"], None, &["screenshot"], Rest::Stay),
    (&["tap-on", "touch"], Some(true), &["tap"], Rest::Stay),
    (&["long-press-on"], Some(true), &["long-press"], Rest::Stay),
    (&["double-tap-on"], Some(true), &["act", "double-tap"], Rest::Stay),
    (&["assert-not-visible", "not-visible", "gone"], Some(true), &["check", "--gone"], Rest::Stay),
    (&["input-text", "send-keys", "type-text"], Some(true), &["type"], Rest::Stay),
    (&["launch-app", "start-app", "open-app", "activate-app"], Some(true), &["launch"], Rest::Stay),
    (&["scroll-until-visible", "scroll-until", "scroll-into-view"], Some(true), &["scroll-to"], Rest::Stay),
    (&["press-key", "send-key", "key-event"], Some(true), &["press"], Rest::Stay),
    (&["wait-until-visible", "wait-until", "wait-visible", "wait-text"], Some(true), &["wait"], Rest::Stay),
    (&["wait-gone", "wait-until-gone", "wait-not-visible"], Some(true), &["wait", "--until", "gone"], Rest::First("--text")),
    (&["wait-for-animation-to-end", "wait-idle", "wait-for-idle", "wait-settled"], None, &["wait", "--until", "settled"], Rest::Stay),
    (&["up"], None, &["daemon", "start"], Rest::Stay),
    (&["down"], None, &["daemon", "shutdown"], Rest::Stay),
    (&["goal"], Some(true), &["session", "update"], Rest::Joined("--goal")),
    (&["context"], None, &["memory", "context"], Rest::Stay),
    (&["stats"], None, &["memory", "stats"], Rest::Stay),
    (&["backups"], Some(false), &["backup", "list"], Rest::Stay),
    (&["restore"], None, &["backup", "restore"], Rest::Stay),
    (&["jobs"], None, &["job", "list"], Rest::Stay),
    (&["patterns"], None, &["pattern", "list"], Rest::Stay),
    (&["prune", "cleanup"], None, &["memory", "prune"], Rest::Stay),
    (&["vacuum"], None, &["memory", "vacuum"], Rest::Stay),
    (&["end", "finish"], Some(false), &["session", "end"], Rest::Stay),
    (&["demo-phone"], Some(false), &["demo"], Rest::Stay),
];

/// Groups of other tools, or singular forms, and the group that they stand for; what follows is a verb of it, else a text for the last entry.
const GROUPS: &[(&str, &[&str], &[&str])] = &[
    ("bug", &["session", "bug"], &["session", "bug", "add"]),
    ("task", &["session", "task"], &["session", "task", "add"]),
    ("result", &["session", "result"], &["session", "result", "add"]),
    ("recall", &["recall"], &["recall", "search"]),
    ("note", &["memory"], &["memory", "save", "--topic", "note"]),
];

/// Verbs that people use in groups, and those that stand for them.
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

/// Flags of other tools after a command that acts on a target, and what they stand for; the value follows.
const TARGET_FLAGS: &[(&[&str], &[&str])] = &[
    (&["--text", "--label", "--name", "--title", "--contains"], &[]),
    (&["--id", "--resource-id", "--res-id"], &["--by", "res-id", "--value"]),
    (&["--desc", "--content-desc", "--accessibility-id"], &["--by", "desc", "--value"]),
    (&["--coords", "--point", "--at", "--pos", "--xy"], &["--xy"]),
];
/// Commands that act on a target.
const TARGETED: &[&str] = &["tap", "click", "long-press", "longpress", "press-and-hold"];

/// Global options whose value is the next word.
const WITH_VALUE: &[&str] =
    &["-s", "--session", "-d", "--device", "-o", "--output", "--socket", "--memory-db", "--config", "--url", "--token", "--timeout-ms"];

/// Returns a command line as this program understands it.
pub fn plain(mut words: Vec<String>) -> Vec<String> {
    // After `--` everything is a text.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let texts = words.split_off(end);
    words = flags(words);
    let end = words.len();
    words.extend(texts);
    words[..end].iter_mut().filter(|word| *word == "--json").for_each(|word| "--output=json".clone_into(word));
    let Some(at) = command_at(&words[..end]) else { return words };
    let rest = words.split_off(at);
    words.extend(command(&rest));
    words
}

/// Rewrites flags that people know from other tools: `--timeout 10s`, `-n 20`; and leaves out those that say what is so anyway.
fn flags(words: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let (name, attached) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value.to_owned())));
        let next = attached.clone().or_else(|| words.peek().cloned());
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        let replaced = match (name, next) {
            ("--timeout" | "-t", Some(value)) => milliseconds(&value).map(|ms| ["--timeout-ms".to_owned(), ms.to_string()]),
            ("-n", Some(value)) if is_number(&value) && !found.iter().any(|word| COUNTS.contains(&word.as_str())) => {
                Some(["--limit".to_owned(), value])
            }
            ("-f" | "--follow" | "-l" | "-a" | "--all", _) if found.len() > 1 && DROPS.contains(&found[1].as_str()) => continue,
            ("--ttl", Some(value)) => milliseconds(&value).map(|ms| ["--ttl-ms".to_owned(), ms.to_string()]),
            ("--stdio" | "-i" | "--interactive", _) if found.len() > 1 && QUIET.contains(&found[1].as_str()) => continue,
            ("--open" | "--failed" | "--passed" | "--active" | "--ended" | "--pending", _)
                if found.iter().any(|word| word == "list" || word == "ls") =>
            {
                Some(["--status".to_owned(), name.trim_start_matches('-').to_owned()])
            }
            _ => None,
        };
        match replaced {
            Some(replaced) => {
                let takes_next = replaced[0] != "--status";
                found.extend(replaced);
                if takes_next && attached.is_none() {
                    words.next();
                }
            }
            None => found.push(word),
        }
    }
    found
}

/// Commands that list or follow all there is, whatever flag says so.
const DROPS: &[&str] =
    &["events", "devices", "sessions", "notes", "log", "history", "logs", "watch", "tail", "follow", "apps", "bugs", "tasks"];

/// Commands with such a flag of their own.
const COUNTS: &[&str] = &["service", "events"];

/// Commands that do by themselves what such flags ask for.
const QUIET: &[&str] = &["mcp", "snapshot", "look"];

/// Returns a duration in milliseconds: `10s`, `500ms`, `2m`; a number without a unit is in seconds up to 600, else in milliseconds.
pub fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    let factor = match &text[digits.len()..] {
        "ms" => 1.0,
        "s" | "sec" | "secs" => 1_000.0,
        "m" | "min" => 60_000.0,
        "" if number <= 600.0 => 1_000.0,
        "" => 1.0,
        _ => return None,
    };
    Some((number * factor) as u64)
}

/// Returns where the command begins: after the global options.
fn command_at(words: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') {
            return Some(at);
        }
        at += if WITH_VALUE.contains(&word.as_str()) { 2 } else { 1 };
    }
    None
}

fn is_command(word: &str) -> bool {
    ENTRIES.iter().any(|entry| entry.name == word || entry.aliases.contains(&word))
}

fn command(words: &[String]) -> Vec<String> {
    let first = kebab(&words[0]);
    let rest = &words[1..];
    let texts: Vec<&str> = rest.iter().map(String::as_str).collect();
    let owned = |parts: &[&str], rest: &[&str]| parts.iter().chain(rest).map(|word| (*word).to_owned()).collect::<Vec<_>>();
    if let ("result", [verdict @ ("pass" | "passed" | "ok" | "fail" | "failed"), name, more @ ..]) = (first.as_str(), texts.as_slice()) {
        let status = if verdict.starts_with('f') { "failed" } else { "passed" };
        return owned(&["session", "result", "add", name, "--status", status], more);
    }
    if let Some(found) = group(&first, &texts) {
        return found;
    }
    match (first.as_str(), texts.as_slice()) {
        ("init", [host, more @ ..]) if is_host(host) => owned(&["init", "url", "--url", &address(host)], more),
        ("connect", [host, more @ ..]) if is_host(host) || host.contains("://") => owned(&["init", "url", "--url", &address(host)], more),
        ("apps" | "packages" | "states" | "pages" | "notes" | "screenshots" | "files", ["list" | "ls" | "all", more @ ..]) => {
            command(&owned(&[first.as_str()], more))
        }
        ("goal", ["add" | "set", text, more @ ..]) => owned(&["session", "update", "--goal", text], more),
        ("init" | "install" | "setup-mcp", [program, more @ ..]) if is_program(program) => owned(&["setup", program], more),
        ("clear" | "clear-text" | "erase", [field, more @ ..]) => owned(&["fill", field, ""], more),
        ("type", [field, text, more @ ..]) if !field.starts_with('-') && !text.starts_with('-') => owned(&["fill", field, text], more),
        ("scroll", ["--until" | "--to" | "--to-text", text, more @ ..]) => owned(&["scroll-to", text], more),
        (verb, words) if TARGETED.contains(&verb) && words.contains(&"--double") => {
            owned(&["act", "double-tap"], &words.iter().copied().filter(|word| *word != "--double").collect::<Vec<_>>())
        }
        ("start", []) => owned(&["daemon", "start"], &[]),
        ("wait" | "sleep" | "pause", [time, more @ ..]) if is_duration(time) => {
            owned(&["wait", "--for", &milliseconds(time).unwrap_or_default().to_string()], more)
        }
        ("wait", words) if words.contains(&"--gone") => {
            let text: Vec<&str> = words.iter().copied().filter(|word| *word != "--gone").collect();
            let flags = text.first().filter(|word| !word.starts_with('-')).map_or(&[][..], |_| &["--text"][..]);
            owned(&[&["wait", "--until", "gone"], flags].concat(), &text)
        }
        (verb @ ("fill" | "type"), words) if words.contains(&"--clear") => {
            // `fill` clears the field anyway.
            command(&owned(&[verb], &words.iter().copied().filter(|word| *word != "--clear").collect::<Vec<_>>()))
        }
        ("screenshot", words) if words.iter().any(|word| WHOLE.contains(word)) => {
            owned(&["screenshot"], &words.iter().copied().filter(|word| !WHOLE.contains(word)).collect::<Vec<_>>())
        }
        ("practice" | "emulator", ["start" | "up" | "run", more @ ..]) => owned(&["init", "practice"], more),
        ("mcp", ["serve" | "start" | "run" | "stdio", more @ ..]) => owned(&["mcp"], more),
        ("lease" | "lock", ["acquire" | "take" | "get", name, more @ ..]) if !name.starts_with('-') => {
            owned(&["--device", name, "device", "lease"], more)
        }
        ("lease" | "lock", ["acquire" | "take" | "get", more @ ..]) => owned(&["device", "lease"], more),
        ("lease" | "unlock" | "release", ["release" | "drop" | "free" | "--all", "--all", ..]) => owned(&["device", "release"], &[]),
        ("lease" | "lock", ["release" | "drop" | "free", more @ ..]) => owned(&["device", "release"], more),
        ("swipe" | "fling" | "flick", [way, more @ ..]) if opposite(way).is_some() => {
            owned(&["scroll", opposite(way).unwrap_or_default()], more)
        }
        ("report", [file, more @ ..]) if !file.starts_with('-') => {
            let flag = if file.contains(['.', '/']) { "--file" } else { "--session" };
            owned(&["session", "report", flag, file], more)
        }
        (verb, _) if TARGETED.contains(&verb) => std::iter::once(verb.to_owned()).chain(target(&texts)).collect(),
        _ if is_command(&first) => words.to_vec(),
        _ => {
            let follows = !texts.is_empty();
            let found = COMMANDS.iter().find(|(names, wants, ..)| names.contains(&first.as_str()) && wants.is_none_or(|w| w == follows));
            match found {
                Some((_, _, stands_for, Rest::Stay)) => owned(stands_for, &texts),
                Some((_, _, stands_for, Rest::First(flag))) if !texts[0].starts_with('-') => {
                    owned(&[stands_for, &[*flag, texts[0]][..]].concat(), &texts[1..])
                }
                Some((_, _, stands_for, Rest::Joined(flag))) if !texts[0].starts_with('-') => {
                    let count = texts.iter().take_while(|word| !word.starts_with("--")).count();
                    let joined = texts[..count].join(" ");
                    owned(&[stands_for, &[*flag, joined.as_str()][..]].concat(), &texts[count..])
                }
                Some((_, _, stands_for, _)) => owned(stands_for, &texts),
                None => words.to_vec(),
            }
        }
    }
}

/// Returns a name such as `tapOn` or `tap_on` as `tap-on`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '_' => out.push('-'),
            c if c.is_uppercase() && out.ends_with(char::is_lowercase) => {
                out.push('-');
                out.extend(c.to_lowercase());
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// Rewrites a group: `bug TITLE`, `task done`, `session new`.
fn group(first: &str, rest: &[&str]) -> Option<Vec<String>> {
    // `session bug close 7` is `bug close 7`.
    if let ("session", [inner @ ("bug" | "task" | "result"), more @ ..]) = (first, rest) {
        return if more.is_empty() { None } else { group(inner, more) };
    }
    // `sessions ls` is `session list`; `sessions` alone is rewritten as a whole.
    let singular = first.strip_suffix('s').filter(|_| !is_command(first));
    let typed = first;
    let first = match (singular, rest.first()) {
        (Some(one), Some(verb)) if !verb.starts_with('-') && !["apps", "notes", "files"].contains(&first) => one,
        _ => first,
    };
    let (path, default): (&[&str], Option<&[&str]>) = match GROUPS.iter().find(|(name, ..)| *name == first) {
        Some((_, path, default)) => (path, Some(default)),
        None if ["session", "device", "artifact", "backup", "job", "memory", "pattern", "conversation"].contains(&first) => (&[], None),
        None => return None,
    };
    let own = [first];
    let path = if path.is_empty() { &own[..] } else { path };
    let (verb, more) = rest.split_first()?;
    // Commands of a group are built only if there is something to find out.
    let is_text = more.first().is_some_and(|word| !word.starts_with('-'));
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
    let count = rest.iter().take_while(|word| !word.starts_with("--")).count();
    let text = rest[..count].join(" ");
    match (default?, first) {
        (default, "note") => whole(&[default, &["--content", text.as_str()]].concat(), &rest[count..]),
        (default, _) => whole(&[default, &[text.as_str()]].concat(), &rest[count..]),
    }
}

/// Flags that a first word without a flag may be meant for, best first.
const FIRST: &[&str] = &["--id", "--goal", "--query", "--name", "--topic", "--title", "--description", "--text", "--to"];

/// Returns the flag that stands before the first word after a verb that takes no such word: `bug show 7` has `--id`. A word after a verb of
/// sessions may be the name of one.
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
    let has = |flag: &str| sub.get_arguments().any(|arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)));
    let flag = FIRST.iter().find(|flag| has(flag) && (**flag != "--id" || number));
    match (flag, path) {
        (Some(flag), _) => vec![flag],
        (None, ["session"]) => vec!["--session"],
        _ => Vec::new(),
    }
}

/// Returns the verbs of a group.
fn verbs_of(path: &[&str]) -> Option<Vec<String>> {
    let (first, inner) = path.split_first()?;
    let mut at = crate::cli::group_of(first)?;
    for name in inner {
        at = at.find_subcommand(name)?.clone();
    }
    let names = |sub: &clap::Command| std::iter::once(sub.get_name()).chain(sub.get_all_aliases()).map(str::to_owned).collect::<Vec<_>>();
    Some(at.get_subcommands().flat_map(names).collect())
}

/// Rewrites the words after a command that acts on a target: two numbers are a point.
fn target(words: &[&str]) -> Vec<String> {
    let owned = |parts: &[&str], more: &[&str]| parts.iter().chain(more).map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    match words {
        [flag, value, more @ ..] if TARGET_FLAGS.iter().any(|(flags, _)| flags.contains(flag)) => {
            let known = TARGET_FLAGS.iter().find(|(flags, _)| flags.contains(flag));
            owned(&[known.map_or(&[][..], |(_, stands_for)| stands_for), &[*value]].concat(), more)
        }
        [x, y, more @ ..] if is_number(x) && is_number(y) => owned(&["--xy", &format!("{x},{y}")], more),
        words => owned(words, &[]),
    }
}

/// Flags that ask for the whole screen, which a screenshot shows anyway.
const WHOLE: &[&str] = &["--full", "--full-page", "--fullpage", "--full-screen"];

/// Returns whether a word is a time with its unit: `2s`. A number alone may be a text on the screen.
fn is_duration(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(|c: char| c.is_ascii_alphabetic()) && milliseconds(word).is_some()
}

/// Returns whether a word is the name of a program that can be set up.
fn is_program(word: &str) -> bool {
    ["claude", "codex", "cursor", "vscode", "gemini", "windsurf", "cline", "goose", "zed", "opencode"]
        .iter()
        .any(|name| word.starts_with(name))
}

/// Returns the direction in which to scroll to see what a swipe in a direction brings.
fn opposite(way: &str) -> Option<&'static str> {
    match way.to_lowercase().as_str() {
        "up" => Some("down"),
        "down" => Some("up"),
        "left" => Some("right"),
        "right" => Some("left"),
        _ => None,
    }
}

/// Returns whether a word is the address of a phone: an IP address, or a name with a port.
fn is_host(word: &str) -> bool {
    let (host, port) = word.rsplit_once(':').unwrap_or((word, ""));
    let is_port = port.parse::<u16>().is_ok();
    word.parse::<std::net::IpAddr>().is_ok()
        || (is_port && (host.parse::<std::net::IpAddr>().is_ok() || host == "localhost" || host.contains('.')))
}

/// Returns the URL of the phone's service at an address.
fn address(host: &str) -> String {
    match host {
        host if host.contains("://") => host.to_owned(),
        host if host.parse::<std::net::IpAddr>().is_ok() => format!("http://{host}:{PORT}"),
        host => format!("http://{host}"),
    }
}

/// Port of the phone's service.
const PORT: u16 = 8081;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_mean_is_a_command() {
        let cases = [
            ("afctl devices", "afctl device list"),
            ("afctl --json look", "afctl --output=json look"),
            ("afctl -d pixel resume checkout", "afctl -d pixel session resume --session checkout"),
            ("afctl report out.html", "afctl session report --file out.html"),
            ("afctl bug the button is dead --severity high", "afctl session bug add the_button_is_dead --severity high"),
            ("afctl bug list", "afctl session bug list"),
            ("afctl task done 3", "afctl session task finish --id 3"),
            ("afctl recall wifi password", "afctl recall search wifi_password"),
            ("afctl recall search x", "afctl recall search x"),
            ("afctl sessions ls", "afctl session list"),
            ("afctl bugs list --status open", "afctl session bug list --status open"),
            ("afctl wait Display --timeout 10s", "afctl wait Display --timeout-ms 10000"),
            ("afctl log -n 20", "afctl memory log --limit 20"),
            ("afctl init 192.168.1.20", "afctl init url --url http://192.168.1.20:8081"),
            ("afctl tap 300 600", "afctl tap --xy 300,600"),
            ("afctl tap --id a:id/b", "afctl tap --by res-id --value a:id/b"),
            ("afctl swipe up", "afctl scroll down"),
            ("afctl tap Wi-Fi", "afctl tap Wi-Fi"),
            ("afctl stop", "afctl daemon shutdown"),
            ("afctl stop com.example.a", "afctl act stop com.example.a"),
            ("afctl type -- --json", "afctl type -- --json"),
            ("afctl session result add --help", "afctl session result add --help"),
            ("afctl session bug close 7", "afctl session bug resolve --id 7"),
            ("afctl session list", "afctl session list"),
            ("afctl session new checkout", "afctl session start --goal checkout"),
            ("afctl tapOn Next", "afctl tap Next"),
            ("afctl wait 2s", "afctl wait --for 2000"),
            ("afctl zork", "afctl zork"),
        ];
        for (typed, meant) in cases {
            let words = typed.split(' ').map(str::to_owned).collect();
            let found: Vec<String> = plain(words).into_iter().map(|word| word.replace(' ', "_")).collect();
            assert_eq!(found.join(" "), meant, "{typed}");
        }
    }
}
