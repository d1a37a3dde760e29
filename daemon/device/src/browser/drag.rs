//! Dragging with the mouse. The browser hands over what a page drags by itself (HTML drag and drop), because its own
//! dragging would wait for a real mouse.

use std::time::Duration;

use serde_json::json;

use super::input::{FRAME, Page};
use crate::DriverError;

/// Limits of the number of movements.
const STEPS: std::ops::RangeInclusive<u32> = 8..=60;
/// Movement after which a page takes a press for a drag, in CSS pixels.
const FIRST: f64 = 6.0;

impl Page<'_> {
    /// Drags from one point to another: a press, movements, and a release.
    ///
    /// # Errors
    /// If another element is in front of the first point, or the page does not respond.
    pub(super) async fn drag(&self, [x1, y1, x2, y2]: [f64; 4], ms: u32) -> Result<(), DriverError> {
        let hit = self.check_hit(x1, y1).await?;
        let guard = self.guard(hit, true).await?;
        let dragged = self.drag_guarded([x1, y1, x2, y2], ms).await;
        let removed = self.remove(guard).await;
        dragged.and(removed)
    }

    async fn drag_guarded(&self, [x1, y1, x2, y2]: [f64; 4], ms: u32) -> Result<(), DriverError> {
        // A drag that begins on selected text would move that text.
        self.evaluate(&self.tab.session, "getSelection()?.removeAllRanges()").await?;
        self.send("Input.setInterceptDrags", json!({"enabled": true})).await?;
        self.running.tabs.send_modify(|tabs| drop(tabs.take_dragged(&self.tab.session)));
        let dragged = self.move_pressed([x1, y1, x2, y2], Duration::from_millis(u64::from(ms))).await;
        // What was pressed is released, whatever happened before.
        let released = self.drop_at(x2, y2).await;
        let restored = self.send("Input.setInterceptDrags", json!({"enabled": false})).await;
        dragged.and(released).and(restored)
    }

    async fn move_pressed(&self, [x1, y1, x2, y2]: [f64; 4], time: Duration) -> Result<(), DriverError> {
        let pressed = json!({"button": "left", "buttons": 1, "clickCount": 1});
        let moved = || json!({"button": "left", "buttons": 1});
        self.mouse("mouseMoved", (x1, y1), json!({})).await?;
        self.mouse("mousePressed", (x1, y1), pressed).await?;
        let length = (x2 - x1).hypot(y2 - y1).max(1.0);
        let first = (FIRST / length).min(1.0);
        let frames = u32::try_from(time.as_millis() / FRAME.as_millis()).unwrap_or(u32::MAX);
        let steps = frames.clamp(*STEPS.start(), *STEPS.end());
        // Pages see at most one movement in each frame.
        let pause = FRAME.max(time / (steps + 1));
        for step in 0..=steps {
            tokio::time::sleep(pause).await;
            let share = first.max(f64::from(step) / f64::from(steps));
            self.mouse("mouseMoved", (x1 + (x2 - x1) * share, y1 + (y2 - y1) * share), moved()).await?;
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// Releases the button at a point, and drops there what the page dragged.
    async fn drop_at(&self, x: f64, y: f64) -> Result<(), DriverError> {
        let mut dragged = None;
        self.running.tabs.send_modify(|tabs| dragged = tabs.take_dragged(&self.tab.session));
        if let Some(data) = dragged {
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({"type": kind, "x": x, "y": y, "data": data});
                self.send("Input.dispatchDragEvent", event).await?;
            }
        }
        self.release(x, y, 1).await
    }
}
