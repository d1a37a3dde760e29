//! `recover.*`: actions that are linked to the failure from which they recover.

use std::sync::Arc;

use afd_proto::act::{ActCall, AppParams, PlainParams};
use afd_proto::memory::Category;
use afd_proto::recover::{BackParams, RecoverBack, RecoverHome, RecoverRelaunch, RecoverResult};
use afd_proto::vocabulary::{Action, DeviceCall, Reply, Verb};
use serde::Serialize;
use serde_json::json;

use super::act::execute::execute_once;
use super::act::plan::{Plan, Steps};
use super::{Core, Result};
use crate::app::Methods;
use afd_device::{Command, Input};
use afd_screen::page::pattern;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecoverBack, _, _>(|core, p| async move { back(&core, &p).await });
    methods.add::<RecoverHome, _, _>(|core, p| async move { home(&core, &p).await });
    methods.add::<RecoverRelaunch, _, _>(|core, p| async move { relaunch(&core, &p).await });
}

/// Implements `recover.back`.
///
/// # Errors
/// If `times` is out of range, or if the device fails to act.
pub async fn back(core: &Arc<Core>, params: &BackParams) -> Result<Reply<RecoverResult>> {
    let times = params.times();
    let mut action = Action::of(Verb::Back);
    action.params.insert("times".into(), json!(times));
    run(core, params, action, vec![Input::Back; times as usize]).await
}

/// Implements `recover.home`.
pub async fn home(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<RecoverResult>> {
    run(core, params, Action::of(Verb::Home), vec![Input::Home]).await
}

/// Implements `recover.relaunch`.
///
/// # Errors
/// If the package name is malformed, or if the device fails to act.
pub async fn relaunch(core: &Arc<Core>, params: &AppParams) -> Result<Reply<RecoverResult>> {
    core.addressed(params)?.target.device.check_app(&params.package)?;
    let mut action = Action::of(Verb::Relaunch);
    action.params.insert("package".into(), json!(pattern::origin(&params.package)));
    run(core, params, action, vec![Input::Home, Input::Launch(params.package.clone())]).await
}

async fn run<P: DeviceCall + ActCall + Serialize>(
    core: &Arc<Core>,
    params: &P,
    action: Action,
    inputs: Vec<Input>,
) -> Result<Reply<RecoverResult>> {
    let steps = Steps::Send(Box::new(move |_| inputs.into_iter().map(Command::Input).collect()));
    let plan = Plan { category: Category::Recover, action: action.clone(), ..Plan::of(action.verb, steps) };
    execute_once(core, params, plan, |done| {
        let (failure_event_id, failure_cause) = done.recovers_from.unzip();
        RecoverResult {
            event_id: done.event,
            result: done.result,
            failure_cause,
            failure_event_id,
            duration_ms: done.duration_ms,
            look: None,
            replayed: false,
        }
    })
    .await
}
