//! Handlers of the `verify.*` methods.

use afd_proto::verify::{VerifyElement, VerifyNodeExists, VerifyTextContains, VerifyTopActivity};

use super::register::{Module, method};
use crate::control::verify;

pub(super) fn register(module: &mut Module) {
    method::<VerifyTextContains, _, _>(module, |core, p| async move { verify::text_contains(&core, &p).await });
    method::<VerifyTopActivity, _, _>(module, |core, p| async move { verify::top_activity(&core, &p).await });
    method::<VerifyElement, _, _>(module, |core, p| async move { verify::element(&core, &p).await });
    method::<VerifyNodeExists, _, _>(module, |core, p| async move { verify::node_exists(&core, &p).await });
}
