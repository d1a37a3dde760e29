//! HTTP clients, all with the same TLS, and bodies of answers, of which none is read without a limit.

use std::sync::Once;

use reqwest::{Client, ClientBuilder, Response};

/// The beginning of a client. TLS is rustls with ring, which builds in seconds and needs no other library.
pub fn client() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // It fails when there is one already, which then is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
}

/// The beginning of a client that speaks HTTP only, and has no need of the system's certificates.
pub fn plain_client() -> ClientBuilder {
    client().tls_certs_only([])
}

/// Why the body of an answer was not read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// It is larger than it may be.
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
}

/// The body of an answer, of at most so many bytes.
///
/// # Errors
/// [`BodyError`]
pub async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            return Err(BodyError::TooLarge(most));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
