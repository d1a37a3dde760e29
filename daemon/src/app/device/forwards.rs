//! Removal of `adb` port forwards that the daemon created.

use afd_base::config::{self, Settings, Usb};
use afd_base::task::{Tasks, failpoint};
use afd_device::adb::{Adb, Forward};

/// Removes the port forward for a USB device. Failures are only logged.
pub(in crate::app) async fn release(settings: &config::Adb, usb: &Usb) {
    let forward = Forward { serial: usb.serial.clone(), local: usb.local_port, remote: usb.device_port };
    let adb = Adb::new(settings);
    // No adb server means no forwards; do not start one just to remove a forward.
    if adb.track().await.is_some()
        && let Err(error) = adb.remove_forward(&forward).await
    {
        tracing::warn!(%error, serial = %forward.serial, "cannot remove an adb forward");
    }
}

/// Removes, in the background, the daemon's forwards that are no longer used after a settings change. Keeps a forward
/// whose local port is now used for another device port: the device that uses the port replaces the forward.
pub(in crate::app) fn release_unused(tasks: &Tasks, before: &Settings, after: &Settings) {
    let used: Vec<&Usb> = after.devices.values().filter_map(|d| d.usb.as_ref()).collect();
    let ours = before.devices.values().filter_map(|d| d.usb.as_ref()).filter(|u| u.own_forward);
    for usb in ours.filter(|u| !used.iter().any(|other| (&other.serial, other.local_port) == (&u.serial, u.local_port)))
    {
        let (adb, usb) = (before.adb.clone(), usb.clone());
        tasks.spawn(format!("forward:{}", usb.serial), move || {
            let (adb, usb) = (adb.clone(), usb.clone());
            async move {
                failpoint(&format!("forward:{}", usb.serial));
                release(&adb, &usb).await;
            }
        });
    }
}
