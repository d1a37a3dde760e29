//! `device`

use afd_proto::Secret;
use afd_proto::device::{
    AddParams, DeviceAdd, DeviceHealth, DeviceLease, DeviceList, DevicePackages, DeviceParams, DeviceRelease, DeviceRemove, LeaseParams,
    PackagesParams, RemoveParams,
};
use afd_proto::vocabulary::NoParams;
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};
use crate::outcome::{Failure, USAGE};

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

impl Add {
    fn params(self, context: &Context) -> Result<AddParams, Failure> {
        let missing = || {
            Failure::new("INVALID_PARAMS", "--url is missing: expected the base URL of the phone's service, got nothing", USAGE)
                .with_hint("for example: afctl device add NAME --url http://192.168.1.20:8081 --token TOKEN")
        };
        Ok(AddParams {
            name: self.name,
            url: context.address.url.clone().ok_or_else(missing)?,
            token: context.address.token.clone().map(Secret::new),
            timeout_ms: self.request_timeout_ms,
            persist: !self.temporary,
        })
    }
}

/// Returns the call of `health`.
pub fn health() -> Call {
    Call::of::<DeviceHealth>(DeviceParams::default()).named("health", "health")
}

impl Group for Device {
    fn call(self, context: &Context) -> Call {
        match self {
            Device::Add(add) => Call::parsed::<DeviceAdd>(add.params(context)),
            Device::List => Call::of::<DeviceList>(NoParams {}),
            Device::Remove { name } => Call::plain::<DeviceRemove>(RemoveParams { name }),
            Device::Lease { ttl_ms } => Call::plain::<DeviceLease>(LeaseParams { ttl_ms, ..LeaseParams::default() }),
            Device::Release => Call::plain::<DeviceRelease>(DeviceParams::default()),
            Device::Packages { filter, include_system } => {
                Call::of::<DevicePackages>(PackagesParams { filter, include_system, ..PackagesParams::default() })
            }
        }
    }
}
