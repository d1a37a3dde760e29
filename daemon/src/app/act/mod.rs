//! `act.*`: builds a plan from the request parameters and executes it.

pub(in crate::app) mod after_act;
pub(in crate::app) mod cure;
pub(in crate::app) mod described;
pub(in crate::app) mod execute;
mod failing;
mod go;
pub(in crate::app) mod keyed;
pub(in crate::app) mod leased;
mod open;
mod page_tool;
pub(in crate::app) mod plan;
pub(in crate::app) mod resolve_target;
pub(in crate::app) mod scroll;
pub(in crate::app) mod stage;
mod steps;
pub(in crate::app) mod surprise;
pub(in crate::app) mod target_spec;
pub(in crate::app) mod then;
mod touching;
pub(in crate::app) mod typing;
mod undo;

use std::sync::Arc;
use std::time::Duration;

use afd_proto::act::{
    ActBack, ActCall, ActDoubleTap, ActDrag, ActFill, ActHome, ActHover, ActKey, ActLaunch, ActLongPress, ActPageTool,
    ActResult, ActScroll, ActScrollTo, ActStop, ActSwipe, ActTab, ActTap, ActText, ActUpload, AppParams, DragParams,
    FillParams, KeyParams, LaunchParams, PlainParams, ScrollParams, ScrollToParams, ScrollToResult, SwipeParams,
    TabParams, TapParams, TextParams, UploadParams,
};
use afd_proto::go::ActGoTo;
use afd_proto::undo::ActUndo;
use afd_proto::vocabulary::{By, DEFAULT_SESSION, DeviceCall, Point, Reply, Verb};
use afd_proto::{ErrorCode, Secret};
use serde::Serialize;
use serde_json::json;

use super::{Core, Error, Result};
use crate::app::Methods;
use afd_conversation::typed;
use afd_device::{Input, Key};
use afd_screen::page::pattern;
use execute::execute_once;
use plan::{Inputs, Plan, Steps};
use scroll::Search;
use target_spec::{TargetSpec, check_length, coordinate, default_by};

/// Maximum number of files of an upload.
const MAX_FILES: usize = 100;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ActTap, _, _>(|core, p| async move { touch(&core, Verb::Tap, &p).await });
    methods.add::<ActLongPress, _, _>(|core, p| async move { touch(&core, Verb::LongPress, &p).await });
    methods.add::<ActHover, _, _>(|core, p| async move { touch(&core, Verb::Hover, &p).await });
    methods.add::<ActDoubleTap, _, _>(|core, p| async move { touch(&core, Verb::DoubleTap, &p).await });
    methods.add::<ActSwipe, _, _>(|core, p| async move { swipe(&core, &p).await });
    methods.add::<ActDrag, _, _>(|core, p| async move { drag(&core, &p).await });
    methods.add::<ActScroll, _, _>(|core, p| async move { scroll(&core, &p).await });
    methods.add::<ActBack, _, _>(|core, p| async move { back(&core, &p).await });
    methods.add::<ActHome, _, _>(|core, p| async move { home(&core, &p).await });
    methods.add::<ActKey, _, _>(|core, p| async move { key(&core, &p).await });
    methods.add::<ActFill, _, _>(|core, p| async move { fill(&core, &p).await });
    methods.add::<ActText, _, _>(|core, p| async move { text(&core, &p).await });
    methods.add::<ActTab, _, _>(|core, p| async move { tab(&core, &p).await });
    methods.add::<ActPageTool, _, _>(|core, p| async move { page_tool::run(&core, &p).await });
    methods.add::<ActUpload, _, _>(|core, p| async move { upload(&core, &p).await });
    methods.add::<ActLaunch, _, _>(|core, p| async move { launch(&core, &p).await });
    methods.add::<ActStop, _, _>(|core, p| async move { stop(&core, &p).await });
    methods.add::<ActScrollTo, _, _>(|core, p| async move { scroll_to(&core, &p).await });
    methods.add::<ActUndo, _, _>(|core, p| async move { undo::undo(&core, p).await });
    methods.add::<ActGoTo, _, _>(|core, p| async move { go::go_to(&core, p).await });
}

/// Implements `act.tap`, `act.longPress`, `act.doubleTap` and `act.hover`.
///
/// # Errors
/// If the target is missing, ambiguous, covered or stale, or if the device fails to act.
pub async fn touch(core: &Arc<Core>, verb: Verb, params: &TapParams) -> Result<Reply<ActResult>> {
    let ms = params.duration_ms();
    if verb != Verb::LongPress && params.duration_ms.is_some() {
        return Err(Error::param("durationMs", "no value (only act.longPress takes one)", ms));
    }
    let plan = Plan::touch(verb, TargetSpec::of(params)?, ms);
    run(core, params, Plan { recover: params.recover, ..plan }).await
}

/// Implements `act.swipe`.
///
/// # Errors
/// If a coordinate is out of range, or if the device fails to act.
pub async fn swipe(core: &Arc<Core>, params: &SwipeParams) -> Result<Reply<ActResult>> {
    let points = [("x1", params.x1), ("y1", params.y1), ("x2", params.x2), ("y2", params.y2)];
    for (name, value) in points {
        coordinate(name, value)?;
    }
    let ms = params.duration_ms();
    let plan = Plan::single(Verb::Swipe, Input::Swipe(points.map(|(_, v)| v), ms));
    let plan = points.into_iter().fold(plan, |plan, (name, value)| plan.with_param(name, value));
    run(core, params, plan).await
}

/// Implements `act.drag`.
///
/// # Errors
/// If one of the targets is missing, ambiguous, covered or stale, or if the device fails to act.
pub async fn drag(core: &Arc<Core>, params: &DragParams) -> Result<Reply<ActResult>> {
    let ms = params.duration_ms();
    let from = TargetSpec::end(["value", "x", "y"], params.value.as_deref(), (params.x, params.y), params.partial)?;
    let to = TargetSpec::end(["to", "toX", "toY"], params.to.as_deref(), (params.to_x, params.to_y), params.partial)?;
    let mut plan =
        Plan { target_spec: Some(from), recover: params.recover, ..Plan::of(Verb::Drag, Steps::Drag { to, ms }) };
    // Typed text must not enter memory as the label of a target. An alias means nothing in memory.
    match params.to.as_deref().filter(|to| default_by(to) != By::Ref) {
        Some(to) if !core.experience.secrets.was_typed(to) => plan = plan.with_param("to", to),
        _ => {}
    }
    run(core, params, plan).await
}

/// Implements `act.scroll`.
pub async fn scroll(core: &Arc<Core>, params: &ScrollParams) -> Result<Reply<ActResult>> {
    let amount = params.amount();
    let plan = Plan::single(Verb::Scroll, Input::Scroll(params.direction, amount));
    run(core, params, plan.with_param("direction", params.direction.word()).with_param("amount", amount.word())).await
}

/// Implements `act.scrollTo`.
///
/// # Errors
/// `TARGET_NOT_FOUND` once both ends of the page were reached, `TIMEOUT` after `timeoutMs`, or if the device fails to
/// act.
pub async fn scroll_to(core: &Arc<Core>, params: &ScrollToParams) -> Result<Reply<ScrollToResult>> {
    check_length("text", &params.text)?;
    if params.text.trim().is_empty() {
        return Err(Error::param("text", "at least one character", "an empty string"));
    }
    if params.by == Some(By::Ref) {
        return Err(Error::param("by", "text, desc, resId or class", "ref"));
    }
    let search = Search {
        text: params.text.clone(),
        by: params.by,
        exact: params.exact_match,
        only_down: false,
        timeout: Duration::from_millis(params.timeout_ms()),
    };
    let mut plan = Plan::of(Verb::ScrollTo, Steps::Search(search));
    // Typed text must not enter memory as the label of a target.
    if core.experience.secrets.was_typed(&params.text) {
        plan.action.slots.push("text".to_owned());
    } else {
        plan.action.target =
            Some(crate::app::act::target_spec::named_target(params.by.unwrap_or(By::Text), &params.text));
    }
    execute_once(core, params, plan, |done| ScrollToResult {
        event_id: done.event,
        result: done.result,
        target: done.resolved.as_ref().and_then(|r| r.target.clone()),
        point: done.resolved.map(|r| r.point),
        scrolls: done.scrolls,
        duration_ms: done.duration_ms,
        look: None,
        replayed: false,
    })
    .await
}

/// Implements `act.back`.
pub async fn back(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<ActResult>> {
    run(core, params, Plan::single(Verb::Back, Input::Back)).await
}

/// Implements `act.home`.
pub async fn home(core: &Arc<Core>, params: &PlainParams) -> Result<Reply<ActResult>> {
    run(core, params, Plan::single(Verb::Home, Input::Home)).await
}

/// Implements `act.key`. Memory stores the key code if the device has key codes, as earlier versions did.
///
/// # Errors
/// If not exactly one of `key` and `keyCode` is given, or if it is invalid. `UNSUPPORTED` if the device has no key
/// codes. An error is also returned if the device fails to act.
pub async fn key(core: &Arc<Core>, params: &KeyParams) -> Result<Reply<ActResult>> {
    let key = match (params.key, params.key_code) {
        (Some(name), None) => Key::Named(name),
        (None, Some(code)) => Key::Code(code),
        (None, None) => return Err(Error::param("key", "the name of a key, or its number as keyCode", "neither")),
        (Some(_), Some(_)) => return Err(Error::param("key", "either key or keyCode", "both")),
    };
    let device = core.addressed(params)?.target.device;
    device.check_key(key)?;
    let plan = Plan::single(Verb::Key, Input::Keys(vec![key]));
    let plan = match key {
        Key::Code(code) => plan.with_param("keyCode", code),
        Key::Named(name) => match device.key_code(name) {
            Some(code) => plan.with_param("keyCode", code),
            None => plan.with_param("key", name.word()),
        },
    };
    run(core, params, plan).await
}

/// Implements `act.text`. The text is sent to the device and stored nowhere: the event records only its length and a
/// keyed hash.
pub async fn text(core: &Arc<Core>, params: &TextParams) -> Result<Reply<ActResult>> {
    let text = params.text.expose();
    if text.is_empty() {
        return Err(Error::param("text", "at least one character", "an empty string"));
    }
    check_typed(text)?;
    let mut plan = Plan::of(Verb::Text, Steps::Type(Secret::new(text)));
    plan.action.slots.push("text".to_owned());
    plan.evidence = Some(json!({"length": text.chars().count(), "hash": core.experience.secrets.hash(text)}));
    core.experience.secrets.remember(text);
    run(core, params, plan).await
}

/// Rejects the placeholder that replaces typed text in a recorded conversation. Without this check, an agent that reads
/// its own record might type the placeholder.
fn check_typed(text: &str) -> Result<()> {
    match typed::is_marked(text) {
        true => {
            Err(Error::param("text", "the text to type", "the placeholder for typed text in a recorded conversation"))
        }
        false => Ok(()),
    }
}

/// Implements `act.fill`. As with [`text`], the text is sent to the device and stored nowhere.
///
/// # Errors
/// If the target is missing, ambiguous, covered or stale, if it is not a text field, or if the device fails to act.
pub async fn fill(core: &Arc<Core>, params: &FillParams) -> Result<Reply<ActResult>> {
    let text = params.text.expose();
    check_typed(text)?;
    let by = params.by.unwrap_or_else(|| default_by(&params.value));
    let spec = TargetSpec::named(by, &params.value, (false, false), None)?;
    let mut plan = Plan {
        target_spec: Some(spec),
        recover: params.recover,
        ..Plan::of(Verb::Fill, Steps::Fill(Secret::new(text)))
    };
    plan.action.slots.push("text".to_owned());
    plan.evidence = Some(json!({"length": text.chars().count(), "hash": core.experience.secrets.hash(text)}));
    core.experience.secrets.remember(text);
    run(core, params, plan).await
}

/// Implements `act.upload`.
///
/// # Errors
/// If a file may not be given to pages, if the target is missing, ambiguous, covered or stale, or if the device fails to
/// act.
pub async fn upload(core: &Arc<Core>, params: &UploadParams) -> Result<Reply<ActResult>> {
    let device = core.addressed(params)?.target.device;
    if params.files.is_empty() || params.files.len() > MAX_FILES {
        return Err(Error::param("files", "1 to 100 files", params.files.len()));
    }
    let mut files = Vec::with_capacity(params.files.len());
    for (index, name) in params.files.iter().enumerate() {
        let file = device.file(name)?;
        files.push(file.map_err(|bad| Error::param(&format!("{}[{index}]", bad.path), bad.expected, bad.got))?);
    }
    let by = params.by.unwrap_or_else(|| default_by(&params.value));
    let spec = TargetSpec::named(by, &params.value, (false, false), None)?;
    let inputs: Inputs = Arc::new(move |point| {
        point.map(|Point { x, y }| Input::Upload(x, y, files.clone()).into()).into_iter().collect()
    });
    let mut plan =
        Plan { target_spec: Some(spec), recover: params.recover, ..Plan::of(Verb::Upload, Steps::Send(inputs)) };
    plan.action.slots.push("files".to_owned());
    run(core, params, plan).await
}

/// Implements `act.launch`.
///
/// # Errors
/// If not exactly one of `package` and `name` is given, if the package name is malformed, if no app or several have the name,
/// or if the device fails to act.
pub async fn launch(core: &Arc<Core>, params: &LaunchParams) -> Result<Reply<ActResult>> {
    let plan = match (&params.package, &params.name) {
        (Some(package), None) => {
            core.addressed(params)?.target.device.check_app(package)?;
            Plan::launch(package)
        }
        (None, Some(name)) if name.trim().is_empty() => {
            return Err(Error::param("name", "the name of an app", "an empty string"));
        }
        (None, Some(name)) => {
            core.addressed(params)?.target.device.check_apps()?;
            Plan::of(Verb::Launch, Steps::Open(name.trim().to_owned())).with_param("name", name.trim())
        }
        (None, None) => return Err(Error::param("package", "the package of an app, or its name as `name`", "neither")),
        (Some(_), Some(_)) => return Err(Error::param("name", "either `package` or `name`", "both")),
    };
    run(core, params, plan).await
}

/// Implements `act.tab`.
///
/// # Errors
/// `UNSUPPORTED` if the device has no tabs, `NOT_FOUND` if there is no such tab, `CONFLICT` if another session uses it, or if
/// the device fails to act.
pub async fn tab(core: &Arc<Core>, params: &TabParams) -> Result<Reply<ActResult>> {
    let device = core.addressed(params)?.target.device;
    device.check_tabs()?;
    let tab = params.tab.trim().to_owned();
    let is_id = tab.strip_prefix('t').is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()) && !n.is_empty());
    if !is_id && (tab != "new" || params.close) {
        return Err(Error::param("tab", "the id of a tab from device.tabs, such as t2, or new", &params.tab));
    }
    let known = device.tabs(core.addressed(params)?.target.token).await?;
    let session = params.session.as_deref().unwrap_or(DEFAULT_SESSION);
    let used_by = known.iter().find(|one| one.tab == tab).and_then(|one| one.used_by.as_deref());
    if let Some(other) = used_by.filter(|other| *other != session) {
        return Err(Error::new(ErrorCode::Conflict, format!("session {other:?} uses tab {tab}"))
            .hint("act in that session (`--session`), or end it")
            .details(json!({"path": "tab", "session": other})));
    }
    if is_id && !known.iter().any(|one| one.tab == tab) {
        return Err(Error::new(ErrorCode::NotFound, format!("there is no tab {tab}"))
            .hint("`afctl device tabs` lists the tabs")
            .details(json!({"path": "tab", "tabs": known.iter().map(|one| &one.tab).collect::<Vec<_>>()})));
    }
    let input = if params.close { Input::CloseTab(tab) } else { Input::Tab(tab) };
    run(core, params, Plan::single(Verb::Tab, input)).await
}

/// Implements `act.stop`.
///
/// # Errors
/// If the package name is malformed, or if the device fails to act.
pub async fn stop(core: &Arc<Core>, params: &AppParams) -> Result<Reply<ActResult>> {
    core.addressed(params)?.target.device.check_app(&params.package)?;
    run(
        core,
        params,
        Plan::single(Verb::Stop, Input::Stop(params.package.clone()))
            .with_param("package", pattern::origin(&params.package)),
    )
    .await
}

pub(super) async fn run<P: DeviceCall + ActCall + Serialize>(
    core: &Arc<Core>,
    params: &P,
    plan: Plan,
) -> Result<Reply<ActResult>> {
    execute_once(core, params, plan, |done| ActResult {
        event_id: done.event,
        result: done.result,
        target: done.resolved.as_ref().and_then(|r| r.target.clone()),
        point: done.resolved.as_ref().map(|r| r.point),
        moved: done.resolved.as_ref().is_some_and(|r| r.moved),
        unmarked: done.resolved.as_ref().is_some_and(|r| r.unmarked),
        risky: done.resolved.is_some_and(|r| r.risky),
        recovery: done.recovery,
        duration_ms: done.duration_ms,
        look: None,
        replayed: false,
    })
    .await
}
