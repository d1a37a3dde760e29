//! `act.*`: from parameters to a plan.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::act::{
    ActCall, Acted, Amount, AppParams, KeyParams, PlainParams, ScrollParams, ScrollToParams, ScrolledTo, SwipeParams, TapParams, TextParams,
};
use afd_proto::vocabulary::{By, DeviceCall, Point, Reply, Verb};
use serde::Serialize;
use serde_json::json;

use super::carry::{Inputs, Plan, Steps, once};
use super::guard::{Aim, coordinate};
use super::scroll::Search;
use super::{Core, Error, Result};
use crate::device::Input;

/// The longest press or swipe.
const MAX_DURATION_MS: u32 = 60_000;

fn duration(ms: Option<u32>, default: u32) -> Result<u32> {
    match ms.unwrap_or(default) {
        ms if (1..=MAX_DURATION_MS).contains(&ms) => Ok(ms),
        ms => Err(Error::param("durationMs", "1 to 60000", ms)),
    }
}

/// `act.tap`, `act.longPress`, `act.doubleTap`
///
/// # Errors
/// When the target is not clear, or the device does not do it.
pub async fn touch(core: &Arc<Core>, verb: Verb, params: &TapParams) -> Result<Reply<Acted>> {
    let ms = duration(params.duration_ms, 500)?;
    if verb != Verb::LongPress && params.duration_ms.is_some() {
        return Err(Error::param("durationMs", "nothing, it belongs to longPress", ms));
    }
    let aim = Aim::of(params)?;
    let inputs: Inputs = Box::new(move |point| {
        let Some(Point { x, y }) = point else { return Vec::new() };
        match verb {
            Verb::LongPress => vec![Input::LongPress(x, y, ms)],
            Verb::DoubleTap => vec![Input::DoubleTap(x, y)],
            _ => vec![Input::Tap(x, y)],
        }
    });
    let plan = Plan { aim: Some(aim), ..Plan::of(verb, Steps::Send(inputs)) };
    run(core, params, plan).await
}

/// `act.swipe`
///
/// # Errors
/// When a coordinate is out of range, or the device does not do it.
pub async fn swipe(core: &Arc<Core>, params: &SwipeParams) -> Result<Reply<Acted>> {
    let points = [("x1", params.x1), ("y1", params.y1), ("x2", params.x2), ("y2", params.y2)];
    for (name, value) in points {
        coordinate(name, value)?;
    }
    let ms = duration(params.duration_ms, 300)?;
    let plan = Plan::plain(Verb::Swipe, Input::Swipe(points.map(|(_, v)| v), ms));
    let plan = points.into_iter().fold(plan, |plan, (name, value)| plan.with(name, value));
    run(core, params, plan).await
}

/// `act.scroll`
///
/// # Errors
/// When the device does not do it.
pub async fn scroll(core: &Arc<Core>, params: &ScrollParams) -> Result<Reply<Acted>> {
    let amount = params.amount.unwrap_or(Amount::Medium);
    let plan = Plan::plain(Verb::Scroll, Input::Scroll(params.direction, amount));
    run(core, params, plan.with("direction", params.direction.word()).with("amount", amount.word())).await
}

/// `act.scrollTo`
///
/// # Errors
/// `TARGET_NOT_FOUND` at the end of the page, `TIMEOUT` when it takes too long, or when the device does not do it.
pub async fn scroll_to(core: &Arc<Core>, params: &ScrollToParams) -> Result<Reply<ScrolledTo>> {
    if params.text.trim().is_empty() {
        return Err(Error::param("text", "at least one character", "an empty text"));
    }
    if params.by == Some(By::Ref) {
        return Err(Error::param("by", "text, desc, resId or class", "ref"));
    }
    let timeout_ms = params.timeout_ms.unwrap_or(60_000);
    if !(1..=600_000).contains(&timeout_ms) {
        return Err(Error::param("timeoutMs", "1 to 600000", timeout_ms));
    }
    let search = Search { text: params.text.clone(), by: params.by, exact: params.exact_match, timeout: Duration::from_millis(timeout_ms) };
    let mut plan = Plan::of(Verb::ScrollTo, Steps::Search(search));
    // What was typed must not come into memory as something that was looked for.
    if core.secrets.was_typed(&params.text) {
        plan.action.slots.push("text".to_owned());
    } else {
        plan.action.target = Some(super::guard::named_target(params.by.unwrap_or(By::Text), &params.text));
    }
    once(core, params, plan, |done| ScrolledTo {
        event_id: done.event,
        result: done.result,
        target: done.hit.as_ref().and_then(|h| h.target.clone()),
        point: done.hit.map(|h| h.point),
        scrolls: done.scrolls,
        duration_ms: done.duration_ms,
        replayed: false,
    })
    .await
}

/// `act.back`
///
/// # Errors
/// When the device does not do it.
pub async fn back(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<Acted>> {
    run(core, params, Plan::plain(Verb::Back, Input::Back)).await
}

/// `act.home`
///
/// # Errors
/// When the device does not do it.
pub async fn home(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<Acted>> {
    run(core, params, Plan::plain(Verb::Home, Input::Home)).await
}

/// `act.key`
///
/// # Errors
/// When the device does not do it.
pub async fn key(core: &Arc<Core>, params: &KeyParams) -> Result<Reply<Acted>> {
    if !(0..=1000).contains(&params.key_code) {
        return Err(Error::param("keyCode", "an Android key code from 0 to 1000", params.key_code));
    }
    run(core, params, Plan::plain(Verb::Key, Input::Key(params.key_code)).with("keyCode", params.key_code)).await
}

/// `act.text`. The text goes to the device and nowhere else.
///
/// # Errors
/// When the device does not do it.
pub async fn text(core: &Arc<Core>, params: &TextParams) -> Result<Reply<Acted>> {
    let text = params.text.expose();
    if text.is_empty() {
        return Err(Error::param("text", "at least one character", "an empty text"));
    }
    let mut plan = Plan::plain(Verb::Text, Input::Text(Secret::new(text)));
    plan.action.slots.push("text".to_owned());
    plan.evidence = Some(json!({"length": text.chars().count(), "hash": core.secrets.hash(text)}));
    core.secrets.remember(text);
    run(core, params, plan).await
}

/// `act.launch`
///
/// # Errors
/// When the package name is none, or the device does not do it.
pub async fn launch(core: &Arc<Core>, params: &AppParams) -> Result<Reply<Acted>> {
    check_package(&params.package)?;
    run(core, params, Plan::plain(Verb::Launch, Input::Launch(params.package.clone())).with("package", params.package.as_str())).await
}

/// `act.stop`
///
/// # Errors
/// When the package name is none, or the device does not do it.
pub async fn stop(core: &Arc<Core>, params: &AppParams) -> Result<Reply<Acted>> {
    check_package(&params.package)?;
    run(core, params, Plan::plain(Verb::Stop, Input::Stop(params.package.clone())).with("package", params.package.as_str())).await
}

/// The phone puts package names into a shell line unquoted, so nothing else may pass for one.
pub(super) fn check_package(name: &str) -> Result<()> {
    let part = |p: &str| p.starts_with(|c: char| c.is_ascii_alphabetic()) && p.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let fits = name.len() <= 255 && name.contains('.') && name.split('.').all(part);
    if fits { Ok(()) } else { Err(Error::param("package", "a package name such as com.android.settings", format!("{name:?}"))) }
}

pub(super) async fn run<P: DeviceCall + ActCall + Serialize>(core: &Arc<Core>, params: &P, plan: Plan) -> Result<Reply<Acted>> {
    once(core, params, plan, |done| Acted {
        event_id: done.event,
        result: done.result,
        target: done.hit.as_ref().and_then(|h| h.target.clone()),
        point: done.hit.as_ref().map(|h| h.point),
        moved: done.hit.is_some_and(|h| h.moved),
        duration_ms: done.duration_ms,
        replayed: false,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_package_names_pass() {
        for good in ["com.android.settings", "org.a1.b_c"] {
            assert!(check_package(good).is_ok(), "{good}");
        }
        for bad in ["", "settings", "a..b", "a.b;reboot", "a.b c", "a.$(x)", "1a.b", "a.-b"] {
            assert!(check_package(bad).is_err(), "{bad}");
        }
    }
}
