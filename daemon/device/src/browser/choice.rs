//! Which tab a session uses: listing, opening, choosing and closing tabs.

use std::time::Duration;

use afd_proto::device::TabInfo;
use futures_util::future::join_all;
use serde_json::json;

use super::cdp::CdpError;
use super::running::{LOADED_WITHIN, Running, leave};
use super::tab::Tab;
use super::tabs::{self, Tabs};
use crate::DriverError;

/// Maximum number of tabs that sessions may have together.
const MAX_TABS: usize = 100;

fn refused(message: String) -> DriverError {
    DriverError::Refused { status: None, message: message.into() }
}

impl Running {
    /// Returns the tabs, in the order in which they were opened.
    pub async fn list(&self, owner: &str) -> Result<Vec<TabInfo>, DriverError> {
        // The browser does not announce each change of a title.
        let known = self.cdp.call("", "Target.getTargets", json!({})).await.map_err(CdpError::of_read)?;
        let known = known["targetInfos"].as_array().cloned().unwrap_or_default();
        let title = |tab: &Tab| known.iter().find(|info| info["targetId"] == tab.target.as_str())?["title"].as_str();
        let tabs = self.tabs.borrow();
        let current = tabs.current(owner).map(|tab| tab.number);
        let info = |tab: &Tab| TabInfo {
            tab: tab.id(),
            title: title(tab).unwrap_or(&tab.title).to_owned(),
            url: tab.url.clone(),
            current: current == Some(tab.number),
            used_by: tab.owner.clone(),
        };
        Ok(tabs.all().map(info).collect())
    }

    /// Returns a tab for a session that has none: one that no session uses, else a new one. It shows the start page, unless the
    /// same session used it before.
    pub async fn new_for(&self, owner: &str) -> Result<Tab, DriverError> {
        let other = {
            let _opening = self.opening.lock().await;
            let mut claimed = false;
            self.tabs.send_modify(|tabs| claimed = tabs.current(owner).is_some() || tabs.claim(owner));
            let known = self.tabs.borrow().current(owner).filter(|_| claimed).cloned();
            match known {
                Some(tab) => Some(tab).filter(|tab| tab.leads_back),
                None => Some(self.open(owner).await?),
            }
        };
        if let Some(tab) = other {
            self.show_start_page(&tab).await?;
        }
        let tab = self.tabs.borrow().current(owner).cloned();
        tab.ok_or_else(|| DriverError::Unreachable("the tab was closed".into()))
    }

    /// Takes the tab with which the browser has started, and opens the start page in it.
    pub async fn open_first(&self, timeout: Duration) -> Result<(), DriverError> {
        let mut tabs = self.tabs.subscribe();
        let has_tab = tabs.wait_for(|tabs| tabs.all().any(|tab| tab.watched));
        let first = tokio::time::timeout(timeout, has_tab).await.ok().and_then(Result::ok);
        let first = first.and_then(|tabs| tabs.all().find(|tab| tab.watched).cloned());
        let first = first.ok_or_else(|| DriverError::Unreachable("the browser has no tab".into()))?;
        self.tabs.send_modify(|tabs| tabs.set_ours(&first.target));
        self.show_start_page(&first).await
    }

    /// Opens the start page in a tab. One that cannot be opened does not keep others from being opened.
    async fn show_start_page(&self, tab: &Tab) -> Result<(), DriverError> {
        let opened = self.navigate(&tab.session, &self.start_page).await;
        if self.cdp.is_closed() { opened } else { Ok(()) }
    }

    /// Gives the tabs of a session to another one, or to whichever session needs one next. Those that none needs are closed.
    pub fn hand_over(&self, owner: &str, to: Option<&str>) {
        let mut left = Vec::new();
        self.tabs.send_modify(|tabs| left = tabs.hand_over(owner, to));
        // In a browser of the daemon, the user's tabs are driven as well.
        left.iter().filter(|tab| !tab.of_user || self.is_of_user()).for_each(|tab| leave(&self.cdp, Some(tab)));
    }

    /// Closes the tabs that sessions opened in a browser of the user.
    pub async fn close_own(&self) {
        let own = self.to_close();
        let close = |tab: &Tab| self.cdp.call("", "Target.closeTarget", json!({"targetId": tab.target}));
        join_all(own.iter().map(close)).await;
    }

    /// Returns the tabs that sessions opened in a browser of the user; none, if the browser ends with the daemon.
    fn to_close(&self) -> Vec<Tab> {
        let tabs = self.tabs.borrow();
        tabs.all().filter(|tab| self.is_of_user() && !tab.of_user).cloned().collect()
    }

    /// Opens an empty tab for a session.
    async fn open(&self, owner: &str) -> Result<Tab, DriverError> {
        if self.tabs.borrow().own() >= MAX_TABS {
            return Err(refused(format!("there are {MAX_TABS} tabs already; close some, or end sessions")));
        }
        // A window of the user stays as it is.
        let params = json!({"url": "about:blank", "background": self.is_of_user()});
        let opened = self.cdp.call("", "Target.createTarget", params).await.map_err(CdpError::of_input)?;
        let target = opened["targetId"].as_str().unwrap_or_default();
        let tab = self.use_tab(target, owner).await;
        self.tabs.send_modify(|tabs| tabs.set_ours(target));
        tab
    }

    /// Makes a tab the one that a session uses, once it reports its events.
    async fn use_tab(&self, target: &str, owner: &str) -> Result<Tab, DriverError> {
        let mut tabs = self.tabs.subscribe();
        let is_known = |tabs: &Tabs| tabs.of_target(target).is_some();
        let _ = tokio::time::timeout(LOADED_WITHIN, tabs.wait_for(is_known)).await.is_ok();
        let is_attached = |tabs: &Tabs| tabs.of_target(target).is_some_and(|tab| !tab.session.is_empty());
        if self.is_of_user() && !is_attached(&self.tabs.borrow()) {
            let params = json!({"targetId": target, "flatten": true});
            self.cdp.call("", "Target.attachToTarget", params).await.map_err(CdpError::of_read)?;
        }
        let is_watched = |tabs: &Tabs| tabs.of_target(target).is_some_and(|tab| tab.watched);
        let _ = tokio::time::timeout(LOADED_WITHIN, tabs.wait_for(is_watched)).await.is_ok();
        let tab = self.tabs.borrow().of_target(target).filter(|tab| !tab.session.is_empty()).cloned();
        let tab = tab.ok_or_else(|| DriverError::Unreachable("the tab did not open".into()))?;
        // The user may have opened another page in it meanwhile.
        if tab.of_user && self.rules.check(&tab.url).is_err() {
            if self.is_of_user() {
                leave(&self.cdp, Some(&tab));
            }
            return Err(refused(format!(
                "tab {} shows a page that the settings do not allow (`browser.allow_private`, `allow` and `deny` of the device)",
                tab.id()
            )));
        }
        self.tabs.send_modify(|tabs| tabs.choose(target, owner));
        Ok(tab)
    }

    /// Makes the tab with an id the one that a session uses; `new` opens an empty tab.
    pub async fn choose(&self, owner: &str, id: &str) -> Result<(), DriverError> {
        let _opening = self.opening.lock().await;
        if id == "new" {
            return self.open(owner).await.map(|_| ());
        }
        let tab = self.tab_of(owner, id)?;
        if tab.of_user && self.rules.check(&tab.url).is_err() {
            return Err(refused(format!(
                "tab {id} shows a page that the settings do not allow (`browser.allow_private`, `allow` and `deny` of the device)"
            )));
        }
        if !self.is_of_user() {
            let shown = self.cdp.call("", "Target.activateTarget", json!({"targetId": tab.target})).await;
            shown.map_err(CdpError::of_input)?;
        }
        self.use_tab(&tab.target, owner).await.map(|_| ())
    }

    /// Closes the tab with an id. The last tab is not closed, because the browser would end.
    pub async fn close(&self, owner: &str, id: &str) -> Result<(), DriverError> {
        let tab = self.tab_of(owner, id)?;
        if self.tabs.borrow().all().count() == 1 {
            return Err(refused("it is the only tab".to_owned()));
        }
        if tab.of_user && self.is_of_user() {
            return Err(refused("the user opened it, and only the user closes it".to_owned()));
        }
        let closed = self.cdp.call("", "Target.closeTarget", json!({"targetId": tab.target})).await;
        closed.map_err(CdpError::of_input)?;
        let mut tabs = self.tabs.subscribe();
        // A page may ask whether to leave it.
        let done = tabs::until(&mut tabs, &tab.session, |tab| tab.is_none_or(|tab| tab.dialog.is_some()));
        let _ = tokio::time::timeout(LOADED_WITHIN, done).await;
        Ok(())
    }

    /// Returns the tab with an id, unless another session uses it.
    fn tab_of(&self, owner: &str, id: &str) -> Result<Tab, DriverError> {
        let found = self.tabs.borrow().all().find(|tab| tab.id() == id).cloned();
        let tab = found.ok_or_else(|| refused(format!("there is no tab {id}")))?;
        match tab.owner.as_deref().filter(|other| *other != owner) {
            Some(other) => Err(refused(format!("session {other:?} uses tab {id}"))),
            None => Ok(tab),
        }
    }

    /// Returns whether the browser belongs to the user: the daemon has not started it.
    pub fn is_of_user(&self) -> bool {
        self.process.is_none()
    }
}

impl Drop for Running {
    /// Closes what [`Self::close_own`] closes, without waiting.
    fn drop(&mut self) {
        self.to_close().iter().for_each(|tab| leave(&self.cdp, Some(tab)));
    }
}
