//! Files that pages give to the user, as the events of the browser report them.

use std::path::PathBuf;

use afd_base::text::cut;
use serde_json::Value;

use super::cdp::Event;
use crate::{Download, DownloadState};

/// Maximum number of downloads that wait until they are taken.
const MAX_WAITING: usize = 20;
/// Maximum length of a file's name without its extension, in characters.
const MAX_NAME: usize = 60;
/// Maximum length of an extension, in bytes.
const MAX_EXTENSION: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Running {
    /// Id of the download, and name of its file.
    id: String,
    name: String,
    bytes: u64,
    state: State,
    /// The session in whose tab it began; `None` if that is unknown.
    owner: Option<String>,
    /// Whether its beginning was reported.
    told: bool,
}

impl Running {
    fn is_for(&self, owner: &str) -> bool {
        self.owner.as_deref().is_none_or(|own| own == owner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Complete,
    Failed,
}

/// The downloads of a browser that were not taken yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Downloads {
    all: Vec<Running>,
    /// Maximum size of a file, in bytes.
    max: u64,
    /// Directory of the files.
    dir: PathBuf,
}

impl Downloads {
    /// Creates an empty list, for files of at most `max` bytes in a directory.
    pub fn new(max: u64, dir: PathBuf) -> Self {
        Self { all: Vec::new(), max, dir }
    }

    /// Applies an event about a download in a tab of a session. Returns the id of a download that must be stopped, because it
    /// is too large or one too many.
    pub fn apply(&mut self, event: &Event, owner: Option<String>) -> Option<String> {
        let (params, max) = (&event.params, self.max);
        let id = params["guid"].as_str()?;
        match event.method.as_str() {
            "Browser.downloadWillBegin" => {
                let is_refused = self.all.iter().filter(|one| one.owner == owner).count() >= MAX_WAITING;
                if !is_refused {
                    let name = safe_name(params["suggestedFilename"].as_str().unwrap_or_default());
                    let (id, state) = (id.to_owned(), State::Running);
                    self.all.push(Running { id, name, bytes: 0, state, owner, told: false });
                }
                is_refused.then(|| id.to_owned())
            }
            "Browser.downloadProgress" => {
                let size = |name: &str| params[name].as_f64().unwrap_or_default() as u64;
                let Some(one) = self.all.iter_mut().find(|one| one.id == id && one.state == State::Running) else {
                    // One that was refused may have been complete before it was stopped.
                    let is_refused = self.all.iter().all(|one| one.id != id);
                    return (is_refused && params["state"] == "completed").then(|| id.to_owned());
                };
                one.bytes = size("receivedBytes");
                one.state = match params["state"].as_str() {
                    _ if one.bytes.max(size("totalBytes")) > max => State::Failed,
                    Some("completed") => State::Complete,
                    Some("canceled") => State::Failed,
                    _ => return None,
                };
                (one.state == State::Failed).then(|| id.to_owned())
            }
            _ => None,
        }
    }

    /// Returns the path of the file of a download.
    pub fn file(&self, id: &str) -> PathBuf {
        self.dir.join(id)
    }

    /// Returns the names of a session's downloads that began and were not reported yet.
    pub fn take_news(&mut self, owner: &str) -> Vec<String> {
        let new = self.all.iter_mut().filter(|one| one.is_for(owner) && !one.told);
        new.map(|one| {
            one.told = true;
            one.name.clone()
        })
        .collect()
    }

    /// Gives the downloads of a session to another one, or to whichever asks.
    pub fn hand_over(&mut self, owner: &str, to: Option<&str>) {
        let own = self.all.iter_mut().filter(|one| one.owner.as_deref() == Some(owner));
        own.for_each(|one| one.owner = to.map(str::to_owned));
    }

    /// Returns whether a session has downloads.
    pub fn has_any(&self, owner: &str) -> bool {
        self.all.iter().any(|one| one.is_for(owner))
    }

    /// Returns whether a download of a session still runs.
    pub fn is_busy(&self, owner: &str) -> bool {
        self.all.iter().any(|one| one.is_for(owner) && one.state == State::Running)
    }

    /// Returns the downloads of a session. Only those that still run are kept.
    pub fn take(&mut self, owner: &str) -> Vec<Download> {
        let shown = |one: &Running| Download {
            name: one.name.clone(),
            bytes: one.bytes,
            state: match one.state {
                State::Running => DownloadState::Running,
                State::Complete => DownloadState::Complete(self.dir.join(&one.id)),
                State::Failed => {
                    // A file that turned out to be too large may be complete.
                    let _ = std::fs::remove_file(self.dir.join(&one.id));
                    DownloadState::Failed
                }
            },
        };
        let all = self.all.iter().filter(|one| one.is_for(owner)).map(shown).collect();
        self.all.retain(|one| !one.is_for(owner) || one.state == State::Running);
        all
    }
}

/// Returns a name for a file that a page has named: without directories and control characters, not hidden, and of
/// limited length.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().filter(|c| !c.is_control() && !"<>:\"|?*".contains(*c)).collect();
    let plain = plain.trim().trim_start_matches('.');
    let (stem, extension) = plain.rsplit_once('.').filter(|(_, e)| e.len() <= MAX_EXTENSION).unwrap_or((plain, ""));
    let stem = cut::head(stem, MAX_NAME);
    match (stem.is_empty(), extension.is_empty()) {
        (true, true) => "download".to_owned(),
        (true, false) => format!("download.{extension}"),
        (false, true) => stem.to_owned(),
        (false, false) => format!("{stem}.{extension}"),
    }
}

/// Returns whether an event is about a download.
pub fn is_about_download(event: &Event) -> bool {
    matches!(event.method.as_str(), "Browser.downloadWillBegin" | "Browser.downloadProgress")
        && event.params["guid"] != Value::Null
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, params: Value) -> Event {
        Event { method: method.to_owned(), session: String::new(), params }
    }

    #[test]
    fn names_of_pages_are_made_safe() {
        for (name, safe) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", "passwd"),
            ("C:\\a\\b.exe", "b.exe"),
            (".bashrc", "bashrc"),
            ("a\nb\u{1b}.txt", "ab.txt"),
            ("", "download"),
            ("..", "download"),
        ] {
            assert_eq!(safe_name(name), safe, "{name:?}");
        }
        assert!(safe_name(&"x".repeat(500)).chars().count() == MAX_NAME);
    }

    #[test]
    fn a_download_that_is_too_large_is_stopped() {
        let mut downloads = Downloads::new(100, "/no/such/directory".into());
        let begin = |id: &str| event("Browser.downloadWillBegin", json!({"guid": id, "suggestedFilename": "a.txt"}));
        let progress = |id: &str, bytes: u64, state: &str| {
            let sizes = json!({"guid": id, "receivedBytes": bytes, "totalBytes": 0, "state": state});
            event("Browser.downloadProgress", sizes)
        };
        assert_eq!(downloads.apply(&begin("1"), None), None);
        assert_eq!(downloads.apply(&begin("2"), None), None);
        assert_eq!(downloads.apply(&progress("1", 90, "inProgress"), None), None);
        assert_eq!(downloads.apply(&progress("2", 101, "inProgress"), None), Some("2".to_owned()));
        let taken = downloads.take("a");
        assert_eq!((&taken[0].state, &taken[1].state), (&DownloadState::Running, &DownloadState::Failed));
        assert_eq!(downloads.apply(&progress("1", 95, "completed"), None), None);
        let state = DownloadState::Complete("/no/such/directory/1".into());
        assert_eq!(downloads.take("a"), [Download { name: "a.txt".into(), bytes: 95, state }]);
        assert!(downloads.take("a").is_empty());
    }
}
