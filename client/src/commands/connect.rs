//! `connect`

use afd_proto::device::{ConnectUsbParams, DeviceConnectUsb};
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};

/// Reach a phone and keep it in the settings.
#[derive(Debug, Subcommand)]
pub enum Connect {
    /// Over its cable: finds it with adb, forwards a port to its service. The token is not part of it
    Usb(Usb),
}

/// Options of `usb`.
#[derive(Debug, Args)]
pub struct Usb {
    /// Serial of the phone, or host:port; may be left out while exactly one is attached. --device means the same here
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Name of the device in the settings
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Port on this machine
    #[arg(long, value_name = "PORT")]
    local_port: Option<u16>,
    /// Tell what would be done, and do nothing
    #[arg(long)]
    print_only: bool,
}

impl Group for Connect {
    fn call(self, context: &Context) -> Call {
        let Connect::Usb(Usb { serial, name, local_port, print_only }) = self;
        // --device is a serial here.
        let serial = context.global.device.clone().or(serial).filter(|s| !s.is_empty());
        Call::of::<DeviceConnectUsb>(ConnectUsbParams { serial, name, local_port, print_only }).named("connect", "usb")
    }
}
