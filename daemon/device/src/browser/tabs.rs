//! The tabs of a browser, as its events report them.

use serde_json::Value;
use tokio::sync::watch;

use super::cdp::{CLOSED, Event};
use super::downloads::{Downloads, is_about_download};

/// A dialog that a page shows: a message, a question, or a request for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Kind of the dialog: `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// Message of the page.
    pub message: String,
    /// Text typed into the dialog so far.
    pub text: String,
}

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// Id of the target.
    pub target: String,
    /// Id of the session that is attached to it.
    pub session: String,
    /// Address that it shows.
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Whether the tab reports its events.
    pub watched: bool,
    /// Whether the page is still loading.
    pub loading: bool,
    /// The dialog that the page shows.
    pub dialog: Option<Dialog>,
    /// Whether the page has crashed.
    pub crashed: bool,
    /// Number of the tab, counted from 1 in the order in which the tabs were opened.
    pub number: u64,
    /// What the page drags, as the browser describes it.
    pub dragged: Option<Value>,
}

impl Tab {
    /// Applies an event of the tab.
    fn apply(&mut self, event: &Event) {
        let params = &event.params;
        match event.method.as_str() {
            // The main frame of a tab has the id of its target.
            "Page.frameStartedLoading" if params["frameId"] == self.target.as_str() => self.loading = true,
            "Page.frameStoppedLoading" if params["frameId"] == self.target.as_str() => self.loading = false,
            "Page.javascriptDialogOpening" => {
                self.dialog = Some(Dialog {
                    kind: text(&params["type"]),
                    message: text(&params["message"]),
                    text: text(&params["defaultPrompt"]),
                });
            }
            "Page.javascriptDialogClosed" => self.dialog = None,
            "Input.dragIntercepted" => self.dragged = Some(params["data"].clone()),
            "Inspector.targetCrashed" => (self.crashed, self.dialog) = (true, None),
            _ => {}
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A frame of another site than the page around it. The browser reads it in a session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFrame {
    /// Id of the frame.
    pub id: String,
    /// Session that is attached to it.
    pub session: String,
    /// Session of the page or frame around it.
    pub around: String,
}

/// A page or frame asks for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chooser {
    /// Session of the page or frame.
    pub session: String,
    /// Id of the field, in that session.
    pub node: i64,
    /// Whether it takes several files.
    pub several: bool,
}

/// What an event asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duty {
    /// A download with this id must be stopped.
    Stop(String),
    /// A tab, or a frame, with this session was opened, and waits until it is watched.
    Watch(String),
    /// A page or frame is about to be loaded, and waits until its address has been checked.
    Check {
        /// Session of the tab or frame.
        session: String,
        /// Id of the request.
        request: String,
        /// Address that is loaded.
        url: String,
    },
}

/// What was reported last.
#[derive(Debug, Default)]
pub struct Before {
    /// Number of tabs that had been opened.
    pub opened: u64,
    /// Number of downloads that had begun.
    pub downloads: u64,
}

/// The tabs of a browser. The last one in the list is the current one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tabs {
    tabs: Vec<Tab>,
    frames: Vec<ForeignFrame>,
    /// Number of tabs that were opened so far.
    pub opened: u64,
    /// The files that pages gave to the user.
    pub downloads: Downloads,
    /// What asked for files last.
    pub chooser: Option<Chooser>,
}

impl Tabs {
    /// Returns the current tab: the one that was opened or chosen last.
    pub fn current(&self) -> Option<&Tab> {
        self.tabs.last()
    }

    /// Returns the tab with a session.
    pub fn get(&self, session: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.session == session)
    }

    /// Returns the tabs in the order in which they were opened.
    pub fn all(&self) -> Vec<&Tab> {
        let mut all: Vec<&Tab> = self.tabs.iter().collect();
        all.sort_by_key(|tab| tab.number);
        all
    }

    /// Makes a tab the current one.
    pub fn choose(&mut self, session: &str) {
        if let Some(at) = self.tabs.iter().position(|tab| tab.session == session) {
            let tab = self.tabs.remove(at);
            self.tabs.push(tab);
        }
    }

    /// Returns the frames of other sites in a tab. Each comes after the frame around it.
    pub fn frames(&self, session: &str) -> Vec<ForeignFrame> {
        let mut found: Vec<ForeignFrame> = Vec::new();
        for frame in &self.frames {
            if frame.around == session || found.iter().any(|outer| outer.session == frame.around) {
                found.push(frame.clone());
            }
        }
        found
    }

    fn of_session(&mut self, session: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.session == session)
    }

    /// Applies an event. Returns what it asks for.
    pub fn apply(&mut self, event: &Event) -> Option<Duty> {
        let params = &event.params;
        if is_about_download(event) {
            return self.downloads.apply(event).map(Duty::Stop);
        }
        match event.method.as_str() {
            "Target.attachedToTarget" => return Some(self.attach(event)),
            "Fetch.requestPaused" => {
                return Some(Duty::Check {
                    session: event.session.clone(),
                    request: text(&params["requestId"]),
                    url: text(&params["request"]["url"]),
                });
            }
            "Target.detachedFromTarget" => {
                let session = text(&params["sessionId"]);
                self.tabs.retain(|tab| tab.session != session);
                self.frames.retain(|frame| frame.session != session);
            }
            "Target.targetInfoChanged" => {
                let info = &params["targetInfo"];
                if let Some(tab) = self.tabs.iter_mut().find(|tab| info["targetId"] == tab.target.as_str()) {
                    (tab.url, tab.title) = (text(&info["url"]), text(&info["title"]));
                }
            }
            "Page.fileChooserOpened" => {
                let several = params["mode"] == "selectMultiple";
                let node = params["backendNodeId"].as_i64();
                self.chooser = node.map(|node| Chooser { session: event.session.clone(), node, several });
            }
            CLOSED => *self = Self::default(),
            _ => self.of_session(&event.session).into_iter().for_each(|tab| tab.apply(event)),
        }
        None
    }

    /// Adds the tab or frame that a session was attached to.
    fn attach(&mut self, event: &Event) -> Duty {
        let (session, info) = (text(&event.params["sessionId"]), &event.params["targetInfo"]);
        match info["type"].as_str() {
            Some("page") => {
                self.opened += 1;
                self.tabs.push(Tab {
                    target: text(&info["targetId"]),
                    session: session.clone(),
                    url: text(&info["url"]),
                    title: text(&info["title"]),
                    watched: false,
                    loading: info["url"] != "about:blank",
                    dialog: None,
                    crashed: false,
                    number: self.opened,
                    dragged: None,
                });
            }
            Some("iframe") => {
                let (id, around) = (text(&info["targetId"]), event.session.clone());
                self.frames.push(ForeignFrame { id, session: session.clone(), around });
            }
            _ => {}
        }
        Duty::Watch(session)
    }

    /// Returns what the page in a tab drags, and forgets it.
    pub fn take_dragged(&mut self, session: &str) -> Option<Value> {
        self.of_session(session).and_then(|tab| tab.dragged.take())
    }

    /// Changes the text typed into a dialog.
    pub fn set_dialog_text(&mut self, session: &str, change: impl FnOnce(&mut String)) {
        if let Some(dialog) = self.of_session(session).and_then(|tab| tab.dialog.as_mut()) {
            change(&mut dialog.text);
        }
    }

    /// Marks a tab as one that reports its events, and as loaded if it is.
    pub fn set_watched(&mut self, session: &str, loaded: bool) {
        self.of_session(session).into_iter().for_each(|tab| {
            tab.watched = true;
            tab.loading &= !loaded;
        });
    }

    /// Marks a tab as loading. A page that crashed is gone.
    pub fn set_loading(&mut self, session: &str) {
        self.of_session(session).into_iter().for_each(|tab| (tab.loading, tab.crashed) = (true, false));
    }
}

/// Waits until a condition holds for a tab, which may be gone.
pub async fn until(tabs: &mut watch::Receiver<Tabs>, session: &str, holds: impl Fn(Option<&Tab>) -> bool) {
    // There are no tabs when the browser has ended; the next request says so.
    let _ = tabs.wait_for(|tabs| holds(tabs.get(session))).await;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, session: &str, params: Value) -> Event {
        Event { method: method.to_owned(), session: session.to_owned(), params }
    }

    #[test]
    fn a_new_tab_is_current_until_it_is_closed() {
        let mut tabs = Tabs::default();
        for n in ["1", "2"] {
            let info = json!({"targetId": format!("t{n}"), "type": "page", "url": "http://a.example/", "title": n});
            let opened = tabs.apply(&event("Target.attachedToTarget", "", json!({"sessionId": n, "targetInfo": info})));
            assert_eq!(opened, Some(Duty::Watch(n.to_owned())));
        }
        let worker = json!({"sessionId": "w", "targetInfo": {"targetId": "w", "type": "service_worker"}});
        tabs.apply(&event("Target.attachedToTarget", "", worker));
        assert_eq!(tabs.all().len(), 2, "a worker is no tab");
        tabs.apply(&event("Page.frameStoppedLoading", "2", json!({"frameId": "frame in it"})));
        assert!(tabs.current().is_some_and(|tab| tab.title == "2" && tab.loading), "another frame has loaded");
        tabs.apply(&event("Page.frameStoppedLoading", "2", json!({"frameId": "t2"})));
        assert!(tabs.current().is_some_and(|tab| !tab.loading));
        tabs.apply(&event("Target.detachedFromTarget", "", json!({"sessionId": "2"})));
        assert!(tabs.current().is_some_and(|tab| tab.title == "1"));
    }
}
