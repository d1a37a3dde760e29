//! Starting a browser: where it is, and the options with which it runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

/// Names under which distributions install Chromium and browsers made from it, in the order of preference.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser", "microsoft-edge"];

/// Directories in which browsers are installed. A daemon that is started as a service may have another `PATH`.
const USUAL: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/snap/bin"];

/// Variables that a browser in a unit of its own needs: where its windows appear, and where its programs are.
const PASSED: [&str; 5] = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "PATH", "HOME"];

/// Shell script that starts a browser whose pipes are this process's standard input and output. The browser expects them
/// as file descriptors 3 and 4. The first argument is the directory for its crash reports, which would be in the user's
/// home otherwise.
const WITH_PIPES: &str =
    "export BREAKPAD_DUMP_LOCATION=\"$1\"; shift; exec 3<&0 4>&1 </dev/null >/dev/null; exec \"$@\"";

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
    let mut command = shell();
    command.args(["-c", WITH_PIPES, "sh"]).args([profile, executable]).args([
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-features=Translate,MediaRouter",
        // Pages may publish tools for agents.
        "--enable-features=WebMCP",
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

/// Returns a command that runs a shell script. The restrictions of the daemon's systemd unit would keep a browser from
/// compiling scripts and from separating its pages, so there the shell runs in a transient unit of its own.
fn shell() -> Command {
    if !is_unit(std::env::var("SYSTEMD_EXEC_PID").ok().as_deref()) || !has_manager() {
        return Command::new("/bin/sh");
    }
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--pipe", "--quiet", "--collect", "--description=Browser of afd"]);
    for name in PASSED {
        if let Some(value) = std::env::var_os(name) {
            let mut setting = OsString::from(format!("--setenv={name}="));
            setting.push(value);
            command.arg(setting);
        }
    }
    command.args(["--", "/bin/sh"]);
    command
}

/// Returns whether this process is the main process of a systemd unit, from the process id that systemd gave it. Children of
/// units, such as terminals, inherit the variable.
fn is_unit(exec_pid: Option<&str>) -> bool {
    exec_pid.and_then(|pid| pid.parse().ok()) == Some(std::process::id())
}

/// Returns whether a manager of the user's units runs. A unit of the system may have none.
fn has_manager() -> bool {
    let dir = std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default();
    !dir.is_empty() && PathBuf::from(dir).join("systemd/private").exists()
}

/// Returns whether this process runs as root.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_main_process_of_a_unit_is_one() {
        let own = std::process::id().to_string();
        assert!(is_unit(Some(&own)));
        assert!(!is_unit(None) && !is_unit(Some("1")) && !is_unit(Some("")));
    }
}
