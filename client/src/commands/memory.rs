//! `memory`

use afd_proto::memory::{
    ContextParams, EventStatus, ExperienceParams, LogParams, MemoryContext, MemoryDelete, MemoryExperience, MemoryLog, MemorySave,
    MemorySearch, MemoryStats, StatsParams,
};
use afd_proto::notes::{DeleteParams, SaveParams, SearchParams};
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};

/// What was done and learned.
#[derive(Debug, Subcommand)]
pub enum Memory {
    /// Keep a note; similar ones are shown
    Save(Save),
    /// Find notes, or list the newest
    Search(Search),
    /// Delete a note by its number
    Delete {
        /// Its number, as search shows it
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
    },
    /// What is known about a page: what actions do there, what cured failures
    Experience(Experience),
    /// What the session saw last
    Context,
    /// What was done, newest first
    Log(Log),
    /// Counts
    Stats {
        /// Only this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
    },
}

/// Options of `save`.
#[derive(Debug, Args)]
pub struct Save {
    /// What it is about, in parts divided by /, for example nav/home-to-wifi
    #[arg(long)]
    topic: String,
    /// The note
    #[arg(long, allow_hyphen_values = true)]
    content: String,
    /// Package that it is about; without it the note holds everywhere
    #[arg(long)]
    app: Option<String>,
}

/// Options of `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Words in any language, or parts of words
    #[arg(long, allow_hyphen_values = true)]
    query: Option<String>,
    /// Only notes about this package
    #[arg(long)]
    app: Option<String>,
    /// Only topics that begin so, for example nav/
    #[arg(long)]
    topic: Option<String>,
    /// At most this many [default: 20]
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options of `experience`; with none, the page that the session saw last is meant.
#[derive(Debug, Args)]
pub struct Experience {
    /// Package
    #[arg(long)]
    app: Option<String>,
    /// package/activity
    #[arg(long)]
    activity: Option<String>,
    /// Fingerprint or page key, as an observation printed it
    #[arg(long)]
    page_fp: Option<String>,
    /// Only what cured this failure, for example REF_ALIAS_STALE
    #[arg(long)]
    failure_cause: Option<String>,
    /// At most this many
    #[arg(long)]
    limit: Option<u32>,
}

/// Options of `log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Only this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only this app
    #[arg(long)]
    app: Option<String>,
    /// Only what ended so
    #[arg(long, value_enum)]
    status: Option<EventStatus>,
    /// At most this many
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

impl Group for Memory {
    fn call(self, _: &Context) -> Call {
        match self {
            Memory::Save(Save { topic, content, app }) => Call::of::<MemorySave>(SaveParams { topic, content, app, session: None }),
            Memory::Search(Search { query, app, topic, limit, cursor }) => {
                Call::of::<MemorySearch>(SearchParams { query, app, topic, limit, cursor })
            }
            Memory::Delete { id } => Call::plain::<MemoryDelete>(DeleteParams { id: Some(id), uid: None }),
            Memory::Experience(Experience { app, activity, page_fp, failure_cause, limit }) => {
                Call::of::<MemoryExperience>(ExperienceParams { app, activity, page_fp, failure_cause, limit, device: None, session: None })
            }
            Memory::Context => Call::plain::<MemoryContext>(ContextParams::default()),
            Memory::Log(Log { for_session, app, status, limit, cursor }) => {
                Call::of::<MemoryLog>(LogParams { session: for_session, app, status, limit, cursor, device: None })
            }
            Memory::Stats { for_session } => Call::plain::<MemoryStats>(StatsParams { session: for_session }),
        }
    }
}
