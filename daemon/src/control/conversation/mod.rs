//! `conversation.*`: recording messages and building the model's context from them.

pub mod append;
pub mod compact;
pub mod context;
pub mod read;
pub mod summarise;

use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::context::Usage;

use super::{Core, Result};
use crate::model::{Counter, Tokenizers, trim_heap};
use crate::session::conversation::Conversation;
use crate::session::conversation::budget;
use crate::session::conversation::compaction::Limits;
use crate::task::failpoint;
use crate::task::run_blocking;

/// Name of the job that asks a language model for summaries.
pub(super) const SUMMARIES_JOB: &str = "conversation-summaries";

/// Returns the model whose tokens are counted: that of the conversation, else the configured one.
fn model_of(core: &Core, conversation: &Conversation) -> String {
    conversation.model.clone().unwrap_or_else(|| core.config.get().conversation.model.clone())
}

/// Returns the token counter of a conversation. Its tokenizer tables are dropped again once they have been idle for a while.
async fn counter(core: &Arc<Core>, conversation: &Conversation) -> Result<Counter> {
    let (tokenizers, model) = (core.tokenizers.clone(), model_of(core, conversation));
    let counter = run_blocking(move || tokenizers.counter(&model)).await?;
    core.sweep_tokenizers();
    Ok(counter)
}

impl Core {
    /// Starts the task that drops idle tokenizer tables, unless it is already running.
    fn sweep_tokenizers(self: &Arc<Self>) {
        if !self.tokenizers.claim_sweeper() {
            return;
        }
        let weak = Arc::downgrade(self);
        let idle = Duration::from_millis(self.config.get().conversation.tokenizer_idle_ms);
        self.tasks.spawn("tokenizer-sweeper", move || sweep(weak.clone(), idle));
    }
}

/// Drops tokenizer tables that have been idle for `idle`; ends when none is loaded.
async fn sweep(weak: Weak<Core>, idle: Duration) {
    let mut wait = idle;
    loop {
        tokio::time::sleep(wait).await;
        failpoint("tokenizer-sweeper");
        let Some(core) = weak.upgrade() else { return };
        let (dropped, next) = core.tokenizers.sweep(idle);
        if dropped {
            core.store.shrink().await;
            trim_heap();
        }
        wait = match next {
            Some(next) => next,
            None => {
                core.tokenizers.release_sweeper();
                // A table may have been loaded just now by a caller that relied on this sweep still running.
                match core.tokenizers.sweep(idle) {
                    (_, Some(next)) if core.tokenizers.claim_sweeper() => next,
                    _ => return,
                }
            }
        };
    }
}

fn as_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Reports how full a conversation's context is.
fn usage(core: &Core, session: &str, conversation: &Conversation) -> Usage {
    let settings = &core.config.get().conversation;
    let limits = Limits::of(conversation, settings);
    let percentage = conversation.used as f64 * 100.0 / limits.tokens.max(1) as f64;
    Usage {
        session: session.to_owned(),
        used: conversation.used,
        limit: limits.tokens,
        percentage: (percentage * 10.0).round() / 10.0,
        threshold: limits.threshold as f64,
        messages: conversation.in_context(),
        max_messages: limits.messages,
        recorded: conversation.position,
        recorded_tokens: conversation.tokens,
        tokenizer: Tokenizers::name(&model_of(core, conversation)).to_owned(),
        allocation: budget::allocate(limits.tokens, settings),
        asked: None,
        can_afford: None,
    }
}
