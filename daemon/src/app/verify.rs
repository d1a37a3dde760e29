//! `verify.*`: captures the screen, checks a condition on it, and records the result as an event.

use std::sync::Arc;
use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::rows::Row;
use afd_proto::verify::{
    ElementParams, ElementState, MatchMode, NodeExistsParams, TextContainsParams, TopActivityParams, VerifyElement,
    VerifyNodeExists, VerifyResult, VerifyTextContains, VerifyTopActivity,
};
use afd_proto::vocabulary::{By, DeviceCall, ObservationSource, Reply};
use serde_json::{Value, json};

use super::act::resolve_target::single_match;
use super::act::target_spec::{TargetSpec, check_length, default_by};
use super::observe::capture::CaptureOptions;
use super::observe::screen_capture::ScreenCapture;
use super::rows::{columns, count, row};
use super::{Call, Core, Error, Result, recall};
use crate::app::Methods;
use afd_device::Device;
use afd_experience::memory::events::Event;
use afd_screen::page::folding::Wanted;
use afd_screen::page::select::{self, Compare, Gesture, Selector};
use afd_screen::page::{Snapshot, element_state};
use afd_store::{new_uid, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VerifyTextContains, _, _>(|core, p| async move { text_contains(&core, &p).await });
    methods.add::<VerifyTopActivity, _, _>(|core, p| async move { top_activity(&core, &p).await });
    methods.add::<VerifyElement, _, _>(|core, p| async move { element(&core, &p).await });
    methods.add::<VerifyNodeExists, _, _>(|core, p| async move { node_exists(&core, &p).await });
}

/// Maximum number of matching nodes listed in a response.
const MAX_NODES: usize = 20;

/// Result of a check.
struct Verdict {
    /// Whether the condition holds.
    holds: bool,
    nodes: Option<Vec<usize>>,
    actual: Option<String>,
    /// Message to return if the condition does not hold.
    message: String,
}

/// Implements `verify.textContains`.
///
/// # Errors
/// `ASSERTION_FAILED` if no visible node contains the text.
pub async fn text_contains(core: &Arc<Core>, params: &TextContainsParams) -> Result<Reply<VerifyResult>> {
    if params.text.is_empty() {
        return Err(Error::param("text", "at least one character", "an empty string"));
    }
    check(core, params, "textContains", &params.text, |_, capture| {
        let nodes = select::containing(capture.snapshot(), &params.text, params.case_sensitive);
        Ok(Verdict {
            holds: !nodes.is_empty(),
            nodes: Some(nodes),
            actual: None,
            message: "no visible text or description contains the expected text".into(),
        })
    })
    .await
}

/// Implements `verify.topActivity`.
///
/// # Errors
/// `ASSERTION_FAILED` if another activity is in the foreground, `UNSUPPORTED` if the phone's service cannot report it.
pub async fn top_activity(core: &Arc<Core>, params: &TopActivityParams) -> Result<Reply<VerifyResult>> {
    if params.expected.is_empty() {
        return Err(Error::param("expected", "at least one character", "an empty string"));
    }
    let mode = params.mode.unwrap_or(MatchMode::Contains);
    check(core, params, "topActivity", &params.expected, |_, capture| {
        let snapshot = capture.snapshot();
        let actual = match (&snapshot.place, snapshot.place_knowable) {
            (None, false) if is_package(&params.expected) => snapshot.app.clone(),
            (None, false) => return Err(unknown_activity(snapshot)),
            _ => snapshot.activity_below.clone().or(capture.place().activity),
        };
        let holds = actual.as_deref().is_some_and(|a| match mode {
            MatchMode::Contains => a.contains(&params.expected),
            MatchMode::Equals => a == params.expected,
        });
        let message = format!("the top activity is {}", actual.as_deref().unwrap_or("unknown"));
        Ok(Verdict { holds, nodes: None, actual, message })
    })
    .await
}

/// Returns whether an expected activity is only a package name.
fn is_package(expected: &str) -> bool {
    let part = |p: &str| !p.is_empty() && p.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    expected.contains('.') && expected.split('.').all(part)
}

fn unknown_activity(snapshot: &Snapshot) -> Error {
    let message = format!("the device cannot tell which activity is in the foreground (mode {})", snapshot.mode);
    let instead = "check for a text or a node instead, or only for the package";
    let advice = snapshot.place_advice.map_or_else(|| instead.to_owned(), |advice| format!("{instead}; or {advice}"));
    Error::new(ErrorCode::Unsupported, message).hint(advice)
}

/// Implements `verify.element`.
///
/// # Errors
/// `ASSERTION_FAILED` if the condition does not hold, `UNSUPPORTED` if the screen does not reveal whether it
/// holds, `TARGET_AMBIGUOUS` if several elements match.
pub async fn element(core: &Arc<Core>, params: &ElementParams) -> Result<Reply<VerifyResult>> {
    if params.text.trim().is_empty() {
        return Err(Error::param("text", "at least one character", "an empty string"));
    }
    if params.shows.is_some() && params.state.is_some() {
        return Err(Error::param("shows", "either state or shows", "both"));
    }
    if let Some(shows) = &params.shows {
        check_length("shows", shows)?;
    }
    check(core, params, "element", &params.text, |call, capture| call.judge_element(params, capture)).await
}

/// Implements `verify.nodeExists`.
///
/// # Errors
/// `ASSERTION_FAILED` if no visible node matches; `REF_ALIAS_UNOBSERVED` if the alias is not among those returned to
/// the session.
pub async fn node_exists(core: &Arc<Core>, params: &NodeExistsParams) -> Result<Reply<VerifyResult>> {
    let spec = TargetSpec::named(params.by, &params.value, (params.exact_match, true), None)?;
    check(core, params, "nodeExists", &params.value, |call, capture| {
        let nodes = match &spec {
            TargetSpec::Alias { alias, .. } => match call.resolve_alias(alias, None, capture) {
                Ok((index, _)) => vec![index],
                Err(error) if error.code == ErrorCode::RefAliasStale => Vec::new(),
                Err(error) => return Err(error),
            },
            _ => select::visible(
                capture.snapshot(),
                &Selector { by: params.by, value: &params.value, exact: params.exact_match },
            ),
        };
        let message = format!("no visible node matches by {}", params.by.word());
        Ok(Verdict { holds: !nodes.is_empty(), nodes: Some(nodes), actual: None, message })
    })
    .await
}

/// Captures the screen, applies `judge`, and records the outcome as an event.
async fn check<P: DeviceCall>(
    core: &Arc<Core>,
    params: &P,
    op: &'static str,
    expected: &str,
    judge: impl Fn(&Call, &ScreenCapture) -> Result<Verdict>,
) -> Result<Reply<VerifyResult>> {
    check_length(if op == "textContains" { "text" } else { "expected" }, expected)?;
    let started = Instant::now();
    let (call, first) = core.call_reading(params, Device::tree).await?;
    // Typed text must not enter memory through a check for it.
    let expected = if core.experience.secrets.reveals_typed(expected) {
        json!({"typed": core.experience.secrets.hash(expected)})
    } else {
        json!(expected)
    };
    let mut event = call.verify_event(op);
    let capture = match call.capture(CaptureOptions { settle: true, ..CaptureOptions::default() }, first).await {
        Ok(capture) => capture,
        Err(error) => return call.fail_verify(event, started, error, json!({"expected": expected})).await,
    };
    // The event gets the sequence number of the reading, because a later action was not part of what was checked.
    event.seq = capture.reading.seq;
    event.before = capture.place();
    event.judges = capture.settled && capture.reliable();
    let verdict = match judge(&call, &capture) {
        Ok(verdict) => verdict,
        Err(error) => return call.fail_verify(event, started, error, json!({"expected": expected})).await,
    };
    // Queued before the event of this check, so that the observation closes the preceding action before the event
    // confirms it.
    call.record_and_learn(&capture, ObservationSource::Verify, None).await;
    let evidence = json!({
        "expected": expected,
        "matchedCount": verdict.nodes.as_ref().map(Vec::len),
        "actual": verdict.actual,
        "observationId": capture.uid,
        "settled": capture.settled,
    });
    if !verdict.holds {
        let details = failure_details(op, &expected, &verdict, &capture);
        let error = Error::new(ErrorCode::AssertionFailed, format!("{op} {expected} failed: {}", verdict.message))
            .hint(failure_hint(&capture))
            .details(details);
        return call.fail_verify(event, started, error, evidence).await;
    }
    event.status = EventStatus::Ok;
    event.failure = None;
    event.evidence = Some(evidence);
    let event_id = event.uid.clone();
    call.commit(event, started).await?;
    let context = capture.context();
    Ok(call.reply(VerifyResult {
        event_id,
        matched: true,
        matched_count: verdict.nodes.as_ref().map(|n| count(n.len())),
        nodes: verdict.nodes.map(|n| node_rows(&capture, &n)),
        actual: verdict.actual,
        observation_id: Some(capture.uid.clone()),
        settled: capture.settled,
        page: Some(context.page),
    }))
}

pub(super) fn node_rows(capture: &ScreenCapture, nodes: &[usize]) -> Vec<Row> {
    let all = columns(None, true);
    nodes.iter().take(MAX_NODES).map(|i| row(&capture.snapshot().nodes[*i], &all)).collect()
}

fn failure_details(op: &str, expected: &Value, verdict: &Verdict, capture: &ScreenCapture) -> Value {
    json!({
        "check": op,
        "expected": expected,
        "actual": verdict.actual,
        "matchedCount": verdict.nodes.as_ref().map(Vec::len),
        "rowCount": capture.snapshot().nodes.len(),
        "settled": capture.settled,
        "hasWebView": capture.has_web_view,
    })
}

fn failure_hint(capture: &ScreenCapture) -> &'static str {
    if capture.doubt.is_some() {
        "the screen could not be read reliably (see `observe page`); try again"
    } else if capture.has_web_view {
        "the screen contains a web view, whose content may be missing from the tree"
    } else {
        "observe the page to see what is there"
    }
}

fn shows_text(snapshot: &Snapshot, element: usize, text: &str, compare: Compare) -> bool {
    // An empty field matches an empty expected text.
    let own = snapshot.nodes[element].text.as_deref().unwrap_or_default();
    if text.trim().is_empty() && own.trim().is_empty() {
        return true;
    }
    let wanted = Wanted::new(text);
    let has = |shown: &String| match compare {
        Compare::Exact => shown.trim() == text.trim(),
        _ => wanted.is_words_of(shown),
    };
    element_state::texts(snapshot, element).iter().any(has)
}

impl Call {
    fn judge_element(&self, params: &ElementParams, capture: &ScreenCapture) -> Result<Verdict> {
        let snapshot = capture.snapshot();
        let compare = if params.exact_match { Compare::Exact } else { Compare::Words };
        let alias = match default_by(&params.text) {
            By::Ref => match self.resolve_alias(params.text.trim(), None, capture) {
                Ok((index, _)) => Some(Some(index)),
                Err(error) if error.code == ErrorCode::RefAliasStale => Some(None),
                Err(error) => return Err(error),
            },
            _ => None,
        };
        let saying = || match alias {
            Some(found) => found.into_iter().collect(),
            None => select::saying(snapshot, capture.refs(), &params.text, compare),
        };
        let verdict = |holds, nodes, message: &str| {
            Ok(Verdict { holds, nodes: Some(nodes), actual: None, message: message.to_owned() })
        };
        match (params.state, &params.shows) {
            (None, None) => {
                let nodes = saying();
                verdict(!nodes.is_empty(), nodes, "nothing on the page says it in these words")
            }
            (Some(ElementState::Gone), _) => {
                let nodes = saying();
                // An unreliable capture may lack an element that is still there.
                let (holds, message) = match capture.reliable() {
                    true => (nodes.is_empty(), "it is still on the page"),
                    false => (false, "the page could not be read reliably"),
                };
                verdict(holds, nodes, message)
            }
            (Some(state @ (ElementState::Enabled | ElementState::Disabled)), _) => {
                let nodes = saying();
                if nodes.is_empty() {
                    return verdict(false, nodes, "nothing on the page says it in these words");
                }
                let wanted = state == ElementState::Enabled;
                let holds = nodes.iter().all(|i| element_state::is_enabled(snapshot, *i) == wanted);
                verdict(holds, nodes, "its state is different")
            }
            (Some(state), _) => {
                let element = self.checked_element(&params.text, params.exact_match, alias, capture)?;
                let is_on = element_state::is_on(snapshot, element).ok_or_else(|| {
                    Error::new(ErrorCode::Unsupported, "the screen does not say whether it is on")
                        .hint("look at a screenshot, or check a text that depends on it")
                })?;
                let message = if is_on { "it is on" } else { "it is off" };
                verdict(is_on == (state == ElementState::On), vec![element], message)
            }
            (None, Some(shows)) => {
                let element = self.checked_element(&params.text, params.exact_match, alias, capture)?;
                if snapshot.nodes[element].password {
                    return Err(Error::new(ErrorCode::Unsupported, "a password field masks its text"));
                }
                verdict(shows_text(snapshot, element, shows, compare), vec![element], "it shows another text")
            }
        }
    }

    /// Returns the element to check: the one that the alias refers to, else the only element that matches the label.
    fn checked_element(
        &self,
        text: &str,
        exact: bool,
        alias: Option<Option<usize>>,
        capture: &ScreenCapture,
    ) -> Result<usize> {
        match alias {
            Some(Some(index)) => return Ok(index),
            Some(None) => {
                return Err(Error::new(ErrorCode::RefAliasStale, format!("{text} is stale"))
                    .hint("observe again and use one of the new refs"));
            }
            None => {}
        }
        let selector = Selector { by: By::Label, value: text, exact };
        single_match(capture, &selector, (Gesture::Tap, false)).map(|found| found.element)
    }

    /// Creates the event for a check. The event counts as failed until the check has passed.
    fn verify_event(&self, op: &str) -> Event {
        Event {
            uid: new_uid(),
            seq: self.core.store.next_seq(),
            request: None,
            category: Category::Verify,
            op: op.to_owned(),
            status: EventStatus::Failed,
            sent: false,
            action: None,
            failure: None,
            error: None,
            result: None,
            evidence: None,
            duration_ms: 0,
            before: Default::default(),
            parent: None,
            judges: false,
            at: now_ms(),
        }
    }

    /// Records a failed check and returns its error.
    async fn fail_verify<B>(&self, mut event: Event, started: Instant, error: Error, evidence: Value) -> Result<B> {
        event.failure = Some(error.code);
        event.error = Some(error.to_json());
        event.evidence = Some(evidence);
        let app = event.before.app.clone();
        self.commit(event, started).await?;
        Err(recall::with_remembered(&self.core, error, app, self.session_id).await)
    }
}
