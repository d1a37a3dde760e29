//! What a practice phone is before anything happens to it.

use std::sync::Arc;

use serde::Serialize;

use crate::app::App;
use crate::clock::Clock;

/// How a practice phone is to be.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The apps on it.
    pub apps: Vec<App>,
    /// Orders shuffled lists and times pop-ups; 0 is the plain phone.
    pub seed: u64,
    /// Its time.
    pub clock: Arc<Clock>,
    /// The bearer token.
    pub token: String,
    /// 1 or 2.
    pub dialect: u8,
}

impl Setup {
    /// The built-in apps, dialect 2, a running clock.
    pub fn new(token: &str) -> Self {
        Self { apps: crate::app::builtin(), seed: 0, clock: Arc::new(Clock::real()), token: token.to_owned(), dialect: 2 }
    }
}

/// The file by which the app of the service tells how it is reached (reference, 6.2). Never a token.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// The app's package: the release's, or that of a debug build.
    #[serde(rename = "packageName")]
    pub package: String,
    /// Version.
    pub version_name: String,
    /// Version as a number.
    pub version_code: i64,
    /// Port of the service.
    pub service_port: u16,
    /// Whether the service runs, as far as the app knows.
    pub service_running: bool,
}

impl Hint {
    /// What the release writes.
    pub fn new(port: u16) -> Self {
        Self {
            package: "com.memohai.autofish".into(),
            version_name: "0.5.0".into(),
            version_code: 50,
            service_port: port,
            service_running: true,
        }
    }

    /// The content of the file.
    pub fn json(&self, updated_at: i64) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["updatedAt"] = serde_json::json!(updated_at);
        value.to_string()
    }
}
