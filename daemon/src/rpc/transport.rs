//! Connections that carry many messages, as the engine sees them, and the two framings that carry bare bytes.

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

/// How much of a large answer is sent before others get their turn, bytes: who reads fast would keep a thread otherwise.
const PIECE: usize = 256 << 10;
/// Capacity that an idle connection keeps for what it sends, bytes.
const KEEP: usize = 64 << 10;

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

/// A connection that carries many messages. Reading and writing are polled by one task, so that neither waits for the other.
pub(super) trait Transport: Send {
    /// Puts a message behind those that are to be sent.
    fn queue(&mut self, message: String);
    /// Whether everything was sent.
    fn is_flushed(&self) -> bool;
    /// Sends what is queued; ready when everything was sent.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// The next message.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Incoming>;
    /// Whether nobody is there any more to read an answer.
    fn is_gone(&self) -> bool;
    /// Ends the connection; what the other side still sends is thrown away for a moment, so that it gets to read.
    fn close(&mut self, refused: bool) -> impl Future<Output = ()> + Send;
}

/// Runs from the first byte of a message until it is whole.
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

    /// Ready when part of a message has waited for too long.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let stall = self.stall;
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall))).as_mut().poll(cx)
    }
}

/// Lines, or `Content-Length` frames.
pub(super) struct Bytes {
    stream: ClientStream,
    decoder: Decoder,
    framing: Framing,
    ended: bool,
    deadline: Deadline,
    outgoing: Vec<u8>,
    /// How much of `outgoing` was sent.
    sent: usize,
}

impl Bytes {
    pub(super) fn new(stream: ClientStream, framing: Framing, limit: usize, stall: Duration) -> Self {
        let decoder = Decoder::new(framing, limit);
        Self { stream, decoder, framing, ended: false, deadline: Deadline::new(stall), outgoing: Vec::new(), sent: 0 }
    }

    /// Reads what is there; false when the stream has ended.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut space = [MaybeUninit::uninit(); 16 << 10];
        let mut buffer = ReadBuf::uninit(&mut space);
        Pin::new(&mut self.stream).poll_read(cx, &mut buffer).map(|read| {
            self.decoder.push(buffer.filled());
            read.is_ok() && !buffer.filled().is_empty()
        })
    }
}

impl Transport for Bytes {
    fn queue(&mut self, message: String) {
        // A large answer is not copied, where nothing stands before it.
        if self.framing == Framing::Line && self.outgoing.is_empty() && message.len() > KEEP {
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
        let stop = self.sent + PIECE;
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
        if self.outgoing.capacity() > KEEP {
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
                Err(error) => return Poll::Ready(Incoming::Refused(error.to_string())),
            }
            if self.ended {
                return Poll::Ready(self.decoder.finish().map_or(Incoming::End, Incoming::Message));
            }
            match self.poll_read(cx) {
                Poll::Ready(more) => self.ended = !more,
                Poll::Pending if self.decoder.is_partial() => return self.deadline.poll(cx).map(|()| Incoming::Stalled),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn is_gone(&self) -> bool {
        self.stream.is_gone()
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
    let deadline = Instant::now() + Duration::from_secs(1);
    let drain = async { while matches!(stream.read(&mut waste).await, Ok(n) if n > 0) {} };
    let _ = tokio::time::timeout_at(deadline, drain).await;
}
