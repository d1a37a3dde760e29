//! A tab of a browser, as its events report it.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::Value;

use super::cdp::{Event, text};
use super::published::Published;

/// Maximum number of frames that are known in a page.
const MAX_FRAMES: usize = 1_000;

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

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// Id of the target.
    pub target: String,
    /// Id of the protocol's session that is attached to the tab; empty if none is, as for a tab of the user.
    pub session: String,
    /// The caller's session that uses the tab.
    pub owner: Option<String>,
    /// The session that used the tab before.
    pub former: Option<String>,
    /// Whether the user opened the tab, or a page that the user opened.
    pub of_user: bool,
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
    /// Number that is higher than those of the tabs that were chosen before.
    pub chosen: u64,
    /// Time of the last use.
    pub used: Instant,
    /// Whether one can go back from the page to one that another session saw.
    pub leads_back: bool,
    /// Whether a page opened the tab, and this was not reported yet.
    pub is_news: bool,
    /// Whether the page began to load before anything was attached to the tab, so that its address was not checked.
    pub is_unchecked: bool,
    /// Ids of the frames in the page.
    pub frames: HashSet<String>,
    /// What the page drags, as the browser describes it.
    pub dragged: Option<Value>,
    /// What in the page asked for files last.
    pub chooser: Option<Chooser>,
    /// Tools that the page publishes.
    pub published: Published,
}

impl Tab {
    /// Creates a tab from the browser's description of its target. Nothing is attached to it yet.
    pub fn new(info: &Value, number: u64) -> Self {
        Self {
            target: text(&info["targetId"]),
            session: String::new(),
            owner: None,
            former: None,
            of_user: true,
            url: text(&info["url"]),
            title: text(&info["title"]),
            watched: false,
            loading: false,
            dialog: None,
            crashed: false,
            number,
            chosen: number,
            used: Instant::now(),
            leads_back: false,
            is_news: false,
            is_unchecked: false,
            frames: HashSet::new(),
            dragged: None,
            chooser: None,
            published: Published::default(),
        }
    }

    /// Returns the name of the tab for callers.
    pub fn id(&self) -> String {
        format!("t{}", self.number)
    }

    /// Returns whether callers may see the tab. Windows of the browser itself, such as its settings, are none of them.
    pub fn is_page(&self) -> bool {
        let own = ["chrome:", "chrome-untrusted:", "chrome-extension:", "devtools:", "edge:", "brave:"];
        !self.session.is_empty() || !own.iter().any(|scheme| self.url.starts_with(scheme))
    }

    /// Marks the tab as one that a session of the protocol is attached to.
    pub fn attach(&mut self, session: &str) {
        session.clone_into(&mut self.session);
        (self.watched, self.loading, self.dialog) = (false, self.url != "about:blank", None);
        self.frames.clear();
    }

    /// Marks the tab as one that nothing is attached to.
    pub fn detach(&mut self) {
        self.session.clear();
        (self.watched, self.owner, self.dialog, self.chooser) = (false, None, None, None);
    }

    /// Applies an event of the tab.
    pub fn apply(&mut self, event: &Event) {
        let params = &event.params;
        self.published.apply(event);
        match event.method.as_str() {
            // The main frame of a tab has the id of its target.
            "Page.frameStartedLoading" if params["frameId"] == self.target.as_str() => self.loading = true,
            "Page.frameStoppedLoading" if params["frameId"] == self.target.as_str() => {
                // What it loads next is checked before.
                (self.loading, self.is_unchecked) = (false, false);
            }
            "Page.frameAttached" if self.frames.len() < MAX_FRAMES => {
                self.frames.insert(text(&params["frameId"]));
            }
            "Page.frameDetached" => {
                self.frames.remove(params["frameId"].as_str().unwrap_or_default());
            }
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
