//! A real daemon: a child process, or hosted in this process.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use afd::lifecycle::Hosted;
use afd_base::config::{Override, Overrides};
use afd_link::connection::Connection;

use crate::programs;

/// A running daemon; dropping it kills it.
pub struct Daemon {
    dir: PathBuf,
    life: Life,
}

enum Life {
    /// The daemon runs in its own process.
    Process(Child),
    /// The daemon runs in this process, which is cheaper; `None` after it has been stopped.
    Hosted(Option<Hosted>),
}

/// Receives the next datagram. Retries if interrupted, which happens when this process is stopped and continued.
fn receive(socket: &UnixDatagram) -> std::io::Result<String> {
    let mut buffer = [0; 4096];
    loop {
        match socket.recv(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            received => return received.map(|n| String::from_utf8_lossy(&buffer[..n]).into_owned()),
        }
    }
}

/// Sends a signal by name, using the `kill` that is built into the shell.
pub fn send_signal(pid: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().expect("a shell");
    assert!(sent.success());
}

/// Returns the command that starts a daemon in a directory, without the caller's environment.
pub fn command(dir: &Path) -> Command {
    command_with(dir, &dir.join("config.toml"))
}

/// Like [`command`], with a configuration file other than the one in the directory.
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
    /// Starts a daemon in a directory and waits until it reports that it is ready.
    pub fn start(dir: &Path) -> Self {
        Self::try_start(dir).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Starts a daemon inside this process. It has no process id, signals or log, and no environment of its own.
    pub fn host(dir: &Path) -> Self {
        let given = |value: PathBuf| Override { value, variable: None };
        let values = [
            ("memory.db", given(dir.join("memory.db"))),
            ("sessions.progress_dir", given(dir.join(".local/state/afd"))),
        ];
        let overrides = Overrides { socket: socket(dir), config: dir.join("config.toml"), values: values.into() };
        afd_base::model::embed::use_program(programs::path("afd"));
        let hosted = Hosted::start(overrides).unwrap_or_else(|why| panic!("the daemon did not start: {why}"));
        Self { dir: dir.to_owned(), life: Life::Hosted(Some(hosted)) }
    }

    /// Starts a daemon that sees a disk of `kib` KiB mounted on a directory.
    pub fn start_with_disk(dir: &Path, disk: &Path, kib: u32) -> Self {
        Self::start_in_namespace(dir, &format!("mount -t tmpfs -o size={kib}k tmpfs {}", disk.display()))
    }

    /// Starts a daemon that sees another `/etc/resolv.conf`.
    ///
    /// # Errors
    /// If it does not start, or mounting is not permitted.
    pub fn try_start_with_resolver(dir: &Path, resolver: &Path) -> Result<Self, String> {
        Self::try_in_namespace(dir, &format!("mount --bind {} /etc/resolv.conf", resolver.display()))
    }

    /// Starts a daemon that sees these directories as read-only.
    pub fn start_with_read_only(dir: &Path, read_only: &[PathBuf]) -> Self {
        Self::try_start_with_read_only(dir, read_only).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Like [`Daemon::start_with_read_only`], but returns an error if the daemon does not start.
    pub fn try_start_with_read_only(dir: &Path, read_only: &[PathBuf]) -> Result<Self, String> {
        let mount = |dir: &PathBuf| format!("mount --bind {0} {0} && mount -o remount,ro,bind {0}", dir.display());
        Self::try_in_namespace(dir, &read_only.iter().map(mount).collect::<Vec<_>>().join(" && "))
    }

    /// Starts a daemon that may open this number of file descriptors.
    ///
    /// # Errors
    /// The message that the daemon sent instead of being ready.
    pub fn try_start_with_descriptors(dir: &Path, descriptors: u32) -> Result<Self, String> {
        let afd = command(dir);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", &format!("ulimit -n {descriptors} && exec \"$@\""), "sh"])
            .arg(afd.get_program())
            .args(afd.get_args());
        limited.env_clear().env("HOME", dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self::spawn(dir, limited)
    }

    /// Starts a daemon whose standard error is redirected by the shell, for example with `2>&-`.
    pub fn start_with_stderr(dir: &Path, redirection: &str) -> Self {
        let afd = command(dir);
        let mut redirected = Command::new("sh");
        redirected
            .args(["-c", &format!("exec \"$@\" {redirection}"), "sh"])
            .arg(afd.get_program())
            .args(afd.get_args());
        redirected.env_clear().env("HOME", dir).env("AFD_LOG", "debug").stdin(Stdio::null()).stdout(Stdio::null());
        Self::spawn(dir, redirected).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Starts a daemon in its own mount namespace, prepared by a shell command.
    fn start_in_namespace(dir: &Path, prepare: &str) -> Self {
        Self::try_in_namespace(dir, prepare).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    fn try_in_namespace(dir: &Path, prepare: &str) -> Result<Self, String> {
        let afd = command(dir);
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-rm", "sh", "-c", &format!("{prepare} && exec \"$@\""), "sh"]);
        wrapped
            .arg(afd.get_program())
            .args(afd.get_args())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let kept = std::env::var_os("PATH").unwrap_or_default();
        wrapped.env_clear().env("PATH", kept).env("HOME", dir);
        Self::spawn(dir, wrapped)
    }

    /// Like [`Daemon::start`], but returns an error if the daemon does not start.
    ///
    /// # Errors
    /// The message that the daemon sent instead of being ready.
    pub fn try_start(dir: &Path) -> Result<Self, String> {
        Self::spawn(dir, command(dir))
    }

    /// Like [`Daemon::start`], with additional environment variables.
    pub fn start_with_env(dir: &Path, env: &[(&str, &str)]) -> Self {
        let mut command = command(dir);
        command.envs(env.iter().copied());
        Self::spawn(dir, command).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Like [`Daemon::start`], as systemd starts the main process of a unit of the user, with programs of this directory before
    /// others.
    pub fn start_as_unit(dir: &Path, programs: &Path) -> Self {
        let afd = command(dir);
        let mut unit = Command::new("sh");
        let script = "export SYSTEMD_EXEC_PID=$$ && exec \"$@\"";
        unit.args(["-c", script, "sh"]).arg(afd.get_program()).args(afd.get_args());
        unit.env_clear().envs(afd.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let run = dir.join("manager");
        std::fs::create_dir_all(run.join("systemd")).expect("creates");
        std::fs::write(run.join("systemd/private"), "").expect("writes");
        unit.env("XDG_RUNTIME_DIR", run);
        unit.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()));
        Self::spawn(dir, unit).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    /// Like [`Daemon::start`], with another configuration file, which need not exist.
    pub fn start_with_config(dir: &Path, config: &Path) -> Self {
        Self::spawn(dir, command_with(dir, config)).unwrap_or_else(|why| panic!("the daemon did not start: {why}"))
    }

    fn spawn(dir: &Path, mut command: Command) -> Result<Self, String> {
        let report_path = dir.join(format!("notify-{}", std::process::id()));
        let _ = std::fs::remove_file(&report_path);
        let report = UnixDatagram::bind(&report_path).expect("binds");
        report.set_read_timeout(Some(Duration::from_secs(60))).expect("sets a timeout");
        let mut child = command.env("NOTIFY_SOCKET", &report_path).spawn().expect("afd runs");
        match receive(&report) {
            Ok(message) if message.contains("READY=1") => Ok(Self { dir: dir.to_owned(), life: Life::Process(child) }),
            Ok(message) => {
                let _ = child.wait();
                Err(message)
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("no readiness report from the daemon: {error}");
            }
        }
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        socket(&self.dir)
    }

    fn child(&self) -> &Child {
        match &self.life {
            Life::Process(child) => child,
            Life::Hosted(_) => panic!("this test needs a daemon with a process: World::with_process"),
        }
    }

    fn child_mut(&mut self) -> &mut Child {
        match &mut self.life {
            Life::Process(child) => child,
            Life::Hosted(_) => panic!("this test needs a daemon with a process: World::with_process"),
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child().id()
    }

    /// Opens a connection.
    pub fn connect(&self) -> Connection {
        let mut connection = Connection::open(&self.socket()).expect("connects");
        connection.set_timeout(Some(Duration::from_secs(60))).expect("sets a timeout");
        connection
    }

    /// Sends a signal by name, for example `TERM`.
    pub fn signal(&self, name: &str) {
        send_signal(self.pid(), name);
    }

    /// Waits until the daemon exits.
    pub fn wait(&mut self) -> ExitStatus {
        self.child_mut().wait().expect("waits")
    }

    /// Shuts the daemon down like SIGTERM, and waits until it has exited.
    pub fn stop(&mut self) {
        match &mut self.life {
            Life::Process(child) => {
                send_signal(child.id(), "TERM");
                assert!(child.wait().expect("waits").success(), "the daemon stops in good order");
            }
            Life::Hosted(hosted) => hosted.take().expect("it runs").stop(),
        }
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        self.child();
        std::fs::read_to_string(self.dir.join("afd.log")).unwrap_or_default()
    }

    /// Kills the daemon (with `kill -9` if it has its own process), and waits until it has exited.
    pub fn kill(&mut self) {
        match &mut self.life {
            Life::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Life::Hosted(hosted) => drop(hosted.take()),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}
