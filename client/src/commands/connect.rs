//! `connect`

use clap::{Args, Subcommand};

use super::Call;

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

impl Connect {
    /// The call; `device` is what the global option said, which is a serial here.
    pub fn call(&self, device: Option<&String>) -> Call {
        let Connect::Usb(usb) = self;
        Call::new("device.connectUsb")
            .maybe("serial", device.or(usb.serial.as_ref()).filter(|s| !s.is_empty()).cloned())
            .maybe("name", usb.name.clone())
            .maybe("localPort", usb.local_port)
            .maybe("printOnly", usb.print_only.then_some(true))
    }
}
