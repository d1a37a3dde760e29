//! `observe.wait`: waits until a condition holds on the screen.
//!
//! All calls that wait on the same device with the same token share one stream of observations. The first call starts
//! the stream, and it ends with the last one. A call considers only captures that were started after the call and that
//! include every input the device had received by then. A condition that held only before the call therefore does not
//! count.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::observe::{ObserveWait, Until, WaitParams, WaitResult};
use afd_proto::vocabulary::{By, ObservationSource, Reply};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::screen_capture::ScreenCapture;
use super::streams::{Stream, StreamItem, StreamKey};
use crate::app::act::target_spec::default_by;
use crate::app::rows::count;
use crate::app::verify::node_rows;
use crate::app::{Call, Core, Error, Methods, Result, scope};
use afd_base::task::failpoint;
use afd_device::DriverError;
use afd_screen::page::select::{self, Compare};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ObserveWait, _, _>(|core, p| async move { wait(&core, &p).await });
}

/// Pause between the observations in a stream: long enough to tell whether the page has settled.
const INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Produces the items of a stream while it has subscribers. The device is not held between observations.
async fn produce(call: Call, key: StreamKey, stream: Stream) {
    while stream.receiver_count() > 0 || !call.core.screens.streams.remove_if_unused(&key, &stream) {
        failpoint(&format!("watch:{}", call.echo.device));
        let started = Instant::now();
        let result = call.capture_once().await;
        stream.send_replace(Some(Arc::new(StreamItem { started, result })));
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = stream.closed() => {}
        }
    }
}

/// Validated condition to wait for.
struct Condition {
    until: Until,
    text: String,
}

impl Condition {
    fn of(params: &WaitParams) -> Result<Self> {
        let text = params.text.clone().unwrap_or_default();
        match (params.until, text.is_empty()) {
            (Until::Settled, false) => Err(Error::param("text", "no value, as `settled` takes no text", "a text")),
            (Until::Text | Until::Gone | Until::Activity, true) => {
                Err(Error::param("text", "a text to wait for", "nothing"))
            }
            (until, _) => Ok(Self { until, text }),
        }
    }

    /// Returns a description of the condition without its text, for progress reports.
    fn waiting(&self) -> &'static str {
        match self.until {
            Until::Text => "waiting for the text",
            Until::Gone => "waiting until the text is gone",
            Until::Activity => "waiting for the activity",
            Until::Settled => "waiting until the page has settled",
        }
    }

    /// Returns `Some` if the condition holds; for `Until::Text`, with the matching nodes.
    fn check(&self, capture: &ScreenCapture) -> Option<Option<Vec<usize>>> {
        let matches = || select::saying(capture.snapshot(), capture.refs(), &self.text, Compare::Part);
        match self.until {
            Until::Text => Some(matches()).filter(|nodes| !nodes.is_empty()).map(Some),
            // An unreliable capture may lack the text although it is still on the screen.
            Until::Gone => (capture.reliable() && matches().is_empty()).then_some(None),
            Until::Activity => {
                let activity =
                    capture.snapshot().activity_below.clone().or(capture.place().activity).unwrap_or_default();
                activity.to_lowercase().contains(&self.text.to_lowercase()).then_some(None)
            }
            Until::Settled => (capture.settled && capture.reliable()).then_some(None),
        }
    }
}

/// Implements `observe.wait`.
///
/// # Errors
/// `TIMEOUT` if the condition is not met in time; the device error if the screen cannot be observed.
pub async fn wait(core: &Arc<Core>, params: &WaitParams) -> Result<Reply<WaitResult>> {
    let timeout_ms = params.timeout_ms();
    let mut condition = Condition::of(params)?;
    let call = core.call(params).await?;
    if matches!(condition.until, Until::Text | Until::Gone) && default_by(&condition.text) == By::Ref {
        condition.text = call.name_of_alias(&condition.text)?;
    }
    let started = Instant::now();
    let inputs = call.device().inputs();
    let mut last = None;
    let watched = tokio::time::timeout(
        Duration::from_millis(timeout_ms),
        call.wait_until_met(&condition, started, (inputs, timeout_ms), &mut last),
    )
    .await;
    let (capture, nodes) = match watched {
        Ok(found) => found?,
        Err(_) => return Err(timeout_error(&condition, timeout_ms, last)),
    };
    call.record_and_learn(&capture, ObservationSource::Wait, None).await;
    let context = call.with_hints(&capture, params.hints, 0, &call.predicted_if(&capture, params.hints).await).await;
    Ok(call.reply(WaitResult {
        context,
        until: condition.until,
        waited_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        matched_count: nodes.as_ref().map(|n| count(n.len())),
        nodes: nodes.map(|n| node_rows(&capture, &n)),
    }))
}

/// Returns the error for a wait that timed out. It does not quote the text, which may have been typed and be secret.
fn timeout_error(condition: &Condition, timeout_ms: u64, last: Option<Arc<StreamItem>>) -> Error {
    let what = match condition.until {
        Until::Text => "the text did not appear",
        Until::Activity => "the activity did not appear",
        Until::Gone => "the text did not disappear",
        Until::Settled => "the page did not settle",
    };
    let capture = match last.as_ref().map(|item| &item.result) {
        // The device was reachable at first, but the latest attempt failed.
        Some(Err(error)) => return error.clone().into(),
        Some(Ok(capture)) => Some(capture),
        None => None,
    };
    Error::new(ErrorCode::Timeout, format!("{what} within {timeout_ms} ms"))
        .hint("observe the page to see what is there")
        .details(json!({
            "until": condition.until,
            "timeoutMs": timeout_ms,
            "topActivity": capture.and_then(|l| l.place().activity),
            "settled": capture.map(|l| l.settled),
            "reliable": capture.map(ScreenCapture::reliable),
        }))
}

impl Call {
    /// Subscribes to the observation stream of the device, and starts it if there is none.
    fn subscribe(&self) -> watch::Receiver<Option<Arc<StreamItem>>> {
        let key = (Arc::as_ptr(self.device()) as usize, self.target.token.clone());
        let (receiver, new) = self.core.screens.streams.join(&key);
        if let Some(stream) = new {
            let (call, label) = (self.clone(), format!("watch:{}", self.echo.device));
            self.core.tasks.spawn(label, move || produce(call.clone(), key.clone(), stream.clone()));
        }
        receiver
    }

    /// Waits for the first observation that meets the condition, among those started after the call (`started`) and
    /// including all inputs sent before it (`inputs`). Reports its progress towards `timeout_ms`. `last` receives the
    /// latest observation considered.
    async fn wait_until_met(
        &self,
        condition: &Condition,
        started: Instant,
        (inputs, timeout_ms): (u64, u64),
        last: &mut Option<Arc<StreamItem>>,
    ) -> Result<(ScreenCapture, Option<Vec<usize>>)> {
        let mut stream = self.subscribe();
        let mut stopping = self.core.runtime.stopping();
        let mut reported = started;
        loop {
            tokio::select! {
                changed = stream.changed() => {
                    if changed.is_err() {
                        return Err(Error::new(ErrorCode::Internal, "the observation stream ended unexpectedly"));
                    }
                }
                _ = stopping.wait_for(|stop| *stop) => return Err(Error::new(ErrorCode::ShuttingDown, "the daemon is stopping")),
            }
            let Some(item) = stream.borrow_and_update().clone().filter(|s| s.started >= started) else { continue };
            match &item.result {
                Ok(capture) if capture.reading.inputs >= inputs => {
                    if let Some(nodes) = condition.check(capture) {
                        return Ok((capture.with_new_uid(), nodes));
                    }
                }
                Ok(_) => {}
                // A device that was never reachable is reported at once; one that was reachable before may come back.
                Err(error) if last.is_none() || matches!(error, DriverError::Auth(_)) => {
                    return Err(error.clone().into());
                }
                Err(_) => {}
            }
            *last = Some(item);
            if reported.elapsed() >= REPORT_INTERVAL {
                reported = Instant::now();
                let waited = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                scope::report(waited, Some(timeout_ms), condition.waiting());
            }
        }
    }
}
