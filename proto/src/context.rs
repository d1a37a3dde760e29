//! Assembling the context for the language model, and reporting the context's size. The methods belong to
//! `conversation.*`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tasks::Task;
use crate::vocabulary::{ObservationSource, Target};

session_params! {
    /// Parameters of `conversation.usage`.
    #[derive(Default)]
    pub struct UsageParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Number of tokens that the caller intends to add to the context; the result reports whether they fit.
        /// Mutually exclusive with `text`.
        pub tokens: Option<u64>,
        /// Tool definitions that the request to the model will contain. Their tokens are counted as well.
        pub tools: Option<Vec<Value>> where items 0..=1000,
        /// Text that the caller intends to add to the context; its tokens are counted. Mutually exclusive with
        /// `tokens`.
        pub text: Option<String>,
    }

    /// Parameters of `conversation.context`.
    #[derive(Default)]
    pub struct ConversationContextParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
        /// Maximum size of the context, in tokens; by default the limit of the conversation.
        pub budget: Option<u64> where 64..=100_000_000,
        /// Format of the messages.
        pub format: Option<Format> = Format::Afd,
        /// Tool definitions that the request to the model will contain, in any format. Their tokens are counted as
        /// well.
        pub tools: Option<Vec<Value>> where items 0..=1000,
    }

    /// Parameters of `conversation.working`.
    #[derive(Default)]
    pub struct WorkingParams {
        /// Name of the conversation within the session.
        pub conversation: Option<String> = crate::vocabulary::DEFAULT_CONVERSATION,
    }
}

words! {
    /// Message format.
    #[cfg_attr(feature = "schema", schemars(rename = "MessageFormat"))]
    Format {
        /// Native format, as accepted by conversation.append.
        Afd = "afd",
        /// OpenAI chat completions.
        Openai = "openai",
        /// Anthropic messages: separate system prompt, content blocks for tool use and tool results.
        Anthropic = "anthropic",
    }
}

wire! {
    /// Size of the context, with the limits that apply to it.
    pub struct Usage {
        /// Name of the session.
        pub session: String,
        /// Number of tokens in the context that `conversation.context` assembles within the limit. In the result of
        /// `conversation.append`, number of tokens in the conversation alone.
        pub used: i64,
        /// Maximum number of tokens in the context.
        pub limit: i64,
        /// Percentage of the token limit that is used.
        pub percentage: f64,
        /// Percentage of the token limit or message limit above which the context is compacted.
        pub threshold: f64,
        /// Number of messages in the context.
        pub messages: i64,
        /// Maximum number of messages in the context.
        pub max_messages: i64,
        /// Number of recorded messages, including messages that are no longer in the context.
        pub recorded: i64,
        /// Number of tokens in all recorded messages.
        pub recorded_tokens: i64,
        /// Name of the tokenizer that counts the tokens, or `estimate` if none is known for the model.
        pub tokenizer: String,
        /// Allocation of the token limit to the parts of a context.
        pub allocation: Allocation,
        /// Number of tokens that the caller intends to add: the parameter `tokens`, or the number of tokens in `text`;
        /// absent if neither was given.
        pub asked: Option<i64>,
        /// Whether the tokens in `asked` fit in addition to the used tokens and the safety buffer; absent if `asked` is
        /// absent.
        pub can_afford: Option<bool>,
    }

    /// Allocation of a token budget to the parts of a context; all fields are numbers of tokens.
    #[derive(Copy, Eq)]
    pub struct Allocation {
        /// Tokens for system messages and context keys.
        pub system: i64,
        /// Tokens for knowledge about the app and the current page: bugs, patterns, notes, experience.
        pub knowledge: i64,
        /// Tokens for the summary and recent turns.
        pub history: i64,
        /// Tokens for the goal and tasks.
        pub current_task: i64,
        /// Tokens reserved for the caller's tool definitions.
        pub tools: i64,
        /// Tokens left unused as a safety buffer.
        pub buffer: i64,
    }

    /// A part of a context.
    pub struct ContextPart {
        /// Name of the part: `system`, `knowledge`, `summary`, `history` or `now`.
        pub part: String,
        /// Number of messages in the part.
        pub messages: i64,
        /// Number of tokens in the messages of the part.
        pub tokens: i64,
    }

    /// Content that was omitted from a context.
    pub struct Omission {
        /// Kind of omitted content.
        pub what: String,
        /// Number of omitted items.
        pub count: i64,
        /// Number of tokens in the omitted items.
        pub tokens: i64,
        /// Reason for the omission.
        pub why: String,
    }

    /// Messages for the model's next turn.
    pub struct ModelContext {
        /// Name of the session.
        pub session: String,
        /// Messages to send, in the requested format.
        pub messages: Vec<Value>,
        /// System prompt as text blocks; absent if the format does not separate it from the messages. The stable block
        /// precedes the block that changes with the tasks, so that a cache breakpoint can be placed between them.
        pub system: Option<Vec<Value>>,
        /// Number of tokens in the context, including the tool definitions.
        pub tokens: i64,
        /// Number of tokens in the tool definitions.
        pub tools_tokens: i64,
        /// Maximum number of tokens in the context.
        pub budget: i64,
        /// Name of the tokenizer that counted the tokens, or `estimate` if none is known for the model.
        pub tokenizer: String,
        /// Parts of the context, in the order of their messages. Messages are counted before they are converted to the
        /// requested format.
        pub parts: Vec<ContextPart>,
        /// Number of leading messages that are expected to be the same on the next call, so that a prompt cache can
        /// cover them.
        pub stable_messages: i64,
        /// Allocation of the budget to the parts of a context.
        pub allocation: Allocation,
        /// Context keys and their values, meant as defaults for tool arguments.
        pub context: BTreeMap<String, String>,
        /// Content that was omitted from the context, with the reasons.
        pub left_out: Vec<Omission>,
        /// Number of tokens in all messages since the context was last cleared.
        pub tokens_of_all: i64,
        /// Percentage of `tokensOfAll` that is saved by sending only this context.
        pub saved_percent: f64,
    }

    /// Working memory: information that an agent needs to continue its work.
    pub struct WorkingMemory {
        /// Name of the session.
        pub session: String,
        /// Size of the context.
        pub usage: Usage,
        /// Active task; absent if there is none.
        pub current_task: Option<Task>,
        /// Last observations, newest first; at most 10.
        pub recent_observations: Vec<RecentObservation>,
        /// Elements that have an alias, in the order of the aliases. Empty if the daemon was restarted since the last
        /// observation.
        pub active_elements: Vec<ActiveElement>,
        /// Id of the observation that the aliases come from.
        pub observation_id: Option<String>,
        /// Whether an action was performed since the last observation, so that the screen may have changed.
        pub stale: bool,
        /// Context keys and their values.
        pub context: BTreeMap<String, String>,
    }

    /// Summary of an observation.
    pub struct RecentObservation {
        /// Id of the observation.
        pub observation_id: String,
        /// Time of the observation, in Unix milliseconds.
        pub at: i64,
        /// Name of the device.
        pub device: String,
        /// Kind of call that made the observation.
        pub source: ObservationSource,
        /// Package in the foreground.
        pub app: Option<String>,
        /// Foreground activity as `package/activity`.
        pub activity: Option<String>,
        /// Key that the page is matched by.
        pub page_key: Option<String>,
        /// Whether the page had settled.
        pub settled: bool,
        /// Whether the element tree was reliable.
        pub reliable: bool,
    }

    /// An interactive element with its alias.
    pub struct ActiveElement {
        /// Alias, for example `@n3`.
        #[serde(rename = "ref")]
        pub alias: String,
        /// Description of the element.
        pub target: Target,
    }
}

methods! {
    /// Reports how full the context is, and whether a given text or number of tokens fits.
    ConversationUsage = "conversation.usage" (UsageParams, SESSION) -> Usage, Read, [NotFound, StoreUnavailable], r#"{"tokens":500}"#;
    /// Assembles the messages for the model's next turn within a token budget.
    ConversationContext = "conversation.context" (ConversationContextParams, SESSION) -> ModelContext, Read, [NotFound, StoreUnavailable], r#"{"budget":4000}"#;
    /// Returns the working memory of an agent: current task, recent observations, elements with aliases, context keys.
    ConversationWorking = "conversation.working" (WorkingParams, SESSION) -> WorkingMemory, Read, [NotFound, StoreUnavailable], "{}";
}
