//! `artifact`

use afd_proto::artifact::{ArtifactDelete, ArtifactGet, ArtifactList, DeleteParams, GetParams, ListParams};
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};

/// Files that were written: screenshots, full screens, large pages.
#[derive(Debug, Subcommand)]
pub enum Artifact {
    /// The artifacts, newest first
    List(List),
    /// One artifact
    Get {
        /// Its number
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
        /// Its content as well, if it is small enough
        #[arg(long)]
        content: bool,
    },
    /// Delete an artifact and its file
    Delete {
        /// Its number
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
    },
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only this kind, for example screenshot_image
    #[arg(long)]
    kind: Option<String>,
    /// At most this many
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
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
