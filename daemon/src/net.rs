//! HTTP clients that share one TLS set-up, and size-limited reading of response bodies.

use std::sync::Once;

use reqwest::{Client, ClientBuilder, Response};

/// Returns a client builder. TLS is rustls with ring, which builds in seconds and needs no system library.
pub fn client() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails if a provider is already installed; that one is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
}

/// Returns a builder of a plain-HTTP client, which does not load the system's certificates.
pub fn plain_client() -> ClientBuilder {
    client().tls_certs_only([])
}

/// Error while reading a response body.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The body exceeds the limit (bytes).
    #[error("the response exceeds {0} bytes")]
    TooLarge(usize),
}

/// Reads the body of a response, of at most `limit` bytes.
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
