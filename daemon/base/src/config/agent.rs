//! The settings of conversations, of recall, and of the language model that writes summaries.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::InvalidSetting;
use super::section::{Kind, SettingValue, sections};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// Context keys that are tracked by default.
const TRACKED_KEYS: &[&str] = &["interface", "tree", "host", "device", "app", "page"];

/// Tools whose successful calls set context keys by default.
const CONTEXT_CALLS: &[&str] = &[
    "navigate_to_node",
    "take_control",
    "click_element",
    "execute_device_action",
    "auto_discover_screen",
    "get_node_tree",
    "explore_navigation",
];

/// Tools that type text by default.
const TYPING_CALLS: &[&str] = &[
    "act.text",
    "act.fill",
    "act_text",
    "act_fill",
    "text",
    "fill",
    "fill_form",
    "type",
    "type_text",
    "typeText",
    "input_text",
    "enter_text",
    "enterText",
    "send_keys",
    "sendKeys",
    "set_text",
    "set_value",
    "browser_type",
    "browser_fill_form",
];

sections! {
    /// How conversations are stored and assembled into a context.
    Conversation "conversation." {
        /// Language model or tokenizer for which tokens are counted, unless a session specifies another one.
        model: String = "o200k_base".to_owned();
        /// Maximum size of a context, in tokens.
        max_tokens: u64 [range 256..=100_000_000] = 100_000;
        /// Maximum number of messages in a context.
        max_messages: u64 [range 2..=1_000_000] = 1_000;
        /// Percentage of the maximum tokens or messages above which a context is compacted.
        compaction_threshold: u64 [range 1..=100] = 80;
        /// Number of the newest messages that compaction keeps.
        keep_recent: u64 [range 1..=1_000_000] = 10;
        /// Number of lines of the rolling summary.
        summary_lines: u64 [range 1..=100] = 3;
        /// Number of recent messages that are sent with the rolling summary.
        recent_messages: u64 [range 1..=100] = 2;
        /// Maximum length of a user request in a line of the rolling summary, in characters.
        brief_request: u64 [range 1..=10_000] = 30;
        /// Maximum length of an answer in a line of the rolling summary, in characters.
        brief_answer: u64 [range 1..=10_000] = 50;
        /// Names of the context keys that the daemon tracks.
        tracked_keys: Vec<String> = words(TRACKED_KEYS);
        /// Tools whose successful calls set context keys.
        context_calls: Vec<String> = words(CONTEXT_CALLS);
        /// Tools that type text; the text in their calls is not stored. A name also matches longer names that end with
        /// it, such as `mcp__phone__type_text`.
        typing_calls: Vec<String> = words(TYPING_CALLS);
        /// Percentage of a token budget that is allotted to rules and context keys.
        split_system: u64 = 15;
        /// Percentage of a token budget that is allotted to notes, experience, bugs and patterns.
        split_knowledge: u64 = 20;
        /// Percentage of a token budget that is allotted to the summary and recent turns.
        split_history: u64 = 35;
        /// Percentage of a token budget that is allotted to the goal and tasks.
        split_current_task: u64 = 15;
        /// Percentage of a token budget that is allotted to the definitions of the caller's tools.
        split_tools: u64 = 10;
        /// Percentage of a token budget that is reserved and stays unused.
        split_buffer: u64 = 5;
        /// How long the tables of a tokenizer stay in memory after their last use, in milliseconds.
        tokenizer_idle_ms: u64 [range 1..=86_400_000] = 60_000;
    }

    /// Settings for recall, the search over remembered entries.
    RecallSettings "recall." {
        /// Directory of a sentence model (`config.json`, `tokenizer.json`, `model.safetensors`); `afctl model add`
        /// checks the model and sets this.
        model_dir: Option<PathBuf> = None;
        /// How long a sentence model stays in memory after its last use, in milliseconds.
        model_idle_ms: u64 [range 1..=86_400_000] = 60_000;
        /// Base URL of an embedding endpoint with the OpenAI API, such as `http://127.0.0.1:11434/v1`; used only if
        /// `recall.model_dir` is not set.
        endpoint_url: Option<String> = None;
        /// Name of the embedding model at the endpoint.
        endpoint_model: String = String::new();
        /// Name of the daemon's environment variable that contains the endpoint's API key.
        endpoint_key_env: Option<String> = None;
        /// File that contains the endpoint's API key; a bare name may refer to a systemd credential.
        endpoint_key_file: Option<PathBuf> = None;
        /// Timeout for a request to the endpoint, in milliseconds.
        endpoint_timeout_ms: u64 [range 1..=600_000] = 30_000;
        /// URL of a Qdrant server that serves as an external index, such as `http://127.0.0.1:6333`; several stores can
        /// share it.
        qdrant_url: Option<String> = None;
        /// Prefix of the names of the Qdrant collections; each model has its own collection.
        qdrant_collection: String = "qa_memories".to_owned();
        /// Name of the daemon's environment variable that contains the API key for Qdrant.
        qdrant_key_env: Option<String> = None;
        /// File that contains the API key for Qdrant; a bare name may refer to a systemd credential.
        qdrant_key_file: Option<PathBuf> = None;
        /// How long a search waits for Qdrant, in milliseconds.
        qdrant_timeout_ms: u64 [range 1..=600_000] = 2_000;
        /// Delay before a failed upload to Qdrant is retried, in milliseconds; it doubles after each further failure,
        /// up to one minute.
        qdrant_retry_ms: u64 [range 1..=60_000] = 1_000;
        /// How long a search waits for its query's vector, in milliseconds; after that, the search runs without the
        /// vector and reports that the vector is missing.
        search_wait_ms: u64 [range 1..=600_000] = 3_000;
        /// Interval of the job that maintains recall entries, in hours; a change takes effect after a restart of the
        /// daemon.
        upkeep_hours: u64 [range 1..=8_760] = 24;
        /// Age at which the age-dependent part of an entry's score has halved, in days.
        half_life_days: u64 [range 1..=36_500] = 180;
    }

    /// The language model that writes summaries in the background.
    LanguageModelSettings "model." {
        /// Kind of language model endpoint; no language model is used unless both this and `model.name` are set.
        provider: Option<Provider> = None;
        /// Base URL of the language model's API; by default, the provider's URL.
        base_url: Option<String> = None;
        /// Name of the language model.
        name: String = String::new();
        /// Name of the daemon's environment variable that contains the language model's API key.
        key_env: Option<String> = None;
        /// File that contains the language model's API key; a bare name may refer to a systemd credential.
        key_file: Option<PathBuf> = None;
        /// Timeout for a request to the language model, in milliseconds.
        timeout_ms: u64 [range 1..=600_000] = 60_000;
        /// Maximum number of attempts to get a summary.
        attempts: u64 [range 1..=100] = 5;
        /// Delay before a retry after a failure, in milliseconds; it doubles after each further failure.
        retry_ms: u64 [range 1..=86_400_000] = 30_000;
        /// Maximum length of the part of a conversation that is sent in one request, in characters.
        max_input_chars: u64 [range 1_000..=10_000_000] = 100_000;
        /// Maximum length of a summary, in tokens.
        max_output_tokens: u64 [range 1..=100_000] = 800;
    }
}

/// Kind of language model endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The OpenAI chat completions API, which many servers implement.
    Openai,
    /// The Anthropic messages API.
    Anthropic,
}

impl SettingValue for Provider {
    const KIND: Kind = Kind::Choice(&["openai", "anthropic"]);
}

impl LanguageModelSettings {
    /// Returns whether a language model is configured, which requires both the provider and the model's name. They can
    /// be set in either order.
    pub fn is_configured(&self) -> bool {
        self.provider.is_some() && !self.name.is_empty()
    }

    /// Returns the configured base URL, or the provider's URL if none is configured.
    pub fn base_url(&self) -> &str {
        match (&self.base_url, self.provider) {
            (Some(url), _) => url,
            (None, Some(Provider::Anthropic)) => "https://api.anthropic.com",
            (None, _) => "https://api.openai.com/v1",
        }
    }
}

impl RecallSettings {
    /// Returns the URL of the Qdrant server without trailing slashes, which is the form that the outbox stores. Returns
    /// `None` if no server is configured.
    pub fn qdrant(&self) -> Option<&str> {
        self.qdrant_url.as_deref().map(|url| url.trim_end_matches('/'))
    }
}

pub(super) fn validate(
    conversation: &Conversation,
    model: &LanguageModelSettings,
    recall: &RecallSettings,
) -> Result<(), InvalidSetting> {
    let c = conversation;
    let shares =
        [c.split_system, c.split_knowledge, c.split_history, c.split_current_task, c.split_tools, c.split_buffer];
    let sum = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(*share));
    if sum > 100 || c.split_history == 0 {
        let history = c.split_history;
        return Err(format!(
            "conversation.split_* add up to {sum} with {history} for history, expected at most 100 and at least 1"
        )
        .into());
    }
    let prefix = &recall.qdrant_collection;
    if !(1..=100).contains(&prefix.len()) || !prefix.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
        return Err(format!(
            "recall.qdrant_collection: expected 1 to 100 letters, digits, `_`, `-` and `.`, got {prefix:?}"
        )
        .into());
    }
    let urls = [
        ("model.base_url", &model.base_url),
        ("recall.endpoint_url", &recall.endpoint_url),
        ("recall.qdrant_url", &recall.qdrant_url),
    ];
    for (setting, url) in urls {
        let Some(url) = url else { continue };
        let parsed = url::Url::parse(url).ok().filter(|u| matches!(u.scheme(), "http" | "https") && u.host().is_some());
        let plain = |u: &url::Url| {
            u.username().is_empty() && u.password().is_none() && u.query().is_none() && u.fragment().is_none()
        };
        if parsed.is_none_or(|u| !plain(&u)) || url.trim() != url {
            let such =
                if setting == "recall.qdrant_url" { "http://127.0.0.1:6333" } else { "https://api.example.com/v1" };
            return Err(format!("{setting}: expected a URL such as {such}, without credentials and query").into());
        }
    }
    Ok(())
}
