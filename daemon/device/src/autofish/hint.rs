//! The connection hint: a file in which the app on the phone records the port of its service.

use afd_proto::device::ConnectionHint;

use crate::adb::Adb;

/// Package names of the Autofish app: release build, then debug build.
const PACKAGES: [&str; 2] = ["com.memohai.autofish", "com.memohai.autofish.debug"];

/// The reason why there is no usable connection hint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoHint {
    /// The app has not written a hint; holds the phone's serial.
    #[error("no connection hint of the Autofish app found on phone {0}")]
    None(String),
    /// The service on the phone is not running.
    #[error("the service on the phone is not running")]
    Stopped,
    /// The hint contains an invalid port; the variant holds its value.
    #[error("the phone's app reports an invalid port: {0}")]
    BadPort(i64),
}

/// Reads the connection hint. Returns its path, its content, and the port of the service.
///
/// # Errors
/// [`NoHint`] if there is no usable hint.
pub async fn connection_hint(adb: &Adb, serial: &str) -> Result<(String, ConnectionHint, u16), NoHint> {
    for package in PACKAGES {
        let path = format!("/sdcard/Android/data/{package}/files/connection-hint.json");
        // Depending on the phone, `cat` reports a missing file as an error or as output, which does not parse.
        let Ok(text) = adb.cat(serial, &path).await else { continue };
        let Ok(hint) = serde_json::from_str::<ConnectionHint>(text.trim()) else { continue };
        let port = u16::try_from(hint.service_port).ok().filter(|p| *p > 0);
        let Some(port) = port else { return Err(NoHint::BadPort(hint.service_port)) };
        return if hint.service_running { Ok((path, hint, port)) } else { Err(NoHint::Stopped) };
    }
    Err(NoHint::None(serial.to_owned()))
}
