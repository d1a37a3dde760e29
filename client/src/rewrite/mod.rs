//! Rewrites command lines in the style of other tools to commands of this program: `resume`, `bug TITLE`, `tap 300
//! 600`, `--json`. Valid commands are left as they are.

mod flags;
mod groups;
mod table;
mod targets;

use flags::milliseconds;
use groups::{is_command, is_option};
use table::{COMMANDS, Rest};
use targets::TARGETED;

/// Global options that take the next word as their value.
const WITH_VALUE: &[&str] = &[
    "-s",
    "--session",
    "-d",
    "--device",
    "-o",
    "--output",
    "--socket",
    "--memory-db",
    "--config",
    "--url",
    "--token",
    "--timeout-ms",
];

/// Rewrites a command line in the syntax of this program.
pub fn plain(mut words: Vec<String>) -> Vec<String> {
    // After `--`, all words are text.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let texts = words.split_off(end);
    words = flags::rewrite(words);
    let end = words.len();
    words.extend(texts);
    words[..end].iter_mut().filter(|word| *word == "--json").for_each(|word| "--output=json".clone_into(word));
    let Some(at) = command_at(&words[..end]) else { return words };
    let rest = words.split_off(at);
    words.extend(command(&rest));
    words
}

/// Returns the index of the command, which follows the global options.
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

fn command(words: &[String]) -> Vec<String> {
    let first = kebab(&words[0]);
    let texts: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    if let Some(found) = of_group(&first, &texts)
        .or_else(|| groups::rewrite(&first, &texts))
        .or_else(|| of_setup(&first, &texts))
        .or_else(|| of_screen(&first, &texts))
    {
        return found;
    }
    if TARGETED.contains(&first.as_str()) {
        return std::iter::once(first).chain(targets::rewrite(&texts)).collect();
    }
    if is_command(&first) {
        return words.to_vec();
    }
    of_table(&first, &texts).unwrap_or_else(|| words.to_vec())
}

/// Joins the words of a command with the words that follow it.
fn joined(parts: &[&str], rest: &[&str]) -> Vec<String> {
    parts.iter().chain(rest).map(|word| (*word).to_owned()).collect()
}

/// Returns the words without those in `left_out`.
fn without<'a>(words: &[&'a str], left_out: &[&str]) -> Vec<&'a str> {
    words.iter().copied().filter(|word| !left_out.contains(word)).collect()
}

/// Rewrites commands that set up phones, programs and the daemon.
fn of_setup(first: &str, texts: &[&str]) -> Option<Vec<String>> {
    Some(match (first, texts) {
        ("init", [host, more @ ..]) if is_host(host) => joined(&["init", "url", "--url", &address(host)], more),
        ("connect", [host, more @ ..]) if is_host(host) || host.contains("://") => {
            joined(&["init", "url", "--url", &address(host)], more)
        }
        ("init" | "install" | "setup-mcp", [program, more @ ..]) if is_program(program) => {
            joined(&["setup", program], more)
        }
        ("start", []) => joined(&["daemon", "start"], &[]),
        ("practice" | "emulator", ["start" | "up" | "run", more @ ..]) => joined(&["init", "practice"], more),
        ("mcp", ["serve" | "start" | "run" | "stdio", more @ ..]) => joined(&["mcp"], more),
        ("lease" | "lock", ["acquire" | "take" | "get", name, more @ ..]) if !name.starts_with('-') => {
            joined(&["--device", name, "device", "lease"], more)
        }
        ("lease" | "lock", ["acquire" | "take" | "get", more @ ..]) => joined(&["device", "lease"], more),
        ("lease" | "unlock" | "release", ["release" | "drop" | "free" | "--all", "--all", ..]) => {
            joined(&["device", "release"], &[])
        }
        ("lease" | "lock", ["release" | "drop" | "free", more @ ..]) => joined(&["device", "release"], more),
        _ => return None,
    })
}

/// Rewrites commands that read the screen or act on it.
fn of_screen(first: &str, texts: &[&str]) -> Option<Vec<String>> {
    Some(match (first, texts) {
        ("clear" | "clear-text" | "erase", [field, more @ ..]) => joined(&["fill", field, ""], more),
        ("type", [field, text, more @ ..]) if !field.starts_with('-') && !text.starts_with('-') => {
            joined(&["fill", field, text], more)
        }
        ("scroll", ["--until" | "--to" | "--to-text", text, more @ ..]) => joined(&["scroll-to", text], more),
        (verb, words) if TARGETED.contains(&verb) && words.contains(&"--double") => {
            joined(&["act", "double-tap"], &without(words, &["--double"]))
        }
        ("wait" | "sleep" | "pause", [time, more @ ..]) if is_duration(time) => {
            joined(&["wait", "--for", &milliseconds(time).unwrap_or_default().to_string()], more)
        }
        ("wait", words) if words.contains(&"--gone") => {
            let text = without(words, &["--gone"]);
            let flags = text.first().filter(|word| !word.starts_with('-')).map_or(&[][..], |_| &["--text"][..]);
            joined(&[&["wait", "--until", "gone"], flags].concat(), &text)
        }
        // `fill` clears the field anyway.
        (verb @ ("fill" | "type"), words) if words.contains(&"--clear") => {
            command(&joined(&[verb], &without(words, &["--clear"])))
        }
        ("screenshot", words) if words.iter().any(|word| WHOLE.contains(word)) => {
            joined(&["screenshot"], &without(words, WHOLE))
        }
        ("swipe" | "fling" | "flick", [way, more @ ..]) => joined(&["scroll", opposite(way)?], more),
        _ => return None,
    })
}

/// Rewrites commands in groups: lists, the goal and results of a session, and its report.
fn of_group(first: &str, texts: &[&str]) -> Option<Vec<String>> {
    Some(match (first, texts) {
        ("result", [verdict @ ("pass" | "passed" | "ok" | "fail" | "failed"), name, more @ ..]) => {
            let status = if verdict.starts_with('f') { "failed" } else { "passed" };
            joined(&["session", "result", "add", name, "--status", status], more)
        }
        (
            "apps" | "packages" | "states" | "pages" | "notes" | "screenshots" | "files",
            ["list" | "ls" | "all", more @ ..],
        ) => command(&joined(&[first], more)),
        ("goal", ["add" | "set", text, more @ ..]) => joined(&["session", "update", "--goal", text], more),
        ("report", [file, more @ ..]) if !file.starts_with('-') => {
            let flag = if file.contains(['.', '/']) { "--file" } else { "--session" };
            joined(&["session", "report", flag, file], more)
        }
        _ => return None,
    })
}

/// Rewrites a command that is listed in [`COMMANDS`].
fn of_table(first: &str, texts: &[&str]) -> Option<Vec<String>> {
    let follows = !texts.is_empty();
    let (_, _, command, rest) =
        COMMANDS.iter().find(|(names, wants, ..)| names.contains(&first) && wants.is_none_or(|w| w == follows))?;
    Some(match rest {
        Rest::First(flag) if !texts[0].starts_with('-') => {
            joined(&[command, &[*flag, texts[0]][..]].concat(), &texts[1..])
        }
        Rest::Joined(flag) if !texts[0].starts_with('-') => {
            let count = texts.iter().take_while(|word| !is_option(word)).count();
            let text = texts[..count].join(" ");
            joined(&[command, &[*flag, text.as_str()][..]].concat(), &texts[count..])
        }
        _ => joined(command, texts),
    })
}

/// Converts a name such as `tapOn` or `tap_on` to `tap-on`.
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

/// Flags that ask for a screenshot of the whole screen. They are dropped, because a screenshot always shows the whole
/// screen.
const WHOLE: &[&str] = &["--full", "--full-page", "--fullpage", "--full-screen"];

/// Returns whether a word is a duration with a unit, such as `2s`. A number without a unit may be text on the screen.
fn is_duration(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(|c: char| c.is_ascii_alphabetic())
        && milliseconds(word).is_some()
}

/// Returns whether a word is the name of a program that can be set up.
fn is_program(word: &str) -> bool {
    ["claude", "codex", "cursor", "vscode", "gemini", "windsurf", "cline", "goose", "zed", "opencode"]
        .iter()
        .any(|name| word.starts_with(name))
}

/// Returns the scroll direction that shows the same content as a swipe in the given direction.
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
            (
                "afctl bug the button is dead --severity high",
                "afctl session bug add the_button_is_dead --severity high",
            ),
            ("afctl bug the button is dead -s one", "afctl session bug add the_button_is_dead -s one"),
            ("afctl recall the -5 rule -s one", "afctl recall search the_-5_rule -s one"),
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
