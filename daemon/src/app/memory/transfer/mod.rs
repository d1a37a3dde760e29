//! `memory.export` and `memory.import`: write the whole memory to a file as lines, and import such a file into another
//! memory.
//!
//! The format is described in `docs/architecture.md`. The daemon checks a file before it imports any of it. It then
//! applies the file in short writes, and completes the import after a stop or a crash. Importing a file again changes
//! nothing.

mod check;
mod export;
mod import;
mod kinds;
mod lines;
mod pieces;
mod taking;

use afd_proto::upkeep::{MemoryExport, MemoryImport};

use crate::app::Methods;
use check::check;
pub use export::export;
pub use import::{import, import_dry_run, resume, whole};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemoryExport, _, _>(|core, p| async move { export(&core, &p).await });
    methods.add::<MemoryImport, _, _>(|core, p| async move { import(&core, &p).await });
}
