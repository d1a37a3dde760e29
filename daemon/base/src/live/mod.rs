//! Broadcasts the daemon's events to subscribers.

use afd_proto::events::Message;
use tokio::sync::broadcast;

/// Maximum number of messages by which a slow subscriber may lag behind before it loses messages.
const CAPACITY: usize = 1024;

/// The channel that broadcasts the daemon's events.
pub struct Live {
    sender: broadcast::Sender<Message>,
}

impl Default for Live {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY) }
    }
}

impl Live {
    /// Sends a message to all current subscribers.
    pub fn publish(&self, message: Message) {
        // Sending fails only when there are no subscribers.
        let _ = self.sender.send(message);
    }

    /// Subscribes to the messages published from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Message> {
        self.sender.subscribe()
    }
}
