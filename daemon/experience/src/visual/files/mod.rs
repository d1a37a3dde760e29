//! Import and export of visual memories as files, in the format of the tool that first used it (the *source tool*).
//! Three versions of the format are read, one is written.
//!
//! An app is a directory with `meta.json`, `components.json`, `states.json` and `transitions.json` (in the oldest
//! version a single `profile.json`), its pictures, and one such directory for each site. Data that the format has no
//! member for is written to a member `afd` of a row, which the source tool preserves like all members it does not know.
//! Likewise, members that are unknown here are preserved in `extra`.

mod format;
mod import;
mod read;
mod write;

pub use format::{Content, Ordered, Remark, directory_of, picture_of};
use format::{OURS, local, millis, take};
pub use import::{Report, Tally, import_directory};
pub use read::{Directory, read};
pub use write::{Export, Picture, collect};
