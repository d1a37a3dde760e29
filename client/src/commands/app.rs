//! `app`: installing the phone's app stays with `adb`.

use clap::{Args, Subcommand};

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

impl App {
    /// The verb.
    pub fn verb(&self) -> &'static str {
        match self {
            App::Install(_) => "install",
            App::Uninstall(_) => "uninstall",
        }
    }

    /// What to do instead; `device` is what --device said, which is a serial here.
    pub fn answer(&self, device: Option<&String>) -> Failure {
        let (target, command) = match self {
            App::Install(install) => {
                let replace = if install.force { "-r " } else { "" };
                (&install.target, format!("install {replace}autofish-{}.apk", install.version.as_deref().unwrap_or("VERSION")))
            }
            App::Uninstall(target) => (target, "uninstall com.memohai.autofish".to_owned()),
        };
        let serial = device.or(target.serial.as_ref()).map(|s| format!("-s {s} ")).unwrap_or_default();
        let mut failure = Failure::new("UNSUPPORTED", "apps are installed and uninstalled with adb, which afctl leaves to you", 1);
        failure.hint = Some(format!("download the app's package from its releases if need be, then: adb {serial}{command}"));
        failure
    }
}
