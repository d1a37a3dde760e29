//! The rolling summary: one line for each of the last few turns, with the request and the action.
//!
//! A user message starts a line. The turn's first tool call completes the line; if there is no tool call, the
//! assistant's latest text does. A call is described by its name and its most informative argument, with the verb in
//! the past tense where it is known.
//!
//! Invariants: an unanswered turn is not shown and displaces no other line; at most [`Sizes::lines`] answered turns are
//! kept; only shortened text ends in dots; and redacted text (see `typed`) is never shown as the object of a call. The
//! sizes come from the settings `conversation.summary_lines`, `brief_request` and `brief_answer`. An end-to-end test
//! (`rolling_summary_saves_two_thirds_of_the_tokens`) checks the token saving with three lines.

use afd_proto::conversation::{Content, Message, Role, ToolCall};
use serde::{Deserialize, Serialize};

use afd_base::text::cut;

/// A line of the rolling summary, which describes one turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Number of the turn.
    pub turn: i64,
    /// Shortened request.
    request: String,
    /// Action in the turn: the first tool call, or else the shortened answer. Empty until the turn has either.
    action: String,
    /// Whether `action` describes a tool call.
    used: bool,
}

/// Size limits of the rolling summary.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Maximum number of lines of answered turns.
    pub lines: usize,
    /// Maximum length of a request, in graphemes.
    pub request: usize,
    /// Maximum length of an answer, in graphemes.
    pub answer: usize,
}

impl Line {
    /// Returns the shortened request.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// Returns whether the turn has an answer.
    pub fn is_answered(&self) -> bool {
        !self.action.is_empty()
    }

    /// Renders the line.
    pub fn text(&self) -> String {
        format!("\u{2022} {} \u{2192} {}", self.request, self.action)
    }
}

/// Updates the lines with a message. A turn is shown once it has an answer; the first tool call of a turn takes
/// precedence over text.
pub fn ingest(lines: &mut Vec<Line>, turn: i64, message: &Message, sizes: Sizes) {
    match message.role {
        Role::User => {
            // A turn that was never answered has nothing to show.
            lines.retain(|l| !l.action.is_empty());
            let request = cut::brief(&message.content.text(), sizes.request);
            lines.push(Line { turn, request, action: String::new(), used: false });
        }
        Role::Assistant => {
            let Some(line) = lines.last_mut().filter(|l| l.turn == turn && !l.used) else { return };
            match message.tool_calls.first() {
                Some(call) => {
                    line.action = done(call);
                    line.used = true;
                }
                None if !message.content.is_empty() => line.action = cut::brief(&message.content.text(), sizes.answer),
                None => {}
            }
        }
        Role::System | Role::Tool => {}
    }
    // The current turn has no action yet, so it does not displace another line.
    let finished = lines.iter().filter(|l| !l.action.is_empty()).count();
    if finished > sizes.lines {
        lines.drain(..finished - sizes.lines);
    }
}

/// Words in tool names that can precede the verb.
const PREFIXES: &[&str] = &["mcp", "af", "afd", "tool", "browser", "mobile", "functions"];
/// Verbs in tool names, with their past-tense forms.
const PAST: &[(&str, &str)] = &[
    ("set", "set"),
    ("get", "got"),
    ("go", "went"),
    ("goto", "went to"),
    ("run", "ran"),
    ("send", "sent"),
    ("write", "wrote"),
    ("read", "read"),
    ("find", "found"),
    ("take", "took"),
    ("make", "made"),
    ("buy", "bought"),
    ("choose", "chose"),
    ("stop", "stopped"),
    ("tap", "tapped"),
    ("swipe", "swiped"),
    ("scroll", "scrolled"),
    ("press", "pressed"),
    ("click", "clicked"),
    ("open", "opened"),
    ("launch", "launched"),
    ("start", "started"),
    ("close", "closed"),
    ("navigate", "navigated"),
    ("search", "searched"),
    ("check", "checked"),
    ("verify", "verified"),
    ("select", "selected"),
    ("create", "created"),
    ("delete", "deleted"),
    ("remove", "removed"),
    ("update", "updated"),
    ("add", "added"),
    ("book", "booked"),
    ("order", "ordered"),
    ("move", "moved"),
    ("copy", "copied"),
    ("rename", "renamed"),
    ("save", "saved"),
    ("load", "loaded"),
    ("download", "downloaded"),
    ("upload", "uploaded"),
    ("call", "called"),
    ("query", "queried"),
    ("fetch", "fetched"),
    ("list", "listed"),
    ("show", "showed"),
    ("execute", "executed"),
];
/// Prepositions between a verb and its object.
const TOWARD: &[&str] = &["to", "on", "in", "into", "for", "from"];
/// Parts of the names of arguments that hold the object of a call, best first.
const OBJECTS: &[&str] =
    &["label", "target", "title", "query", "name", "value", "url", "path", "package", "node", "page", "item"];
/// Parts of the names of arguments that only select the device, session or mode.
const MEANS: &[&str] = &["device", "host", "session", "tree", "interface", "token", "key", "mode", "format", "scope"];
/// Maximum length of a call's object, in graphemes.
const MAX_OBJECT: usize = 40;

/// Describes a call by its name and arguments, for example `navigated to 'watchlist'`.
fn done(call: &ToolCall) -> String {
    let name = call.name.rsplit(['.', '/', ':']).next().unwrap_or(&call.name);
    let words: Vec<String> = name.split(['_', '-']).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).skip_while(|w| PREFIXES.contains(w)).collect();
    let past = words.first().and_then(|verb| PAST.iter().find(|(known, _)| known == verb)).map(|(_, past)| *past);
    match (past, object(call)) {
        (Some(past), Some(object)) => {
            let toward =
                words.get(1).filter(|word| TOWARD.contains(word)).map_or(String::new(), |word| format!("{word} "));
            format!("{past} {toward}'{object}'")
        }
        (None, Some(object)) => format!("used {} ('{object}')", call.name),
        (_, None) => format!("used {}", call.name),
    }
}

/// Returns the argument that names the object of a call, shortened.
fn object(call: &ToolCall) -> Option<String> {
    let texts = call.arguments.iter().filter_map(|(name, value)| Some((name.to_lowercase(), value.as_str()?.trim())));
    let fits = |(name, text): &(String, &str)| {
        !text.is_empty()
            && !MEANS.iter().any(|means| name.contains(means))
            && !super::typed::is_marked(text)
            && !name.ends_with("id")
    };
    let rank = |name: &str| OBJECTS.iter().position(|object| name.contains(object)).unwrap_or(OBJECTS.len());
    let best = texts.filter(fits).min_by_key(|(name, _)| rank(name))?;
    Some(cut::brief(&cut::one_line(best.1), MAX_OBJECT))
}

/// Renders the lines of the answered turns.
pub fn shown(lines: &[Line]) -> Vec<String> {
    lines.iter().filter(|l| !l.action.is_empty()).map(Line::text).collect()
}

/// Builds the messages to send: the summary and an acknowledgement if there are earlier messages, then `last`. `last`
/// holds the newest text messages of the user and the assistant, oldest first; `more` says whether there are messages
/// before `last`.
pub fn messages(lines: &[String], last: Vec<Message>, more: bool) -> Vec<Message> {
    let new_message = |role, text: String| Message { role, content: Content::Text(text), ..Message::default() };
    let mut messages = Vec::new();
    if !lines.is_empty() && more {
        messages.push(new_message(Role::User, format!("[Previous conversation summary]\n{}", lines.join("\n"))));
        messages.push(new_message(Role::Assistant, "Understood. I have the context.".to_owned()));
    }
    messages.extend(last);
    messages
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, content: Content::Text(text.into()), ..Message::default() }
    }

    const SIZES: Sizes = Sizes { lines: 3, request: 30, answer: 50 };

    #[test]
    fn last_turns_are_kept_and_only_truncated_text_ends_in_dots() {
        let mut lines = Vec::new();
        let turns = [
            ("navigate to watchlist on google_tv", "done"),
            ("goto shop", "Navigated to 'shop'"),
            ("check current node", "The node that is shown right now is called home and has nine children"),
            ("now show current node", "home"),
        ];
        for (turn, (request, answer)) in turns.iter().enumerate() {
            let turn = turn as i64 + 1;
            ingest(&mut lines, turn, &message(Role::User, request), SIZES);
            if turn == 1 {
                let mut call = message(Role::Assistant, "");
                call.tool_calls =
                    vec![ToolCall { id: "1".into(), name: "navigate_to_node".into(), ..ToolCall::default() }];
                ingest(&mut lines, turn, &call, SIZES);
                assert_eq!(shown(&lines), ["• navigate to watchlist on googl... → used navigate_to_node"]);
            }
            ingest(&mut lines, turn, &message(Role::Assistant, answer), SIZES);
        }
        assert_eq!(
            shown(&lines),
            [
                "• goto shop → Navigated to 'shop'",
                "• check current node → The node that is shown right now is called home an...",
                "• now show current node → home"
            ]
        );
        assert!(messages(&[], vec![message(Role::User, "hi")], true).len() == 1, "no summary, no empty line");
    }

    #[test]
    fn line_says_what_a_call_did() {
        let said = |name: &str, arguments: serde_json::Value| {
            done(&ToolCall {
                name: name.into(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                ..ToolCall::default()
            })
        };
        assert_eq!(
            said("navigate_to_node", json!({"target_node_label": "watchlist", "device_id": "tv1"})),
            "navigated to 'watchlist'"
        );
        assert_eq!(said("af_tap", json!({"value": "Display"})), "tapped 'Display'");
        assert_eq!(said("mcp_weather", json!({"city": "Porto"})), "used mcp_weather ('Porto')");
        assert_eq!(said("press_key", json!({"key": "OK"})), "used press_key");
        assert_eq!(said("search", json!({"query": "x", "tree_id": "t"})), "searched 'x'");
    }
}
