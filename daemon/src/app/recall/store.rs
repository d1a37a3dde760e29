//! Implements `recall.store` and `recall.delete`.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::pattern::PatternScope;
use afd_proto::recall::{
    RecallDelete, RecallDeleteParams, RecallDeleted, RecallEntry, RecallStore, RecallStoreParams, RecallStored,
    StoredType,
};
use afd_proto::vocabulary::RecordScope;
use serde_json::json;

use super::indexed::AtHand;
use super::search::no_entry;
use super::show::{self, Asked};
use super::{Recall, indexer, qdrant};
use crate::app::checks::{check_session, check_text, site_name};
use crate::app::daemon::backups;
use crate::app::session::scope_of;
use crate::app::{Core, Error, Methods, Result};
use afd_experience::memory::requests;
use afd_recall::search::{self, Scope};
use afd_recall::{entries, memories, vectors};
use afd_store::{Connection, Reader, Result as Stored, StoreError, now_ms};
use afd_workspace as session;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallStore, _, _>(|core, p| async move { store(&core, &p).await });
    methods.add::<RecallDelete, _, _>(|core, p| async move { delete(&core, &p).await });
}

const MAX_TAG: usize = 100;
/// Maximum number of near duplicates that are returned.
const MAX_SIMILAR: usize = 3;
/// Minimum cosine for an entry to count as a near duplicate.
const SIMILAR_COSINE: f64 = 0.72;

/// `recall.store`: stores text, and returns it with its near duplicates.
///
/// # Errors
/// If a parameter is invalid.
pub async fn store(core: &Arc<Core>, params: &RecallStoreParams) -> Result<RecallStored> {
    check(params)?;
    let name = params.session();
    check_session(name)?;
    let app = params.app.clone().unwrap_or_default();
    let session = core.sessions.row(&core.store, name).await?;
    let scope = match params.scope {
        Some(scope) => scope,
        // What the user prefers holds whichever session learned it.
        None if params.kind() == StoredType::Preference => PatternScope::Everybody,
        None if !app.is_empty() && scope_of(core, None, session).await? == RecordScope::App => PatternScope::App,
        None => PatternScope::Session,
    };
    if scope == PatternScope::App && app.is_empty() {
        return Err(Error::param("scope", "session or everybody, because it is about no app", "app"));
    }
    let new = memories::Memory {
        uid: String::new(),
        session,
        kind: params.kind(),
        title: params.title.as_deref().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned),
        text: params.text.trim().to_owned(),
        app,
        site: params.site.as_deref().map(site_name).transpose()?.unwrap_or_default(),
        scope,
        source: params.source().trim().to_owned(),
        confidence: params.confidence(),
        tags: params.tags.iter().map(|t| t.trim().to_owned()).collect(),
        related: params.related.clone(),
        expires_at: params.expires_at,
        created_at: now_ms(),
    };
    let (origin, session) = (core.store.origin().to_owned(), new.session);
    let stored = core.store.write(move |c| {
        let stored = memories::store(c, &origin, &new)?;
        indexer::derive_now(c, &stored.0);
        Ok::<_, StoreError>(stored)
    });
    let (uid, updated) = stored.await?;
    core.recall.nudge();
    // Near duplicates are found by vectors, including that of the new entry.
    core.recall.catch_up().await;
    let own = core.clone();
    let stored = core.store.read_all(move |c| {
        let Some(source) = entries::find(c, &uid)? else { return Ok(None) };
        let Some((entry, _)) = show::whole(c, &source)? else { return Ok(None) };
        let AtHand { found, missing } = similar(&own.recall, c, source.id, session)?;
        Ok(Some(RecallStored {
            entry,
            updated,
            similar: found,
            missing: missing.into_iter().map(str::to_owned).collect(),
        }))
    });
    stored.await?.ok_or_else(|| Error::new(ErrorCode::Internal, "the entry was deleted while it was stored"))
}

fn check(params: &RecallStoreParams) -> Result<()> {
    let names = [("title", &params.title), ("app", &params.app), ("site", &params.site), ("source", &params.source)];
    for (field, text) in names {
        text.as_deref().map_or(Ok(()), |text| check_printable(field, text))?;
    }
    params
        .tags
        .iter()
        .try_for_each(|tag| check_text("tags", tag, MAX_TAG).and_then(|()| check_printable("tags", tag)))?;
    if let Some(at) = params.expires_at.filter(|at| *at <= now_ms()) {
        return Err(Error::param("expiresAt", "a time to come, in UTC milliseconds", at));
    }
    params.related.iter().try_for_each(|uid| check_text("related", uid, 100))
}

/// Checks that a name has only one line, because output for people and models lists it next to other names.
fn check_printable(field: &'static str, text: &str) -> Result<()> {
    if text.chars().any(char::is_control) {
        return Err(Error::param(field, "printable characters on one line", "control characters"));
    }
    Ok(())
}

/// Returns the near duplicates of an entry, found by comparing vectors of the built-in model.
pub fn similar(recall: &Recall, c: &Connection, entry: i64, session: i64) -> Stored<AtHand<Vec<RecallEntry>>> {
    recall.with_index_at_hand(c, |index, builtin| {
        let Some((model, own)) = builtin.zip(index.get(entry)) else { return Ok(Vec::new()) };
        let Some(vector) = vectors::get(c, model, entry)? else { return Ok(Vec::new()) };
        let scope =
            Scope { reader: Reader::Session(session), types: vec![own.kind], now: now_ms(), ..Scope::default() };
        let near = index.nearest(c, model, &vector, MAX_SIMILAR + 1, &scope, |f| f.app == own.app)?;
        let near = near.into_iter().filter(|(id, cosine)| *id != entry && *cosine >= SIMILAR_COSINE).take(MAX_SIMILAR);
        let ranked: Vec<search::Ranked> = near.map(|(id, cosine)| search::Ranked::by_vector(id, cosine)).collect();
        show::found(
            c,
            &ranked,
            &Asked { query: "", session: Some(session), explain: false, excerpt: show::EXCERPT },
            &HashMap::new(),
        )
    })
}

/// `recall.delete`: erases an entry that `recall.store` stored.
///
/// # Errors
/// `NOT_FOUND` if there is no such entry, `INVALID_PARAMS` if another command deletes entries of its type.
pub async fn delete(core: &Arc<Core>, params: &RecallDeleteParams) -> Result<RecallDeleted> {
    let session = params.session().to_owned();
    check_session(&session)?;
    let uid = params.uid.clone();
    let deleted = core.store.write(move |c| {
        let asking = session::find(c, &session)?;
        let hidden = memories::owner(c, &uid)?.is_some_and(|(owner, private)| private && asking != Some(owner));
        if hidden {
            return Ok((None, None));
        }
        let deleted = memories::delete(c, &uid)?;
        if deleted.is_some() {
            forget_results(c, &uid)?;
        }
        let other = if deleted.is_none() { entries::find(c, &uid)?.map(|source| source.kind) } else { None };
        Ok::<_, StoreError>((deleted, other))
    });
    match deleted.await? {
        (Some(created_at), _) => {
            Recall::scrub(core).await?;
            let backups = backups::holding(&core.config, created_at).await;
            Ok(RecallDeleted { uid: params.uid.clone(), backups, qdrant: qdrant::still_holding(core).await })
        }
        (None, Some(kind)) => Err(Error::param("uid", "an entry that `recall.store` stored", format!("a {kind}"))
            .hint(format!("`afctl {}` deletes it", deleting(&kind)))
            .details(json!({"uid": params.uid, "kind": kind}))),
        (None, None) => match qdrant::get(core, &params.uid).await {
            Ok(Some(_)) => {
                Err(Error::param("uid", "an entry of this memory", "one of another memory, which alone can delete it"))
            }
            Ok(None) => Err(no_entry(&params.uid)),
            Err(why) => Err(no_entry(&params.uid).hint(why)),
        },
    }
}

/// Clears the recorded call results that contain stored text.
pub fn forget_results(c: &Connection, uid: &str) -> Stored<()> {
    ["recall.store", "recall.used"].iter().try_for_each(|method| requests::forget_results_about(c, method, uid))
}

/// Returns the command that deletes a kind of row.
fn deleting(kind: &str) -> &'static str {
    match kind {
        "note" => "memory delete",
        "pattern" => "pattern delete",
        "page" => "page-model delete",
        "state" => "visual delete",
        "bug" => "session bug resolve` closes it; `afctl session delete --findings",
        _ => "session delete",
    }
}
