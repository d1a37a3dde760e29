//! Driver for a browser with the Chrome DevTools Protocol. The daemon starts the browser when it is first needed, with a
//! profile of its own, and drives it over a pipe; or it connects to a browser that the user has started.
//!
//! Each session uses a tab of its own. Positions are CSS pixels of the window. A dialog of a page is a window with buttons,
//! which a tap answers.

mod address;
mod attach;
mod cdp;
mod choice;
mod dialog;
mod downloads;
mod drag;
mod field;
mod files;
mod guard;
mod input;
mod launch;
mod layout;
mod limits;
mod news;
mod picture;
mod running;
mod said;
mod seen;
mod tab;
mod tabs;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::device::TabInfo;
use afd_proto::vocabulary::DEFAULT_SESSION;
use serde_json::json;
use tokio::process::Child;
use tokio::sync::watch;
use url::Url;

use super::{
    BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, Reveals, ScreenshotOptions, SetupError,
    Transfers,
};
use afd_base::config::{self, DeviceSettings};
use afd_screen::page::{Rect, Snapshot, pattern};
use cdp::{Cdp, CdpError, Wire};
use running::{Running, attach_to, attend};
use tabs::Tabs;

/// Idle time after which the browser is closed.
const IDLE: Duration = Duration::from_secs(3_600);
/// Maximum wait for tabs to close before the daemon exits.
const CLOSED_WITHIN: Duration = Duration::from_secs(2);

/// Checks the debugging address of a browser that runs already.
///
/// # Errors
/// Describes the accepted addresses if this is none of them.
pub fn check_address(text: &str) -> Result<(), &'static str> {
    config::check_attach(text).map(|_| ())
}

/// Driver for one browser, as a session sees it.
pub struct Browser {
    own: Arc<Own>,
    session: String,
    /// Whether the session has ended or has another name now.
    left: AtomicBool,
}

/// What all sessions share.
struct Own {
    /// Address of a browser that runs already; `None` if the daemon starts one.
    attach: Option<Url>,
    start_page: String,
    executable: Option<PathBuf>,
    profile: String,
    headless: bool,
    rules: Arc<address::Rules>,
    upload_dirs: Vec<String>,
    max_download: u64,
    permissions: Vec<String>,
    store_urls: bool,
    timeout: Duration,
    running: Arc<Slot>,
    /// The running browser, for those who do not start it.
    latest: parking_lot::Mutex<Weak<Running>>,
}

/// The running browser, if there is one.
type Slot = tokio::sync::Mutex<Option<Arc<Running>>>;

/// Closes the browser after [`IDLE`]. Returns once the browser has been closed.
async fn close_idle(slot: std::sync::Weak<Slot>) {
    loop {
        tokio::time::sleep(IDLE / 60).await;
        let Some(slot) = slot.upgrade() else { return };
        let mut running = slot.lock().await;
        match running.as_ref() {
            Some(browser) if !browser.cdp.is_closed() && browser.used.lock().elapsed() < IDLE => {}
            _ => {
                *running = None;
                return;
            }
        }
    }
}

impl Browser {
    /// Creates a driver. The browser starts when it is first needed.
    ///
    /// # Errors
    /// If the start page is not an address that the browser may open, or if the address of a running browser is not one.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        let own = &settings.browser;
        let rules = address::Rules::new(own.allow_private, &own.allow, &own.deny, &settings.url);
        let (rules, start_page) = rules.map_err(SetupError::Address)?;
        let own = Own {
            attach: own.attach.as_deref().map(config::check_attach).transpose().map_err(SetupError::Address)?,
            start_page: start_page.to_string(),
            executable: own.path.clone(),
            profile: own.profile.clone(),
            headless: own.headless,
            rules: Arc::new(rules),
            upload_dirs: own.upload_dirs.clone(),
            max_download: own.max_download_bytes,
            permissions: own.permissions.clone(),
            store_urls: own.store_urls,
            timeout: Duration::from_millis(settings.timeout_ms),
            running: Arc::default(),
            latest: parking_lot::Mutex::default(),
        };
        Ok(Self { own: Arc::new(own), session: DEFAULT_SESSION.to_owned(), left: AtomicBool::new(false) })
    }

    /// Returns an error if the session has ended or has another name now. What still runs for it gets no tab.
    fn check_left(&self) -> Result<(), DriverError> {
        match self.left.load(Ordering::SeqCst) {
            false => Ok(()),
            true => Err(DriverError::Failed("the session has ended, or has another name".to_owned())),
        }
    }

    /// Returns the running browser; see [`Own::running`].
    async fn running(&self) -> Result<Arc<Running>, DriverError> {
        self.check_left()?;
        self.own.running().await
    }
}

impl Own {
    /// Returns the running browser. Starts it, if it does not run or has ended.
    async fn running(&self) -> Result<Arc<Running>, DriverError> {
        let mut running = self.running.lock().await;
        if let Some(browser) = running.as_ref().filter(|browser| !browser.cdp.is_closed()) {
            *browser.used.lock() = std::time::Instant::now();
            return Ok(browser.clone());
        }
        *running = None;
        let started = Arc::new(self.start().await?);
        *self.latest.lock() = Arc::downgrade(&started);
        *running = Some(started.clone());
        tokio::spawn(close_idle(Arc::downgrade(&self.running)));
        Ok(started)
    }

    /// Reads from the browser for a session. A browser that has ended is started again.
    async fn read<T>(
        &self,
        session: &str,
        read: impl AsyncFn(&Running, &str) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        let running = self.running().await?;
        match read(&running, session).await {
            Err(_) if running.cdp.is_closed() => read(&*self.running().await?, session).await,
            done => done,
        }
    }

    /// Starts the browser, or connects to the one that runs.
    async fn start(&self) -> Result<Running, DriverError> {
        let profile = self.profile_dir();
        let download_dir = profile.join("afd-downloads");
        let (wire, process) = match &self.attach {
            Some(address) => (attach::connect(address, self.timeout).await?, None),
            None => {
                let (wire, process) = self.launch(&profile)?;
                (wire, Some(process))
            }
        };
        let is_of_user = process.is_none();
        let downloads = downloads::Downloads::new(self.max_download, download_dir.clone());
        let tabs = watch::Sender::new(Tabs::new(is_of_user, downloads));
        let (sender, duties) = tokio::sync::mpsc::unbounded_channel();
        let own = tabs.clone();
        let cdp = Arc::new(Cdp::start(wire, self.timeout, move |event| {
            own.send_modify(|tabs| {
                if let Some(duty) = tabs.apply(&event) {
                    let _ = sender.send(duty);
                }
            });
        }));
        tokio::spawn(attend(duties, Arc::downgrade(&cdp), tabs.clone(), self.rules.clone()));
        let version = cdp.call("", "Browser.getVersion", json!({})).await.map_err(|error| match error {
            CdpError::Closed if !is_of_user => DriverError::Unreachable(
                format!("the browser exited immediately; another one may be using the profile {}", self.profile).into(),
            ),
            other => other.of_read(),
        })?;
        let version = version["product"].as_str().unwrap_or_default().to_owned();
        // What pages of the user may do is left to the user.
        if !is_of_user {
            cdp.call("", "Target.setAutoAttach", attach_to("page")).await.map_err(CdpError::of_read)?;
            limits::set(&cdp, self.max_download, &self.permissions, &download_dir).await.map_err(CdpError::of_read)?;
        }
        cdp.call("", "Target.setDiscoverTargets", json!({"discover": true})).await.map_err(CdpError::of_read)?;
        let running = Running {
            cdp,
            tabs,
            version,
            used: parking_lot::Mutex::new(std::time::Instant::now()),
            seen: parking_lot::Mutex::default(),
            start_page: self.start_page.clone(),
            store_urls: self.store_urls,
            rules: self.rules.clone(),
            front: tokio::sync::Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            process,
        };
        if !is_of_user {
            running.open_first(self.timeout).await?;
        }
        Ok(running)
    }

    /// Returns the directory of the profile.
    fn profile_dir(&self) -> PathBuf {
        // An absolute path replaces the directory.
        afd_proto::paths::state_dir().join("browsers").join(&self.profile)
    }

    /// Starts the browser.
    fn launch(&self, profile: &Path) -> Result<(Wire, Child), DriverError> {
        let failed = |why: String| DriverError::Unreachable(why.into());
        let executable = self.executable.clone().or_else(launch::installed).ok_or_else(|| {
            failed("no browser is installed: expected Chromium or Chrome, or its path as `browser.path`".to_owned())
        })?;
        let mut process = launch::start(&executable, profile, self.headless)
            .map_err(|error| failed(format!("cannot start {}: {error}", executable.display())))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (out, input) = pipes.ok_or_else(|| failed("the browser has no pipes".to_owned()))?;
        Ok((Wire::Pipe(out, input), process))
    }
}

impl Driver for Browser {
    fn for_session(&self, session: &str) -> Option<Arc<dyn Driver>> {
        Some(Arc::new(Self { own: self.own.clone(), session: session.to_owned(), left: AtomicBool::new(false) }))
    }

    fn hand_over(&self, to: Option<&str>) {
        self.left.store(true, Ordering::SeqCst);
        let running = self.own.latest.lock().upgrade();
        running.into_iter().for_each(|running| running.hand_over(&self.session, to));
    }

    fn close(&self) -> DriverFuture<'_, ()> {
        Box::pin(async {
            let running = self.own.latest.lock().upgrade();
            if let Some(running) = running {
                let _ = tokio::time::timeout(CLOSED_WITHIN, running.close_own()).await;
            }
            Ok(())
        })
    }

    fn kind(&self) -> &'static str {
        "browser"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &["observe", "screenshot", "touch", "keys", "text", "apps"]
    }

    fn url(&self) -> String {
        pattern::origin(&self.own.start_page).to_owned()
    }

    fn check_app(&self, name: &str) -> Result<(), BadParam> {
        self.own.rules.page(name).map(|_| ()).map_err(|expected| BadParam {
            path: "package".to_owned(),
            expected,
            // The rest of an address may be secret.
            got: format!("{:?}", name.split(['?', '#', '@']).next().unwrap_or_default()),
        })
    }

    fn advice(&self, error: &DriverError) -> Option<&'static str> {
        Some(match error {
            DriverError::Unreachable(_) if self.own.attach.is_some() => {
                "start the browser with an option such as `--remote-debugging-port=9222`; `device.NAME.browser.attach` is its address"
            }
            DriverError::Unreachable(_) => {
                "try again: the browser is started again if it has ended; `device.NAME.browser.path` names another browser"
            }
            DriverError::Refused { .. } => "observe again; `afctl launch URL` opens another page",
            _ => return None,
        })
    }

    fn health(&self) -> DriverFuture<'_, String> {
        Box::pin(async move { Ok(self.running().await?.version.clone()) })
    }

    /// A browser that the daemon started needs no token.
    fn check_token<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn top<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp> {
        Box::pin(async move {
            let read = async |running: &Running, session: &str| Ok(running.shown(&running.tab(session).await?));
            self.check_left()?;
            let snapshot = self.own.read(&self.session, read).await?;
            Ok(ForegroundApp { app: snapshot.app, place: snapshot.place })
        })
    }

    fn snapshot<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        Box::pin(async move {
            self.check_left()?;
            self.own.read(&self.session, async |running, session| running.snapshot(session).await).await
        })
    }

    fn screenshot<'a>(&'a self, _: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab(&self.session).await?;
            running.picture(&tab, shot).await
        })
    }

    fn tabs(&self) -> Option<&dyn super::Tabs> {
        Some(self)
    }

    fn reveals(&self) -> Option<&dyn Reveals> {
        Some(self)
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self)
    }

    fn news(&self) -> Option<String> {
        self.own.latest.lock().upgrade()?.news(&self.session)
    }

    fn perform<'a>(&'a self, _: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let running = self.running().await?;
            match input {
                Input::Tab(id) => {
                    running.choose(&self.session, id).await?;
                    return Ok("done".to_owned());
                }
                Input::CloseTab(id) => {
                    running.close(&self.session, id).await?;
                    return Ok("done".to_owned());
                }
                _ => {}
            }
            let tab = running.tab(&self.session).await?;
            match input {
                Input::Launch(page) => {
                    let url = self
                        .own
                        .rules
                        .page(page)
                        .map_err(|expected| DriverError::Refused { status: None, message: expected.into() })?;
                    running.navigate(&tab.session, url.as_str()).await?;
                }
                Input::Home => running.navigate(&tab.session, &self.own.start_page).await?,
                other => input::perform(&running, &tab, other).await?,
            }
            Ok("done".to_owned())
        })
    }
}

impl Reveals for Browser {
    fn reveal<'a>(&'a self, _: Option<&'a Secret>, node: &'a str) -> DriverFuture<'a, ()> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab(&self.session).await?;
            running.reveal(&tab, node.parse().unwrap_or_default()).await
        })
    }

    fn page_bounds<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, Rect> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab(&self.session).await?;
            running.page_bounds(&tab).await
        })
    }
}

impl super::Tabs for Browser {
    fn list(&self) -> DriverFuture<'_, Vec<TabInfo>> {
        Box::pin(async { self.running().await?.list(&self.session).await })
    }
}
