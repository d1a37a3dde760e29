//! `conversation.*`: recording messages and building the model's context from them.

pub mod append;
mod background;
pub mod compact;
pub mod context;
pub mod delete;
mod measures;
pub mod read;
pub mod summarise;

use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::context::Usage;
use serde_json::json;

use super::checks::check_session;
use super::{Core, Error, Result};
use afd_base::config::Config;
use afd_base::model::{Counter, Tokenizers};
use afd_base::platform::trim_heap;
use afd_base::task::{failpoint, run_blocking};
use afd_conversation::compaction::Limits;
use afd_conversation::{self as conversation, Conversation, budget};
use afd_store::{Connection, Result as Stored};

/// Name of the job that asks a language model for summaries.
pub(super) const SUMMARIES_JOB: &str = "conversation-summaries";

/// Returns a session's conversation. The main conversation may be empty; a named one must exist.
fn conversation_of(c: &Connection, session: i64, name: Option<&str>) -> Stored<Result<Conversation>> {
    let found = conversation::named(c, session, name.unwrap_or(conversation::MAIN))?;
    let exists = found.id != 0 || found.name == conversation::MAIN;
    Ok(if exists { Ok(found) } else { Err(no_conversation(name)) })
}

/// Returns the error for a conversation that does not exist.
fn no_conversation(name: Option<&str>) -> Error {
    let name = name.unwrap_or(conversation::MAIN);
    Error::new(ErrorCode::NotFound, format!("there is no conversation {name:?} in this session"))
        .hint("`afctl session show` lists the conversations; `conversation append --conversation NAME` creates one")
        .details(json!({"conversation": name}))
}

/// Checks the name of a conversation.
fn check_name(name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| {
        check_session(name).map_err(|_| Error::param("conversation", "1 to 128 printable characters", name))
    })
}

/// Returns the name of the lock that serialises writes to a conversation.
fn lock_name(session: &str, conversation: Option<&str>) -> String {
    format!("{session}\n{}", conversation.unwrap_or(conversation::MAIN))
}

/// Returns the model whose tokenizer is used: the conversation's model, else the configured one.
fn model_of(config: &Config, conversation: &Conversation) -> String {
    conversation.model.clone().unwrap_or_else(|| config.get().conversation.model.clone())
}

/// Returns the token counter for a conversation. The tokenizer tables that it loads are dropped once they have been
/// idle for a while.
async fn counter(core: &Arc<Core>, conversation: &Conversation) -> Result<Counter> {
    let (tokenizers, model) = (core.sessions.tokenizers.clone(), model_of(&core.config, conversation));
    let counter = run_blocking(move || tokenizers.counter(&model)).await?;
    core.sweep_tokenizers();
    Ok(counter)
}

impl Core {
    /// Returns the token counter for the configured model.
    pub(in crate::app) async fn counter(self: &Arc<Self>) -> Result<Counter> {
        let (tokenizers, model) = (self.sessions.tokenizers.clone(), self.config.get().conversation.model.clone());
        let counter = run_blocking(move || tokenizers.counter(&model)).await?;
        self.sweep_tokenizers();
        Ok(counter)
    }

    /// Starts the task that drops idle tokenizer tables, unless it is already running.
    fn sweep_tokenizers(self: &Arc<Self>) {
        if !self.sessions.tokenizers.claim_sweeper() {
            return;
        }
        let weak = Arc::downgrade(self);
        let idle = Duration::from_millis(self.config.get().conversation.tokenizer_idle_ms);
        self.tasks.spawn("tokenizer-sweeper", move || sweep(weak.clone(), idle));
    }
}

/// Drops tokenizer tables that have been idle for `idle`; ends when no tables are loaded.
async fn sweep(weak: Weak<Core>, idle: Duration) {
    let mut wait = idle;
    loop {
        tokio::time::sleep(wait).await;
        failpoint("tokenizer-sweeper");
        let Some(core) = weak.upgrade() else { return };
        let (dropped, next) = core.sessions.tokenizers.sweep(idle);
        if dropped {
            core.store.shrink().await;
            trim_heap();
        }
        wait = match next {
            Some(next) => next,
            None => {
                core.sessions.tokenizers.release_sweeper();
                // A table may have been loaded just now by a caller that relied on this sweep still running.
                match core.sessions.tokenizers.sweep(idle) {
                    (_, Some(next)) if core.sessions.tokenizers.claim_sweeper() => next,
                    _ => return,
                }
            }
        };
    }
}

fn as_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Reports how full a conversation's context is, given that it sends `used` tokens in `messages` messages.
fn usage(config: &Config, session: &str, conversation: &Conversation, (used, messages): (i64, i64)) -> Usage {
    let settings = &config.get().conversation;
    let limits = Limits::of(conversation, settings);
    let percentage = used as f64 * 100.0 / limits.tokens.max(1) as f64;
    Usage {
        session: session.to_owned(),
        used,
        limit: limits.tokens,
        percentage: (percentage * 10.0).round() / 10.0,
        threshold: limits.threshold as f64,
        messages,
        max_messages: limits.messages,
        recorded: conversation.position,
        recorded_tokens: conversation.tokens,
        tokenizer: Tokenizers::name(&model_of(config, conversation)).to_owned(),
        allocation: budget::allocate(limits.tokens, settings),
        asked: None,
        can_afford: None,
    }
}
