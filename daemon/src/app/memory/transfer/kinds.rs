//! Kinds of records in an export of the whole memory.

use afd_device as device;
use afd_experience::{memory, visual};
use afd_recall as recall;
use afd_store::exchange::Kind;
use afd_workspace as session;

/// Scope in the header of an export of the whole memory.
pub(super) const SCOPE: &str = "memory";

/// Type of the last line. A file without it is truncated.
pub(super) const END: &str = "end";

/// Module that exports and imports a kind of record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Device,
    Memory,
    Session,
    Recall,
    Visual,
}

/// Returns all kinds in the order in which they are written.
pub(super) fn all() -> Vec<(Subject, Kind)> {
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
