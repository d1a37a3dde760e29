//! A real daemon as a child process.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use afctl::connection::Connection;

use crate::programs;

/// A daemon; it is killed when this is dropped.
pub struct Daemon {
    dir: PathBuf,
    child: Child,
}

/// The next datagram. A process that is stopped and goes on finds its waiting interrupted, which means nothing.
fn receive(socket: &UnixDatagram) -> std::io::Result<String> {
    let mut buffer = [0; 4096];
    loop {
        match socket.recv(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            received => return received.map(|n| String::from_utf8_lossy(&buffer[..n]).into_owned()),
        }
    }
}

/// Sends a signal by name; every shell can.
pub fn send_signal(pid: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().expect("a shell");
    assert!(sent.success());
}

/// The command that starts a daemon in a directory, with nothing of the caller's environment.
pub fn command(dir: &Path) -> Command {
    command_with(dir, &dir.join("config.toml"))
}

/// The same, with other settings than those of the directory.
fn command_with(dir: &Path, config: &Path) -> Command {
    let mut command = Command::new(programs::path("afd"));
    let log = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("afd.log")).expect("opens the log");
    command
        .env_clear()
        .env("HOME", dir)
        .env("AFD_LOG", "debug")
        .arg("--socket")
        .arg(socket(dir))
        .arg("--config")
        .arg(config)
        .arg("--memory-db")
        .arg(dir.join("memory.db"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    command
}

fn socket(dir: &Path) -> PathBuf {
    dir.join("run/afd.sock")
}

impl Daemon {
    /// Starts a daemon in a directory and waits until it says that it is ready.
    pub fn start(dir: &Path) -> Self {
        Self::try_start(dir).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Starts a daemon that finds a disk of so many KiB mounted in a directory. `None` where the system does not let one be mounted.
    pub fn start_with_disk(dir: &Path, disk: &Path, kib: u32) -> Option<Self> {
        Self::start_in_namespace(dir, &format!("mount -t tmpfs -o size={kib}k tmpfs {}", disk.display()))
    }

    /// Starts a daemon that finds another list of name servers. `None` where the system does not let one be mounted.
    pub fn start_with_resolver(dir: &Path, resolver: &Path) -> Option<Self> {
        Self::start_in_namespace(dir, &format!("mount --bind {} /etc/resolv.conf", resolver.display()))
    }

    /// Starts a daemon in a mount namespace of its own, which a command prepares. `None` where that is not allowed.
    fn start_in_namespace(dir: &Path, prepare: &str) -> Option<Self> {
        let possible = Command::new("unshare").args(["-rm", "sh", "-c", prepare]).output();
        if !possible.is_ok_and(|o| o.status.success()) {
            return None;
        }
        let afd = command(dir);
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-rm", "sh", "-c", &format!("{prepare} && exec \"$@\""), "sh"]);
        wrapped.arg(afd.get_program()).args(afd.get_args()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let kept = std::env::var_os("PATH").unwrap_or_default();
        wrapped.env_clear().env("PATH", kept).env("HOME", dir);
        Some(Self::spawn(dir, wrapped).unwrap_or_else(|why| panic!("the daemon did not start: {why}")))
    }

    /// Like [`Daemon::start`]; returns the daemon's own words when it does not start.
    ///
    /// # Errors
    /// What it said.
    pub fn try_start(dir: &Path) -> Result<Self, String> {
        Self::spawn(dir, command(dir))
    }

    /// Like [`Daemon::start`], with more of an environment.
    pub fn start_with_env(dir: &Path, env: &[(&str, &str)]) -> Self {
        let mut command = command(dir);
        command.envs(env.iter().copied());
        Self::spawn(dir, command).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Like [`Daemon::start`], with settings that lie elsewhere, or nowhere.
    pub fn start_with_config(dir: &Path, config: &Path) -> Self {
        Self::spawn(dir, command_with(dir, config)).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    fn spawn(dir: &Path, mut command: Command) -> Result<Self, String> {
        let report_path = dir.join(format!("notify-{}", std::process::id()));
        let _ = std::fs::remove_file(&report_path);
        let report = UnixDatagram::bind(&report_path).expect("binds");
        report.set_read_timeout(Some(Duration::from_secs(60))).expect("sets a time-out");
        let mut child = command.env("NOTIFY_SOCKET", &report_path).spawn().expect("afd runs");
        match receive(&report) {
            Ok(said) if said.contains("READY=1") => Ok(Self { dir: dir.to_owned(), child }),
            Ok(said) => {
                let _ = child.wait();
                Err(said)
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the daemon does not report: {error}");
            }
        }
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        socket(&self.dir)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A connection.
    pub fn connect(&self) -> Connection {
        let mut connection = Connection::open(&self.socket()).expect("connects");
        connection.set_timeout(Some(Duration::from_secs(60))).expect("sets a time-out");
        connection
    }

    /// Sends a signal by name, for example `TERM`.
    pub fn signal(&self, name: &str) {
        send_signal(self.child.id(), name);
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("waits")
    }

    /// What it logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("afd.log")).unwrap_or_default()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}
