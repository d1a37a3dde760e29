//! Connections that carry many messages: bytes cut by a decoder, or a WebSocket.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use afd_proto::frame::{Decoder, Framing, encode};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::{Instant, Sleep};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{
    self, Message, protocol::CloseFrame, protocol::Role, protocol::WebSocketConfig, protocol::frame::coding::CloseCode,
};

/// What came.
pub(super) enum Incoming {
    /// A whole message.
    Message(Vec<u8>),
    /// The other side will send no more.
    End,
    /// It sent something that cannot be accepted.
    Refused(String),
    /// It began a message and did not finish it in time.
    Stalled,
}

/// A connection that carries many messages.
pub(super) trait Transport: Send {
    /// The next message. May be dropped and called again without losing anything.
    fn next(&mut self) -> impl Future<Output = Incoming> + Send;
    /// Sends a message.
    fn send(&mut self, message: &str) -> impl Future<Output = io::Result<()>> + Send;
    /// Ends the connection; what the other side still sends is thrown away for a moment, so that it gets to read.
    fn close(&mut self, refused: bool) -> impl Future<Output = ()> + Send;
}

/// Lines, or `Content-Length` frames.
pub(super) struct Bytes {
    stream: UnixStream,
    decoder: Decoder,
    framing: Framing,
    buffer: Vec<u8>,
    ended: bool,
    stall: Duration,
    /// When the message that is being received must be whole.
    deadline: Option<Instant>,
}

impl Bytes {
    pub(super) fn new(stream: UnixStream, framing: Framing, limit: usize, first: &[u8], stall: Duration) -> Self {
        let mut decoder = Decoder::new(framing, limit);
        decoder.push(first);
        Self { stream, decoder, framing, buffer: vec![0; 16 << 10], ended: false, stall, deadline: None }
    }
}

impl Transport for Bytes {
    async fn next(&mut self) -> Incoming {
        loop {
            match self.decoder.next_message() {
                Ok(Some(message)) => {
                    self.deadline = None;
                    return Incoming::Message(message);
                }
                Ok(None) => {}
                Err(error) => return Incoming::Refused(error.to_string()),
            }
            if self.ended {
                return self.decoder.finish().map_or(Incoming::End, Incoming::Message);
            }
            let read = self.stream.read(&mut self.buffer);
            let read = if self.decoder.is_partial() {
                let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.stall);
                let Ok(read) = tokio::time::timeout_at(deadline, read).await else { return Incoming::Stalled };
                read
            } else {
                read.await
            };
            match read {
                Ok(0) | Err(_) => self.ended = true,
                Ok(n) => self.decoder.push(&self.buffer[..n]),
            }
        }
    }

    async fn send(&mut self, message: &str) -> io::Result<()> {
        self.stream.write_all(&encode(self.framing, message)).await
    }

    async fn close(&mut self, refused: bool) {
        let _ = self.stream.shutdown().await;
        if refused && !self.ended {
            linger(&mut self.stream).await;
        }
    }
}

/// Reads what is still coming, for at most a second: closing over unread bytes would cut off the last answer.
pub(super) async fn linger(stream: &mut (impl AsyncRead + Unpin)) {
    let mut waste = vec![0; 64 << 10];
    let drain = async { while matches!(stream.read(&mut waste).await, Ok(n) if n > 0) {} };
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), drain).await;
}

/// Notes that bytes came, which is how a half frame of a WebSocket is seen.
pub(super) struct Noted<S> {
    stream: S,
    came: Arc<AtomicBool>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Noted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.came.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Noted<S> {
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

/// A WebSocket.
pub(super) struct WebSocket<S> {
    socket: WebSocketStream<Noted<S>>,
    came: Arc<AtomicBool>,
    stall: Duration,
    /// Runs while part of a message has come.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> WebSocket<S> {
    pub(super) async fn accept(stream: S, limit: usize, stall: Duration) -> Self {
        let came = Arc::new(AtomicBool::new(false));
        let config = WebSocketConfig::default().max_message_size(Some(limit)).max_frame_size(Some(limit));
        let noted = Noted { stream, came: came.clone() };
        Self { socket: WebSocketStream::from_raw_socket(noted, Role::Server, Some(config)).await, came, stall, timer: None }
    }

    /// The next item, or `None` when one was begun and not finished in time.
    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Option<tungstenite::Result<Message>>>> {
        if let Poll::Ready(item) = self.socket.poll_next_unpin(cx) {
            self.came.store(false, Ordering::Relaxed);
            self.timer = None;
            return Poll::Ready(Some(item));
        }
        if !self.came.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let stall = self.stall;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        timer.as_mut().poll(cx).map(|()| None)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Transport for WebSocket<S> {
    async fn next(&mut self) -> Incoming {
        loop {
            let Some(item) = std::future::poll_fn(|cx| self.poll_item(cx)).await else { return Incoming::Stalled };
            match item {
                Some(Ok(Message::Text(text))) => return Incoming::Message(text.as_bytes().to_vec()),
                Some(Ok(Message::Binary(bytes))) => return Incoming::Message(bytes.to_vec()),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Incoming::End,
                Some(Err(tungstenite::Error::Capacity(error))) => return Incoming::Refused(error.to_string()),
                Some(Err(_)) => return Incoming::End,
            }
        }
    }

    async fn send(&mut self, message: &str) -> io::Result<()> {
        self.socket.send(Message::text(message)).await.map_err(io::Error::other)
    }

    async fn close(&mut self, refused: bool) {
        let frame = refused.then(|| CloseFrame { code: CloseCode::Policy, reason: "limit exceeded".into() });
        let _ = self.socket.close(frame).await;
        if refused {
            linger(self.socket.get_mut()).await;
        }
    }
}
