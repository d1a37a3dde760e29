//! Handlers of the `backup.*` methods.

use afd_proto::backup::{BackupCreate, BackupDelete, BackupList, BackupVerify};

use super::register::{Module, method};
use crate::control::backups;

pub(super) fn register(module: &mut Module) {
    method::<BackupCreate, _, _>(module, |core, _| async move { backups::create(&core).await });
    method::<BackupList, _, _>(module, |core, _| async move { backups::list(&core).await });
    method::<BackupVerify, _, _>(module, |core, p| async move { backups::verify(&core, p).await });
    method::<BackupDelete, _, _>(module, |core, p| async move { backups::delete(&core, p).await });
}
