//! The `job` commands.

use afd_proto::job::{JobList, JobRun, RunParams};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;

use super::{Call, Group};
use afd_link::options::Context;

/// Background jobs of the daemon.
#[derive(Debug, Subcommand)]
pub enum Job {
    /// List the jobs and their last results
    List,
    /// Run a job now
    Run {
        /// Name of the job to run
        name: String,
    },
}

impl Group for Job {
    fn call(self, _: &Context) -> Call {
        match self {
            Job::List => Call::of::<JobList>(NoParams {}),
            Job::Run { name } => Call::plain::<JobRun>(RunParams { name }),
        }
    }
}
