//! The `recover` commands.

use afd_proto::act::{AppParams, PlainParams};
use afd_proto::recover::{BackParams, RecoverBack, RecoverHome, RecoverRelaunch};
use clap::Subcommand;

use super::{Call, Group};
use crate::options::Context;

/// Recover from a failure; afd remembers which recovery fixed it.
#[derive(Debug, Subcommand)]
pub enum Recover {
    /// Press Back
    Back {
        /// Number of times to press Back [default: 1]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        times: Option<u32>,
    },
    /// Press Home
    Home,
    /// Press Home and launch the app again
    Relaunch {
        /// Package name, for example com.android.settings
        #[arg(long)]
        package: String,
    },
}

impl Group for Recover {
    fn call(self, _: &Context) -> Call {
        match self {
            Recover::Back { times } => Call::of::<RecoverBack>(BackParams { times, ..BackParams::default() }),
            Recover::Home => Call::of::<RecoverHome>(PlainParams::default()),
            Recover::Relaunch { package } => Call::of::<RecoverRelaunch>(AppParams { package, ..AppParams::default() }),
        }
    }
}
