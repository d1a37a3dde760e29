//! `conversation.compact`, `conversation.clear`

use std::sync::Arc;

use afd_proto::conversation::{ClearParams, Cleared, CompactParams, Compacted};
use afd_proto::session::SessionCall;

use super::super::session::active;
use super::super::{Core, Error, Result, check_session};
use super::{SUMMARIES_JOB, counter};
use crate::session::conversation::compaction::{self, Limits};
use crate::session::conversation::{self, messages, summaries};

/// `conversation.compact`
///
/// # Errors
/// When the session has ended, or the summary cannot be written.
pub async fn compact(core: &Arc<Core>, params: &CompactParams) -> Result<Compacted> {
    if params.keep.is_some_and(|keep| keep > 1_000_000) {
        return Err(Error::param("keep", "0 to 1000000", params.keep.unwrap_or(0)));
    }
    compacted(core, params.session(), params.keep.map(i64::from)).await
}

/// Compacts all but the last turn; returns how many messages left the context.
pub(in crate::control) async fn all(core: &Arc<Core>, session: &str) -> Result<i64> {
    Ok(compacted(core, session, Some(0)).await?.messages)
}

async fn compacted(core: &Arc<Core>, name: &str, keep: Option<i64>) -> Result<Compacted> {
    check_session(name)?;
    let _alone = core.turns.conversations.lock(name.to_owned()).await;
    let session = active(core, name).await?;
    let id = session.id;
    let before = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let counter = counter(core, &before).await?;
    let settings = core.config.get();
    let (origin, asks) = (core.store.origin().to_owned(), settings.model.provider.is_some());
    let done = core.store.write(move |c| {
        let mut talk = conversation::of(c, id)?;
        let mut limits = Limits::of(&talk, &settings.conversation);
        limits.keep = keep.unwrap_or(limits.keep);
        let tokens_before = talk.used;
        let done = compaction::compact(c, &origin, &mut talk, limits, &counter, session.app.as_deref(), asks)?;
        conversation::save(c, &origin, &talk)?;
        let summary = summaries::newest(c, id, talk.cleared_to)?;
        Ok(Compacted {
            session: session.name,
            messages: done.messages,
            tokens_before,
            tokens_after: talk.used,
            facts: done.facts,
            summary: summary.map(|kept| kept.info),
        })
    });
    let done = done.await?;
    if asks && done.messages > 0 {
        core.jobs.nudge(SUMMARIES_JOB);
    }
    Ok(done)
}

/// `conversation.clear`
///
/// # Errors
/// When the session has ended.
pub async fn clear(core: &Arc<Core>, params: &ClearParams) -> Result<Cleared> {
    let name = params.session();
    check_session(name)?;
    let _alone = core.turns.conversations.lock(name.to_owned()).await;
    let session = active(core, name).await?;
    let (origin, forget) = (core.store.origin().to_owned(), params.forget_context);
    let cleared = core.store.write(move |c| {
        let mut talk = conversation::of(c, session.id)?;
        let gone = talk.in_context();
        talk.cleared_to = talk.position;
        talk.used = talk.tokens - messages::running(c, talk.session, talk.cleared_to)?;
        if forget {
            talk.context.clear();
            talk.rolling.clear();
        }
        conversation::save(c, &origin, &talk)?;
        Ok(Cleared { session: session.name, messages: gone })
    });
    Ok(cleared.await?)
}
