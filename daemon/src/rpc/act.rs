//! Handlers of the `act.*` methods.

use afd_proto::act::{
    ActBack, ActDoubleTap, ActDrag, ActFill, ActHome, ActIntent, ActKey, ActLaunch, ActLongPress, ActScroll,
    ActScrollTo, ActShell, ActStop, ActSwipe, ActTap, ActText,
};
use afd_proto::vocabulary::Verb;

use super::register::{Module, method};
use crate::control::{act, shell};

pub(super) fn register(module: &mut Module) {
    method::<ActTap, _, _>(module, |core, p| async move { act::touch(&core, Verb::Tap, &p).await });
    method::<ActLongPress, _, _>(module, |core, p| async move { act::touch(&core, Verb::LongPress, &p).await });
    method::<ActDoubleTap, _, _>(module, |core, p| async move { act::touch(&core, Verb::DoubleTap, &p).await });
    method::<ActSwipe, _, _>(module, |core, p| async move { act::swipe(&core, &p).await });
    method::<ActDrag, _, _>(module, |core, p| async move { act::drag(&core, &p).await });
    method::<ActScroll, _, _>(module, |core, p| async move { act::scroll(&core, &p).await });
    method::<ActBack, _, _>(module, |core, p| async move { act::back(&core, &p).await });
    method::<ActHome, _, _>(module, |core, p| async move { act::home(&core, &p).await });
    method::<ActKey, _, _>(module, |core, p| async move { act::key(&core, &p).await });
    method::<ActFill, _, _>(module, |core, p| async move { act::fill(&core, &p).await });
    method::<ActText, _, _>(module, |core, p| async move { act::text(&core, &p).await });
    method::<ActLaunch, _, _>(module, |core, p| async move { act::launch(&core, &p).await });
    method::<ActStop, _, _>(module, |core, p| async move { act::stop(&core, &p).await });
    method::<ActScrollTo, _, _>(module, |core, p| async move { act::scroll_to(&core, &p).await });
    method::<ActShell, _, _>(module, |core, p| async move { shell::run(&core, &p).await });
    method::<ActIntent, _, _>(module, |core, p| async move { shell::intent(&core, &p).await });
}
