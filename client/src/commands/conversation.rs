//! `conversation`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{Call, object, pair, read_list, word};
use crate::outcome::Failure;

/// What was said, and what of it goes into the model's context. The session is the one of --session.
#[derive(Debug, Subcommand)]
pub enum Conversation {
    /// Append messages
    Append(Append),
    /// Messages on record, newest first
    List {
        /// At most this many [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// Go on where the previous answer ended
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
    },
    /// How full the context is
    Usage {
        /// Whether so many tokens more would fit
        #[arg(long, value_name = "N")]
        tokens: Option<u64>,
        /// Whether this text would fit
        #[arg(long, conflicts_with = "tokens")]
        text: Option<String>,
    },
    /// The messages to send for the model's next turn
    Context {
        /// Tokens that all of it may take
        #[arg(long, value_name = "N")]
        budget: Option<u64>,
        /// Shape of the messages
        #[arg(long, value_enum)]
        format: Option<Shape>,
    },
    /// Let a summary stand for older messages
    Compact {
        /// How many of the newest messages stay
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
    },
    /// The rolling summary, the last messages, the context keys
    Summary,
    /// What is at hand: task, recent observations, elements by alias, context keys
    Working,
    /// Empty the context; the record keeps everything
    Clear {
        /// Forget context keys and rolling summary as well
        #[arg(long)]
        forget_context: bool,
    },
}

/// Shapes of messages.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shape {
    /// As they were appended
    Afd,
    /// As OpenAI takes them
    Openai,
    /// As Anthropic takes them
    Anthropic,
}

/// Who says it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Role {
    /// The rules
    System,
    /// A person
    User,
    /// The language model
    Assistant,
}

/// Options of `append`.
#[derive(Debug, Args)]
pub struct Append {
    /// Who says it
    #[arg(long, value_enum, required_unless_present = "file", requires = "text")]
    role: Option<Role>,
    /// What
    #[arg(long, allow_hyphen_values = true, requires = "role")]
    text: Option<String>,
    /// Messages as JSON: an array, or one message in each line; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["role", "text"])]
    file: Option<String>,
    /// Context key and value to set; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    context: Vec<(String, String)>,
}

impl Append {
    fn messages(&self) -> Result<Value, Failure> {
        let Some(file) = &self.file else {
            return Ok(json!([{"role": word(self.role), "content": self.text}]));
        };
        read_list("--file", file)
    }
}

impl Conversation {
    /// The call.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn call(&self) -> Result<Call, Failure> {
        Ok(match self {
            Conversation::Append(a) => {
                Call::new("conversation.append").with("messages", a.messages()?).maybe("context", object(&a.context))
            }
            Conversation::List { limit, cursor } => Call::new("conversation.list").maybe("limit", *limit).maybe("cursor", *cursor),
            Conversation::Usage { tokens, text } => Call::new("conversation.usage").maybe("tokens", *tokens).maybe("text", text.clone()),
            Conversation::Context { budget, format } => {
                Call::new("conversation.context").maybe("budget", *budget).maybe("format", word(*format))
            }
            Conversation::Compact { keep } => Call::new("conversation.compact").maybe("keep", *keep),
            Conversation::Summary => Call::new("conversation.summary"),
            Conversation::Working => Call::new("conversation.working"),
            Conversation::Clear { forget_context } => Call::new("conversation.clear").with("forgetContext", *forget_context),
        })
    }

    /// The verb, as it was typed.
    pub fn verb(&self) -> &'static str {
        match self {
            Conversation::Append(_) => "append",
            Conversation::List { .. } => "list",
            Conversation::Usage { .. } => "usage",
            Conversation::Context { .. } => "context",
            Conversation::Compact { .. } => "compact",
            Conversation::Summary => "summary",
            Conversation::Working => "working",
            Conversation::Clear { .. } => "clear",
        }
    }
}
