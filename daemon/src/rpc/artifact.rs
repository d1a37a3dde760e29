//! Handlers of the `artifact.*` methods.

use afd_proto::artifact::{ArtifactDelete, ArtifactGet, ArtifactList};

use super::register::{Module, method};
use crate::control::artifacts;

pub(super) fn register(module: &mut Module) {
    method::<ArtifactList, _, _>(module, |core, p| async move { artifacts::list(&core.store, &p).await });
    method::<ArtifactGet, _, _>(module, |core, p| async move { artifacts::get(&core, &p).await });
    method::<ArtifactDelete, _, _>(module, |core, p| async move { artifacts::delete(&core, &p).await });
}
