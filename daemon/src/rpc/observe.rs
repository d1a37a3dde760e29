//! `observe.*`

use afd_proto::observe::{ObservePage, ObserveRefs, ObserveScreen, ObserveScreenshot, ObserveTop};

use super::register::{Module, method};
use crate::control::observe;

pub(super) fn register(module: &mut Module) {
    method::<ObserveTop, _, _>(module, |core, p| async move { observe::top(&core, &p).await });
    method::<ObserveScreen, _, _>(module, |core, p| async move { observe::screen(&core, &p).await });
    method::<ObserveRefs, _, _>(module, |core, p| async move { observe::refs(&core, &p).await });
    method::<ObservePage, _, _>(module, |core, p| async move { observe::page(&core, &p).await });
    method::<ObserveScreenshot, _, _>(module, |core, p| async move { observe::screenshot(&core, &p).await });
}
