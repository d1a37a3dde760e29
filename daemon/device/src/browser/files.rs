//! Files that pages take and give, and what an input caused beside the page in front.

use std::path::{Path, PathBuf};
use std::time::Duration;

use afd_base::text::cut;
use serde_json::json;

use super::Browser;
use super::cdp::CdpError;
use super::input::Page;
use super::tab::Chooser;
use super::tabs::Tabs;
use crate::{BadParam, Download, DriverError, DriverFuture, Transfers};

/// Maximum wait until an element that was tapped asks for files.
const ASKED_WITHIN: Duration = Duration::from_secs(2);

/// Maximum wait until a download begins.
const BEGUN_WITHIN: Duration = Duration::from_millis(500);

impl Transfers for Browser {
    fn file(&self, name: &str) -> Result<PathBuf, BadParam> {
        let refused =
            |expected| BadParam { path: "files".to_owned(), expected, got: format!("{:?}", cut::head(name, 200)) };
        let inside = |dir: &String| {
            let dir = Path::new(dir).canonicalize().ok()?;
            // An absolute name replaces the directory. Links are followed before the check.
            let file = dir.join(name).canonicalize().ok()?;
            (file.starts_with(&dir) && file.is_file()).then_some(file)
        };
        if self.own.upload_dirs.is_empty() {
            return Err(refused("no file: `browser.upload_dirs` in the settings file names no directory"));
        }
        let found = self.own.upload_dirs.iter().find_map(inside);
        found.ok_or_else(|| refused("a file below a directory that `browser.upload_dirs` in the settings file names"))
    }

    fn downloads(&self, ms: u64) -> DriverFuture<'_, Vec<Download>> {
        Box::pin(async move {
            if self.own.attach.is_some() {
                let (what, instead) =
                    ("saves files where its user wants them", "look there, or use a browser of the daemon");
                return Err(DriverError::Unsupported { kind: "browser", what, instead });
            }
            let running = self.running().await?;
            let mut tabs = running.tabs.subscribe();
            let wait = Duration::from_millis(ms);
            // A download begins a moment after the click that asks for it.
            let begun = tabs.wait_for(|tabs| tabs.downloads.has_any(&self.session));
            let _ = tokio::time::timeout(wait.min(BEGUN_WITHIN), begun).await.is_ok();
            let done = tabs.wait_for(|tabs| !tabs.downloads.is_busy(&self.session));
            let _ = tokio::time::timeout(wait, done).await.is_ok();
            let mut taken = Vec::new();
            running.tabs.send_if_modified(|tabs| {
                taken = tabs.downloads.take(&self.session);
                false
            });
            Ok(taken)
        })
    }
}

impl Page<'_> {
    /// Taps an element that asks for files, and gives it these.
    pub(super) async fn upload(&self, x: f64, y: f64, files: &[PathBuf]) -> Result<(), DriverError> {
        let refused = |message: &'static str| DriverError::Refused { status: None, message: message.into() };
        // What asked before does not matter.
        let _ = self.take_chooser();
        self.click(x, y, 1, Duration::ZERO).await?;
        let mut tabs = self.running.tabs.subscribe();
        let asks = |tabs: &Tabs| tabs.get(&self.tab.session).is_some_and(|tab| tab.chooser.is_some());
        let _ = tokio::time::timeout(ASKED_WITHIN, tabs.wait_for(asks)).await.is_ok();
        let chooser = self.take_chooser().ok_or_else(|| refused("the element asks for no file"))?;
        let Chooser { session, node, several } = chooser;
        if files.len() > 1 && !several {
            return Err(refused("the element takes one file only"));
        }
        let params = json!({"files": files, "backendNodeId": node});
        let given = self.running.ask_frame(&self.tab.session, &session, "DOM.setFileInputFiles", params).await;
        given.map(|_| ()).map_err(CdpError::of_input)
    }

    /// Returns what in the page asked for files last, and forgets it.
    fn take_chooser(&self) -> Option<Chooser> {
        let mut taken = None;
        self.running.tabs.send_if_modified(|tabs| {
            taken = tabs.around(&self.tab.session).and_then(|tab| tab.chooser.take());
            false
        });
        taken
    }
}
