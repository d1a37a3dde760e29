//! Implements `memory.experience`, `memory.context`, `memory.log` and `memory.stats`.

pub(in crate::app) mod experience;
pub(in crate::app) mod find;
pub(in crate::app) mod forgotten_results;
pub mod import;
pub mod notes;
pub mod predict;
pub mod retention;
pub mod transfer;

use std::sync::Arc;

use afd_proto::memory::{
    ContextParams, Experience, ExperienceParams, Log, LogParams, MemoryContext, MemoryExperience, MemoryLog,
    MemoryStats, SessionContext, Stats, StatsParams,
};

use super::paging::page;
use super::{Core, Result};
use crate::app::Methods;
use afd_experience::memory::experience::Query;
use afd_experience::memory::{Place, log, observations};
use afd_screen::page::fingerprint;
use afd_store::Store;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemoryExperience, _, _>(|core, p| async move { experience(&core, &p).await });
    methods.add::<MemoryContext, _, _>(|core, p| async move { context(&core, &p).await });
    methods.add::<MemoryLog, _, _>(|core, p| async move { log(&core, &p).await });
    methods.add::<MemoryStats, _, _>(|core, p| async move { stats(&core.store, &p).await });
}

/// Implements `memory.experience`. Without any filter, uses the page that the session saw last.
///
/// # Errors
/// If `limit` is out of range, or if the database cannot be read.
pub async fn experience(core: &Arc<Core>, params: &ExperienceParams) -> Result<Experience> {
    let limit = params.limit() as usize;
    let mut place = Place {
        app: params.app.clone(),
        activity: params.activity.clone(),
        page_key: params.page_fp.as_deref().filter(|fp| !fp.is_empty()).map(fingerprint::key_of),
        ..Place::default()
    };
    let is_unfiltered = place == Place::default();
    if is_unfiltered && params.failure_cause.is_none() {
        let session = params.session().to_owned();
        let device = params.device.as_deref().map(|d| core.devices.name_of(d));
        let read = move |c: &afd_store::Connection| {
            let seen = log::context(c, &session, device.as_deref())?;
            let structure =
                seen.observation_id.as_deref().map(|uid| observations::structure_of(c, uid)).transpose()?.flatten();
            Ok(Place { app: seen.app, activity: seen.activity, page_key: seen.page_key, structure, ..Place::default() })
        };
        place = core.store.read_all(read).await?;
    }
    // An activity implies its app, so that matching by app needs no further parameter.
    if place.app.is_none() {
        place.app = place.activity.as_deref().and_then(|a| a.split('/').next()).map(str::to_owned);
    }
    let query = Query { place, failure_cause: params.failure_cause.clone(), limit, ..Query::default() };
    Ok(core.store.read_all(move |c| experience::find(c, query)).await?)
}

/// Implements `memory.context`.
///
/// # Errors
/// If the database cannot be read.
pub async fn context(core: &Arc<Core>, params: &ContextParams) -> Result<SessionContext> {
    let session = params.session().to_owned();
    let device = params.device.as_deref().map(|d| core.devices.name_of(d));
    let read = move |c: &afd_store::Connection| {
        let context = log::context(c, &session, device.as_deref())?;
        let device = log::last_device(c, &session, device.as_deref())?;
        Ok((afd_workspace::find(c, &session)?.zip(device), context))
    };
    let (ids, mut context) = core.store.read_all(read).await?;
    context.ref_version = ids.and_then(|(session, device)| core.experience.views.ref_version_shown(session, device));
    Ok(context)
}

/// Implements `memory.log`.
///
/// # Errors
/// If `limit` or `cursor` is out of range, or if the database cannot be read.
pub async fn log(core: &Arc<Core>, params: &LogParams) -> Result<Log> {
    let filter = log::Filter {
        session: params.session.clone(),
        device: params.device.as_deref().map(|d| core.devices.name_of(d)),
        app: params.app.clone(),
        status: params.status,
        after: None,
        page: page(params.limit(), params.cursor)?,
    };
    Ok(core.store.read_all(move |c| log::read(c, &filter)).await?)
}

/// Implements `memory.stats`.
///
/// # Errors
/// If the database cannot be read.
pub async fn stats(store: &Store, params: &StatsParams) -> Result<Stats> {
    let session = params.session.clone();
    let find = move |c: &afd_store::Connection| {
        let id = session.as_deref().map(|name| afd_workspace::find(c, name)).transpose()?;
        let mut stats = log::stats(c, id.map(Option::unwrap_or_default))?;
        stats.session = session;
        Ok(stats)
    };
    Ok(store.read_all(find).await?)
}
