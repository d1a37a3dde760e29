//! Streams of observations: one for each device that somebody waits on.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::Secret;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::look::Look;
use crate::device::DriverError;

/// One observation of a stream.
pub(super) struct Sight {
    /// When reading it began.
    pub(super) begun: Instant,
    pub(super) seen: std::result::Result<Look, DriverError>,
}

pub(super) type Stream = watch::Sender<Option<Arc<Sight>>>;

/// A device, and the token with which it is looked at.
pub(super) type Name = (usize, Option<Secret>);

/// The streams of observations that somebody waits for.
#[derive(Default)]
pub(super) struct WatchStreams {
    streams: Mutex<HashMap<Name, Stream>>,
}

impl WatchStreams {
    /// Joins the stream of a device; where there is none, a new one that is to be begun comes with it.
    pub(super) fn join(&self, name: &Name) -> (watch::Receiver<Option<Arc<Sight>>>, Option<Stream>) {
        let mut streams = self.streams.lock();
        if let Some(stream) = streams.get(name) {
            return (stream.subscribe(), None);
        }
        let (stream, receiver) = watch::channel(None);
        streams.insert(name.clone(), stream.clone());
        (receiver, Some(stream))
    }

    /// Ends a stream that nobody waits for any more; false when somebody came meanwhile.
    pub(super) fn end(&self, name: &Name, stream: &Stream) -> bool {
        let mut streams = self.streams.lock();
        let over = stream.receiver_count() == 0;
        if over {
            streams.remove(name);
        }
        over
    }
}
