//! `events.subscribe`: the live feed, replay of past events, and filtering.

use afd_proto::events::{Message, SubscribeParams};
use afd_proto::memory::Event;
use tokio::sync::broadcast;

use super::Result;
use afd_base::live::Live;
use afd_experience::memory::log;
use afd_store::{Page, Store};

/// Number of past events read at a time.
const PAGE: usize = 500;

/// Subscribes to the live feed. Call this before [`past`], so that no event is missed between the two.
pub fn listen(live: &Live) -> broadcast::Receiver<Message> {
    live.subscribe()
}

/// Returns the next page of events after the cursor `after`, oldest first; empty at the end.
///
/// # Errors
/// If the database cannot be read.
pub async fn past(store: &Store, params: &SubscribeParams, after: i64) -> Result<Vec<Event>> {
    let filter = log::Filter {
        session: params.session.clone(),
        device: params.device.clone(),
        after: Some(after),
        page: Page::first(PAGE),
        ..log::Filter::default()
    };
    Ok(store.read(move |c| log::read(c, &filter)).await?.events)
}

/// Returns whether a message matches a subscriber's filters.
pub fn wanted(message: &Message, params: &SubscribeParams) -> bool {
    let (device, session) = match message {
        Message::Event(e) => (&e.device, Some(&e.session)),
        Message::Observation(o) => (&o.device, Some(&o.session)),
        Message::Surprise(s) => (&s.device, Some(&s.session)),
        Message::Device { device, .. } => (device, None),
        Message::Changed { session, .. } => {
            return params.device.is_none()
                && params.session.as_ref().is_none_or(|s| session.as_ref().is_none_or(|own| own == s));
        }
        // Knowledge about an app belongs to no device and no session.
        Message::Visual(_) => return params.device.is_none() && params.session.is_none(),
        Message::Lagged { .. } => return true,
    };
    params.device.as_ref().is_none_or(|d| d == device)
        && params.session.as_ref().is_none_or(|s| session.is_none_or(|own| own == s))
}
