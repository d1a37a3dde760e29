//! `visual.components`, `rename`, `delete`, `cleanup`, `history` and `undo`: inspecting and correcting the visual
//! memory.
//!
//! Every change made here goes through `visual::history`, which stores the affected rows as they were, so that it can
//! be undone. If a later change affects the same rows, the later change has to be undone first.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::history::{
    Change, ChangeOp, Changes, DeleteParams, HistoryParams, UndoParams, VisualDelete, VisualHistory, VisualUndo,
};
use afd_proto::visual::{
    CleanupParams, CleanupResult, Component, Components, ComponentsParams, ItemKind, RemovedComponent, RenameParams,
    RenameResult, ScopeCall, ScopeSelector, VisualCleanup, VisualComponents, VisualRename,
};
use serde_json::json;

use super::{UPKEEP_JOB, about, change_to_wire, find};
use crate::app::paging::page;
use crate::app::{Core, Error, Methods, Result};
use afd_experience::visual::components::{self, Filter};
use afd_experience::visual::states::{self, State};
use afd_experience::visual::{cleanup, edges, forget, history, purge, scope};
use afd_screen::page::element;
use afd_store::{Connection, Page, Result as Stored, StoreError, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualComponents, _, _>(|core, p| async move { list(&core, &p).await });
    methods.add::<VisualRename, _, _>(|core, p| async move { rename(&core, &p).await });
    methods.add::<VisualDelete, _, _>(|core, p| async move { delete(&core, &p).await });
    methods.add::<VisualCleanup, _, _>(|core, p| async move { clean_up(&core, &p).await });
    methods.add::<VisualHistory, _, _>(|core, p| async move { list_history(&core, &p).await });
    methods.add::<VisualUndo, _, _>(|core, p| async move { undo(&core, &p).await });
}

/// Returns the error for an unknown component, with the names of similar ones in its details.
fn no_component(name: &str, similar: Vec<String>) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such component: {name:?}"))
        .hint("`afctl visual components` lists their names")
        .details(json!({"alike": similar}))
}

/// Returns up to ten components whose name or label contains the first eight characters of `name`.
fn similar_names(connection: &Connection, app: i64, name: &str) -> Stored<Vec<String>> {
    let filter = Filter { text: Some(name.chars().take(8).collect()), page: Page::first(10), ..Filter::default() };
    Ok(components::list(connection, app, &filter)?.0.into_iter().map(|c| c.name).collect())
}

/// `visual.components`: lists the components in a scope.
///
/// # Errors
/// `NOT_FOUND` if the app or the state is unknown.
pub async fn list(core: &Arc<Core>, params: &ComponentsParams) -> Result<Components> {
    let page = page(params.limit(), params.cursor)?;
    let known = find::scope(core, params.scope()).await?;
    let (app, asked) = (known.id, params.clone());
    let read = move |c: &Connection| {
        let all = states::list(c, app, true)?;
        let state = match &asked.state {
            Some(given) => match find::state(all.iter(), "state", given) {
                Ok(Some(state)) => Some(state.id),
                Ok(None) => return Ok(Err(find::no_state(all.iter(), given))),
                Err(error) => return Ok(Err(error)),
            },
            None => None,
        };
        let filter = Filter { unlabelled: asked.unlabelled, state, text: asked.query.clone(), page };
        let (found, cursor) = components::list(c, app, &filter)?;
        let codes: HashMap<i64, String> = all.into_iter().filter_map(|s| Some((s.id, s.code?))).collect();
        let components = found.into_iter().map(|component| {
            let pages = states::with_component(c, component.id)?;
            Ok(component_to_wire(component, pages.iter().filter_map(|id| codes.get(id).cloned()).collect()))
        });
        Ok(Ok((components.collect::<Stored<Vec<_>>>()?, cursor)))
    };
    let (components, next_cursor) = core.store.read_all(read).await??;
    Ok(Components { about: about(&known), components, next_cursor })
}

/// Converts a component to its wire type; `states` are the codes of the states it belongs to.
fn component_to_wire(c: components::Component, states: Vec<String>) -> Component {
    Component {
        name: c.name,
        uid: c.uid,
        kind: c.kind,
        source: c.source,
        label: c.label,
        res_id: c.res_id,
        bounds: c.bounds.map(|b| b.to_string()),
        confidence: c.confidence,
        states,
        has_picture: c.crop.is_some(),
        learned_at: c.learned_at,
        last_seen: c.last_seen,
        seen_count: c.seen_count,
        consecutive_misses: c.consecutive_misses,
        origin: c.origin,
    }
}

/// What a rename applies to.
enum RenameTarget {
    Component(Box<components::Component>),
    State(Box<State>),
}

/// Finds the component with this name, else the state with this id or name.
fn find_target(connection: &Connection, app: i64, name: &str) -> Result<RenameTarget> {
    if let Some(component) = components::find(connection, app, name)? {
        return Ok(RenameTarget::Component(Box::new(component)));
    }
    let all = states::list(connection, app, false)?;
    match find::state(all.iter(), "old", name)? {
        Some(state) => Ok(RenameTarget::State(Box::new(state.clone()))),
        None => Err(no_component(name, similar_names(connection, app, name)?)),
    }
}

/// `visual.rename`: renames a component or a state.
///
/// # Errors
/// `NOT_FOUND` if there is no component or state with that name, `CONFLICT` if the new name is taken.
pub async fn rename(core: &Arc<Core>, params: &RenameParams) -> Result<RenameResult> {
    let new = params.new.trim().to_owned();
    if new.chars().any(char::is_control) {
        return Err(Error::param("new", "printable characters", format!("{:?}", params.new)));
    }
    let known = find::scope(core, params.scope()).await?;
    let (app, old, origin) = (known.id, params.old.clone(), core.store.origin().to_owned());
    let wanted = new.clone();
    let done = core.store.write_or_refuse(move |c| {
        let target = find_target(c, app, &old)?;
        let at = now_ms();
        let mut change = history::Change::begin(c, app);
        let (kind, from) = match &target {
            RenameTarget::Component(component) => {
                let name = element::clean(&wanted);
                if name != component.name && components::name_exists(c, app, &name)? {
                    return Err(Error::new(ErrorCode::Conflict, format!("a component named {name:?} already exists"))
                        .hint("delete one of them, or choose another name"));
                }
                change.keep("components", "id", component.id)?;
                for edge in edges::naming(c, app, &[&component.name, &name])? {
                    change.keep("imported_edges", "id", edge)?;
                }
                components::rename(c, component.id, &name, at)?;
                edges::rename(c, app, &component.name, &name, at)?;
                (ItemKind::Component, component.name.clone())
            }
            RenameTarget::State(state) => {
                let others = states::list(c, app, false)?;
                if others.iter().any(|s| s.id != state.id && s.name.as_deref() == Some(&wanted)) {
                    let what = format!("a state named {wanted:?} already exists");
                    return Err(Error::new(ErrorCode::Conflict, what).hint("choose another name"));
                }
                change.keep("states", "id", state.id)?;
                states::rename(c, state.id, &wanted, at)?;
                (ItemKind::State, state.called().to_owned())
            }
        };
        let entry = change.commit(
            &origin,
            ChangeOp::Rename,
            &format!("{kind} {from} to {wanted}"),
            "requested by the user",
            at,
        )?;
        Ok((kind, from, change_to_wire(c, entry)?))
    });
    let (kind, old, change): (_, _, Change) = done.await?;
    core.publish_change(&change);
    let new = if kind == ItemKind::Component { element::clean(&new) } else { new };
    Ok(RenameResult { about: about(&known), kind, old, new, history_id: change.id })
}

/// `visual.delete`: deletes a component or a state.
///
/// # Errors
/// `NOT_FOUND` if there is no component or state with that name.
pub async fn delete(core: &Arc<Core>, params: &DeleteParams) -> Result<Change> {
    let known = find::scope(core, params.scope()).await?;
    let (app, origin, index, own) =
        (known.id, core.store.origin().to_owned(), core.experience.visual.clone(), known.scope.clone());
    let asked = params.clone();
    let done = core.store.write_or_refuse(move |c| {
        let at = now_ms();
        let why = "requested by the user";
        let entry = match (&asked.component, &asked.state) {
            (Some(name), None) => match components::find(c, app, name)? {
                Some(component) => forget::delete_component(c, &origin, app, &component, (ChangeOp::Delete, why), at)?,
                None => return Err(no_component(name, similar_names(c, app, name)?)),
            },
            (None, Some(given)) => {
                let all = states::list(c, app, false)?;
                match find::state(all.iter(), "state", given)? {
                    Some(state) => forget::delete_state(c, &origin, app, state, why, at)?,
                    None => return Err(find::no_state(all.iter(), given)),
                }
            }
            (given, _) => {
                let got = if given.is_some() { "both" } else { "neither" };
                return Err(Error::param("component", "either a component or a state", got));
            }
        };
        if asked.purge {
            purge::change(c, entry.id)?;
        }
        index.reload(&own);
        index.touch_all(app);
        Ok::<_, Error>(change_to_wire(c, entry)?)
    });
    let change = done.await?;
    if params.purge {
        core.delete_unused_pictures(0).await?;
    }
    core.jobs.nudge(UPKEEP_JOB);
    core.publish_change(&change);
    Ok(change)
}

/// `visual.cleanup`: deletes components whose text is dynamic, or only lists them in a dry run.
///
/// # Errors
/// `NOT_FOUND` if the app is unknown.
pub async fn clean_up(core: &Arc<Core>, params: &CleanupParams) -> Result<CleanupResult> {
    let known = find::scope(core, params.scope()).await?;
    let (app, origin, index, own) =
        (known.id, core.store.origin().to_owned(), core.experience.visual.clone(), known.scope.clone());
    let dry_run = params.dry_run;
    let work = move |c: &Connection| {
        let found = cleanup::dynamic(c, app)?;
        let mut changes = Vec::new();
        for (component, why) in found {
            let change = match dry_run {
                true => None,
                false => Some(change_to_wire(
                    c,
                    forget::delete_component(c, &origin, app, &component, (ChangeOp::Cleanup, why), now_ms())?,
                )?),
            };
            changes.push((component.name, why, change));
        }
        index.reload(&own);
        Ok(changes)
    };
    let changes = if dry_run { core.store.read_all(work).await? } else { core.store.write(work).await? };
    changes.iter().filter_map(|(_, _, change)| change.as_ref()).for_each(|change| core.publish_change(change));
    let cleaned = |(component, why, change): (String, &str, Option<Change>)| RemovedComponent {
        component,
        why: why.to_owned(),
        history_id: change.map(|c| c.id),
    };
    Ok(CleanupResult { about: about(&known), dry_run, changes: changes.into_iter().map(cleaned).collect() })
}

/// Returns the scope of a call, or `None` if the call names no scope and therefore applies to all scopes.
async fn maybe_scope(core: &Arc<Core>, of: ScopeSelector<'_>) -> Result<Option<scope::Known>> {
    match of.app {
        Some(_) => Ok(Some(find::scope(core, of).await?)),
        None if of.site.is_some() => Err(Error::param("app", "the browser in which the site was seen", "nothing")),
        None => Ok(None),
    }
}

/// `visual.history`: lists the changes in one scope or in all scopes, newest first.
///
/// # Errors
/// `NOT_FOUND` if the app is unknown.
pub async fn list_history(core: &Arc<Core>, params: &HistoryParams) -> Result<Changes> {
    let page = page(params.limit(), params.cursor)?;
    let known = maybe_scope(core, params.scope()).await?;
    let read = move |c: &Connection| {
        let (entries, next_cursor) = history::list(c, known.map(|k| k.id), page)?;
        let changes = entries.into_iter().map(|entry| change_to_wire(c, entry)).collect::<Stored<_>>()?;
        Ok(Changes { changes, next_cursor })
    };
    Ok(core.store.read_all(read).await?)
}

/// `visual.undo`: undoes the given change, or the newest change that has not been undone.
///
/// # Errors
/// `NOT_FOUND` if there is nothing to undo. `CONFLICT` if the change was already undone, if a later change affects the
/// same rows, or if an item that it would restore has been learned again.
pub async fn undo(core: &Arc<Core>, params: &UndoParams) -> Result<Change> {
    let known = maybe_scope(core, params.scope()).await?;
    let (app, id, index) = (known.map(|k| k.id), params.id, core.experience.visual.clone());
    let done = core.store.write_or_refuse(move |c| {
        let entry = history::find(c, app, id)?.ok_or_else(|| nothing_to_undo(id))?;
        if entry.undone_at.is_some() {
            return Err(Error::new(ErrorCode::Conflict, format!("change {} has already been undone", entry.id)));
        }
        if let Some(later) = history::blocked_by(c, entry.id)? {
            let what = format!("the later change {later} affects the same items");
            return Err(
                Error::new(ErrorCode::Conflict, what).hint(format!("undo it first: `afctl visual undo --id {later}`"))
            );
        }
        history::undo(c, entry.id, now_ms()).map_err(learned_again)?;
        if let Some(known) = scope::get(c, entry.app)? {
            index.reload(&known.scope);
        }
        let undone = history::find(c, None, Some(entry.id))?.unwrap_or(entry);
        Ok(change_to_wire(c, undone)?)
    });
    let change = done.await?;
    core.publish_change(&change);
    Ok(change)
}

/// Converts a violated constraint to a conflict: an item that the undo would restore has been learned again.
fn learned_again(error: StoreError) -> Error {
    if error.is_conflict() {
        return Error::new(ErrorCode::Conflict, "an item that this would restore has been learned again")
            .hint("undo later changes first, or delete the newer items");
    }
    error.into()
}

fn nothing_to_undo(id: Option<i64>) -> Error {
    let what = id.map_or("there is nothing to undo".to_owned(), |id| format!("no such change: {id}"));
    Error::new(ErrorCode::NotFound, what).hint("`afctl visual history` lists the changes and their ids")
}
