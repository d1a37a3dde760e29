//! Handlers of the `backup.*` methods.

use afd_proto::backup::{BackupCreate, BackupDelete, BackupList, BackupVerify};

use super::register::{Module, method};
use crate::control::backups;

pub(super) fn register(module: &mut Module) {
    method::<BackupCreate, _, _>(module, |core, _| async move { backups::create(&core).await });
    method::<BackupList, _, _>(module, |core, _| async move { backups::list(&core.config).await });
    method::<BackupVerify, _, _>(module, |core, p| async move { backups::verify(&core.config, p).await });
    method::<BackupDelete, _, _>(module, |core, p| async move { backups::delete(&core.config, p).await });
}
