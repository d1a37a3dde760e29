//! Collects everything known about a session, from all modules that store a part of it, into one [`Digest`].

use std::collections::BTreeMap;

use afd_proto::session::{Statistics, VisitedPage};

use super::coverage;
use crate::app::Result;
use afd_conversation as conversation;
use afd_conversation::{Conversation, messages};
use afd_experience::memory::{log, notes, sessions};
use afd_experience::visual::states;
use afd_store::{Connection, Page, Result as Stored, Store, artifact, now_ms};
use afd_workspace::summary::Digest;
use afd_workspace::{self as session, Session, bugs, elsewhere, results, tasks, tested};

/// Maximum number of rows of each kind in a digest.
const MAX_ROWS: usize = 100_000;

/// Collects the digest of a session on a reader thread.
pub(crate) async fn digest(store: &Store, session: Session) -> Result<Digest> {
    Ok(store.read_all(move |c| gather(c, session)).await?)
}

/// Collects the digest of a session.
pub(in crate::app) fn gather(c: &Connection, session: Session) -> Stored<Digest> {
    let id = session.id;
    let totals = sessions::totals(c, id)?;
    let marked = tested::all(c, id)?;
    let elsewhere = elsewhere::of(c, id)?;
    let seen = pages(c, id)?;
    let mut pages = seen.clone();
    let (mut bugs, _) = bugs::list(c, &bugs::Filter::of(id), Page::first(MAX_ROWS))?;
    bugs::sort_by_severity(&mut bugs);
    let mut coverage = coverage::gather(c, &session, None, &seen, &marked)?;
    let mut statistics = Statistics {
        actions_performed: totals.done,
        assertions_passed: totals.passed_checks,
        assertions_failed: totals.failed_checks,
        errors_encountered: totals.errors,
        observations: totals.observations,
        artifacts: artifact::count(c, id)?,
        notes: notes::count(c, id)?,
        messages: conversation::all(c, id)?.iter().map(|own| messages::count(c, own.id)).sum::<Stored<i64>>()?,
    };
    elsewhere.add_to(&mut statistics);
    elsewhere.add_pages_to(&mut pages);
    coverage.pages_visited = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    Ok(Digest {
        info: session::info(c, &session, totals.last_at)?,
        statistics,
        coverage,
        tested: marked.into_iter().map(|m| m.element).collect(),
        current: tasks::current(c, id)?,
        queue: tasks::queue(c, id)?,
        done: tasks::done(c, id)?,
        results: results::list(c, &results::Filter::of(id), Page::first(MAX_ROWS))?.0,
        last_action: sessions::last_action(c, id)?,
        context: context(c, &conversation::of(c, id)?, &session.name)?,
        bugs,
        pages,
        session,
        at: now_ms(),
    })
}

/// Returns the pages that a session visited, each with the visual state it was recognised as.
fn pages(c: &Connection, session: i64) -> Stored<Vec<VisitedPage>> {
    let mut pages = Vec::new();
    for (mut page, structure) in sessions::pages(c, session)? {
        let state = structure.map(|key| states::of_structure(c, &key)).transpose()?.flatten();
        page.name = state.as_ref().filter(|s| s.code.is_some()).map(|s| s.called().to_owned());
        page.state = state.and_then(|s| s.code);
        pages.push(page);
    }
    Ok(pages)
}

/// Returns the context keys of a conversation of the session `name`, and the session's device, app and page as last
/// observed. For a key that both contain, the newer value wins.
pub(in crate::app) fn context(
    c: &Connection,
    conversation: &Conversation,
    name: &str,
) -> Stored<BTreeMap<String, String>> {
    let mut known = conversation.context.clone();
    let seen = log::context(c, name, None)?;
    let at = seen.observed_at.unwrap_or(0);
    for (key, value) in [("device", seen.device), ("app", seen.app), ("page", seen.activity)] {
        if let Some(value) = value.filter(|_| known.get(key).is_none_or(|k| k.at <= at)) {
            known.insert(key.to_owned(), conversation::keys::ContextValue { value, at });
        }
    }
    Ok(known.into_iter().map(|(key, known)| (key, known.value)).collect())
}
