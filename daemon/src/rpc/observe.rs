//! Handlers of the `observe.*` methods.

use afd_proto::observe::{ObserveLast, ObservePage, ObserveRefs, ObserveScreen, ObserveTop, ObserveWait};
use afd_proto::picture::{ObserveOverlayGet, ObserveOverlaySet, ObserveScreenshot};

use super::register::{Module, method};
use crate::control::{observe, screenshot, wait};

pub(super) fn register(module: &mut Module) {
    method::<ObserveTop, _, _>(module, |core, p| async move { observe::top(&core, &p).await });
    method::<ObserveScreen, _, _>(module, |core, p| async move { observe::screen(&core, &p).await });
    method::<ObserveRefs, _, _>(module, |core, p| async move { observe::refs(&core, &p).await });
    method::<ObservePage, _, _>(module, |core, p| async move { observe::page(&core, &p).await });
    method::<ObserveLast, _, _>(module, |core, p| async move { observe::last(&core, &p).await });
    method::<ObserveScreenshot, _, _>(module, |core, p| async move { screenshot::take(&core, &p).await });
    method::<ObserveOverlayGet, _, _>(module, |core, p| async move { observe::overlay(&core, &p).await });
    method::<ObserveOverlaySet, _, _>(module, |core, p| async move { observe::set_overlay(&core, &p).await });
    method::<ObserveWait, _, _>(module, |core, p| async move { wait::wait(&core, &p).await });
}
