//! The trait for connections that carry many messages, and its implementation for the two byte-stream framings.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use afd_proto::frame::{Decoder, Framing, encode_into};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::stream::ClientStream;

/// Number of bytes of a large response that are sent before the task yields. Without yielding, a client that reads fast
/// would monopolise a thread.
const CHUNK: usize = 256 << 10;
/// Output buffer capacity that an idle connection keeps, in bytes.
const IDLE_CAPACITY: usize = 64 << 10;

/// What reading from a connection can yield.
pub(super) enum Incoming {
    /// A complete message.
    Message(Vec<u8>),
    /// The client will send no more messages.
    End,
    /// The client sent something that cannot be accepted; the value is the reason.
    Rejected(String),
    /// The client began a message and did not complete it in time.
    Stalled,
}

/// A connection that carries many messages. A single task polls both reading and writing, so that neither blocks the
/// other.
pub(super) trait Transport: Send {
    /// Appends a message to the output queue.
    fn queue(&mut self, message: String);
    /// Returns whether all queued messages have been sent.
    fn is_flushed(&self) -> bool;
    /// Sends queued messages; ready when all have been sent.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Polls for the next message.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Incoming>;
    /// Returns whether the client can no longer read responses.
    fn is_gone(&self) -> bool;
    /// Closes the connection. If a message was rejected, input is discarded for a moment, so that the client can read
    /// the error.
    fn close(&mut self, rejected: bool) -> impl Future<Output = ()> + Send;
}

/// Time limit for completing a message, from its first byte on.
pub(super) struct Deadline {
    stall: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(super) fn new(stall: Duration) -> Self {
        Self { stall, timer: None }
    }

    pub(super) fn clear(&mut self) {
        self.timer = None;
    }

    /// Starts the timer if it is not running; ready when the message has been incomplete for too long.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let stall = self.stall;
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall))).as_mut().poll(cx)
    }
}

/// Transport for newline-delimited messages and `Content-Length` frames.
pub(super) struct Framed {
    stream: ClientStream,
    decoder: Decoder,
    framing: Framing,
    ended: bool,
    deadline: Deadline,
    outgoing: Vec<u8>,
    /// Number of bytes in `outgoing` that have been sent.
    sent: usize,
}

impl Framed {
    pub(super) fn new(stream: ClientStream, framing: Framing, limit: usize, stall: Duration) -> Self {
        let decoder = Decoder::new(framing, limit);
        Self { stream, decoder, framing, ended: false, deadline: Deadline::new(stall), outgoing: Vec::new(), sent: 0 }
    }

    /// Reads the available bytes. Returns `false` at the end of the stream.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut space = [MaybeUninit::uninit(); 16 << 10];
        let mut buffer = ReadBuf::uninit(&mut space);
        Pin::new(&mut self.stream).poll_read(cx, &mut buffer).map(|read| {
            self.decoder.push(buffer.filled());
            read.is_ok() && !buffer.filled().is_empty()
        })
    }
}

impl Transport for Framed {
    fn queue(&mut self, message: String) {
        // If nothing is queued before it, a large response is moved instead of copied.
        if self.framing == Framing::Line && self.outgoing.is_empty() && message.len() > IDLE_CAPACITY {
            self.outgoing = message.into_bytes();
            self.outgoing.push(b'\n');
        } else {
            encode_into(self.framing, &message, &mut self.outgoing);
        }
    }

    fn is_flushed(&self) -> bool {
        self.outgoing.is_empty()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stop = self.sent + CHUNK;
        while self.sent < self.outgoing.len() {
            if self.sent >= stop {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match std::task::ready!(Pin::new(&mut self.stream).poll_write(cx, &self.outgoing[self.sent..])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => self.sent += n,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.sent = 0;
        self.outgoing.clear();
        if self.outgoing.capacity() > IDLE_CAPACITY {
            self.outgoing = Vec::new();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            match self.decoder.next_message() {
                Ok(Some(message)) => {
                    self.deadline.clear();
                    return Poll::Ready(Incoming::Message(message));
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Incoming::Rejected(error.to_string())),
            }
            if self.ended {
                return Poll::Ready(self.decoder.finish().map_or(Incoming::End, Incoming::Message));
            }
            match self.poll_read(cx) {
                Poll::Ready(more) => self.ended = !more,
                Poll::Pending if self.decoder.is_partial() => {
                    return self.deadline.poll(cx).map(|()| Incoming::Stalled);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn is_gone(&self) -> bool {
        self.stream.is_gone()
    }

    async fn close(&mut self, rejected: bool) {
        let _ = self.stream.shutdown().await;
        if rejected && !self.ended {
            linger(&mut self.stream).await;
        }
    }
}

/// Discards input for at most a second, because closing a socket with unread input would cut off the last response.
pub(super) async fn linger(stream: &mut (impl AsyncRead + Unpin)) {
    let mut waste = vec![0; 64 << 10];
    let deadline = Instant::now() + Duration::from_secs(1);
    let drain = async { while matches!(stream.read(&mut waste).await, Ok(n) if n > 0) {} };
    let _ = tokio::time::timeout_at(deadline, drain).await;
}
