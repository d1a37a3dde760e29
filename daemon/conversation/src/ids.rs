//! Ids of tool calls: adds ids that clients leave out, and converts ids that a provider rejects.
//!
//! Some clients send no ids (Ollama, and early chat completions with functions) or count from 0 in each response
//! (several servers with an OpenAI-compatible API). The record keeps the ids as they were sent. In a context, each id
//! is unique and has a form that the target accepts.

use std::collections::{HashMap, HashSet, VecDeque};

use afd_proto::context::Format;
use afd_proto::conversation::{Message, RecordedMessage, Role, ToolCall};

/// Maximum length of an id in OpenAI's Chat Completions API, in characters. The API accepts letters, digits, `_` and
/// `-`.
const MAX_LENGTH_OPENAI: usize = 40;
/// Maximum length of an id in Anthropic's Messages API, in characters. The API accepts letters, digits, `_` and `-`.
const MAX_LENGTH_ANTHROPIC: usize = 64;

/// The id and name of each tool call that has no result yet, in order.
#[derive(Debug, Default)]
pub struct Open(Vec<(String, String)>);

impl Open {
    /// Returns the calls in the recorded messages that have no result yet, oldest first.
    pub fn after(recorded: &[RecordedMessage]) -> Self {
        let mut open = Self::default();
        recorded.iter().for_each(|m| open.note(&m.message));
        open
    }

    fn note(&mut self, message: &Message) {
        match message.role {
            Role::Tool => self.0.retain(|(id, _)| Some(id) != message.tool_call_id.as_ref()),
            Role::Assistant => {
                self.0 = message.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect()
            }
            Role::User | Role::System => {}
        }
    }

    /// Assigns ids to the calls and results in new messages that have none. A result gets the id of the first open call
    /// with its name, or else of the first open call. `position` is the position of the newest recorded message.
    pub fn complete(&mut self, messages: &mut [Message], position: i64) {
        for (position, message) in (position + 1..).zip(messages) {
            for (n, call) in message.tool_calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
                call.id = format!("call_{position}_{n}");
            }
            if message.role == Role::Tool && message.tool_call_id.as_deref().is_none_or(str::is_empty) {
                let named = self.0.iter().find(|(_, name)| Some(name) == message.name.as_ref());
                message.tool_call_id = named.or(self.0.first()).map(|(id, _)| id.clone());
            }
            self.note(message);
        }
    }
}

/// Makes the ids of a context unique, and converts them to a form that the target accepts.
pub fn make_unique(messages: &mut [Message], format: Format) {
    let mut used: HashSet<String> = HashSet::new();
    let mut open: HashMap<String, VecDeque<String>> = HashMap::new();
    for message in messages {
        for ToolCall { id, .. } in &mut message.tool_calls {
            let own = free(&plain(id, format), &used, format);
            used.insert(own.clone());
            open.entry(std::mem::replace(id, own.clone())).or_default().push_back(own);
        }
        if let Some(id) = message.tool_call_id.as_mut()
            && let Some(own) = open.get_mut(id).and_then(VecDeque::pop_front)
        {
            *id = own;
        }
    }
}

fn max_length(format: Format) -> usize {
    match format {
        Format::Afd => usize::MAX,
        Format::Openai => MAX_LENGTH_OPENAI,
        Format::Anthropic => MAX_LENGTH_ANTHROPIC,
    }
}

/// Converts an id to a form that the target accepts.
fn plain(id: &str, format: Format) -> String {
    if format == Format::Afd {
        return id.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let plain: String = id.chars().map(plain).collect();
    // The ends of long ids differ more often than their beginnings.
    let from = plain.len().saturating_sub(max_length(format));
    if plain.is_empty() { "call".to_owned() } else { plain[from..].to_owned() }
}

/// Returns an unused id: `id` itself, or else `id` with a number appended.
fn free(id: &str, used: &HashSet<String>, format: Format) -> String {
    let numbered = (2_usize..).map(|n| {
        let number = format!("_{n}");
        let from = (id.len() + number.len()).saturating_sub(max_length(format)).min(id.len());
        format!("{}{number}", &id[from..])
    });
    std::iter::once(id.to_owned()).chain(numbered).find(|id| !used.contains(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), ..ToolCall::default() }
    }

    fn asks(calls: &[(&str, &str)]) -> Message {
        Message {
            role: Role::Assistant,
            tool_calls: calls.iter().map(|(id, name)| call(id, name)).collect(),
            ..Message::default()
        }
    }

    fn answers(id: Option<&str>, name: Option<&str>) -> Message {
        Message { role: Role::Tool, tool_call_id: id.map(Into::into), name: name.map(Into::into), ..Message::default() }
    }

    fn ids(messages: &[Message]) -> Vec<String> {
        messages.iter().flat_map(|m| m.tool_calls.iter().map(|c| c.id.clone()).chain(m.tool_call_id.clone())).collect()
    }

    #[test]
    fn results_without_ids_answer_the_call_of_their_name() {
        let mut messages = [
            asks(&[("", "open"), ("", "look")]),
            answers(None, Some("look")),
            answers(None, None),
            asks(&[("", "tap")]),
        ];
        Open::default().complete(&mut messages, 4);
        assert_eq!(ids(&messages), ["call_5_0", "call_5_1", "call_5_1", "call_5_0", "call_8_0"]);
        let mut alone = [answers(None, None)];
        Open::default().complete(&mut alone, 0);
        assert_eq!(alone[0].tool_call_id, None);
    }

    #[test]
    fn each_id_is_there_once_and_in_a_form_that_is_taken() {
        let long = "x".repeat(70);
        let mut messages = [
            asks(&[("call_0", "a"), ("call_0", "a")]),
            answers(Some("call_0"), None),
            answers(Some("call_0"), None),
            asks(&[("call_0", "a"), ("functions.tap:0", "a"), (&long, "a"), (&long, "a")]),
            answers(Some("functions.tap:0"), None),
            answers(Some("call_0"), None),
            answers(Some(&long), None),
        ];
        make_unique(&mut messages, Format::Openai);
        let found = ids(&messages);
        assert_eq!(found[..4], ["call_0", "call_0_2", "call_0", "call_0_2"]);
        assert_eq!(
            (&found[4..6], &found[8..10]),
            (
                &["call_0_3".to_owned(), "functions_tap_0".into()][..],
                &["functions_tap_0".to_owned(), "call_0_3".into()][..]
            )
        );
        assert!(found.iter().all(|id| id.len() <= 40) && found[6] != found[7] && found[10] == found[6]);
    }
}
