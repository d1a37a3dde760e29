//! Supervised background tasks. Each task has a name. A panic is caught, logged and counted, and the task is restarted
//! after a delay. If the daemon cannot safely continue, it exits with a failure, so that its service manager restarts
//! it.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::daemon::{TaskInfo, TaskState};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::erased;

/// Delay before a task's first restart. It doubles with each further restart, until the task has run for [`STABLE`].
const FIRST_DELAY: Duration = Duration::from_millis(100);
/// Maximum delay before a restart.
const MAX_DELAY: Duration = Duration::from_secs(30);
/// Run time after which the next restart of a task uses [`FIRST_DELAY`] again.
const STABLE: Duration = Duration::from_secs(60);

/// Number of nodes in a screen above which work on all of the nodes takes several milliseconds.
const MANY_NODES: usize = 300;

/// Runs work whose duration grows with the number of nodes in a screen. If the screen is large, other threads take over
/// this thread's tasks during the work. Otherwise, a few large screens would delay all calls, because there are few
/// threads.
pub fn over_nodes<T>(nodes: usize, work: impl FnOnce() -> T) -> T {
    let shared = tokio::runtime::Handle::try_current()
        .is_ok_and(|h| h.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if nodes >= MANY_NODES && shared { tokio::task::block_in_place(work) } else { work() }
}

/// The background tasks of the daemon. Clones share the same list.
#[derive(Clone)]
pub struct Tasks(Arc<Inner>);

struct Inner {
    entries: Mutex<Vec<Arc<Entry>>>,
    /// Why the daemon must exit; `None` while the daemon can continue.
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

/// Keeps a task in the list of running tasks until this value is dropped.
struct Registration {
    tasks: Tasks,
    entry: Arc<Entry>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.tasks.0.entries.lock().retain(|e| !Arc::ptr_eq(e, &self.entry));
    }
}

impl Tasks {
    fn register(&self, name: String) -> Registration {
        let entry = Arc::new(Entry {
            name,
            restarts: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            last_error: Mutex::default(),
        });
        self.0.entries.lock().push(entry.clone());
        Registration { tasks: self.clone(), entry }
    }

    /// Spawns a task and restarts it whenever it panics, until it returns. Must be called within the Tokio runtime.
    pub fn spawn<F, Fut>(&self, name: impl Into<String>, mut make: F)
    where
        F: FnMut() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.spawn_boxed(name.into(), Box::new(move || make().boxed()));
    }

    fn spawn_boxed(&self, name: String, mut make: Box<dyn FnMut() -> BoxFuture<'static, ()> + Send>) {
        let registration = self.register(name);
        tokio::spawn(async move {
            let mut delay = FIRST_DELAY;
            loop {
                let started = Instant::now();
                let Err(panic) = AssertUnwindSafe(make()).catch_unwind().await else { return };
                if started.elapsed() >= STABLE {
                    delay = FIRST_DELAY;
                }
                registration.entry.record_failure(&panic_message(panic.as_ref()));
                registration.entry.waiting.store(true, Ordering::Relaxed);
                tokio::time::sleep(delay).await;
                registration.entry.waiting.store(false, Ordering::Relaxed);
                delay = (delay * 2).min(MAX_DELAY);
            }
        });
    }

    /// Runs the work of a thread that cannot be restarted. If the work panics, the daemon exits.
    pub fn run_critical(&self, name: &str, work: impl FnOnce()) {
        let registration = self.register(name.to_owned());
        if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(work)) {
            let why = format!("{name} failed: {}", panic_message(panic.as_ref()));
            registration.entry.record_failure(&why);
            self.0.fatal.send_replace(Some(why));
        }
    }

    /// Makes the daemon exit with a failure, so that its service manager restarts it.
    pub fn fail(&self, why: String) {
        self.0.fatal.send_replace(Some(why));
    }

    /// Registers a thread. [`Thread::catch_panic`] supervises each step of its work.
    pub fn thread(&self, name: impl Into<String>) -> Thread {
        Thread(self.register(name.into()))
    }

    /// Returns a receiver whose value changes from `None` to the reason when the daemon must exit.
    pub fn fatal(&self) -> watch::Receiver<Option<String>> {
        self.0.fatal.subscribe()
    }

    /// Returns the running tasks, sorted by name.
    pub fn list(&self) -> Vec<TaskInfo> {
        let mut tasks: Vec<TaskInfo> = self.0.entries.lock().iter().map(|e| e.info()).collect();
        tasks.sort_by(|a, b| a.name.cmp(&b.name));
        tasks
    }
}

/// A supervised thread. It stays listed until this value is dropped.
pub struct Thread(Registration);

impl Thread {
    /// Runs one step of the thread's work. If it panics, logs and counts the panic and returns `None`.
    pub fn catch_panic<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        std::panic::catch_unwind(AssertUnwindSafe(work))
            .map_err(|panic| self.0.entry.record_failure(&panic_message(panic.as_ref())))
            .ok()
    }
}

impl Entry {
    fn record_failure(&self, why: &str) {
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

/// The error for blocking work that panicked. Contains the panic message.
#[derive(Debug, thiserror::Error)]
#[error("blocking work panicked: {0}")]
pub struct Panicked(pub String);

/// Runs blocking or CPU-heavy work on the blocking thread pool.
///
/// # Errors
/// If the work panics.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked> {
    run_boxed(Box::new(move || erased::hide(work()))).await.map(erased::reveal)
}

async fn run_boxed(work: Box<dyn FnOnce() -> erased::Value + Send>) -> Result<erased::Value, Panicked> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| {
        Panicked(error.try_into_panic().map_or_else(|e| e.to_string(), |panic| panic_message(panic.as_ref())))
    })
}

/// Extracts the message from a panic's payload.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "panic without a message".to_owned())
}

/// Runs optional work that follows an operation that has already succeeded. If the work panics, logs the panic and
/// returns `None`.
pub async fn shielded<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    let work = async move {
        failpoint(what);
        work.await
    };
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|panic| {
        tracing::error!(what, why = panic_message(panic.as_ref()), "follow-up work panicked; the operation succeeded")
    })
    .ok()
}

/// Panics if a test has requested a panic in the task `name`. Does nothing in builds without debug assertions.
///
/// Tests set `AFD_TEST_PANICS` to a directory. A file in this directory that is named after a task makes the task panic
/// once.
pub fn failpoint(name: &str) {
    #[cfg(debug_assertions)]
    {
        use std::path::PathBuf;
        use std::sync::LazyLock;
        static DIR: LazyLock<Option<PathBuf>> =
            LazyLock::new(|| std::env::var_os("AFD_TEST_PANICS").map(PathBuf::from));
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
    async fn panicking_task_is_counted_and_restarted() {
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
        assert_eq!(tasks.list().len(), 1, "a finished task is not listed");
    }

    #[test]
    fn panic_of_a_critical_thread_is_fatal() {
        let tasks = Tasks::default();
        tasks.run_critical("writer", || panic!("out of order"));
        assert_eq!(tasks.fatal().borrow().as_deref(), Some("writer failed: out of order"));
        let watcher = tasks.thread("watcher");
        assert_eq!(watcher.catch_panic(|| 1), Some(1));
        assert_eq!(watcher.catch_panic(|| -> i32 { panic!("once") }), None);
        assert_eq!(tasks.list()[0].restarts, 1, "the panic is counted");
    }
}
