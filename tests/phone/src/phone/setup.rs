//! Initial configuration of a practice phone.

use std::sync::Arc;

use serde::Serialize;

use crate::app::App;
use crate::clock::Clock;

/// Configuration of a practice phone.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Installed apps.
    pub apps: Vec<App>,
    /// Seed for list order and pop-up timing; 0 keeps the lists in order and the pop-ups unshifted.
    pub seed: u64,
    /// Clock.
    pub clock: Arc<Clock>,
    /// Bearer token of the service.
    pub token: String,
    /// Dialect of the service, 1 or 2.
    pub dialect: u8,
    /// Time that `uiautomator dump` takes, in milliseconds.
    pub dump_ms: u64,
}

impl Setup {
    /// Returns a setup with the built-in apps, dialect 2 and a running clock.
    pub fn new(token: &str) -> Self {
        Self {
            apps: crate::app::builtin(),
            seed: 0,
            clock: Arc::new(Clock::real()),
            token: token.to_owned(),
            dialect: 2,
            dump_ms: 0,
        }
    }
}

/// Connection hint: the file in which the service's app publishes how to reach it. It never contains a token.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// Package of the app: the release or a debug build.
    #[serde(rename = "packageName")]
    pub package: String,
    /// Version name.
    pub version_name: String,
    /// Version code.
    pub version_code: i64,
    /// Port of the service.
    pub service_port: u16,
    /// Whether the service is running, as far as the app knows.
    pub service_running: bool,
}

impl Hint {
    /// Returns the hint that the release build writes.
    pub fn new(port: u16) -> Self {
        Self {
            package: "com.memohai.autofish".into(),
            version_name: "0.5.0".into(),
            version_code: 50,
            service_port: port,
            service_running: true,
        }
    }

    /// Returns the content of the file as JSON.
    pub fn json(&self, updated_at: i64) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["updatedAt"] = serde_json::json!(updated_at);
        value.to_string()
    }
}
