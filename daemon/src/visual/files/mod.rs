//! The files of the tool that seed 001 describes: three eras of them are read, one is written.
//!
//! An app is a directory with `meta.json`, `components.json`, `states.json` and `transitions.json` (before that a single
//! `profile.json`), its pictures, and one such directory for each site. What we know beyond them travels in a member `afd` of a
//! row, which the original keeps as it keeps all that it does not know; what it knows beyond us is kept in `extra`.

mod format;
mod read;
mod take_up;
mod write;

pub use format::{Content, Ordered, Remark, directory_of, picture_of};
use format::{OURS, local, millis, take};
pub use read::{Directory, read};
pub use take_up::{Report, Tally, take_up};
pub use write::{Export, Picture, collect};
