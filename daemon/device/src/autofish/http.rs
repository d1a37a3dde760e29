//! HTTP requests to the service on the phone: connections, the JSON envelope, and the mapping of failures to errors.

use std::net::IpAddr;
use std::time::Duration;

use afd_proto::Secret;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

use crate::{DriverError, SetupError};
use afd_base::config::{DeviceSettings, Proxy};
use afd_base::net::{self, BodyError};

/// Maximum size of a response that contains a picture, in bytes.
const MAX_PICTURE: usize = 64 << 20;
/// Maximum size of a text response, such as a screen, in bytes. Its parsed form takes several times as much memory.
const MAX_TEXT: usize = 16 << 20;
/// Path of the screenshot endpoint.
pub(super) const SCREENSHOT: &str = "/api/screenshot";
/// How long the connection that was used for a key press is kept open for the next key press.
const PRESSING_IDLE: Duration = Duration::from_millis(500);
/// Maximum length of an error message from the service that is passed on to the caller, in characters.
const MAX_MESSAGE: usize = 400;

/// The JSON envelope of a response from the service. Fields that are null may be absent.
#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    data: Option<String>,
    error: Option<String>,
}

/// HTTP client for the service on one phone.
pub(super) struct Http {
    client: Client,
    /// Client for actions, each of which gets its own connection. If an idle connection were reused, the phone might
    /// have closed it, which would make the outcome unknown. It might also still hold an old response, which would be
    /// taken for the response to the new action.
    acting: Client,
    /// Client for key presses in quick succession, which share a connection.
    pressing: Client,
    base: Url,
    token: Option<Secret>,
    timeout: Duration,
}

/// Returns whether a URL points to this machine or a private network, which must be reached without a proxy.
fn is_local_network(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            let [a, b, ..] = ip.octets();
            // 100.64.0.0/10 is used by overlay networks.
            ip.is_private() || ip.is_loopback() || ip.is_link_local() || (a == 100 && (64..128).contains(&b))
        }
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            !host.contains('.') || host.ends_with(".local") || host.ends_with(".lan") || host.ends_with(".internal")
        }
    }
}

impl Http {
    pub(super) fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        afd_base::config::check_url(settings.kind, &settings.url)?;
        let mut base = Url::parse(&settings.url)?;
        let timeout = Duration::from_millis(settings.timeout_ms);
        // Credentials in the URL would end up in logs and responses.
        let _ = base.set_username("").and_then(|()| base.set_password(None));
        base.set_query(None);
        base.set_fragment(None);
        base.set_path("");
        let direct = match settings.proxy {
            Proxy::Auto => is_local_network(&base),
            Proxy::Direct => true,
            Proxy::System => false,
        };
        let builder = || {
            let builder = net::plain_client().connect_timeout(timeout.min(Duration::from_secs(5)));
            let builder = builder.redirect(reqwest::redirect::Policy::none());
            if direct { builder.no_proxy() } else { builder }
        };
        let client = builder().build()?;
        let acting = builder().pool_max_idle_per_host(0).build()?;
        let pressing = builder().pool_idle_timeout(PRESSING_IDLE).pool_max_idle_per_host(1).build()?;
        Ok(Self { client, acting, pressing, base, token: settings.token.clone(), timeout })
    }

    pub(super) fn url(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    fn endpoint(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    fn authorised(&self, request: reqwest::RequestBuilder, token: Option<&Secret>) -> reqwest::RequestBuilder {
        match token.or(self.token.as_ref()) {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        }
    }

    /// Sends a GET request. Retries once if the connection breaks, because reads have no side effects.
    pub(super) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        token: Option<&Secret>,
    ) -> Result<String, DriverError> {
        let send = || async {
            let request = self.authorised(self.client.get(self.endpoint(path, query)), token).timeout(self.timeout);
            let response = request.send().await?;
            read(response, if path == SCREENSHOT { MAX_PICTURE } else { MAX_TEXT }).await
        };
        let response = match send().await {
            Err(BodyError::Http(error)) if !error.is_timeout() && !error.is_connect() => send().await,
            other => other,
        };
        match response {
            Ok((status, body)) => decode(status, &body),
            Err(BodyError::Http(error)) => Err(DriverError::Unreachable(self.explain(&error, self.timeout).into())),
            Err(error @ BodyError::TooLarge(_)) => Err(DriverError::Protocol(error.to_string().into())),
        }
    }

    /// Sends a POST request once. Any failure after the connection was established leaves the outcome unknown.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Value,
        extra: Duration,
        token: Option<&Secret>,
    ) -> Result<String, DriverError> {
        self.post_by(&self.acting, path, body, extra, token).await
    }

    /// Sends a POST request over the connection that requests in quick succession share.
    pub(super) async fn post_next(
        &self,
        path: &str,
        body: &Value,
        token: Option<&Secret>,
    ) -> Result<String, DriverError> {
        self.post_by(&self.pressing, path, body, Duration::ZERO, token).await
    }

    async fn post_by(
        &self,
        client: &Client,
        path: &str,
        body: &Value,
        extra: Duration,
        token: Option<&Secret>,
    ) -> Result<String, DriverError> {
        let timeout = self.timeout + extra;
        let request = self.authorised(client.post(self.endpoint(path, &[])), token).timeout(timeout).json(body);
        let response = match request.send().await {
            Ok(response) => read(response, MAX_TEXT).await,
            Err(error) => Err(BodyError::Http(error)),
        };
        match response {
            Ok((status, body)) => match decode(status, &body) {
                // The status reports success, so the action may have happened although the body is malformed.
                Err(DriverError::Protocol(what)) if status.is_success() => Err(DriverError::Lost(what.to_string())),
                other => other,
            },
            // A request that cannot be built, for example because a header cannot hold the token, was never sent.
            Err(BodyError::Http(error)) if error.is_connect() || error.is_builder() => {
                Err(DriverError::Unreachable(self.explain(&error, timeout).into()))
            }
            Err(BodyError::Http(error)) => Err(DriverError::Lost(self.explain(&error, timeout))),
            Err(error @ BodyError::TooLarge(_)) => Err(DriverError::Lost(error.to_string())),
        }
    }

    pub(super) async fn health(&self) -> Result<String, DriverError> {
        #[derive(Deserialize)]
        struct Health {
            status: String,
            #[serde(rename = "type")]
            kind: Option<String>,
        }
        let sent = self.client.get(self.endpoint("/health", &[])).timeout(self.timeout).send().await;
        let response = match sent {
            Ok(response) => read(response, MAX_TEXT).await,
            Err(error) => Err(BodyError::Http(error)),
        };
        match response {
            Ok((status, body)) if status.is_success() => match serde_json::from_slice::<Health>(&body) {
                Ok(health) if health.status == "healthy" => Ok(health.kind.unwrap_or_else(|| "unknown".to_owned())),
                Ok(health) => Err(DriverError::Refused {
                    status: None,
                    message: format!("the service status is {:?}", shorten(&health.status)).into(),
                }),
                Err(_) => Err(DriverError::Protocol("not a health response of the phone's service".into())),
            },
            Ok((status, _)) => {
                Err(DriverError::Refused { status: Some(status.as_u16()), message: format!("HTTP {status}").into() })
            }
            Err(BodyError::Http(error)) => Err(DriverError::Unreachable(self.explain(&error, self.timeout).into())),
            Err(BodyError::TooLarge(_)) => Err(DriverError::Protocol("the response is too large".into())),
        }
    }

    /// Describes an error without reqwest's own message, whose URL includes the query.
    fn explain(&self, error: &reqwest::Error, timeout: Duration) -> String {
        if error.is_timeout() {
            return format!("{} did not respond within {} ms", self.url(), timeout.as_millis());
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(next) = cause.source() {
            cause = next;
        }
        format!("{}: {cause}", self.url())
    }
}

async fn read(response: Response, limit: usize) -> Result<(StatusCode, Vec<u8>), BodyError> {
    let status = response.status();
    Ok((status, net::body(response, limit).await?))
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(MAX_MESSAGE).collect();
    if short.len() < text.len() {
        short.push_str(" ...");
    }
    short
}

/// Returns the data in a response, or the error that the service reports. A successful response must be an envelope; an
/// error response may also be plain text or empty.
fn decode(status: StatusCode, body: &[u8]) -> Result<String, DriverError> {
    let envelope = serde_json::from_slice::<Envelope>(body).ok();
    let message = || match &envelope {
        Some(e) => shorten(e.error.as_deref().unwrap_or("")),
        None => shorten(&String::from_utf8_lossy(body)),
    };
    if status == StatusCode::UNAUTHORIZED {
        return Err(DriverError::Auth(message().into()));
    }
    if !status.is_success() {
        let message = message();
        let message = if message.is_empty() { format!("HTTP {status} with an empty body") } else { message };
        return Err(DriverError::Refused { status: Some(status.as_u16()), message: message.into() });
    }
    match envelope {
        Some(Envelope { ok: true, data, .. }) => Ok(data.unwrap_or_default()),
        Some(Envelope { ok: false, error, .. }) => Err(DriverError::Refused {
            status: Some(status.as_u16()),
            message: shorten(error.as_deref().unwrap_or("no error message was given")).into(),
        }),
        None => {
            let got = format!("expected the service's JSON envelope, got {} bytes of something else", body.len());
            Err(DriverError::Protocol(got.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_hosts_bypass_the_proxy() {
        for (url, direct) in [
            ("http://127.0.0.1:1", true),
            ("http://192.168.1.2", true),
            ("http://[::1]:8081", true),
            ("http://phone.local", true),
            ("http://phone", true),
            ("http://100.100.1.1", true),
            ("http://8.8.8.8", false),
            ("http://phone.example.org", false),
        ] {
            assert_eq!(is_local_network(&Url::parse(url).expect("a URL")), direct, "{url}");
        }
    }

    #[test]
    fn credentials_are_removed_from_the_url() {
        let http = Http::new(&DeviceSettings::at("http://user:secret@h:1/api/?token=x#y")).expect("a URL");
        assert_eq!(http.url(), "http://h:1");
    }

    #[test]
    fn decodes_envelope_plain_text_and_empty_responses() {
        let of = |status: u16, body: &str| decode(StatusCode::from_u16(status).expect("a status"), body.as_bytes());
        assert_eq!(of(200, r#"{"ok":true,"data":"x","error":null}"#), Ok("x".into()));
        assert!(
            matches!(of(409, r#"{"ok":false,"data":null,"error":"STALE"}"#), Err(DriverError::Refused { status: Some(409), message }) if &*message == "STALE")
        );
        assert!(
            matches!(of(500, "boom"), Err(DriverError::Refused { status: Some(500), message }) if &*message == "boom")
        );
        assert!(
            matches!(of(404, ""), Err(DriverError::Refused { status: Some(404), message }) if message.contains("404"))
        );
        assert!(matches!(of(401, "Invalid bearer token"), Err(DriverError::Auth(_))));
        assert!(matches!(of(200, "<html>"), Err(DriverError::Protocol(_))));
    }
}
