//! A client's socket, with a limit on how long a write may make no progress.

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

/// A stream whose writes fail with `TimedOut` when the client reads nothing for too long. Reads yield the bytes already
/// consumed by framing detection first.
pub(super) struct ClientStream {
    stream: UnixStream,
    /// Bytes read while the framing was detected.
    prefix: Vec<u8>,
    stall: Duration,
    /// Write timeout; runs while a write is pending.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    pub(super) fn new(stream: UnixStream, prefix: Vec<u8>, stall: Duration) -> Self {
        Self { stream, prefix, stall, timer: None }
    }

    /// Returns whether the client closed both directions. A client that only shut down its sending side still expects
    /// responses.
    pub(super) fn is_gone(&self) -> bool {
        is_gone(self.stream.as_fd())
    }

    /// Returns a handle that reports whether the client is gone, for use after the stream itself was moved elsewhere.
    ///
    /// # Errors
    /// If the process is out of file descriptors.
    pub(super) fn peer(&self) -> io::Result<Peer> {
        Ok(Peer(self.stream.as_fd().try_clone_to_owned()?))
    }

    /// Returns the result of a write, or `TimedOut` if the write has been pending for too long.
    fn with_timeout<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
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

/// Handle that outlives a [`ClientStream`] and reports whether its client is gone.
pub(super) struct Peer(OwnedFd);

impl Peer {
    /// See [`ClientStream::is_gone`].
    pub(super) fn is_gone(&self) -> bool {
        is_gone(self.0.as_fd())
    }
}

fn is_gone(fd: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::empty())];
    let no_wait = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&no_wait)).is_ok()
        && polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.prefix.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let count = self.prefix.len().min(buf.remaining());
        buf.put_slice(&self.prefix[..count]);
        self.prefix.drain(..count);
        if self.prefix.is_empty() {
            self.prefix = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.with_timeout(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
