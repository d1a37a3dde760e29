//! Background work: what there is, when it runs, what came of it. The jobs themselves live with their subject.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use afd_proto::job::Job;
use tokio::sync::Notify;

use crate::store::now_ms;

/// What a job did, in words, or why it could not.
pub type Outcome = Result<String, String>;

/// When a job runs for the first time: a daemon that never lives long is to do its work too.
const FIRST: Duration = Duration::from_secs(60);

type Work = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// What a job is.
struct Entry {
    name: &'static str,
    about: &'static str,
    every: Duration,
    work: Work,
    /// Asks for a run before its time.
    nudge: Notify,
    /// A job never runs twice at once.
    turn: tokio::sync::Mutex<()>,
    last: Mutex<Last>,
}

/// What came of the last run.
#[derive(Debug, Clone, Default)]
struct Last {
    running: bool,
    runs: u64,
    at: Option<i64>,
    duration: Option<Duration>,
    outcome: Option<Outcome>,
}

/// The jobs.
#[derive(Default)]
pub struct Jobs {
    entries: Mutex<Vec<Arc<Entry>>>,
}

impl Jobs {
    fn entries(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a job and starts its clock. Must run inside the runtime; the job ends with it.
    pub fn add<F, Fut>(&self, name: &'static str, about: &'static str, every: Duration, work: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let entry = Arc::new(Entry {
            name,
            about,
            every,
            work: Box::new(move || Box::pin(work())),
            nudge: Notify::new(),
            turn: tokio::sync::Mutex::default(),
            last: Mutex::default(),
        });
        self.entries().push(entry.clone());
        tokio::spawn(async move {
            let mut wait = FIRST.min(entry.every);
            loop {
                // Whichever comes first.
                let _ = tokio::time::timeout(wait, entry.nudge.notified()).await;
                entry.run().await;
                wait = entry.every;
            }
        });
    }

    fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries().iter().find(|e| e.name == name).cloned()
    }

    /// Asks for a run soon.
    pub fn nudge(&self, name: &str) {
        if let Some(entry) = self.find(name) {
            entry.nudge.notify_one();
        }
    }

    /// Runs a job now; `None` when there is none of that name.
    pub async fn run(&self, name: &str) -> Option<Job> {
        let entry = self.find(name)?;
        entry.run().await;
        Some(entry.info())
    }

    /// All jobs.
    pub fn list(&self) -> Vec<Job> {
        self.entries().iter().map(|e| e.info()).collect()
    }
}

/// Says that a job runs, until it does not, however that comes.
struct Running<'a>(&'a Entry);

impl<'a> Running<'a> {
    fn new(entry: &'a Entry) -> Self {
        entry.last().running = true;
        Self(entry)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.last().running = false;
    }
}

impl Entry {
    fn last(&self) -> std::sync::MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn run(&self) {
        let _turn = self.turn.lock().await;
        let begun = Instant::now();
        let outcome = {
            let _running = Running::new(self);
            (self.work)().await
        };
        match &outcome {
            Ok(said) => tracing::debug!(job = self.name, %said, "a job ran"),
            Err(error) => tracing::warn!(job = self.name, %error, "a job failed"),
        }
        let mut last = self.last();
        let runs = last.runs + 1;
        *last = Last { running: false, runs, at: Some(now_ms()), duration: Some(begun.elapsed()), outcome: Some(outcome) };
    }

    fn info(&self) -> Job {
        let last = self.last().clone();
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let (result, error) = match last.outcome {
            None => (None, None),
            Some(Ok(said)) => (Some(said), None),
            Some(Err(error)) => (None, Some(error)),
        };
        Job {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            every_ms: ms(self.every),
            running: last.running,
            runs: last.runs,
            last_run_at: last.at,
            last_duration_ms: last.duration.map(ms),
            last_result: result,
            last_error: error,
        }
    }
}
