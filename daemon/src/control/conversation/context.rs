//! `conversation.context`: the messages for the model's next turn.
//!
//! This module collects the material: the rules, goal and tasks, knowledge of the app, the summary and facts that stand for older
//! messages, the recent turns, and what holds for the page on the screen. `assemble` then fits it into the token budget.
//!
//! Recent turns begin at the first start of a turn after the point that `assemble::recent_turns_start` yields, but never before the last
//! clearing or compaction. Older messages are represented by the summary that a language model wrote, if there is one, and by the
//! best extracted sentences since. Knowledge that depends on neither the current request nor the page (`knowledge`) is collected
//! apart from what does (`now`): it precedes the conversation in the context, so it must change rarely for a prompt cache to hold.

use std::sync::Arc;

use afd_proto::context::{ConversationContextParams, Format, ModelContext};
use afd_proto::conversation::{Content, Message, Part, Role};
use afd_proto::findings::BugStatus;
use afd_proto::memory::{Scope, SessionContext};
use afd_proto::notes::Note;
use afd_proto::session::SessionCall;
use base64::Engine;
use rusqlite::Connection;

use super::super::session::{context_of, known};
use super::super::{Core, Error, Result, experience};
use super::read::percent_saved;
use super::{as_i64, counter};
use crate::artifact;
use crate::memory::experience::Query;
use crate::memory::{Place, log, notes, observations};
use crate::page::pattern;
use crate::session::conversation::assemble::{self, Assembled, ContextInputs, Item};
use crate::session::conversation::compaction::Limits;
use crate::session::conversation::{self, Conversation, budget, kept, messages, shapes, summaries};
use crate::session::patterns::Reader;
use crate::session::{Session, bugs, page_models, patterns, tasks};
use crate::store::Result as Stored;
use crate::text;
use crate::visual::states;

/// Accepted budgets, tokens.
const BUDGET: std::ops::RangeInclusive<i64> = 64..=100_000_000;
/// Maximum number of items of each kind that are considered.
const MAX_BUGS: usize = 10;
const MAX_PATTERNS: usize = 30;
const MAX_NOTES: usize = 5;
const MAX_TASKS: usize = 5;
const MAX_EXPERIENCE: usize = 5;
/// Patterns with a lower confidence are left out.
const MIN_CONFIDENCE: f64 = 0.3;
/// Notes are searched for by this much of the last request, characters.
const MAX_QUERY_CHARS: usize = 400;

/// `conversation.context`: assembles the messages for the model's next turn within a token budget.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `INVALID_PARAMS` if the budget is out of range.
pub async fn context(core: &Arc<Core>, params: &ConversationContextParams) -> Result<ModelContext> {
    let session = known(core, params.session()).await?;
    let id = session.id;
    let conversation = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let settings = core.config.get().conversation.clone();
    let budget = params.budget.map_or(Limits::of(&conversation, &settings).tokens, as_i64);
    if !BUDGET.contains(&budget) {
        return Err(Error::param("budget", "64 to 100000000 tokens", budget));
    }
    let counter = counter(core, &conversation).await?;
    let allocation = budget::allocate(budget, &settings);
    let format = params.format.unwrap_or(Format::Afd);
    let made = core.store.read_all(move |c| {
        let conversation = conversation::of(c, id)?;
        let all = conversation.tokens - messages::running(c, id, conversation.cleared_to)?;
        let material = gather(c, &session, &conversation, all, (assemble::recent_turns_budget(&allocation, all), max_facts(budget)))?;
        let mut made: Assembled = assemble::assemble(&material, &allocation, budget, &counter);
        made.messages.iter_mut().try_for_each(|m| show_pictures(c, m))?;
        let (shaped, system) = shapes::shaped(&made.messages, format);
        let stable_messages = stable(&made, shaped.len(), format);
        Ok(ModelContext {
            context: context_of(c, id, &session.name)?,
            session: session.name,
            tokens: made.tokens,
            budget,
            tokenizer: counter.name().to_owned(),
            parts: made.parts,
            stable_messages,
            allocation,
            left_out: made.left_out,
            messages: shaped,
            system,
            tokens_of_all: all,
            saved_percent: percent_saved(made.tokens, all),
        })
    });
    Ok(made.await?)
}

/// Returns how many facts to read per role: more than could fit into the budget.
fn max_facts(budget: i64) -> usize {
    usize::try_from(budget / 40).unwrap_or(0).clamp(40, 400)
}

/// Returns how many of the leading shaped messages are stable, so that a prompt cache can cover them. The Anthropic format merges
/// messages so that roles alternate; there only the last message holds what changes each time.
fn stable(made: &Assembled, shaped: usize, format: Format) -> i64 {
    let now = i64::try_from(made.messages.len()).unwrap_or(i64::MAX) - made.stable;
    match format {
        Format::Anthropic => i64::try_from(shaped).unwrap_or(i64::MAX) - i64::from(now > 0),
        Format::Afd | Format::Openai => made.stable,
    }
}

/// Makes an item of one line, with whitespace collapsed.
fn item(kind: &'static str, text: impl Into<String>) -> Item {
    Item { kind, text: text.into().split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// Collects the material of a context. `said` is the number of tokens since the last clearing, `available` the number that recent turns may
/// take, `facts` how many facts to read per role.
fn gather(
    c: &Connection,
    session: &Session,
    conversation: &Conversation,
    said: i64,
    (available, facts): (i64, usize),
) -> Stored<ContextInputs> {
    let id = session.id;
    let (cleared, begins) = (conversation.cleared_to, conversation.begins_after());
    let before = messages::running(c, id, cleared)?;
    let from = before + assemble::recent_turns_start(said, available);
    let first = if from <= messages::running(c, id, begins)? {
        begins + 1
    } else {
        match messages::turn_after(c, id, begins, from)? {
            Some(first) => first,
            None => messages::last_turn(c, id, begins)?,
        }
    };
    let recent = messages::between(c, id, first - 1, conversation.position)?;
    let written = summaries::written(c, id, cleared, first - 1)?;
    let after = written.as_ref().map_or(cleared, |kept| kept.info.upto);
    let mut context = context_of(c, id, &session.name)?;
    let seen = log::context(c, &session.name, None)?;
    let app = context.get("app").cloned().or_else(|| session.app.clone()).unwrap_or_default();
    let page = context.remove("page");
    let rules = messages::rules(c, id, cleared)?;
    let (count, tokens) = messages::count_rules(c, id, cleared)?;
    let missing = (count - i64::try_from(rules.len()).unwrap_or(0), tokens - rules.iter().map(|r| r.tokens).sum::<i64>());
    let request = match recent.first() {
        Some(message) if message.message.role != Role::User => messages::request_of(c, id, cleared, message.position)?,
        _ => None,
    };
    let older = (first - 1 - cleared, messages::running(c, id, first - 1)? - before);
    let asked = recent.iter().rev().chain(&request).find(|m| m.message.role == Role::User).map(|m| m.message.content.text());
    let (known, omitted_bugs) = knowledge(c, session, &app)?;
    Ok(ContextInputs {
        omitted_rules: missing,
        rules,
        task: task(c, session)?,
        knowledge: known,
        omitted_bugs,
        written: written.map(|kept| kept.info.text),
        facts: kept::facts(c, id, after, first, facts)?,
        now: now(c, session, &app, page, seen, asked.as_deref().unwrap_or(""))?,
        context,
        request,
        recent,
        total_tokens: said,
        older,
    })
}

/// Returns goal, current task, blockers, next steps and queued tasks, most important first.
fn task(c: &Connection, session: &Session) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = session.goal.iter().map(|goal| item("goal", format!("Goal: {goal}"))).collect();
    if let Some(current) = tasks::current(c, session.id)? {
        let progress = current.progress.map_or(String::new(), |p| format!(" (so far: {p})"));
        items.push(item("tasks", format!("Current task: {}{progress}", current.description)));
    }
    items.extend(session.blockers.iter().map(|b| item("blockers", format!("Blocked: {b}"))));
    items.extend(session.next_steps.iter().map(|s| item("next steps", format!("Next step: {s}"))));
    items.extend(tasks::queue(c, session.id)?.into_iter().take(MAX_TASKS).map(|t| item("tasks", format!("Then: {}", t.description))));
    Ok(items)
}

/// Returns what is known about the app regardless of the current request and page: open bugs, worst first, then patterns and the newest
/// notes. The second value is the number of open bugs left out.
fn knowledge(c: &Connection, session: &Session, app: &str) -> Stored<(Vec<Item>, i64)> {
    let mut own = bugs::Filter { status: Some(BugStatus::Open), ..bugs::Filter::default() };
    if app.is_empty() {
        own.session = Some(session.id);
    } else {
        own.app = Some(app.to_owned());
    }
    let open = bugs::worst(c, &own, MAX_BUGS)?;
    let more = bugs::counts(c, &own)?.total - i64::try_from(open.len()).unwrap_or(0);
    let mut items: Vec<Item> = open.iter().map(|b| item("bugs", format!("Open {} bug: {}", b.severity.word(), b.title))).collect();
    let wanted = patterns::Filter {
        page: Some(String::new()),
        app: Some(app.to_owned()),
        least: MIN_CONFIDENCE,
        limit: MAX_PATTERNS,
        reader: Reader::Session(session.id),
        ..Default::default()
    };
    let found = patterns::find(c, &wanted)?.into_iter();
    items.extend(found.map(|p| item("patterns", p.text)));
    if !app.is_empty() {
        let filter = notes::Filter { app: Some(app.to_owned()), topic: None };
        items.extend(notes::newest(c, &filter, 0, MAX_NOTES)?.notes.iter().map(note));
    }
    Ok((items, more))
}

fn note(note: &Note) -> Item {
    item("notes", format!("Note {}: {}", note.topic, note.content))
}

/// Returns what holds right now: the page, patterns, page models and experience for it, and notes that match the request.
fn now(c: &Connection, session: &Session, app: &str, page: Option<String>, seen: SessionContext, asked: &str) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = page.iter().map(|page| item("page", format!("Page: {page}"))).collect();
    let state = seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
    let state = state.map(|key| states::of_structure(c, &key)).transpose()?.flatten().and_then(|s| s.code);
    let mut names: Vec<String> = [seen.page_key.clone(), page, state].into_iter().flatten().map(|name| pattern::of(&name)).collect();
    names.dedup();
    let reader = Reader::Session(session.id);
    for name in &names {
        let wanted =
            patterns::Filter { page: Some(name.clone()), least: MIN_CONFIDENCE, limit: MAX_PATTERNS, reader, ..Default::default() };
        let of_page = patterns::find(c, &wanted)?.into_iter().filter(|p| p.page.is_some());
        items.extend(of_page.map(|p| item("patterns", p.text)));
        let models = page_models::find(c, Some(name), None, 1)?.into_iter().filter(|m| m.page == *name);
        items.extend(models.map(|m| {
            let elements: Vec<String> = m.elements.into_iter().map(|e| e.name).collect();
            item("page models", format!("This page is a {}: {}", m.page_type, elements.join(", ")))
        }));
    }
    if seen.found {
        let structure = seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
        let place = Place { app: seen.app, activity: seen.activity, page_key: seen.page_key, structure, ..Place::default() };
        let known = experience::find(c, Query { place, limit: MAX_EXPERIENCE, ..Query::default() })?;
        let on = |scope: Scope, name: Option<String>, activity: String| {
            let which = if scope == Scope::State { "this page" } else { "another page" };
            format!("on {which}, {:?}", name.unwrap_or(activity))
        };
        let done = known.transitions.into_iter().map(|t| format!("{}: {}", on(t.match_scope, t.pre_name, t.pre_activity), t.text));
        let recovered = known.recoveries.into_iter().map(|r| format!("{}: {}", on(r.match_scope, r.pre_name, r.pre_activity), r.text));
        items.extend(done.chain(recovered).map(|text| item("experience", text)));
    }
    let filter = notes::Filter { app: (!app.is_empty()).then(|| app.to_owned()), topic: None };
    if let Some(query) = text::Query::parse(text::cut::head(asked, MAX_QUERY_CHARS)) {
        items.extend(notes::search(c, &query, &filter, 0, MAX_NOTES)?.notes.iter().map(note));
    }
    Ok(items)
}

/// Loads the bytes of pictures from their artifacts; a file that cannot be read leaves the picture without data.
fn show_pictures(c: &Connection, message: &mut Message) -> Stored<()> {
    let Content::Parts(parts) = &mut message.content else { return Ok(()) };
    for part in parts {
        let Part::Image { data, artifact: Some(uid), .. } = part else { continue };
        let file = artifact::file_of(c, uid)?;
        *data = file.and_then(|file| std::fs::read(file).ok()).map(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes));
    }
    Ok(())
}
