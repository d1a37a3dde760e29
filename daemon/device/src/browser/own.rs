//! A browser that all sessions share: starting it, connecting to it, and closing it when nothing has used it for a while.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_base::config::{self, DeviceSettings};
use serde_json::json;
use tokio::process::Child;
use tokio::sync::watch;
use url::Url;

use super::cdp::{Cdp, CdpError, Wire};
use super::running::{Running, attach_to, attend};
use super::tabs::Tabs;
use super::{address, attach, downloads, launch, limits};
use crate::{DriverError, SetupError};

/// Idle time after which the browser is closed.
const IDLE: Duration = Duration::from_secs(3_600);

/// What all sessions share.
pub struct Own {
    /// Address of a browser that runs already; `None` if the daemon starts one.
    pub attach: Option<Url>,
    pub start_page: String,
    executable: Option<PathBuf>,
    profile: String,
    headless: bool,
    pub rules: Arc<address::Rules>,
    pub upload_dirs: Vec<String>,
    max_download: u64,
    permissions: Vec<String>,
    store_urls: bool,
    timeout: Duration,
    running: Arc<Slot>,
    /// The running browser, for those who do not start it.
    pub latest: parking_lot::Mutex<Weak<Running>>,
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

impl Own {
    /// Describes a browser that is not running yet.
    ///
    /// # Errors
    /// If the start page is not an address that the browser may open, or if the address of a running browser is not one.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        let own = &settings.browser;
        let rules = address::Rules::new(own.allow_private, &own.allow, &own.deny, &settings.url);
        let (rules, start_page) = rules.map_err(SetupError::Address)?;
        Ok(Self {
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
        })
    }

    /// Returns the running browser. Starts it, if it does not run or has ended.
    pub async fn running(&self) -> Result<Arc<Running>, DriverError> {
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
    pub async fn read<T>(
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
