//! The `pattern` and `page-model` commands.

use afd_proto::pattern::{
    PageModelDelete, PageModelDeleteParams, PageModelFind, PageModelFindParams, PageModelSave, PageModelSaveParams,
    PatternDelete, PatternDeleteParams, PatternFind, PatternFindParams, PatternKind, PatternList, PatternListParams,
    PatternMerge, PatternMergeParams, PatternPromote, PatternPromoteParams, PatternSave, PatternSaveParams,
    PatternScope, PatternUsed, PatternUsedParams,
};
use clap::{Args, Subcommand};

use super::{Call, Group, read_list};
use afd_link::options::Context;
use afd_link::outcome::{Failure, USAGE};

/// Patterns learned across sessions.
#[derive(Debug, Subcommand)]
pub enum Pattern {
    /// Save a pattern; saving it again raises its confidence
    Save(Save),
    /// Find patterns about a page or an app, or learned in a session
    Find(Find),
    /// List the patterns of all scopes, newest first
    List {
        /// Only patterns with this scope
        #[arg(long, value_enum)]
        scope: Option<PatternScope>,
        /// Only patterns about this package
        #[arg(long)]
        app: Option<String>,
        /// Only patterns learned in this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Maximum number of patterns
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Change the visibility of a pattern
    Promote {
        /// Pattern number
        #[arg(long, value_name = "N")]
        id: i64,
        /// New visibility of the pattern
        #[arg(long, value_enum)]
        scope: PatternScope,
    },
    /// Merge a pattern into another one with the same meaning and subject
    Merge {
        /// Number of the pattern that is deleted
        #[arg(long, value_name = "N")]
        id: i64,
        /// Number of the pattern that is kept
        #[arg(long, value_name = "N")]
        into: i64,
    },
    /// Report that a pattern was used, and whether it held
    Used {
        /// Pattern number
        #[arg(long, value_name = "N")]
        id: i64,
        /// Whether the pattern turned out to be true
        #[arg(long, value_name = "BOOL")]
        held: Option<bool>,
    },
    /// Delete a pattern
    Delete {
        /// Pattern number
        #[arg(long, value_name = "N")]
        id: i64,
    },
}

/// Options for `save`.
#[derive(Debug, Args)]
pub struct Save {
    /// Text of the pattern
    text: String,
    /// Kind of the pattern
    #[arg(long, value_enum, default_value_t = PatternKind::KeyFact)]
    kind: PatternKind,
    /// Page the pattern is about: URL, page key, activity or state
    #[arg(long)]
    page: Option<String>,
    /// Package that the pattern is about
    #[arg(long)]
    app: Option<String>,
    /// Structured details of the pattern, as a JSON object
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// Initial confidence of the pattern, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// Visibility [default: everyone who uses the app; without --app everyone, except that a key fact is visible only
    /// to this session]
    #[arg(long, value_enum)]
    scope: Option<PatternScope>,
    /// Source of the pattern: user, assistant, page, or the name of a tool
    #[arg(long, value_name = "WHO")]
    source: Option<String>,
}

/// Options for `find`.
#[derive(Debug, Args)]
pub struct Find {
    /// Only patterns about this page or about no page: URL, page key, activity or state
    #[arg(long)]
    page: Option<String>,
    /// Only patterns about this package or about no package
    #[arg(long)]
    app: Option<String>,
    /// Only patterns of this kind
    #[arg(long, value_enum)]
    kind: Option<PatternKind>,
    /// Only patterns learned in this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only patterns that contain this text
    #[arg(long)]
    text: Option<String>,
    /// Minimum confidence of the patterns, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    min_confidence: Option<f64>,
    /// Maximum number of patterns
    #[arg(long)]
    limit: Option<u32>,
}

/// Page models: page types and their elements.
#[derive(Debug, Subcommand)]
pub enum PageModel {
    /// Save the model of a page; saving it again updates its stability score
    Save {
        /// Page that the model describes: URL, page key, activity or state
        #[arg(long)]
        page: String,
        /// Type of the page, for example form, list, detail or dialog
        #[arg(long = "type", value_name = "TYPE")]
        page_type: String,
        /// File with the elements of the page, as a JSON array of {name, role, selector, rule}; - for standard input
        #[arg(long, value_name = "FILE")]
        elements: String,
        /// Package of the page
        #[arg(long)]
        app: Option<String>,
    },
    /// Find the models of a page and of similar pages
    Find {
        /// Page whose models to find: URL, page key, activity or state
        #[arg(long)]
        page: Option<String>,
        /// Only models of this package
        #[arg(long)]
        app: Option<String>,
        /// Maximum number of models
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Delete a page model
    Delete {
        /// Number of the page model
        #[arg(long, value_name = "N")]
        id: i64,
    },
}

impl Save {
    fn params(self) -> Result<PatternSaveParams, Failure> {
        let Save { text, kind, page, app, data, confidence, scope, source } = self;
        let data = data.map(|d| serde_json::from_str(&d)).transpose();
        let data =
            data.map_err(|e| Failure::new("INVALID_PARAMS", format!("--data is not a JSON object: {e}"), USAGE))?;
        Ok(PatternSaveParams { kind, text, page, app, data, confidence, scope, source, session: None })
    }
}

impl Group for Pattern {
    fn call(self, _: &Context) -> Call {
        match self {
            Pattern::Save(save) => Call::parsed::<PatternSave>(save.params()),
            Pattern::Find(Find { page, app, kind, for_session, text, min_confidence, limit }) => {
                Call::of::<PatternFind>(PatternFindParams {
                    page,
                    app,
                    kind,
                    session: for_session,
                    text,
                    min_confidence,
                    limit,
                })
            }
            Pattern::List { scope, app, for_session, limit } => {
                Call::of::<PatternList>(PatternListParams { scope, app, session: for_session, limit })
            }
            Pattern::Promote { id, scope } => Call::of::<PatternPromote>(PatternPromoteParams { id, scope }),
            Pattern::Merge { id, into } => Call::of::<PatternMerge>(PatternMergeParams { id, into }),
            Pattern::Used { id, held } => Call::of::<PatternUsed>(PatternUsedParams { id, held }),
            Pattern::Delete { id } => Call::of::<PatternDelete>(PatternDeleteParams { id }),
        }
    }
}

impl Group for PageModel {
    fn call(self, _: &Context) -> Call {
        match self {
            PageModel::Save { page, page_type, elements, app } => {
                let elements = read_list("--elements", &elements);
                Call::parsed::<PageModelSave>(elements.map(|elements| PageModelSaveParams {
                    page,
                    page_type,
                    elements,
                    app,
                }))
            }
            PageModel::Find { page, app, limit } => Call::of::<PageModelFind>(PageModelFindParams { page, app, limit }),
            PageModel::Delete { id } => Call::of::<PageModelDelete>(PageModelDeleteParams { id }),
        }
    }
}
