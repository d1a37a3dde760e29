//! Runs the real `adb` with a private server.

use std::net::TcpListener;
use std::process::Command;

/// An `adb` with a server on a private port; dropping it stops the server.
pub struct Adb {
    port: u16,
    home: tempfile::TempDir,
}

impl Adb {
    /// Starts a server.
    ///
    /// # Panics
    /// If `adb` is not installed.
    pub fn start() -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|l| l.local_addr()).expect("a free port").port();
        let adb = Self { port, home: tempfile::tempdir().expect("a temporary directory") };
        adb.run(&["start-server"]);
        adb
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs `adb` and returns its standard output.
    pub fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new("adb");
        command
            .arg("-P")
            .arg(self.port.to_string())
            .args(args)
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path());
        let output = command.env_remove("ANDROID_SERIAL").output().expect("adb runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the port forwards that are set up, one line each.
    pub fn forwards(&self) -> Vec<String> {
        self.run(&["forward", "--list"]).lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect()
    }

    /// Stops the server and waits until nothing listens on its port. Its connections are then closed, too.
    pub fn kill_server(&self) {
        self.run(&["kill-server"]);
        crate::wait::until("the adb server to end", || {
            std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err().then_some(())
        });
    }
}

impl Drop for Adb {
    fn drop(&mut self) {
        self.kill_server();
    }
}
