//! The `connect` commands.

use afd_proto::device::{ConnectAdbParams, ConnectUsbParams, DeviceConnectAdb, DeviceConnectUsb};
use clap::{Args, Subcommand};

use super::{Call, Group};
use afd_link::options::Context;

/// Connect a phone and add it to the configuration.
#[derive(Debug, Subcommand)]
pub enum Connect {
    /// Connect over USB: find the phone with adb, forward a port to its service and add the device; set the token
    /// separately
    Usb(Usb),
    /// Connect any Android phone or emulator that adb lists; nothing is installed on it
    Adb(Adb),
}

/// Options for `adb`.
#[derive(Debug, Args)]
pub struct Adb {
    /// Serial number or host:port of the phone; optional if exactly one is attached; for this command, --device means
    /// the same
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Device name in the configuration [default: its existing name, else one from the serial number]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Options for `usb`.
#[derive(Debug, Args)]
pub struct Usb {
    /// Serial number or host:port of the phone; optional if exactly one is attached; for this command, --device means
    /// the same
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Device name in the configuration
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Local port to forward
    #[arg(long, value_name = "PORT")]
    local_port: Option<u16>,
    /// Print what would be done without doing it
    #[arg(long)]
    print_only: bool,
}

impl Group for Connect {
    fn call(self, context: &Context) -> Call {
        // For these commands --device is a serial number.
        let chosen = |serial: Option<String>| context.global.device.clone().or(serial).filter(|s| !s.is_empty());
        let Usb { serial, name, local_port, print_only } = match self {
            Connect::Adb(Adb { serial, name }) => {
                let params = ConnectAdbParams { serial: chosen(serial), name };
                return Call::of::<DeviceConnectAdb>(params).named("connect", "adb");
            }
            Connect::Usb(usb) => usb,
        };
        let serial = chosen(serial);
        Call::of::<DeviceConnectUsb>(ConnectUsbParams { serial, name, local_port, print_only }).named("connect", "usb")
    }
}
