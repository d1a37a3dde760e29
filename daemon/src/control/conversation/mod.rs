//! `conversation.*`: what was said, and what of it goes into the model's context.

pub mod append;
pub mod compact;
pub mod context;
pub mod read;
pub mod summarise;

use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::context::Usage;

use super::{Core, Result};
use crate::model::{Counter, Tokenizers, give_back_memory};
use crate::session::conversation::Conversation;
use crate::session::conversation::budget;
use crate::session::conversation::compaction::Limits;
use crate::task::checkpoint;
use crate::task::run_blocking;

/// The job that asks a language model for summaries.
pub(super) const SUMMARIES_JOB: &str = "conversation-summaries";

/// Whose tokens a conversation's are.
fn model_of(core: &Core, conversation: &Conversation) -> String {
    conversation.model.clone().unwrap_or_else(|| core.config.get().conversation.model.clone())
}

/// What counts the tokens of a conversation. Its tables go again when nobody needs them for a while.
async fn counter(core: &Arc<Core>, conversation: &Conversation) -> Result<Counter> {
    let (tokenizers, model) = (core.tokenizers.clone(), model_of(core, conversation));
    let counter = run_blocking(move || tokenizers.counter(&model)).await?;
    core.sweep_tokenizers();
    Ok(counter)
}

impl Core {
    /// Sees to it that tables of tokenizers are dropped in time.
    fn sweep_tokenizers(self: &Arc<Self>) {
        if !self.tokenizers.begin_sweeping() {
            return;
        }
        let weak = Arc::downgrade(self);
        let idle = Duration::from_millis(self.config.get().conversation.tokenizer_idle_ms);
        self.tasks.spawn("tokenizer-sweeper", move || sweep(weak.clone(), idle));
    }
}

/// Drops the tables of tokenizers that nobody used for a while, until there are none.
async fn sweep(weak: Weak<Core>, idle: Duration) {
    let mut wait = idle;
    loop {
        tokio::time::sleep(wait).await;
        checkpoint("tokenizer-sweeper");
        let Some(core) = weak.upgrade() else { return };
        let (dropped, next) = core.tokenizers.sweep(idle);
        if dropped {
            core.store.shrink().await;
            give_back_memory();
        }
        wait = match next {
            Some(next) => next,
            None => {
                core.tokenizers.end_sweeping();
                // Somebody may have loaded one meanwhile, who saw that a sweep was under way.
                match core.tokenizers.sweep(idle) {
                    (_, Some(next)) if core.tokenizers.begin_sweeping() => next,
                    _ => return,
                }
            }
        };
    }
}

fn as_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// How full a context is.
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
