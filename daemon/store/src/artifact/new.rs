//! Artifacts to be written, and their destinations.

use std::path::PathBuf;

/// Destination of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The file at this path, which is replaced if it exists.
    File(PathBuf),
    /// A directory outside the shared root, which is never cleaned up.
    Dir(PathBuf),
    /// The shared root, to which the size and age limits apply.
    Root(PathBuf),
}

/// An artifact to be written.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// Where the file is written.
    pub place: Place,
    /// Kind of the artifact, such as `screenshot_image`.
    pub kind: &'static str,
    /// Media type of the content.
    pub mime_type: &'static str,
    /// File name extension, without the dot.
    pub extension: &'static str,
    /// Content of the file.
    pub content: Vec<u8>,
    /// Method of the call that creates the artifact.
    pub op: &'static str,
    /// Row id of the session to which the artifact belongs.
    pub session: i64,
    /// Row id of the device that the artifact shows, if any.
    pub device: Option<i64>,
    /// Trace id of the call that creates the artifact.
    pub trace: String,
}
