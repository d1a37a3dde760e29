//! WebSocket transport.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Sink, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{
    self, Message, protocol::CloseFrame, protocol::Role, protocol::WebSocketConfig, protocol::frame::coding::CloseCode,
};

use super::dispatch::MAX_RESPONSE;
use super::transport::{Deadline, Incoming, Transport, linger};

/// Follows the frame boundaries of incoming bytes to detect whether a message is incomplete. Control frames between the
/// fragments of a message do not complete it.
#[derive(Default)]
struct FrameTracker {
    /// Bytes read so far of the current frame header: two bytes, then the extended length and the mask.
    header: Vec<u8>,
    payload_left: u64,
    /// Whether the last complete data frame was not the final frame of its message.
    fragmented: bool,
}

impl FrameTracker {
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.payload_left > 0 {
                let taken = self.payload_left.min(bytes.len() as u64);
                self.payload_left -= taken;
                bytes = &bytes[usize::try_from(taken).unwrap_or(bytes.len())..];
                continue;
            }
            self.header.push(bytes[0]);
            bytes = &bytes[1..];
            self.read_header();
        }
    }

    fn read_header(&mut self) {
        let [first, second, rest @ ..] = self.header.as_slice() else { return };
        let extended = match second & 0x7F {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mask = if second & 0x80 != 0 { 4 } else { 0 };
        if rest.len() < extended + mask {
            return;
        }
        self.payload_left = match extended {
            0 => u64::from(second & 0x7F),
            _ => rest[..extended].iter().fold(0, |length, byte| (length << 8) | u64::from(*byte)),
        };
        let (last, control) = (first & 0x80 != 0, first & 0x08 != 0);
        if !control {
            self.fragmented = !last;
        }
        self.header.clear();
    }

    /// Returns whether a message has begun but is still incomplete.
    fn is_partial(&self) -> bool {
        self.fragmented || !self.header.is_empty() || self.payload_left > 0
    }
}

/// The stream below a WebSocket, with its incoming frames tracked.
struct Tracked<S> {
    stream: S,
    frames: FrameTracker,
    /// Whether the bytes read so far end within a message.
    partial: Arc<AtomicBool>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Tracked<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.frames.feed(&buf.filled()[before..]);
        self.partial.store(self.frames.is_partial(), Ordering::Relaxed);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tracked<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A WebSocket connection.
pub(super) struct WebSocket<S> {
    socket: WebSocketStream<Tracked<S>>,
    partial: Arc<AtomicBool>,
    deadline: Deadline,
    outgoing: VecDeque<String>,
    /// Whether output, possibly a pong, is still unflushed. While it is, nothing is read, so that a client that sends
    /// pings and reads nothing cannot fill the memory with pongs.
    unflushed: bool,
    ended: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> WebSocket<S> {
    pub(super) async fn accept(stream: S, limit: usize, stall: Duration) -> Self {
        let partial = Arc::new(AtomicBool::new(false));
        let config = WebSocketConfig::default()
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit))
            .max_write_buffer_size(MAX_RESPONSE + (1 << 20));
        let tracked = Tracked { stream, frames: FrameTracker::default(), partial: partial.clone() };
        let socket = WebSocketStream::from_raw_socket(tracked, Role::Server, Some(config)).await;
        Self {
            socket,
            partial,
            deadline: Deadline::new(stall),
            outgoing: VecDeque::new(),
            unflushed: false,
            ended: false,
        }
    }
}

fn to_io_error(error: tungstenite::Error) -> io::Error {
    io::Error::other(error)
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Transport for WebSocket<S> {
    fn queue(&mut self, message: String) {
        self.outgoing.push_back(message);
        self.unflushed = true;
    }

    fn is_flushed(&self) -> bool {
        !self.unflushed
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut socket = Pin::new(&mut self.socket);
        while !self.outgoing.is_empty() {
            ready!(socket.as_mut().poll_ready(cx)).map_err(to_io_error)?;
            if let Some(message) = self.outgoing.pop_front() {
                socket.as_mut().start_send(Message::text(message)).map_err(to_io_error)?;
            }
        }
        ready!(socket.poll_flush(cx)).map_err(to_io_error)?;
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            if self.unflushed && ready!(self.poll_flush(cx)).is_err() {
                return Poll::Ready(Incoming::End);
            }
            let Poll::Ready(item) = self.socket.poll_next_unpin(cx) else {
                if !self.partial.load(Ordering::Relaxed) {
                    self.deadline.clear();
                    return Poll::Pending;
                }
                return self.deadline.poll(cx).map(|()| Incoming::Stalled);
            };
            let incoming = match item {
                Some(Ok(Message::Text(text))) => Incoming::Message(text.as_bytes().to_vec()),
                Some(Ok(Message::Binary(bytes))) => Incoming::Message(bytes.to_vec()),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                    self.unflushed = true;
                    continue;
                }
                Some(Err(tungstenite::Error::Capacity(error))) => Incoming::Rejected(error.to_string()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => {
                    self.ended = true;
                    Incoming::End
                }
            };
            self.deadline.clear();
            return Poll::Ready(incoming);
        }
    }

    fn is_gone(&self) -> bool {
        self.ended
    }

    async fn close(&mut self, rejected: bool) {
        let frame = rejected.then(|| CloseFrame { code: CloseCode::Policy, reason: "limit exceeded".into() });
        let _ = self.socket.close(frame).await;
        if rejected {
            linger(self.socket.get_mut()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).expect("short"), 0, 0, 0, 0];
        frame.extend(payload);
        frame
    }

    #[test]
    fn ping_between_fragments_does_not_complete_the_message() {
        let mut frames = FrameTracker::default();
        assert!(!frames.is_partial());
        frames.feed(&masked(0x89, b"ping"));
        assert!(!frames.is_partial(), "a complete ping is not part of a message");
        frames.feed(&masked(0x01, b"be"));
        assert!(frames.is_partial());
        frames.feed(&masked(0x89, b"ping"));
        assert!(frames.is_partial());
        for byte in masked(0x80, b"gin") {
            assert!(frames.is_partial());
            frames.feed(&[byte]);
        }
        assert!(!frames.is_partial());
        let mut long = vec![0x82, 0xFE, 0x01, 0x00, 1, 2, 3, 4];
        long.extend([0; 256]);
        frames.feed(&long[..long.len() - 1]);
        assert!(frames.is_partial());
        frames.feed(&long[long.len() - 1..]);
        assert!(!frames.is_partial());
    }
}
