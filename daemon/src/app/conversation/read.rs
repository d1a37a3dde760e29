//! `conversation.list`, `conversation.search`, `conversation.usage`, `conversation.summary`, `conversation.working`:
//! read-only methods.

use std::sync::Arc;

use afd_proto::context::{
    ActiveElement, ConversationUsage, ConversationWorking, Usage, UsageParams, WorkingMemory, WorkingParams,
};
use afd_proto::conversation::{
    ConversationList, ConversationListParams, ConversationSearch, ConversationSummary, FoundMessages, Messages,
    RecordedMessage, Role, SearchParams, Summary, SummaryParams,
};
use afd_proto::notes::TermMatch;
use serde_json::Value;

use super::context::{Request, build, tools_tokens};
use super::measures::percent_saved;
use super::{as_i64, conversation_of, counter, usage};
use crate::app::paging::page;
use crate::app::recall::messages::{self as said, Said};
use crate::app::recall::{Recall, unindexed};
use crate::app::session::{context_of, known};
use crate::app::{Core, Error, Methods, Result};
use afd_base::model::Counter;
use afd_base::task::run_blocking;
use afd_base::text::tokens;
use afd_conversation::compaction::Limits;
use afd_conversation::{Conversation, budget, messages, prepared, rolling, summaries, totals};
use afd_experience::memory::{log, sessions as memory};
use afd_screen::page::{refs, target};
use afd_workspace::{Session, tasks};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConversationList, _, _>(|core, p| async move { list(&core, &p).await });
    methods.add::<ConversationSearch, _, _>(|core, p| async move { search(&core, &p).await });
    methods.add::<ConversationUsage, _, _>(|core, p| async move { used(&core, &p).await });
    methods.add::<ConversationSummary, _, _>(|core, p| async move { summary(&core, &p).await });
    methods.add::<ConversationWorking, _, _>(|core, p| async move { working(&core, &p).await });
}

/// `conversation.list`: returns recorded messages, newest first.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn list(core: &Arc<Core>, params: &ConversationListParams) -> Result<Messages> {
    let page = page(params.limit(), params.cursor)?;
    let session = known(core, params.session()).await?;
    let (id, name) = (session.id, params.conversation.clone());
    let conversation = core.store.read_all(move |c| conversation_of(c, id, name.as_deref())).await??;
    let (request, counter) = at_limit(core, &conversation, 0).await?;
    let own = core.clone();
    let listed = core.store.read_all(move |c| {
        let first = build(&own.recall, c, &session, &conversation, &request, &counter)?.first;
        let (mut messages, next_cursor) = messages::newest(c, conversation.id, page)?;
        messages.iter_mut().for_each(|m| m.in_context = m.position >= first);
        Ok(Messages { messages, next_cursor })
    });
    Ok(listed.await?)
}

/// Returns the request for a context at the conversation's token limit minus `tools` tokens for tool definitions, and
/// the token counter for it.
async fn at_limit(core: &Arc<Core>, conversation: &Conversation, tools: i64) -> Result<(Request, Counter)> {
    Recall::read_first(core, None).await?;
    let settings = &core.config.get().conversation;
    let limit = Limits::of(conversation, settings).tokens;
    let request = Request {
        budget: (limit - tools).max(1),
        allocation: budget::allocate(limit, settings),
        keep: as_i64(settings.keep_recent),
    };
    Ok((request, counter(core, conversation).await?))
}

/// Composition of a conversation's context at its token limit.
struct Sent {
    /// Number of tokens in the context and the tool definitions.
    tokens: i64,
    /// Number of tokens that stay as the conversation grows: all of them while the whole conversation fits, else those
    /// of the system and knowledge parts and the tool definitions.
    fixed: i64,
    /// Number of messages that are included as turns.
    turns: i64,
}

/// Returns the composition of a conversation's context at its token limit.
async fn sent(
    core: &Arc<Core>,
    session: &Session,
    conversation: &Conversation,
    tools: Option<&[Value]>,
) -> Result<Sent> {
    let tools = tools_tokens(tools, &counter(core, conversation).await?);
    let (request, counter) = at_limit(core, conversation, tools).await?;
    let (session, conversation) = (session.clone(), conversation.clone());
    let own = core.clone();
    let made = core.store.read_all(move |c| build(&own.recall, c, &session, &conversation, &request, &counter)).await?;
    let part = |name: &str| made.parts.iter().find(|p| p.part == name);
    let tokens = made.tokens + tools;
    let beside = ["system", "knowledge"].iter().filter_map(|name| part(name)).map(|p| p.tokens).sum::<i64>() + tools;
    let fixed = if part("summary").is_none() { tokens } else { beside };
    Ok(Sent { tokens, fixed, turns: part("history").map_or(0, |p| p.messages) })
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
    let (id, name) = (session.id, params.conversation.clone());
    let conversation = core.store.read_all(move |c| conversation_of(c, id, name.as_deref())).await??;
    let sent = sent(core, &session, &conversation, params.tools.as_deref()).await?;
    let mut usage = usage(&core.config, params.session(), &conversation, (sent.tokens, sent.turns));
    usage.asked = match (&params.text, params.tokens) {
        (Some(text), _) => {
            let (counter, text) = (counter(core, &conversation).await?, text.clone());
            Some(run_blocking(move || counter.count(&text)).await?)
        }
        (None, tokens) => tokens.map(as_i64),
    };
    usage.can_afford = usage.asked.map(|asked| budget::can_afford(sent.fixed, asked, usage.limit, &usage.allocation));
    Ok(usage)
}

/// `conversation.summary`: returns the rolling summary and the messages that would be sent with it.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn summary(core: &Arc<Core>, params: &SummaryParams) -> Result<Summary> {
    let session = known(core, params.session()).await?;
    let (id, name, which) = (session.id, session.name.clone(), params.conversation.clone());
    let conversation = core.store.read_all(move |c| conversation_of(c, id, which.as_deref())).await??;
    let counter = counter(core, &conversation).await?;
    let keep = usize::try_from(core.config.get().conversation.recent_messages).unwrap_or(2);
    let summed = core.store.read_all(move |c| {
        let id = conversation.id;
        // Two extra: one for a request that has not been answered yet, one to find out whether there are older
        // messages.
        let mut said: Vec<RecordedMessage> =
            messages::last_requests_and_answers(c, id, conversation.cleared_to, keep + 2)?;
        let open = usize::from(said.last().is_some_and(|m| m.message.role == Role::User));
        let more = said.len() > keep + open;
        said.drain(..said.len().saturating_sub(keep + open));
        let last = said.into_iter().map(|mut m| {
            m.message.tool_calls.clear();
            m.message
        });
        let lines = rolling::shown(&conversation.rolling);
        let sent = rolling::messages(&lines, last.collect(), more);
        let tokens: i64 = sent.iter().map(|m| prepared::tokens(m, &counter)).sum();
        let all = conversation.tokens - totals::running(c, id, conversation.cleared_to)?;
        Ok(Summary {
            lines,
            messages: sent,
            tokens,
            tokens_of_all: all,
            saved_percent: percent_saved(tokens, all),
            context: context_of(c, &conversation, &name)?,
            compacted: summaries::newest(c, id, conversation.cleared_to)?.map(|kept| kept.info),
            session: name,
        })
    });
    Ok(summed.await?)
}

/// Maximum number of recent observations returned.
const MAX_OBSERVATIONS: usize = 10;

/// `conversation.working`: returns the agent's working memory: current task, recent observations, elements with an
/// alias, context keys.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn working(core: &Arc<Core>, params: &WorkingParams) -> Result<WorkingMemory> {
    let session = known(core, params.session()).await?;
    let (id, name, which) = (session.id, session.name.clone(), params.conversation.clone());
    let conversation = core.store.read_all(move |c| conversation_of(c, id, which.as_deref())).await??;
    let sent = sent(core, &session, &conversation, None).await?;
    let own = conversation.clone();
    let gathered = core.store.read_all(move |c| {
        let seen = log::context(c, &name, None)?;
        let device = log::last_device(c, &name, None)?;
        let observations = memory::recent(c, id, MAX_OBSERVATIONS)?;
        Ok((tasks::current(c, id)?, observations, context_of(c, &own, &name)?, seen.stale, device))
    });
    let (current_task, recent_observations, context, stale, device) = gathered.await?;
    let shown = device.and_then(|device| core.experience.views.shown(id, device));
    let active_elements = shown.as_deref().map(|shown| {
        let mut all: Vec<_> = shown.numbered().collect();
        all.sort_by_key(|(number, _)| *number);
        let target = |node| target::describe(&shown.snapshot, node);
        all.into_iter().map(|(n, r)| ActiveElement { alias: refs::alias(n), target: target(r.node) }).collect()
    });
    Ok(WorkingMemory {
        usage: usage(&core.config, &session.name, &conversation, (sent.tokens, sent.turns)),
        session: session.name,
        current_task,
        recent_observations,
        active_elements: active_elements.unwrap_or_default(),
        observation_id: shown.map(|s| s.observation.clone()),
        stale,
        context,
    })
}

/// `conversation.search`: finds recorded messages by their words, best match first.
///
/// # Errors
/// `NOT_FOUND` if there is no such session or conversation, `INVALID_PARAMS` if the query has no words.
pub async fn search(core: &Arc<Core>, params: &SearchParams) -> Result<FoundMessages> {
    let limit = params.limit() as usize;
    if tokens::of_query(&params.query).is_empty() {
        return Err(Error::param("query", "at least one word", format!("{:?}", params.query)));
    }
    if params.everywhere && params.conversation.is_some() {
        return Err(Error::param("conversation", "no conversation with everywhere", "both"));
    }
    let session = if params.everywhere { None } else { Some(known(core, params.session()).await?.id) };
    let mut said = Said { session, role: params.role, since: params.since, until: params.until, ..Said::default() };
    if let (Some(id), Some(name)) = (session, params.conversation.clone()) {
        said.thread = Some(core.store.read_all(move |c| conversation_of(c, id, Some(&name))).await??.id);
    }
    Recall::read_first(core, None).await?;
    let (own, query) = (core.clone(), params.query.clone());
    let found = core.store.read_all(move |c| {
        let (messages, all) = said::find(&own.recall, c, &query, &said, limit)?;
        Ok((messages, all, unindexed(c)?))
    });
    let (messages, all, missing) = found.await?;
    let matched = if all { TermMatch::All } else { TermMatch::Any };
    Ok(FoundMessages { messages, matched, missing: missing.into_iter().collect() })
}
