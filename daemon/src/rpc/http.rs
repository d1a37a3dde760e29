//! HTTP/1.1 connections, and their upgrade to a WebSocket.

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
use super::response;
use super::stream::{ClientStream, Peer};
use super::websocket::WebSocket;
use crate::app::Error;

type HttpResponse = Response<Full<Bytes>>;

/// Serves a connection: sequential requests, or a WebSocket.
pub(super) async fn serve(stream: ClientStream, context: Context) {
    let peer = match stream.peer() {
        Ok(peer) => Arc::new(peer),
        Err(error) => return tracing::warn!(%error, "closed a connection: cannot monitor its client"),
    };
    let (upgraded, mut upgrade) = mpsc::channel::<WebSocket<TokioIo<hyper::upgrade::Upgraded>>>(1);
    let mut stopping = context.stopping.clone();
    let (for_service, evicted) = (context.clone(), context.slot.clone());
    let service = service_fn(move |request| {
        let (context, upgraded, peer) = (for_service.clone(), upgraded.clone(), peer.clone());
        async move { Ok::<_, Infallible>(handle_request(request, context, upgraded, &peer).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    // A client may shut down its sending side after the request and still expects the response.
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

async fn handle_request(
    mut request: Request<Incoming>,
    context: Context,
    upgraded: mpsc::Sender<WebSocket<TokioIo<hyper::upgrade::Upgraded>>>,
    peer: &Peer,
) -> HttpResponse {
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
        return switching_protocols(&key);
    }
    if request.method() != Method::POST {
        let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let limit = context.limits.frame_bytes;
    if request.body().size_hint().lower() > limit as u64 {
        return too_large(limit);
    }
    let body = tokio::time::timeout(context.stall(), Limited::new(request.into_body(), limit).collect()).await;
    let bytes = match body {
        Err(_) => return timed_out(context.stall()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(limit),
        Ok(Err(_)) => {
            return error_response(
                StatusCode::BAD_REQUEST,
                to_rpc(Error::new(ErrorCode::InvalidRequest, "the body ended early")),
            );
        }
        Ok(Ok(body)) => body.to_bytes().to_vec(),
    };
    if context.slot.is_reserved() && !dispatch::is_admin_call(&bytes) {
        return error_response(StatusCode::SERVICE_UNAVAILABLE, dispatch::connection_limit_error());
    }
    context.slot.record_activity();
    context.slot.set_busy(true);
    let outcome = execute(&context, bytes, peer).await;
    context.slot.record_activity();
    context.slot.set_busy(false);
    match outcome {
        Ok(Some(response)) => json(StatusCode::OK, Bytes::from_owner(response)),
        Ok(None) => empty(StatusCode::NO_CONTENT),
        Err(_) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            to_rpc(
                Error::new(ErrorCode::Internal, "the call ended early")
                    .hint("this is a bug in afd; see its log for details"),
            ),
        ),
    }
}

/// Executes a message. If the client disconnects, the call is cancelled unless it has committed to a change.
async fn execute(context: &Context, bytes: Vec<u8>, peer: &Peer) -> Result<Option<response::Response>, JoinError> {
    let calls = Calls::of_request();
    let caller = Caller { calls: Some(calls.clone()), ..context.caller() };
    // The call runs in its own task, because hyper polls this future only while it has nothing to write.
    let mut task = tokio::spawn(dispatch::handle_message(caller, bytes));
    loop {
        tokio::select! {
            outcome = &mut task => return outcome,
            () = tokio::time::sleep(connection::GONE_CHECK_INTERVAL) => if peer.is_gone() {
                calls.cancel_all();
                return task.await;
            }
        }
    }
}

fn web_socket_key(request: &Request<Incoming>) -> Option<HeaderValue> {
    let has_token = |name, wanted: &str| {
        let value = request.headers().get(name).and_then(|v| v.to_str().ok()).unwrap_or("");
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case(wanted))
    };
    let is_upgrade = request.method() == Method::GET
        && has_token(header::UPGRADE, "websocket")
        && has_token(header::CONNECTION, "upgrade");
    request.headers().get(header::SEC_WEBSOCKET_KEY).filter(|_| is_upgrade).cloned()
}

fn switching_protocols(key: &HeaderValue) -> HttpResponse {
    let mut response = empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept) = derive_accept_key(key.as_bytes()).parse() {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

fn empty(status: StatusCode) -> HttpResponse {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn json(status: StatusCode, text: Bytes) -> HttpResponse {
    let mut response = Response::new(Full::new(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns an error response that closes the connection.
pub(super) fn error_response(status: StatusCode, error: ErrorObjectOwned) -> HttpResponse {
    let mut response = json(status, dispatch::into_text(dispatch::error_response(Id::Null, error)).into());
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_large(limit: usize) -> HttpResponse {
    error_response(
        StatusCode::PAYLOAD_TOO_LARGE,
        dispatch::limit_error(format!("a message exceeds the limit of {limit} bytes")),
    )
}

fn timed_out(limit: Duration) -> HttpResponse {
    let why = format!("the message was not complete within {} ms", limit.as_millis());
    error_response(StatusCode::REQUEST_TIMEOUT, to_rpc(Error::new(ErrorCode::Timeout, why)))
}

/// Returns an error as a complete HTTP response, for a connection that hyper does not serve.
pub(super) fn raw_error_response(status: StatusCode, error: ErrorObjectOwned) -> String {
    let body = dispatch::error_response(Id::Null, error).into_json();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}",
        body.get().len(),
        body.get()
    )
}
