//! `app`: installing the phone's app stays with `adb`.

use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};
use crate::outcome::Failure;

/// The phone's app, which `adb` installs.
#[derive(Debug, Subcommand)]
pub enum App {
    /// Says how to install it
    Install(Install),
    /// Says how to uninstall it
    Uninstall(Target),
}

/// Options of `install`, as `af` has them.
#[derive(Debug, Args)]
pub struct Install {
    #[command(flatten)]
    target: Target,
    /// current, latest or a version
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Install it even if it is there
    #[arg(long)]
    force: bool,
}

/// Options of both.
#[derive(Debug, Args)]
pub struct Target {
    /// Serial of the phone; --device means the same here
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Nothing is done in any case
    #[arg(long)]
    dry_run: bool,
}

impl Group for App {
    /// Answers what to do instead.
    fn call(self, context: &Context) -> Call {
        let (verb, target, command) = match self {
            App::Install(Install { target, version, force }) => {
                let replace = if force { "-r " } else { "" };
                ("install", target, format!("install {replace}autofish-{}.apk", version.as_deref().unwrap_or("VERSION")))
            }
            App::Uninstall(target) => ("uninstall", target, "uninstall com.memohai.autofish".to_owned()),
        };
        // --device is a serial here.
        let serial = context.global.device.clone().or(target.serial).map(|s| format!("-s {s} ")).unwrap_or_default();
        let failure = Failure::new("UNSUPPORTED", "apps are installed and uninstalled with adb, not with afctl", 1);
        let hint = format!("download the app's package from its releases if needed, then run: adb {serial}{command}");
        Call::refused("app", verb, failure.with_hint(hint))
    }
}
