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
mod own;
mod page_tool;
mod picture;
mod published;
mod running;
mod said;
mod seen;
mod tab;
mod tabs;
mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::device::TabInfo;
use afd_proto::vocabulary::DEFAULT_SESSION;

use super::{
    BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, Reveals, ScreenshotOptions, SetupError,
    Transfers,
};
use afd_base::config::DeviceSettings;
use afd_screen::page::{Rect, Snapshot, pattern};
use own::Own;
use running::Running;

/// Maximum wait for tabs to close before the daemon exits.
const CLOSED_WITHIN: Duration = Duration::from_secs(2);

/// Driver for one browser, as a session sees it.
pub struct Browser {
    own: Arc<Own>,
    session: String,
    /// Whether the session has ended or has another name now.
    left: AtomicBool,
}

impl Browser {
    /// Creates a driver. The browser starts when it is first needed.
    ///
    /// # Errors
    /// If the start page is not an address that the browser may open, or if the address of a running browser is not one.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        let own = Own::new(settings)?;
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

    fn page_tools(&self) -> Option<&dyn super::PageTools> {
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

impl super::PageTools for Browser {
    fn call<'a>(&'a self, call: &'a super::ToolCall) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab(&self.session).await?;
            running.call_tool(&tab, call).await
        })
    }
}
