//! Accepts connections and detects their framing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::frame::Framing;
use hyper::StatusCode;
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{ConnectionId, Methods};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{self, Context};
use super::places::Slots;
use super::register::to_rpc;
use super::stream::ClientStream;
use super::transport::{Framed, linger};
use super::{dispatch, http};
use crate::app::{Core, Error};

/// Maximum time for a connection on a reserved slot to send its first bytes.
const RESERVED_TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum interval between log lines about failed accepts.
const ACCEPT_LOG_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum size of the head of a connection's first HTTP request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Protocol spoken on a connection, detected from its first byte.
enum Protocol {
    Framed(Framing),
    Http,
}

/// Detects the protocol of a connection. JSON starts with a brace, a bracket or whitespace, a `Content-Length` frame
/// with `C`, and HTTP with any other capital letter.
fn detect_protocol(first: u8) -> Protocol {
    match first {
        b'C' | b'c' => Protocol::Framed(Framing::ContentLength),
        b'A'..=b'Z' => Protocol::Http,
        _ => Protocol::Framed(Framing::Line),
    }
}

/// Serves the socket until the daemon is asked to stop, then waits for the connections to finish their calls in flight.
/// Returns the deadline by which all remaining work must end. A listener received from `others` replaces the previous
/// listener.
pub async fn serve(
    core: Arc<Core>,
    methods: Methods,
    mut listener: UnixListener,
    mut others: mpsc::Receiver<UnixListener>,
) -> Instant {
    let mut stopping = core.runtime.stopping();
    let mut connections = JoinSet::new();
    let slots = Arc::new(Slots::default());
    let mut next_id = 0;
    let owner = rustix::process::geteuid().as_raw();
    let mut last_logged: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(other) = others.recv() => {
                listener = other;
                continue;
            }
            Some(_) = connections.join_next() => {
                // A finished task keeps its memory until it is joined.
                while connections.try_join_next().is_some() {}
                continue;
            }
            () = connection::stopped(&mut stopping) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // The process is probably out of file descriptors, so other connections get time to close.
                if last_logged.is_none_or(|at| at.elapsed() >= ACCEPT_LOG_INTERVAL) {
                    tracing::warn!(%error, "cannot accept a connection");
                    last_logged = Some(Instant::now());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if !belongs_to(&stream, owner) {
            continue;
        }
        next_id += 1;
        let limits = core.config.get().limits.clone();
        let Some(slot) = slots.admit(limits.connections, Duration::from_millis(limits.idle_ms)) else { continue };
        let (stopping, id) = (core.runtime.stopping(), ConnectionId(next_id));
        let context = Context { methods: methods.clone(), limits, stopping, id, slot };
        let open = OpenConnection::new(core.clone());
        connections.spawn(async move {
            let _open = open;
            serve_connection(stream, context).await;
        });
    }
    drop(listener);
    let deadline = Instant::now() + core.config.get().drain;
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout_at(deadline, all).await.is_err() {
        tracing::warn!("some calls did not finish before the drain deadline");
    }
    deadline
}

/// Guard that counts a connection as open until the guard is dropped.
struct OpenConnection(Arc<Core>);

impl OpenConnection {
    fn new(core: Arc<Core>) -> Self {
        core.runtime.connections.fetch_add(1, Ordering::SeqCst);
        Self(core)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.runtime.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

fn belongs_to(stream: &UnixStream, owner: u32) -> bool {
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == owner => true,
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), pid = peer.pid(), "closed a connection of another user");
            false
        }
        Err(error) => {
            tracing::warn!(%error, "closed a connection: cannot read the credentials of its peer");
            false
        }
    }
}

async fn serve_connection(mut stream: UnixStream, mut context: Context) {
    let mut first = Vec::with_capacity(4096);
    let reserved = context.slot.is_reserved();
    let read = tokio::select! {
        read = stream.read_buf(&mut first) => read,
        () = connection::stopped(&mut context.stopping) => return,
        () = context.slot.evicted() => return,
        () = tokio::time::sleep(RESERVED_TIMEOUT), if reserved => return,
    };
    let (Ok(1..), Some(byte)) = (read, first.first()) else { return };
    match detect_protocol(*byte) {
        Protocol::Framed(framing) => {
            let stream = ClientStream::new(stream, first, context.stall());
            let transport = Framed::new(stream, framing, context.limits.frame_bytes, context.stall());
            connection::run(transport, context).await;
        }
        Protocol::Http => match tokio::time::timeout(context.stall(), read_head(&mut stream, &mut first)).await {
            Ok(Ok(())) => http::serve(ClientStream::new(stream, first, context.stall()), context).await,
            Ok(Err(error)) => {
                reject(
                    &mut stream,
                    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    dispatch::limit_error(error.to_string()),
                )
                .await;
            }
            Err(_) => {
                let why = format!("the message was not complete within {} ms", context.limits.half_frame_ms);
                reject(&mut stream, StatusCode::REQUEST_TIMEOUT, to_rpc(Error::new(ErrorCode::Timeout, why))).await;
            }
        },
    }
}

/// Reads the complete head of the first request, so that a client that never finishes it can be sent an error.
async fn read_head(stream: &mut UnixStream, head: &mut Vec<u8>) -> io::Result<()> {
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        if head.len() > MAX_HEAD {
            return Err(io::Error::other(format!("the request head exceeds {MAX_HEAD} bytes")));
        }
        if stream.read_buf(head).await? == 0 {
            return Ok(());
        }
    }
    Ok(())
}

/// Sends an error to a client whose first request cannot be read, and closes the connection.
async fn reject(stream: &mut UnixStream, status: StatusCode, error: ErrorObjectOwned) {
    let _ = stream.write_all(http::raw_error_response(status, error).as_bytes()).await;
    let _ = stream.shutdown().await;
    linger(stream).await;
}
