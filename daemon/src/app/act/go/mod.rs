//! `act.goTo`: walks to a goal by the way that the memory knows.
//!
//! A walk is a sequence of ordinary actions of the session. Before each one, it is decided on the newest look what to do
//! ([`next`]); afterwards the page is read, and the state in front is compared with the one to which the action should
//! have led ([`walk`]). Invariants:
//!
//! * Each action is sent at most once and recorded as an event, like one that the caller sends.
//! * A walk holds the device's lease. It ends between two actions if it is cancelled, if its client has gone, if the
//!   daemon stops, or if another call acted on the device.
//! * An action that did not lead where it should is not tried again from that page during the walk, so a walk ends.
//! * Fields and switches are never touched, and elements that are marked as risky only if the caller allows it.
//! * What a call with a request key has done is recorded after each step. A repeated call returns it and does nothing,
//!   even if the daemon stopped in between.

mod around;
mod explore;
mod likely;
mod next;
mod state;
mod step;
mod walk;

use std::sync::Arc;

use afd_proto::go::{ActGoTo, GoStop, GoToParams, GoToResult};
use afd_proto::vocabulary::Reply;
use afd_proto::{ErrorCode, Method};

use crate::app::act::keyed::{Key, Progress, run_once};
use crate::app::visual::goal::Asked;
use crate::app::{Core, Error, Result, scope};

/// Implements `act.goTo`.
///
/// # Errors
/// If not exactly one goal is given, if nothing known fits the goal, or if the device cannot be read before the first step.
pub async fn go_to(core: &Arc<Core>, params: GoToParams) -> Result<Reply<GoToResult>> {
    let asked = asked(&params)?;
    let addressed = core.addressed(&params)?;
    if let Some(url) = &params.address {
        addressed.target.device.check_tabs()?;
        let is_allowed = addressed.target.device.check_app(url);
        is_allowed.map_err(|_| Error::param("address", "the address of a page that the settings allow", url))?;
    }
    if let Some(app) = &params.app {
        let is_app = addressed.target.device.check_app(app);
        is_app.map_err(|_| Error::param("app", "a package, for example com.android.settings", app))?;
    }
    let key = Key::of(core, ActGoTo::INFO.name, &params, params.request_key.as_deref())?;
    let running = core.runtime.enter();
    let task = scope::spawn(async move {
        let _running = running;
        let call = addressed.open().await?;
        let result = run_once(&call, key, async |key| walk::run(&call, params, asked, key.as_ref()).await).await?;
        Ok(call.reply(result))
    });
    match task.await {
        Ok(done) => done,
        Err(failed) => Err(Error::new(ErrorCode::Internal, format!("the walk was aborted: {failed}"))
            .hint("internal error; `afctl events` shows the actions that were sent")),
    }
}

impl Progress for GoToResult {
    fn without_page(self) -> Self {
        Self { look: None, ..self }
    }

    fn interrupted(self) -> Self {
        Self { stopped: GoStop::Interrupted, ..self }
    }

    fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

/// Returns what the caller asked for.
fn asked(params: &GoToParams) -> Result<Asked> {
    let given = [
        ("goal", params.goal.as_ref()),
        ("state", params.state.as_ref()),
        ("element", params.element.as_ref()),
        ("text", params.text.as_ref()),
        ("address", params.address.as_ref()),
    ];
    let mut given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let (name, value) = given.next().ok_or_else(|| {
        Error::param("goal", "a goal in words, or one of state, element, text and address", "nothing")
    })?;
    if let Some((other, _)) = given.next() {
        return Err(Error::param(other, &format!("only one goal, and {name} is given"), "a second one"));
    }
    let value = value.trim().to_owned();
    if value.is_empty() {
        return Err(Error::param(name, "at least one character", "an empty string"));
    }
    Ok(match name {
        "goal" => Asked::Words(value),
        "state" => Asked::State(value),
        "element" => Asked::Element(value),
        "text" => Asked::Text(value),
        _ => Asked::Address(value),
    })
}
