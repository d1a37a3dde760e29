//! The `app` commands: lists, installs, uninstalls, launches and stops apps.

use afd_proto::act::{ActLaunch, ActStop};
use afd_proto::device::{DevicePackages, PackagesParams};
use afd_proto::manage::{
    ActClearApp, ActGrant, ActInstall, ActUninstall, ClearAppParams, GrantParams, InstallParams, UninstallParams,
};
use clap::{Args, Subcommand};

use super::act::{Key, Launch, Package};
use super::{Call, Group, absolute};
use afd_link::options::Context;
use afd_link::outcome::Failure;

/// List, install, uninstall, launch and stop apps.
#[derive(Debug, Subcommand)]
pub enum App {
    /// List the packages of the installed apps
    List(List),
    /// Install an app from a file, if the device settings allow it; without a file, show how to install the Autofish app
    Install(Install),
    /// Uninstall an app, if the device settings allow it; without a package, show how to uninstall the Autofish app
    Uninstall(Uninstall),
    /// Stop an app and delete its data, if the device settings allow it
    Clear(Clear),
    /// Give an app a permission, if the device settings allow it
    Grant(Grant),
    /// Launch an app by its package or its name
    Launch(Launch),
    /// Stop an app
    Stop(Package),
}

/// Options for `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only packages whose name contains this text
    filter: Option<String>,
    /// Include system packages
    #[arg(long)]
    include_system: bool,
}

/// Options for `install`; those of `af` show how to install the Autofish app.
#[derive(Debug, Args)]
pub struct Install {
    /// APK to install
    #[arg(value_name = "FILE", conflicts_with_all = ["version", "force", "dry_run"])]
    file: Option<String>,
    /// Give the app all permissions that it asks for when it is installed
    #[arg(long, requires = "file")]
    grant: bool,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    target: Target,
    /// Version of the Autofish app: current, latest or a version number
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Reinstall the Autofish app if it is already installed
    #[arg(long)]
    force: bool,
}

/// Options for `uninstall`.
#[derive(Debug, Args)]
pub struct Uninstall {
    /// Package name of the app
    #[arg(conflicts_with = "dry_run")]
    package: Option<String>,
    /// Keep the app's data on the device
    #[arg(long, requires = "package")]
    keep_data: bool,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    target: Target,
}

/// Options for `clear`.
#[derive(Debug, Args)]
pub struct Clear {
    /// Package name of the app
    package: String,
    #[command(flatten)]
    key: Key,
}

/// Options for `grant`.
#[derive(Debug, Args)]
pub struct Grant {
    /// Package name of the app
    package: String,
    /// Permission, such as CAMERA or android.permission.CAMERA
    permission: String,
    /// Take the permission away instead
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    key: Key,
}

/// The phone on which the Autofish app is installed or uninstalled.
#[derive(Debug, Args)]
pub struct Target {
    /// Serial number of the phone; without a file or a package, --device means the same
    #[arg(long, env = "ANDROID_SERIAL", value_name = "SERIAL")]
    serial: Option<String>,
    /// Accepted for compatibility with af; only shows what to do
    #[arg(long)]
    dry_run: bool,
}

impl Group for App {
    fn call(self, context: &Context) -> Call {
        match self {
            App::List(List { filter, include_system }) => {
                Call::of::<DevicePackages>(PackagesParams { filter, include_system, ..PackagesParams::default() })
            }
            App::Install(Install { file: Some(file), grant, key, .. }) => Call::of::<ActInstall>(InstallParams {
                file: absolute(&file),
                grant,
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
                ..InstallParams::default()
            }),
            App::Install(Install { target, version, force, .. }) => {
                let replace = if force { "-r " } else { "" };
                let command = format!("install {replace}autofish-{}.apk", version.as_deref().unwrap_or("VERSION"));
                autofish(context, "install", target, &command)
            }
            App::Uninstall(Uninstall { package: Some(package), keep_data, key, .. }) => {
                Call::of::<ActUninstall>(UninstallParams {
                    package,
                    keep_data,
                    request_key: key.request_key,
                    then: key.then,
                    strict: key.strict,
                    ..UninstallParams::default()
                })
            }
            App::Uninstall(Uninstall { target, .. }) => {
                autofish(context, "uninstall", target, "uninstall com.memohai.autofish")
            }
            App::Clear(Clear { package, key }) => Call::of::<ActClearApp>(ClearAppParams {
                package,
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
                ..ClearAppParams::default()
            }),
            App::Grant(Grant { package, permission, revoke, key }) => Call::of::<ActGrant>(GrantParams {
                package,
                permission,
                revoke,
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
                ..GrantParams::default()
            }),
            App::Launch(launch) => Call::of::<ActLaunch>(launch.params()),
            App::Stop(package) => Call::of::<ActStop>(package.params()),
        }
    }
}

/// Returns a call that always fails, with a hint that contains the `adb` command for the Autofish app.
fn autofish(context: &Context, verb: &str, target: Target, command: &str) -> Call {
    // For this command, --device is a serial number.
    let serial = context.global.device.clone().or(target.serial).map(|s| format!("-s {s} ")).unwrap_or_default();
    let failure = Failure::new("UNSUPPORTED", "afctl does not install or uninstall the Autofish app; use adb", 1);
    let download = if verb == "install" { "download the app's APK from its releases if needed, then " } else { "" };
    let other = if verb == "install" { "app install FILE" } else { "app uninstall PACKAGE" };
    let hint = format!("{download}run: adb {serial}{command}; for another app: afctl {other}");
    Call::refused("app", verb, failure.with_hint(hint))
}
