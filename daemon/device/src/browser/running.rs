//! A running browser: requests to its tabs, and snapshots of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};

use super::cdp::{Cdp, CdpError};
use super::layout::{FrameIn, Layout};
use super::seen::{Seen, SeenInput};
use super::tab::Tab;
use super::tabs::{self, Duty, ForeignFrame, Tabs};
use super::{address, dialog, layout, tree};
use crate::DriverError;
use afd_screen::page::snapshot::{Snapshot, Window, WindowKind};
use afd_screen::page::{Flag, Node, pattern, site};

/// Name under which the memory keeps what it learns in browsers.
const APP: &str = "chromium";
/// Maximum wait for a page to load before it is read.
pub const LOADED_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of frames that are read in a page.
const MAX_FRAMES: usize = 30;
/// Function of a node that scrolls until the node is in sight.
const SHOW: &str = "function() {
    (this.nodeType === 1 ? this : this.parentElement)?.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
}";

/// A running browser.
pub struct Running {
    /// Connection to the browser.
    pub cdp: Arc<Cdp>,
    /// Its tabs.
    pub tabs: watch::Sender<Tabs>,
    /// Name and version of the browser.
    pub version: String,
    /// What tabs showed when they were read last, by session.
    pub seen: Mutex<HashMap<String, Arc<Seen>>>,
    /// Time of the last use.
    pub used: Mutex<Instant>,
    /// Address that new tabs show first.
    pub start_page: String,
    /// Whether places contain the paths of addresses, and not only hashes of them.
    pub store_urls: bool,
    /// Which addresses may be opened.
    pub rules: Arc<address::Rules>,
    /// Held while a tab must stay in front.
    pub front: tokio::sync::Mutex<()>,
    /// Held while a tab is looked for or opened.
    pub opening: tokio::sync::Mutex<()>,
    /// The process, which ends when the connection is closed; `None` if the browser belongs to the user.
    pub process: Option<Child>,
}

/// Does what the events of a browser ask for, each in a task of its own.
pub async fn attend(
    mut duties: mpsc::UnboundedReceiver<Duty>,
    cdp: Weak<Cdp>,
    tabs: watch::Sender<Tabs>,
    rules: Arc<address::Rules>,
) {
    while let Some(duty) = duties.recv().await {
        let Some(cdp) = cdp.upgrade() else { return };
        match duty {
            Duty::Attach(target) => tokio::spawn(async move {
                let _ = cdp.call("", "Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
            }),
            Duty::Watch(session) => tokio::spawn(watch_target(cdp, tabs.clone(), session)),
            Duty::Judge { target, url } => {
                if rules.check(&url).is_err() {
                    leave(&cdp, tabs.borrow().of_target(&target));
                }
                continue;
            }
            Duty::Stop(id) => {
                let file = tabs.borrow().downloads.file(&id);
                tokio::spawn(async move {
                    let _ = cdp.call("", "Browser.cancelDownload", json!({"guid": id})).await;
                    let _ = tokio::fs::remove_file(file).await;
                })
            }
            Duty::Check { session, request, url } => {
                tokio::spawn(check(cdp, session, request, rules.check(&url).is_ok()))
            }
        };
    }
}

/// Closes a tab, or lets go of one that the user opened.
pub fn leave(cdp: &Cdp, tab: Option<&Tab>) {
    match tab {
        Some(tab) if tab.of_user => cdp.send("Target.detachFromTarget", json!({"sessionId": tab.session})),
        Some(tab) => cdp.send("Target.closeTarget", json!({"targetId": tab.target})),
        None => {}
    }
}

/// Makes a tab or a frame report its events, and lets it run. If it has gone since, there is nothing to report.
async fn watch_target(cdp: Arc<Cdp>, tabs: watch::Sender<Tabs>, session: String) {
    let pages = json!({"patterns": [{"resourceType": "Document", "requestStage": "Request"}]});
    let call = |method, params| cdp.call(&session, method, params);
    // These are sent in this order. A target that waits may not answer before it runs.
    let _ = tokio::join!(
        call("Page.enable", json!({})),
        call("Fetch.enable", pages),
        // The browser would wait for a user to choose the files.
        call("Page.setInterceptFileChooserDialog", json!({"enabled": true})),
        // A page that is not in front runs as if it were, so that sessions do not wait for each other.
        call("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
        call("Target.setAutoAttach", attach_to("iframe")),
        // Few browsers know it so far.
        call("WebMCP.enable", json!({})),
        call("Runtime.runIfWaitingForDebugger", json!({})),
    );
    let state = json!({"expression": "document.readyState", "returnByValue": true});
    let state = cdp.call(&session, "Runtime.evaluate", state).await.unwrap_or_default();
    // What happened before the tab was watched was not reported.
    let loaded = state["result"]["value"] == "complete";
    tabs.send_modify(|tabs| tabs.set_watched(&session, loaded));
}

/// Returns the parameters that attach a session to each target of a kind, before it runs.
pub fn attach_to(kind: &str) -> Value {
    let filter = json!([{"type": kind}, {"exclude": true}]);
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter})
}

/// Lets a page or frame load, or not.
async fn check(cdp: Arc<Cdp>, session: String, request: String, allowed: bool) {
    let (method, params) = match allowed {
        true => ("Fetch.continueRequest", json!({"requestId": request})),
        false => ("Fetch.failRequest", json!({"requestId": request, "errorReason": "BlockedByClient"})),
    };
    let _ = cdp.call(&session, method, params).await;
}

impl Running {
    /// Opens a page in a tab.
    pub async fn navigate(&self, session: &str, url: &str) -> Result<(), DriverError> {
        self.tabs.send_modify(|tabs| tabs.set_loading(session));
        // A page may ask whether to leave it.
        let opened =
            self.ask_session(session, "Page.navigate", json!({"url": url})).await.map_err(CdpError::of_input)?;
        match opened.unwrap_or_default()["errorText"].as_str() {
            Some(error) => {
                Err(DriverError::Refused { status: None, message: format!("cannot open it: {error}").into() })
            }
            None => Ok(()),
        }
    }

    /// Returns the tab that a session uses, once it has loaded or shows a dialog. A session without a tab gets one.
    pub async fn tab(&self, owner: &str) -> Result<Tab, DriverError> {
        let current = || self.tabs.borrow().current(owner).cloned();
        let mut tab = match current() {
            Some(tab) => tab,
            None => self.new_for(owner).await?,
        };
        self.tabs.send_if_modified(|tabs| {
            tabs.touch(owner);
            false
        });
        let is_ready = |tab: &Tab| tab.watched && !tab.loading || tab.dialog.is_some();
        if !is_ready(&tab) {
            let mut tabs = self.tabs.subscribe();
            let is_ready = |tab: Option<&Tab>| tab.is_none_or(is_ready);
            let ready = tabs::until(&mut tabs, &tab.session, is_ready);
            if tokio::time::timeout(LOADED_WITHIN, ready).await.is_err() {
                // Some pages never finish. This one is read as it is from now on.
                self.tabs.send_modify(|tabs| tabs.set_watched(&tab.session, true));
            }
            tab = current().ok_or_else(|| DriverError::Unreachable("the tab was closed".into()))?;
        }
        if tab.leads_back && !tab.loading && tab.dialog.is_none() {
            self.cdp.call(&tab.session, "Page.resetNavigationHistory", json!({})).await.map_err(CdpError::of_read)?;
            self.tabs.send_modify(|tabs| tabs.set_first_page(&tab.session));
        }
        if tab.crashed {
            self.tabs.send_modify(|tabs| tabs.set_loading(&tab.session));
            self.cdp.call(&tab.session, "Page.reload", json!({})).await.map_err(CdpError::of_read)?;
            return Err(DriverError::Unreachable("the page crashed, and is loaded again".into()));
        }
        Ok(tab)
    }

    /// Sends a request to a tab, unless the page shows a dialog. Returns `None` if it does, or if it opens one or closes
    /// instead of answering.
    pub async fn ask(&self, tab: &Tab, method: &str, params: Value) -> Result<Option<Value>, CdpError> {
        if self.has_dialog(&tab.session) {
            return Ok(None);
        }
        self.ask_session(&tab.session, method, params).await
    }

    /// Like [`Self::ask`], for a session of a frame in the tab.
    pub async fn ask_frame(
        &self,
        tab: &str,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Option<Value>, CdpError> {
        let mut tabs = self.tabs.subscribe();
        tokio::select! {
            biased;
            answer = self.cdp.call(session, method, params) => answer.map(Some),
            () = tabs::until(&mut tabs, tab, |tab| tab.is_none_or(|tab| tab.dialog.is_some())) => Ok(None),
        }
    }

    /// Returns whether a tab shows a dialog.
    pub fn has_dialog(&self, session: &str) -> bool {
        self.tabs.borrow().get(session).is_some_and(|tab| tab.dialog.is_some())
    }

    /// Like [`Self::ask`], but sends the request even if the page shows a dialog.
    pub async fn ask_session(&self, session: &str, method: &str, params: Value) -> Result<Option<Value>, CdpError> {
        self.ask_frame(session, session, method, params).await
    }

    /// Returns the snapshot of a tab without its page, but with its dialog.
    pub fn shown(&self, tab: &Tab) -> Snapshot {
        of_tab(tab, self.store_urls)
    }

    /// Returns what a tab showed when it was read last.
    pub fn seen(&self, session: &str) -> Arc<Seen> {
        self.seen.lock().get(session).cloned().unwrap_or_default()
    }

    /// Reads the tab that a session uses.
    pub async fn snapshot(&self, owner: &str) -> Result<Snapshot, DriverError> {
        let tab = self.tab(owner).await?;
        if tab.dialog.is_some() {
            return Ok(self.shown(&tab));
        }
        let read = self.read_page(&tab);
        let read: Result<_, CdpError> = read.await;
        let mut tab = self.tabs.borrow().get(&tab.session).cloned().unwrap_or(tab);
        let Some((layout, trees, metrics)) = read.map_err(CdpError::of_read)? else { return Ok(self.shown(&tab)) };
        // The browser reports the title of a tab late.
        tab.title.clone_from(&layout.title);
        let length = |name: &str| metrics["cssVisualViewport"][name].as_f64().unwrap_or_default() as i32;
        let size = (length("clientWidth"), length("clientHeight"));
        let start = (-length("pageX"), -length("pageY"));
        let frames = trees.iter().filter(|(frame, _)| frame.owner != 0);
        let frames = frames.map(|(frame, tree)| (frame.owner, (tree, frame.offset))).collect();
        let mut snapshot = Snapshot { size: Some(size), tools: tab.published.tools(), ..self.shown(&tab) };
        if let Some((_, tree)) = trees.iter().find(|(frame, _)| frame.owner == 0) {
            snapshot.nodes = tree::Builder::new(&layout, size, start, frames).build(tree, &tab.title);
        }
        snapshot.hide_what_is_off_screen();
        let takes_input =
            |node: &&Node| node.is(Flag::Visible) && (node.is(Flag::Clickable) || node.is(Flag::Editable));
        let inputs = snapshot.nodes.iter().filter(takes_input);
        let inputs = inputs.filter_map(SeenInput::of).collect();
        let mut seen = self.seen.lock();
        seen.retain(|session, _| self.tabs.borrow().get(session).is_some());
        seen.insert(tab.session.clone(), Arc::new(Seen { session: tab.session, layout, inputs }));
        Ok(snapshot)
    }

    /// Reads the layout of a tab, the accessibility trees of its frames, and its measures; `None` if it shows a dialog.
    async fn read_page(&self, tab: &Tab) -> Result<Option<(Layout, Vec<(FrameIn, Value)>, Value)>, CdpError> {
        let captured = json!({"computedStyles": layout::STYLES, "includeDOMRects": true});
        let Some(page) = self.ask(tab, "DOMSnapshot.captureSnapshot", captured.clone()).await? else { return Ok(None) };
        let mut layout = Layout::default();
        layout.add_page(&tab.session, &page);
        let foreign = self.tabs.borrow().frames(&tab.session);
        for frame in foreign.iter().take(MAX_FRAMES) {
            // A frame may have gone since, or not respond.
            let Some(owner) = self.owner(tab, &layout, frame).await else { continue };
            let captured =
                self.ask_frame(&tab.session, &frame.session, "DOMSnapshot.captureSnapshot", captured.clone()).await;
            if let Ok(Some(captured)) = captured {
                layout.add_frame(&frame.session, &captured, owner);
            }
        }
        let mut trees = Vec::new();
        for frame in layout.frames.iter().take(MAX_FRAMES) {
            let is_own = frame.session == tab.session;
            let params = if frame.owner == 0 || !is_own { json!({}) } else { json!({"frameId": frame.id}) };
            match self.ask_frame(&tab.session, &frame.session, "Accessibility.getFullAXTree", params).await {
                Ok(Some(tree)) => trees.push((frame.clone(), tree)),
                Ok(None) => return Ok(None),
                Err(error) if frame.owner == 0 => return Err(error),
                Err(_) => {}
            }
        }
        let Some(metrics) = self.ask(tab, "Page.getLayoutMetrics", json!({})).await? else { return Ok(None) };
        Ok(Some((layout, trees, metrics)))
    }

    /// Scrolls until the element with an id is in sight.
    pub async fn reveal(&self, tab: &Tab, id: i64) -> Result<(), DriverError> {
        let found = self.seen(&tab.session).layout.node_of(id);
        let (session, node) = found.unwrap_or_else(|| (tab.session.clone(), id));
        let ask = |method, params| self.ask_frame(&tab.session, &session, method, params);
        let found = ask("DOM.resolveNode", json!({"backendNodeId": node})).await.map_err(CdpError::of_read)?;
        let object = found.unwrap_or_default()["object"]["objectId"].clone();
        let scroll = json!({"objectId": object, "functionDeclaration": SHOW, "silent": true});
        ask("Runtime.callFunctionOn", scroll).await.map(|_| ()).map_err(CdpError::of_read)
    }

    /// Returns the id of the element that a frame of another site is in.
    async fn owner(&self, tab: &Tab, layout: &Layout, frame: &ForeignFrame) -> Option<i64> {
        let offset = layout.frames.iter().find(|outer| outer.session == frame.around)?.offset;
        let found =
            self.ask_frame(&tab.session, &frame.around, "DOM.getFrameOwner", json!({"frameId": frame.id})).await;
        found.ok()??["backendNodeId"].as_i64().map(|id| id + offset)
    }
}

/// Returns the place for an address. Unless the settings allow otherwise, the place contains a hash of the path, because a
/// path may contain typed text.
fn place_of(url: &str, path: Option<&str>, store_urls: bool) -> String {
    let pattern = pattern::of(url);
    let origin = pattern::origin(&pattern);
    match path {
        None => format!("{origin}/"),
        // A `#` would end the place.
        Some(_) if store_urls => pattern.replace('#', "!"),
        Some(path) => format!("{origin}/~{path}"),
    }
}

/// Returns the snapshot of a tab without its page, but with its dialog.
fn of_tab(tab: &Tab, store_urls: bool) -> Snapshot {
    let site = site::parse(&tab.url).filter(|_| tab.url.contains("://"));
    let path = site.as_ref().and_then(|_| pattern::path_hash(&tab.url));
    let place = place_of(&tab.url, path.as_deref(), store_urls);
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
        Some(dialog) => (vec![window(2, "DIALOG", "", 1, true), page], dialog::nodes(dialog)),
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
        names_controls: true,
        size: Some((1280, 900)),
        windows,
        nodes,
        ..Snapshot::default()
    }
}
