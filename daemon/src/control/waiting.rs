//! `observe.wait`: one stream of observations per device, however many wait for something to come up on it.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::observe::{Until, WaitParams, Waited};
use afd_proto::vocabulary::{ObservationSource, Reply};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::look::Look;
use super::rows::count;
use super::streams::{Name, Sight, Stream};
use super::verify::node_rows;
use super::{Call, Core, Error, Result};
use crate::device::DriverError;
use crate::page::select;
use crate::task::checkpoint;

/// How far apart the observations of a stream are: far enough to tell whether the page has settled.
const PACE: Duration = Duration::from_millis(200);
/// The longest wait, milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Observes for as long as somebody waits. The device is free between the observations.
async fn observe(call: Call, name: Name, stream: Stream) {
    while stream.receiver_count() > 0 || !call.core.watch_streams.end(&name, &stream) {
        checkpoint(&format!("watch:{}", call.echo.device));
        let begun = Instant::now();
        let seen = call.glance().await;
        stream.send_replace(Some(Arc::new(Sight { begun, seen })));
        tokio::select! {
            () = tokio::time::sleep(PACE) => {}
            () = stream.closed() => {}
        }
    }
}

/// What is waited for, checked.
struct Goal {
    until: Until,
    text: String,
}

impl Goal {
    fn of(params: &WaitParams) -> Result<Self> {
        let text = params.text.clone().unwrap_or_default();
        match (params.until, text.is_empty()) {
            (Until::Settled, false) => Err(Error::param("text", "nothing, `settled` waits for no text", "a text")),
            (Until::Text | Until::Gone | Until::Activity, true) => Err(Error::param("text", "what to wait for", "nothing")),
            (until, _) => Ok(Self { until, text }),
        }
    }

    /// Whether it is so; and the nodes that say it, for a text.
    fn met(&self, look: &Look) -> Option<Option<Vec<usize>>> {
        let says = || select::saying(look.snapshot(), &self.text, false);
        match self.until {
            Until::Text => Some(says()).filter(|nodes| !nodes.is_empty()).map(Some),
            // A screen that cannot be read well shows nothing for a moment, which is not the same as gone.
            Until::Gone => (look.reliable() && says().is_empty()).then_some(None),
            Until::Activity => {
                let activity = look.place().activity.unwrap_or_default();
                activity.to_lowercase().contains(&self.text.to_lowercase()).then_some(None)
            }
            Until::Settled => (look.settled && look.reliable()).then_some(None),
        }
    }
}

/// `observe.wait`
///
/// # Errors
/// `TIMEOUT` when the time runs out first; what the device says when it cannot be observed.
pub async fn wait(core: &Arc<Core>, params: &WaitParams) -> Result<Reply<Waited>> {
    let timeout_ms = params.timeout_ms.unwrap_or(10_000);
    if !(1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        return Err(Error::param("timeoutMs", "1 to 600000", timeout_ms));
    }
    let goal = Goal::of(params)?;
    let call = core.call(params).await?;
    let begun = Instant::now();
    let inputs = call.device().inputs();
    let mut last = None;
    let watched = tokio::time::timeout(Duration::from_millis(timeout_ms), call.watch(&goal, begun, inputs, &mut last)).await;
    let (look, nodes) = match watched {
        Ok(found) => found?,
        Err(_) => return Err(run_out(&goal, timeout_ms, last)),
    };
    call.record_look(&look, ObservationSource::Wait, None).await;
    let context = call.with_hints(&look, params.hints).await;
    Ok(call.reply(Waited {
        context,
        until: goal.until,
        waited_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        matched_count: nodes.as_ref().map(|n| count(n.len())),
        nodes: nodes.map(|n| node_rows(&look, &n)),
    }))
}

/// What was waited for may have been typed, so that the error does not repeat it.
fn run_out(goal: &Goal, timeout_ms: u64, last: Option<Arc<Sight>>) -> Error {
    let what = match goal.until {
        Until::Text => "the text did not come up",
        Until::Activity => "the activity did not come up",
        Until::Gone => "the text did not go",
        Until::Settled => "the page did not settle",
    };
    let look = match last.as_ref().map(|sight| &sight.seen) {
        // It was there, and is not any more.
        Some(Err(error)) => return error.clone().into(),
        Some(Ok(look)) => Some(look),
        None => None,
    };
    Error::new(ErrorCode::Timeout, format!("{what} within {timeout_ms} ms")).hint("observe the page to see what is there").details(json!({
        "until": goal.until,
        "timeoutMs": timeout_ms,
        "topActivity": look.and_then(|l| l.place().activity),
        "settled": look.map(|l| l.settled),
        "reliable": look.map(Look::reliable),
    }))
}

impl Call {
    /// The stream of observations of the device; begun where there is none.
    fn stream(&self) -> watch::Receiver<Option<Arc<Sight>>> {
        let name = (Arc::as_ptr(self.device()) as usize, self.target.token.clone());
        let (receiver, new) = self.core.watch_streams.join(&name);
        if let Some(stream) = new {
            let (call, label) = (self.clone(), format!("watch:{}", self.echo.device));
            self.core.tasks.spawn(label, move || observe(call.clone(), name.clone(), stream.clone()));
        }
        receiver
    }

    /// Looks at each observation that began after the call did, and after all inputs that it knows of.
    async fn watch(&self, goal: &Goal, begun: Instant, inputs: u64, last: &mut Option<Arc<Sight>>) -> Result<(Look, Option<Vec<usize>>)> {
        let mut stream = self.stream();
        let mut stopping = self.core.runtime.stopping();
        loop {
            tokio::select! {
                changed = stream.changed() => {
                    if changed.is_err() {
                        return Err(Error::new(ErrorCode::Internal, "the stream of observations ended early"));
                    }
                }
                _ = stopping.wait_for(|stop| *stop) => return Err(Error::new(ErrorCode::ShuttingDown, "the daemon is stopping")),
            }
            let Some(sight) = stream.borrow_and_update().clone().filter(|s| s.begun >= begun) else { continue };
            match &sight.seen {
                Ok(look) if look.reading.inputs >= inputs => {
                    if let Some(nodes) = goal.met(look) {
                        return Ok((look.again(), nodes));
                    }
                }
                Ok(_) => {}
                // A device that cannot be reached at all is told at once; one that was there may come back.
                Err(error) if last.is_none() || matches!(error, DriverError::Auth(_)) => return Err(error.clone().into()),
                Err(_) => {}
            }
            *last = Some(sight);
        }
    }
}
