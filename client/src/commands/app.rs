//! The `app` commands, which show how to install and uninstall the phone's app with `adb`.

use clap::{Args, Subcommand};

use super::{Call, Group};
use afd_link::options::Context;
use afd_link::outcome::Failure;

/// Instructions for installing and uninstalling the phone's app with `adb`.
#[derive(Debug, Subcommand)]
pub enum App {
    /// Show how to install the app
    Install(Install),
    /// Show how to uninstall the app
    Uninstall(Target),
}

/// Options for `install`, the same as in `af`.
#[derive(Debug, Args)]
pub struct Install {
    #[command(flatten)]
    target: Target,
    /// Version to install: current, latest or a version number
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Reinstall the app if it is already installed
    #[arg(long)]
    force: bool,
}

/// Options for `install` and `uninstall`.
#[derive(Debug, Args)]
pub struct Target {
    /// Serial number of the phone; for this command, --device means the same
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Accepted for compatibility with af; the command never changes anything
    #[arg(long)]
    dry_run: bool,
}

impl Group for App {
    /// Returns a call that always fails, with a hint that contains the `adb` command.
    fn call(self, context: &Context) -> Call {
        let (verb, target, command) = match self {
            App::Install(Install { target, version, force }) => {
                let replace = if force { "-r " } else { "" };
                (
                    "install",
                    target,
                    format!("install {replace}autofish-{}.apk", version.as_deref().unwrap_or("VERSION")),
                )
            }
            App::Uninstall(target) => ("uninstall", target, "uninstall com.memohai.autofish".to_owned()),
        };
        // For this command, --device is a serial number.
        let serial = context.global.device.clone().or(target.serial).map(|s| format!("-s {s} ")).unwrap_or_default();
        let failure = Failure::new("UNSUPPORTED", "afctl does not install or uninstall apps; use adb", 1);
        let download = if verb == "install" { "download the app's APK from its releases if needed, then " } else { "" };
        let hint = format!("{download}run: adb {serial}{command}");
        Call::refused("app", verb, failure.with_hint(hint))
    }
}
