//! What happened apart from the page in front of a session: tabs that opened, downloads, and requests for files.

use afd_screen::page::outline::quoted;

use super::running::Running;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 60;

impl Running {
    /// Returns what has happened for a session since it asked last; `None` if nothing has.
    pub fn news(&self, owner: &str) -> Option<String> {
        let mut all = Default::default();
        self.tabs.send_if_modified(|tabs| {
            all = tabs.take_news(owner);
            false
        });
        let (opened, downloads, asks) = all;
        let mut news: Vec<String> = opened.iter().map(|id| format!("opened tab {id}")).collect();
        news.extend(downloads.iter().map(|name| format!("download of {} began", quoted(name, MAX_NAME))));
        if asks {
            news.push("the page asks for a file, which an upload to the same element gives".to_owned());
        }
        (!news.is_empty()).then(|| news.join("; "))
    }
}
