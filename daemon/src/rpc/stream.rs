//! A client's stream: reads and writes with a limit on how long a write may make no progress.

use std::future::Future;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::Sleep;

/// A stream whose writes fail with `TimedOut` when the client takes nothing for too long. Bytes that were read already come
/// first.
pub(super) struct ClientStream {
    stream: UnixStream,
    /// Read before the framing was known.
    first: Vec<u8>,
    stall: Duration,
    /// Runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    pub(super) fn new(stream: UnixStream, first: Vec<u8>, stall: Duration) -> Self {
        Self { stream, first, stall, timer: None }
    }

    /// Whether the client closed both directions. One that merely ended its own side still waits for answers.
    pub(super) fn is_gone(&self) -> bool {
        is_gone(self.stream.as_fd())
    }

    /// What tells whether the client is gone, for whoever hands the stream itself to somebody else.
    ///
    /// # Errors
    /// When the process has no file descriptor left.
    pub(super) fn peer(&self) -> io::Result<Peer> {
        Ok(Peer(self.stream.as_fd().try_clone_to_owned()?))
    }

    /// Passes on what a write says, and fails when it waits for too long.
    fn limited<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.timer = None;
            return polled;
        }
        let stall = self.stall;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// The other end of a stream.
pub(super) struct Peer(OwnedFd);

impl Peer {
    /// As [`ClientStream::is_gone`].
    pub(super) fn is_gone(&self) -> bool {
        is_gone(self.0.as_fd())
    }
}

fn is_gone(fd: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let count = self.first.len().min(buf.remaining());
        buf.put_slice(&self.first[..count]);
        self.first.drain(..count);
        if self.first.is_empty() {
            self.first = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.limited(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
