//! Observation streams shared by `observe.wait` calls: one per device and token, however many calls wait on it.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::Secret;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::screen_capture::ScreenCapture;
use afd_device::DriverError;

/// An item in a stream: a capture, or the error if the screen could not be captured.
pub(in crate::app) struct StreamItem {
    /// Time at which the reading of the screen started.
    pub(in crate::app) started: Instant,
    pub(in crate::app) result: std::result::Result<ScreenCapture, DriverError>,
}

pub(in crate::app) type Stream = watch::Sender<Option<Arc<StreamItem>>>;

/// Key of a stream: address of the device object, and token.
pub(in crate::app) type StreamKey = (usize, Option<Secret>);

/// All open streams.
#[derive(Default)]
pub(in crate::app) struct WatchStreams {
    streams: Mutex<HashMap<StreamKey, Stream>>,
}

impl WatchStreams {
    /// Subscribes to the stream of a device. If the stream is new, also returns its sender, for which the caller must
    /// start a producer.
    pub(in crate::app) fn join(&self, key: &StreamKey) -> (watch::Receiver<Option<Arc<StreamItem>>>, Option<Stream>) {
        let mut streams = self.streams.lock();
        if let Some(stream) = streams.get(key) {
            return (stream.subscribe(), None);
        }
        let (stream, receiver) = watch::channel(None);
        streams.insert(key.clone(), stream.clone());
        (receiver, Some(stream))
    }

    /// Removes a stream without subscribers. Returns false if a call has subscribed in the meantime.
    pub(in crate::app) fn remove_if_unused(&self, key: &StreamKey, stream: &Stream) -> bool {
        let mut streams = self.streams.lock();
        let unused = stream.receiver_count() == 0;
        if unused {
            streams.remove(key);
        }
        unused
    }
}
