//! Starting a browser: where it is, and the options with which it runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

/// Names under which distributions install Chromium and browsers made from it, in the order of preference.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser", "microsoft-edge"];

/// Directories in which browsers are installed. A daemon that is started as a service may have another `PATH`.
const USUAL: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/snap/bin"];

/// Shell script that starts a browser whose pipes are this process's standard input and output. The browser expects them
/// as file descriptors 3 and 4.
const WITH_PIPES: &str = "exec 3<&0 4>&1 </dev/null >/dev/null; exec \"$@\"";

/// Returns the executable of an installed browser.
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = || std::env::split_paths(&path).chain(USUAL.iter().map(PathBuf::from));
    NAMES.iter().find_map(|name| dirs().map(|dir| dir.join(name)).find(|file| file.is_file()))
}

/// Starts a browser with the profile in a directory. The browser saves its cookies and exits when its pipes are closed.
///
/// # Errors
/// If the process cannot be started or the directory of the profile cannot be created.
pub fn start(executable: &Path, profile: &Path, headless: bool) -> std::io::Result<Child> {
    std::fs::create_dir_all(profile)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", WITH_PIPES, "sh"]).arg(executable).args([
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-features=Translate,MediaRouter",
        "--password-store=basic",
        // Containers have little shared memory.
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    if headless {
        command.arg("--headless=new");
    }
    if is_root() {
        // Chromium refuses to run its sandbox as root.
        command.arg("--no-sandbox");
    }
    command.arg("about:blank");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Returns whether this process runs as root.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
