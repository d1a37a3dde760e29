//! Background jobs: their registry, their schedule and their latest results. The jobs themselves are defined in the
//! modules that need them.

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

use crate::now_ms;
use afd_base::task::{Tasks, failpoint, panic_message};

/// Result of a job's run: a summary of what the job did, or why it failed.
pub type Outcome = Result<String, Failure>;

/// Error message of a failed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(why: E) -> Self {
        Self(why.to_string())
    }
}

/// Maximum delay before a job's first run, so that jobs also run in a daemon that is only started for short periods.
const MAX_FIRST_DELAY: Duration = Duration::from_secs(60);

type Work = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// A registered job.
struct Entry {
    name: &'static str,
    about: &'static str,
    every: Duration,
    work: Work,
    /// Wakes the schedule loop when the next run is rescheduled.
    rescheduled: Notify,
    /// Time at which the next run is scheduled.
    next: Mutex<Instant>,
    /// Lock that is held during a run, so that a job never runs twice at the same time.
    run_lock: tokio::sync::Mutex<()>,
    last: Mutex<LastRun>,
}

/// Whether a job is running, and the result of its last run.
#[derive(Debug, Clone, Default)]
struct LastRun {
    running: bool,
    runs: u64,
    at: Option<i64>,
    duration: Option<Duration>,
    outcome: Option<Outcome>,
}

/// The registered jobs.
pub struct Jobs {
    entries: Mutex<Vec<Arc<Entry>>>,
    tasks: Tasks,
}

impl Jobs {
    /// Creates an empty registry.
    pub fn new(tasks: Tasks) -> Self {
        Self { entries: Mutex::default(), tasks }
    }

    /// Adds a job and starts its schedule. Must be called within a Tokio runtime. The job ends with the runtime.
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
            rescheduled: Notify::new(),
            next: Mutex::new(Instant::now() + MAX_FIRST_DELAY.min(every)),
            run_lock: tokio::sync::Mutex::default(),
            last: Mutex::default(),
        });
        self.entries.lock().push(entry.clone());
        self.tasks.spawn(format!("job:{name}"), move || {
            let entry = entry.clone();
            async move { entry.run_on_schedule().await }
        });
    }

    fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries.lock().iter().find(|e| e.name == name).cloned()
    }

    /// Schedules a run of a job as soon as possible. Does nothing if there is no such job.
    pub fn nudge(&self, name: &str) {
        self.nudge_at(name, Instant::now());
    }

    /// Schedules a run of a job at this time, unless an earlier run is already scheduled.
    pub fn nudge_at(&self, name: &str, at: Instant) {
        let Some(entry) = self.find(name) else { return };
        let mut next = entry.next.lock();
        if at < *next {
            *next = at;
            entry.rescheduled.notify_one();
        }
    }

    /// Runs a job now and returns its state. Returns `None` if there is no job with this name.
    pub async fn run(&self, name: &str) -> Option<Job> {
        let entry = self.find(name)?;
        // A failure is part of the returned state.
        let _ = entry.run().await;
        Some(entry.info())
    }

    /// Returns the state of all jobs.
    pub fn list(&self) -> Vec<Job> {
        self.entries.lock().iter().map(|e| e.info()).collect()
    }
}

/// Marks a job as running until this value is dropped, even if the run panics or is cancelled.
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
    async fn run_on_schedule(&self) {
        loop {
            let next = *self.next.lock();
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                () = self.rescheduled.notified() => continue,
            }
            *self.next.lock() = Instant::now() + self.every;
            if let Err(panic) = self.run().await {
                // The supervisor of this task counts the panic and delays the restart.
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Runs the job. A panic is recorded as its outcome and returned as the error.
    async fn run(&self) -> Result<(), Box<dyn Any + Send>> {
        let _guard = self.run_lock.lock().await;
        let begun = Instant::now();
        let ended = {
            let _running = Running::new(self);
            let work = async {
                failpoint(&format!("job:{}", self.name));
                (self.work)().await
            };
            AssertUnwindSafe(work).catch_unwind().await
        };
        let (outcome, panic) = match ended {
            Ok(outcome) => (outcome, None),
            Err(panic) => (Err(panic_message(panic.as_ref()).into()), Some(panic)),
        };
        match &outcome {
            Ok(said) => tracing::debug!(job = self.name, %said, "a job ran"),
            Err(Failure(error)) => tracing::warn!(job = self.name, %error, "a job failed"),
        }
        let mut last = self.last.lock();
        let runs = last.runs + 1;
        *last = LastRun {
            running: false,
            runs,
            at: Some(now_ms()),
            duration: Some(begun.elapsed()),
            outcome: Some(outcome),
        };
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

    /// Regression test: every failure of the language model left another sleeping task behind.
    #[tokio::test(start_paused = true)]
    async fn repeated_requests_for_a_run_cause_a_single_run() {
        let jobs = Jobs::new(Tasks::default());
        let (ran, mut runs) = tokio::sync::mpsc::unbounded_channel();
        jobs.add("often", "is asked for often", Duration::from_secs(3600), move || {
            let ran = ran.clone();
            async move {
                ran.send(Instant::now()).expect("a receiver");
                Ok("done".to_owned())
            }
        });
        let begun = Instant::now();
        for later in 1..=100 {
            jobs.nudge_at("often", begun + Duration::from_secs(5 + later % 7));
        }
        assert_eq!(
            runs.recv().await.map(|at| at.duration_since(begun).as_secs()),
            Some(5),
            "at the earliest requested time"
        );
        let next = runs.recv().await.map(|at| at.duration_since(begun).as_secs());
        assert_eq!(next, Some(3605), "then at its regular interval");
    }
}
