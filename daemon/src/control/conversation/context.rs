//! `conversation.context`: the messages for the model's next turn.

use std::sync::Arc;

use afd_proto::context::{ConversationContextParams, Format, ModelContext};
use afd_proto::conversation::{Content, Message, Part, Role};
use afd_proto::findings::BugStatus;
use afd_proto::memory::SessionContext;
use afd_proto::notes::Note;
use afd_proto::pattern::{Pattern, PatternKind};
use afd_proto::session::SessionCall;
use base64::Engine;
use rusqlite::Connection;

use super::super::session::{context_of, known};
use super::super::{Core, Error, Result};
use super::read::saved;
use super::{as_i64, counter};
use crate::artifact;
use crate::memory::experience::{self, Query};
use crate::memory::{Place, log, notes, observations};
use crate::page::pattern;
use crate::session::conversation::assemble::{self, Assembled, Item, Material};
use crate::session::conversation::compaction::Limits;
use crate::session::conversation::{self, Conversation, budget, kept, messages, shapes, summaries};
use crate::session::{Session, bugs, page_models, patterns, tasks};
use crate::store::Result as Stored;
use crate::text;
use crate::visual::states;

/// The budgets that make sense, tokens.
const BUDGET: std::ops::RangeInclusive<i64> = 64..=100_000_000;
/// At most this many of each kind of knowledge are looked at.
const BUGS: usize = 10;
const PATTERNS: usize = 30;
const NOTES: usize = 5;
const TASKS: usize = 5;
const EXPERIENCE: usize = 5;
/// Patterns that are less sure are left out.
const SURE: f64 = 0.3;
/// The part of a request that notes are looked for by, characters.
const ASKED: usize = 400;

/// `conversation.context`
///
/// # Errors
/// When there is no such session, or the budget makes no sense.
pub async fn context(core: &Arc<Core>, params: &ConversationContextParams) -> Result<ModelContext> {
    let session = known(core, params.session()).await?;
    let id = session.id;
    let talk = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let settings = core.config.get().conversation.clone();
    let budget = params.budget.map_or(Limits::of(&talk, &settings).tokens, as_i64);
    if !BUDGET.contains(&budget) {
        return Err(Error::param("budget", "64 to 100000000 tokens", budget));
    }
    let counter = counter(core, &talk).await?;
    let allocation = budget::allocate(budget, &settings);
    let format = params.format.unwrap_or(Format::Afd);
    let made = core.store.read_all(move |c| {
        let talk = conversation::of(c, id)?;
        let all = talk.tokens - messages::running(c, id, talk.cleared_to)?;
        let material = gather(c, &session, &talk, all, (assemble::room_for_turns(&allocation, all), facts_for(budget)))?;
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
            saved_percent: saved(made.tokens, all),
        })
    });
    Ok(made.await?)
}

/// How many sentences of each voice are chosen from: as many as could fit, and some more.
fn facts_for(budget: i64) -> usize {
    usize::try_from(budget / 40).unwrap_or(0).clamp(40, 400)
}

/// How many of the shaped messages stay the same for a while. Where sides take turns, what is true right now is in the last one.
fn stable(made: &Assembled, shaped: usize, format: Format) -> i64 {
    let now = i64::try_from(made.messages.len()).unwrap_or(i64::MAX) - made.stable;
    match format {
        Format::Anthropic => i64::try_from(shaped).unwrap_or(i64::MAX) - i64::from(now > 0),
        Format::Afd | Format::Openai => made.stable,
    }
}

fn item(kind: &'static str, text: impl Into<String>) -> Item {
    Item { kind, text: text.into().split_whitespace().collect::<Vec<_>>().join(" ") }
}

fn gather(c: &Connection, session: &Session, talk: &Conversation, said: i64, (room, facts): (i64, usize)) -> Stored<Material> {
    let id = session.id;
    let (cleared, begins) = (talk.cleared_to, talk.begins_after());
    let before = messages::running(c, id, cleared)?;
    let from = before + assemble::recent_from(said, room);
    let first = if from <= messages::running(c, id, begins)? {
        begins + 1
    } else {
        match messages::turn_after(c, id, begins, from)? {
            Some(first) => first,
            None => messages::last_turn(c, id, begins)?,
        }
    };
    let recent = messages::between(c, id, first - 1, talk.position)?;
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
    let (known, more_bugs) = knowledge(c, session, &app)?;
    Ok(Material {
        rules_missing: missing,
        rules,
        task: task(c, session)?,
        knowledge: known,
        more_bugs,
        written: written.map(|kept| kept.info.text),
        facts: kept::facts(c, id, after, first, facts)?,
        now: now(c, session, &app, page, seen, asked.as_deref().unwrap_or(""))?,
        context,
        request,
        recent,
        said,
        older,
    })
}

fn task(c: &Connection, session: &Session) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = session.goal.iter().map(|goal| item("goal", format!("Goal: {goal}"))).collect();
    if let Some(current) = tasks::current(c, session.id)? {
        let far = current.progress.map_or(String::new(), |p| format!(" (so far: {p})"));
        items.push(item("tasks", format!("Current task: {}{far}", current.description)));
    }
    items.extend(session.blockers.iter().map(|b| item("blockers", format!("Blocked: {b}"))));
    items.extend(session.next_steps.iter().map(|s| item("next steps", format!("Next step: {s}"))));
    items.extend(tasks::queue(c, session.id)?.into_iter().take(TASKS).map(|t| item("tasks", format!("Then: {}", t.description))));
    Ok(items)
}

/// Whether a pattern is any business of a session: what was merely said in another one, about no app, is not.
fn fits(session: &Session, pattern: &Pattern) -> bool {
    pattern.kind != PatternKind::KeyFact || pattern.app.is_some() || pattern.session.as_deref() == Some(session.name.as_str())
}

/// What is known of the app, whatever is asked and shown right now: open bugs, worst first, patterns, the newest notes. Returns how many
/// bugs are left out too.
fn knowledge(c: &Connection, session: &Session, app: &str) -> Stored<(Vec<Item>, i64)> {
    let mut own = bugs::Filter { status: Some(BugStatus::Open), ..bugs::Filter::default() };
    if app.is_empty() {
        own.session = Some(session.id);
    } else {
        own.app = Some(app.to_owned());
    }
    let open = bugs::worst(c, &own, BUGS)?;
    let more = bugs::counts(c, &own)?.total - i64::try_from(open.len()).unwrap_or(0);
    let mut items: Vec<Item> = open.iter().map(|b| item("bugs", format!("Open {} bug: {}", b.severity.word(), b.title))).collect();
    let wanted =
        patterns::Filter { page: Some(String::new()), app: Some(app.to_owned()), least: SURE, limit: PATTERNS, ..Default::default() };
    let found = patterns::find(c, &wanted)?.into_iter().filter(|p| fits(session, p));
    items.extend(found.map(|p| item("patterns", p.text)));
    if !app.is_empty() {
        let filter = notes::Filter { app: Some(app.to_owned()), topic: None };
        items.extend(notes::newest(c, &filter, 0, NOTES)?.notes.iter().map(note));
    }
    Ok((items, more))
}

fn note(note: &Note) -> Item {
    item("notes", format!("Note {}: {}", note.topic, note.content))
}

/// What is true right now: the page, what is known of it and works there, and notes about what is asked.
fn now(c: &Connection, session: &Session, app: &str, page: Option<String>, seen: SessionContext, asked: &str) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = page.iter().map(|page| item("page", format!("Page: {page}"))).collect();
    let state = seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
    let state = state.map(|key| states::of_structure(c, &key)).transpose()?.flatten().and_then(|s| s.code);
    let mut names: Vec<String> = [seen.page_key.clone(), page, state].into_iter().flatten().map(|name| pattern::of(&name)).collect();
    names.dedup();
    for name in &names {
        let wanted = patterns::Filter { page: Some(name.clone()), least: SURE, limit: PATTERNS, ..Default::default() };
        let of_page = patterns::find(c, &wanted)?.into_iter().filter(|p| p.page.is_some() && fits(session, p));
        items.extend(of_page.map(|p| item("patterns", p.text)));
        let models = page_models::find(c, Some(name), None, 1)?.into_iter().filter(|m| m.page == *name);
        items.extend(models.map(|m| {
            let elements: Vec<String> = m.elements.into_iter().map(|e| e.name).collect();
            item("page models", format!("This page is a {}: {}", m.page_type, elements.join(", ")))
        }));
    }
    if seen.found {
        let place = Place { app: seen.app, activity: seen.activity, page_key: seen.page_key, ..Place::default() };
        let known = experience::find(c, &Query { place, failure_cause: None, limit: EXPERIENCE })?;
        items.extend(known.transitions.into_iter().map(|t| item("experience", t.text)));
        items.extend(known.recoveries.into_iter().map(|r| item("experience", r.text)));
    }
    let filter = notes::Filter { app: (!app.is_empty()).then(|| app.to_owned()), topic: None };
    if let Some(query) = text::Query::parse(text::cut::head(asked, ASKED)) {
        items.extend(notes::search(c, &query, &filter, 0, NOTES)?.notes.iter().map(note));
    }
    Ok(items)
}

/// Pictures that are sent again: their bytes come from their artifacts.
fn show_pictures(c: &Connection, message: &mut Message) -> Stored<()> {
    let Content::Parts(parts) = &mut message.content else { return Ok(()) };
    for part in parts {
        let Part::Image { data, artifact: Some(uid), .. } = part else { continue };
        let file = artifact::file_of(c, uid)?;
        *data = file.and_then(|file| std::fs::read(file).ok()).map(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes));
    }
    Ok(())
}
