//! Notes: `memory.save`, `memory.search` and `memory.delete`.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::memory::{MemoryDelete, MemorySave, MemorySearch};
use afd_proto::notes::{DeleteParams, DeletedNote, Notes, SaveParams, SavedNote, SearchParams, SimilarNote};
use afd_proto::recall::EntryType;
use serde_json::json;

use super::find;
use crate::app::checks::check_session;
use crate::app::daemon::backups;
use crate::app::recall::{self, Recall};
use crate::app::session::scope_of;
use crate::app::{Core, Error, Methods, Result, current_trace};
use afd_experience::memory::notes::{self, Filter, MAX_CONTENT, NewNote};
use afd_experience::memory::requests;
use afd_store::{Reader, new_uid};
use afd_workspace as session;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemorySave, _, _>(|core, p| async move { save(&core, &p).await });
    methods.add::<MemorySearch, _, _>(|core, p| async move { search(&core, &p).await });
    methods.add::<MemoryDelete, _, _>(|core, p| async move { delete(&core, &p).await });
}

/// Maximum number of similar notes that are returned.
const MAX_SIMILAR: usize = 5;
/// Number of notes that are compared with a new one, for its app and for no app.
const COMPARED: usize = 30;

fn check_topic(topic: &str) -> Result<()> {
    if topic.chars().any(char::is_control) {
        return Err(Error::param("topic", "printable characters", "control characters"));
    }
    Ok(())
}

fn check_app(app: &str) -> Result<()> {
    if app.is_empty() || app.chars().count() > 255 || app.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Error::param("app", "a package name", format!("{app:?}")));
    }
    Ok(())
}

/// Implements `memory.save`.
///
/// # Errors
/// If a parameter is invalid, or if the note cannot be stored.
pub async fn save(core: &Arc<Core>, params: &SaveParams) -> Result<SavedNote> {
    check_topic(&params.topic)?;
    params.app.as_deref().map(check_app).transpose()?;
    if params.content.trim().is_empty() || params.content.len() > MAX_CONTENT {
        let got = if params.content.trim().is_empty() {
            "only whitespace".to_owned()
        } else {
            format!("{} bytes", params.content.len())
        };
        return Err(Error::param("content", "1 to 65536 bytes", got));
    }
    let session = params.session();
    check_session(session)?;
    let session = core.sessions.row(&core.store, session).await?;
    let new = NewNote {
        uid: None,
        app: params.app.clone().unwrap_or_default(),
        topic: params.topic.clone(),
        content: params.content.clone(),
        trace: current_trace().unwrap_or_else(new_uid),
        at: None,
        scope: scope_of(core, params.scope, session).await?,
    };
    let (app, content) = (new.app.clone(), new.content.clone());
    let own = core.clone();
    core.recall.catch_up().await;
    let similar = core.store.read(move |c| {
        let reader = Reader::Session(session);
        let mut candidates = Vec::new();
        for app in [Some(app.clone()), Some(String::new())].into_iter().take(if app.is_empty() { 1 } else { 2 }) {
            let filter = Filter { app, topic: None, reader };
            candidates.extend(find::alike(&own.recall, c, &content, &filter, COMPARED)?);
        }
        let mut similar = notes::similar(&content, candidates);
        let near = recall::near_rows(&own.recall, c, &content, EntryType::Note, &app, session)?;
        for (id, similarity) in near.found {
            if similar.len() < MAX_SIMILAR && similar.iter().all(|s| s.note.id != id) {
                similar.extend(notes::one(c, id)?.map(|note| SimilarNote { similarity, note }));
            }
        }
        Ok((similar, near.missing.into_iter().map(str::to_owned).collect()))
    });
    let (similar, missing) = similar.await?;
    let origin = core.store.origin().to_owned();
    let saved = core.store.write(move |c| {
        let note = notes::save(c, &origin, session, &new)?;
        Ok((note, notes::chain_length(c, &new.app, &new.topic)?))
    });
    match saved.await? {
        (Some(note), chain_length) => Ok(SavedNote { note, chain_length, similar, missing }),
        (None, _) => Err(Error::new(ErrorCode::Internal, "the note already exists")),
    }
}

/// Implements `memory.search`.
///
/// # Errors
/// If a parameter is out of range, or if the database cannot be read.
pub async fn search(core: &Arc<Core>, params: &SearchParams) -> Result<Notes> {
    let store = &core.store;
    let page = crate::app::paging::page(params.limit(), params.cursor)?;
    let asking = params.session().to_owned();
    check_session(&asking)?;
    let asking = store.read_all(move |c| session::find(c, &asking)).await?;
    let filter = Filter { app: params.app.clone(), topic: params.topic.clone(), reader: Reader::of(asking) };
    // Ranked results have no stable sort key, so the cursor is the number of notes already returned.
    let (offset, limit) = (page.cursor.and_then(|c| usize::try_from(c).ok()).unwrap_or(0), page.limit);
    let Some(text) = params.query.as_deref().filter(|q| !q.is_empty()) else {
        return Ok(store.read_all(move |c| notes::newest(c, &filter, offset, limit)).await?);
    };
    Recall::read_first(core, None).await?;
    let (own, query) = (core.clone(), text.to_owned());
    Ok(store.read_all(move |c| find::notes(&own.recall, c, &query, &filter, (offset, limit))).await?)
}

/// Implements `memory.delete`.
///
/// # Errors
/// If there is no such note, or if not exactly one of `id` and `uid` is given.
pub async fn delete(core: &Arc<Core>, params: &DeleteParams) -> Result<DeletedNote> {
    if params.id.is_some() == params.uid.is_some() {
        let got = if params.id.is_some() { "both" } else { "neither" };
        return Err(Error::param("id", "either id or uid", got));
    }
    let (id, uid) = (params.id, params.uid.clone());
    let deleted = core.store.write(move |c| {
        let Some(note) = notes::delete(c, id, uid.as_deref())? else { return Ok(None) };
        requests::forget_results_about(c, requests::SAVE_NOTE_METHOD, &note.uid)?;
        let left = notes::chain_length(c, note.app.as_deref().unwrap_or(""), &note.topic)?;
        Ok(Some((DeletedNote { id: note.id, uid: note.uid, chain_length: left, backups: Vec::new() }, note.created_at)))
    });
    if let Some((deleted, created_at)) = deleted.await? {
        Recall::scrub(core).await?;
        return Ok(DeletedNote { backups: backups::holding(&core.config, created_at).await, ..deleted });
    }
    Err(Error::new(ErrorCode::NotFound, "no such note")
        .hint("`afctl memory search` lists the note ids")
        .details(json!({"id": params.id, "uid": params.uid})))
}
