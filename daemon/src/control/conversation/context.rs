//! `conversation.context`: the messages for the model's next turn.

use std::sync::Arc;

use afd_proto::conversation::{Content, ConversationContextParams, Format, Message, ModelContext, Part, Role};
use afd_proto::pattern::PatternKind;
use afd_proto::session::SessionCall;
use base64::Engine;
use rusqlite::Connection;

use super::super::session::{context_of, known};
use super::super::{Core, Error, Result};
use super::read::saved;
use super::{as_i64, counter};
use crate::artifact;
use crate::memory::experience::{self, Query};
use crate::memory::{Place, log, notes};
use crate::page::pattern;
use crate::session::conversation::assemble::{self, Assembled, Item, Material};
use crate::session::conversation::compaction::Limits;
use crate::session::conversation::{self, Conversation, budget, messages, shapes, summaries};
use crate::session::{Session, bugs, patterns, tasks};
use crate::store::Result as Stored;
use crate::text;

/// The budgets that make sense, tokens.
const BUDGET: std::ops::RangeInclusive<i64> = 64..=100_000_000;
/// At most this many of each kind of knowledge are looked at.
const BUGS: usize = 10;
const PATTERNS: usize = 30;
const NOTES: usize = 5;
const TASKS: usize = 5;
const EXPERIENCE: usize = 5;
/// At most this many sentences are chosen from.
const FACTS: usize = 400;
/// At most this many rules.
const RULES: usize = 8;
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
        let material = gather(c, &session, &talk, all, assemble::room_for_turns(&allocation, all))?;
        let mut made: Assembled = assemble::assemble(&material, &allocation, budget, &counter);
        made.messages.iter_mut().try_for_each(|m| show_pictures(c, m))?;
        let (shaped, system) = shapes::shaped(&made.messages, format);
        Ok(ModelContext {
            context: context_of(c, id, &session.name)?,
            session: session.name,
            messages: shaped,
            system,
            tokens: made.tokens,
            budget,
            tokenizer: counter.name().to_owned(),
            parts: made.parts,
            stable_messages: made.stable,
            allocation,
            left_out: made.left_out,
            tokens_of_all: all,
            saved_percent: saved(made.tokens, all),
        })
    });
    Ok(made.await?)
}

fn item(kind: &'static str, text: impl Into<String>) -> Item {
    Item { kind, text: text.into().split_whitespace().collect::<Vec<_>>().join(" ") }
}

fn gather(c: &Connection, session: &Session, talk: &Conversation, said: i64, room: i64) -> Stored<Material> {
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
    let facts = messages::facts(c, id, after, first, FACTS)?;
    let mut context = context_of(c, id, &session.name)?;
    let seen = log::context(c, &session.name, None)?;
    let app = context.get("app").cloned().or_else(|| session.app.clone());
    let page = context.remove("page");
    let mut knowledge = knowledge(c, session, app.as_deref(), page.as_deref(), &recent)?;
    // What became a pattern at a compaction is told once, with the summary.
    knowledge.retain(|known| known.kind != "patterns" || !facts.iter().any(|fact| item("patterns", fact.text.as_str()).text == known.text));
    let older = (first - 1 - cleared, messages::running(c, id, first - 1)? - before);
    let place = Place { app: seen.app, activity: seen.activity, page_key: seen.page_key, ..Place::default() };
    Ok(Material {
        rules: messages::rules(c, id, cleared, RULES)?,
        context,
        task: task(c, session)?,
        knowledge,
        written: written.map(|kept| kept.info.text),
        facts,
        recent,
        now: now(c, page, seen.found.then_some(place))?,
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

/// What is known: open bugs, patterns, notes.
fn knowledge(
    c: &Connection,
    session: &Session,
    app: Option<&str>,
    page: Option<&str>,
    recent: &[afd_proto::conversation::Recorded],
) -> Stored<Vec<Item>> {
    let mut own = bugs::Filter { status: Some(afd_proto::findings::BugStatus::Open), ..bugs::Filter::default() };
    match app {
        Some(app) => own.app = Some(app.to_owned()),
        None => own.session = Some(session.id),
    }
    let mut open = bugs::list(c, &own, BUGS)?;
    bugs::worst_first(&mut open);
    let mut items: Vec<Item> = open.iter().map(|b| item("bugs", format!("Open {} bug: {}", b.severity.word(), b.title))).collect();
    let wanted = patterns::Filter {
        page: page.map(pattern::of),
        app: app.map(str::to_owned),
        least: SURE,
        limit: PATTERNS,
        ..patterns::Filter::default()
    };
    // What was merely said in another session, about no app, is none of this one's business.
    let fits = |p: &afd_proto::pattern::Pattern| {
        p.kind != PatternKind::KeyFact.word() || p.app.is_some() || p.session.as_deref() == Some(session.name.as_str())
    };
    items.extend(patterns::find(c, &wanted)?.into_iter().filter(fits).map(|p| item("patterns", p.text)));
    let filter = notes::Filter { app: app.map(str::to_owned), topic: None };
    let asked = recent.iter().rev().find(|m| m.message.role == Role::User).map(|m| m.message.content.text()).unwrap_or_default();
    let query = text::Query::parse(text::cut::head(&asked, ASKED));
    let mut found = match query {
        Some(query) => notes::search(c, &query, &filter, 0, NOTES)?.notes,
        None => Vec::new(),
    };
    if found.is_empty() && app.is_some() {
        found = notes::newest(c, &filter, 0, NOTES)?.notes;
    }
    items.extend(found.into_iter().map(|n| item("notes", format!("Note {}: {}", n.topic, n.content))));
    Ok(items)
}

/// The page, and what is known to work there.
fn now(c: &Connection, page: Option<String>, place: Option<Place>) -> Stored<Vec<Item>> {
    let mut items: Vec<Item> = page.map(|page| item("page", format!("Page: {page}"))).into_iter().collect();
    if let Some(place) = place {
        let known = experience::find(c, &Query { place, failure_cause: None, limit: EXPERIENCE })?;
        items.extend(known.transitions.into_iter().map(|t| item("experience", t.text)));
        items.extend(known.recoveries.into_iter().map(|r| item("experience", r.text)));
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
