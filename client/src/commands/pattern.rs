//! `pattern` and `page-model`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::{Call, read_list, word};
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

/// What kind of thing a pattern says.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "camelCase")]
pub enum Kind {
    /// Something that was said or found
    #[value(alias = "key-fact")]
    KeyFact,
    /// An element that is not always there, or does not always do the same
    #[value(alias = "flaky-element")]
    FlakyElement,
    /// What a field accepts
    #[value(alias = "validation-rule")]
    ValidationRule,
    /// What something is to look like
    #[value(alias = "visual-baseline")]
    VisualBaseline,
    /// What a person wants
    #[value(alias = "user-preference")]
    UserPreference,
    /// What cured an error
    Solution,
    /// How something is done
    Procedure,
}

/// Options of `save`.
#[derive(Debug, Args)]
pub struct Save {
    /// What it says
    text: String,
    /// What kind of thing it says
    #[arg(long, value_enum, default_value = "keyFact")]
    kind: Kind,
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
    kind: Option<Kind>,
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

impl Pattern {
    /// The call.
    ///
    /// # Errors
    /// When the facts are no JSON.
    pub fn call(&self) -> Result<Call, Failure> {
        Ok(match self {
            Pattern::Save(s) => {
                let data: Option<Value> = s
                    .data
                    .as_ref()
                    .map(|d| serde_json::from_str(d))
                    .transpose()
                    .map_err(|e| Failure::new("INVALID_PARAMS", format!("--data is no JSON: {e}"), USAGE))?;
                Call::new("pattern.save")
                    .with("text", s.text.clone())
                    .maybe("kind", word(Some(s.kind)))
                    .maybe("page", s.page.clone())
                    .maybe("app", s.app.clone())
                    .maybe("data", data)
                    .maybe("confidence", s.confidence)
            }
            Pattern::Find(f) => Call::new("pattern.find")
                .maybe("page", f.page.clone())
                .maybe("app", f.app.clone())
                .maybe("kind", word(f.kind))
                .maybe("session", f.for_session.clone())
                .maybe("text", f.text.clone())
                .maybe("minConfidence", f.min_confidence)
                .maybe("limit", f.limit),
            Pattern::Used { id, held } => Call::new("pattern.used").with("id", *id).maybe("held", *held),
            Pattern::Delete { id } => Call::new("pattern.delete").with("id", *id),
        })
    }

    /// The verb, as it was typed.
    pub fn verb(&self) -> &'static str {
        match self {
            Pattern::Save(_) => "save",
            Pattern::Find(_) => "find",
            Pattern::Used { .. } => "used",
            Pattern::Delete { .. } => "delete",
        }
    }
}

impl PageModel {
    /// The call.
    ///
    /// # Errors
    /// When the elements cannot be read.
    pub fn call(&self) -> Result<Call, Failure> {
        Ok(match self {
            PageModel::Save { page, page_type, elements, app } => Call::new("pageModel.save")
                .with("page", page.clone())
                .with("pageType", page_type.clone())
                .with("elements", read_list("--elements", elements)?)
                .maybe("app", app.clone()),
            PageModel::Find { page, app, limit } => {
                Call::new("pageModel.find").maybe("page", page.clone()).maybe("app", app.clone()).maybe("limit", *limit)
            }
            PageModel::Delete { id } => Call::new("pageModel.delete").with("id", *id),
        })
    }

    /// The verb, as it was typed.
    pub fn verb(&self) -> &'static str {
        match self {
            PageModel::Save { .. } => "save",
            PageModel::Find { .. } => "find",
            PageModel::Delete { .. } => "delete",
        }
    }
}
