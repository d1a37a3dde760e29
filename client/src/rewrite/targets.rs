//! Targets in the style of other tools: `tap 300 600`, `tap --id ID`.

/// Target flags of other tools, and the words that replace them; the flag's value is appended after these words.
const TARGET_FLAGS: &[(&[&str], &[&str])] = &[
    (&["--text", "--label", "--name", "--title", "--contains"], &[]),
    (&["--id", "--resource-id", "--res-id"], &["--by", "res-id", "--value"]),
    (&["--desc", "--content-desc", "--accessibility-id"], &["--by", "desc", "--value"]),
    (&["--coords", "--point", "--at", "--pos", "--xy"], &["--xy"]),
];
/// Commands that act on a target.
pub const TARGETED: &[&str] = &["tap", "click", "long-press", "longpress", "press-and-hold"];

/// Rewrites the words after a command that acts on a target. Two numbers become a point.
pub fn rewrite(words: &[&str]) -> Vec<String> {
    let owned =
        |parts: &[&str], more: &[&str]| parts.iter().chain(more).map(|word| (*word).to_owned()).collect::<Vec<_>>();
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
