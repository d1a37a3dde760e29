//! Resolves the names in a call: an app or site, a state, a component.

use std::collections::BTreeSet;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::visual::ScopeSelector;
use afd_proto::vocabulary::DEFAULT_SESSION;
use serde_json::json;

use crate::app::checks::site_name;
use crate::app::{Core, Error, Result};
use afd_experience::memory::{log, observations};
use afd_experience::visual::components;
use afd_experience::visual::scope::{self, Known, Scope};
use afd_experience::visual::states::{self, State};
use afd_store::{Connection, Result as Stored};

/// Normalises an app name for comparison, so that `Google Chrome` matches `google_chrome`.
fn folded(app: &str) -> String {
    app.to_lowercase().replace(' ', "_")
}

/// Returns the known scope that a call refers to; `NOT_FOUND` if nothing has been learned about it.
pub(super) async fn scope(core: &Arc<Core>, of: ScopeSelector<'_>) -> Result<Known> {
    let site = of.site.map(site_name).transpose()?;
    let session = of.session.unwrap_or(DEFAULT_SESSION).to_owned();
    let device = of.device.map(|d| core.devices.name_of(d));
    let app = of.app.map(str::to_owned);
    if app.as_deref() == Some("") {
        return Err(Error::param("app", "the name of an app", "an empty string"));
    }
    let (wanted, known) = core
        .store
        .read_all(move |c| {
            let Some((app, site)) = resolve_scope(c, app, site, &session, device.as_deref())? else {
                return Ok((None, scope::all(c)?));
            };
            let scope = Scope { app, site };
            match scope::find(c, &scope)? {
                Some(known) => Ok((Some(scope), vec![known])),
                None => {
                    let all = scope::all(c)?;
                    let alike = all
                        .iter()
                        .find(|k| folded(&k.scope.app) == folded(&scope.app) && k.scope.site == scope.site)
                        .cloned();
                    Ok((Some(scope), alike.map_or(all, |k| vec![k])))
                }
            }
        })
        .await?;
    let Some(wanted) = wanted else {
        return Err(Error::param("app", "the name of an app, because the session has not seen one yet", "nothing"));
    };
    match known.iter().find(|k| folded(&k.scope.app) == folded(&wanted.app) && k.scope.site == wanted.site) {
        Some(known) => Ok(known.clone()),
        None => Err(unknown(&wanted, &known)),
    }
}

/// Returns the state that an observation was recognised as.
pub(super) fn state_of_observation(connection: &Connection, observation: &str) -> Stored<Option<State>> {
    match observations::structure_of(connection, observation)? {
        Some(key) => states::of_structure(connection, &key),
        None => Ok(None),
    }
}

/// Returns the app and site of a call: the given ones, else those of the page that the session observed last.
fn resolve_scope(
    connection: &Connection,
    app: Option<String>,
    site: Option<String>,
    session: &str,
    device: Option<&str>,
) -> Stored<Option<(String, Option<String>)>> {
    if let Some(app) = app {
        return Ok(Some((app, site)));
    }
    let seen = log::context(connection, session, device)?;
    let page = match seen.observation_id.as_deref() {
        Some(uid) => state_of_observation(connection, uid)?,
        None => None,
    };
    let of_page = page.map(|state| scope::get(connection, state.app)).transpose()?.flatten();
    Ok(match (of_page, seen.app, site) {
        (Some(known), _, None) => Some((known.scope.app, known.scope.site)),
        (Some(known), _, site) => Some((known.scope.app, site)),
        (None, app, site) => app.map(|app| (app, site)),
    })
}

/// Returns the error for a scope about which nothing is known; its details list up to 50 known scopes.
fn unknown(wanted: &Scope, known: &[Known]) -> Error {
    let what = match &wanted.site {
        Some(site) => format!("nothing is known about the site {site:?} in {:?}", wanted.app),
        None => format!("nothing is known about the app {:?}", wanted.app),
    };
    let apps: Vec<_> = known.iter().take(50).map(|k| json!({"app": k.scope.app, "site": k.scope.site})).collect();
    Error::new(ErrorCode::NotFound, what)
        .hint("observe it or run `afctl visual learn`; the details list what is known")
        .details(json!({"known": apps}))
}

/// Finds a state by its id or uid, else by its exact name, else by its name or description ignoring case. `None` if
/// there is no such state.
///
/// # Errors
/// `INVALID_PARAMS`, which names `field`, if several states have that name; its details list them.
pub(super) fn state<'a>(
    states: impl Iterator<Item = &'a State> + Clone,
    field: &str,
    given: &str,
) -> Result<Option<&'a State>> {
    let same = |text: Option<&str>| text.is_some_and(|t| t == given);
    let alike = |text: Option<&str>| text.is_some_and(|t| t.to_lowercase() == given.to_lowercase());
    let ways: [&dyn Fn(&State) -> bool; 4] = [
        &|s| same(s.code.as_deref()) || s.uid == given,
        &|s| same(s.name.as_deref()),
        &|s| alike(s.name.as_deref()) || alike(s.description.as_deref()),
        &|s| s.code.is_none() && alike(Some(s.called())),
    ];
    let found =
        ways.iter().map(|fits| states.clone().filter(|s| fits(s)).collect::<Vec<_>>()).find(|found| !found.is_empty());
    match found.as_deref() {
        None | Some([]) => Ok(None),
        Some([state]) => Ok(Some(state)),
        Some(several) => Err(ambiguous(several, field, given)),
    }
}

/// Returns the error for a name that several states have. Its details list the states, most recently seen first.
fn ambiguous(states: &[&State], field: &str, given: &str) -> Error {
    let mut states = states.to_vec();
    states.sort_by_key(|s| std::cmp::Reverse(s.last_seen));
    let one = |s: &&State| json!({"id": s.reference(), "name": s.called(), "place": s.place, "lastSeen": s.last_seen});
    let candidates: Vec<_> = states.iter().take(20).map(one).collect();
    let ids: Vec<&str> = states.iter().take(5).map(|s| s.reference()).collect();
    Error::param(
        field,
        &format!("the id of one of {} states of this name ({}), which is ambiguous", states.len(), ids.join(", ")),
        format!("{given:?}"),
    )
    .hint("`afctl visual states` shows how they differ")
    .details(json!({"candidates": candidates}))
}

/// Returns the error for an unknown state. Its details list up to 20 known states, states with a similar name first.
pub(super) fn no_state<'a>(states: impl Iterator<Item = &'a State>, given: &str) -> Error {
    let wanted = given.to_lowercase();
    let mut names: Vec<(bool, String)> = states
        .map(|s| {
            (
                s.called().to_lowercase().contains(&wanted),
                format!("{} {}", s.code.as_deref().unwrap_or("-"), s.called()),
            )
        })
        .collect();
    names.sort_by_key(|(alike, _)| !alike);
    let names: Vec<String> = names.into_iter().take(20).map(|(_, name)| name).collect();
    Error::new(ErrorCode::NotFound, format!("no such state or component: {given:?}"))
        .hint("`afctl visual states` and `afctl visual components` list what is known")
        .details(json!({"known": names}))
}

/// Minimum length of a name for it to match part of the text on a page, in characters.
const MIN_PART: usize = 4;

/// Returns whether `part` occurs in `text` at the beginning of a word.
fn begins_word(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

/// Returns the states that a name in `field` refers to. That is the state with this id or name, else all states that
/// contain a component with this name or label, else all states that show this text, else the only state that shows
/// text containing this name.
///
/// # Errors
/// `INVALID_PARAMS` if several states have that name.
pub(super) fn pages(
    connection: &Connection,
    app: i64,
    states: &[&State],
    field: &str,
    given: &str,
) -> Stored<Result<BTreeSet<i64>>> {
    match state(states.iter().copied(), field, given) {
        Ok(Some(state)) => return Ok(Ok(BTreeSet::from([state.id]))),
        Ok(None) => {}
        Err(ambiguous) => return Ok(Err(ambiguous)),
    }
    if let Some(component) = components::find(connection, app, given)? {
        let pages: BTreeSet<i64> = states::with_component(connection, component.id)?.into_iter().collect();
        if !pages.is_empty() {
            return Ok(Ok(pages));
        }
    }
    let wanted = given.trim().to_lowercase();
    let reads = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<i64> {
        states.iter().filter(|s| s.texts.iter().any(|t| fits(&t.to_lowercase()))).map(|s| s.id).collect()
    };
    let whole = reads(&|text| text == wanted);
    if !whole.is_empty() {
        return Ok(Ok(whole));
    }
    // Part of the text on a page names the page only if no other page shows it.
    let parts = reads(&|text| wanted.chars().count() >= MIN_PART && begins_word(text, &wanted));
    Ok(Ok(if parts.len() == 1 { parts } else { BTreeSet::new() }))
}
