//! The kinds of devices. Each kind has a module with its driver and an entry in this file.

use std::sync::Arc;

use super::{Driver, SetupError, autofish, browser};
use afd_base::config::{DeviceKind, DeviceSettings};

/// Creates the driver of a device.
///
/// # Errors
/// If the settings are not acceptable for this kind of device.
pub fn open(settings: &DeviceSettings) -> Result<Arc<dyn Driver>, SetupError> {
    Ok(match settings.kind {
        DeviceKind::Autofish => Arc::new(autofish::Autofish::new(settings)?),
        DeviceKind::Browser => Arc::new(browser::Browser::new(settings)?),
    })
}
