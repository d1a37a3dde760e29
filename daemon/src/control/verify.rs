//! `verify.*`: fresh observation, judge, durable event (DESIGN 2).

use std::sync::Arc;
use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::observe::Row;
use afd_proto::verify::{MatchMode, NodeExistsParams, TextContainsParams, TopActivityParams, Verified};
use afd_proto::vocabulary::{DeviceCall, ObservationSource, Reply};
use serde_json::{Value, json};

use super::guard::Aim;
use super::look::Look;
use super::reading::Effort;
use super::rows::{columns, count, row};
use super::{Call, Core, Error, Result};
use crate::device::Device;
use crate::memory::events::Event;
use crate::page::select::{self, Selector};
use crate::store::{new_uid, now_ms};

/// At most this many nodes are listed.
const MAX_NODES: usize = 20;

/// What a judge found.
struct Verdict {
    held: bool,
    nodes: Option<Vec<usize>>,
    actual: Option<String>,
    message: String,
}

/// `verify.textContains`
///
/// # Errors
/// `ASSERTION_FAILED` when it does not hold.
pub async fn text_contains(core: &Arc<Core>, params: &TextContainsParams) -> Result<Reply<Verified>> {
    if params.text.is_empty() {
        return Err(Error::param("text", "at least one character", "an empty text"));
    }
    check(core, params, "textContains", &params.text, |_, look| {
        let nodes = select::saying(look.snapshot(), &params.text, params.case_sensitive);
        Ok(Verdict {
            held: !nodes.is_empty(),
            nodes: Some(nodes),
            actual: None,
            message: "no visible text or description contains what was expected".into(),
        })
    })
    .await
}

/// `verify.topActivity`
///
/// # Errors
/// `ASSERTION_FAILED` when it does not hold.
pub async fn top_activity(core: &Arc<Core>, params: &TopActivityParams) -> Result<Reply<Verified>> {
    if params.expected.is_empty() {
        return Err(Error::param("expected", "at least one character", "an empty text"));
    }
    let mode = params.mode.unwrap_or(MatchMode::Contains);
    check(core, params, "topActivity", &params.expected, |_, look| {
        let actual = look.place().activity;
        let held = actual.as_deref().is_some_and(|a| match mode {
            MatchMode::Contains => a.contains(&params.expected),
            MatchMode::Equals => a == params.expected,
        });
        let message = format!("the top activity is {}", actual.as_deref().unwrap_or("unknown"));
        Ok(Verdict { held, nodes: None, actual, message })
    })
    .await
}

/// `verify.nodeExists`
///
/// # Errors
/// `ASSERTION_FAILED` when it does not hold.
pub async fn node_exists(core: &Arc<Core>, params: &NodeExistsParams) -> Result<Reply<Verified>> {
    let aim = Aim::named(params.by, &params.value, params.exact_match, None)?;
    check(core, params, "nodeExists", &params.value, |call, look| {
        let nodes = match &aim {
            Aim::Alias { alias, .. } => match call.resolve_alias(alias, None, look) {
                Ok((index, _)) => vec![index],
                Err(error) if error.code == ErrorCode::RefAliasStale => Vec::new(),
                Err(error) => return Err(error),
            },
            _ => select::visible(look.snapshot(), &Selector { by: params.by, value: &params.value, exact: params.exact_match }),
        };
        let message = format!("no visible node matches by {}", params.by.word());
        Ok(Verdict { held: !nodes.is_empty(), nodes: Some(nodes), actual: None, message })
    })
    .await
}

async fn check<P: DeviceCall>(
    core: &Arc<Core>,
    params: &P,
    op: &'static str,
    expected: &str,
    judge: impl Fn(&Call, &Look) -> Result<Verdict>,
) -> Result<Reply<Verified>> {
    let begun = Instant::now();
    let (call, first) = core.call_reading(params, Device::tree).await?;
    // What was typed must not come back into memory through a check of it.
    let expected = if core.secrets.was_typed(expected) { json!({"typed": core.secrets.hash(expected)}) } else { json!(expected) };
    let mut event = call.verify_event(op);
    let look = match call.look(Effort { settle: true, ..Effort::default() }, first).await {
        Ok(look) => look,
        Err(error) => return call.fail_verify(event, begun, error, json!({"expected": expected})).await,
    };
    // The number of what was judged: an act that came after the reading is none of it.
    event.seq = look.reading.seq;
    event.before = look.place();
    event.judges = look.settled && look.reliable();
    let verdict = match judge(&call, &look) {
        Ok(verdict) => verdict,
        Err(error) => return call.fail_verify(event, begun, error, json!({"expected": expected})).await,
    };
    // Written behind, but before the event of this check, which may confirm the act that it closes.
    call.record_look(&look, ObservationSource::Verify, None).await;
    let evidence = json!({
        "expected": expected,
        "matchedCount": verdict.nodes.as_ref().map(Vec::len),
        "actual": verdict.actual,
        "observationId": look.uid,
        "settled": look.settled,
    });
    if !verdict.held {
        let details = failure_details(op, &expected, &verdict, &look);
        let error = Error::new(ErrorCode::AssertionFailed, format!("{op} {expected} does not hold: {}", verdict.message))
            .hint(advice(&look))
            .details(details);
        return call.fail_verify(event, begun, error, evidence).await;
    }
    event.status = EventStatus::Ok;
    event.failure = None;
    event.evidence = Some(evidence);
    let event_id = event.uid.clone();
    call.commit(event, begun).await?;
    let context = look.context();
    Ok(call.reply(Verified {
        event_id,
        matched: true,
        matched_count: verdict.nodes.as_ref().map(|n| count(n.len())),
        nodes: verdict.nodes.map(|n| node_rows(&look, &n)),
        actual: verdict.actual,
        observation_id: Some(look.uid.clone()),
        settled: look.settled,
        page: Some(context.page),
    }))
}

pub(super) fn node_rows(look: &Look, nodes: &[usize]) -> Vec<Row> {
    let all = columns(None, true);
    nodes.iter().take(MAX_NODES).map(|i| row(&look.snapshot().nodes[*i], &all)).collect()
}

fn failure_details(op: &str, expected: &Value, verdict: &Verdict, look: &Look) -> Value {
    json!({
        "check": op,
        "expected": expected,
        "actual": verdict.actual,
        "matchedCount": verdict.nodes.as_ref().map(Vec::len),
        "rowCount": look.snapshot().nodes.len(),
        "settled": look.settled,
        "hasWebView": look.has_web_view,
    })
}

fn advice(look: &Look) -> &'static str {
    if look.doubt.is_some() {
        "the screen could not be read well (see `observe page`): try again"
    } else if look.has_web_view {
        "a web view is on the screen, whose inside the tree may not show"
    } else {
        "observe the page to see what is there"
    }
}

impl Call {
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

    async fn fail_verify<B>(&self, mut event: Event, begun: Instant, error: Error, evidence: Value) -> Result<B> {
        event.failure = Some(error.code);
        event.error = Some(error.to_json());
        event.evidence = Some(evidence);
        self.commit(event, begun).await?;
        Err(error)
    }
}
