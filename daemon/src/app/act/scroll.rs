//! `act.scrollTo`: scrolls until a matching node is on the screen, first down to the end, then up to the top.
//! Each round searches the current capture, swipes over the middle half of the largest scrollable container (half a
//! container per swipe, so that every row is seen), and waits until two readings are equal. The search in one direction
//! ends when the content of the container did not change in [`TRIES_AT_END`] consecutive scrolls, or after
//! [`MAX_SCROLLS`] scrolls, since a feed has no end. Before each swipe, the whole search stops if the daemon is
//! shutting down, another session has taken the lease, the time is up, or another page has appeared.

use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::act::{Amount, Direction};
use afd_proto::vocabulary::{By, Point, Target};
use serde_json::json;
use tokio::time::Instant;

use super::resolve_target::{ResolvedTarget, resolved};
use super::target_spec::default_by;
use crate::app::observe::capture::SETTLE_INTERVAL;
use crate::app::observe::screen_capture::{ScreenCapture, content_of};
use crate::app::{Call, Error, Result, scope};
use afd_device::{DeviceGuard, DriverError, Input};
use afd_experience::memory::events::Event;
use afd_screen::page::select::{self, Compare, Fit, Gesture, Selector};
use afd_screen::page::snapshot::{Flag, Node};
use afd_screen::page::{Snapshot, touch};

/// Maximum time to wait for the page to settle after a scroll.
const SETTLE: Duration = Duration::from_millis(2000);
/// Duration of a swipe: slow enough that the page does not keep scrolling by inertia.
const SWIPE_MS: u32 = 500;
/// Number of consecutive scrolls without effect after which the end counts as reached. It is more than one, because a
/// single gesture may get lost.
const TRIES_AT_END: u32 = 2;
/// Maximum number of scrolls in one direction. The limit is needed because a feed has no end.
const MAX_SCROLLS: u32 = 60;

/// What a scroll search looks for.
#[derive(Debug, Clone)]
pub(in crate::app) struct Search {
    pub text: String,
    /// Property to match; `None` matches any text that an outline prints.
    pub by: Option<By>,
    pub exact: bool,
    /// Whether the search goes down only.
    pub only_down: bool,
    /// Maximum duration of the search.
    pub timeout: Duration,
}

/// Result of executing a plan: the device's result, the node found if any, and the number of scrolls.
pub(in crate::app) struct SearchOutcome {
    pub result: String,
    pub resolved: Option<ResolvedTarget>,
    pub scrolls: u32,
}

impl Search {
    /// Returns the visible nodes that match at least as closely as `least`, closest match first.
    fn matches(&self, capture: &ScreenCapture, least: Fit) -> Vec<usize> {
        let snapshot = capture.snapshot();
        let by = self.by.unwrap_or(By::Label);
        let selector = Selector { by, value: &self.text, exact: self.exact };
        if !matches!(by, By::Label | By::Text | By::Desc) {
            return select::visible(snapshot, &selector);
        }
        let best = select::find(snapshot, capture.refs(), &selector, Gesture::Tap).best;
        let closest = best
            .iter()
            .filter(|m| m.fit <= least.min(Fit::Word))
            .map(|m| m.text.unwrap_or(m.element))
            .collect::<Vec<_>>();
        match (closest.is_empty(), self.by) {
            (true, _) if least < Fit::Part => Vec::new(),
            (false, _) => closest,
            (true, None | Some(By::Label)) => {
                let compare = if self.exact { Compare::Exact } else { Compare::Part };
                select::saying(snapshot, capture.refs(), &self.text, compare)
            }
            (true, Some(_)) => select::visible(snapshot, &selector),
        }
    }

    /// Returns the id of the first of the closest matches that are out of sight.
    fn out_of_sight(&self, capture: &ScreenCapture) -> Option<String> {
        let snapshot = capture.snapshot();
        let by = self.by.unwrap_or(By::Label);
        let selector = Selector { by, value: &self.text, exact: self.exact };
        let found = select::find(snapshot, capture.refs(), &selector, Gesture::Tap).off_screen;
        found.first().map(|(index, _)| snapshot.nodes[*index].id.clone())
    }

    /// Returns the first node that matches at least as closely as `least` and can be used at its position. With
    /// `lenient`, it is enough that any part of the node can be touched.
    fn find(&self, capture: &ScreenCapture, least: Fit, lenient: bool) -> Option<(usize, Point)> {
        let snapshot = capture.snapshot();
        let element = |i: usize| {
            select::tappable(snapshot, &[i])
                .first()
                .copied()
                .filter(|e| !snapshot.nodes[*e].is(Flag::Scrollable))
                .unwrap_or(i)
        };
        self.matches(capture, least).into_iter().find_map(|i| {
            let usable = |i: usize| lenient || touch::is_usable(snapshot, i);
            // The element as a whole may be larger than the screen. Then it is enough that the matching node is usable.
            let fits = usable(element(i)) || (usable(i) && touch::touch(snapshot, element(i), Some(i)).is_ok());
            let point =
                touch::touch(snapshot, element(i), Some(i)).or_else(|_| touch::touch(snapshot, i, None)).ok()?.point;
            fits.then_some((i, point))
        })
    }
}

/// Returns the largest visible scrollable node in the app's own windows, preferring the focused window.
fn container(snapshot: &Snapshot) -> Option<usize> {
    let scrolls =
        |n: &Node| n.is(Flag::Scrollable) && n.is(Flag::Visible) && n.bounds.area() > 0 && snapshot.is_content(n);
    let focused = |n: &Node| snapshot.windows.get(n.window).is_some_and(|w| w.focused);
    let in_front = |i: &usize| snapshot.hidden_by(*i).is_none();
    (0..snapshot.nodes.len()).filter(|i| scrolls(&snapshot.nodes[*i])).filter(in_front).max_by_key(|i| {
        let node = &snapshot.nodes[*i];
        (focused(node), node.bounds.area(), std::cmp::Reverse(*i))
    })
}

/// Returns the exact content of the scrollable container. If a scroll does not change the content, the container is at
/// its end. Digits are not masked here, because the rows of a list may differ only in digits.
fn content(snapshot: &Snapshot) -> Vec<String> {
    let container = container(snapshot);
    let within = |i: &usize| container.is_none_or(|c| snapshot.ancestors(*i).any(|a| a == c));
    let shown = |i: usize| {
        let node = &snapshot.nodes[i];
        let text = if node.is(Flag::Editable) { None } else { node.text.as_deref() };
        format!("{} {text:?} {:?} {:?} {}", node.class, node.desc, node.res_id, node.bounds)
    };
    (0..snapshot.nodes.len()).filter(|i| snapshot.is_content(&snapshot.nodes[*i])).filter(within).map(shown).collect()
}

/// Returns a swipe over the middle half of the container, so that no row is skipped, or a scroll of the whole screen if
/// there is no scrollable container.
fn scroll(snapshot: &Snapshot, down: bool) -> Input {
    let Some(bounds) = container(snapshot).map(|i| snapshot.nodes[i].bounds) else {
        return Input::Scroll(if down { Direction::Down } else { Direction::Up }, Amount::Medium);
    };
    let x = f64::from(bounds.left) + f64::from(bounds.width()) / 2.0;
    let at = |share: f64| f64::from(bounds.top) + f64::from(bounds.height()) * share;
    let (from, to) = if down { (at(0.75), at(0.25)) } else { (at(0.25), at(0.75)) };
    Input::Swipe([x, from.round(), x, to.round()], SWIPE_MS)
}

/// Records the node that was found, and the number of scrolls.
fn found_by_scrolling(
    capture: &ScreenCapture,
    (node, point): (usize, Point),
    scrolls: u32,
    event: &mut Event,
) -> SearchOutcome {
    let found = resolved(capture, point, Some(node), false);
    if let Some(action) = event.action.as_mut().filter(|a| a.slots.is_empty()) {
        action.target = found.target.clone().map(|target| Target { name: None, ..target });
    }
    event.evidence = Some(json!({"scrolls": scrolls, "x": point.x, "y": point.y}));
    let result = if scrolls == 0 { "already on the screen".to_owned() } else { format!("scrolled {scrolls} times") };
    SearchOutcome { result, resolved: Some(found), scrolls }
}

impl Call {
    /// Reads the screen until two consecutive readings are equal or [`SETTLE`] has passed.
    pub(super) async fn capture_settled(&self, guard: &DeviceGuard) -> std::result::Result<ScreenCapture, DriverError> {
        let deadline = Instant::now() + SETTLE;
        let mut before = guard.tree(self.target.token.as_ref()).await?;
        loop {
            tokio::time::sleep_until(before.at + SETTLE_INTERVAL).await;
            let after = guard.tree(self.target.token.as_ref()).await?;
            let same = content_of(&before) == content_of(&after);
            if same || Instant::now() >= deadline {
                return Ok(ScreenCapture::of(after, same, !same));
            }
            before = after;
        }
    }

    /// Scrolls until a matching node is found. Sets `event.sent` once any input may have reached the device.
    pub(in crate::app) async fn search(
        &self,
        guard: &DeviceGuard,
        search: &Search,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        event.sent = false;
        let search = &self.without_alias(search)?;
        let deadline = Instant::now() + search.timeout;
        // If the device becomes unreachable after the first scroll, the outcome is unknown rather than "nothing was
        // sent".
        let broken = |error: DriverError, scrolls: u32| match error {
            DriverError::Unreachable(why) if scrolls > 0 => {
                DriverError::Lost(format!("{scrolls} scrolls were done, then the connection failed: {why}"))
            }
            other => other,
        };
        let mut capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        if capture.reliable() {
            event.before = capture.place();
        }
        // If the page is known to have exactly this title, the search scrolls past elements that match only in part.
        let known = !search.exact && self.is_known_title(&search.text, &capture, &event.before).await;
        let least = if known { Fit::Whole } else { Fit::Part };
        let place = capture.snapshot().place.clone();
        let (mut scrolls, mut limit_reached) = (0, false);
        if search.find(&capture, least, false).is_none()
            && let Some(node) = search.out_of_sight(&capture)
            && guard.reveal(self.target.token.as_ref(), &node).await?
        {
            event.sent = true;
            scrolls = 1;
            capture = self.capture_settled(guard).await.map_err(|e| broken(e, scrolls))?;
        }
        for down in [true, false].into_iter().take(if search.only_down { 1 } else { 2 }) {
            let (mut unchanged, mut in_direction) = (0, 0);
            while unchanged < TRIES_AT_END && in_direction < MAX_SCROLLS {
                if let Some(found) = search.find(&capture, least, false) {
                    return Ok(found_by_scrolling(&capture, found, scrolls, event));
                }
                self.check_may_continue(&capture, place.as_ref(), deadline, scrolls)?;
                let before = content(capture.snapshot());
                let swiped = guard.perform(self.target.token.as_ref(), &scroll(capture.snapshot(), down).into()).await;
                event.sent |= !matches!(swiped, Err(DriverError::Unreachable(_)));
                swiped.map_err(|e| broken(e, scrolls))?;
                scrolls += 1;
                scope::report(u64::from(scrolls), None, "scrolling");
                in_direction += 1;
                capture = self.capture_settled(guard).await.map_err(|e| broken(e, scrolls))?;
                unchanged = if content(capture.snapshot()) == before { unchanged + 1 } else { 0 };
            }
            // At the end of the page no more content scrolls into view. Therefore a partly visible match is accepted.
            if let Some(found) = search.find(&capture, if down { least } else { Fit::Part }, true) {
                return Ok(found_by_scrolling(&capture, found, scrolls, event));
            }
            limit_reached |= in_direction >= MAX_SCROLLS;
        }
        let extent = if limit_reached {
            "the scroll limit was reached before the end of the page"
        } else {
            "the page was searched from end to end"
        };
        let evidence = json!({"scrolls": scrolls, "directions": ["down", "up"]});
        event.evidence = Some(evidence.clone());
        Err(Error::new(ErrorCode::TargetNotFound, format!("no node on the page matches: {extent} ({scrolls} scrolls)"))
            .hint("observe the page to see what is there; the target may be on another page or have another name")
            .details(evidence))
    }

    /// Replaces an alias with the name of its element, because scrolling makes the alias stale.
    fn without_alias(&self, search: &Search) -> Result<Search> {
        if search.by.is_some() || default_by(&search.text) != By::Ref {
            return Ok(search.clone());
        }
        let text = self.name_of_alias(&search.text)?;
        Ok(Search { text, ..search.clone() })
    }

    /// Checks before each scroll whether the search may continue.
    ///
    /// # Errors
    /// `SHUTTING_DOWN`, `DEVICE_BUSY`, `TIMEOUT`, or `TARGET_NOT_FOUND` if another page has appeared.
    fn check_may_continue(
        &self,
        capture: &ScreenCapture,
        place: Option<&String>,
        deadline: Instant,
        scrolls: u32,
    ) -> Result<()> {
        if *self.core.runtime.stopping().borrow() {
            return Err(Error::new(ErrorCode::ShuttingDown, "the daemon is stopping"));
        }
        // Another session may have taken the lease meanwhile.
        self.device().check_lease(&self.echo.session)?;
        if Instant::now() >= deadline {
            return Err(Error::new(ErrorCode::Timeout, format!("not found before the timeout ({scrolls} scrolls)"))
                .hint("raise timeoutMs (afctl: --timeout-ms), or navigate to the target in another way")
                .details(json!({"scrolls": scrolls})));
        }
        if capture.snapshot().place.as_ref() != place && capture.snapshot().place.is_some() && place.is_some() {
            return Err(Error::new(ErrorCode::TargetNotFound, "another page appeared while scrolling")
                .hint("observe the page to see what is there")
                .details(json!({"then": place, "now": capture.snapshot().place, "scrolls": scrolls})));
        }
        Ok(())
    }
}
