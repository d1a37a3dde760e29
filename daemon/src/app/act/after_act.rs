//! Reads the screen in the background after an action, so that memory learns the outcome of the action even if no
//! caller reads the screen, and even if the page appears late.
//!
//! A capture counts as an outcome only if it has settled, is reliable, and includes no input other than the action's
//! own:
//!
//! * A capture whose content differs from the page before the action is stored as soon as it has settled. The reads
//!   then end.
//! * A capture with the same content is stored only once the time set by `observe.after_act_ms` has passed. Until then,
//!   the page may still be loading.
//! * Content that was recorded already, with no input since, is not stored again.
//!
//! `projection::settle` decides what a stored capture means for the action.
//!
//! The reads also end when another action is sent to the device. The device stays available between the reads, and each
//! read waits until no call uses or waits for the device. The interval between reads grows, because each read costs CPU
//! time on the phone.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::Call;
use crate::app::observe::capture::SETTLE_INTERVAL;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_experience::memory::views::LastSeen;
use afd_experience::memory::{Place, record};

/// Maximum number of reads after an action.
const MAX_READS: u32 = 6;
/// Interval before the next read, as a percentage of the previous interval.
const GROWTH: u32 = 170;
/// Minimum interval before the next read, as a multiple of the duration of the last read.
const READ_SHARE: u32 = 3;

impl Call {
    /// Reads the screen in the background after an action. `content` is the content hash of the page before the action,
    /// `inputs` the number of inputs sent to the device so far.
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
            // The last read waits for the time limit. Only then can it show that nothing changed.
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

    /// Waits until no call uses or waits for the device. Returns `false` if the deadline passes first.
    async fn is_quiet(&self, deadline: Instant) -> bool {
        while self.device().is_busy() {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(SETTLE_INTERVAL / 3).await;
        }
        true
    }

    /// Stores a capture as the outcome of the action, and learns from it if the content changed. Writes no observation
    /// row, because no session requested the capture.
    async fn take_look(&self, capture: &ScreenCapture, changed: bool) {
        if self.core.experience.views.is_recorded(
            self.device_id,
            capture.snapshot().content_hash(),
            capture.reading.inputs,
        ) {
            return;
        }
        let structure = match changed {
            // The page is learned below, under its own structure.
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
