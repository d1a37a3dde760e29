//! `job.*`, and which jobs there are.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::job::{Job, Jobs, RunParams};
use serde_json::json;

use super::{Core, Error, Result, artifacts};

/// How often the limits of artifacts are looked at; much that is written asks for it earlier.
const ARTIFACT_LIMITS: Duration = Duration::from_secs(3600);

/// Starts the background work. Must run inside the runtime.
pub fn start(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    core.jobs.add(artifacts::LIMITS_JOB, "keeps the limits of size and age of artifacts", ARTIFACT_LIMITS, move || {
        let core = weak.upgrade();
        async move {
            match core {
                Some(core) => artifacts::tidy(&core).await,
                None => Err("the daemon is stopping".to_owned()),
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
pub async fn run(core: &Core, params: &RunParams) -> Result<Job> {
    core.jobs.run(&params.name).await.ok_or_else(|| {
        let known: Vec<String> = core.jobs.list().into_iter().map(|j| j.name).collect();
        Error::new(ErrorCode::NotFound, format!("there is no job {:?}", params.name))
            .hint("`afctl job list` shows the jobs")
            .details(json!({"known": known}))
    })
}
