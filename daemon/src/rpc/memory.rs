//! `memory.*`

use afd_proto::memory::{MemoryContext, MemoryExperience, MemoryLog, MemoryStats};

use super::register::{Module, method};
use crate::control::memory;

pub(super) fn register(module: &mut Module) {
    method::<MemoryExperience, _, _>(module, |core, p| async move { memory::experience(&core, &p).await });
    method::<MemoryContext, _, _>(module, |core, p| async move { memory::context(&core, &p).await });
    method::<MemoryLog, _, _>(module, |core, p| async move { memory::log(&core, &p).await });
    method::<MemoryStats, _, _>(module, |core, p| async move { memory::stats(&core, &p).await });
}
