//! Artifacts to be written, and their destinations.

use std::path::PathBuf;

/// Destination of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// This file, which is replaced.
    File(PathBuf),
    /// A directory outside the shared root, which is never cleaned up.
    Dir(PathBuf),
    /// The shared root, to which the limits of size and age apply.
    Root(PathBuf),
}

/// An artifact to be written.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// Destination.
    pub place: Place,
    /// Kind, such as `screenshot_image`.
    pub kind: &'static str,
    /// Media type.
    pub mime_type: &'static str,
    /// Extension of the file name, without the dot.
    pub extension: &'static str,
    /// Content of the file.
    pub content: Vec<u8>,
    /// Method of the call that writes it.
    pub op: &'static str,
    /// Row id of the session.
    pub session: i64,
    /// Row id of the device that the artifact shows, if any.
    pub device: Option<i64>,
    /// Trace id of the call.
    pub trace: String,
}
