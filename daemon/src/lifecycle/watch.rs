//! A change of the settings file reloads it.

use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};

use crate::control::{Core, admin};
use crate::task::checkpoint;

/// How long the file must be left alone before it is read: editors write in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Watches the directory of the file, for editors replace files. Without a watcher SIGHUP still works.
pub(super) fn start(core: &Arc<Core>) -> Option<notify::RecommendedWatcher> {
    let path = core.config.path().to_owned();
    let dir = path.parent()?.to_owned();
    // A file that is written later is to be noticed too.
    let made = dir.is_dir() || std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).is_ok();
    if !made {
        return None;
    }
    let (changed, changes) = tokio::sync::mpsc::channel::<()>(1);
    let name = path.file_name()?.to_owned();
    let handler = move |event: notify::Result<notify::Event>| {
        let concerns = event.is_ok_and(|e| !e.kind.is_access() && e.paths.iter().any(|p| p.file_name() == Some(&name)));
        if concerns {
            // One pending change is enough.
            let _ = changed.try_send(());
        }
    };
    let mut watcher = notify::recommended_watcher(handler).inspect_err(|e| tracing::warn!(%e, "cannot watch the settings file")).ok()?;
    watcher.watch(&dir, RecursiveMode::NonRecursive).inspect_err(|e| tracing::warn!(%e, "cannot watch the settings file")).ok()?;
    let (core, changes) = (core.clone(), Arc::new(tokio::sync::Mutex::new(changes)));
    core.tasks.clone().spawn("settings-watcher", move || reload(core.clone(), changes.clone()));
    Some(watcher)
}

async fn reload(core: Arc<Core>, changes: Arc<tokio::sync::Mutex<tokio::sync::mpsc::Receiver<()>>>) {
    let mut changes = changes.lock().await;
    while changes.recv().await.is_some() {
        tokio::time::sleep(DEBOUNCE).await;
        checkpoint("settings-watcher");
        let _ = changes.try_recv();
        if let Err(error) = admin::reload(&core).await {
            tracing::warn!(%error, "the settings stay as they were");
        }
    }
}
