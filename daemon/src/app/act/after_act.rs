//! Reads the screen in the background after an action, so that memory learns its outcome even if no caller reads the
//! screen, and recognises a page that appears late.
//!
//! The device stays available between the reads, and a read yields to every waiting call. The reads end when another
//! page has settled, when the time of the setting is over, or when another action is sent to the device. The interval
//! between reads grows, because each read costs the phone CPU time.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::Call;
use crate::app::observe::capture::SETTLE_INTERVAL;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_experience::memory::views::LastSeen;
use afd_experience::memory::{Place, record};

/// Maximum number of reads after an action.
const MAX_READS: u32 = 6;
/// By how much the time to the next read grows, percent.
const GROWTH: u32 = 170;
/// Minimum time to the next read, as a multiple of the duration of the last one.
const READ_SHARE: u32 = 3;

impl Call {
    /// Looks at the device in the background after an action on a page with this content; `inputs` is the number of
    /// inputs sent to the device until then.
    pub(in crate::app) fn look_after(&self, content: Option<String>, inputs: u64) {
        let limit = Duration::from_millis(self.core.config.get().observe.after_act_ms);
        if limit.is_zero() {
            return;
        }
        let call = self.clone();
        let name = format!("after-act:{}", self.echo.device);
        self.core.tasks.spawn(name, move || {
            let (call, content) = (call.clone(), content.clone());
            async move { call.watch_outcome(content, inputs, limit).await }
        });
    }

    async fn watch_outcome(&self, before: Option<String>, inputs: u64, limit: Duration) {
        let started = Instant::now();
        let (mut distance, mut next) = (SETTLE_INTERVAL, started + SETTLE_INTERVAL);
        for read in 1..=MAX_READS {
            // The last read is the one that can say that nothing changed.
            let at = if read == MAX_READS { next.max(started + limit) } else { next.min(started + limit) };
            tokio::time::sleep_until(at).await;
            if !self.is_quiet(started + limit + SETTLE_INTERVAL).await || self.device().inputs() != inputs {
                return;
            }
            let begun = Instant::now();
            let Ok(capture) = self.capture_once().await else { return };
            if capture.reading.inputs != inputs {
                return;
            }
            let over = begun >= started + limit;
            let changed = before != capture.place().content;
            if capture.settled && capture.reliable() && (changed || over) {
                self.take_look(&capture, changed).await;
            }
            if over || (changed && capture.settled) {
                return;
            }
            distance = (distance * GROWTH / 100).max(begun.elapsed() * READ_SHARE);
            next = Instant::now() + distance;
        }
    }

    /// Waits until nothing waits for the device; `false` if that takes until the deadline.
    async fn is_quiet(&self, deadline: Instant) -> bool {
        while self.device().is_busy() {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(SETTLE_INTERVAL / 3).await;
        }
        true
    }

    /// Takes what a look showed as the outcome of the act, and learns from it if it is new. It is no observation of the
    /// session, so no row is written.
    async fn take_look(&self, capture: &ScreenCapture, changed: bool) {
        if self.core.experience.views.is_recorded(
            self.device_id,
            capture.snapshot().content_hash(),
            capture.reading.inputs,
        ) {
            return;
        }
        let structure = match changed {
            // It is learned now, under its own structure.
            true => capture.structures().map(|s| s.front.key()),
            false => capture.structures().map(|s| self.structure_key(&s.front)),
        };
        let place = Place { structure, observation: None, ..self.place_of(capture) };
        if changed {
            self.core.experience.views.note_recorded(
                self.device_id,
                capture.snapshot().content_hash(),
                capture.reading.inputs,
                true,
            );
            let seen = LastSeen { place: place.clone(), inputs: capture.reading.inputs, reliable: true };
            self.core.experience.views.update(self.session_id, self.device_id, seen, None);
        }
        let (origin, seq, at) = (self.origin(), capture.reading.seq, capture.at);
        let look = move |c: &afd_store::Connection| record::look(c, &origin, &place, seq, at);
        self.core.store.write_behind("a look after an action", look, |()| ()).await;
        if changed {
            self.learn_in_background(capture);
        }
    }
}
