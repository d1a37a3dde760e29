//! `conversation.list`, `conversation.usage`, `conversation.summary`, `conversation.working`: the calls that only read.

use std::sync::Arc;

use afd_proto::context::{ActiveElement, Usage, UsageParams, WorkingMemory, WorkingParams};
use afd_proto::conversation::{ConversationListParams, Messages, RecordedMessage, Role, Summary, SummaryParams};
use afd_proto::session::SessionCall;

use super::super::paging::page;
use super::super::session::{context_of, known};
use super::super::{Core, Error, Result};
use super::{as_i64, counter, usage};
use crate::device;
use crate::memory::{log, sessions as memory};
use crate::page::target;
use crate::session::conversation::{self, budget, messages, rolling, summaries};
use crate::session::tasks;
use crate::task::run_blocking;

/// `conversation.list`: returns recorded messages, newest first.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn list(core: &Arc<Core>, params: &ConversationListParams) -> Result<Messages> {
    let page = page(params.limit, params.cursor, 20)?;
    let session = known(core, params.session()).await?.id;
    let listed = core.store.read_all(move |c| {
        let conversation = conversation::of(c, session)?;
        let (mut messages, next_cursor) = messages::newest(c, session, page)?;
        messages.iter_mut().for_each(|m| m.in_context = m.position > conversation.begins_after());
        Ok(Messages { messages, next_cursor })
    });
    Ok(listed.await?)
}

/// `conversation.usage`: reports how full the context is, and whether a given text or number of tokens still fits.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn used(core: &Arc<Core>, params: &UsageParams) -> Result<Usage> {
    if params.tokens.is_some() && params.text.is_some() {
        return Err(Error::param("text", "either tokens or text", "both"));
    }
    let session = known(core, params.session()).await?;
    let conversation = core.store.read_all(move |c| conversation::of(c, session.id)).await?;
    let mut usage = usage(core, params.session(), &conversation);
    usage.asked = match (&params.text, params.tokens) {
        (Some(text), _) => {
            let (counter, text) = (counter(core, &conversation).await?, text.clone());
            Some(run_blocking(move || counter.count(&text)).await?)
        }
        (None, tokens) => tokens.map(as_i64),
    };
    usage.can_afford = usage.asked.map(|asked| budget::can_afford(usage.used, asked, usage.limit, &usage.allocation));
    Ok(usage)
}

/// `conversation.summary`: returns the rolling summary and the messages that would be sent with it.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn summary(core: &Arc<Core>, params: &SummaryParams) -> Result<Summary> {
    let session = known(core, params.session()).await?;
    let (id, name) = (session.id, session.name.clone());
    let conversation = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let counter = counter(core, &conversation).await?;
    let keep = usize::try_from(core.config.get().conversation.recent_messages).unwrap_or(2);
    let summed = core.store.read_all(move |c| {
        let conversation = conversation::of(c, id)?;
        // Two extra: one for a request that has not been answered yet, one to find out whether there are older messages.
        let mut said: Vec<RecordedMessage> = messages::last_requests_and_answers(c, id, conversation.cleared_to, keep + 2)?;
        let open = usize::from(said.last().is_some_and(|m| m.message.role == Role::User));
        let more = said.len() > keep + open;
        said.drain(..said.len().saturating_sub(keep + open));
        let last = said.into_iter().map(|mut m| {
            m.message.tool_calls.clear();
            m.message
        });
        let lines = rolling::shown(&conversation.rolling);
        let sent = rolling::messages(&lines, last.collect(), more);
        let tokens: i64 = sent.iter().map(|m| messages::tokens(m, &counter)).sum();
        let all = conversation.tokens - messages::running(c, id, conversation.cleared_to)?;
        Ok(Summary {
            lines,
            messages: sent,
            tokens,
            tokens_of_all: all,
            saved_percent: percent_saved(tokens, all),
            context: context_of(c, id, &name)?,
            compacted: summaries::newest(c, id, conversation.cleared_to)?.map(|kept| kept.info),
            session: name,
        })
    });
    Ok(summed.await?)
}

/// Maximum number of recent observations returned.
const MAX_OBSERVATIONS: usize = 10;

/// `conversation.working`: returns the agent's working memory: current task, recent observations, elements with an alias, context keys.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn working(core: &Arc<Core>, params: &WorkingParams) -> Result<WorkingMemory> {
    let session = known(core, params.session()).await?;
    let (id, name) = (session.id, session.name.clone());
    let gathered = core.store.read_all(move |c| {
        let seen = log::context(c, &name, None)?;
        let device = seen.device.as_deref().map(|device| device::find(c, device)).transpose()?.flatten();
        let observations = memory::recent(c, id, MAX_OBSERVATIONS)?;
        Ok((conversation::of(c, id)?, tasks::current(c, id)?, observations, context_of(c, id, &name)?, seen.stale, device))
    });
    let (conversation, current_task, recent_observations, context, stale, device) = gathered.await?;
    let shown = device.and_then(|device| core.views.shown(id, device));
    let mut elements: Vec<(usize, ActiveElement)> = Vec::new();
    if let Some(shown) = &shown {
        elements.extend(shown.refs.iter().map(|(alias, found)| {
            let target = target::describe(&shown.snapshot, found.what.node);
            (alias.trim_start_matches("@n").parse().unwrap_or(usize::MAX), ActiveElement { alias: alias.clone(), target })
        }));
    }
    elements.sort_by_key(|(number, _)| *number);
    Ok(WorkingMemory {
        usage: usage(core, &session.name, &conversation),
        session: session.name,
        current_task,
        recent_observations,
        active_elements: elements.into_iter().map(|(_, element)| element).collect(),
        observation_id: shown.map(|s| s.observation.clone()),
        stale,
        context,
    })
}

/// Returns the percentage of tokens that sending `sent` instead of `all` tokens avoids, rounded to one decimal.
pub(super) fn percent_saved(sent: i64, all: i64) -> f64 {
    if all <= 0 { 0.0 } else { ((all - sent).max(0) as f64 * 1000.0 / all as f64).round() / 10.0 }
}
