//! HTTP/1.1 and the way to a WebSocket.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use jsonrpsee::types::{ErrorObjectOwned, Id};
use tokio::sync::mpsc;
use tokio::task::JoinError;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::calls::Calls;
use super::connection::{self, Context};
use super::dispatch::{self, Caller};
use super::register::to_rpc;
use super::stream::{ClientStream, Peer};
use super::websocket::WebSocket;
use crate::control::Error;

type Answer = Response<Full<Bytes>>;

/// Serves a connection: requests one after the other, or one WebSocket.
pub(super) async fn serve(stream: ClientStream, context: Context) {
    let peer = match stream.peer() {
        Ok(peer) => Arc::new(peer),
        Err(error) => return tracing::warn!(%error, "a connection is refused"),
    };
    let (upgraded, mut upgrade) = mpsc::channel::<WebSocket<TokioIo<hyper::upgrade::Upgraded>>>(1);
    let mut stopping = context.stopping.clone();
    let (for_service, evicted) = (context.clone(), context.place.clone());
    let service = service_fn(move |request| {
        let (context, upgraded, peer) = (for_service.clone(), upgraded.clone(), peer.clone());
        async move { Ok::<_, Infallible>(answer(request, context, upgraded, &peer).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    // A client may end its side after the request and still wants the answer.
    builder.half_close(true).timer(TokioTimer::new()).header_read_timeout(context.stall());
    {
        let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service).with_upgrades());
        tokio::select! {
            _ = served.as_mut() => {}
            () = evicted.evicted() => return,
            () = connection::stopped(&mut stopping) => {
                served.as_mut().graceful_shutdown();
                let _ = served.as_mut().await;
            }
        }
    }
    if let Some(socket) = upgrade.recv().await {
        connection::run(socket, context).await;
    }
}

async fn answer(
    mut request: Request<Incoming>,
    context: Context,
    upgraded: mpsc::Sender<WebSocket<TokioIo<hyper::upgrade::Upgraded>>>,
    peer: &Peer,
) -> Answer {
    if request.uri().path() != "/" {
        return empty(StatusCode::NOT_FOUND);
    }
    if let Some(key) = web_socket_key(&request) {
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            if let Ok(stream) = upgrade.await {
                let socket = WebSocket::accept(TokioIo::new(stream), context.limits.frame_bytes, context.stall()).await;
                let _ = upgraded.send(socket).await;
            }
        });
        return switch(&key);
    }
    if request.method() != Method::POST {
        let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return refused;
    }
    let limit = context.limits.frame_bytes;
    if request.body().size_hint().lower() > limit as u64 {
        return too_large(limit);
    }
    let body = tokio::time::timeout(context.stall(), Limited::new(request.into_body(), limit).collect()).await;
    let bytes = match body {
        Err(_) => return slow(context.stall()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(limit),
        Ok(Err(_)) => return fault(StatusCode::BAD_REQUEST, to_rpc(Error::new(ErrorCode::InvalidRequest, "the body ended early"))),
        Ok(Ok(body)) => body.to_bytes().to_vec(),
    };
    if context.place.is_reserved() && !dispatch::is_owners(&bytes) {
        return fault(StatusCode::SERVICE_UNAVAILABLE, dispatch::places_taken());
    }
    context.place.speaks();
    context.place.set_busy(true);
    let answered = execute(&context, bytes, peer).await;
    context.place.speaks();
    context.place.set_busy(false);
    match answered {
        Ok(Some(text)) => json(StatusCode::OK, text),
        Ok(None) => empty(StatusCode::NO_CONTENT),
        Err(_) => fault(
            StatusCode::INTERNAL_SERVER_ERROR,
            to_rpc(Error::new(ErrorCode::Internal, "the call ended early").hint("this is a fault of afd; its log says more")),
        ),
    }
}

/// Executes a message for as long as its client is there: what has changed nothing by then ends.
async fn execute(context: &Context, bytes: Vec<u8>, peer: &Peer) -> Result<Option<String>, JoinError> {
    let calls = Calls::new(mpsc::channel(1).0);
    let caller = Caller { calls: Some(calls.clone()), ..context.caller() };
    // A task of its own: hyper polls this future only while it has nothing to write.
    let mut task = tokio::spawn(dispatch::message(caller, bytes));
    loop {
        tokio::select! {
            answered = &mut task => return answered,
            () = tokio::time::sleep(connection::GONE_CHECK) => if peer.is_gone() {
                calls.cancel_all();
                return task.await;
            }
        }
    }
}

fn web_socket_key(request: &Request<Incoming>) -> Option<HeaderValue> {
    let says = |name, wanted: &str| {
        let value = request.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or("");
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case(wanted))
    };
    let asks = request.method() == Method::GET && says(header::UPGRADE, "websocket") && says(header::CONNECTION, "upgrade");
    request.headers().get(header::SEC_WEBSOCKET_KEY).filter(|_| asks).cloned()
}

fn switch(key: &HeaderValue) -> Answer {
    let mut response = empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = derive_accept_key(key.as_bytes()).parse() {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

fn empty(status: StatusCode) -> Answer {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn json(status: StatusCode, text: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An error that ends the connection.
pub(super) fn fault(status: StatusCode, error: ErrorObjectOwned) -> Answer {
    let mut response = json(status, dispatch::fault(Id::Null, error).into_json().get().to_owned());
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_large(limit: usize) -> Answer {
    fault(StatusCode::PAYLOAD_TOO_LARGE, dispatch::limit(format!("a message exceeds the limit of {limit} bytes")))
}

fn slow(within: Duration) -> Answer {
    let why = format!("a message was begun and not finished within {} ms", within.as_millis());
    fault(StatusCode::REQUEST_TIMEOUT, to_rpc(Error::new(ErrorCode::Timeout, why)))
}

/// An error as the bytes of a whole HTTP answer, for a connection that no engine serves.
pub(super) fn raw_fault(status: StatusCode, error: ErrorObjectOwned) -> String {
    let body = dispatch::fault(Id::Null, error).into_json();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}",
        body.get().len(),
        body.get()
    )
}
