//! `conversation.compact`, `conversation.clear`: removing messages from the context. The record keeps them all.

use std::sync::Arc;

use afd_proto::conversation::{ClearParams, ClearResult, CompactParams, CompactResult};
use afd_proto::pattern::PatternScope;
use afd_proto::session::SessionCall;

use super::super::session::active;
use super::super::{Core, Error, Result, check_session};
use super::{SUMMARIES_JOB, counter};
use crate::session::conversation::compaction::{self, Limits};
use crate::session::conversation::{self, messages, summaries};

/// `conversation.compact`: replaces all but the newest messages in the context by a summary.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `CONFLICT` if it has ended.
pub async fn compact(core: &Arc<Core>, params: &CompactParams) -> Result<CompactResult> {
    if params.keep.is_some_and(|keep| keep > 1_000_000) {
        return Err(Error::param("keep", "0 to 1000000", params.keep.unwrap_or(0)));
    }
    compacted(core, params.session(), params.keep.map(i64::from), params.learn.unwrap_or(PatternScope::Session)).await
}

/// Compacts everything but the last turn. Returns how many messages left the context.
pub(in crate::control) async fn all(core: &Arc<Core>, session: &str) -> Result<i64> {
    Ok(compacted(core, session, Some(0), PatternScope::Session).await?.messages)
}

/// Compacts a conversation, keeping `keep` messages or the configured number. `learn` says who may be told what is learned.
async fn compacted(core: &Arc<Core>, name: &str, keep: Option<i64>, learn: PatternScope) -> Result<CompactResult> {
    check_session(name)?;
    let _lock = core.locks.conversations.lock(name.to_owned()).await;
    let session = active(core, name).await?;
    let id = session.id;
    let before = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let counter = counter(core, &before).await?;
    let settings = core.config.get();
    let (origin, has_model) = (core.store.origin().to_owned(), settings.model.provider.is_some());
    let done = core.store.write(move |c| {
        let mut conversation = conversation::of(c, id)?;
        let mut limits = Limits::of(&conversation, &settings.conversation);
        limits.keep = keep.unwrap_or(limits.keep);
        let tokens_before = conversation.used;
        let done = compaction::compact(c, &origin, &mut conversation, limits, &counter, (session.app.as_deref(), learn), has_model)?;
        conversation::save(c, &origin, &conversation)?;
        let summary = summaries::newest(c, id, conversation.cleared_to)?;
        Ok(CompactResult {
            session: session.name,
            messages: done.messages,
            tokens_before,
            tokens_after: conversation.used,
            facts: done.facts,
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
    let _lock = core.locks.conversations.lock(name.to_owned()).await;
    let session = active(core, name).await?;
    let (origin, forget) = (core.store.origin().to_owned(), params.forget_context);
    let cleared = core.store.write(move |c| {
        let mut conversation = conversation::of(c, session.id)?;
        let gone = conversation.in_context();
        conversation.cleared_to = conversation.position;
        conversation.used = conversation.tokens - messages::running(c, conversation.session, conversation.cleared_to)?;
        if forget {
            conversation.context.clear();
            conversation.rolling.clear();
        }
        conversation::save(c, &origin, &conversation)?;
        Ok(ClearResult { session: session.name, messages: gone })
    });
    Ok(cleared.await?)
}
