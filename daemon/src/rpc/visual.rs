//! Handlers of the `visual.*` methods.

use afd_proto::files::{VisualExport, VisualImport};
use afd_proto::graph::{VisualGraph, VisualPath, VisualTransitions};
use afd_proto::history::{VisualDelete, VisualHistory, VisualUndo};
use afd_proto::template_match::VisualMatch;
use afd_proto::visual::{VisualCleanup, VisualComponents, VisualLearn, VisualRename, VisualStates};

use super::register::{Module, method};
use crate::control::visual::{files, graph, learn, pictures, upkeep};

pub(super) fn register(module: &mut Module) {
    method::<VisualLearn, _, _>(module, |core, p| async move { learn::learn(&core, &p).await });
    method::<VisualMatch, _, _>(module, |core, p| async move { pictures::find_components(&core, &p).await });
    method::<VisualComponents, _, _>(module, |core, p| async move { upkeep::list(&core, &p).await });
    method::<VisualRename, _, _>(module, |core, p| async move { upkeep::rename(&core, &p).await });
    method::<VisualDelete, _, _>(module, |core, p| async move { upkeep::delete(&core, &p).await });
    method::<VisualCleanup, _, _>(module, |core, p| async move { upkeep::clean_up(&core, &p).await });
    method::<VisualStates, _, _>(module, |core, p| async move { graph::states(&core, &p).await });
    method::<VisualTransitions, _, _>(module, |core, p| async move { graph::transitions(&core, &p).await });
    method::<VisualPath, _, _>(module, |core, p| async move { graph::path(&core, &p).await });
    method::<VisualGraph, _, _>(module, |core, p| async move { graph::draw(&core, &p).await });
    method::<VisualImport, _, _>(module, |core, p| async move { files::import(&core, &p).await });
    method::<VisualExport, _, _>(module, |core, p| async move { files::export(&core, &p).await });
    method::<VisualHistory, _, _>(module, |core, p| async move { upkeep::list_history(&core, &p).await });
    method::<VisualUndo, _, _>(module, |core, p| async move { upkeep::undo(&core, &p).await });
}
