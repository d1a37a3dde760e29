//! The `recover` commands.

use afd_proto::act::{AppParams, PlainParams};
use afd_proto::recover::{BackParams, RecoverAuto, RecoverAutoParams, RecoverBack, RecoverHome, RecoverRelaunch};
use clap::{Args, Subcommand};

use super::act::Key;
use super::{Call, Group};
use afd_link::options::Context;

/// Recover from a failure; afd remembers which recovery fixed it.
#[derive(Debug, Subcommand)]
pub enum Recover {
    /// Press Back
    Back {
        /// Number of times to press Back
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        times: Option<u32>,
        /// Options of every action
        #[command(flatten)]
        key: Key,
    },
    /// Press Home
    Home(Key),
    /// Press Home and launch the app again
    Relaunch {
        /// Package of the app to relaunch, for example com.android.settings
        #[arg(long)]
        package: String,
        /// Options of every action
        #[command(flatten)]
        key: Key,
    },
    /// Do what fixed the last failure here before, else close what is in front, go back, relaunch, for up to --timeout-ms
    Auto(Auto),
}

/// Options for `auto`.
#[derive(Debug, Args)]
pub struct Auto {
    /// Package of the app that should be in front [default: the app in which the failure occurred]
    #[arg(long)]
    app: Option<String>,
    /// Maximum number of actions
    #[arg(long, value_name = "N")]
    max_steps: Option<u32>,
    /// Also touch elements that are marked as risky, and leave pages that have a field with text
    #[arg(long)]
    allow_risky: bool,
    #[command(flatten)]
    key: Key,
}

impl Group for Recover {
    fn call(self, _: &Context) -> Call {
        match self {
            Recover::Back { times, key: Key { request_key, then, strict } } => {
                Call::of::<RecoverBack>(BackParams { times, request_key, then, strict, ..BackParams::default() })
            }
            Recover::Home(Key { request_key, then, strict }) => {
                Call::of::<RecoverHome>(PlainParams { request_key, then, strict, ..PlainParams::default() })
            }
            Recover::Relaunch { package, key: Key { request_key, then, strict } } => {
                Call::of::<RecoverRelaunch>(AppParams { package, request_key, then, strict, ..AppParams::default() })
            }
            Recover::Auto(Auto { app, max_steps, allow_risky, key: Key { request_key, then, strict } }) => {
                Call::of::<RecoverAuto>(RecoverAutoParams {
                    app,
                    max_steps,
                    allow_risky,
                    request_key,
                    then,
                    strict,
                    ..RecoverAutoParams::default()
                })
            }
        }
    }
}
