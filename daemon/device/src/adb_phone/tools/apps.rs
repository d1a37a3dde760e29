//! Installs, uninstalls, clears and finds apps.

use std::path::Path;
use std::time::Duration;

use super::super::remote::Remote;
use super::super::shell::quoted;
use crate::android::check_package;
use crate::{AppChange, BadParam, DriverError};

/// Time that a phone needs to install an app, at most, apart from the transfer; and speed of the transfer, at least, in
/// bytes for each millisecond.
const INSTALL: Duration = Duration::from_secs(120);
const BYTES_PER_MS: u64 = 500;
/// Time that a phone needs for another change of an app, at most.
const CHANGE: Duration = Duration::from_secs(30);
/// Prints the components of the apps that can be opened.
pub const LAUNCHABLE: &str =
    "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER";
/// Parts of package names that say nothing of the app.
const COMMON: [&str; 12] =
    ["com", "org", "net", "io", "de", "co", "android", "google", "apps", "app", "mobile", "client"];

/// Checks the parts of a change.
pub fn check(change: &AppChange) -> Result<(), BadParam> {
    let bad = |path: &str, expected, got: String| BadParam { path: path.to_owned(), expected, got };
    match change {
        AppChange::Install { file, .. } => {
            let shown = format!("{:?}", file.display().to_string());
            let is_apk = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("apk"));
            if !file.is_absolute() || !is_apk {
                return Err(bad("file", "the absolute path of an APK, such as /home/user/app.apk", shown));
            }
            match file.metadata() {
                Ok(meta) if meta.is_file() && meta.len() > 0 => Ok(()),
                Ok(meta) if meta.is_file() => Err(bad("file", "an APK", "an empty file".to_owned())),
                Ok(_) => Err(bad("file", "a file", "a directory, or something else that is no file".to_owned())),
                Err(error) => Err(bad("file", "a file that the daemon can read", error.to_string())),
            }
        }
        AppChange::Uninstall { app, .. } | AppChange::Clear(app) => check_package(app),
        AppChange::Grant { app, permission, .. } => {
            check_package(app)?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
            match !permission.is_empty() && permission.chars().all(is_name) {
                true => Ok(()),
                false => Err(bad(
                    "permission",
                    "a permission such as android.permission.CAMERA, or CAMERA",
                    format!("{permission:?}"),
                )),
            }
        }
    }
}

/// Changes an app.
pub async fn change(remote: &Remote, change: &AppChange) -> Result<String, DriverError> {
    match change {
        AppChange::Install { file, grant } => install(remote, file, *grant).await,
        AppChange::Uninstall { app, keep_data } => {
            let keep = if *keep_data { "-k " } else { "" };
            remote.act(&format!("pm uninstall {keep}{} 2>&1", quoted(app)), CHANGE, 1).await
        }
        AppChange::Clear(app) => remote.act(&format!("pm clear {} 2>&1", quoted(app)), CHANGE, 1).await,
        AppChange::Grant { app, permission, revoke } => {
            let verb = if *revoke { "revoke" } else { "grant" };
            let permission = match permission.contains('.') {
                true => permission.clone(),
                false => format!("android.permission.{permission}"),
            };
            remote.act(&format!("pm {verb} {} {} 2>&1", quoted(app), quoted(&permission)), CHANGE, 1).await?;
            Ok("done".to_owned())
        }
    }
}

/// Sends an app to the phone, which installs it while it arrives. Nothing is left on the phone if that fails.
async fn install(remote: &Remote, file: &Path, grant: bool) -> Result<String, DriverError> {
    let unreadable = |error: std::io::Error| DriverError::Refused {
        status: None,
        message: format!("{} cannot be read: {error}", file.display()).into(),
    };
    let opened = tokio::fs::File::open(file).await.map_err(unreadable)?;
    let size = opened.metadata().await.map_err(unreadable)?.len();
    let grant = if grant { " -g" } else { "" };
    let command = format!("cmd package install -r{grant} -S {size} 2>&1");
    remote.act_with(&command, Some((opened, size)), INSTALL + Duration::from_millis(size / BYTES_PER_MS), 1).await
}

/// Returns the apps that can be opened and whose package is named like this.
pub async fn named(remote: &Remote, name: &str) -> Result<Vec<String>, DriverError> {
    let output = remote.query(LAUNCHABLE).await?;
    let components = output.lines().map(str::trim).filter(|line| !line.contains(' '));
    let mut packages: Vec<&str> = components.filter_map(|line| line.split_once('/')).map(|(app, _)| app).collect();
    packages.sort_unstable();
    packages.dedup();
    Ok(matching(&packages, name).into_iter().map(str::to_owned).collect())
}

/// Returns the packages of which a part is the name, without blanks and in any case; only those whose last part is, if there
/// are such.
fn matching<'a>(packages: &[&'a str], name: &str) -> Vec<&'a str> {
    let folded: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_it = |part: &str| !COMMON.contains(&part) && part.replace('_', "").to_lowercase() == folded;
    let last: Vec<&str> = packages.iter().copied().filter(|name| name.rsplit('.').next().is_some_and(is_it)).collect();
    if !last.is_empty() || folded.is_empty() {
        return last;
    }
    packages.iter().copied().filter(|name| name.split('.').any(is_it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_apps_are_parts_of_their_packages() {
        let packages = [
            "com.android.chrome",
            "com.android.settings",
            "com.google.android.shoppinglist",
            "com.spotify.music",
            "org.mozilla.firefox",
            "com.example.settings.extra",
        ];
        assert_eq!(matching(&packages, "Settings"), ["com.android.settings"]);
        assert_eq!(matching(&packages, "Spotify"), ["com.spotify.music"]);
        assert_eq!(matching(&packages, "Shopping List"), ["com.google.android.shoppinglist"]);
        for none in ["Android", "com", "", "!", "Einstellungen", "Fire"] {
            assert!(matching(&packages, none).is_empty(), "{none}");
        }
    }

    #[test]
    fn parts_of_changes_are_checked() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = |name: &str, content: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).expect("writes");
            AppChange::Install { file: path, grant: false }
        };
        assert_eq!(check(&file("a.apk", b"PK")), Ok(()));
        assert!(check(&file("a.apks", b"PK")).is_err() && check(&file("b.apk", b"")).is_err());
        let relative = AppChange::Install { file: "a.apk".into(), grant: false };
        assert!(check(&relative).is_err());
        let missing = AppChange::Install { file: dir.path().join("none.apk"), grant: false };
        assert_eq!(check(&missing).map_err(|bad| bad.path), Err("file".to_owned()));
        let grant = |permission: &str| AppChange::Grant {
            app: "com.a".to_owned(),
            permission: permission.to_owned(),
            revoke: false,
        };
        assert!(check(&grant("CAMERA")).is_ok() && check(&grant("a.b; reboot")).is_err());
        assert!(check(&AppChange::Clear("a b".to_owned())).is_err());
    }
}
