//! The `conversation` commands.

use afd_proto::Word;
use afd_proto::context::{
    ConversationContext, ConversationContextParams, ConversationUsage, ConversationWorking, Format, UsageParams, WorkingParams,
};
use afd_proto::conversation::{
    AppendParams, ClearParams, CompactParams, Content, ConversationAppend, ConversationClear, ConversationCompact, ConversationList,
    ConversationListParams, ConversationSummary, Message, Role, SummaryParams,
};
use afd_proto::pattern::PatternScope;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::{Call, Group, map, pair, read_list};
use crate::options::Context;
use crate::outcome::Failure;

/// Conversation history and the context for the language model. --session selects the session.
#[derive(Debug, Subcommand)]
pub enum Conversation {
    /// Append messages
    Append(Append),
    /// List recorded messages, newest first
    List {
        /// Maximum number of messages [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// Cursor from the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
    },
    /// Show how full the context is
    Usage {
        /// Check whether this many more tokens would fit
        #[arg(long, value_name = "N")]
        tokens: Option<u64>,
        /// Check whether this text would fit
        #[arg(long, conflicts_with = "tokens")]
        text: Option<String>,
    },
    /// Build the messages to send for the model's next turn
    Context {
        /// Maximum number of tokens of the context
        #[arg(long, value_name = "N")]
        budget: Option<u64>,
        /// Message format [default: afd]
        #[arg(long, value_enum)]
        format: Option<Format>,
    },
    /// Replace older messages in the context with a summary
    Compact {
        /// Number of newest messages to keep
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
        /// Who may be told what is learned from the compacted messages [default: session]
        #[arg(long, value_enum, value_name = "SCOPE")]
        learn: Option<PatternScope>,
    },
    /// Show the rolling summary, the last messages and the context keys
    Summary,
    /// Show the working memory: task, recent observations, elements by alias, context keys
    Working,
    /// Clear the context; the record keeps all messages
    Clear {
        /// Also clear the context keys and the rolling summary
        #[arg(long)]
        forget_context: bool,
    },
}

/// Parses the role of a message given as options. A tool result names its call, so it can only come from a file.
fn typed_role() -> impl TypedValueParser<Value = Role> {
    let roles = [Role::System, Role::User, Role::Assistant];
    let values = roles.iter().filter_map(clap::ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).map(|word| Word::of(&word).unwrap_or(Role::User))
}

/// Options of `append`.
#[derive(Debug, Args)]
pub struct Append {
    /// Role of the message's author
    #[arg(long, value_parser = typed_role(), required_unless_present = "file", requires = "text")]
    role: Option<Role>,
    /// Message text
    #[arg(long, allow_hyphen_values = true, requires = "role")]
    text: Option<String>,
    /// File with messages as JSON, an array or one message per line; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["role", "text"])]
    file: Option<String>,
    /// Context key and value to set; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    context: Vec<(String, String)>,
}

impl Append {
    fn params(self) -> Result<AppendParams, Failure> {
        let typed = |role: Role| {
            let content = Content::Text(self.text.clone().unwrap_or_default());
            vec![Message { role, content, tool_calls: Vec::new(), tool_call_id: None, name: None, failed: false }]
        };
        let messages = match (&self.file, self.role) {
            (Some(file), _) => read_list("--file", file)?,
            (None, role) => typed(role.unwrap_or(Role::User)),
        };
        Ok(AppendParams { messages, context: map(self.context), session: None })
    }
}

impl Group for Conversation {
    fn call(self, _: &Context) -> Call {
        match self {
            Conversation::Append(append) => Call::parsed::<ConversationAppend>(append.params()),
            Conversation::List { limit, cursor } => {
                Call::of::<ConversationList>(ConversationListParams { limit, cursor, ..ConversationListParams::default() })
            }
            Conversation::Usage { tokens, text } => Call::of::<ConversationUsage>(UsageParams { tokens, text, ..UsageParams::default() }),
            Conversation::Context { budget, format } => {
                Call::of::<ConversationContext>(ConversationContextParams { budget, format, ..ConversationContextParams::default() })
            }
            Conversation::Compact { keep, learn } => {
                Call::of::<ConversationCompact>(CompactParams { keep, learn, ..CompactParams::default() })
            }
            Conversation::Summary => Call::of::<ConversationSummary>(SummaryParams::default()),
            Conversation::Working => Call::of::<ConversationWorking>(WorkingParams::default()),
            Conversation::Clear { forget_context } => {
                Call::of::<ConversationClear>(ClearParams { forget_context, ..ClearParams::default() })
            }
        }
    }
}
