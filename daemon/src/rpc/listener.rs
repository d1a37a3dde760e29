//! Accepting connections and telling the framings apart.

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
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection::{self, Context};
use super::places::Places;
use super::register::to_rpc;
use super::stream::ClientStream;
use super::transport::{Bytes, linger};
use super::{dispatch, http};
use crate::control::{Core, Error};

/// How long a connection on a reserved place may take to say what it wants.
const RESERVED_PATIENCE: Duration = Duration::from_secs(5);
/// How often running out of file descriptors is logged.
const ACCEPT_LOG: Duration = Duration::from_secs(60);
/// The longest head of a first HTTP request, bytes.
const MAX_HEAD: usize = 64 << 10;

/// What the first bytes of a connection say.
enum Protocol {
    Bytes(Framing),
    Http,
}

/// JSON begins with a brace, a bracket or white space; a header block with `Content-Length`; HTTP with another capital.
fn protocol_of(first: u8) -> Protocol {
    match first {
        b'C' | b'c' => Protocol::Bytes(Framing::ContentLength),
        b'A'..=b'Z' => Protocol::Http,
        _ => Protocol::Bytes(Framing::Line),
    }
}

/// Serves the socket until the daemon is to stop, then until the connections have finished what is in flight. Returns until
/// when what still goes on may do so.
pub async fn serve(core: Arc<Core>, methods: Methods, listener: UnixListener) -> Instant {
    let mut stopping = core.runtime.stopping();
    let mut connections = JoinSet::new();
    let places = Arc::new(Places::default());
    let mut next_id = 0;
    let owner = rustix::process::geteuid().as_raw();
    let mut told: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = connection::stopped(&mut stopping) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: give others time to end.
                if told.is_none_or(|at| at.elapsed() >= ACCEPT_LOG) {
                    tracing::warn!(%error, "cannot accept a connection");
                    told = Some(Instant::now());
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
        let Some(place) = places.admit(limits.connections, Duration::from_millis(limits.idle_ms)) else { continue };
        let context = Context { methods: methods.clone(), limits, stopping: core.runtime.stopping(), id: ConnectionId(next_id), place };
        let open = Open::new(core.clone());
        connections.spawn(async move {
            let _open = open;
            begin(stream, context).await;
        });
    }
    drop(listener);
    let deadline = Instant::now() + core.config.get().drain;
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout_at(deadline, all).await.is_err() {
        tracing::warn!("some calls did not finish in time");
    }
    deadline
}

/// Counts an open connection.
struct Open(Arc<Core>);

impl Open {
    fn new(core: Arc<Core>) -> Self {
        core.runtime.connections.fetch_add(1, Ordering::SeqCst);
        Self(core)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.runtime.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

fn belongs_to(stream: &UnixStream, owner: u32) -> bool {
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == owner => true,
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), pid = peer.pid(), "another user's connection was closed");
            false
        }
        Err(error) => {
            tracing::warn!(%error, "a connection without credentials was closed");
            false
        }
    }
}

async fn begin(mut stream: UnixStream, mut context: Context) {
    let mut first = Vec::with_capacity(4096);
    let reserved = context.place.is_reserved();
    let read = tokio::select! {
        read = stream.read_buf(&mut first) => read,
        () = connection::stopped(&mut context.stopping) => return,
        () = context.place.evicted() => return,
        () = tokio::time::sleep(RESERVED_PATIENCE), if reserved => return,
    };
    let (Ok(1..), Some(byte)) = (read, first.first()) else { return };
    match protocol_of(*byte) {
        Protocol::Bytes(framing) => {
            let stream = ClientStream::new(stream, first, context.stall());
            let transport = Bytes::new(stream, framing, context.limits.frame_bytes, context.stall());
            connection::run(transport, context).await;
        }
        Protocol::Http => match tokio::time::timeout(context.stall(), read_head(&mut stream, &mut first)).await {
            Ok(Ok(())) => http::serve(ClientStream::new(stream, first, context.stall()), context).await,
            Ok(Err(error)) => {
                tell(&mut stream, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, dispatch::limit(error.to_string())).await;
            }
            Err(_) => {
                let why = format!("a message was begun and not finished within {} ms", context.limits.half_frame_ms);
                tell(&mut stream, StatusCode::REQUEST_TIMEOUT, to_rpc(Error::new(ErrorCode::Timeout, why))).await;
            }
        },
    }
}

/// Reads the head of the first request whole, so that a client that never finishes it can be told.
async fn read_head(stream: &mut UnixStream, head: &mut Vec<u8>) -> io::Result<()> {
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        if head.len() > MAX_HEAD {
            return Err(io::Error::other(format!("the head of the request exceeds {MAX_HEAD} bytes")));
        }
        if stream.read_buf(head).await? == 0 {
            return Ok(());
        }
    }
    Ok(())
}

/// Answers a client whose first request cannot be read.
async fn tell(stream: &mut UnixStream, status: StatusCode, error: ErrorObjectOwned) {
    let _ = stream.write_all(http::raw_fault(status, error).as_bytes()).await;
    let _ = stream.shutdown().await;
    linger(stream).await;
}
