//! `device.connectAdb`: adds an Android phone or emulator that `adb` lists.

use std::sync::Arc;

use afd_proto::device::{AddParams, AddResult, ConnectAdbParams, DeviceConnectAdb};

use super::add;
use super::usb::choose_phone;
use crate::app::{Core, Methods, Result};
use afd_base::config::DeviceKind;
use afd_device::adb::Adb;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DeviceConnectAdb, _, _>(|core, p| async move { connect(&core, &p).await });
}

/// Implements `device.connectAdb`. A phone that is a device with the Autofish app already stays that device.
///
/// # Errors
/// If `adb` cannot be run, if no phone or several are attached, if the name is taken, or if the settings cannot be saved.
async fn connect(core: &Arc<Core>, params: &ConnectAdbParams) -> Result<AddResult> {
    let adb = Adb::new(&core.config.get().adb);
    let serial = choose_phone(&adb, params.serial.as_deref(), true).await?;
    let url = format!("adb:{serial}");
    let settings = core.config.get();
    let known = settings.devices.iter().find(|(_, device)| device.kind == DeviceKind::Adb && device.url == url);
    // A phone with the Autofish app that `adb` knows too is one phone.
    let joined = settings.devices.iter().find(|(_, device)| device.adb_serial() == Some(serial.as_str()));
    if let (None, None, Some((name, device))) = (&params.name, &known, joined) {
        let same = AddParams {
            name: name.clone(),
            kind: Some(device.kind.word().to_owned()),
            url: device.url.clone(),
            token: device.token.clone(),
            timeout_ms: Some(device.timeout_ms),
            persist: true,
            ..AddParams::default()
        };
        return add(core, &same).await;
    }
    let timeout_ms = known.map(|(_, device)| device.timeout_ms);
    let name = params.name.clone().or_else(|| known.map(|(name, _)| name.clone())).unwrap_or_else(|| named(&serial));
    let kind = Some(DeviceKind::Adb.word().to_owned());
    add(core, &AddParams { name, kind, url, timeout_ms, persist: true, ..AddParams::default() }).await
}

/// Returns the name of a device, from its serial number.
fn named(serial: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    serial.chars().map(|c| if fits(c) { c } else { '-' }).take(MAX_NAME).collect()
}
