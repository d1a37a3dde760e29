//! `events.subscribe`

use std::sync::Arc;

use afd_proto::events::{Message, SubscribeParams};
use afd_proto::memory::Event;
use tokio::sync::broadcast;

use super::{Core, Result};
use crate::memory::log;

/// At most this many past events are sent first.
const MAX_PAST: usize = 10_000;

/// What a subscriber gets: the past first, then what comes.
pub struct Stream {
    /// Events after the cursor, oldest first.
    pub past: Vec<Event>,
    /// What comes. It may hold the last of the past once more.
    pub coming: broadcast::Receiver<Message>,
}

/// Starts a subscription. Listening begins before the past is read, so that nothing falls between.
///
/// # Errors
/// When the past cannot be read.
pub async fn subscribe(core: &Arc<Core>, params: &SubscribeParams) -> Result<Stream> {
    let coming = core.live.subscribe();
    let past = match params.since {
        None => Vec::new(),
        Some(since) => {
            let filter = log::Filter {
                session: params.session.clone(),
                device: params.device.clone(),
                after: Some(since),
                limit: MAX_PAST,
                ..log::Filter::default()
            };
            core.store.read(move |c| log::read(c, &filter)).await?.events
        }
    };
    Ok(Stream { past, coming })
}

/// Whether a message is for a subscriber with these filters.
pub fn wanted(message: &Message, params: &SubscribeParams) -> bool {
    let (device, session) = match message {
        Message::Event(e) => (&e.device, Some(&e.session)),
        Message::Observation(o) => (&o.device, Some(&o.session)),
        Message::Device { device, .. } => (device, None),
        Message::Lagged { .. } => return true,
    };
    params.device.as_ref().is_none_or(|d| d == device) && params.session.as_ref().is_none_or(|s| session.is_none_or(|own| own == s))
}
