//! Handlers of the `recall.*` methods.

use afd_proto::recall::{RecallContextFor, RecallDelete, RecallGet, RecallSearch, RecallStore, RecallUsed};
use afd_proto::recall_upkeep::{RecallEvaluate, RecallStatusOf, RecallUpkeepRun};

use super::register::{Module, method};
use crate::control::recall;

pub(super) fn register(module: &mut Module) {
    method::<RecallStore, _, _>(module, |core, p| async move { recall::store(&core, &p).await });
    method::<RecallSearch, _, _>(module, |core, p| async move { recall::search(&core, &p).await });
    method::<RecallGet, _, _>(module, |core, p| async move { recall::get(&core, &p).await });
    method::<RecallUsed, _, _>(module, |core, p| async move { recall::used(&core.store, &p).await });
    method::<RecallDelete, _, _>(module, |core, p| async move { recall::delete(&core, &p).await });
    method::<RecallContextFor, _, _>(module, |core, p| async move { recall::context(&core, &p).await });
    method::<RecallStatusOf, _, _>(module, |core, p| async move { recall::status(&core, &p).await });
    method::<RecallUpkeepRun, _, _>(module, |core, p| async move { recall::upkeep(&core, &p).await });
    method::<RecallEvaluate, _, _>(module, |core, p| async move { recall::evaluate(&core, &p).await });
}
