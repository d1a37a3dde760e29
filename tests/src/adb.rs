//! The real `adb`, with a server of its own.

use std::net::TcpListener;
use std::process::Command;

/// An `adb` whose server listens on a port of its own; the server is stopped when this is dropped.
pub struct Adb {
    port: u16,
    home: tempfile::TempDir,
}

impl Adb {
    /// Starts a server. `None` where there is no `adb`, unless `AFD_TESTS_NEED_ADB` says that there must be.
    pub fn start() -> Option<Self> {
        if Command::new("adb").arg("--version").output().is_err() {
            assert!(std::env::var_os("AFD_TESTS_NEED_ADB").is_none(), "adb is not installed");
            eprintln!("adb is not installed; not tested");
            return None;
        }
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a free port").port();
        let adb = Self { port, home: tempfile::tempdir().expect("a directory") };
        adb.run(&["start-server"]);
        Some(adb)
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs the program; returns what it printed.
    pub fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("adb");
        command.arg("-P").arg(self.port.to_string()).args(args).env("HOME", self.home.path()).env("TMPDIR", self.home.path());
        let output = command.env_remove("ANDROID_SERIAL").output().expect("adb runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The forwards, one per line.
    pub fn forwards(&self) -> Vec<String> {
        self.run(&["forward", "--list"]).lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect()
    }

    /// Stops the server.
    pub fn kill_server(&self) {
        self.run(&["kill-server"]);
    }
}

impl Drop for Adb {
    fn drop(&mut self) {
        self.kill_server();
    }
}
