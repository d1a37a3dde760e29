//! Handlers of the `memory.*` methods.

use afd_proto::memory::{
    MemoryContext, MemoryDelete, MemoryExperience, MemoryImportAf, MemoryLog, MemorySave, MemorySearch, MemoryStats,
};
use afd_proto::upkeep::{MemoryExport, MemoryImport, MemoryPrune, MemoryVacuum};

use super::register::{Module, method};
use crate::control::{import, memory, notes, retention, transfer};

pub(super) fn register(module: &mut Module) {
    method::<MemorySave, _, _>(module, |core, p| async move { notes::save(&core, &p).await });
    method::<MemorySearch, _, _>(module, |core, p| async move { notes::search(&core.store, &p).await });
    method::<MemoryDelete, _, _>(module, |core, p| async move { notes::delete(&core, &p).await });
    method::<MemoryExperience, _, _>(module, |core, p| async move { memory::experience(&core, &p).await });
    method::<MemoryContext, _, _>(module, |core, p| async move { memory::context(&core, &p).await });
    method::<MemoryLog, _, _>(module, |core, p| async move { memory::log(&core, &p).await });
    method::<MemoryStats, _, _>(module, |core, p| async move { memory::stats(&core.store, &p).await });
    method::<MemoryPrune, _, _>(module, |core, p| async move { retention::prune(&core, &p).await });
    method::<MemoryVacuum, _, _>(module, |core, _| async move { retention::vacuum(&core.store).await });
    method::<MemoryExport, _, _>(module, |core, p| async move { transfer::export(&core, &p).await });
    method::<MemoryImport, _, _>(module, |core, p| async move { transfer::import(&core, &p).await });
    method::<MemoryImportAf, _, _>(module, |core, p| async move { import::af(&core, &p).await });
}
