//! Handlers of the `device.*` methods.

use afd_proto::device::{
    DeviceAdd, DeviceConnectUsb, DeviceHealth, DeviceLease, DeviceList, DevicePackages, DeviceRelease, DeviceRemove,
};

use super::register::{Module, method};
use crate::control::{devices, usb};

pub(super) fn register(module: &mut Module) {
    method::<DeviceAdd, _, _>(module, |core, p| async move { devices::add(&core, &p).await });
    method::<DeviceList, _, _>(module, |core, _| async move { Ok(devices::list(&core.devices)) });
    method::<DeviceRemove, _, _>(module, |core, p| async move { devices::remove(&core, &p).await });
    method::<DeviceHealth, _, _>(module, |core, p| async move { devices::health(&core, &p).await });
    method::<DeviceLease, _, _>(module, |core, p| async move { devices::lease(&core, &p).await });
    method::<DeviceRelease, _, _>(module, |core, p| async move { devices::release(&core, &p).await });
    method::<DevicePackages, _, _>(module, |core, p| async move { devices::packages(&core, &p).await });
    method::<DeviceConnectUsb, _, _>(module, |core, p| async move { usb::connect(&core, &p).await });
}
