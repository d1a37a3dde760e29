//! `job.*`, and the list of jobs.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::job::{Job, JobList, JobRun, Jobs, RunParams};
use serde_json::json;

use super::backups;
use crate::app::memory::retention;
use crate::app::{Core, Error, Methods, Result, artifacts, conversation, recall, replay, visual};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<JobList, _, _>(|core, _| async move { Ok(list(&core.jobs)) });
    methods.add::<JobRun, _, _>(|core, p| async move { run(&core, &p).await });
}

/// Interval of the artifact limits job; writing many bytes triggers it earlier.
const ARTIFACT_LIMITS: Duration = Duration::from_secs(3600);

/// Interval of the visual memory upkeep job; learning triggers it earlier.
const VISUAL_UPKEEP: Duration = Duration::from_secs(3600);

/// Registers and schedules all jobs. Must run inside the Tokio runtime.
pub fn start(core: &Arc<Core>) {
    add(
        core,
        artifacts::LIMITS_JOB,
        "enforces the size and age limits of artifacts",
        ARTIFACT_LIMITS,
        |core| async move { artifacts::tidy(&core).await },
    );
    add(
        core,
        visual::UPKEEP_JOB,
        "deletes components that disappeared and merges states that are no longer distinct",
        VISUAL_UPKEEP,
        |core| async move { visual::tidy(&core).await },
    );
    add(core, backups::BACKUP_JOB, "makes a backup when one is due, and deletes old ones", BACKUP, |core| async move {
        backups::run_job(&core).await
    });
    add(
        core,
        retention::JOB,
        "deletes events and observations that are too old or too many, and gives free space back",
        RETENTION,
        |core| async move { retention::run_job(&core).await },
    );
    let recall = Duration::from_secs(core.config.get().recall.upkeep_hours * 3600);
    add(
        core,
        recall::UPKEEP_JOB,
        "tidies what can be recalled: expired, archived, repeated and unused entries",
        recall,
        |core| async move { recall::run_upkeep(&core).await },
    );
    add(
        core,
        "request-keys",
        "deletes recorded outcomes of request keys after a day",
        REQUEST_KEYS,
        |core| async move { replay::prune(&core.store).await },
    );
    add(
        core,
        conversation::SUMMARIES_JOB,
        "asks the language model to summarise messages that left the context of a conversation",
        SUMMARIES,
        |core| async move { conversation::summarise::run(&core).await },
    );
}

/// Interval at which the backup job checks whether a backup is due.
const BACKUP: Duration = Duration::from_secs(3600);

/// Interval of the job that keeps the memory within its limits.
const RETENTION: Duration = Duration::from_secs(3600);

/// Interval of the job that deletes old outcomes of request keys.
const REQUEST_KEYS: Duration = Duration::from_secs(3600);

/// Interval of the job that writes due summaries; compaction triggers it earlier.
const SUMMARIES: Duration = Duration::from_secs(3600);

/// Adds a job that runs on the core without keeping the core alive.
fn add<F, Fut>(core: &Arc<Core>, name: &'static str, about: &'static str, every: Duration, work: F)
where
    F: Fn(Arc<Core>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = afd_store::job::Outcome> + Send + 'static,
{
    let weak = Arc::downgrade(core);
    core.jobs.add(name, about, every, move || {
        let core = weak.upgrade();
        async move {
            match core {
                Some(core) => work(core).await,
                None => Err("the daemon is stopping".into()),
            }
        }
    });
}

/// Implements `job.list`.
pub fn list(jobs: &afd_store::job::Jobs) -> Jobs {
    Jobs { jobs: jobs.list() }
}

/// Implements `job.run`.
///
/// # Errors
/// If there is no such job.
pub async fn run(core: &Arc<Core>, params: &RunParams) -> Result<Job> {
    let (own, name) = (core.clone(), params.name.clone());
    // Once started, a job is finished even if the caller disconnects.
    let ran = core.finish(async move { own.jobs.run(&name).await }).await?;
    ran.ok_or_else(|| {
        let known: Vec<String> = core.jobs.list().into_iter().map(|j| j.name).collect();
        Error::new(ErrorCode::NotFound, format!("no such job: {:?}", params.name))
            .hint("`afctl job list` lists the jobs")
            .details(json!({"known": known}))
    })
}
