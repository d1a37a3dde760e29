//! `job.*`, and which jobs there are.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::job::{Job, Jobs, RunParams};
use serde_json::json;

use super::{Core, Error, Result, artifacts, conversation, replay, visual};

/// How often the limits of artifacts are looked at; much that is written asks for it earlier.
const ARTIFACT_LIMITS: Duration = Duration::from_secs(3600);

/// How often the visual memory is looked through; lessons ask for it earlier.
const VISUAL_UPKEEP: Duration = Duration::from_secs(3600);

/// Starts the background work. Must run inside the runtime.
pub fn start(core: &Arc<Core>) {
    add(core, artifacts::LIMITS_JOB, "keeps the limits of size and age of artifacts", ARTIFACT_LIMITS, |core| async move {
        artifacts::tidy(&core).await
    });
    add(
        core,
        visual::UPKEEP_JOB,
        "forgets components that are gone and merges states that have become one",
        VISUAL_UPKEEP,
        |core| async move { visual::tidy(&core).await },
    );
    add(core, "request-keys", "deletes outcomes of request keys that are older than a day", REQUEST_KEYS, |core| async move {
        replay::prune(&core).await
    });
    add(
        core,
        conversation::SUMMARIES_JOB,
        "asks the language model for summaries of what left the context of conversations",
        SUMMARIES,
        |core| async move { conversation::summarise::run(&core).await },
    );
}

/// How often outcomes of request keys are looked through.
const REQUEST_KEYS: Duration = Duration::from_secs(3600);

/// How often summaries that are due are looked for; compaction asks for it earlier.
const SUMMARIES: Duration = Duration::from_secs(3600);

/// Adds a job that works on the core as long as there is one.
fn add<F, Fut>(core: &Arc<Core>, name: &'static str, about: &'static str, every: Duration, work: F)
where
    F: Fn(Arc<Core>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = crate::job::Outcome> + Send + 'static,
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

/// `job.list`
pub fn list(core: &Core) -> Jobs {
    Jobs { jobs: core.jobs.list() }
}

/// `job.run`
///
/// # Errors
/// When there is none of that name.
pub async fn run(core: &Arc<Core>, params: &RunParams) -> Result<Job> {
    let (own, name) = (core.clone(), params.name.clone());
    // A job that was begun is finished, whoever goes away.
    let ran = core.finish(async move { own.jobs.run(&name).await }).await?;
    ran.ok_or_else(|| {
        let known: Vec<String> = core.jobs.list().into_iter().map(|j| j.name).collect();
        Error::new(ErrorCode::NotFound, format!("there is no job {:?}", params.name))
            .hint("`afctl job list` shows the jobs")
            .details(json!({"known": known}))
    })
}
