//! Background work: what there is, when it runs, what came of it. The jobs themselves live with their subject.

use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::job::Job;
use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::store::now_ms;
use crate::task::{Tasks, checkpoint, reason};

/// What a job did, in words, or why it could not.
pub type Outcome = Result<String, Failure>;

/// Why a job could not do its work, as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(why: E) -> Self {
        Self(why.to_string())
    }
}

/// When a job runs for the first time: a daemon that never lives long is to do its work too.
const FIRST: Duration = Duration::from_secs(60);

type Work = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// What a job is.
struct Entry {
    name: &'static str,
    about: &'static str,
    every: Duration,
    work: Work,
    /// Tells the clock that the next run was moved.
    moved: Notify,
    /// When it runs next.
    next: Mutex<Instant>,
    /// A job never runs twice at once.
    alone: tokio::sync::Mutex<()>,
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
pub struct Jobs {
    entries: Mutex<Vec<Arc<Entry>>>,
    tasks: Tasks,
}

impl Jobs {
    /// No jobs yet.
    pub fn new(tasks: Tasks) -> Self {
        Self { entries: Mutex::default(), tasks }
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
            moved: Notify::new(),
            next: Mutex::new(Instant::now() + FIRST.min(every)),
            alone: tokio::sync::Mutex::default(),
            last: Mutex::default(),
        });
        self.entries.lock().push(entry.clone());
        self.tasks.spawn(format!("job:{name}"), move || {
            let entry = entry.clone();
            async move { entry.keep_running().await }
        });
    }

    fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries.lock().iter().find(|e| e.name == name).cloned()
    }

    /// Asks for a run soon.
    pub fn nudge(&self, name: &str) {
        self.nudge_at(name, Instant::now());
    }

    /// Asks for a run at a time, unless one comes before.
    pub fn nudge_at(&self, name: &str, at: Instant) {
        let Some(entry) = self.find(name) else { return };
        let mut next = entry.next.lock();
        if at < *next {
            *next = at;
            entry.moved.notify_one();
        }
    }

    /// Runs a job now; `None` when there is none of that name.
    pub async fn run(&self, name: &str) -> Option<Job> {
        let entry = self.find(name)?;
        // What it failed of is told by its information.
        let _ = entry.run().await;
        Some(entry.info())
    }

    /// All jobs.
    pub fn list(&self) -> Vec<Job> {
        self.entries.lock().iter().map(|e| e.info()).collect()
    }
}

/// Says that a job runs, until it does not, however that comes.
struct Running<'a>(&'a Entry);

impl<'a> Running<'a> {
    fn new(entry: &'a Entry) -> Self {
        entry.last.lock().running = true;
        Self(entry)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.last.lock().running = false;
    }
}

impl Entry {
    async fn keep_running(&self) {
        loop {
            let next = *self.next.lock();
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                () = self.moved.notified() => continue,
            }
            *self.next.lock() = Instant::now() + self.every;
            if let Err(panic) = self.run().await {
                // Counted, and waited after, by who supervises this task.
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Runs the job; a panic is an outcome, too.
    async fn run(&self) -> Result<(), Box<dyn Any + Send>> {
        let _alone = self.alone.lock().await;
        let begun = Instant::now();
        let ended = {
            let _running = Running::new(self);
            let work = async {
                checkpoint(&format!("job:{}", self.name));
                (self.work)().await
            };
            AssertUnwindSafe(work).catch_unwind().await
        };
        let (outcome, panic) = match ended {
            Ok(outcome) => (outcome, None),
            Err(panic) => (Err(reason(panic.as_ref()).into()), Some(panic)),
        };
        match &outcome {
            Ok(said) => tracing::debug!(job = self.name, %said, "a job ran"),
            Err(Failure(error)) => tracing::warn!(job = self.name, %error, "a job failed"),
        }
        let mut last = self.last.lock();
        let runs = last.runs + 1;
        *last = Last { running: false, runs, at: Some(now_ms()), duration: Some(begun.elapsed()), outcome: Some(outcome) };
        panic.map_or(Ok(()), Err)
    }

    fn info(&self) -> Job {
        let last = self.last.lock().clone();
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let (result, error) = match last.outcome {
            None => (None, None),
            Some(Ok(said)) => (Some(said), None),
            Some(Err(Failure(error))) => (None, Some(error)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Before, every failure of a language model left one more sleeper behind.
    #[tokio::test(start_paused = true)]
    async fn however_often_a_run_is_asked_for_it_comes_once() {
        let jobs = Jobs::new(Tasks::default());
        let (ran, mut runs) = tokio::sync::mpsc::unbounded_channel();
        jobs.add("often", "is asked for often", Duration::from_secs(3600), move || {
            let ran = ran.clone();
            async move {
                ran.send(Instant::now()).expect("somebody counts");
                Ok("done".to_owned())
            }
        });
        let begun = Instant::now();
        for later in 1..=100 {
            jobs.nudge_at("often", begun + Duration::from_secs(5 + later % 7));
        }
        assert_eq!(runs.recv().await.map(|at| at.duration_since(begun).as_secs()), Some(5), "at the earliest of them");
        let next = runs.recv().await.map(|at| at.duration_since(begun).as_secs());
        assert_eq!(next, Some(3605), "and then on its clock");
    }
}
