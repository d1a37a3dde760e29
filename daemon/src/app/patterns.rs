//! `pattern.*` and `pageModel.*`: saves, finds and deletes patterns and page models.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::pattern::{
    DeleteResult, PageModel, PageModelDelete, PageModelDeleteParams, PageModelFind, PageModelFindParams, PageModelSave,
    PageModelSaveParams, PageModels, Pattern, PatternDelete, PatternDeleteParams, PatternFind, PatternFindParams,
    PatternKind, PatternList, PatternListParams, PatternMerge, PatternMergeParams, PatternPromote,
    PatternPromoteParams, PatternSave, PatternSaveParams, PatternScope, PatternUsed, PatternUsedParams, Patterns,
};
use afd_proto::vocabulary::RecordScope;

use super::checks::{check_session, check_text};
use super::memory::forgotten_results;
use super::session::{known, scope_of};
use super::{Core, Error, Result};
use crate::app::Methods;
use crate::app::recall::Recall;
use afd_screen::page::pattern;
use afd_store::{Reader, Store};
use afd_workspace::patterns::Promoted;
use afd_workspace::{page_models, patterns};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<PatternSave, _, _>(|core, p| async move { save(&core, &p).await });
    methods.add::<PatternFind, _, _>(|core, p| async move { find(&core, &p).await });
    methods.add::<PatternList, _, _>(|core, p| async move { list(&core, &p).await });
    methods.add::<PatternPromote, _, _>(|core, p| async move { promote(&core.store, &p).await });
    methods.add::<PatternMerge, _, _>(|core, p| async move { merge(&core, &p).await });
    methods.add::<PatternUsed, _, _>(|core, p| async move { used(&core.store, &p).await });
    methods.add::<PatternDelete, _, _>(|core, p| async move { delete(&core, &p).await });
    methods.add::<PageModelSave, _, _>(|core, p| async move { save_page(&core.store, &p).await });
    methods.add::<PageModelFind, _, _>(|core, p| async move { find_pages(&core.store, &p).await });
    methods.add::<PageModelDelete, _, _>(|core, p| async move { delete_page(&core.store, &p).await });
}

/// Maximum size of a pattern's data, in bytes.
const MAX_DATA: usize = 64 << 10;

fn not_found(what: &str, id: i64) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such {what}: {id}"))
}

/// Implements `pattern.save`.
///
/// # Errors
/// If a parameter is invalid.
pub async fn save(core: &Arc<Core>, params: &PatternSaveParams) -> Result<Pattern> {
    let size = params.data.as_ref().map_or(0, |data| afd_store::to_json(data).len());
    if size > MAX_DATA {
        return Err(Error::param("data", "at most 65536 bytes", format!("{size} bytes")));
    }
    let name = params.session();
    check_session(name)?;
    let session = core.sessions.row(&core.store, name).await?;
    let by_default = match (&params.app, params.kind) {
        _ if scope_of(core, None, session).await? == RecordScope::Session => PatternScope::Session,
        (Some(_), _) => PatternScope::App,
        // A fact without an app is about the current work.
        (None, PatternKind::KeyFact) => PatternScope::Session,
        (None, _) => PatternScope::Everybody,
    };
    let scope = params.scope.unwrap_or(by_default);
    if scope == PatternScope::App && params.app.is_none() {
        return Err(Error::param("scope", "session or everybody, because app is not given", "app"));
    }
    let (origin, p) = (core.store.origin().to_owned(), params.clone());
    let saved = core.store.write_or_refuse(move |c| {
        afd_workspace::check_present(c, session)?;
        let new = patterns::New {
            kind: p.kind,
            text: p.text.trim(),
            app: p.app.as_deref().unwrap_or(""),
            page: &p.page.as_deref().map(pattern::of).unwrap_or_default(),
            scope,
            data: p.data.as_ref(),
            prior: p.confidence,
            session: Some(session),
            source: Some(p.source().trim()),
        };
        Ok::<_, Error>(patterns::save(c, &origin, &new)?)
    });
    saved.await
}

/// Implements `pattern.find`.
///
/// # Errors
/// If a parameter is out of range, or if there is no such session.
pub async fn find(core: &Arc<Core>, params: &PatternFindParams) -> Result<Patterns> {
    let page = params.page.as_deref().map(pattern::of);
    let session = match &params.session {
        Some(name) => Some(known(core, name).await?.id),
        None => None,
    };
    let filter = patterns::Filter {
        page: page.clone(),
        app: params.app.clone(),
        kind: params.kind,
        session,
        reader: Reader::of(session),
        text: params.text.clone(),
        least: params.min_confidence(),
        limit: params.limit() as usize,
    };
    Ok(Patterns { page, patterns: core.store.read_all(move |c| patterns::find(c, &filter)).await? })
}

/// `pattern.list`: lists patterns of all scopes, newest first.
///
/// # Errors
/// If a parameter is out of range, or if there is no such session.
pub async fn list(core: &Arc<Core>, params: &PatternListParams) -> Result<Patterns> {
    let session = match &params.session {
        Some(name) => Some(known(core, name).await?.id),
        None => None,
    };
    let (app, scope, limit) = (params.app.clone(), params.scope, params.limit() as usize);
    Ok(Patterns {
        page: None,
        patterns: core.store.read_all(move |c| patterns::list(c, session, app.as_deref(), scope, limit)).await?,
    })
}

/// `pattern.promote`: changes the scope of a pattern.
///
/// # Errors
/// If there is no such pattern, if the scope is `app` but the pattern belongs to no app, or if an equal pattern with
/// that scope exists.
pub async fn promote(store: &Store, params: &PatternPromoteParams) -> Result<Pattern> {
    let (id, scope) = (params.id, params.scope);
    match store.write(move |c| patterns::promote(c, id, scope)).await? {
        Promoted::Done(pattern) => Ok(*pattern),
        Promoted::Unknown => Err(not_found("pattern", id)),
        Promoted::NoApp => {
            Err(Error::param("scope", "session or everybody, because the pattern is about no app", "app"))
        }
        Promoted::Known(other) => {
            Err(Error::new(ErrorCode::Conflict, format!("pattern {other} has the same content and the scope {scope}"))
                .hint("use that one, and delete this one (`afctl pattern delete`)")
                .details(serde_json::json!({"id": other})))
        }
    }
}

/// `pattern.used`: records that a pattern was used and, if known, whether it held.
///
/// # Errors
/// If there is no such pattern.
pub async fn used(store: &Store, params: &PatternUsedParams) -> Result<Pattern> {
    let (id, held) = (params.id, params.held);
    store.write(move |c| patterns::used(c, id, held)).await?.ok_or_else(|| not_found("pattern", id))
}

/// Implements `pattern.delete`.
///
/// # Errors
/// If there is no such pattern.
pub async fn delete(core: &Arc<Core>, params: &PatternDeleteParams) -> Result<DeleteResult> {
    let id = params.id;
    let uid = core.store.write(move |c| {
        let uid = patterns::delete(c, id)?;
        uid.as_ref().map_or(Ok(()), |uid| forgotten_results::of_pattern(c, uid))?;
        Ok(uid)
    });
    let uid = uid.await?;
    Recall::scrub(core).await?;
    uid.map(|uid| DeleteResult { id, uid }).ok_or_else(|| not_found("pattern", id))
}

/// `pattern.merge`: merges a pattern into another one.
///
/// # Errors
/// If there is no such pattern, or `CONFLICT` if the patterns differ in any field other than their text.
pub async fn merge(core: &Arc<Core>, params: &PatternMergeParams) -> Result<Pattern> {
    let (id, into) = (params.id, params.into);
    if id == into {
        return Err(Error::param("into", "another pattern than id", into));
    }
    let merged = core.store.write_or_refuse(move |c| {
        let gone = patterns::get(c, id)?.ok_or_else(|| not_found("pattern", id))?;
        let kept = patterns::get(c, into)?.ok_or_else(|| not_found("pattern", into))?;
        if let Some(field) = patterns::difference(&kept, &gone) {
            let why = format!("patterns {id} and {into} are not about the same: their {field} differs");
            return Err(Error::new(ErrorCode::Conflict, why).details(serde_json::json!({"field": field})));
        }
        super::recall::merge_pattern(c, id, into)?.ok_or_else(|| not_found("pattern", into))
    });
    let merged = merged.await?;
    Recall::scrub(core).await?;
    Ok(merged)
}

/// Implements `pageModel.save`.
///
/// # Errors
/// If a parameter is invalid.
pub async fn save_page(store: &Store, params: &PageModelSaveParams) -> Result<PageModel> {
    params.elements.iter().try_for_each(|e| check_text("elements", &e.name, 300))?;
    let (origin, p) = (store.origin().to_owned(), params.clone());
    let saved = store.write(move |c| {
        page_models::save(
            c,
            &origin,
            p.app.as_deref().unwrap_or(""),
            &pattern::of(&p.page),
            p.page_type.trim(),
            &p.elements,
        )
    });
    Ok(saved.await?)
}

/// Implements `pageModel.find`.
///
/// # Errors
/// If a parameter is out of range.
pub async fn find_pages(store: &Store, params: &PageModelFindParams) -> Result<PageModels> {
    let (page, app, limit) = (params.page.as_deref().map(pattern::of), params.app.clone(), params.limit() as usize);
    let wanted = page.clone();
    let page_models = store.read_all(move |c| page_models::find(c, wanted.as_deref(), app.as_deref(), limit)).await?;
    Ok(PageModels { page, page_models })
}

/// Implements `pageModel.delete`.
///
/// # Errors
/// If there is no such page model.
pub async fn delete_page(store: &Store, params: &PageModelDeleteParams) -> Result<DeleteResult> {
    let id = params.id;
    let uid = store.write(move |c| page_models::delete(c, id)).await?;
    uid.map(|uid| DeleteResult { id, uid }).ok_or_else(|| not_found("page model", id))
}
