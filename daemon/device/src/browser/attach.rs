//! Connecting to a browser that runs already, and that listens for debuggers on this machine.

use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use url::Url;

use super::cdp::{MAX_MESSAGE, Wire};
use crate::DriverError;
use afd_base::net;

/// Maximum size of a browser's description of itself, in bytes.
const MAX_VERSION: usize = 64 << 10;

/// Connects to the browser at an address.
///
/// # Errors
/// [`DriverError::Unreachable`] if no browser answers there.
pub async fn connect(address: &Url, timeout: Duration) -> Result<Wire, DriverError> {
    let why = |error: String| DriverError::Unreachable(format!("no browser answers at {address}: {error}").into());
    let connected = tokio::time::timeout(timeout, open(address)).await;
    connected.map_err(|_| why("it takes too long".to_owned()))?.map_err(why)
}

async fn open(address: &Url) -> Result<Wire, String> {
    let client = net::client_of(address.as_str()).no_proxy().build().map_err(|error| error.to_string())?;
    let version = address.join("/json/version").map_err(|error| error.to_string())?;
    let answer = client.get(version).send().await.map_err(|error| net::why(&error).to_owned())?;
    let answer = net::body(answer, MAX_VERSION).await.map_err(|_| "it is no browser".to_owned())?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|_| "it is no browser".to_owned())?;
    let socket = answer["webSocketDebuggerUrl"].as_str().and_then(|url| Url::parse(url).ok());
    let socket = socket.ok_or_else(|| "it is no browser".to_owned())?;
    // Only the path is the browser's to say.
    let addresses = address.socket_addrs(|| None).map_err(|error| error.to_string())?;
    let stream = TcpStream::connect(&*addresses).await.map_err(|error| error.to_string())?;
    let host = &address[url::Position::BeforeHost..url::Position::AfterPort];
    let request = format!("ws://{host}{}", socket.path());
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await;
    opened.map(|(socket, _)| Wire::Socket(Box::new(socket))).map_err(|error| error.to_string())
}
