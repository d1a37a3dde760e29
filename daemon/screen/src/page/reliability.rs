//! Reliability: whether the accessibility tree of a screen can be trusted.

use super::snapshot::{Flag, Snapshot};

/// Returns the reason why the tree cannot be trusted, or `None` if the tree can be trusted.
pub fn doubt(snapshot: &Snapshot) -> Option<&'static str> {
    if snapshot.nodes.is_empty() {
        return Some(snapshot.degraded.unwrap_or("the screen is empty"));
    }
    let Some(front) = snapshot.geometry().front() else { return Some("only system windows are on the screen") };
    if snapshot.content().count() == 1 {
        return Some("the screen has a single node");
    }
    if snapshot.of_another_app {
        return Some("the window in front and the activity belong to different apps: the tree may be outdated");
    }
    if !has_elements(snapshot, front) {
        return Some(
            "nothing on this page can be read (a game, a canvas, or still loading): use a screenshot, or visual.learn with detect",
        );
    }
    if snapshot.place.is_none() && snapshot.place_knowable {
        return Some("the activity changed while the screen was read");
    }
    None
}

/// Minimum share of the window in front that an element must cover to count as the whole page, in percent.
const WHOLE_PERCENT: i64 = 80;
/// Maximum length of text that counts only as the name of an element that covers the whole page, in characters. Longer
/// text is content.
const MAX_NAME: usize = 40;

/// Returns whether the window in front contains a named or interactive element, apart from a surface that covers the
/// page.
fn has_elements(snapshot: &Snapshot, front: usize) -> bool {
    let geometry = snapshot.geometry();
    let nodes =
        || (0..snapshot.nodes.len()).filter(|i| snapshot.nodes[*i].window == front && geometry.shown(*i).area() > 0);
    let window = nodes().map(|i| geometry.shown(i)).reduce(|a, b| a.union(&b)).unwrap_or_default().area();
    let is_whole = |i: usize| geometry.shown(i).area() * 100 >= window * WHOLE_PERCENT;
    let words = |i: usize| [&snapshot.nodes[i].text, &snapshot.nodes[i].desc].into_iter().flatten();
    let has_words = |i: usize| words(i).any(|t| t.chars().any(char::is_alphanumeric));
    nodes().any(|i| {
        let node = &snapshot.nodes[i];
        // A drawing surface or a page that is still loading reports at most a short name, which is no content.
        let surface = is_whole(i) && words(i).all(|t| t.chars().count() <= MAX_NAME);
        !surface && (has_words(i) || (node.is_ref() && !node.is(Flag::Scrollable)))
    })
}

/// Reason reported if a page did not settle.
pub const MOVING: &str = "the page was still moving";

/// Returns `low` if the tree may be incomplete because it is empty or has a web view, else `high`.
pub fn grade(snapshot: &Snapshot) -> &'static str {
    if snapshot.nodes.is_empty() || snapshot.has_web_view() { "low" } else { "high" }
}
