//! `memory`

use clap::{Args, Subcommand, ValueEnum};

use super::Call;

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
    status: Option<Status>,
    /// At most this many
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    Ok,
    Failed,
    Unknown,
}

impl Memory {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Memory::Save(s) => {
                Call::new("memory.save").with("topic", s.topic.clone()).with("content", s.content.clone()).maybe("app", s.app.clone())
            }
            Memory::Search(s) => Call::new("memory.search")
                .maybe("query", s.query.clone())
                .maybe("app", s.app.clone())
                .maybe("topic", s.topic.clone())
                .maybe("limit", s.limit)
                .maybe("cursor", s.cursor),
            Memory::Delete { id } => Call::new("memory.delete").with("id", *id),
            Memory::Experience(e) => Call::new("memory.experience")
                .maybe("app", e.app.clone())
                .maybe("activity", e.activity.clone())
                .maybe("pageFp", e.page_fp.clone())
                .maybe("failureCause", e.failure_cause.clone())
                .maybe("limit", e.limit),
            Memory::Context => Call::new("memory.context"),
            Memory::Log(l) => Call::new("memory.log")
                .maybe("session", l.for_session.clone())
                .maybe("app", l.app.clone())
                .maybe(
                    "status",
                    l.status.map(|s| match s {
                        Status::Ok => "ok",
                        Status::Failed => "failed",
                        Status::Unknown => "unknown",
                    }),
                )
                .maybe("limit", l.limit)
                .maybe("cursor", l.cursor),
            Memory::Stats { for_session } => Call::new("memory.stats").maybe("session", for_session.clone()),
        }
    }
}
