//! `memory.export` and `memory.import`: everything that is known as lines, and back into another memory.
//!
//! The format is described in `ARCHITECTURE.md`. A file is checked as a whole before anything of it is taken in, and is then taken in as a whole,
//! some records at a time so that nobody waits for it; a stop or a crash does not end that. Taking it in again changes nothing.

mod check;
mod export;
mod import;
mod lines;
mod pieces;
mod taking;

use crate::store::exchange::Kind;
use crate::{device, memory, recall, session, visual};

use check::check;
pub use export::export;
pub use import::{import, rehearse, resume, whole};

/// What the header of a whole memory says.
const SCOPE: &str = "memory";
/// Type of the last line, by which a file that was cut off is told.
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
