//! The practice site: the web pages of an invented shop, for browsers. It needs no network, and remembers nothing but
//! which of its two versions it shows.

mod files;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use crate::http::query;

type Answer = Response<Full<Bytes>>;

/// Name and value of the cookie of a user who has signed in.
const SIGNED_IN: &str = "in=1";
/// User and password that the site accepts, as a form sends them.
const CREDENTIALS: (&str, &str) = ("demo", "practice");
/// Delay of pages below `/slow`.
const SLOW: Duration = Duration::from_millis(1_500);
/// Maximum size of an uploaded file with its form, in bytes.
const MAX_UPLOAD: usize = 16 << 20;

/// A running site. It stops when it is dropped.
#[derive(Debug)]
pub struct Site {
    /// Address that it listens on.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves the site on a loopback port; 0 picks a free one.
///
/// # Errors
/// An I/O error if the port cannot be bound.
pub async fn start(port: u16) -> std::io::Result<Site> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    Ok(Site { address, task: tokio::spawn(serve(listener)) })
}

async fn serve(listener: TcpListener) {
    let version = Arc::new(AtomicU8::new(1));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let version = version.clone();
                let answer = service_fn(move |request| {
                    let version = version.clone();
                    async move { Ok::<_, std::convert::Infallible>(handle(request, &version).await) }
                });
                connections.spawn(async move {
                    // A browser that goes away ends the connection with an error that can be ignored.
                    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn handle(request: Request<Incoming>, version: &AtomicU8) -> Answer {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    match head.method {
        Method::POST => {
            let Ok(body) = http_body_util::Limited::new(body, MAX_UPLOAD).collect().await else {
                return text(StatusCode::PAYLOAD_TOO_LARGE, "the file is too large");
            };
            post(&path, &body.to_bytes(), version)
        }
        Method::GET | Method::HEAD => {
            let cookies = head.headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let signed_in = cookies.split("; ").any(|cookie| cookie == SIGNED_IN);
            match path.strip_prefix("/slow/") {
                Some(rest) => {
                    tokio::time::sleep(SLOW).await;
                    get(&format!("/{rest}"), signed_in, version)
                }
                None if path.starts_with("/pending/") => std::future::pending().await,
                None => get(&path, signed_in, version),
            }
        }
        _ => text(StatusCode::METHOD_NOT_ALLOWED, "expected GET or POST"),
    }
}

fn get(path: &str, signed_in: bool, version: &AtomicU8) -> Answer {
    let name = path.trim_matches('/');
    let is_private = name == "account" || name.starts_with("account/");
    if name == "logout" {
        return redirect("/", Some("in=; Max-Age=0; Path=/"));
    }
    if is_private && !signed_in {
        return redirect("/login", None);
    }
    if let Some((_, extension)) = name.rsplit_once('.') {
        let Some(content) = files::file(name) else { return text(StatusCode::NOT_FOUND, "no such file") };
        let kind = match extension {
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            _ => "application/octet-stream",
        };
        let mut answer = with_type(content, kind);
        if name.starts_with("download/") {
            answer.headers_mut().insert(header::CONTENT_DISPOSITION, header::HeaderValue::from_static("attachment"));
        }
        return answer;
    }
    match page(if name.is_empty() { "index" } else { name }, version.load(Ordering::Relaxed)) {
        Some(content) => with_type(content, "text/html; charset=utf-8"),
        None => text(StatusCode::NOT_FOUND, "no such page"),
    }
}

/// Returns the page with a name, or the one that handles the names below it.
fn page(name: &str, version: u8) -> Option<&'static [u8]> {
    let of_version = |name: &str| {
        let new = (version == 2).then(|| files::file(&format!("redesign/{name}.html"))).flatten();
        new.or_else(|| files::file(&format!("pages/{name}.html")))
    };
    of_version(name).or_else(|| page(name.rsplit_once('/')?.0, version))
}

fn post(path: &str, body: &[u8], version: &AtomicU8) -> Answer {
    match path {
        "/login" => {
            let form: HashMap<String, String> = query(&String::from_utf8_lossy(body));
            let field = |name: &str| form.get(name).map_or("", String::as_str);
            if (field("user"), field("password")) == CREDENTIALS {
                redirect("/account", Some("in=1; Path=/; HttpOnly; SameSite=Lax"))
            } else {
                redirect("/login?wrong=1", None)
            }
        }
        "/upload" => match uploaded(body) {
            Some((name, bytes)) => redirect(&format!("/uploaded?name={}&bytes={bytes}", encoded(&name)), None),
            None => text(StatusCode::BAD_REQUEST, "expected a form with one file"),
        },
        "/design/1" | "/design/2" => {
            version.store(if path.ends_with('2') { 2 } else { 1 }, Ordering::Relaxed);
            text(StatusCode::OK, "done")
        }
        _ => text(StatusCode::NOT_FOUND, "no such page"),
    }
}

/// Returns the name and the size of the file in a multipart form.
fn uploaded(body: &[u8]) -> Option<(String, usize)> {
    let find = |part: &[u8], from: usize| {
        body.get(from..)?.windows(part.len()).position(|window| window == part).map(|at| from + at)
    };
    let boundary = &body[..find(b"\r\n", 0)?];
    let name = find(b"filename=\"", 0)? + b"filename=\"".len();
    let content = find(b"\r\n\r\n", name)? + 4;
    let end = find(&[b"\r\n", boundary].concat(), content)?;
    Some((String::from_utf8_lossy(&body[name..find(b"\"", name)?]).into_owned(), end - content))
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn with_type(content: &'static [u8], kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(content)));
    answer.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    answer.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache"));
    answer
}

fn text(status: StatusCode, message: &'static str) -> Answer {
    let mut answer = with_type(message.as_bytes(), "text/plain; charset=utf-8");
    *answer.status_mut() = status;
    answer
}

fn redirect(to: &str, cookie: Option<&'static str>) -> Answer {
    let mut answer = text(StatusCode::SEE_OTHER, "");
    if let Ok(to) = header::HeaderValue::from_str(to) {
        answer.headers_mut().insert(header::LOCATION, to);
    }
    if let Some(cookie) = cookie {
        answer.headers_mut().insert(header::SET_COOKIE, header::HeaderValue::from_static(cookie));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_handles_the_names_below_it_and_the_account_is_private() {
        let version = AtomicU8::new(1);
        for path in ["/", "/product/17", "/shop/green", "/app/board"] {
            assert_eq!(get(path, false, &version).status(), StatusCode::OK, "{path}");
        }
        let login = |path: &str| get(path, false, &version).headers().get(header::LOCATION).cloned();
        assert_eq!(login("/account/orders").expect("a redirect"), "/login");
        assert_eq!(login("/accounts"), None);
        assert_eq!(get("/no/such/page", false, &version).status(), StatusCode::NOT_FOUND);
        assert_ne!(page("index", 1), page("index", 2));
    }

    #[test]
    fn an_upload_has_a_name_and_a_size() {
        let form = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\n\r\none\r\ntwo\r\n--x--\r\n";
        assert_eq!(uploaded(form), Some(("a b.txt".to_owned(), 8)));
        assert_eq!(uploaded(b"no form"), None);
        let answer = post("/upload", form, &AtomicU8::new(1));
        assert_eq!(answer.headers()[header::LOCATION], "/uploaded?name=a%20b.txt&bytes=8");
    }
}
