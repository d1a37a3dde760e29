//! A practice phone inside the test's process, over real HTTP.

use std::sync::{Arc, MutexGuard};

use afd_phone::clock::Clock;
use afd_phone::control::Command;
use afd_phone::fault::{Fault, Kind};
use afd_phone::{Phone, Running, Setup};
use serde_json::{Value, json};

/// The bearer token of test phones.
pub const TOKEN: &str = "test-token-1234";

/// A phone that is being served; it stops when this is dropped.
pub struct TestPhone {
    running: Option<Running>,
    runtime: tokio::runtime::Runtime,
}

impl TestPhone {
    /// A phone of dialect 2 that shows the settings app.
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// A phone with a clock that is moved by hand.
    pub fn with_manual_clock() -> Self {
        Self::with(|setup| setup.clock = Arc::new(Clock::manual()))
    }

    /// A phone with another setup.
    pub fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::new(TOKEN);
        change(&mut setup);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let running = runtime.block_on(afd_phone::start(setup, 0, 0)).expect("listens");
        let phone = Self { running: Some(running), runtime };
        phone.scene("com.android.settings", None);
        phone
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("the phone is on")
    }

    /// Base URL of the service.
    pub fn url(&self) -> String {
        self.running().url()
    }

    /// The phone itself.
    pub fn lock(&self) -> MutexGuard<'_, Phone> {
        afd_phone::server::lock(&self.running().phone)
    }

    /// Base URL of the control interface.
    pub fn control_url(&self) -> String {
        format!("http://{}", self.running().control)
    }

    /// Carries out a control command.
    pub fn run(&self, command: Value) {
        let command: Command = serde_json::from_value(command).expect("a command");
        afd_phone::control::run(&mut self.lock(), command).expect("the phone obeys");
    }

    /// Shows a page.
    pub fn scene(&self, app: &str, page: Option<&str>) {
        self.run(json!({"do": "scene", "app": app, "page": page}));
    }

    /// Adds a fault for the next request to a path.
    pub fn fault(&self, path: &str, kind: Kind) {
        self.lock().faults.push(Fault { path: path.to_owned(), skip: 0, times: 1, kind });
    }

    /// Adds a fault for all requests to a path.
    pub fn fault_always(&self, path: &str, kind: Kind) {
        self.lock().faults.push(Fault { path: path.to_owned(), skip: 0, times: u32::MAX, kind });
    }

    /// Lets go the answers that are held back.
    pub fn release(&self) {
        self.run(json!({"do": "release"}));
    }

    /// What reached the screen, as kind and words that were hit.
    pub fn hits(&self, kind: &str) -> Vec<String> {
        self.lock().inputs.iter().filter(|i| i.kind == kind).map(|i| i.hit.clone().unwrap_or_default()).collect()
    }

    /// How many requests came in for a path.
    pub fn requests(&self, path: &str) -> usize {
        self.lock().requests.get(path).copied().unwrap_or(0)
    }

    /// Forgets what reached the screen.
    pub fn forget(&self) {
        self.lock().inputs.clear();
    }

    /// The page in front.
    pub fn page(&self) -> String {
        self.lock().place().1
    }

    /// Plugs a cable in on a port, or on a free one; returns the serial that `adb` knows it by.
    pub fn plug_in(&mut self, port: u16) -> String {
        let running = self.running.as_mut().expect("the phone is on");
        self.runtime.block_on(running.plug_in(port)).expect("listens").to_string()
    }

    /// Takes the cable out.
    pub fn unplug(&mut self) {
        self.running.as_mut().expect("the phone is on").unplug();
    }

    /// Turns the phone off: its port is closed.
    pub fn turn_off(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

impl Drop for TestPhone {
    fn drop(&mut self) {
        let running = self.running.take();
        // Dropping inside the runtime lets its tasks end.
        let _inside = self.runtime.enter();
        drop(running);
    }
}
