//! What is to be written, and where.

use std::path::PathBuf;

/// Where an artifact goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// This very file, which is replaced.
    File(PathBuf),
    /// A directory of somebody else's.
    Dir(PathBuf),
    /// The shared root, which is ours to tidy.
    Root(PathBuf),
}

/// What is to be written.
#[derive(Debug, Clone)]
pub struct New {
    /// Where.
    pub place: Place,
    /// What it is.
    pub kind: &'static str,
    /// Its media type.
    pub mime_type: &'static str,
    /// The end of its name.
    pub extension: &'static str,
    /// Its content.
    pub content: Vec<u8>,
    /// Method of the call.
    pub op: &'static str,
    /// Row of the session.
    pub session: i64,
    /// Row of the device.
    pub device: Option<i64>,
    /// The call.
    pub trace: String,
}
