//! `recover.*`: actions that are linked to the failure from which they recover.

use std::sync::Arc;

use afd_proto::act::{ActCall, AppParams, PlainParams};
use afd_proto::recover::{BackParams, RecoverAuto, RecoverBack, RecoverHome, RecoverRelaunch, RecoverResult};
use afd_proto::vocabulary::{DeviceCall, Reply, Verb};
use serde::Serialize;

use super::act::cure;
use super::act::execute::execute_once;
use super::act::plan::Plan;
use super::{Core, Result};
use crate::app::Methods;
use afd_device::Input;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecoverBack, _, _>(|core, p| async move { back(&core, &p).await });
    methods.add::<RecoverHome, _, _>(|core, p| async move { home(&core, &p).await });
    methods.add::<RecoverRelaunch, _, _>(|core, p| async move { relaunch(&core, &p).await });
    methods.add::<RecoverAuto, _, _>(|core, p| async move { cure::auto(&core, p).await });
}

/// Implements `recover.back`.
///
/// # Errors
/// If `times` is out of range, or if the device fails to act.
pub async fn back(core: &Arc<Core>, params: &BackParams) -> Result<Reply<RecoverResult>> {
    run(core, params, Plan::backs(params.times())).await
}

/// Implements `recover.home`.
pub async fn home(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<RecoverResult>> {
    run(core, params, Plan::single(Verb::Home, Input::Home)).await
}

/// Implements `recover.relaunch`.
///
/// # Errors
/// If the package name is malformed, or if the device fails to act.
pub async fn relaunch(core: &Arc<Core>, params: &AppParams) -> Result<Reply<RecoverResult>> {
    core.addressed(params)?.target.device.check_app(&params.package)?;
    run(core, params, Plan::relaunch(&params.package)).await
}

async fn run<P: DeviceCall + ActCall + Serialize>(
    core: &Arc<Core>,
    params: &P,
    plan: Plan,
) -> Result<Reply<RecoverResult>> {
    execute_once(core, params, plan.recovery(), |done| {
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
