//! What happens, told to whoever listens.

use afd_proto::events::Message;
use tokio::sync::broadcast;

/// How many messages a slow listener may lag behind.
const CAPACITY: usize = 1024;

/// The broadcast.
pub struct Live {
    sender: broadcast::Sender<Message>,
}

impl Default for Live {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY) }
    }
}

impl Live {
    /// Tells everybody who listens now.
    pub fn publish(&self, message: Message) {
        // Without a listener there is nobody to tell.
        let _ = self.sender.send(message);
    }

    /// Starts listening.
    pub fn subscribe(&self) -> broadcast::Receiver<Message> {
        self.sender.subscribe()
    }
}
