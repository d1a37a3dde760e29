//! `memory.export` and `memory.import`: everything that is known as lines, and back into another memory.
//!
//! The format is described in `ARCHITECTURE.md`. The daemon checks a file before it imports anything of it. It then
//! applies the file in short writes, and completes it after a stop or a crash. Importing a file again changes nothing.

mod check;
mod export;
mod import;
mod lines;
mod pieces;
mod taking;

use afd_device as device;
use afd_experience::memory;
use afd_experience::visual;
use afd_recall as recall;
use afd_store::exchange::Kind;
use afd_workspace as session;

use check::check;
pub use export::export;
pub use import::{import, import_dry_run, resume, whole};

/// What the header of a whole memory says.
const SCOPE: &str = "memory";
/// Type of the last line. A file without it is truncated.
const END: &str = "end";

/// Which module knows a kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Device,
    Memory,
    Session,
    Recall,
    Visual,
}

/// Returns all kinds in the order in which they are written.
fn kinds() -> Vec<(Subject, Kind)> {
    let of = |subject: Subject, kinds: &[Kind]| kinds.iter().map(|kind| (subject, *kind)).collect::<Vec<_>>();
    [
        of(Subject::Device, &[device::transfer::KIND]),
        of(Subject::Session, &[session::transfer::SESSION]),
        of(Subject::Memory, &memory::transfer::KINDS),
        of(Subject::Session, &session::transfer::KINDS),
        of(Subject::Recall, &[recall::memories::KIND]),
        of(Subject::Visual, &visual::transfer::KINDS),
    ]
    .concat()
}
