//! Handlers of the `recover.*` methods.

use afd_proto::recover::{RecoverBack, RecoverHome, RecoverRelaunch};

use super::register::{Module, method};
use crate::control::recover;

pub(super) fn register(module: &mut Module) {
    method::<RecoverBack, _, _>(module, |core, p| async move { recover::back(&core, &p).await });
    method::<RecoverHome, _, _>(module, |core, p| async move { recover::home(&core, &p).await });
    method::<RecoverRelaunch, _, _>(module, |core, p| async move { recover::relaunch(&core, &p).await });
}
