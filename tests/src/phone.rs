//! A practice phone inside the test process, over real HTTP.

use std::sync::{Arc, MutexGuard};

use afd_phone::clock::Clock;
use afd_phone::control::Command;
use afd_phone::fault::{Fault, Kind};
use afd_phone::{Phone, Running, Setup};
use serde_json::{Value, json};

/// Bearer token of test phones.
pub const TOKEN: &str = "test-token-1234";

/// A running phone; dropping it stops it.
pub struct TestPhone {
    running: Option<Running>,
    runtime: tokio::runtime::Runtime,
}

impl TestPhone {
    /// Starts a phone of dialect 2 that shows the settings app.
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// Starts a phone with a manual clock.
    pub fn with_manual_clock() -> Self {
        Self::with(|setup| setup.clock = Arc::new(Clock::manual()))
    }

    /// Starts a phone with a modified setup.
    pub fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::new(TOKEN);
        change(&mut setup);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let running = runtime.block_on(afd_phone::start(setup, 0, 0)).expect("listens");
        let phone = Self { running: Some(running), runtime };
        phone.scene("com.android.settings", None);
        phone
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("the phone is on")
    }

    /// Returns the base URL of the service.
    pub fn url(&self) -> String {
        self.running().url()
    }

    /// Locks the phone for direct access.
    pub fn lock(&self) -> MutexGuard<'_, Phone> {
        afd_phone::server::lock(&self.running().phone)
    }

    /// Returns the base URL of the control interface.
    pub fn control_url(&self) -> String {
        format!("http://{}", self.running().control)
    }

    /// Executes a control command.
    pub fn run(&self, command: Value) {
        let command: Command = serde_json::from_value(command).expect("a valid control command");
        afd_phone::control::run(&mut self.lock(), command).expect("the control command succeeds");
    }

    /// Shows a page of an app, the start page by default.
    pub fn scene(&self, app: &str, page: Option<&str>) {
        self.run(json!({"do": "scene", "app": app, "page": page}));
    }

    /// Injects a fault into the next request whose path starts with `path`.
    pub fn fault(&self, path: &str, kind: Kind) {
        self.lock().faults.push(Fault { path: path.to_owned(), skip: 0, times: 1, kind });
    }

    /// Injects a fault into all requests whose path starts with `path`.
    pub fn fault_always(&self, path: &str, kind: Kind) {
        self.lock().faults.push(Fault { path: path.to_owned(), skip: 0, times: u32::MAX, kind });
    }

    /// Releases the responses that are being held.
    pub fn release(&self) {
        self.run(json!({"do": "release"}));
    }

    /// Returns the visible texts of the nodes that inputs of a kind hit; empty for an input that hit none.
    pub fn hits(&self, kind: &str) -> Vec<String> {
        self.lock().inputs.iter().filter(|i| i.kind == kind).map(|i| i.hit.clone().unwrap_or_default()).collect()
    }

    /// Returns the number of requests to a path.
    pub fn requests(&self, path: &str) -> usize {
        self.lock().requests.get(path).copied().unwrap_or(0)
    }

    /// Clears the input log.
    pub fn clear_inputs(&self) {
        self.lock().inputs.clear();
    }

    /// Returns the page in the foreground.
    pub fn page(&self) -> String {
        self.lock().foreground().1
    }

    /// Simulates attaching USB, on a port or on a free one if 0; returns the serial by which `adb` knows the phone.
    pub fn attach_usb(&mut self, port: u16) -> String {
        let running = self.running.as_mut().expect("the phone is on");
        self.runtime.block_on(running.attach_usb(port)).expect("listens").to_string()
    }

    /// Simulates detaching USB.
    pub fn detach_usb(&mut self) {
        self.running.as_mut().expect("the phone is on").detach_usb();
    }

    /// Turns the phone off: its ports are closed.
    pub fn turn_off(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

impl Drop for TestPhone {
    fn drop(&mut self) {
        let running = self.running.take();
        // The phone must be dropped in the context of the runtime, so that its tasks can end.
        let _inside = self.runtime.enter();
        drop(running);
    }
}
