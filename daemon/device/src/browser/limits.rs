//! What pages may do beyond their own window: permissions and downloads.

use std::path::Path;

use serde_json::json;

use super::cdp::{Cdp, CdpError};

/// Permissions that a page can ask for, by the names that the browser uses.
const PERMISSIONS: [&str; 19] = [
    "geolocation",
    "notifications",
    "camera",
    "microphone",
    "midi",
    "clipboard-read",
    "clipboard-write",
    "idle-detection",
    "local-fonts",
    "window-management",
    "persistent-storage",
    "storage-access",
    "midi-sysex",
    "display-capture",
    "nfc",
    "payment-handler",
    "background-sync",
    "periodic-background-sync",
    "screen-wake-lock",
];

/// Tells a browser which permissions pages have, and whether they may start downloads, of which the files are written to a
/// directory.
///
/// # Errors
/// If the browser does not answer.
pub async fn set(cdp: &Cdp, max_download: u64, permissions: &[String], download_dir: &Path) -> Result<(), CdpError> {
    // What an earlier browser left behind was never taken.
    let _ = std::fs::remove_dir_all(download_dir);
    let behavior = match max_download {
        0 => json!({"behavior": "deny"}),
        _ => json!({"behavior": "allowAndName", "downloadPath": download_dir, "eventsEnabled": true}),
    };
    cdp.call("", "Browser.setDownloadBehavior", behavior).await?;
    let named = permissions.iter().map(String::as_str);
    for name in PERMISSIONS.into_iter().chain(named.filter(|name| !PERMISSIONS.contains(name))) {
        let setting = if permissions.iter().any(|one| one == name) { "granted" } else { "denied" };
        // Versions of the browser differ in the permissions that they know.
        let _ = cdp.call("", "Browser.setPermission", json!({"permission": {"name": name}, "setting": setting})).await;
    }
    Ok(())
}
