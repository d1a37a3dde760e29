//! `artifact`

use clap::{Args, Subcommand};

use super::Call;

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

impl Artifact {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Artifact::List(l) => Call::new("artifact.list")
                .maybe("session", l.for_session.clone())
                .maybe("kind", l.kind.clone())
                .maybe("limit", l.limit)
                .maybe("cursor", l.cursor),
            Artifact::Get { id, content } => Call::new("artifact.get").with("id", *id).maybe("content", content.then_some(true)),
            Artifact::Delete { id } => Call::new("artifact.delete").with("id", *id),
        }
    }
}
