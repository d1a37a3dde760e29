//! The `backup` commands.

use afd_proto::backup::{BackupCreate, BackupDelete, BackupList, BackupVerify, DeleteParams, VerifyParams};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;
use serde_json::Value;

use super::{Call, Group};
use afd_link::dial::{self, Purpose};
use afd_link::human::backup::restored;
use afd_link::options::Context;
use afd_link::outcome::Failure;

/// Backups of the memory.
#[derive(Debug, Subcommand)]
pub enum Backup {
    /// Copy the memory and its artifacts, and check the copy
    Create,
    /// List the backups, newest first
    List,
    /// Check that a backup can be restored
    Verify {
        /// Name of the backup to check [default: the newest]
        name: Option<String>,
    },
    /// Replace the memory with a backup; stops the daemon, and keeps the replaced database next to the backups
    Restore {
        /// Name of the backup to restore [default: the newest]
        name: Option<String>,
    },
    /// Delete a backup
    Delete {
        /// Name of the backup to delete
        name: String,
    },
}

/// Stops the daemon and restores a backup. The next command starts the daemon again.
fn restore(context: &Context, name: Option<String>) -> Result<Value, Failure> {
    let option = name.as_ref().map_or_else(|| "--restore".to_owned(), |name| format!("--restore={name}"));
    // If a daemon is running, let it verify the backup before it is stopped.
    if let Ok(mut connection) = dial::connect(&context.global, Purpose::RunningOnly) {
        let known = connection.call_as::<BackupVerify>(&VerifyParams { name });
        known.map_err(|e| dial::failure(e, &context.global))?;
    }
    // Hold this lock, so that no other command starts the daemon in between.
    let lock = dial::start_lock(&context.global)?;
    dial::stop(&context.global)?;
    let restored = dial::run_once(&context.global, &option);
    drop(lock);
    restored.map_err(|failure| failure.with_hint("the memory was not changed; `afctl backup list` lists the backups"))
}

impl Group for Backup {
    fn call(self, _: &Context) -> Call {
        match self {
            Backup::Create => Call::of::<BackupCreate>(NoParams {}),
            Backup::List => Call::of::<BackupList>(NoParams {}),
            Backup::Verify { name } => Call::of::<BackupVerify>(VerifyParams { name }),
            Backup::Restore { name } => {
                Call::local("backup", "restore", Some(restored), move |context| restore(context, name))
            }
            Backup::Delete { name } => Call::of::<BackupDelete>(DeleteParams { name }),
        }
    }
}
