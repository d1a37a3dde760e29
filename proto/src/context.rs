//! What goes into a model's context, and how full that is. Both belong to `conversation.*`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tasks::Task;
use crate::vocabulary::{ObservationSource, Target};

session_params! {
    /// Parameters of `conversation.usage`.
    #[derive(Default)]
    pub struct UsageParams {
        /// Tokens of something that is to be added; tells whether there is room for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tokens: Option<u64>,
        /// A text that is to be added, in the place of its tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
    }

    /// Parameters of `conversation.context`.
    #[derive(Default)]
    pub struct ConversationContextParams {
        /// Tokens that all of it may take; by default the limit of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget: Option<u64>,
        /// Shape of the messages, by default `afd`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub format: Option<Format>,
    }

    /// Parameters of `conversation.working`.
    #[derive(Default)]
    pub struct WorkingParams {
    }
}

words! {
    /// Shape of messages.
    Format {
        /// As they are appended here.
        Afd = "afd",
        /// As OpenAI's chat completions take them.
        Openai = "openai",
        /// As Anthropic's messages take them: `system` apart, blocks of tool use and tool results.
        Anthropic = "anthropic",
    }
}

wire! {
    /// How full a context is.
    pub struct Usage {
        /// The session.
        pub session: String,
        /// Tokens of what is in the context.
        pub used: i64,
        /// How many there may be.
        pub limit: i64,
        /// The share in per cent.
        pub percentage: f64,
        /// Above this percentage it is compacted.
        pub threshold: f64,
        /// Messages in the context.
        pub messages: i64,
        /// How many there may be.
        pub max_messages: i64,
        /// Messages on record.
        pub recorded: i64,
        /// Tokens of all of them.
        pub recorded_tokens: i64,
        /// What counts tokens: the name of a tokenizer, or `estimate`.
        pub tokenizer: String,
        /// How a budget of this size is split.
        pub allocation: Allocation,
        /// Tokens of what was asked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub asked: Option<i64>,
        /// Whether there is room for it beside what is used and the safety buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub can_afford: Option<bool>,
    }

    /// How a budget is split, tokens.
    #[derive(Copy, Eq)]
    pub struct Allocation {
        /// Rules and context keys.
        pub system: i64,
        /// Notes, experience, bugs, patterns.
        pub knowledge: i64,
        /// Summary and recent turns.
        pub history: i64,
        /// Goal and tasks.
        pub current_task: i64,
        /// Left to the definitions of the caller's tools.
        pub tools: i64,
        /// Left empty.
        pub buffer: i64,
    }

    /// A part of a context.
    pub struct ContextPart {
        /// `system`, `knowledge`, `summary`, `history` or `now`.
        pub part: String,
        /// How many messages it is.
        pub messages: i64,
        /// Their tokens.
        pub tokens: i64,
    }

    /// Something that did not fit.
    pub struct LeftOut {
        /// What.
        pub what: String,
        /// How many.
        pub count: i64,
        /// Their tokens.
        pub tokens: i64,
        /// Why.
        pub why: String,
    }

    /// What to send for the model's next turn.
    pub struct ModelContext {
        /// The session.
        pub session: String,
        /// The messages to send, in the shape that was asked for.
        pub messages: Vec<Value>,
        /// The rules, where the shape has them apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub system: Option<String>,
        /// Their tokens.
        pub tokens: i64,
        /// How many there may be.
        pub budget: i64,
        /// What counted them: the name of a tokenizer, or `estimate`.
        pub tokenizer: String,
        /// What the messages are, in their order.
        pub parts: Vec<ContextPart>,
        /// How many of the first messages stay the same until the summary moves on, so that a prompt cache holds. `parts` counts messages as
        /// they are before they are shaped.
        pub stable_messages: i64,
        /// How the budget is split.
        pub allocation: Allocation,
        /// Context keys, as defaults.
        pub context: BTreeMap<String, String>,
        /// What did not fit.
        pub left_out: Vec<LeftOut>,
        /// Tokens of all messages since the last clearing.
        pub tokens_of_all: i64,
        /// The share that is saved against sending all, per cent.
        pub saved_percent: f64,
    }

    /// What an agent has at hand (seed 002, `WorkingMemory`).
    pub struct Working {
        /// The session.
        pub session: String,
        /// How full the context is.
        pub usage: Usage,
        /// The task that is worked on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub current_task: Option<Task>,
        /// The last looks at a screen, newest first.
        pub recent_observations: Vec<SeenLately>,
        /// What can be acted on by alias, in the order of the aliases; empty when the daemon was started after the last look.
        pub active_elements: Vec<ActiveElement>,
        /// The observation that the aliases belong to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// True when something was done since, so that the screen may be another one.
        pub stale: bool,
        /// Context keys.
        pub context: BTreeMap<String, String>,
    }

    /// A look at a screen.
    pub struct SeenLately {
        /// It.
        pub observation_id: String,
        /// When, UTC milliseconds.
        pub at: i64,
        /// Device.
        pub device: String,
        /// What looked.
        pub source: ObservationSource,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub activity: Option<String>,
        /// Page key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page_key: Option<String>,
        /// Whether it had settled.
        pub settled: bool,
        /// Whether the tree could be trusted.
        pub reliable: bool,
    }

    /// Something that can be acted on.
    pub struct ActiveElement {
        /// Its alias.
        #[serde(rename = "ref")]
        pub alias: String,
        /// What it is.
        pub target: Target,
    }
}

methods! {
    /// Tells how full the context is, and whether something fits.
    ConversationUsage = "conversation.usage" (UsageParams, SESSION) -> Usage, Read, [NotFound, StoreUnavailable], r#"{"tokens":500}"#;
    /// Gives the messages to send for the model's next turn, within a budget.
    ConversationContext = "conversation.context" (ConversationContextParams, SESSION) -> ModelContext, Read, [NotFound, StoreUnavailable], r#"{"budget":4000}"#;
    /// Tells what is at hand: the current task, recent observations, the elements that aliases stand for, context keys.
    ConversationWorking = "conversation.working" (WorkingParams, SESSION) -> Working, Read, [NotFound, StoreUnavailable], "{}";
}
