//! Import and export of visual memories as files, in the format of the tool that first used it (the *source tool*).
//! `afd` reads three versions of the format and writes one.
//!
//! An app is a directory with `meta.json`, `components.json`, `states.json` and `transitions.json` (in the oldest
//! version a single `profile.json`), its pictures, and one such directory for each site. Data for which the format has
//! no member is written to the member `afd` of a row. The source tool preserves this member, as it does all unknown
//! members. Likewise, `afd` preserves unknown members in `extra`.

mod format;
mod import;
mod read;
mod write;

pub use format::{Content, Ordered, Remark, directory_of, picture_of};
use format::{OURS, local, millis, take};
pub use import::{Report, Tally, import_directory};
pub use read::{Directory, read};
pub use write::{Export, Picture, collect};
