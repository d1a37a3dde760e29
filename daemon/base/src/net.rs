//! HTTP clients that share a TLS configuration, and size-limited reading of response bodies.

use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response};

/// Returns a client builder that uses rustls with ring for TLS. This combination builds in seconds and needs no system
/// library.
pub fn client() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // If this fails, a provider is already installed and is used instead.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
}

/// Returns a builder for a plain-HTTP client, which does not load the system's certificates.
pub fn plain_client() -> ClientBuilder {
    client().tls_certs_only([])
}

/// Returns a builder for a client that talks to the server at this base URL. The client follows no redirects, because a
/// redirect could send the API key to another server. It loads the system's certificates only for HTTPS.
pub fn client_of(base: &str) -> ClientBuilder {
    let builder = if base.starts_with("https:") { client() } else { plain_client() };
    builder.connect_timeout(CONNECT_TIMEOUT).redirect(reqwest::redirect::Policy::none())
}

/// Timeout for connecting to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns why a request failed. The text omits the URL, which may contain a secret.
pub fn why(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "the request timed out"
    } else if error.is_connect() {
        "cannot connect"
    } else {
        "the connection failed"
    }
}

/// Why a response body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The body exceeds the limit. Contains the limit in bytes.
    #[error("the response exceeds {0} bytes")]
    TooLarge(usize),
}

/// Reads a response body of at most `limit` bytes.
pub async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
