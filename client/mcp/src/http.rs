//! Streamable HTTP on 127.0.0.1: a token is required, and the `Host` and `Origin` of a request must be of this machine, so that no web
//! page can reach it.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use afd_proto::tool::Toolset;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::daemon::Daemon;
use crate::server::Bridge;

/// Maximum number of connections at a time; more wait.
const MAX_CONNECTIONS: usize = 64;
/// Maximum time until the head of a request has arrived.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Time after which a client that is silent loses its session, and with it its leases: it may have gone away.
const SESSION_TIMEOUT: Duration = Duration::from_secs(300);
/// Flag of `open` on Linux that makes it return at once for a named pipe.
const O_NONBLOCK: i32 = 0o4000;
/// Maximum length of a token file, bytes.
const MAX_TOKEN: u64 = 4096;
/// Path at which clients are served.
const PATH: &str = "/mcp";

/// Serves until the process ends.
///
/// # Errors
/// If the token cannot be read, or if the port is taken.
pub async fn serve(daemon: Arc<Daemon>, toolsets: Vec<Toolset>, port: u16, token_file: Option<PathBuf>) -> Result<(), String> {
    let file = token_file.or_else(default_token_file).ok_or("cannot tell where to keep the token: set HOME, or use --token-file")?;
    let token: Arc<str> = token(&file).map_err(|e| format!("cannot use the token in {}: {e}", file.display()))?.into();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|e| format!("cannot listen on port {port}: {e}"))?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    eprintln!("serving MCP at http://{address}{PATH} with the token in {}", file.display());
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(SESSION_TIMEOUT);
    let bridge = move || Ok(Bridge::new(daemon.clone(), toolsets.clone(), true));
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([format!("127.0.0.1:{}", address.port()), format!("localhost:{}", address.port())])
        .with_allowed_origins([format!("http://127.0.0.1:{}", address.port()), format!("http://localhost:{}", address.port())])
        .enforce_origin_validation();
    let service = StreamableHttpService::new(bridge, Arc::new(manager), config);
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return Ok(()) };
        // A connection that broke before it was accepted is not the end.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (service, token) = (service.clone(), token.clone());
        tokio::spawn(async move {
            let _slot = slot;
            let answer = service_fn(move |request| answer(service.clone(), token.clone(), request));
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

type Service = StreamableHttpService<Bridge, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

async fn answer(service: Service, token: Arc<str>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        return Ok(refusal(StatusCode::NOT_FOUND, "MCP is served at /mcp\n"));
    }
    if !is_authorised(&request, &token) {
        return Ok(refusal(StatusCode::UNAUTHORIZED, "send the token as `Authorization: Bearer TOKEN`\n"));
    }
    let ends = request.method() == Method::DELETE;
    let mut response = service.handle(request).await;
    // The session has ended by now: "accepted" would promise that it will.
    if ends && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    Ok(response)
}

fn refusal(status: StatusCode, text: &'static str) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
    }
    response
}

/// Compares the token of a request with the expected one, without telling by the time it takes how much of it is right.
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

/// Returns the token in a file; a file that does not exist is created with a new one, readable by its owner only.
fn token(file: &Path) -> std::io::Result<String> {
    // Something that is not a file could make the start wait for ever.
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
                return Err(std::io::Error::other("expected 16 to 4096 printable characters; delete it to have a new one made"));
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
