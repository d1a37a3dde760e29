//! Streamable HTTP on 127.0.0.1. A token is required. The `Host` and `Origin` headers must name this machine, so that
//! no web page can access the bridge. Clients of a protocol version without sessions are served request by request.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use afd_proto::tool::Toolset;
use http_body_util::{BodyExt, Full, Limited, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::daemon::{Daemon, LeaseConnection};
use crate::input;
use crate::server::Bridge;
use crate::uses::Uses;

/// Maximum number of simultaneous connections from clients that have sent the token; further ones are refused.
const MAX_CLIENTS: usize = 64;
/// Maximum number of simultaneous connections; further ones are closed at once. A connection without the token is
/// closed after its first response.
const MAX_CONNECTIONS: usize = 1_024;
/// Maximum time for a request body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a request body in bytes.
const MAX_BODY: usize = 8 * 1024 * 1024;
/// Maximum time for the head of a request to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between checks for sessions of clients that have gone away.
const SWEEP: Duration = Duration::from_secs(15);
/// `O_NONBLOCK` on Linux: `open` does not wait for the other end of a named pipe.
const O_NONBLOCK: i32 = 0o4000;
/// Maximum length of a token file in bytes.
const MAX_TOKEN: u64 = 4096;
/// HTTP header that contains a client's session id.
const SESSION_HEADER: &str = "mcp-session-id";
/// URL path at which clients are served.
const PATH: &str = "/mcp";

/// Serves clients over HTTP until the process ends.
///
/// # Errors
/// If the token cannot be read, or if the port is taken.
pub async fn serve(
    daemon: Arc<Daemon>,
    toolsets: Vec<Toolset>,
    port: u16,
    token_file: Option<PathBuf>,
) -> Result<(), String> {
    let file = token_file
        .or_else(default_token_file)
        .ok_or("cannot tell where to keep the token: set HOME, or use --token-file")?;
    let token: Arc<str> = token(&file).map_err(|e| format!("cannot use the token in {}: {e}", file.display()))?.into();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(|e| format!("cannot listen on port {port}: {e}"))?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    eprintln!("serving MCP at http://{address}{PATH} with the token in {}", file.display());
    let mut manager = LocalSessionManager::default();
    // A client may be silent as long as its event stream is open, see `uses`.
    manager.session_config.keep_alive = None;
    let manager = Arc::new(manager);
    let shared_leases = Arc::new(LeaseConnection::default());
    let bridge = move || Ok(Bridge::new(daemon.clone(), toolsets.clone(), shared_leases.clone()));
    // No keep-alive messages on a stream: on the same machine, a client that goes away closes its connection.
    let config = StreamableHttpServerConfig::default()
        .with_sse_keep_alive(None)
        .with_allowed_hosts([format!("127.0.0.1:{}", address.port()), format!("localhost:{}", address.port())])
        .with_allowed_origins([
            format!("http://127.0.0.1:{}", address.port()),
            format!("http://localhost:{}", address.port()),
        ])
        .enforce_origin_validation();
    let uses = Uses::default();
    tokio::spawn(end_idle(manager.clone(), uses.clone()));
    let serving = Arc::new(Serving {
        service: StreamableHttpService::new(bridge, manager, config),
        token,
        uses,
        clients: Arc::new(Semaphore::new(MAX_CLIENTS)),
    });
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // A connection that failed before it was accepted does not end the server.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let Ok(slot) = slots.clone().try_acquire_owned() else { continue };
        let serving = serving.clone();
        tokio::spawn(async move {
            let _slot = slot;
            let client = Arc::new(OnceLock::new());
            let answer = service_fn(move |request| answer(serving.clone(), client.clone(), request));
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// Periodically ends the sessions of clients that have gone away; never returns.
async fn end_idle(manager: Arc<LocalSessionManager>, uses: Uses) {
    loop {
        tokio::time::sleep(SWEEP).await;
        for session in uses.take_idle(Instant::now()) {
            // The session may have ended already.
            let _ = manager.close_session(&session.into()).await;
        }
    }
}

/// State shared by all connections.
struct Serving {
    service: StreamableHttpService<Bridge, LocalSessionManager>,
    token: Arc<str>,
    uses: Uses,
    clients: Arc<Semaphore>,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;
/// The slot that a connection occupies once its client has sent the token.
type Place = Arc<OnceLock<OwnedSemaphorePermit>>;

async fn answer(serving: Arc<Serving>, place: Place, request: Request<Incoming>) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        return Ok(closing(refusal(StatusCode::NOT_FOUND, "MCP is served at /mcp\n")));
    }
    if !is_authorised(&request, &serving.token) {
        return Ok(closing(refusal(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer TOKEN`\n")));
    }
    if place.get().is_none() {
        match serving.clients.clone().try_acquire_owned() {
            Ok(permit) => drop(place.set(permit)),
            Err(_) => {
                return Ok(closing(refusal(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "64 connections are open: close some of them\n",
                )));
            }
        }
    }
    let session = header(request.headers(), SESSION_HEADER);
    let ends = request.method() == Method::DELETE;
    let using = session.as_deref().map(|session| serving.uses.begin(session, Instant::now()));
    let request = match with_body(request).await {
        Ok(request) => request,
        Err(refused) => return Ok(refused),
    };
    let mut response = serving.service.handle(request).await;
    // The session has ended already, so "no content" is more accurate than "accepted".
    if ends && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    // A session is in use until its response, which may be an event stream, has ended.
    let begun = header(response.headers(), SESSION_HEADER).map(|session| serving.uses.begin(&session, Instant::now()));
    let using = begun.or(using);
    Ok(response.map(|body| {
        body.map_frame(move |frame| {
            let _ = &using;
            frame
        })
        .boxed()
    }))
}

fn header(headers: &hyper::HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Reads the body of a request and checks the message in it.
///
/// # Errors
/// Returns the response to send to the client if the body is too slow or too long, or is not a valid message.
async fn with_body(request: Request<Incoming>) -> Result<Request<Full<Bytes>>, Answer> {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY).collect()).await;
    let Ok(read) = read else {
        return Err(closing(refusal(StatusCode::REQUEST_TIMEOUT, "the body did not arrive within 30 s\n")));
    };
    let Ok(read) = read else {
        return Err(closing(refusal(StatusCode::PAYLOAD_TOO_LARGE, "expected a body of at most 8 MiB\n")));
    };
    let mut bytes = read.to_bytes();
    if parts.method == Method::POST {
        match input::read(&bytes) {
            Ok(message) => bytes = message.text.into(),
            Err(error) => return Err(json_response(StatusCode::BAD_REQUEST, error.to_string())),
        }
    }
    let mut request = Request::from_parts(parts, Full::new(bytes));
    // The length of the message may have changed.
    request.headers_mut().remove(CONTENT_LENGTH);
    Ok(request)
}

fn json_response(status: StatusCode, text: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a response after which the connection is closed.
fn closing(mut response: Answer) -> Answer {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn refusal(status: StatusCode, text: &'static str) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Compares the token of a request with the expected one in constant time.
fn is_authorised(request: &Request<Incoming>, token: &str) -> bool {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, given)) = given.and_then(|value| value.split_once(' ')) else { return false };
    let (given, token) = (given.trim().as_bytes(), token.as_bytes());
    let differing = given.iter().zip(token).fold(0, |differing, (a, b)| differing | (a ^ b));
    scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differing == 0
}

fn default_token_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("afd").join("mcp-token"))
}

/// Returns the token in a file. If the file does not exist, creates it with a new token; only its owner can read it.
fn token(file: &Path) -> std::io::Result<String> {
    // Opening a named pipe could block forever.
    match std::fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(file) {
        Ok(open) => {
            if open.metadata()?.permissions().mode() & 0o077 != 0 {
                return Err(std::io::Error::other("others can read it; chmod 600 it"));
            }
            if !open.metadata()?.is_file() {
                return Err(std::io::Error::other("it is not a file"));
            }
            let mut text = String::new();
            open.take(MAX_TOKEN).read_to_string(&mut text)?;
            let token = text.trim();
            if token.len() < 16 || !token.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(std::io::Error::other(
                    "expected 16 to 4096 printable characters; delete it to have a new one made",
                ));
            }
            Ok(token.to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = new_token()?;
            if let Some(directory) = file.parent() {
                std::fs::create_dir_all(directory)?;
            }
            let mut new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
            writeln!(new, "{token}")?;
            Ok(token)
        }
        Err(error) => Err(error),
    }
}

/// Returns 256 random bits in hexadecimal.
fn new_token() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
