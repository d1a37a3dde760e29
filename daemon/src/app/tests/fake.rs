//! A fake driver that needs no device, and a core that uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use afd_proto::Secret;
use parking_lot::Mutex;

use crate::app::Core;
use afd_base::config::{Config, Override, Overrides};
use afd_device::autofish::parse_screen;
use afd_device::{BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, ScreenshotOptions, Shell};
use afd_screen::page::Snapshot;

/// A core with one device, `fake`, and a store in a temporary directory.
pub(super) struct Lab {
    pub core: Arc<Core>,
    pub driver: Arc<FakeDriver>,
    _dir: tempfile::TempDir,
}

impl Lab {
    /// Opens a new store; the fake device shows `screen`.
    pub fn new(screen: Snapshot) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        let values = [("memory.db", Override { value: path("memory.db"), variable: None })].into();
        let overrides = Overrides { socket: path("afd.sock"), config: path("config.toml"), values };
        let core = Core::open(Config::load(overrides).expect("no file is an empty file")).expect("opens");
        let driver = Arc::new(FakeDriver { screen: Mutex::new(screen), ..FakeDriver::default() });
        core.devices.add_driver("fake", driver.clone());
        Self { core, driver, _dir: dir }
    }
}

/// A device whose screen a test sets, and whose inputs the test can read. Of the optional traits, this driver
/// implements only the shell; its keys have no codes.
#[derive(Default)]
pub(super) struct FakeDriver {
    screen: Mutex<Snapshot>,
    inputs: Mutex<Vec<Input>>,
    response: Mutex<Option<Result<String, DriverError>>>,
    running: AtomicUsize,
    most_at_once: AtomicUsize,
}

impl FakeDriver {
    /// Sets the screen that the device shows.
    pub fn show(&self, screen: Snapshot) {
        *self.screen.lock() = screen;
    }

    /// Sets the response to every input sent from now on.
    pub fn respond_with(&self, response: Result<String, DriverError>) {
        *self.response.lock() = Some(response);
    }

    /// Returns the inputs received so far.
    pub fn inputs(&self) -> Vec<Input> {
        self.inputs.lock().clone()
    }

    /// Returns the maximum number of inputs that were in progress at the same time.
    pub fn most_at_once(&self) -> usize {
        self.most_at_once.load(Ordering::SeqCst)
    }
}

impl Driver for FakeDriver {
    fn kind(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &[]
    }

    fn url(&self) -> String {
        "http://127.0.0.1:1".to_owned()
    }

    fn health(&self) -> DriverFuture<'_, String> {
        Box::pin(async { Ok("fake".to_owned()) })
    }

    fn top<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp> {
        let Snapshot { app, place, .. } = self.screen.lock().clone();
        Box::pin(async { Ok(ForegroundApp { app, place }) })
    }

    fn snapshot<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        let screen = self.screen.lock().clone();
        Box::pin(async { Ok(screen) })
    }

    fn screenshot<'a>(&'a self, _: Option<&'a Secret>, _: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        Box::pin(async { Err(DriverError::Failed("the fake device has no pictures".to_owned())) })
    }

    fn check_app(&self, _: &str) -> Result<(), BadParam> {
        Ok(())
    }

    fn check_token<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn perform<'a>(&'a self, _: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        Box::pin(async {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(running, Ordering::SeqCst);
            self.inputs.lock().push(input.clone());
            tokio::task::yield_now().await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            self.response.lock().clone().unwrap_or_else(|| Ok("done".to_owned()))
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        Some(self)
    }
}

impl Shell for FakeDriver {
    fn run<'a>(&'a self, _: Option<&'a Secret>, _: &'a Secret, _: u32) -> DriverFuture<'a, String> {
        Box::pin(async { Ok("done".to_owned()) })
    }
}

/// Returns the screen of an app with a list: a row of 200 pixels for each title, with the title as a child node.
pub(super) fn list(titles: &[&str]) -> Snapshot {
    let mut rows = "node_0\tRecyclerView\t-\t-\t-\t0,300,1080,2300\ton,scr,ena".to_owned();
    let mut hierarchy = "node_0".to_owned();
    for (i, title) in titles.iter().enumerate() {
        let (row, text, top) = (2 * i + 1, 2 * i + 2, 300 + 200 * i);
        rows += &format!("\nnode_{row}\tLinearLayout\t-\t-\t-\t0,{top},1080,{}\ton,clk,ena", top + 200);
        rows += &format!("\nnode_{text}\tTextView\t{title}\t-\t-\t100,{},500,{}\ton,ena", top + 20, top + 80);
        hierarchy += &format!("\n  node_{row}\n    node_{text}");
    }
    let head = "[mode: SYSTEM_API]\n[topActivity: a.b/.Main]\nscreen:1080x2400 density:420 orientation:portrait";
    let window = "--- window:1 type:APPLICATION pkg:a.b title: layer:0 focused:true ---";
    let columns = "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags";
    parse_screen(&format!("{head}\n{window}\n{columns}\n{rows}\nhierarchy:\n{hierarchy}")).expect("a screen")
}
