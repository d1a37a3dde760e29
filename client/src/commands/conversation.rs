//! The `conversation` commands.

use afd_proto::context::{
    ConversationContext, ConversationContextParams, ConversationUsage, ConversationWorking, Format, UsageParams,
    WorkingParams,
};
use afd_proto::conversation::{
    AppendParams, ClearParams, CompactParams, ConversationAppend, ConversationClear, ConversationCompact,
    ConversationDelete, ConversationList, ConversationListParams, ConversationSearch, ConversationSummary,
    DeleteMessageParams, Role, SearchParams, SummaryParams,
};
use afd_proto::pattern::PatternScope;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Call, Group, map, pair, read_list};
use afd_link::options::Context;
use afd_link::outcome::{Failure, USAGE};

/// Selects one of the session's conversations.
#[derive(Debug, Args)]
pub struct Which {
    /// Name of the conversation within the session
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
}

/// Conversation history and the context for the language model. --session selects the session.
#[derive(Debug, Subcommand)]
pub enum Conversation {
    /// Append messages
    Append(Append),
    /// List recorded messages, newest first
    List {
        /// Maximum number of messages
        #[arg(long)]
        limit: Option<u32>,
        /// Cursor from the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Search the recorded messages for words
    Search(Search),
    /// Delete a message and everything derived from it, for example because it contains a secret
    Delete {
        /// Position of the message, as shown by `list` and `search`
        position: i64,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Show how much of the context is used
    Usage {
        /// Check whether this many more tokens would fit
        #[arg(long, value_name = "N")]
        tokens: Option<u64>,
        /// Check whether this text would fit
        #[arg(long, conflicts_with = "tokens")]
        text: Option<String>,
        /// File with the tool definitions of the request, as a JSON array; their tokens are counted, too
        #[arg(long, value_name = "FILE")]
        tools: Option<String>,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Build the messages to send for the model's next turn
    Context {
        /// Maximum size of the context in tokens
        #[arg(long, value_name = "N")]
        budget: Option<u64>,
        /// Format of the messages, for example that of OpenAI or Anthropic
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// Print only the messages, as a JSON array; in the Anthropic format, an object with the system prompt and the
        /// messages
        #[arg(long)]
        raw: bool,
        /// File with the tool definitions of the request, as a JSON array; their tokens are counted, too
        #[arg(long, value_name = "FILE")]
        tools: Option<String>,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Replace older messages in the context with a summary
    Compact {
        /// Number of newest messages to keep
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
        /// Visibility of the patterns learned from the compacted messages
        #[arg(long, value_enum, value_name = "SCOPE")]
        learn: Option<PatternScope>,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Show the rolling summary, the last messages and the context keys
    Summary {
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Show the working memory: task, recent observations, elements by alias, context keys
    Working {
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
    /// Clear the context; the record keeps all messages
    Clear {
        /// Also clear the context keys and the rolling summary
        #[arg(long)]
        forget_context: bool,
        /// The selected conversation.
        #[command(flatten)]
        which: Which,
    },
}

/// Options for `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Words to search for
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    /// Search the conversations of all sessions
    #[arg(long, conflicts_with = "conversation")]
    everywhere: bool,
    /// Only messages with this role
    #[arg(long, value_enum)]
    role: Option<Role>,
    /// Only messages recorded at or after this time, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    since: Option<i64>,
    /// Only messages recorded at or before this time, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    until: Option<i64>,
    /// Maximum number of messages
    #[arg(long)]
    limit: Option<u32>,
    /// Only this conversation of the session [default: all of them]
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
}

impl Search {
    fn params(self) -> SearchParams {
        SearchParams {
            query: self.query.join(" "),
            conversation: self.conversation,
            everywhere: self.everywhere,
            role: self.role,
            since: self.since,
            until: self.until,
            limit: self.limit,
            session: None,
        }
    }
}

/// Options for `append`.
#[derive(Debug, Args)]
pub struct Append {
    /// Role of the message's author [default: user]
    #[arg(long, value_enum, requires = "text")]
    role: Option<Role>,
    /// Text of the message
    #[arg(long, allow_hyphen_values = true, required_unless_present = "file")]
    text: Option<String>,
    /// Id of the tool call that the message answers
    #[arg(long, value_name = "ID", required_if_eq("role", "tool"))]
    tool_call: Option<String>,
    /// Name of the message's author or of the tool
    #[arg(long)]
    name: Option<String>,
    /// Mark the tool call as failed
    #[arg(long)]
    failed: bool,
    /// File with messages in the format of afd, OpenAI or Anthropic, as a JSON array or one JSON object per line; - for
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["role", "text", "tool_call", "name", "failed"])]
    file: Option<String>,
    /// Context key to set, with its value; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    context: Vec<(String, String)>,
    #[command(flatten)]
    which: Which,
}

impl Append {
    fn params(self) -> Result<AppendParams, Failure> {
        let role = self.role.unwrap_or(Role::User);
        let messages: Vec<Value> = match &self.file {
            Some(file) => read_list("--file", file)?,
            None => {
                let (id, name, failed) = (&self.tool_call, &self.name, self.failed);
                vec![json!({"role": role, "content": self.text, "toolCallId": id, "name": name, "failed": failed})]
            }
        };
        let mut params: AppendParams = serde_json::from_value(json!({"messages": messages}))
            .map_err(|e| Failure::new("INVALID_PARAMS", format!("messages: {e}"), USAGE))?;
        params.context = map(self.context);
        params.conversation = self.which.conversation;
        Ok(params)
    }
}

fn tools(file: Option<String>) -> Result<Option<Vec<Value>>, Failure> {
    file.map(|file| read_list("--tools", &file)).transpose()
}

impl Group for Conversation {
    fn call(self, _: &Context) -> Call {
        match self {
            Conversation::Append(append) => Call::parsed::<ConversationAppend>(append.params()),
            Conversation::List { limit, cursor, which } => Call::of::<ConversationList>(ConversationListParams {
                limit,
                cursor,
                conversation: which.conversation,
                session: None,
            }),
            Conversation::Search(search) => Call::of::<ConversationSearch>(search.params()),
            Conversation::Delete { position, which } => Call::of::<ConversationDelete>(DeleteMessageParams {
                position,
                conversation: which.conversation,
                session: None,
            }),
            Conversation::Usage { tokens, text, tools: file, which } => {
                Call::parsed::<ConversationUsage>(tools(file).map(|tools| UsageParams {
                    tokens,
                    text,
                    tools,
                    conversation: which.conversation,
                    session: None,
                }))
            }
            Conversation::Context { budget, format, raw, tools: file, which } => {
                let conversation = which.conversation;
                let params = |tools| ConversationContextParams { budget, format, tools, conversation, session: None };
                // The Anthropic API takes the system prompt separately from the messages.
                let fields: &[&str] =
                    if format == Some(Format::Anthropic) { &["system", "messages"] } else { &["messages"] };
                Call::parsed::<ConversationContext>(tools(file).map(params)).only(raw.then_some(fields))
            }
            Conversation::Compact { keep, learn, which } => Call::of::<ConversationCompact>(CompactParams {
                keep,
                learn,
                conversation: which.conversation,
                session: None,
            }),
            Conversation::Summary { which } => {
                Call::of::<ConversationSummary>(SummaryParams { conversation: which.conversation, session: None })
            }
            Conversation::Working { which } => {
                Call::of::<ConversationWorking>(WorkingParams { conversation: which.conversation, session: None })
            }
            Conversation::Clear { forget_context, which } => Call::of::<ConversationClear>(ClearParams {
                forget_context,
                conversation: which.conversation,
                session: None,
            }),
        }
    }
}
