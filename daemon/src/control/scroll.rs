//! Scrolling until something is on the screen: down to the end, then up to the beginning.

use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::act::{Amount, Direction};
use afd_proto::vocabulary::By;
use serde_json::json;
use tokio::time::Instant;

use super::guard::{Hit, hit};
use super::look::{Hashed, Look};
use super::reading::APART;
use super::{Call, Error, Result, scope};
use crate::device::{DeviceGuard, DriverError, Input};
use crate::memory::events::Event;
use crate::page::select::{self, Selector};
use crate::page::snapshot::{Flag, Node};
use crate::page::{Snapshot, touch};

/// How long the page may go on moving after a scroll.
const SETTLE: Duration = Duration::from_millis(2000);
/// How long a swipe takes: slow enough that the page does not run on.
const SWIPE_MS: u32 = 500;
/// How often a scroll that moves nothing is tried before that is the end: a single gesture may get lost.
const TRIES_AT_END: u32 = 2;
/// At most this many scrolls in one direction: a feed has no end.
const MAX_SCROLLS: u32 = 60;

/// What is looked for.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub text: String,
    /// One property only.
    pub by: Option<By>,
    pub exact: bool,
    /// For how long at most.
    pub timeout: Duration,
}

/// What came of an action.
pub(super) struct Sought {
    pub result: String,
    pub hit: Option<Hit>,
    pub scrolls: u32,
}

impl Search {
    /// A matching node that can be touched.
    fn find(&self, snapshot: &Snapshot) -> Option<(usize, afd_proto::vocabulary::Point)> {
        let nodes = match self.by {
            Some(by) => select::visible(snapshot, &Selector { by, value: &self.text, exact: self.exact }),
            None if self.exact => {
                let exact = |by| select::visible(snapshot, &Selector { by, value: &self.text, exact: true });
                exact(By::Text).into_iter().chain(exact(By::Desc)).collect()
            }
            None => select::saying(snapshot, &self.text, false),
        };
        let container = container(snapshot);
        nodes.into_iter().find_map(|i| {
            let point = touch::point(snapshot, i).ok()?;
            // A row of which only a strip has come up is scrolled on.
            let inside = |c: usize| !snapshot.ancestors(i).any(|a| a == c) || snapshot.nodes[c].bounds.contains(point.x, point.y);
            container.is_none_or(inside).then_some((i, point))
        })
    }
}

/// The largest visible thing that scrolls, in the app's own windows, the focused one before others.
fn container(snapshot: &Snapshot) -> Option<usize> {
    let scrolls = |n: &Node| n.is(Flag::Scrollable) && n.is(Flag::Visible) && n.bounds.area() > 0 && snapshot.is_content(n);
    let focused = |n: &Node| snapshot.windows.get(n.window).is_some_and(|w| w.focused);
    (0..snapshot.nodes.len()).filter(|i| scrolls(&snapshot.nodes[*i])).max_by_key(|i| {
        let node = &snapshot.nodes[*i];
        (focused(node), node.bounds.area(), std::cmp::Reverse(*i))
    })
}

/// Exactly what the container shows: when a scroll does not change it, it is at its end. Digits count here, for the rows of a
/// list may differ in nothing else.
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

/// A swipe over the middle half of the container, so that nothing is passed over; the whole screen, when nothing says that it scrolls.
fn scroll(snapshot: &Snapshot, down: bool) -> Input {
    let Some(bounds) = container(snapshot).map(|i| snapshot.nodes[i].bounds) else {
        return Input::Scroll(if down { Direction::Down } else { Direction::Up }, Amount::Medium);
    };
    let x = f64::from(bounds.left) + f64::from(bounds.width()) / 2.0;
    let at = |share: f64| f64::from(bounds.top) + f64::from(bounds.height()) * share;
    let (from, to) = if down { (at(0.75), at(0.25)) } else { (at(0.25), at(0.75)) };
    Input::Swipe([x, from.round(), x, to.round()], SWIPE_MS)
}

impl Call {
    /// Reads until two reads in a row are equal, or the page has moved for too long.
    async fn settled(&self, turn: &DeviceGuard) -> std::result::Result<Look, DriverError> {
        let deadline = Instant::now() + SETTLE;
        let mut before = Hashed::from(turn.tree(self.target.token.as_ref()).await?);
        loop {
            tokio::time::sleep_until(before.reading.at + APART).await;
            let after = Hashed::from(turn.tree(self.target.token.as_ref()).await?);
            let same = before.hash == after.hash;
            if same || Instant::now() >= deadline {
                return Ok(Look::of(after, same, !same));
            }
            before = after;
        }
    }

    /// Scrolls until it is found. `sent` of the event tells whether anything was done.
    pub(super) async fn search(&self, turn: &DeviceGuard, search: &Search, event: &mut Event) -> Result<Sought> {
        event.sent = false;
        let deadline = Instant::now() + search.timeout;
        // Once something was done, a device that is gone leaves an unknown outcome, and not one of nothing.
        let broken = |error: DriverError, scrolls: u32| match error {
            DriverError::Unreachable(why) if scrolls > 0 => DriverError::Lost(format!("{scrolls} scrolls were done, then: {why}")),
            other => other,
        };
        let mut look = Look::of(turn.tree(self.target.token.as_ref()).await?, false, false);
        if look.reliable() {
            event.before = look.place();
        }
        let place = look.snapshot().place.clone();
        let (mut scrolls, mut endless) = (0, false);
        for down in [true, false] {
            let (mut unmoved, mut here) = (0, 0);
            while unmoved < TRIES_AT_END && here < MAX_SCROLLS {
                if let Some((node, point)) = search.find(look.snapshot()) {
                    let found = hit(look.snapshot(), point, Some(node), false);
                    if let Some(action) = event.action.as_mut().filter(|a| a.slots.is_empty()) {
                        action.target.clone_from(&found.target);
                    }
                    event.evidence = Some(json!({"scrolls": scrolls, "x": point.x, "y": point.y}));
                    let result = if scrolls == 0 { "it was on the screen".to_owned() } else { format!("scrolled {scrolls} times") };
                    return Ok(Sought { result, hit: Some(found), scrolls });
                }
                self.go_on(&look, place.as_ref(), deadline, scrolls)?;
                let before = content(look.snapshot());
                let swiped = turn.perform(self.target.token.as_ref(), &scroll(look.snapshot(), down)).await;
                event.sent |= !matches!(swiped, Err(DriverError::Unreachable(_)));
                swiped.map_err(|e| broken(e, scrolls))?;
                scrolls += 1;
                scope::report(u64::from(scrolls), None, "scrolling");
                here += 1;
                look = self.settled(turn).await.map_err(|e| broken(e, scrolls))?;
                unmoved = if content(look.snapshot()) == before { unmoved + 1 } else { 0 };
            }
            endless |= here >= MAX_SCROLLS;
        }
        let how_far = if endless { "as far as was scrolled; the page has no end" } else { "down to its end and up to its beginning" };
        let evidence = json!({"scrolls": scrolls, "directions": ["down", "up"]});
        event.evidence = Some(evidence.clone());
        Err(Error::new(ErrorCode::TargetNotFound, format!("nothing on the page matches, {how_far} ({scrolls} scrolls)"))
            .hint("observe the page to see what is there; it may be on another page, or named otherwise")
            .details(evidence))
    }

    /// Whether there is a point in scrolling on.
    fn go_on(&self, look: &Look, place: Option<&String>, deadline: Instant, scrolls: u32) -> Result<()> {
        if *self.core.runtime.stopping().borrow() {
            return Err(Error::new(ErrorCode::ShuttingDown, "the daemon is stopping"));
        }
        // Somebody may have taken a lease meanwhile.
        self.device().check_lease(&self.echo.session)?;
        if Instant::now() >= deadline {
            return Err(Error::new(ErrorCode::Timeout, format!("it was not found within the time ({scrolls} scrolls)"))
                .hint("give it more time with timeoutMs (afctl: --timeout-ms), or look for it in another way")
                .details(json!({"scrolls": scrolls})));
        }
        if look.snapshot().place.as_ref() != place && look.snapshot().place.is_some() && place.is_some() {
            return Err(Error::new(ErrorCode::TargetNotFound, "another page came up while scrolling")
                .hint("observe the page to see what is there")
                .details(json!({"then": place, "now": look.snapshot().place, "scrolls": scrolls})));
        }
        Ok(())
    }
}
