//! The settings of conversations and of the language model that may help with them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Unfit;

/// How conversations are kept and given back (seeds 002 and 004).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conversation {
    /// The language model whose tokens are counted, or the name of a tokenizer, unless a session says another.
    pub model: String,
    /// Size of a context, tokens.
    pub max_tokens: u64,
    /// The most messages in a context.
    pub max_messages: u64,
    /// Above this share of either a context is compacted, per cent.
    pub compaction_threshold: u64,
    /// How many of the newest messages compaction leaves as they are.
    pub keep_recent: u64,
    /// Lines of the rolling summary.
    pub summary_lines: u64,
    /// Messages that are sent with it.
    pub recent_messages: u64,
    /// Letters of a request in a line of it.
    pub brief_request: u64,
    /// Letters of an answer in a line of it.
    pub brief_answer: u64,
    /// Context keys.
    pub tracked_keys: Vec<String>,
    /// Tools whose successful calls set context keys.
    pub context_calls: Vec<String>,
    /// Share of a budget for rules and context keys, per cent; so the others.
    pub split_system: u64,
    /// For notes, experience, bugs and patterns.
    pub split_knowledge: u64,
    /// For summary and recent turns.
    pub split_history: u64,
    /// For goal and tasks.
    pub split_current_task: u64,
    /// For the definitions of the caller's tools.
    pub split_tools: u64,
    /// For nothing.
    pub split_buffer: u64,
    /// How long the tables of a tokenizer stay in memory after they were used, milliseconds.
    pub tokenizer_idle_ms: u64,
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            model: "o200k_base".to_owned(),
            max_tokens: 100_000,
            max_messages: 1_000,
            compaction_threshold: 80,
            keep_recent: 10,
            summary_lines: 3,
            recent_messages: 2,
            brief_request: 30,
            brief_answer: 50,
            tracked_keys: words(&["interface", "tree", "host", "device", "app", "page"]),
            context_calls: words(&[
                "navigate_to_node",
                "take_control",
                "click_element",
                "execute_device_action",
                "auto_discover_screen",
                "get_node_tree",
                "explore_navigation",
            ]),
            split_system: 15,
            split_knowledge: 20,
            split_history: 35,
            split_current_task: 15,
            split_tools: 10,
            split_buffer: 5,
            tokenizer_idle_ms: 60_000,
        }
    }
}

/// What kind of endpoint a language model is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Chat completions, as OpenAI and many others speak them.
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

/// The language model that writes summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LanguageModelSettings {
    /// What kind of endpoint; none for no language model.
    pub provider: Option<Provider>,
    /// Base URL; by default that of the provider itself.
    pub base_url: Option<String>,
    /// Name of the model.
    pub name: String,
    /// The variable of the daemon's environment that holds the key.
    pub key_env: Option<String>,
    /// The file that holds it; a bare name is a credential that systemd brings.
    pub key_file: Option<PathBuf>,
    /// How long an answer may take, milliseconds.
    pub timeout_ms: u64,
    /// How often it is asked for a summary before it is given up.
    pub attempts: u64,
    /// How long it is left alone after it failed, milliseconds; twice as long each time.
    pub retry_ms: u64,
    /// The most of a conversation that it is given at once, characters.
    pub max_input_chars: u64,
    /// The most that it may answer, tokens.
    pub max_output_tokens: u64,
}

impl Default for LanguageModelSettings {
    fn default() -> Self {
        Self {
            provider: None,
            base_url: None,
            name: String::new(),
            key_env: None,
            key_file: None,
            timeout_ms: 60_000,
            attempts: 5,
            retry_ms: 30_000,
            max_input_chars: 100_000,
            max_output_tokens: 800,
        }
    }
}

impl LanguageModelSettings {
    /// Where it is.
    pub fn base_url(&self) -> &str {
        match (&self.base_url, self.provider) {
            (Some(url), _) => url,
            (None, Some(Provider::Anthropic)) => "https://api.anthropic.com",
            (None, _) => "https://api.openai.com/v1",
        }
    }
}

/// A number and the range that it is to be in.
type Range = (&'static str, u64, std::ops::RangeInclusive<u64>);

fn check(table: &str, ranges: &[Range]) -> Result<(), Unfit> {
    match ranges.iter().find(|(_, value, range)| !range.contains(value)) {
        Some((key, value, range)) => Err(format!("{table}.{key} is {value}, expected {} to {}", range.start(), range.end()).into()),
        None => Ok(()),
    }
}

pub(super) fn validate(conversation: &Conversation, model: &LanguageModelSettings) -> Result<(), Unfit> {
    let c = conversation;
    check(
        "conversation",
        &[
            ("max_tokens", c.max_tokens, 256..=100_000_000),
            ("max_messages", c.max_messages, 2..=1_000_000),
            ("compaction_threshold", c.compaction_threshold, 1..=100),
            ("keep_recent", c.keep_recent, 1..=1_000_000),
            ("summary_lines", c.summary_lines, 1..=100),
            ("recent_messages", c.recent_messages, 1..=100),
            ("brief_request", c.brief_request, 1..=10_000),
            ("brief_answer", c.brief_answer, 1..=10_000),
            ("tokenizer_idle_ms", c.tokenizer_idle_ms, 1..=86_400_000),
        ],
    )?;
    let shares = [c.split_system, c.split_knowledge, c.split_history, c.split_current_task, c.split_tools, c.split_buffer];
    let sum = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(*share));
    if sum > 100 || c.split_history == 0 {
        return Err(format!(
            "conversation.split_* add up to {sum} with {} for history, expected at most 100 and at least 1",
            c.split_history
        )
        .into());
    }
    check(
        "model",
        &[
            ("timeout_ms", model.timeout_ms, 1..=600_000),
            ("attempts", model.attempts, 1..=100),
            ("retry_ms", model.retry_ms, 1..=86_400_000),
            ("max_input_chars", model.max_input_chars, 1_000..=10_000_000),
            ("max_output_tokens", model.max_output_tokens, 1..=100_000),
        ],
    )?;
    if let Some(url) = &model.base_url {
        let parsed = url::Url::parse(url).ok().filter(|u| matches!(u.scheme(), "http" | "https") && u.host().is_some());
        if parsed.is_none_or(|u| !u.username().is_empty() || u.password().is_some()) {
            return Err("model.base_url: expected a URL such as https://api.example.com/v1, without credentials".into());
        }
    }
    if model.provider.is_some() && model.name.is_empty() {
        return Err("model.name is missing, expected the name of a model beside model.provider".into());
    }
    Ok(())
}
