//! A running browser: requests to its current tab, and snapshots of it.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};

use super::cdp::{Cdp, CdpError};
use super::tabs::{self, Tab, Tabs};
use super::{dialog, layout, tree};
use crate::DriverError;
use afd_screen::page::snapshot::{Snapshot, Window, WindowKind};
use afd_screen::page::{Flag, Node, Rect, pattern, site};

/// Name under which the memory keeps what it learns in browsers.
const APP: &str = "chromium";
/// Maximum wait for a page to load before it is read.
const LOADED_WITHIN: Duration = Duration::from_secs(5);
/// Maximum number of frames that are read in a page.
const MAX_FRAMES: usize = 30;
/// A running browser.
pub struct Running {
    /// Connection to the browser.
    pub cdp: Arc<Cdp>,
    /// Its tabs.
    pub tabs: watch::Sender<Tabs>,
    /// Name and version of the browser.
    pub version: String,
    /// What the current tab showed when it was read last.
    pub seen: Mutex<Seen>,
    /// Time of the last use.
    pub used: Mutex<Instant>,
    /// The process, which ends when this is dropped.
    pub _process: Child,
}

/// A page as it was read last.
#[derive(Default)]
pub struct Seen {
    /// Session of the tab.
    session: String,
    layout: layout::Layout,
    /// Ids and bounds of the elements that take input.
    inputs: Vec<(i64, Rect)>,
}

impl Seen {
    /// Returns whether a click at a point may be sent, given the topmost node `hit` at the point. If the last snapshot had
    /// elements there that take input, `hit` must belong to one of them, or to its label or frame.
    pub fn allows(&self, session: &str, (x, y): (f64, f64), hit: i64) -> bool {
        let mut there = self.inputs.iter().filter(|(_, bounds)| bounds.contains(x, y)).map(|(id, _)| *id).peekable();
        if self.session != session || there.peek().is_none() {
            return true;
        }
        let tag = |id: &i64| self.layout.elements.get(id).map_or("", |element| element.tag.as_str());
        let around: Vec<i64> = self.layout.around(hit).collect();
        let whole = around.iter().find(|id| matches!(tag(id), "LABEL" | "IFRAME" | "FRAME"));
        there.any(|id| {
            around.contains(&id) || whole.is_some_and(|whole| self.layout.around(id).any(|node| node == *whole))
        })
    }
}

/// Makes each new tab report its events.
pub async fn watch_tabs(mut opened: mpsc::UnboundedReceiver<String>, cdp: Weak<Cdp>, tabs: watch::Sender<Tabs>) {
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

    /// Returns the current tab once it has loaded, or shows a dialog.
    pub async fn tab(&self) -> Result<Tab, DriverError> {
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

    /// Returns whether a tab shows a dialog.
    pub fn has_dialog(&self, session: &str) -> bool {
        self.tabs.borrow().get(session).is_some_and(|tab| tab.dialog.is_some())
    }

    /// Like [`Self::ask`], but sends the request even if the page shows a dialog.
    pub async fn ask_session(&self, session: &str, method: &str, params: Value) -> Result<Option<Value>, CdpError> {
        let mut tabs = self.tabs.subscribe();
        tokio::select! {
            biased;
            answer = self.cdp.call(session, method, params) => answer.map(Some),
            () = tabs::until(&mut tabs, session, |tab| tab.is_none_or(|tab| tab.dialog.is_some())) => Ok(None),
        }
    }

    /// Reads the current tab.
    pub async fn snapshot(&self) -> Result<Snapshot, DriverError> {
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
                    Err(CdpError::Refused(_)) if *owner != 0 => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(metrics) = self.ask(&tab, "Page.getLayoutMetrics", json!({})).await? else { return Ok(None) };
            Ok(Some((layout, trees, metrics)))
        };
        let read: Result<_, CdpError> = read.await;
        let mut tab = self.tabs.borrow().get(&tab.session).cloned().unwrap_or(tab);
        let Some((layout, trees, metrics)) = read.map_err(CdpError::of_read)? else { return Ok(of_tab(&tab)) };
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
        let takes_input =
            |node: &&Node| node.is(Flag::Visible) && (node.is(Flag::Clickable) || node.is(Flag::Editable));
        let inputs = snapshot.nodes.iter().filter(takes_input);
        let inputs = inputs.filter_map(|node| Some((node.id.parse().ok()?, node.bounds))).collect();
        *self.seen.lock() = Seen { session: tab.session, layout, inputs };
        Ok(snapshot)
    }
}

/// Returns the place for an address. The place contains a hash of the path, because a path may contain typed text.
fn place_of(url: &str, path: Option<&str>) -> String {
    let pattern = pattern::of(url);
    let origin = pattern::origin(&pattern);
    path.map_or_else(|| format!("{origin}/"), |path| format!("{origin}/~{path}"))
}

/// Returns the snapshot of a tab without its page, but with its dialog.
pub fn of_tab(tab: &Tab) -> Snapshot {
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
        size: Some((1280, 900)),
        windows,
        nodes,
        ..Snapshot::default()
    }
}
