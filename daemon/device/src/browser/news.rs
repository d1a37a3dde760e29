//! What an input caused beside the page in front: tabs, downloads, and requests for files.

use afd_base::text::cut;

use super::running::Running;
use super::tabs::Before;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 60;

impl Running {
    /// Notes what there is before an input.
    pub fn begin(&self) {
        self.tabs.send_if_modified(|tabs| {
            tabs.chooser = None;
            *self.before.lock() = Before { opened: tabs.opened, downloads: tabs.downloads.names().count() };
            false
        });
    }

    /// Returns what has happened since the last input began; `None` if nothing has.
    pub fn news(&self) -> Option<String> {
        let (tabs, before) = (self.tabs.borrow(), self.before.lock());
        let mut news = Vec::new();
        if tabs.opened > before.opened {
            news.push(format!("opened tab t{}", tabs.opened));
        }
        let quoted = |name: &str| format!("\"{}\"", cut::one_line(cut::head(name, MAX_NAME)).replace('"', "'"));
        news.extend(
            tabs.downloads.names().skip(before.downloads).map(|name| format!("download of {} began", quoted(name))),
        );
        if tabs.chooser.is_some() {
            news.push("the page asks for a file, which an upload to the same element gives".to_owned());
        }
        (!news.is_empty()).then(|| news.join("; "))
    }
}
