//! HTTP layer of the service: authorisation, injected faults, envelopes. The handlers of the routes are in [`routes`].

use std::collections::HashMap;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::fault::Kind;
use crate::server::{Shared, WriteFault, WriteFaultSlot, lock};
use crate::{routes, wire};

/// An HTTP response.
pub type HttpResponse = Response<Full<Bytes>>;

pub(crate) fn plain(status: StatusCode, content_type: Option<&str>, body: String) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    if let Some(value) = content_type.and_then(|c| c.parse().ok()) {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    response
}

pub(crate) fn text(status: StatusCode, body: impl Into<String>) -> HttpResponse {
    plain(status, Some("text/plain; charset=UTF-8"), body.into())
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn envelope(result: Result<String, (u16, String)>) -> HttpResponse {
    let (code, body) = match &result {
        Ok(data) => (200, wire::Envelope { ok: true, data: Some(data), error: None }),
        Err((code, error)) => (*code, wire::Envelope { ok: false, data: None, error: Some(error) }),
    };
    plain(status(code), Some("application/json"), serde_json::to_string(&body).unwrap_or_default())
}

/// Handles one request to the service.
pub async fn handle(phone: &Shared, write_fault: &WriteFaultSlot, request: Request<Incoming>) -> HttpResponse {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return text(StatusCode::BAD_REQUEST, "");
    };
    let body = body.to_bytes();
    let target = head.uri.path_and_query().map_or("/", |t| t.as_str()).to_owned();
    let authorization = head.headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    if target != "/health" {
        match authorization.and_then(|a| a.strip_prefix("Bearer ")) {
            None => return text(StatusCode::UNAUTHORIZED, "Missing or invalid Authorization header"),
            Some(token) if token != lock(phone).token => return text(StatusCode::UNAUTHORIZED, "Invalid bearer token"),
            Some(_) => {}
        }
    }
    let (fault, mut released) = {
        let mut phone = lock(phone);
        *phone.requests.entry(head.uri.path().to_owned()).or_default() += 1;
        (phone.faults.take(head.uri.path()), phone.released.subscribe())
    };
    match &fault {
        Some(Kind::DropBefore) => {
            write_fault.inject(WriteFault::Drop);
            return text(StatusCode::OK, "");
        }
        Some(Kind::Status { status: code, body, content_type }) => {
            return plain(status(*code), content_type.as_deref(), body.clone());
        }
        _ => {}
    }
    let flap = fault == Some(Kind::Flap);
    let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let call = Call {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: query(head.uri.query().unwrap_or("")),
        content_type,
        body,
        flap,
    };
    let response = routes::route(&mut lock(phone), &call);
    match fault {
        // An error means that the phone was turned off; then the response is dropped anyway.
        Some(Kind::Hold) => released.changed().await.unwrap_or_default(),
        Some(Kind::DropAfter) => write_fault.inject(WriteFault::Drop),
        Some(Kind::Garbage) => write_fault.inject(WriteFault::Garbage),
        Some(Kind::Half) => write_fault.inject(WriteFault::Half),
        _ => {}
    }
    response
}

/// A request to a route and its body.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    content_type: Option<String>,
    body: Bytes,
    pub(crate) flap: bool,
}

pub(crate) fn query(text: &str) -> HashMap<String, String> {
    text.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_owned(), decode(v))).collect()
}

fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let hex =
            (bytes[i] == b'%').then(|| text.get(i + 1..i + 3)).flatten().and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (_, Some(byte)) => {
                out.push(byte);
                i += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        i += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Call {
    pub(crate) fn int(&self, name: &str, default: i32) -> i32 {
        self.query.get(name).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.query.get(name).and_then(|v| v.parse().ok()).unwrap_or(default)
    }

    fn json<T: DeserializeOwned>(&self, type_name: &str) -> Result<T, HttpResponse> {
        let is_json = self.content_type.as_deref().is_some_and(|c| c.starts_with("application/json"));
        if !is_json {
            return Err(text(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("Cannot transform this request's content to {type_name}"),
            ));
        }
        serde_json::from_slice(&self.body).map_err(|_| {
            text(
                StatusCode::BAD_REQUEST,
                format!(
                    "Failed to convert request body to class com.memohai.autofish.service.ServiceServer${type_name}"
                ),
            )
        })
    }
}

/// Parses the JSON body of a request for a handler; `type_name` is the name that the service's errors give to the
/// body's type.
pub(crate) fn with_body<T: DeserializeOwned>(
    call: &Call,
    type_name: &str,
    run: impl FnOnce(T) -> Result<String, (u16, String)>,
) -> HttpResponse {
    match call.json(type_name) {
        Ok(body) => envelope(run(body)),
        Err(response) => response,
    }
}

pub(crate) fn fail<T>(code: u16, message: impl Into<String>) -> Result<T, (u16, String)> {
    Err((code, message.into()))
}
