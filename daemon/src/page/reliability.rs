//! Reliability: whether the accessibility tree of a screen can be trusted.

use super::snapshot::{Snapshot, WindowKind};

/// Returns why the tree cannot be trusted, or `None` when it can.
pub fn doubt(snapshot: &Snapshot) -> Option<&'static str> {
    if snapshot.nodes.is_empty() {
        return Some(if snapshot.degraded {
            "the phone's accessibility service is off: the screen cannot be read"
        } else {
            "the screen is empty"
        });
    }
    if snapshot.nodes.iter().all(|n| !snapshot.is_content(n)) || !snapshot.windows.iter().any(|w| w.kind == WindowKind::Application) {
        return Some("only system windows are on the screen");
    }
    if snapshot.content().count() == 1 {
        return Some("the screen has a single node");
    }
    if snapshot.place.is_none() && snapshot.place_knowable {
        return Some("the activity changed while the screen was read");
    }
    None
}

/// Reason given for a page that did not settle.
pub const MOVING: &str = "the page was still moving";

/// Returns `high`, or `low` where the tree may not show everything.
pub fn grade(snapshot: &Snapshot) -> &'static str {
    if snapshot.nodes.is_empty() || snapshot.has_web_view() { "low" } else { "high" }
}
