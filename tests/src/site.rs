//! The practice site, for tests.

/// A running practice site. It stops when it is dropped.
pub struct TestSite {
    site: afd_phone::site::Site,
    _runtime: tokio::runtime::Runtime,
}

impl TestSite {
    /// Starts the site on a free port.
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let site = runtime.block_on(afd_phone::site::start(0)).expect("listens");
        Self { site, _runtime: runtime }
    }

    /// Returns the URL of the site, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.site.address)
    }
}
