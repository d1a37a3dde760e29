//! What happened apart from the page in front: tabs that opened, downloads, and requests for files.

use afd_screen::page::outline::quoted;

use super::running::Running;
use super::tabs::Before;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 60;

impl Running {
    /// Returns what has happened since this was asked last; `None` if nothing has.
    pub fn news(&self) -> Option<String> {
        let mut asks = false;
        self.tabs.send_if_modified(|tabs| {
            asks = tabs.chooser.take().is_some();
            false
        });
        let tabs = self.tabs.borrow();
        let now = Before { opened: tabs.opened, downloads: tabs.downloads.begun() };
        let before = std::mem::replace(&mut *self.before.lock(), now);
        let mut news = Vec::new();
        if tabs.opened > before.opened {
            news.push(format!("opened tab t{}", tabs.opened));
        }
        let begun = tabs.downloads.names_since(before.downloads);
        news.extend(begun.map(|name| format!("download of {} began", quoted(name, MAX_NAME))));
        if asks {
            news.push("the page asks for a file, which an upload to the same element gives".to_owned());
        }
        (!news.is_empty()).then(|| news.join("; "))
    }
}
