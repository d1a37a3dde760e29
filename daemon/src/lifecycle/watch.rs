//! Reloads the configuration file when it changes.

use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};

use crate::app::{Core, daemon};
use afd_base::task::failpoint;

/// Delay between a change and the reload: editors write in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Watches the directory of the configuration file rather than the file itself, because editors replace files. Returns
/// `None` if watching fails; SIGHUP then still reloads the configuration.
pub(super) fn start(core: &Arc<Core>) -> Option<notify::RecommendedWatcher> {
    let path = core.config.path().to_owned();
    let dir = path.parent()?.to_owned();
    // A file that is created later must be noticed too.
    let exists = dir.is_dir() || std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).is_ok();
    if !exists {
        return None;
    }
    let (changed, changes) = tokio::sync::mpsc::channel::<()>(1);
    let name = path.file_name()?.to_owned();
    let handler = move |event: notify::Result<notify::Event>| {
        let relevant = event.is_ok_and(|e| !e.kind.is_access() && e.paths.iter().any(|p| p.file_name() == Some(&name)));
        if relevant {
            // One pending notification is enough.
            let _ = changed.try_send(());
        }
    };
    let mut watcher = notify::recommended_watcher(handler)
        .inspect_err(|e| tracing::warn!(%e, "cannot watch the configuration file"))
        .ok()?;
    watcher
        .watch(&dir, RecursiveMode::NonRecursive)
        .inspect_err(|e| tracing::warn!(%e, "cannot watch the configuration file"))
        .ok()?;
    let (core, changes) = (core.clone(), Arc::new(tokio::sync::Mutex::new(changes)));
    core.tasks.clone().spawn("settings-watcher", move || reload(core.clone(), changes.clone()));
    Some(watcher)
}

async fn reload(core: Arc<Core>, changes: Arc<tokio::sync::Mutex<tokio::sync::mpsc::Receiver<()>>>) {
    let mut changes = changes.lock().await;
    while changes.recv().await.is_some() {
        tokio::time::sleep(DEBOUNCE).await;
        failpoint("settings-watcher");
        let _ = changes.try_recv();
        if let Err(error) = daemon::reload(&core).await {
            tracing::warn!(%error, "cannot reload the configuration; the previous one stays in force");
        }
    }
}
