//! HTTP clients, all with the same TLS.

use std::sync::Once;

use reqwest::{Client, ClientBuilder};

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
