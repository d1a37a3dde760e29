//! Handlers of the `daemon.*` methods.

use afd_proto::daemon::{DaemonMethods, DaemonMetrics, DaemonReload, DaemonShutdown, DaemonStatus, DaemonVersion};
use afd_proto::doctor::DaemonDoctor;

use super::register::{Module, method};
use crate::control::{admin, doctor, metrics};

pub(super) fn register(module: &mut Module) {
    method::<DaemonVersion, _, _>(module, |core, _| async move { Ok(admin::version(&core.runtime)) });
    method::<DaemonMetrics, _, _>(module, |core, _| async move { Ok(metrics::metrics(&core).await) });
    method::<DaemonDoctor, _, _>(module, |core, _| async move { Ok(doctor::examine(&core).await) });
    method::<DaemonStatus, _, _>(module, |core, _| async move { Ok(admin::status(&core).await) });
    method::<DaemonMethods, _, _>(module, |_, _| async move { Ok(admin::methods()) });
    method::<DaemonReload, _, _>(module, |core, _| async move { admin::reload(&core).await });
    method::<DaemonShutdown, _, _>(module, |core, _| async move { Ok(admin::shutdown(&core.runtime)) });
}
