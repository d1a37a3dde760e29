//! Handlers of the `job.*` methods.

use afd_proto::job::{JobList, JobRun};

use super::register::{Module, method};
use crate::control::jobs;

pub(super) fn register(module: &mut Module) {
    method::<JobList, _, _>(module, |core, _| async move { Ok(jobs::list(&core.jobs)) });
    method::<JobRun, _, _>(module, |core, p| async move { jobs::run(&core, &p).await });
}
