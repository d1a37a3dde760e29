//! The kinds of devices. Each is a folder with its driver, and a row here.

use std::sync::Arc;

use super::{Driver, SetupError, autofish};
use afd_base::config::{DeviceKind, DeviceSettings};

/// Creates the driver of a device.
///
/// # Errors
/// If its settings are not acceptable for its kind.
pub fn open(settings: &DeviceSettings) -> Result<Arc<dyn Driver>, SetupError> {
    Ok(match settings.kind {
        DeviceKind::Autofish => Arc::new(autofish::Autofish::new(settings)?),
    })
}
