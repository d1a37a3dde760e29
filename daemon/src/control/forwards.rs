//! Forwards of `adb` that are ours to remove.

use crate::config::{self, Settings, Usb};
use crate::device::adb::{Adb, Forward};
use crate::task::{Tasks, checkpoint};

/// Removes a forward that is ours.
pub(super) async fn release(settings: &config::Adb, usb: &Usb) {
    let forward = Forward { serial: usb.serial.clone(), local: usb.local_port, remote: usb.device_port };
    let adb = Adb::new(settings);
    // Without a server there are no forwards, and none is started for this.
    if adb.track().await.is_some()
        && let Err(error) = adb.remove_forward(&forward).await
    {
        tracing::warn!(%error, serial = %forward.serial, "cannot remove a forward");
    }
}

/// Removes our forwards that changed settings have no use for any more. One that merely leads to another port by now is replaced
/// by its device.
pub(super) fn release_unused(tasks: &Tasks, before: &Settings, after: &Settings) {
    let used: Vec<&Usb> = after.devices.values().filter_map(|d| d.usb.as_ref()).collect();
    let ours = before.devices.values().filter_map(|d| d.usb.as_ref()).filter(|u| u.own_forward);
    for usb in ours.filter(|u| !used.iter().any(|other| (&other.serial, other.local_port) == (&u.serial, u.local_port))) {
        let (adb, usb) = (before.adb.clone(), usb.clone());
        tasks.spawn(format!("forward:{}", usb.serial), move || {
            let (adb, usb) = (adb.clone(), usb.clone());
            async move {
                checkpoint(&format!("forward:{}", usb.serial));
                release(&adb, &usb).await;
            }
        });
    }
}
