//! The `memory` commands.

use afd_proto::memory::{
    ContextParams, EventStatus, ExperienceParams, LogParams, MemoryContext, MemoryDelete, MemoryExperience, MemoryLog,
    MemorySave, MemorySearch, MemoryStats, StatsParams,
};
use afd_proto::notes::{DeleteParams, SaveParams, SearchParams};
use afd_proto::predict::{MemoryPredict, PredictParams};
use afd_proto::upkeep::{
    ExportParams, ImportParams, MemoryExport, MemoryImport, MemoryPrune, MemoryVacuum, PruneParams,
};
use afd_proto::vocabulary::{NoParams, RecordScope, Verb};
use clap::{Args, Subcommand};

use super::{Call, Group, absolute};
use afd_link::options::Context;

/// Notes, event log, and what was learned about pages.
#[derive(Debug, Subcommand)]
pub enum Memory {
    /// Save a note and show similar ones
    Save(Save),
    /// Search notes, or list the newest
    Search(Search),
    /// Delete a note
    Delete {
        /// Note number, as shown by search
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        id: i64,
    },
    /// Show what is known about a page: outcomes of actions, recoveries from failures
    Experience(Experience),
    /// Show where the actions on the last observed page most likely lead
    Predict(Predict),
    /// Show what the session observed last
    Context,
    /// List events, newest first
    Log(Log),
    /// Show the number of events, observations, notes and artifacts
    Stats {
        /// Count only records from this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
    },
    /// Delete old events and observations; knowledge learned from them is kept
    Prune {
        /// Minimum age of the records to delete, in days or hours: 90d, 12h
        #[arg(long, value_name = "AGE")]
        older: String,
        /// Only report how many records would be deleted, without deleting any
        #[arg(long)]
        dry_run: bool,
    },
    /// Export the whole memory to a JSON Lines file
    Export(Export),
    /// Import a file written by `memory export`; importing it again changes nothing
    Import(Import),
    /// Compact the database file to reclaim the space of deleted records; actions wait until this is done
    Vacuum,
}

/// Options for `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// File to write the memory to
    file: String,
}

/// Options for `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// File written by `memory export`; only import files that you trust like your own memory
    file: String,
    /// Only show what would be imported
    #[arg(long)]
    dry_run: bool,
    /// Let the file also change the goal, tasks, next steps and blockers of sessions that already exist here
    #[arg(long)]
    merge: bool,
}

/// Options for `save`.
#[derive(Debug, Args)]
pub struct Save {
    /// Topic of the note, in parts separated by /, for example nav/home-to-wifi
    #[arg(long)]
    topic: String,
    /// Text of the note
    #[arg(long, allow_hyphen_values = true)]
    content: String,
    /// Package that the note is about; without this option, the note applies to every app
    #[arg(long)]
    app: Option<String>,
    /// Visibility of the note: everyone who uses the app, or only this session [default: the scope of the session]
    #[arg(long, value_enum)]
    scope: Option<RecordScope>,
}

/// Options for `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Words to search for, in any language, or parts of words
    #[arg(long, allow_hyphen_values = true)]
    query: Option<String>,
    /// Only notes about this package
    #[arg(long)]
    app: Option<String>,
    /// Only notes whose topic starts with this text, for example nav/
    #[arg(long)]
    topic: Option<String>,
    /// Maximum number of notes
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options for `experience`. Without options, the command shows the page that the session observed last.
#[derive(Debug, Args)]
pub struct Experience {
    /// Package of the page [default: the package in --activity]
    #[arg(long)]
    app: Option<String>,
    /// Activity of the page, as package/activity
    #[arg(long)]
    activity: Option<String>,
    /// Fingerprint or key of the page, as printed by an observation
    #[arg(long)]
    page_fp: Option<String>,
    /// Only recoveries from this failure, for example REF_ALIAS_STALE
    #[arg(long)]
    failure_cause: Option<String>,
    /// Maximum number of transitions and of recoveries
    #[arg(long)]
    limit: Option<u32>,
}

/// Options for `predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// Predict this verb on each element in sight [default: tap, and back]
    #[arg(long, value_enum)]
    verb: Option<Verb>,
    /// Maximum number of actions
    #[arg(long)]
    limit: Option<u32>,
}

/// Options for `log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Only events from this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only events in this app
    #[arg(long)]
    app: Option<String>,
    /// Only events with this status
    #[arg(long, value_enum)]
    status: Option<EventStatus>,
    /// Maximum number of events
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

impl Group for Memory {
    fn call(self, _: &Context) -> Call {
        match self {
            Memory::Save(Save { topic, content, app, scope }) => {
                Call::of::<MemorySave>(SaveParams { topic, content, app, scope, session: None })
            }
            Memory::Search(Search { query, app, topic, limit, cursor }) => {
                Call::of::<MemorySearch>(SearchParams { query, app, topic, limit, cursor, session: None })
            }
            Memory::Delete { id } => Call::plain::<MemoryDelete>(DeleteParams { id: Some(id), uid: None }),
            Memory::Experience(Experience { app, activity, page_fp, failure_cause, limit }) => Call::of::<
                MemoryExperience,
            >(
                ExperienceParams { app, activity, page_fp, failure_cause, limit, device: None, session: None },
            ),
            Memory::Predict(Predict { verb, limit }) => {
                Call::of::<MemoryPredict>(PredictParams { verb, limit, ..PredictParams::default() })
            }
            Memory::Context => Call::plain::<MemoryContext>(ContextParams::default()),
            Memory::Log(Log { for_session, app, status, limit, cursor }) => {
                Call::of::<MemoryLog>(LogParams { session: for_session, app, status, limit, cursor, device: None })
            }
            Memory::Prune { older, dry_run } => Call::of::<MemoryPrune>(PruneParams { older, dry_run: Some(dry_run) }),
            Memory::Export(Export { file }) => Call::of::<MemoryExport>(ExportParams { file: absolute(&file) }),
            Memory::Import(Import { file, dry_run, merge }) => Call::of::<MemoryImport>(ImportParams {
                file: absolute(&file),
                dry_run: Some(dry_run),
                merge: merge.then_some(true),
            }),
            Memory::Vacuum => Call::of::<MemoryVacuum>(NoParams {}),
            Memory::Stats { for_session } => Call::plain::<MemoryStats>(StatsParams { session: for_session }),
        }
    }
}
