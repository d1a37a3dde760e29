//! A blocking WebSocket client.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::Message;

/// A WebSocket connection to the daemon.
pub struct WebSocket {
    socket: tungstenite::WebSocket<UnixStream>,
    next_id: u64,
    notifications: VecDeque<Value>,
}

impl WebSocket {
    /// Connects to the daemon's socket and upgrades the connection.
    ///
    /// # Panics
    /// If the daemon refuses.
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("sets the timeout");
        let (socket, _) = tungstenite::client("ws://localhost/", stream).expect("upgrades");
        Self { socket, next_id: 1, notifications: VecDeque::new() }
    }

    /// Sends a message.
    ///
    /// # Panics
    /// If the connection broke.
    pub fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).expect("sends");
    }

    /// Returns the next message, whatever it is.
    ///
    /// # Panics
    /// If the connection broke, or the message is not JSON.
    pub fn receive(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().expect("a message") {
                return serde_json::from_str(&text).expect("JSON");
            }
        }
    }

    /// Calls a method and returns the whole response. Notifications that come before it are kept.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notifications.push_back(message);
        }
    }

    /// Returns the payload of the next event of a subscription.
    pub fn event(&mut self) -> Value {
        let message = self.notifications.pop_front().unwrap_or_else(|| self.receive());
        message["params"]["result"].clone()
    }
}
