//! The rolling summary of seed 004: a line for each turn, the last few of them.

use afd_proto::conversation::{Content, Message, Role};
use serde::{Deserialize, Serialize};

use crate::text::cut;

/// A line, and the turn that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Turn.
    pub turn: i64,
    /// What was asked for, in short.
    request: String,
    /// What was done: the first tool that was used, else the answer in short.
    action: String,
    /// Whether the action is a tool.
    used: bool,
}

/// How long the parts of a line may be.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Lines that are kept.
    pub lines: usize,
    /// Letters of a request.
    pub request: usize,
    /// Letters of an answer.
    pub answer: usize,
}

impl Line {
    /// It.
    pub fn text(&self) -> String {
        format!("\u{2022} {} \u{2192} {}", self.request, self.action)
    }
}

/// Takes up a message. What a turn is about is known with its first answer; the first tool of a turn stands for it.
pub fn take_up(lines: &mut Vec<Line>, turn: i64, message: &Message, sizes: Sizes) {
    match message.role {
        Role::User => {
            // What was never answered says nothing of what was done.
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
    // The turn that is under way has no action yet, and does not push another one out.
    let finished = lines.iter().filter(|l| !l.action.is_empty()).count();
    if finished > sizes.lines {
        lines.drain(..finished - sizes.lines);
    }
}

/// The lines of turns that were answered.
pub fn shown(lines: &[Line]) -> Vec<String> {
    lines.iter().filter(|l| !l.action.is_empty()).map(Line::text).collect()
}

/// What is sent: the summary and an acknowledgement, if something lies before the last messages, then these. `last` are the newest
/// messages with text from people and the model, oldest first; `more` tells whether others were before them.
pub fn messages(lines: &[String], last: Vec<Message>, more: bool) -> Vec<Message> {
    let said = |role, text: String| Message {
        role,
        content: Content::Text(text),
        tool_calls: Vec::new(),
        tool_call_id: None,
        name: None,
        failed: false,
    };
    let mut messages = Vec::new();
    if !lines.is_empty() && more {
        messages.push(said(Role::User, format!("[Previous conversation summary]\n{}", lines.join("\n"))));
        messages.push(said(Role::Assistant, "Understood. I have the context.".to_owned()));
    }
    messages.extend(last);
    messages
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::ToolCall;

    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, content: Content::Text(text.into()), tool_calls: Vec::new(), tool_call_id: None, name: None, failed: false }
    }

    const SIZES: Sizes = Sizes { lines: 3, request: 30, answer: 50 };

    #[test]
    fn the_last_turns_are_kept_and_dots_stand_only_where_something_was_cut() {
        let mut lines = Vec::new();
        let turns = [
            ("navigate to watchlist on google_tv", "done"),
            ("goto shop", "Navigated to 'shop'"),
            ("check current node", "The node that is shown right now is called home and has nine children"),
            ("now show current node", "home"),
        ];
        for (turn, (request, answer)) in turns.iter().enumerate() {
            let turn = turn as i64 + 1;
            take_up(&mut lines, turn, &message(Role::User, request), SIZES);
            if turn == 1 {
                let mut call = message(Role::Assistant, "");
                call.tool_calls = vec![ToolCall { id: "1".into(), name: "navigate_to_node".into(), arguments: serde_json::Map::new() }];
                take_up(&mut lines, turn, &call, SIZES);
                assert_eq!(shown(&lines), ["• navigate to watchlist on googl... → Used navigate_to_node"]);
            }
            take_up(&mut lines, turn, &message(Role::Assistant, answer), SIZES);
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
