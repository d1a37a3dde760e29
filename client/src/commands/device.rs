//! `device`

use clap::{Args, Subcommand};

use super::Call;

/// Devices: add, list, lease.
#[derive(Debug, Subcommand)]
pub enum Device {
    /// Add a device and keep it in the settings; give its address with --url and its token with --token
    Add(Add),
    /// The devices and how they are
    List,
    /// Take a device out of the settings
    Remove {
        /// Its name
        name: String,
    },
    /// Keep the device for this session: others may look but not act
    Lease {
        /// For how long, milliseconds
        #[arg(long, default_value_t = 60_000, value_name = "MS", allow_negative_numbers = true)]
        ttl_ms: u64,
    },
    /// Give the lease back
    Release,
    /// Installed packages
    Packages {
        /// Part of the name
        #[arg(long)]
        filter: Option<String>,
        /// Include the system's own
        #[arg(long)]
        include_system: bool,
    },
}

/// Options of `add`.
#[derive(Debug, Args)]
pub struct Add {
    /// Its name
    pub name: String,
    /// Time-out of one request to it, milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    request_timeout_ms: Option<u64>,
    /// Forget it when the daemon ends
    #[arg(long)]
    temporary: bool,
}

impl Device {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Device::Add(a) => Call::new("device.add")
                .with("name", a.name.clone())
                .maybe("timeoutMs", a.request_timeout_ms)
                .maybe("persist", a.temporary.then_some(false)),
            Device::List => Call::new("device.list"),
            Device::Remove { name } => Call::new("device.remove").with("name", name.clone()),
            Device::Lease { ttl_ms } => Call::new("device.lease").with("ttlMs", *ttl_ms),
            Device::Release => Call::new("device.release"),
            Device::Packages { filter, include_system } => {
                Call::new("device.packages").maybe("filter", filter.clone()).maybe("includeSystem", include_system.then_some(true))
            }
        }
    }
}
