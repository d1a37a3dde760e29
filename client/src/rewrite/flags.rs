//! Flags that users know from other tools, such as `--timeout 10s` and `-n 20`.

/// Rewrites flags that users know from other tools, such as `--timeout 10s` and `-n 20`. Drops flags that ask for the
/// default behaviour.
pub fn rewrite(words: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let (name, attached) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value.to_owned())));
        let next = attached.clone().or_else(|| words.peek().cloned());
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        let replaced = match (name, next) {
            ("--timeout" | "-t", Some(value)) => {
                milliseconds(&value).map(|ms| ["--timeout-ms".to_owned(), ms.to_string()])
            }
            ("-n", Some(value)) if is_number(&value) && !found.iter().any(|word| COUNTS.contains(&word.as_str())) => {
                Some(["--limit".to_owned(), value])
            }
            ("-f" | "--follow" | "-l" | "-a" | "--all", _) if found.len() > 1 && DROPS.contains(&found[1].as_str()) => {
                continue;
            }
            ("--ttl", Some(value)) => milliseconds(&value).map(|ms| ["--ttl-ms".to_owned(), ms.to_string()]),
            ("--stdio" | "-i" | "--interactive", _) if found.len() > 1 && QUIET.contains(&found[1].as_str()) => {
                continue;
            }
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

/// Commands that always list or follow everything; flags that request this, such as `--all` and `--follow`, are
/// dropped.
const DROPS: &[&str] = &[
    "events", "devices", "sessions", "notes", "log", "history", "logs", "watch", "tail", "follow", "apps", "bugs",
    "tasks",
];

/// Commands whose `-n` is not rewritten to `--limit`.
const COUNTS: &[&str] = &["service", "events"];

/// Commands that drop flags such as `--stdio` and `--interactive`, because they behave that way anyway.
const QUIET: &[&str] = &["mcp", "snapshot", "look"];

/// Parses a duration such as `10s`, `500ms` or `2m` and returns it in milliseconds. A number without a unit is taken as
/// seconds if it is at most 600, and otherwise as milliseconds.
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
