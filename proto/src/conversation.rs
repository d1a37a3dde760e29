//! `conversation.*`: recording messages, selecting those that are in the model's context, and replacing the others with
//! summaries.

use std::collections::BTreeMap;

use crate::context::Usage;
pub use crate::message::{Content, Message, Part, Role, ToolCall};

session_params! {
    /// Parameters of `conversation.append`.
    #[derive(Default)]
    pub struct AppendParams {
        /// Messages in chronological order. Messages in the formats of OpenAI's chat completions and of Anthropic's API
        /// are accepted unchanged, and a plain string is treated as a message from the user. Unknown fields are stored
        /// in `extra`.
        #[serde(deserialize_with = "crate::incoming::messages")]
        pub messages: Vec<Message> where items 1..=1000,
        /// Name of the conversation within the session; the conversation is created on first use.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Context keys to set, with their values; at most 100.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub context: BTreeMap<String, String>,
    }

    /// Parameters of `conversation.list`.
    #[derive(Default)]
    pub struct ConversationListParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Maximum number of messages.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page; only messages before that position are returned.
        pub cursor: Option<i64>,
    }

    /// Parameters of `conversation.compact`.
    #[derive(Default)]
    pub struct CompactParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Number of the newest messages to keep in the context; by default the setting `conversation.keep_recent`.
        pub keep: Option<u32> where 0..=1_000_000,
        /// Visibility of the patterns learned from the compacted messages; by default this session only.
        pub learn: Option<crate::pattern::PatternScope> = crate::pattern::PatternScope::Session,
    }

    /// Parameters of `conversation.summary`.
    #[derive(Default)]
    pub struct SummaryParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
    }

    /// Parameters of `conversation.search`.
    #[derive(Default)]
    pub struct SearchParams {
        /// Words to search for, in any language; there is no query syntax. If no message has all of the words, messages
        /// with some of them are returned.
        pub query: String where chars 1..=1000,
        /// Name of the conversation within the session; by default all conversations.
        pub conversation: Option<String>,
        /// Whether to search the conversations of all sessions, not only those of this session.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub everywhere: bool,
        /// Only messages with this role.
        pub role: Option<Role>,
        /// Only messages recorded at or after this time, in Unix milliseconds.
        pub since: Option<i64>,
        /// Only messages recorded at or before this time, in Unix milliseconds.
        pub until: Option<i64>,
        /// Maximum number of messages.
        pub limit: Option<u32> where 1..=200 = 20,
    }

    /// Parameters of `conversation.delete`.
    #[derive(Default)]
    pub struct DeleteMessageParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Position of the message in the conversation, from 1.
        pub position: i64,
    }

    /// Parameters of `conversation.clear`.
    #[derive(Default)]
    pub struct ClearParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Whether to clear the context keys and the rolling summary as well.
        #[serde(default)]
        pub forget_context: bool,
    }
}

wire! {
    /// A recorded message.
    pub struct RecordedMessage {
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the message came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Position of the message in the conversation, from 1.
        pub position: i64,
        /// Number of the turn that the message belongs to; each `user` message starts a turn.
        pub turn: i64,
        /// The message itself.
        #[serde(flatten)]
        pub message: Message,
        /// Number of tokens in the message.
        pub tokens: i64,
        /// Name of the tokenizer that counted the tokens, or `estimate` if none is known for the model.
        pub tokenizer: String,
        /// Whether the message is in the context. If not, the message was cleared from the context or is represented by
        /// a summary.
        pub in_context: bool,
        /// Time at which the message was recorded, in Unix milliseconds.
        pub at: i64,
    }

    /// A page of messages, newest first.
    pub struct Messages {
        /// Messages on this page.
        pub messages: Vec<RecordedMessage>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// Result of appending messages.
    pub struct AppendResult {
        /// Name of the session.
        pub session: String,
        /// Position of the first new message.
        pub first: i64,
        /// Position of the last new message.
        pub last: i64,
        /// Number of tokens in the new messages.
        pub tokens: i64,
        /// Context keys that were set, with their values: those given in the call, and those set by successful tool
        /// calls.
        pub context_set: BTreeMap<String, String>,
        /// Number of older messages that were compacted because the context had become too full.
        pub compacted: i64,
        /// Size of the context after the call.
        pub usage: Usage,
    }

    /// Result of compacting a conversation.
    pub struct CompactResult {
        /// Name of the session.
        pub session: String,
        /// Number of messages that were removed from the context.
        pub messages: i64,
        /// Number of tokens in the context before compaction.
        pub tokens_before: i64,
        /// Number of tokens in the context after compaction, including the summary.
        pub tokens_after: i64,
        /// Number of key facts that were saved as patterns.
        pub facts: i64,
        /// Newest summary; absent if nothing has been compacted yet.
        pub summary: Option<SummaryInfo>,
    }

    /// A summary that represents a range of messages.
    pub struct SummaryInfo {
        /// Position of the last message before the range.
        pub after: i64,
        /// Position of the last message of the range.
        pub upto: i64,
        /// Text of the summary.
        pub text: String,
        /// `extractive` (sentences taken from the messages) or `model` (written by a language model).
        pub method: String,
        /// Language model that wrote the summary; absent for an extractive summary.
        pub model: Option<String>,
        /// Number of tokens in the summary.
        pub tokens: i64,
        /// Whether a language model will still write a better version.
        pub pending: bool,
        /// Error of the last attempt to write the summary with a language model.
        pub error: Option<String>,
        /// Time at which the summary was created, in Unix milliseconds.
        pub created_at: i64,
    }

    /// Rolling summary of a conversation, and the messages to send to the model.
    pub struct Summary {
        /// Name of the session.
        pub session: String,
        /// Lines of the summary, one per turn, oldest first.
        pub lines: Vec<String>,
        /// Messages to send ahead of the next request: the summary, an acknowledgement, and the last messages.
        pub messages: Vec<Message>,
        /// Number of tokens in `messages`.
        pub tokens: i64,
        /// Number of tokens in all messages since the context was last cleared.
        pub tokens_of_all: i64,
        /// Percentage of `tokensOfAll` that is saved by sending only the messages in `messages`.
        pub saved_percent: f64,
        /// Context keys and their values, meant as defaults for tool arguments.
        pub context: BTreeMap<String, String>,
        /// Newest summary of compacted messages.
        pub compacted: Option<SummaryInfo>,
    }

    /// A message found by `conversation.search`.
    pub struct FoundMessage {
        /// Unique id of the message.
        pub uid: String,
        /// Name of the session.
        pub session: String,
        /// Name of the conversation.
        pub conversation: String,
        /// Position of the message in the conversation.
        pub position: i64,
        /// Author of the message.
        pub role: Role,
        /// Name of the author or of the tool.
        pub name: Option<String>,
        /// Excerpt with most of the words of the query, which are in brackets.
        pub text: String,
        /// Relevance of the message to the query, 0 to 1.
        pub score: f64,
        /// Time at which the message was recorded, in Unix milliseconds.
        pub at: i64,
    }

    /// Result of `conversation.search`, best match first. A query of three or more words also finds messages beside those
    /// that have its words.
    pub struct FoundMessages {
        /// Messages that were found.
        pub messages: Vec<FoundMessage>,
        /// Whether each message contains all words of the query or only some of them.
        pub matched: crate::notes::TermMatch,
        /// Parts of the memory that could not be searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of deleting a message.
    pub struct DeleteMessageResult {
        /// Name of the session.
        pub session: String,
        /// Position of the deleted message.
        pub position: i64,
        /// Number of statements and summaries derived from the message, which were deleted as well.
        pub derived: i64,
        /// Paths of the session's reports and exports that were saved to files named by the caller. These files may
        /// quote the message and are not deleted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub files_left: Vec<String>,
        /// Names of the backups that still contain the message, newest first; `backup.delete` deletes a backup.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub backups: Vec<String>,
    }

    /// Result of clearing a context.
    pub struct ClearResult {
        /// Name of the session.
        pub session: String,
        /// Number of messages that were removed from the context; they remain recorded.
        pub messages: i64,
    }
}

methods! {
    /// Records messages, counts their tokens, extracts context keys and facts, and compacts an overfull context.
    ConversationAppend = "conversation.append" (AppendParams, SESSION) -> AppendResult, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","messages":[{"role":"user","content":"go to the cart"},{"role":"assistant","toolCalls":[{"id":"c1","name":"take_control","arguments":{"device_id":"pixel"}}]},{"role":"tool","toolCallId":"c1","content":"{\"success\":true}"}]}"#;
    /// Lists recorded messages, newest first, including messages that are no longer in the context.
    ConversationList = "conversation.list" (ConversationListParams, SESSION) -> Messages, Read, [NotFound, StoreUnavailable], r#"{"limit":20}"#;
    /// Replaces older messages in the context with a summary; the messages remain recorded.
    ConversationCompact = "conversation.compact" (CompactParams, SESSION) -> CompactResult, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"keep":10}"#;
    /// Returns the rolling summary with the last messages and the context keys.
    ConversationSummary = "conversation.summary" (SummaryParams, SESSION) -> Summary, Read, [NotFound, StoreUnavailable], "{}";
    /// Searches recorded messages for words.
    ConversationSearch = "conversation.search" (SearchParams, SESSION) -> FoundMessages, Read, [NotFound, StoreUnavailable], r#"{"query":"delivery address"}"#;
    /// Deletes a recorded message, such as one that contains a secret, along with everything derived from it.
    ConversationDelete = "conversation.delete" (DeleteMessageParams, SESSION) -> DeleteMessageResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"position":12}"#;
    /// Clears the context; the messages remain recorded.
    ConversationClear = "conversation.clear" (ClearParams, SESSION) -> ClearResult, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
