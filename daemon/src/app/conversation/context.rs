//! `conversation.context`: the messages for the model's next turn.
//!
//! This module loads the parts of a context, and `assemble` fits them into the token budget. The background is loaded
//! first (`background`), because it determines how many tokens are left. Then come the recent turns, the statements
//! that represent older turns, and the older sentences that match the current question.
//!
//! * If the whole conversation fits, all of it is included.
//! * Otherwise the start of the turns moves in *steps* (`assemble::Plan`): the conversation as it was when the current
//!   step began determines the first turn. Within a step a new turn normally only appends, so that a prompt cache stays
//!   valid. The newest step of the conversation is always included.
//! * Statements, a written summary and counts represent the messages before the first turn. Tokens that they cannot use
//!   go to the turns. More turns leave fewer statements, so `select` repeats this up to `SPLITS` times.
//! * The plan is based on estimates. While more than `MAX_UNUSED` per cent of the budget stays unused, `build` tries
//!   again with more turns, up to `MAX_ATTEMPTS` times. If long messages do not fit after all, `after_dropped` moves
//!   the first turn to after these messages.
//!
//! The other thresholds come from the settings: `allocation` splits the budget, and `keep` newest messages stay
//! unshortened while they fit.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::context::{
    Allocation, ContextPart, ConversationContext, ConversationContextParams, Format, ModelContext, Omission,
};
use afd_proto::conversation::{Content, Message, Part, RecordedMessage, Role};
use base64::Engine;
use serde_json::Value;

use super::measures::percent_saved;
use super::{as_i64, background, conversation_of, counter};
use crate::app::recall::Recall;
use crate::app::recall::messages as said_about;
use crate::app::session::{context_of, known};
use crate::app::{Core, Error, Methods, Result};
use afd_base::model::Counter;
use afd_base::task::run_blocking;
use afd_base::text::cut;
use afd_conversation::assemble::{self, Assembled, Draft, History, Plan, Start};
use afd_conversation::compaction::Limits;
use afd_conversation::{Conversation, budget, kept, messages, prepared, search, shapes, summaries, totals};
use afd_store::{Connection, Result as Stored, artifact};
use afd_workspace::{Session, tasks};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConversationContext, _, _>(|core, p| async move { context(&core, &p).await });
}

/// Maximum length of the part of the search text that comes from the last request, in characters.
const MAX_QUERY_REQUEST: usize = 1_500;
/// Maximum length of the part of the search text that comes from the current task, in characters.
const MAX_QUERY_TASK: usize = 300;

/// `conversation.context`: assembles the messages for the model's next turn within a token budget.
///
/// # Errors
/// `NOT_FOUND` if there is no such session or conversation, `INVALID_PARAMS` if the budget is out of range.
pub async fn context(core: &Arc<Core>, params: &ConversationContextParams) -> Result<ModelContext> {
    let session = known(core, params.session()).await?;
    let (id, name) = (session.id, params.conversation.clone());
    let conversation = core.store.read_all(move |c| conversation_of(c, id, name.as_deref())).await??;
    let settings = core.config.get().conversation.clone();
    let budget = params.budget.map_or(Limits::of(&conversation, &settings).tokens, as_i64);
    let counter = counter(core, &conversation).await?;
    Recall::read_first(core, None).await?;
    let allocation = budget::allocate(budget, &settings);
    let tools_tokens = tools_tokens(params.tools.as_deref(), &counter);
    if tools_tokens >= budget {
        return Err(Error::param(
            "tools",
            "definitions that leave room in the budget",
            format!("{tools_tokens} of {budget} tokens"),
        ));
    }
    let format = params.format();
    let request = Request { budget: budget - tools_tokens, allocation, keep: as_i64(settings.keep_recent) };
    let name = params.conversation.clone();
    let (own, called, model) = (core.clone(), session.name.clone(), counter.clone());
    let loaded = core.store.read_all(move |c| {
        let Ok(conversation) = conversation_of(c, id, name.as_deref())? else { return Ok(None) };
        let made = build(&own.recall, c, &session, &conversation, &request, &model)?;
        Ok(Some(Loaded {
            pictures: pictures(c, &made.messages)?,
            context: context_of(c, &conversation, &session.name)?,
            all: said(c, &conversation, conversation.cleared_to)?,
            made,
        }))
    });
    let loaded = loaded.await?.ok_or_else(|| super::no_conversation(params.conversation.as_deref()))?;
    let Loaded { mut made, pictures, context, all } = loaded;
    let tokens = made.tokens + tools_tokens;
    // Files are read after the database snapshot has ended, because reading them may take long.
    let shaped = run_blocking(move || {
        show_pictures(&mut made.messages, &pictures);
        shape(made, format)
    });
    let Shaped { messages, system, stable_messages, parts, left_out } = shaped.await?;
    Ok(ModelContext {
        context,
        session: called,
        tokens,
        tools_tokens,
        budget,
        tokenizer: counter.name().to_owned(),
        parts,
        stable_messages,
        allocation,
        left_out,
        messages,
        system,
        tokens_of_all: all,
        saved_percent: percent_saved(tokens, all),
    })
}

/// Parts of a context, as loaded from the database.
struct Loaded {
    made: Assembled,
    /// Picture files for the context, by artifact uid.
    pictures: HashMap<String, PathBuf>,
    context: BTreeMap<String, String>,
    all: i64,
}

/// A context in a provider's message format.
struct Shaped {
    messages: Vec<Value>,
    system: Option<Vec<Value>>,
    stable_messages: i64,
    parts: Vec<ContextPart>,
    left_out: Vec<Omission>,
}

/// Converts a context to a message format. In the OpenAI format the question comes last, after the current state.
fn shape(mut made: Assembled, format: Format) -> Shaped {
    let mut stable = usize::try_from(made.stable).unwrap_or(usize::MAX).min(made.messages.len());
    if format == Format::Openai
        && let Some(question) = put_question_last(&mut made)
    {
        stable = stable.min(question);
    }
    let (fixed, _) = shapes::shaped(made.messages[..stable].to_vec(), &[], format);
    let (messages, system) = shapes::shaped(made.messages, &made.system, format);
    // In formats with alternating roles, the last stable message may have been joined with one that changes each time.
    let stable = fixed.iter().zip(&messages).take_while(|(fixed, sent)| fixed == sent).count();
    Shaped { stable_messages: as_i64_len(stable), messages, system, parts: made.parts, left_out: made.left_out }
}

/// Swaps the question and the current state that follows it. Returns the previous index of the question; `None` if
/// nothing was swapped.
fn put_question_last(made: &mut Assembled) -> Option<usize> {
    let [.., history, now] = made.parts.as_mut_slice() else { return None };
    let question = made.messages.len().checked_sub(2)?;
    if history.part != "history" || now.part != "now" || made.messages[question].role != Role::User {
        return None;
    }
    made.messages.swap(question, question + 1);
    // The parts describe the messages in order, so the question becomes a part of its own.
    history.messages -= 1;
    history.tokens -= made.question_tokens;
    let part = ContextPart { part: history.part.clone(), messages: 1, tokens: made.question_tokens };
    made.parts.push(part);
    Some(question)
}

fn as_i64_len(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Counts the tokens of tool definitions in a request.
pub(super) fn tools_tokens(tools: Option<&[Value]>, counter: &Counter) -> i64 {
    tools.unwrap_or_default().iter().map(|tool| counter.count(&tool.to_string()) + 4).sum()
}

/// Maximum length of the question for which older messages are searched, in characters.
const MAX_QUESTION: usize = 2_000;
/// Maximum number of older messages that are quoted for a question.
const RECALLED: usize = 100;

/// Limits for the context to build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Maximum number of tokens in the messages.
    pub budget: i64,
    /// How the budget is split between the parts of the context.
    pub allocation: Allocation,
    /// Number of newest messages that stay unshortened while they fit.
    pub keep: i64,
}

/// Returns the number of tokens in the messages after a position.
fn said(c: &Connection, conversation: &Conversation, after: i64) -> Stored<i64> {
    Ok(conversation.tokens - totals::running(c, conversation.id, after)?)
}

/// Builds the context for a conversation.
pub(super) fn build(
    recall: &Recall,
    c: &Connection,
    session: &Session,
    conversation: &Conversation,
    request: &Request,
    counter: &Counter,
) -> Stored<Assembled> {
    let begin = conversation.begins_after();
    let (_, rules) = messages::count_rules(c, conversation.id, begin)?;
    let said = said(c, conversation, begin)? - rules;
    let asked = asked(c, session, conversation)?;
    let background = background::load(recall, c, session, conversation, &asked)?;
    let draft = Draft::new(&background, request.budget, said, &request.allocation, counter);
    let last = totals::running(c, conversation.id, conversation.position - request.keep)?;
    let among = conversation.cleared_to + 1..conversation.position;
    let ids = (session.id, conversation.id);
    let about = said_about::about(recall, c, cut::head(&asked, MAX_QUESTION), ids, among, RECALLED)?;
    let mut plan =
        draft.plan(said, conversation.tokens - last).for_question((about.share, about.words.len()), request.budget);
    let compacted = conversation.dropped_to > conversation.cleared_to;
    let growth = totals::growth(c, conversation.id, ANSWERS)?;
    let moves = draft.moves(&plan, said, growth);
    let mut history = History { fills: !(plan.whole && compacted), moves, ..History::default() };
    if plan.whole && compacted {
        plan = draft.plan_with_memory(plan);
    }
    if plan.whole {
        history.recent = messages::between(c, conversation.id, begin, conversation.position)?;
        return Ok(Assembled { first: begin + 1, ..draft.finish(&history, &plan) });
    }
    history.replaced = kept::replaced(c, conversation.id)?;
    history.recalled = search::recall(c, conversation.id, &about.words, &about.positions)?;
    let mut spare = 0;
    let mut loaded = conversation.position + 1;
    for attempt in 1.. {
        let first = select(c, conversation, &plan, request, spare, &mut history)?;
        if history.fill.is_empty()
            && assemble::memory_wanted(&history.facts) < plan.memory + plan.step * 2 + plan.reserve
        {
            history.fill = fill(c, conversation, first, request.budget)?;
        }
        // Each attempt starts at an earlier message than the previous one.
        history.fill.retain(|m| m.position < first);
        if first < loaded {
            let more = messages::between(c, conversation.id, first - 1, loaded - 1)?;
            history.recent.splice(0..0, more);
            loaded = first;
        }
        history.request = request_of_turns(c, conversation, first, &history)?;
        let made = draft.clone().finish(&history, &plan);
        let unused = request.budget - made.tokens;
        if !history.fills
            || unused * 100 <= request.budget * MAX_UNUSED
            || attempt == MAX_ATTEMPTS
            || first <= begin + 1
        {
            return match made.dropped_to {
                dropped if dropped < first => Ok(Assembled { first, ..made }),
                dropped => after_dropped(c, conversation, request.budget, dropped + 1, (history, &plan), &draft),
            };
        }
        // The estimate by brief lengths left more tokens unused than planned. The next attempt includes more turns.
        spare += unused.max(plan.step);
    }
    Ok(Assembled::default())
}

/// Rebuilds a context whose turns start later than planned because long messages did not fit. The memory part
/// represents the messages before them.
fn after_dropped(
    c: &Connection,
    conversation: &Conversation,
    budget: i64,
    first: i64,
    (mut history, plan): (History, &Plan),
    draft: &Draft<'_>,
) -> Stored<Assembled> {
    history.recent.retain(|m| m.position >= first);
    history.fill = fill(c, conversation, first, budget)?;
    history.request = request_of_turns(c, conversation, first, &history)?;
    history.facts = kept::facts(c, conversation.id, (conversation.cleared_to, first), max_facts(budget))?;
    stand_in(c, conversation, first, &mut history)?;
    // From here on only as much is dropped as necessary, not a whole step. Tokens that the turns leave unused go to the
    // memory.
    let mut plan = Plan { step: 1, reserve: 0, ..*plan };
    let mut made = draft.clone().finish(&history, &plan);
    let unused = budget - made.tokens;
    if unused * 100 > budget * MAX_UNUSED {
        plan.memory += unused;
        made = draft.clone().finish(&history, &plan);
    }
    Ok(Assembled { first, ..made })
}

/// Returns the request that the first turns belong to, if they do not begin with a request.
fn request_of_turns(
    c: &Connection,
    conversation: &Conversation,
    first: i64,
    history: &History,
) -> Stored<Option<RecordedMessage>> {
    let starts_inside = history.recent.first().is_some_and(|m| m.message.role != Role::User);
    if starts_inside { messages::request_of(c, conversation.id, conversation.begins_after(), first) } else { Ok(None) }
}

/// Loads the written summary of the messages before the first turn, and counts these messages and their tokens.
fn stand_in(c: &Connection, conversation: &Conversation, first: i64, history: &mut History) -> Stored<()> {
    let id = conversation.id;
    let written = summaries::written(c, id, conversation.cleared_to, first - 1)?;
    history.written = written.map(|kept| kept.info.text);
    let before = totals::running(c, id, conversation.cleared_to)?;
    history.older = (first - 1 - conversation.cleared_to, totals::running(c, id, first - 1)? - before);
    Ok(())
}

/// Number of previous turns to consider. The longest of them is the expected maximum length of the next turn.
const ANSWERS: i64 = 8;
/// Maximum percentage of the budget that may stay unused. A context with more unused tokens is built again with more
/// turns.
const MAX_UNUSED: i64 = 5;
/// Maximum number of attempts to build a context.
const MAX_ATTEMPTS: usize = 5;
/// Maximum number of times that tokens unused by the memory part are given to the turns.
const SPLITS: usize = 12;

/// Returns the current question: the user's newest message, and the current task.
fn asked(c: &Connection, session: &Session, conversation: &Conversation) -> Stored<String> {
    let newest = messages::request_of(c, conversation.id, conversation.cleared_to, i64::MAX)?;
    let text = newest.map(|m| prepared::said_text(&m.message)).unwrap_or_default();
    let task = tasks::current(c, session.id)?.map(|t| t.description).unwrap_or_default();
    Ok(format!("{}\n{}", cut::head(&text, MAX_QUERY_REQUEST), cut::head(&task, MAX_QUERY_TASK)))
}

/// Selects the turns of a conversation that does not fit, and loads the statements that represent older turns. `spare`
/// tokens are available for more turns than planned. Returns the position of the first turn.
fn select(
    c: &Connection,
    conversation: &Conversation,
    plan: &Plan,
    request: &Request,
    spare: i64,
    history: &mut History,
) -> Stored<i64> {
    let (id, begin) = (conversation.id, conversation.begins_after());
    let step = Step::of(c, conversation, plan, request.keep)?;
    let mut at_start = plan.at_start(0);
    let mut first = step.first(c, id, begin, at_start)?;
    history.facts = kept::facts(c, id, (conversation.cleared_to, first), max_facts(request.budget))?;
    // Tokens that the memory cannot use go to the turns. More turns leave fewer statements, so the memory then needs
    // fewer tokens.
    for _ in 0..SPLITS {
        let unused = (plan.memory - assemble::memory_wanted(&history.facts)).max(0) + spare;
        if at_start >= plan.at_start(unused) {
            break;
        }
        at_start = plan.at_start(unused);
        first = step.first(c, id, begin, at_start)?;
        history.facts.retain(|fact| fact.position < first);
    }
    // While all turns are included, they are cut only as much as necessary.
    history.start = if first > begin + 1 {
        Start { upto: step.newest, settled_to: step.kept_after, tokens: at_start }
    } else {
        Start::default()
    };
    stand_in(c, conversation, first, history)?;
    Ok(first)
}

/// State of a conversation when its current step began.
struct Step {
    /// Position of the newest message.
    newest: i64,
    /// Position at which the newest step of the conversation begins. That step is always included.
    last: i64,
    /// Position after which messages stay unshortened.
    kept_after: i64,
    /// Number of tokens in the messages that stay unshortened.
    kept: i64,
}

impl Step {
    /// Returns the step of a conversation in which `keep` messages stay unshortened while they fit.
    fn of(c: &Connection, conversation: &Conversation, plan: &Plan, keep: i64) -> Stored<Self> {
        let (id, begin) = (conversation.id, conversation.begins_after());
        let base = totals::running(c, id, begin)?;
        let began = base + plan.began(conversation.tokens - base);
        let newest = totals::first_reaching(c, id, begin, began)?.unwrap_or(conversation.position);
        let total = totals::running(c, id, newest)?;
        let fits = totals::first_reaching(c, id, begin, total - plan.at_start(0))?.unwrap_or(begin);
        // A tool result whose call is older is shortened together with it.
        let kept_from = messages::next_step_start(c, id, fits.max(newest - keep) + 1)?.unwrap_or(newest + 1);
        let kept_after = (kept_from - 1).min(newest);
        let last = messages::last_matching(c, id, messages::Wanted::Said, (begin + 1, conversation.position))?;
        let last = last.unwrap_or(conversation.position);
        Ok(Self { newest, last, kept_after, kept: total - totals::running(c, id, kept_after)? })
    }

    /// Returns the position of the first turn, if turns may have `tokens` tokens at the start of the step. The request
    /// of the first turn counts towards them.
    fn first(&self, c: &Connection, id: i64, begin: i64, tokens: i64) -> Stored<i64> {
        let first = self.first_of(c, id, begin, tokens)?;
        let request = messages::request_of(c, id, begin, first + 1)?.filter(|m| m.position < first);
        let Some(request) = request else { return Ok(first) };
        self.first_of(c, id, begin, tokens - prepared::brief_tokens(request.message.role, request.tokens))
    }

    fn first_of(&self, c: &Connection, id: i64, begin: i64, tokens: i64) -> Stored<i64> {
        let brief = totals::brief_running(c, id, self.kept_after)? - (tokens - self.kept).max(0);
        if brief <= totals::brief_running(c, id, begin)? {
            return Ok(begin + 1);
        }
        let reaching = totals::first_reaching_brief(c, id, begin, brief)?.unwrap_or(self.kept_after);
        Ok(messages::next_step_start(c, id, reaching + 1)?.unwrap_or(self.last).min(self.last))
    }
}

/// Returns the maximum number of statements to read: from the user, and from each other role, whose statements count
/// less. Both numbers are higher than what could fit into the budget.
fn max_facts(budget: i64) -> (usize, usize) {
    let of_user = usize::try_from(budget / 20).unwrap_or(0).clamp(100, 600);
    (of_user, of_user / 2)
}

/// Maximum number of older messages that are read to fill up a context.
const MAX_FILL: i64 = 400;
/// Number of budget tokens for each older message that is read to fill up a context.
const FILL_TOKENS: i64 = 60;

/// Returns the messages before `first`, newest first.
fn fill(c: &Connection, conversation: &Conversation, first: i64, budget: i64) -> Stored<Vec<RecordedMessage>> {
    let count = (budget / FILL_TOKENS).clamp(8, MAX_FILL);
    let after = (first - 1 - count).max(conversation.cleared_to);
    let mut older = messages::between(c, conversation.id, after, first - 1)?;
    older.retain(|m| m.message.role != Role::System);
    older.reverse();
    Ok(older)
}

/// Returns the picture files for messages, by artifact uid.
fn pictures(c: &Connection, messages: &[Message]) -> Stored<HashMap<String, PathBuf>> {
    let uids = messages.iter().flat_map(prepared::pictures);
    let files = uids.map(|uid| Ok(artifact::file_of(c, uid)?.map(|file| (uid.to_owned(), file))));
    Ok(files.collect::<Stored<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Loads the bytes of pictures from their artifacts; a file that cannot be read leaves the picture without data.
fn show_pictures(messages: &mut [Message], files: &HashMap<String, PathBuf>) {
    for message in messages {
        let Content::Parts(parts) = &mut message.content else { continue };
        for part in parts {
            let Part::Image { data, artifact: Some(uid), .. } = part else { continue };
            let bytes = files.get(uid).and_then(|file| std::fs::read(file).ok());
            *data = bytes.map(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes));
        }
    }
}
