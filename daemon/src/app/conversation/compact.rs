//! `conversation.compact`, `conversation.clear`: remove messages from the context. All messages stay on record.

use std::sync::Arc;

use afd_proto::conversation::{
    ClearParams, ClearResult, CompactParams, CompactResult, ConversationClear, ConversationCompact,
};
use afd_proto::pattern::PatternScope;

use super::{SUMMARIES_JOB, conversation_of, counter, lock_name};
use crate::app::checks::check_session;
use crate::app::session::active;
use crate::app::{Core, Error, Methods, Result};
use afd_conversation::compaction::{self, Limits};
use afd_conversation::{self as conversation, summaries, totals};
use afd_workspace::learning::learn;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConversationCompact, _, _>(|core, p| async move { compact(&core, &p).await });
    methods.add::<ConversationClear, _, _>(|core, p| async move { clear(&core, &p).await });
}

/// `conversation.compact`: replaces all but the newest messages in the context with a summary.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `CONFLICT` if it has ended.
pub async fn compact(core: &Arc<Core>, params: &CompactParams) -> Result<CompactResult> {
    let how = How { keep: params.keep.map(i64::from), learn: params.learn(), drop: true };
    compacted(core, params.session(), params.conversation.as_deref(), how).await
}

/// Compacts everything but the last turn. Returns the number of messages that left the context.
pub(in crate::app) async fn all(core: &Arc<Core>, session: &str) -> Result<i64> {
    let how = How { keep: Some(0), learn: PatternScope::Session, drop: false };
    Ok(compacted(core, session, None, how).await?.messages)
}

/// How a conversation is compacted.
struct How {
    /// Number of newest messages that stay in the context; `None` for the configured number.
    keep: Option<i64>,
    /// Scope of the patterns that are learned.
    learn: PatternScope,
    /// Whether compacted messages are removed from the context even if they would fit.
    drop: bool,
}

async fn compacted(core: &Arc<Core>, name: &str, which: Option<&str>, how: How) -> Result<CompactResult> {
    check_session(name)?;
    let _lock = core.sessions.conversations.lock(lock_name(name, which)).await;
    let session = active(core, name).await?;
    let (id, which) = (session.id, which.map(str::to_owned));
    let before = core.store.read_all(move |c| conversation_of(c, id, which.as_deref())).await??;
    let called = before.name.clone();
    let counter = counter(core, &before).await?;
    let settings = core.config.get();
    let (origin, has_model) = (core.store.origin().to_owned(), settings.model.is_configured());
    let done = core.store.write(move |c| {
        let mut conversation = conversation::named(c, id, &called)?;
        let mut limits = Limits::of(&conversation, &settings.conversation);
        limits.keep = how.keep.unwrap_or(limits.keep);
        let tokens_before = conversation.used;
        let done = compaction::compact(c, &origin, &mut conversation, limits, &counter, has_model)?;
        let facts = learn(c, &origin, id, (session.app.as_deref(), how.learn), &done.facts)?;
        if how.drop && done.messages > 0 {
            conversation.dropped_to = conversation.compacted_to;
        }
        conversation::save(c, &origin, &conversation)?;
        let summary = summaries::newest(c, conversation.id, conversation.cleared_to)?;
        Ok(CompactResult {
            session: session.name,
            messages: done.messages,
            tokens_before,
            tokens_after: conversation.used,
            facts,
            summary: summary.map(|kept| kept.info),
        })
    });
    let done = done.await?;
    if has_model && done.messages > 0 {
        core.jobs.nudge(SUMMARIES_JOB);
    }
    Ok(done)
}

/// `conversation.clear`: empties the context; the messages stay on record.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `CONFLICT` if it has ended.
pub async fn clear(core: &Arc<Core>, params: &ClearParams) -> Result<ClearResult> {
    let name = params.session();
    check_session(name)?;
    let which = params.conversation.clone();
    let _lock = core.sessions.conversations.lock(lock_name(name, which.as_deref())).await;
    let session = active(core, name).await?;
    let (origin, forget) = (core.store.origin().to_owned(), params.forget_context);
    let cleared = core.store.write_or_refuse(move |c| {
        let mut conversation = conversation_of(c, session.id, which.as_deref())??;
        let gone = conversation.position - conversation.begins_after();
        conversation.cleared_to = conversation.position;
        conversation.used = conversation.tokens - totals::running(c, conversation.id, conversation.cleared_to)?;
        if forget {
            conversation.context.clear();
            conversation.rolling.clear();
        }
        conversation::save(c, &origin, &conversation)?;
        Ok::<_, Error>(ClearResult { session: session.name, messages: gone })
    });
    cleared.await
}
