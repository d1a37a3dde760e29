//! `recover`

use clap::Subcommand;

use super::Call;

/// Get out of a failure; what cures it is remembered.
#[derive(Debug, Subcommand)]
pub enum Recover {
    /// Press Back
    Back {
        /// How often
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        times: Option<u32>,
    },
    /// Press Home
    Home,
    /// Go Home and open the app again
    Relaunch {
        /// For example com.android.settings
        #[arg(long)]
        package: String,
    },
}

impl Recover {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Recover::Back { times } => Call::new("recover.back").maybe("times", *times),
            Recover::Home => Call::new("recover.home"),
            Recover::Relaunch { package } => Call::new("recover.relaunch").with("package", package.clone()),
        }
    }
}
