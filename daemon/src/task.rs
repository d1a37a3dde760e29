//! Background tasks: each has a name and is watched. A panic is caught, logged and counted, and the task is started again after
//! a delay; where going on would be wrong, the whole daemon ends with a failure, for its service manager to start it again.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::daemon::{TaskInfo, TaskState};
use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

/// The first delay of a restart; it doubles with each one that follows soon.
const FIRST_DELAY: Duration = Duration::from_millis(100);
/// The longest delay of a restart.
const MAX_DELAY: Duration = Duration::from_secs(30);
/// A task that ran for so long begins with the first delay again.
const STABLE: Duration = Duration::from_secs(60);

/// The background tasks of a daemon. Clones are the same.
#[derive(Clone)]
pub struct Tasks(Arc<Inner>);

struct Inner {
    entries: Mutex<Vec<Arc<Entry>>>,
    /// Why the daemon must end.
    fatal: watch::Sender<Option<String>>,
}

struct Entry {
    name: String,
    restarts: AtomicU64,
    waiting: AtomicBool,
    last_error: Mutex<Option<String>>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self(Arc::new(Inner { entries: Mutex::default(), fatal: watch::Sender::new(None) }))
    }
}

/// Keeps a task in the list until it is dropped.
struct Listed {
    tasks: Tasks,
    entry: Arc<Entry>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.tasks.0.entries.lock().retain(|e| !Arc::ptr_eq(e, &self.entry));
    }
}

impl Tasks {
    fn enter(&self, name: String) -> Listed {
        let entry = Arc::new(Entry { name, restarts: AtomicU64::new(0), waiting: AtomicBool::new(false), last_error: Mutex::default() });
        self.0.entries.lock().push(entry.clone());
        Listed { tasks: self.clone(), entry }
    }

    /// Starts a task and starts it again whenever it panics, until it ends by itself. Must run inside the runtime.
    pub fn spawn<F, Fut>(&self, name: impl Into<String>, mut make: F)
    where
        F: FnMut() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let listed = self.enter(name.into());
        tokio::spawn(async move {
            let mut delay = FIRST_DELAY;
            loop {
                let begun = Instant::now();
                let Err(panic) = AssertUnwindSafe(make()).catch_unwind().await else { return };
                if begun.elapsed() >= STABLE {
                    delay = FIRST_DELAY;
                }
                listed.entry.note(&reason(panic.as_ref()));
                listed.entry.waiting.store(true, Ordering::Relaxed);
                tokio::time::sleep(delay).await;
                listed.entry.waiting.store(false, Ordering::Relaxed);
                delay = (delay * 2).min(MAX_DELAY);
            }
        });
    }

    /// Runs the work of a thread that nothing can replace: if it panics, the daemon ends.
    pub fn run_vital(&self, name: &str, work: impl FnOnce()) {
        let listed = self.enter(name.to_owned());
        if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(work)) {
            let why = format!("{name} failed: {}", reason(panic.as_ref()));
            listed.entry.note(&why);
            self.0.fatal.send_replace(Some(why));
        }
    }

    /// A thread that works piece by piece.
    pub fn thread(&self, name: impl Into<String>) -> Thread {
        Thread(self.enter(name.into()))
    }

    /// Becomes `Some` when the daemon must end, with the reason.
    pub fn fatal(&self) -> watch::Receiver<Option<String>> {
        self.0.fatal.subscribe()
    }

    /// The tasks that run now, by name.
    pub fn list(&self) -> Vec<TaskInfo> {
        let mut tasks: Vec<TaskInfo> = self.0.entries.lock().iter().map(|e| e.info()).collect();
        tasks.sort_by(|a, b| a.name.cmp(&b.name));
        tasks
    }
}

/// A thread that works piece by piece; it is listed until this is dropped.
pub struct Thread(Listed);

impl Thread {
    /// Does one piece of its work; a panic is logged and counted, and the thread goes on.
    pub fn piece<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| self.0.entry.note(&reason(panic.as_ref()))).ok()
    }
}

impl Entry {
    fn note(&self, why: &str) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
        tracing::error!(task = self.name, error = why, "a background task failed");
        *self.last_error.lock() = Some(why.to_owned());
    }

    fn info(&self) -> TaskInfo {
        TaskInfo {
            name: self.name.clone(),
            state: if self.waiting.load(Ordering::Relaxed) { TaskState::Restarting } else { TaskState::Running },
            restarts: self.restarts.load(Ordering::Relaxed),
            last_error: self.last_error.lock().clone(),
        }
    }
}

/// A piece of blocking work that panicked.
#[derive(Debug, thiserror::Error)]
#[error("a piece of work failed: {0}")]
pub struct Panicked(pub String);

/// Does work that waits for files or computes for long, on a thread where that holds nobody up.
///
/// # Errors
/// When it panics.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Panicked(error.try_into_panic().map_or_else(|e| e.to_string(), |panic| reason(panic.as_ref()))))
}

/// The words of a panic.
pub fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
}

/// Where a test may make a task panic. In builds without debug assertions this does nothing.
///
/// A test names a directory in `AFD_TEST_PANICS`; a file in it with the name of a task makes that task panic once.
pub fn checkpoint(name: &str) {
    #[cfg(debug_assertions)]
    {
        use std::path::PathBuf;
        use std::sync::LazyLock;
        static DIR: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::var_os("AFD_TEST_PANICS").map(PathBuf::from));
        if let Some(dir) = DIR.as_ref()
            && std::fs::remove_file(dir.join(name)).is_ok()
        {
            panic!("a test asked {name} to panic");
        }
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_is_counted_and_started_again() {
        let tasks = Tasks::default();
        let (sender, mut started) = tokio::sync::mpsc::unbounded_channel();
        let mut runs = 0;
        tasks.spawn("flaky", move || {
            runs += 1;
            let (run, sender) = (runs, sender.clone());
            async move {
                sender.send(run).expect("a receiver");
                assert!(run > 2, "run {run}");
                std::future::pending::<()>().await;
            }
        });
        for run in 1..=3 {
            assert_eq!(started.recv().await, Some(run));
        }
        let listed = tasks.list();
        assert_eq!((listed[0].name.as_str(), listed[0].restarts, listed[0].state), ("flaky", 2, TaskState::Running));
        assert!(listed[0].last_error.as_ref().is_some_and(|e| e.contains("run 2")));
        tasks.spawn("short", || async {});
        tokio::task::yield_now().await;
        assert_eq!(tasks.list().len(), 1, "what ended by itself is not listed");
    }

    #[test]
    fn the_end_of_a_vital_thread_is_the_end_of_the_daemon() {
        let tasks = Tasks::default();
        tasks.run_vital("writer", || panic!("out of order"));
        assert_eq!(tasks.fatal().borrow().as_deref(), Some("writer failed: out of order"));
        let watcher = tasks.thread("watcher");
        assert_eq!(watcher.piece(|| 1), Some(1));
        assert_eq!(watcher.piece(|| -> i32 { panic!("once") }), None);
        assert_eq!(tasks.list()[0].restarts, 1, "it is counted, and shown");
    }
}
