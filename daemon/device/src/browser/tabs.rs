//! The tabs of a browser, as its events report them, and which session uses which.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;

use super::cdp::{CLOSED, Event, text};
use super::downloads::{Downloads, is_about_download};
use super::tab::{Chooser, Tab};

/// Time after which another session may take a tab that its session has not used.
const UNUSED: Duration = Duration::from_secs(3_600);

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

/// What an event asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duty {
    /// A download with this id must be stopped.
    Stop(String),
    /// A page that a session uses opened a tab with this target, to which nothing is attached yet.
    Attach(String),
    /// A tab with this target began to load this address before anything was attached to it.
    Judge {
        /// The target.
        target: String,
        /// Its address.
        url: String,
    },
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

/// The tabs of a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tabs {
    tabs: Vec<Tab>,
    frames: Vec<ForeignFrame>,
    /// Whether the browser belongs to the user: nothing is attached to the tabs that no session uses.
    of_user: bool,
    /// Number of tabs that were opened so far.
    opened: u64,
    /// Number of times that a tab was opened or chosen so far.
    chosen: u64,
    /// The files that pages gave to the user.
    pub downloads: Downloads,
}

impl Tabs {
    /// Creates an empty list, for a browser that belongs to the user or not.
    pub fn new(of_user: bool, downloads: Downloads) -> Self {
        Self { of_user, downloads, ..Self::default() }
    }

    /// Returns the tab that a session uses: the one that it chose last, or that its pages opened last.
    pub fn current(&self, owner: &str) -> Option<&Tab> {
        let own = self.tabs.iter().filter(|tab| tab.owner.as_deref() == Some(owner) && !tab.session.is_empty());
        own.max_by_key(|tab| tab.chosen)
    }

    /// Returns the tab that a session of the protocol is attached to.
    pub fn get(&self, session: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.session == session)
    }

    /// Returns the tab with a target.
    pub fn of_target(&self, target: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.target == target)
    }

    /// Returns the tabs in the order in which they were opened.
    pub fn all(&self) -> impl Iterator<Item = &Tab> {
        self.tabs.iter().filter(|tab| tab.is_page())
    }

    /// Returns the number of tabs that were not opened by the user.
    pub fn own(&self) -> usize {
        self.tabs.iter().filter(|tab| !tab.of_user).count()
    }

    /// Gives a session a tab that no session uses, if there is one: the one that was chosen last. Tabs of the user are never
    /// taken. Returns whether there was one.
    pub fn claim(&mut self, owner: &str) -> bool {
        let is_free = |tab: &&Tab| tab.owner.is_none() || tab.used.elapsed() > UNUSED;
        let ours = self.tabs.iter().filter(|tab| !tab.of_user && !tab.session.is_empty());
        let free = ours.filter(is_free).max_by_key(|tab| (tab.owner.is_none(), tab.chosen));
        let Some(target) = free.map(|tab| tab.target.clone()) else { return false };
        self.choose(&target, owner);
        let claimed = self.tabs.iter_mut().find(|tab| tab.target == target);
        claimed
            .into_iter()
            .for_each(|tab| tab.leads_back = tab.former.as_deref().is_some_and(|former| former != owner));
        true
    }

    /// Makes the tab with a target the one that a session uses.
    pub fn choose(&mut self, target: &str, owner: &str) {
        self.chosen += 1;
        let chosen = self.chosen;
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.target == target) {
            tab.former = tab.owner.replace(owner.to_owned()).or_else(|| tab.former.take());
            (tab.chosen, tab.is_news) = (chosen, false);
            tab.used = Instant::now();
        }
    }

    /// Marks a tab as one that was not opened by the user.
    pub fn set_ours(&mut self, target: &str) {
        self.tabs.iter_mut().filter(|tab| tab.target == target).for_each(|tab| tab.of_user = false);
    }

    /// Notes that a session uses its current tab.
    pub fn touch(&mut self, owner: &str) {
        let target = self.current(owner).map(|tab| tab.target.clone());
        let current = self.tabs.iter_mut().find(|tab| Some(&tab.target) == target.as_ref());
        current.into_iter().for_each(|tab| tab.used = Instant::now());
    }

    /// Gives the tabs of a session to another one, or to none. Without another session, one tab is kept for whoever needs one;
    /// returns the other ones.
    pub fn hand_over(&mut self, owner: &str, to: Option<&str>) -> Vec<Tab> {
        let kept = self.tabs.iter().filter(|tab| tab.owner.as_deref() == Some(owner) && !tab.of_user);
        let kept = kept.max_by_key(|tab| tab.chosen).map(|tab| tab.target.clone());
        let own = self.tabs.iter_mut().filter(|tab| tab.owner.as_deref() == Some(owner));
        let mut left = Vec::new();
        for tab in own {
            tab.former = tab.owner.clone();
            tab.owner = to.map(str::to_owned);
            if to.is_none() && Some(&tab.target) != kept.as_ref() {
                left.push(tab.clone());
            }
        }
        self.downloads.hand_over(owner, to);
        left
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

    /// Returns the tab with a session, or the one around the frame with this session.
    pub fn around(&mut self, session: &str) -> Option<&mut Tab> {
        let mut session = session;
        // Each frame is listed after the one around it.
        for frame in self.frames.iter().rev() {
            if frame.session == session {
                session = &frame.around;
            }
        }
        self.tabs.iter_mut().find(|tab| tab.session == session)
    }

    fn of_session(&mut self, session: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.session == session && !session.is_empty())
    }

    /// Applies an event. Returns what it asks for.
    pub fn apply(&mut self, event: &Event) -> Option<Duty> {
        let params = &event.params;
        if is_about_download(event) {
            let frame = params["frameId"].as_str().unwrap_or_default();
            let in_frame = self.frames.iter().find(|one| one.id == frame).map(|one| one.session.clone());
            let around = in_frame.and_then(|session| self.around(&session).and_then(|tab| tab.owner.clone()));
            let holds = |tab: &&Tab| tab.target == frame || tab.frames.contains(frame);
            let owner = around.or_else(|| self.tabs.iter().find(holds)?.owner.clone());
            return self.downloads.apply(event, owner).map(Duty::Stop);
        }
        let info = &params["targetInfo"];
        match event.method.as_str() {
            "Target.attachedToTarget" => return Some(self.attach(event)),
            "Target.targetCreated" if info["type"] == "page" => return self.add(info),
            "Fetch.requestPaused" => {
                return Some(Duty::Check {
                    session: event.session.clone(),
                    request: text(&params["requestId"]),
                    url: text(&params["request"]["url"]),
                });
            }
            "Target.detachedFromTarget" => {
                let session = text(&params["sessionId"]);
                self.of_session(&session).into_iter().for_each(Tab::detach);
                self.frames.retain(|frame| frame.session != session);
            }
            "Target.targetDestroyed" => self.tabs.retain(|tab| params["targetId"] != tab.target.as_str()),
            "Target.targetInfoChanged" => {
                if let Some(tab) = self.tabs.iter_mut().find(|tab| info["targetId"] == tab.target.as_str()) {
                    (tab.url, tab.title) = (text(&info["url"]), text(&info["title"]));
                    if tab.is_unchecked && tab.url.contains("://") {
                        return Some(Duty::Judge { target: tab.target.clone(), url: tab.url.clone() });
                    }
                }
            }
            "Page.fileChooserOpened" => {
                let several = params["mode"] == "selectMultiple";
                let session = event.session.clone();
                let chooser = params["backendNodeId"].as_i64().map(|node| Chooser { session, node, several });
                self.around(&event.session).into_iter().for_each(|tab| tab.chooser.clone_from(&chooser));
            }
            CLOSED => *self = Self::default(),
            _ => self.of_session(&event.session).into_iter().for_each(|tab| tab.apply(event)),
        }
        None
    }

    /// Adds a tab, unless it is known. A tab that a session's page opened is that session's.
    fn add(&mut self, info: &Value) -> Option<Duty> {
        let target = text(&info["targetId"]);
        if self.of_target(&target).is_some() {
            return None;
        }
        self.opened += 1;
        self.chosen += 1;
        let mut tab = Tab { chosen: self.chosen, ..Tab::new(info, self.opened) };
        let opener = info["openerId"].as_str().and_then(|opener| self.of_target(opener));
        if let Some(opener) = opener {
            (tab.owner, tab.of_user, tab.is_news) = (opener.owner.clone(), opener.of_user, opener.owner.is_some());
        }
        let asks = self.of_user && tab.is_news;
        self.tabs.push(tab);
        asks.then_some(Duty::Attach(target))
    }

    /// Notes that a session was attached to a tab or a frame.
    fn attach(&mut self, event: &Event) -> Duty {
        let (session, info) = (text(&event.params["sessionId"]), &event.params["targetInfo"]);
        match info["type"].as_str() {
            Some("page") => {
                self.add(info);
                let tab = self.tabs.iter_mut().find(|tab| info["targetId"] == tab.target.as_str());
                let of_user = self.of_user;
                tab.into_iter().for_each(|tab| {
                    tab.attach(&session);
                    tab.is_unchecked = of_user && tab.url != "about:blank";
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

    /// Returns what has happened apart from the page in front of a session, and was not reported yet: the tabs that opened,
    /// the names of the downloads that began, and whether a page asks for files.
    pub fn take_news(&mut self, owner: &str) -> (Vec<String>, Vec<String>, bool) {
        let (mut opened, mut asks) = (Vec::new(), false);
        for tab in self.tabs.iter_mut().filter(|tab| tab.owner.as_deref() == Some(owner)) {
            if std::mem::take(&mut tab.is_news) {
                opened.push(tab.id());
            }
            asks |= tab.chooser.take().is_some();
        }
        (opened, self.downloads.take_news(owner), asks)
    }

    /// Returns what the page in a tab drags, and forgets it.
    pub fn take_dragged(&mut self, session: &str) -> Option<Value> {
        self.of_session(session).and_then(|tab| tab.dragged.take())
    }

    /// Returns what a tool of the page in a tab answered to a call, and forgets it.
    pub fn take_answer(&mut self, session: &str, call: &str) -> Option<Result<String, String>> {
        self.of_session(session).and_then(|tab| tab.published.take_answer(call))
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

    /// Marks a tab as one from which going back leads nowhere.
    pub fn set_first_page(&mut self, session: &str) {
        self.of_session(session).into_iter().for_each(|tab| tab.leads_back = false);
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

    fn open(tabs: &mut Tabs, n: &str, opener: Option<&str>) -> Option<Duty> {
        let opener = opener.map(|opener| format!("t{opener}"));
        let info = json!({"targetId": format!("t{n}"), "type": "page", "url": "http://a.example/", "title": n, "openerId": opener});
        tabs.apply(&event("Target.attachedToTarget", "", json!({"sessionId": n, "targetInfo": info})))
    }

    fn current<'a>(tabs: &'a Tabs, owner: &str) -> Option<&'a str> {
        tabs.current(owner).map(|tab| tab.title.as_str())
    }

    #[test]
    fn a_tab_that_a_page_opens_is_current_until_it_is_closed() {
        let mut tabs = Tabs::default();
        assert_eq!(open(&mut tabs, "1", None), Some(Duty::Watch("1".to_owned())));
        tabs.choose("t1", "a");
        open(&mut tabs, "2", Some("1"));
        let worker = json!({"sessionId": "w", "targetInfo": {"targetId": "w", "type": "service_worker"}});
        tabs.apply(&event("Target.attachedToTarget", "", worker));
        assert_eq!(tabs.all().count(), 2, "a worker is no tab");
        tabs.apply(&event("Page.frameStoppedLoading", "2", json!({"frameId": "frame in it"})));
        assert!(tabs.current("a").is_some_and(|tab| tab.title == "2" && tab.loading), "another frame has loaded");
        tabs.apply(&event("Page.frameStoppedLoading", "2", json!({"frameId": "t2"})));
        assert!(tabs.current("a").is_some_and(|tab| !tab.loading));
        assert_eq!(tabs.take_news("a"), (vec!["t2".to_owned()], Vec::new(), false));
        assert!(tabs.take_news("a").0.is_empty());
        tabs.apply(&event("Target.detachedFromTarget", "", json!({"sessionId": "2"})));
        assert_eq!(current(&tabs, "a"), Some("1"));
    }

    #[test]
    fn each_session_uses_its_own_tabs() {
        let mut tabs = Tabs::default();
        open(&mut tabs, "1", None);
        assert!(!tabs.claim("a"), "the user may have opened it");
        tabs.set_ours("t1");
        assert!(tabs.claim("a") && !tabs.claim("b"));
        open(&mut tabs, "2", None);
        tabs.choose("t2", "b");
        open(&mut tabs, "3", Some("1"));
        assert_eq!((current(&tabs, "a"), current(&tabs, "b")), (Some("3"), Some("2")));
        tabs.hand_over("a", Some("c"));
        assert_eq!((current(&tabs, "a"), current(&tabs, "c")), (None, Some("3")));
        let left = tabs.hand_over("c", None);
        assert_eq!(left.iter().map(|tab| tab.title.as_str()).collect::<Vec<_>>(), ["1"], "one is enough for the next");
        assert!(tabs.claim("d"));
        assert_eq!(current(&tabs, "d"), Some("3"), "the one that was used last");
    }

    #[test]
    fn nothing_is_attached_to_tabs_of_the_user_but_to_those_that_a_session_opens() {
        let mut tabs = Tabs::new(true, Downloads::default());
        let created = |n: &str, url: &str, opener: Option<&str>| {
            let info = json!({"targetId": n, "type": "page", "url": url, "openerId": opener});
            event("Target.targetCreated", "", json!({"targetInfo": info}))
        };
        assert_eq!(tabs.apply(&created("mail", "https://mail.example/", None)), None);
        assert_eq!(tabs.apply(&created("options", "chrome://settings", None)), None);
        assert_eq!(tabs.apply(&created("popup", "https://mail.example/", Some("mail"))), None);
        tabs.apply(&created("own", "about:blank", None));
        tabs.choose("own", "a");
        assert_eq!(tabs.apply(&created("more", "https://b.example/", Some("own"))), Some(Duty::Attach("more".into())));
        let ids: Vec<&str> = tabs.all().map(|tab| tab.target.as_str()).collect();
        assert_eq!(ids, ["mail", "popup", "own", "more"]);
    }
}
