//! Handlers of the `model.*` methods.

use afd_proto::model::{ModelAdd, ModelRemove};

use super::register::{Module, method};
use crate::control::recall;

pub(super) fn register(module: &mut Module) {
    method::<ModelAdd, _, _>(module, |core, p| async move { recall::add_model(&core, &p).await });
    method::<ModelRemove, _, _>(module, |core, p| async move { recall::remove_model(&core, &p).await });
}
