//! The rolling summary: one line for each of the last few turns, with the request and what was done.

use afd_proto::conversation::{Content, Message, Role};
use serde::{Deserialize, Serialize};

use crate::text::cut;

/// The summary line of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Number of the turn.
    pub turn: i64,
    /// Shortened request.
    request: String,
    /// What was done: the first tool used, else the shortened answer. Empty until the first answer.
    action: String,
    /// Whether `action` names a tool.
    used: bool,
}

/// Size limits of the rolling summary.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Maximum number of lines of answered turns.
    pub lines: usize,
    /// Maximum length of a request, graphemes.
    pub request: usize,
    /// Maximum length of an answer, graphemes.
    pub answer: usize,
}

impl Line {
    /// Renders the line.
    pub fn text(&self) -> String {
        format!("\u{2022} {} \u{2192} {}", self.request, self.action)
    }
}

/// Updates the lines with a message. A turn is shown once it has an answer; the first tool call of a turn takes precedence over text.
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
                    line.action = format!("Used {}", call.name);
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

/// Renders the lines of the answered turns.
pub fn shown(lines: &[Line]) -> Vec<String> {
    lines.iter().filter(|l| !l.action.is_empty()).map(Line::text).collect()
}

/// Builds the messages to send: the summary and an acknowledgement if there are messages before `last`, then `last`. `last` holds the
/// newest text messages of the user and the assistant, oldest first; `more` says whether others precede them.
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
    use afd_proto::conversation::ToolCall;

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
                call.tool_calls = vec![ToolCall { id: "1".into(), name: "navigate_to_node".into(), ..ToolCall::default() }];
                ingest(&mut lines, turn, &call, SIZES);
                assert_eq!(shown(&lines), ["• navigate to watchlist on googl... → Used navigate_to_node"]);
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
}
