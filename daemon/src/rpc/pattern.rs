//! Handlers of the `pattern.*` and `pageModel.*` methods.

use afd_proto::pattern::{
    PageModelDelete, PageModelFind, PageModelSave, PatternDelete, PatternFind, PatternList, PatternMerge,
    PatternPromote, PatternSave, PatternUsed,
};

use super::register::{Module, method};
use crate::control::patterns;

pub(super) fn register(module: &mut Module) {
    method::<PatternSave, _, _>(module, |core, p| async move { patterns::save(&core, &p).await });
    method::<PatternFind, _, _>(module, |core, p| async move { patterns::find(&core, &p).await });
    method::<PatternList, _, _>(module, |core, p| async move { patterns::list(&core, &p).await });
    method::<PatternPromote, _, _>(module, |core, p| async move { patterns::promote(&core.store, &p).await });
    method::<PatternMerge, _, _>(module, |core, p| async move { patterns::merge(&core.store, &p).await });
    method::<PatternUsed, _, _>(module, |core, p| async move { patterns::used(&core.store, &p).await });
    method::<PatternDelete, _, _>(module, |core, p| async move { patterns::delete(&core.store, &p).await });
    method::<PageModelSave, _, _>(module, |core, p| async move { patterns::save_page(&core.store, &p).await });
    method::<PageModelFind, _, _>(module, |core, p| async move { patterns::find_pages(&core.store, &p).await });
    method::<PageModelDelete, _, _>(module, |core, p| async move { patterns::delete_page(&core.store, &p).await });
}
