//! `job`

use clap::Subcommand;

use super::Call;

/// What the daemon does in the background.
#[derive(Debug, Subcommand)]
pub enum Job {
    /// The jobs and what came of them
    List,
    /// Run a job now
    Run {
        /// Its name
        name: String,
    },
}

impl Job {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Job::List => Call::new("job.list"),
            Job::Run { name } => Call::new("job.run").with("name", name.clone()),
        }
    }
}
