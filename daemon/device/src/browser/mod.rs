//! Driver for a browser with the Chrome DevTools Protocol. The daemon starts the browser when it is first needed, with a
//! profile of its own, and drives it over a pipe.
//!
//! Positions are CSS pixels of the window. The current tab is the one that was opened last. A dialog of a page is a
//! window with buttons, which a tap answers.

mod address;
mod cdp;
mod input;
mod launch;
mod layout;
mod tabs;
mod tree;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::vocabulary::Role;
use base64::Engine;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::watch;

use super::{BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, ScreenshotOptions, SetupError};
use afd_base::config::DeviceSettings;
use afd_screen::page::snapshot::{Flags, Snapshot, Window, WindowKind};
use afd_screen::page::{Flag, Node, Rect, Traits, pattern, site};
use cdp::Cdp;
use tabs::{Dialog, Tab, Tabs};

/// Name under which the memory keeps what it learns in browsers.
const APP: &str = "chromium";
/// Maximum wait for a page to load before it is read.
const LOADED_WITHIN: Duration = Duration::from_secs(5);
/// Time after which a browser that is not used is closed.
const IDLE: Duration = Duration::from_secs(3_600);
/// Maximum number of frames that are read in a page.
const MAX_FRAMES: usize = 30;
/// Bounds of a dialog, which the browser draws outside of the page: of its message, its text and its buttons.
const MESSAGE: Rect = Rect { left: 400, top: 20, right: 880, bottom: 60 };
const ANSWER: Rect = Rect { left: 400, top: 60, right: 880, bottom: 100 };
const ACCEPT: Rect = Rect { left: 640, top: 100, right: 760, bottom: 140 };
const DISMISS: Rect = Rect { left: 760, top: 100, right: 880, bottom: 140 };

/// A running browser.
struct Running {
    cdp: Arc<Cdp>,
    tabs: watch::Sender<Tabs>,
    version: String,
    used: parking_lot::Mutex<std::time::Instant>,
    /// The process, which ends when this is dropped.
    _process: Child,
}

/// Driver for one browser.
pub struct Browser {
    start_page: String,
    executable: Option<PathBuf>,
    profile: String,
    headless: bool,
    private: bool,
    timeout: Duration,
    running: Arc<Slot>,
}

/// The running browser, if there is one.
type Slot = tokio::sync::Mutex<Option<Arc<Running>>>;

/// Closes a browser that is not used for long, or returns when it has ended.
async fn close_idle(slot: std::sync::Weak<Slot>) {
    loop {
        tokio::time::sleep(IDLE / 60).await;
        let Some(slot) = slot.upgrade() else { return };
        let mut running = slot.lock().await;
        match running.as_ref() {
            Some(browser) if browser.used.lock().elapsed() < IDLE => {}
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
    /// If the start page is not an address that the browser may open.
    pub fn new(settings: &DeviceSettings) -> Result<Self, SetupError> {
        let own = &settings.browser;
        let start_page = address::checked(&settings.url, own.allow_private).map_err(SetupError::Address)?.to_string();
        Ok(Self {
            start_page,
            executable: own.path.clone(),
            profile: own.profile.clone(),
            headless: own.headless,
            private: own.allow_private,
            timeout: Duration::from_millis(settings.timeout_ms),
            running: Arc::default(),
        })
    }

    /// Returns the running browser. Starts it, if it does not run or has ended.
    async fn running(&self) -> Result<Arc<Running>, DriverError> {
        let mut running = self.running.lock().await;
        if let Some(browser) = running.as_ref().filter(|browser| !browser.cdp.is_closed()) {
            *browser.used.lock() = std::time::Instant::now();
            return Ok(browser.clone());
        }
        *running = None;
        let started = Arc::new(self.start().await?);
        *running = Some(started.clone());
        tokio::spawn(close_idle(Arc::downgrade(&self.running)));
        Ok(started)
    }

    /// Reads from the browser. A browser that has ended is started again.
    async fn read<T>(&self, read: impl AsyncFn(&Running) -> Result<T, DriverError>) -> Result<T, DriverError> {
        let running = self.running().await?;
        match read(&running).await {
            Err(_) if running.cdp.is_closed() => read(&*self.running().await?).await,
            done => done,
        }
    }

    async fn start(&self) -> Result<Running, DriverError> {
        let failed = |why: String| DriverError::Unreachable(why.into());
        let executable = self.executable.clone().or_else(launch::installed).ok_or_else(|| {
            failed("no browser is installed: expected Chromium or Chrome, or its path as `browser.path`".to_owned())
        })?;
        // An absolute path replaces the directory.
        let profile = afd_proto::paths::state_dir().join("browsers").join(&self.profile);
        let mut process = launch::start(&executable, &profile, self.headless)
            .map_err(|error| failed(format!("cannot start {}: {error}", executable.display())))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let pipes = pipes.ok_or_else(|| failed("the browser has no pipes".to_owned()))?;
        let tabs = watch::Sender::new(Tabs::default());
        let (opened, opening) = tokio::sync::mpsc::unbounded_channel();
        let own = tabs.clone();
        let cdp = Arc::new(Cdp::start(pipes, self.timeout, move |event| {
            own.send_modify(|tabs| {
                if let Some(session) = tabs.apply(&event) {
                    let _ = opened.send(session);
                }
            });
        }));
        tokio::spawn(watch_tabs(opening, Arc::downgrade(&cdp), tabs.clone()));
        let version = cdp.call("", "Browser.getVersion", json!({})).await.map_err(|error| match error {
            cdp::CdpError::Closed => failed(format!("{} ended at once", executable.display())),
            other => other.of_read(),
        })?;
        let version = version["product"].as_str().unwrap_or_default().to_owned();
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        cdp.call("", "Target.setAutoAttach", attach).await.map_err(cdp::CdpError::of_read)?;
        cdp.call("", "Target.setDiscoverTargets", json!({"discover": true})).await.map_err(cdp::CdpError::of_read)?;
        let used = parking_lot::Mutex::new(std::time::Instant::now());
        let running = Running { cdp, tabs, version, used, _process: process };
        let mut seen = running.tabs.subscribe();
        let has_tab = seen.wait_for(|tabs| tabs.current().is_some_and(|tab| tab.watched));
        let first = tokio::time::timeout(self.timeout, has_tab).await.ok().and_then(Result::ok);
        let first = first.and_then(|tabs| tabs.current().map(|tab| tab.session.clone()));
        let first = first.ok_or_else(|| failed("the browser has no tab".to_owned()))?;
        running.navigate(&first, &self.start_page).await?;
        Ok(running)
    }
}

/// Makes each new tab report its events.
async fn watch_tabs(
    mut opened: tokio::sync::mpsc::UnboundedReceiver<String>,
    cdp: std::sync::Weak<Cdp>,
    tabs: watch::Sender<Tabs>,
) {
    while let Some(session) = opened.recv().await {
        let Some(cdp) = cdp.upgrade() else { return };
        // If the tab has gone since, there is nothing to report.
        let _ = cdp.call(&session, "Page.enable", json!({})).await;
        let state = json!({"expression": "document.readyState", "returnByValue": true});
        let state = cdp.call(&session, "Runtime.evaluate", state).await.unwrap_or_default();
        // What happened before the tab was watched was not reported.
        let loaded = state["result"]["value"] == "complete";
        tabs.send_modify(|tabs| tabs.set_watched(&session, loaded));
    }
}

impl Running {
    async fn navigate(&self, session: &str, url: &str) -> Result<(), DriverError> {
        self.tabs.send_modify(|tabs| tabs.set_loading(session));
        let opened = self.cdp.call(session, "Page.navigate", json!({"url": url})).await;
        let opened = opened.map_err(cdp::CdpError::of_input)?;
        match opened["errorText"].as_str() {
            Some(error) => {
                Err(DriverError::Refused { status: None, message: format!("cannot open it: {error}").into() })
            }
            None => Ok(()),
        }
    }

    /// Returns the current tab once it has loaded, or shows a dialog.
    async fn tab(&self) -> Result<Tab, DriverError> {
        let current = || self.tabs.borrow().current().cloned();
        let none = || DriverError::Unreachable("the browser has no tab".into());
        let mut tab = current().ok_or_else(none)?;
        let is_ready = |tab: &Tab| tab.watched && !tab.loading || tab.dialog.is_some();
        if !is_ready(&tab) {
            let mut tabs = self.tabs.subscribe();
            let is_ready = |tab: Option<&Tab>| tab.is_none_or(is_ready);
            let ready = tabs::until(&mut tabs, &tab.session, is_ready);
            if tokio::time::timeout(LOADED_WITHIN, ready).await.is_err() {
                // Some pages never finish. This one is read as it is from now on.
                self.tabs.send_modify(|tabs| tabs.set_watched(&tab.session, true));
            }
            tab = current().ok_or_else(none)?;
        }
        if tab.crashed {
            self.cdp.call(&tab.session, "Page.reload", json!({})).await.map_err(cdp::CdpError::of_read)?;
            return Err(DriverError::Unreachable("the page crashed, and is loaded again".into()));
        }
        Ok(tab)
    }

    /// Sends a request to a tab. Returns `None` if the page shows a dialog or closes instead of answering.
    async fn ask(&self, tab: &Tab, method: &str, params: Value) -> Result<Option<Value>, cdp::CdpError> {
        let mut tabs = self.tabs.subscribe();
        tokio::select! {
            biased;
            answer = self.cdp.call(&tab.session, method, params) => answer.map(Some),
            () = tabs::until(&mut tabs, &tab.session, |tab| tab.is_none_or(|tab| tab.dialog.is_some())) => Ok(None),
        }
    }

    async fn snapshot(&self) -> Result<Snapshot, DriverError> {
        let tab = self.tab().await?;
        if tab.dialog.is_some() {
            return Ok(of_tab(&tab));
        }
        let captured = json!({"computedStyles": layout::STYLES, "includeDOMRects": true});
        let read = async {
            let Some(captured) = self.ask(&tab, "DOMSnapshot.captureSnapshot", captured).await? else {
                return Ok(None);
            };
            let layout = layout::read(&captured);
            let mut trees = Vec::new();
            for (frame, owner) in layout.frames.iter().take(MAX_FRAMES) {
                let params = if *owner == 0 { json!({}) } else { json!({"frameId": frame}) };
                match self.ask(&tab, "Accessibility.getFullAXTree", params).await {
                    Ok(Some(tree)) => trees.push((*owner, tree)),
                    Ok(None) => return Ok(None),
                    // A frame may have gone since.
                    Err(cdp::CdpError::Refused(_)) if *owner != 0 => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(metrics) = self.ask(&tab, "Page.getLayoutMetrics", json!({})).await? else { return Ok(None) };
            Ok(Some((layout, trees, metrics)))
        };
        let read: Result<_, cdp::CdpError> = read.await;
        let mut tab = self.tabs.borrow().get(&tab.session).cloned().unwrap_or(tab);
        let Some((layout, trees, metrics)) = read.map_err(cdp::CdpError::of_read)? else { return Ok(of_tab(&tab)) };
        // The browser reports the title of a tab late.
        tab.title.clone_from(&layout.title);
        let length = |name: &str| metrics["cssVisualViewport"][name].as_f64().unwrap_or_default() as i32;
        let size = (length("clientWidth"), length("clientHeight"));
        let frames = trees.iter().filter(|(owner, _)| *owner != 0).map(|(owner, tree)| (*owner, tree)).collect();
        let mut snapshot = Snapshot { size: Some(size), ..of_tab(&tab) };
        if let Some((_, tree)) = trees.iter().find(|(owner, _)| *owner == 0) {
            snapshot.nodes = tree::Builder::new(&layout, size, 0, frames).build(tree, &tab.title);
        }
        snapshot.hide_what_is_off_screen();
        Ok(snapshot)
    }
}

/// Returns the place for an address. The memory keeps the hash of the path, because the path may contain what was typed.
fn place_of(url: &str, path: Option<&str>) -> String {
    let origin = pattern::origin(&pattern::of(url));
    path.map_or_else(|| format!("{origin}/"), |path| format!("{origin}/~{path}"))
}

/// Returns the snapshot of a tab without its page, but with its dialog.
fn of_tab(tab: &Tab) -> Snapshot {
    let site = site::parse(&tab.url).filter(|_| tab.url.contains("://"));
    let path = site.as_ref().and_then(|_| pattern::path_hash(&tab.url));
    let place = place_of(&tab.url, path.as_deref());
    let window = |id, kind: &str, title: &str, layer, focused| Window {
        id,
        kind: WindowKind::Page,
        type_name: kind.to_owned(),
        app: APP.to_owned(),
        title: title.to_owned(),
        layer,
        focused,
        place: Some(place.clone()),
    };
    let page = window(1, "PAGE", &tab.title, 0, tab.dialog.is_none());
    let (windows, nodes) = match &tab.dialog {
        Some(dialog) => (vec![window(2, "DIALOG", "", 1, true), page], dialog_nodes(dialog)),
        None => (vec![page], Vec::new()),
    };
    Snapshot {
        app: Some(APP.to_owned()),
        place: Some(place.clone()),
        place_knowable: true,
        host: site.as_ref().map(|site| site.address.clone()),
        site: site.map(|site| site.name),
        path,
        mode: "CDP".to_owned(),
        size: Some((1280, 900)),
        windows,
        nodes,
        ..Snapshot::default()
    }
}

fn dialog_nodes(dialog: &Dialog) -> Vec<Node> {
    let enabled = Flags::default().with(Flag::Visible).with(Flag::Enabled);
    let node = |id: &str, role, text: &str, bounds, flags| Node {
        id: id.to_owned(),
        window: 0,
        parent: None,
        class: "dialog".to_owned(),
        text: Some(text.to_owned()).filter(|text| !text.is_empty()),
        desc: None,
        res_id: Some(id.to_owned()),
        bounds,
        flags,
        role,
        traits: Traits::default(),
        password: false,
        truncated: false,
    };
    let button = |id, text, bounds| node(id, Role::Button, text, bounds, enabled.with(Flag::Clickable));
    let (yes, no) = match dialog.kind.as_str() {
        "beforeunload" => ("Leave", Some("Stay")),
        "alert" => ("OK", None),
        _ => ("OK", Some("Cancel")),
    };
    let mut nodes = vec![node("message", Role::Text, &dialog.message, MESSAGE, enabled)];
    if dialog.kind == "prompt" {
        let field = enabled.with(Flag::Editable).with(Flag::Clickable);
        nodes.push(node("answer", Role::Field, &dialog.text, ANSWER, field));
    }
    nodes.push(button("accept", yes, ACCEPT));
    nodes.extend(no.map(|no| button("dismiss", no, DISMISS)));
    nodes
}

impl Driver for Browser {
    fn kind(&self) -> &'static str {
        "browser"
    }

    fn capabilities(&self) -> &'static [&'static str] {
        &["observe", "screenshot", "touch", "keys", "text", "apps"]
    }

    fn url(&self) -> String {
        self.start_page.clone()
    }

    fn check_app(&self, name: &str) -> Result<(), BadParam> {
        address::checked(name, self.private).map(|_| ()).map_err(|expected| BadParam {
            path: "package".to_owned(),
            expected,
            got: format!("{name:?}"),
        })
    }

    fn advice(&self, error: &DriverError) -> Option<&'static str> {
        Some(match error {
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
            let snapshot = of_tab(&self.read(async |running| running.tab().await).await?);
            Ok(ForegroundApp { app: snapshot.app, place: snapshot.place })
        })
    }

    fn snapshot<'a>(&'a self, _: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        Box::pin(self.read(async |running| running.snapshot().await))
    }

    fn screenshot<'a>(&'a self, _: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab().await?;
            let metrics =
                running.ask(&tab, "Page.getLayoutMetrics", json!({})).await.map_err(cdp::CdpError::of_read)?;
            let refused = || DriverError::Refused { status: None, message: "a dialog covers the page".into() };
            let view = &metrics.ok_or_else(refused)?["cssVisualViewport"];
            let number = |name: &str| view[name].as_f64().unwrap_or_default();
            let (width, height) = (number("clientWidth"), number("clientHeight"));
            let scale = (f64::from(shot.max_dim) / width.max(height).max(1.0)).min(1.0);
            let clip =
                json!({"x": number("pageX"), "y": number("pageY"), "width": width, "height": height, "scale": scale});
            let params =
                json!({"format": "jpeg", "quality": shot.quality, "clip": clip, "captureBeyondViewport": false});
            let taken = running.ask(&tab, "Page.captureScreenshot", params).await.map_err(cdp::CdpError::of_read)?;
            let taken = taken.ok_or_else(refused)?;
            base64::engine::general_purpose::STANDARD
                .decode(taken["data"].as_str().unwrap_or_default())
                .map_err(|error| DriverError::Protocol(format!("the screenshot is not valid base64: {error}").into()))
        })
    }

    fn perform<'a>(&'a self, _: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        Box::pin(async move {
            let running = self.running().await?;
            let tab = running.tab().await?;
            match input {
                Input::Launch(page) => {
                    let url = address::checked(page, self.private)
                        .map_err(|expected| DriverError::Refused { status: None, message: expected.into() })?;
                    running.navigate(&tab.session, url.as_str()).await?;
                }
                Input::Home => running.navigate(&tab.session, &self.start_page).await?,
                other => input::perform(&running, &tab, other).await?,
            }
            Ok("done".to_owned())
        })
    }
}
