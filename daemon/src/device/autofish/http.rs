//! Requests to the service: kept-alive connections, the envelope, and which failure means what.

use std::net::IpAddr;
use std::time::Duration;

use afd_proto::Secret;
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

use super::{DriverError, SetupError};
use crate::config::{DeviceSettings, Proxy};
use crate::net::{self, BodyError};

/// The largest answer that is read, bytes.
const MAX_ANSWER: usize = 64 << 20;
/// The longest error text that is passed on, characters.
const MAX_MESSAGE: usize = 400;

/// The envelope; what is null may as well be absent.
#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    data: Option<String>,
    error: Option<String>,
}

pub(super) struct Http {
    client: Client,
    base: Url,
    token: Option<Secret>,
    timeout: Duration,
}

/// Whether an address lies in a private network or on this machine, where a proxy would be wrong.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("").trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            let [a, b, ..] = ip.octets();
            // 100.64.0.0/10 is where overlay networks live.
            ip.is_private() || ip.is_loopback() || ip.is_link_local() || (a == 100 && (64..128).contains(&b))
        }
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".lan") || host.ends_with(".internal"),
    }
}

impl Http {
    pub(super) fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        crate::config::check_url(&settings.url)?;
        let mut base = Url::parse(&settings.url)?;
        let timeout = Duration::from_millis(settings.timeout_ms);
        // Credentials in a URL would reach logs and answers.
        let _ = base.set_username("").and_then(|()| base.set_password(None));
        base.set_query(None);
        base.set_fragment(None);
        base.set_path("");
        let mut builder =
            net::plain_client().connect_timeout(timeout.min(Duration::from_secs(5))).redirect(reqwest::redirect::Policy::none());
        let direct = match settings.proxy {
            Proxy::Auto => is_near(&base),
            Proxy::Direct => true,
            Proxy::System => false,
        };
        if direct {
            builder = builder.no_proxy();
        }
        let client = builder.build()?;
        Ok(Self { client, base, token: settings.token.clone(), timeout })
    }

    pub(super) fn url(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    fn at(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    fn request(&self, method: reqwest::Method, url: Url, token: Option<&Secret>) -> reqwest::RequestBuilder {
        let request = self.client.request(method, url);
        match token.or(self.token.as_ref()) {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        }
    }

    /// Asks; asks once more when the connection broke, for a question does no harm.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)], token: Option<&Secret>) -> Result<String, DriverError> {
        let ask = || async {
            let request = self.request(reqwest::Method::GET, self.at(path, query), token).timeout(self.timeout);
            let response = request.send().await?;
            read(response).await
        };
        let answer = match ask().await {
            Err(BodyError::Http(error)) if !error.is_timeout() && !error.is_connect() => ask().await,
            other => other,
        };
        match answer {
            Ok((status, body)) => understand(status, &body),
            Err(BodyError::Http(error)) => Err(DriverError::Unreachable(self.explain(&error, self.timeout))),
            Err(BodyError::TooLarge(_)) => Err(DriverError::Nonsense(format!("the answer exceeds {MAX_ANSWER} bytes"))),
        }
    }

    /// Does something, once. Whatever breaks after the connection stood leaves the outcome unknown.
    pub(super) async fn post(&self, path: &str, body: &Value, extra: Duration, token: Option<&Secret>) -> Result<String, DriverError> {
        let timeout = self.timeout + extra;
        let request = self.request(reqwest::Method::POST, self.at(path, &[]), token).timeout(timeout).json(body);
        let answer = match request.send().await {
            Ok(response) => read(response).await,
            Err(error) => Err(BodyError::Http(error)),
        };
        match answer {
            Ok((status, body)) => match understand(status, &body) {
                // A success that cannot be read is no proof that nothing happened.
                Err(DriverError::Nonsense(what)) if status.is_success() => Err(DriverError::Lost(what)),
                other => other,
            },
            Err(BodyError::Http(error)) if error.is_connect() => Err(DriverError::Unreachable(self.explain(&error, timeout))),
            Err(BodyError::Http(error)) => Err(DriverError::Lost(self.explain(&error, timeout))),
            Err(BodyError::TooLarge(_)) => Err(DriverError::Lost(format!("the answer exceeds {MAX_ANSWER} bytes"))),
        }
    }

    pub(super) async fn health(&self) -> Result<String, DriverError> {
        #[derive(Deserialize)]
        struct Health {
            status: String,
            #[serde(rename = "type")]
            kind: Option<String>,
        }
        let answer = self.client.get(self.at("/health", &[])).timeout(self.timeout).send().await;
        let answer = match answer {
            Ok(response) => read(response).await,
            Err(error) => Err(BodyError::Http(error)),
        };
        match answer {
            Ok((status, body)) if status.is_success() => match serde_json::from_slice::<Health>(&body) {
                Ok(health) if health.status == "healthy" => Ok(health.kind.unwrap_or_else(|| "unknown".to_owned())),
                Ok(health) => Err(DriverError::Refused { status: None, message: format!("its status is {:?}", shorten(&health.status)) }),
                Err(_) => Err(DriverError::Nonsense("what answers there is not the phone's service".to_owned())),
            },
            Ok((status, _)) => Err(DriverError::Refused { status: Some(status.as_u16()), message: format!("it answered {status}") }),
            Err(BodyError::Http(error)) => Err(DriverError::Unreachable(self.explain(&error, self.timeout))),
            Err(BodyError::TooLarge(_)) => Err(DriverError::Nonsense("the answer is too large".to_owned())),
        }
    }

    /// What went wrong, without the URL of the library's own text, which carries the query.
    fn explain(&self, error: &reqwest::Error, timeout: Duration) -> String {
        if error.is_timeout() {
            return format!("{} gave no answer within {} ms", self.url(), timeout.as_millis());
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(next) = cause.source() {
            cause = next;
        }
        format!("{}: {cause}", self.url())
    }
}

async fn read(response: Response) -> Result<(StatusCode, Vec<u8>), BodyError> {
    let status = response.status();
    Ok((status, net::body(response, MAX_ANSWER).await?))
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(MAX_MESSAGE).collect();
    if short.len() < text.len() {
        short.push_str(" ...");
    }
    short
}

/// The service answers by an envelope, by plain text or by nothing at all.
fn understand(status: StatusCode, body: &[u8]) -> Result<String, DriverError> {
    let envelope = serde_json::from_slice::<Envelope>(body).ok();
    let words = || match &envelope {
        Some(e) => shorten(e.error.as_deref().unwrap_or("")),
        None => shorten(&String::from_utf8_lossy(body)),
    };
    if status == StatusCode::UNAUTHORIZED {
        return Err(DriverError::Auth(words()));
    }
    if !status.is_success() {
        let message = words();
        let message = if message.is_empty() { format!("it answered {status} without a word") } else { message };
        return Err(DriverError::Refused { status: Some(status.as_u16()), message });
    }
    match envelope {
        Some(Envelope { ok: true, data, .. }) => Ok(data.unwrap_or_default()),
        Some(Envelope { ok: false, error, .. }) => Err(DriverError::Refused {
            status: Some(status.as_u16()),
            message: shorten(error.as_deref().unwrap_or("it said no more than that it failed")),
        }),
        None => Err(DriverError::Nonsense(format!("expected the service's JSON envelope, got {} other bytes", body.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_hosts_are_reached_directly() {
        for (url, near) in [
            ("http://127.0.0.1:1", true),
            ("http://192.168.1.2", true),
            ("http://[::1]:8081", true),
            ("http://phone.local", true),
            ("http://phone", true),
            ("http://100.100.1.1", true),
            ("http://8.8.8.8", false),
            ("http://phone.example.org", false),
        ] {
            assert_eq!(is_near(&Url::parse(url).expect("a URL")), near, "{url}");
        }
    }

    #[test]
    fn credentials_never_stay_in_the_url() {
        let http = Http::new(&DeviceSettings::at("http://user:secret@h:1/api/?token=x#y")).expect("a URL");
        assert_eq!(http.url(), "http://h:1");
    }

    #[test]
    fn answers_of_every_shape_are_understood() {
        let of = |status: u16, body: &str| understand(StatusCode::from_u16(status).expect("a status"), body.as_bytes());
        assert_eq!(of(200, r#"{"ok":true,"data":"x","error":null}"#), Ok("x".into()));
        assert!(
            matches!(of(409, r#"{"ok":false,"data":null,"error":"STALE"}"#), Err(DriverError::Refused { status: Some(409), message }) if message == "STALE")
        );
        assert!(matches!(of(500, "boom"), Err(DriverError::Refused { status: Some(500), message }) if message == "boom"));
        assert!(matches!(of(404, ""), Err(DriverError::Refused { status: Some(404), message }) if message.contains("404")));
        assert!(matches!(of(401, "Invalid bearer token"), Err(DriverError::Auth(_))));
        assert!(matches!(of(200, "<html>"), Err(DriverError::Nonsense(_))));
    }
}
