//! `pattern` and `page-model`

use afd_proto::pattern::{
    PageModelDelete, PageModelDeleteParams, PageModelFind, PageModelFindParams, PageModelSave, PageModelSaveParams, PatternDelete,
    PatternDeleteParams, PatternFind, PatternFindParams, PatternKind, PatternSave, PatternSaveParams, PatternUsed, PatternUsedParams,
};
use clap::{Args, Subcommand};

use super::{Call, read_list};
use crate::cli::{Context, Group};
use crate::outcome::{Failure, USAGE};

/// What was learned, over all sessions.
#[derive(Debug, Subcommand)]
pub enum Pattern {
    /// Keep something that was learned; the same again makes it surer
    Save(Save),
    /// Find what was learned about a page, an app, or in a session
    Find(Find),
    /// Tell that a pattern was used, and whether it held
    Used {
        /// Its number
        #[arg(long, value_name = "N")]
        id: i64,
        /// Whether it held
        #[arg(long, value_name = "BOOL")]
        held: Option<bool>,
    },
    /// Delete a pattern
    Delete {
        /// Its number
        #[arg(long, value_name = "N")]
        id: i64,
    },
}

/// Options of `save`.
#[derive(Debug, Args)]
pub struct Save {
    /// What it says
    text: String,
    /// What kind of thing it says
    #[arg(long, value_enum, default_value_t = PatternKind::KeyFact)]
    kind: PatternKind,
    /// URL, page key, activity or state that it is about
    #[arg(long)]
    page: Option<String>,
    /// Package
    #[arg(long)]
    app: Option<String>,
    /// Facts of it, a JSON object
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// How sure it is before it was used, 0 to 1
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
}

/// Options of `find`.
#[derive(Debug, Args)]
pub struct Find {
    /// Those about the page that this URL, page key, activity or state is
    #[arg(long)]
    page: Option<String>,
    /// Those about this package, and those about none
    #[arg(long)]
    app: Option<String>,
    /// Only those of this kind
    #[arg(long, value_enum)]
    kind: Option<PatternKind>,
    /// Only those that this session learned
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only those whose text contains this
    #[arg(long)]
    text: Option<String>,
    /// Only those that are at least so sure, 0 to 1
    #[arg(long, value_name = "SHARE")]
    min_confidence: Option<f64>,
    /// At most this many [default: 20]
    #[arg(long)]
    limit: Option<u32>,
}

/// What pages are made of.
#[derive(Debug, Subcommand)]
pub enum PageModel {
    /// Keep what a page is made of; the same page again tells how stable it is
    Save {
        /// URL, page key, activity or state
        #[arg(long)]
        page: String,
        /// For example form, list, detail, dialog
        #[arg(long = "type", value_name = "TYPE")]
        page_type: String,
        /// Elements as JSON: an array of {name, role, selector, rule}; a file, or - for standard input
        #[arg(long, value_name = "FILE")]
        elements: String,
        /// Package
        #[arg(long)]
        app: Option<String>,
    },
    /// What a page and pages like it are made of
    Find {
        /// URL, page key, activity or state
        #[arg(long)]
        page: Option<String>,
        /// Only those of this package
        #[arg(long)]
        app: Option<String>,
        /// At most this many [default: 5]
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Delete what is known of a page
    Delete {
        /// Its number
        #[arg(long, value_name = "N")]
        id: i64,
    },
}

impl Save {
    fn params(self) -> Result<PatternSaveParams, Failure> {
        let Save { text, kind, page, app, data, confidence } = self;
        let data = data.map(|d| serde_json::from_str(&d)).transpose();
        let data = data.map_err(|e| Failure::new("INVALID_PARAMS", format!("--data is not a JSON object: {e}"), USAGE))?;
        Ok(PatternSaveParams { kind, text, page, app, data, confidence, session: None })
    }
}

impl Group for Pattern {
    fn call(self, _: &Context) -> Call {
        match self {
            Pattern::Save(save) => Call::parsed::<PatternSave>(save.params()),
            Pattern::Find(Find { page, app, kind, for_session, text, min_confidence, limit }) => {
                Call::of::<PatternFind>(PatternFindParams { page, app, kind, session: for_session, text, min_confidence, limit })
            }
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
                Call::parsed::<PageModelSave>(elements.map(|elements| PageModelSaveParams { page, page_type, elements, app }))
            }
            PageModel::Find { page, app, limit } => Call::of::<PageModelFind>(PageModelFindParams { page, app, limit }),
            PageModel::Delete { id } => Call::of::<PageModelDelete>(PageModelDeleteParams { id }),
        }
    }
}
