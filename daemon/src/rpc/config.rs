//! Handlers of the `config.*` methods.

use afd_proto::config::{ConfigGet, ConfigList, ConfigSet, ConfigUnset};

use super::register::{Module, method};
use crate::control::config;

pub(super) fn register(module: &mut Module) {
    method::<ConfigList, _, _>(module, |core, _| async move { config::list(&core).await });
    method::<ConfigGet, _, _>(module, |core, p| async move { config::get(&core, p).await });
    method::<ConfigSet, _, _>(module, |core, p| async move { config::set(&core, p).await });
    method::<ConfigUnset, _, _>(module, |core, p| async move { config::unset(&core, p).await });
}
