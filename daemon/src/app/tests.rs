//! Tests of use cases with a fake driver and a temporary store, without a socket or a process.

mod fake;

use std::sync::Arc;

use afd_proto::act::{AppParams, IntentParams, KeyParams, PlainParams, ShellParams, TapParams, TextParams};
use afd_proto::device::{LeaseParams, PackagesParams};
use afd_proto::keys::KeyName;
use afd_proto::memory::{Category, EventStatus, LogParams, MemorySave};
use afd_proto::notes::SaveParams;
use afd_proto::observe::{PageParams, RefsParams};
use afd_proto::picture::{OverlayGetParams, OverlaySetParams};
use afd_proto::verify::TextContainsParams;
use afd_proto::vocabulary::{By, Verb};
use afd_proto::{ErrorCode, Method as _, Secret};
use tokio::sync::Notify;

use super::device::shell;
use super::memory::notes;
use super::{CallScope, Core, act, device, memory, observe, recover, replay, run_call, verify};
use afd_device::{DriverError, Input, Key};
use afd_experience::memory::requests;
use fake::{Lab, list};

fn by(by: By, value: &str) -> TapParams {
    TapParams { by: Some(by), value: Some(value.to_owned()), ..TapParams::default() }
}

fn in_session(session: &str, params: TapParams) -> TapParams {
    TapParams { session: Some(session.to_owned()), ..params }
}

fn contains(text: &str) -> TextContainsParams {
    TextContainsParams { text: text.to_owned(), ..TextContainsParams::default() }
}

#[tokio::test]
async fn tap_by_text_lands_on_the_clickable_ancestor() {
    let lab = Lab::new(list(&["Wi-Fi", "Display"]));
    let done = act::touch(&lab.core, Verb::Tap, &by(By::Text, "Display")).await.expect("taps");
    assert_eq!(done.body.target.and_then(|t| t.label).as_deref(), Some("Display"));
    let inputs = lab.driver.inputs();
    let [Input::Tap(x, y)] = inputs.as_slice() else { panic!("{inputs:?}") };
    assert!(list(&["Wi-Fi", "Display"]).nodes[3].bounds.contains(*x, *y), "{x},{y} is not on the row");
}

#[tokio::test]
async fn lost_response_is_an_unknown_outcome_that_is_never_repeated() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    lab.driver.respond_with(Err(DriverError::Lost("connection reset".into())));
    let params = TapParams { request_key: Some("once".into()), ..by(By::Text, "Wi-Fi") };
    for attempt in 1..=2 {
        let error = act::touch(&lab.core, Verb::Tap, &params).await.expect_err("the outcome is unknown");
        assert_eq!(error.code, ErrorCode::OutcomeUnknown, "attempt {attempt}");
    }
    assert_eq!(lab.driver.inputs().len(), 1, "the second attempt returns the recorded outcome");
    let log = memory::log(&lab.core, &LogParams::default()).await.expect("reads");
    let events: Vec<_> = log.events.iter().map(|e| (e.status, e.failure_cause.as_deref())).collect();
    assert_eq!(events, [(EventStatus::Unknown, Some("OUTCOME_UNKNOWN"))]);
}

#[tokio::test]
async fn ambiguous_and_missing_targets_send_nothing() {
    let lab = Lab::new(list(&["Alarm one", "Alarm two"]));
    for (text, code) in [("Alarm", ErrorCode::TargetAmbiguous), ("Pluto", ErrorCode::TargetNotFound)] {
        let error = act::touch(&lab.core, Verb::Tap, &by(By::Text, text)).await.expect_err("there is no single target");
        assert_eq!(error.code, code);
    }
    assert_eq!(lab.driver.inputs(), []);
}

#[tokio::test]
async fn alias_follows_a_moved_row_but_not_another_title() {
    let lab = Lab::new(list(&["Wi-Fi", "Display"]));
    let seen = observe::refs(&lab.core, &RefsParams::default()).await.expect("reads").body.refs.rows;
    let alias = &seen.iter().find(|r| r.label == "Display").expect("a row").alias;
    lab.driver.show(list(&["Network", "Wi-Fi", "Display"]));
    let moved = act::touch(&lab.core, Verb::Tap, &by(By::Ref, alias)).await.expect("follows");
    assert!(moved.body.moved);
    lab.driver.show(list(&["Network", "Wi-Fi", "Sound"]));
    let stale = act::touch(&lab.core, Verb::Tap, &by(By::Ref, alias)).await.expect_err("the row is gone");
    assert_eq!(stale.code, ErrorCode::RefAliasStale);
    let other =
        act::touch(&lab.core, Verb::Tap, &in_session("other", by(By::Ref, alias))).await.expect_err("not its alias");
    assert_eq!(other.code, ErrorCode::RefAliasUnobserved);
    assert_eq!(lab.driver.inputs().len(), 1);
}

#[tokio::test]
async fn lease_excludes_actions_of_other_sessions_but_not_reads() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let lease = LeaseParams { ttl_ms: 60_000, session: Some("ann".into()), ..LeaseParams::default() };
    device::lease(&lab.core, &lease).await.expect("leases");
    let busy = act::touch(&lab.core, Verb::Tap, &in_session("ben", by(By::Text, "Wi-Fi"))).await.expect_err("leased");
    assert_eq!(busy.code, ErrorCode::DeviceBusy);
    let page = PageParams { session: Some("ben".into()), ..PageParams::default() };
    observe::page(&lab.core, &page).await.expect("reads");
    act::touch(&lab.core, Verb::Tap, &in_session("ann", by(By::Text, "Wi-Fi"))).await.expect("the holder acts");
    assert_eq!(lab.driver.inputs().len(), 1);
}

#[tokio::test]
async fn cancelled_call_sends_nothing_and_leaves_no_event() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let scope = CallScope::new(None, std::sync::Arc::default(), 1, None);
    assert!(scope.cancel());
    let cancelled = run_call(scope, act::touch(&lab.core, Verb::Tap, &by(By::Text, "Wi-Fi"))).await;
    assert!(matches!(cancelled, Err(error) if error.code == ErrorCode::Cancelled));
    assert_eq!(lab.driver.inputs(), []);
    assert_eq!(memory::log(&lab.core, &LogParams::default()).await.expect("reads").events, []);
}

#[tokio::test]
async fn recovery_names_the_failure_that_it_answers() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    observe::page(&lab.core, &PageParams::default()).await.expect("reads");
    act::touch(&lab.core, Verb::Tap, &by(By::Text, "Pluto")).await.expect_err("no such row");
    let params = AppParams { package: "a.b".into(), ..AppParams::default() };
    let done = recover::relaunch(&lab.core, &params).await.expect("recovers").body;
    assert_eq!(done.failure_cause.as_deref(), Some("TARGET_NOT_FOUND"));
    let log = memory::log(&lab.core, &LogParams::default()).await.expect("reads").events;
    let categories: Vec<_> = log.iter().map(|e| e.category).collect();
    assert_eq!(categories, [Category::Recover, Category::Act]);
    assert_eq!(log[0].parent.as_ref(), Some(&log[1].uid));
}

#[tokio::test]
async fn checks_are_recorded_whether_they_pass_or_fail() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    verify::text_contains(&lab.core, &contains("wi-fi")).await.expect("passes");
    let failed = verify::text_contains(&lab.core, &contains("Pluto")).await.expect_err("fails");
    assert_eq!(failed.code, ErrorCode::AssertionFailed);
    let log = memory::log(&lab.core, &LogParams::default()).await.expect("reads").events;
    let statuses: Vec<_> = log.iter().map(|e| e.status).collect();
    assert_eq!(statuses, [EventStatus::Failed, EventStatus::Ok]);
}

#[tokio::test]
async fn empty_screen_is_not_reliable_and_teaches_nothing() {
    let lab = Lab::new(list(&[]));
    lab.driver.show(afd_screen::page::Snapshot { nodes: Vec::new(), ..list(&[]) });
    for _ in 0..3 {
        let seen = observe::page(&lab.core, &PageParams::default()).await.expect("reads").body.context;
        assert!(!seen.reliable && seen.reason.is_some());
        assert_eq!(seen.page.state, None);
    }
}

#[tokio::test]
async fn typed_text_is_in_no_event() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let params = TextParams { text: Secret::new("correct horse battery"), ..TextParams::default() };
    act::text(&lab.core, &params).await.expect("types");
    assert_eq!(lab.driver.inputs(), [Input::Text(Secret::new("correct horse battery"))]);
    let log = memory::log(&lab.core, &LogParams::default()).await.expect("reads").events;
    let text = serde_json::to_string(&log).expect("serialises");
    assert!(!text.contains("horse") && text.contains("21"), "{text}");
}

#[tokio::test]
async fn shell_commands_are_refused_unless_the_device_allows_them() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let params = ShellParams { command: Secret::new("id"), ..ShellParams::default() };
    let error = shell::run(&lab.core, &params).await.expect_err("not allowed");
    assert_eq!(error.code, ErrorCode::Refused);
    assert_eq!(lab.driver.inputs(), []);
}

#[tokio::test]
async fn what_a_kind_of_device_cannot_do_is_unsupported_and_names_something_else() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let intent = IntentParams { action: Some("a.b".into()), ..IntentParams::default() };
    let code = KeyParams { key_code: Some(66), ..KeyParams::default() };
    let errors = [
        shell::intent(&lab.core, &intent).await.map(|_| ()),
        act::key(&lab.core, &code).await.map(|_| ()),
        device::packages(&lab.core, &PackagesParams::default()).await.map(|_| ()),
        observe::overlay(&lab.core, &OverlayGetParams::default()).await.map(|_| ()),
        observe::set_overlay(&lab.core, &OverlaySetParams::default()).await.map(|_| ()),
    ];
    for error in errors.map(|result| result.expect_err("unsupported")) {
        assert_eq!(error.code, ErrorCode::Unsupported, "{error:?}");
        assert!(error.message.starts_with("a device of kind fake ") && error.hint.is_some(), "{error:?}");
    }
    assert_eq!(lab.driver.inputs(), []);
    let named = KeyParams { key: Some(KeyName::Enter), ..KeyParams::default() };
    act::key(&lab.core, &named).await.expect("presses");
    assert_eq!(lab.driver.inputs(), [Input::Keys(vec![Key::Named(KeyName::Enter)])]);
    let info = device::list(&lab.core.devices).devices.remove(0);
    assert_eq!(info.capabilities, ["shell"]);
}

#[tokio::test]
async fn actions_of_many_sessions_are_sent_one_after_the_other() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let calls = (0..8).map(|i| {
        let core = lab.core.clone();
        let params = PlainParams { session: Some(format!("s{i}")), ..PlainParams::default() };
        tokio::spawn(async move { act::back(&core, &params).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("does not panic").expect("presses");
    }
    assert_eq!((lab.driver.inputs().len(), lab.driver.most_at_once()), (8, 1));
}

/// Calls `memory.save` with a request key; `before` and `after` run around its write.
async fn save_note(
    core: Arc<Core>,
    before: impl Future<Output = ()> + Send + 'static,
    after: impl Future<Output = ()> + Send + 'static,
) -> String {
    let own = core.clone();
    let work = async move {
        before.await;
        let saved =
            notes::save(&own, &SaveParams { topic: "t".into(), content: "c".into(), ..SaveParams::default() }).await?;
        after.await;
        Ok(serde_json::value::to_raw_value(&saved).expect("JSON"))
    };
    let done = replay::run(&core, &MemorySave::INFO, Some("key".to_owned()), "{}", Box::pin(work)).await;
    done.expect("saves").result.get().to_owned()
}

#[tokio::test]
async fn interrupted_call_leaves_its_key_only_if_it_wrote_something() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let begun = async || {
        lab.core.store.read(|c| requests::find(c, "memory.save", "key")).await.expect("reads").map(|found| found.done)
    };
    // The states that a crash would leave before the write, after the write, and after the response.
    let (started, before, after) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (starts, waits, holds) = (started.clone(), before.clone(), after.clone());
    let waiting = async move {
        starts.notify_one();
        waits.notified().await;
    };
    let call = tokio::spawn(save_note(lab.core.clone(), waiting, async move { holds.notified().await }));
    started.notified().await;
    assert_eq!(begun().await, None);
    before.notify_one();
    while begun().await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(begun().await, Some(false));
    after.notify_one();
    let saved = call.await.expect("ends");
    // The repeated call waits until the result is stored.
    let again = save_note(lab.core.clone(), async { panic!("it is executed again") }, async {}).await;
    assert_eq!((again, begun().await), (saved, Some(true)));
}

#[tokio::test]
async fn readings_of_a_page_that_stands_still_share_one_screen() {
    let lab = Lab::new(list(&["Wi-Fi"]));
    let (device, _) = lab.core.devices.get("fake").expect("a device");
    let read = async || device.tree(None).expect("is queued").answer().await.expect("reads").value;
    let first = read().await;
    assert!(Arc::ptr_eq(&first, &read().await));
    lab.driver.show(list(&["Wi-Fi", "Display"]));
    let changed = read().await;
    assert_eq!(changed.refs().iter().filter(|r| r.label.title == "Display").count(), 1);
    lab.driver.show(list(&["Wi-Fi"]));
    assert_eq!(read().await.content_hash(), first.content_hash());
}
