//! The `artifact` commands.

use afd_proto::artifact::{ArtifactDelete, ArtifactGet, ArtifactList, DeleteParams, GetParams, ListParams};
use clap::{Args, Subcommand};

use super::{Call, Group};
use afd_link::options::Context;

/// Stored files: screenshots, full-screen dumps, large results.
#[derive(Debug, Subcommand)]
pub enum Artifact {
    /// List artifacts, newest first
    List(List),
    /// Show an artifact
    Get {
        /// Number of the artifact to show
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
        /// Include the content; fails if it is larger than limits.inline_bytes
        #[arg(long)]
        content: bool,
    },
    /// Delete an artifact and its file
    Delete {
        /// Number of the artifact to delete
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
    },
}

/// Options for `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only artifacts from this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only artifacts of this kind, for example screenshot_image
    #[arg(long)]
    kind: Option<String>,
    /// Maximum number of artifacts
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

impl Group for Artifact {
    fn call(self, _: &Context) -> Call {
        match self {
            Artifact::List(List { for_session, kind, limit, cursor }) => {
                Call::of::<ArtifactList>(ListParams { session: for_session, kind, limit, cursor })
            }
            Artifact::Get { id, content } => Call::plain::<ArtifactGet>(GetParams { id, content }),
            Artifact::Delete { id } => Call::plain::<ArtifactDelete>(DeleteParams { id }),
        }
    }
}
