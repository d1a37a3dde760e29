//! `verify`

use afd_proto::verify::{
    MatchMode, NodeExistsParams, TextContainsParams, TopActivityParams, VerifyNodeExists, VerifyTextContains, VerifyTopActivity,
};
use afd_proto::vocabulary::By;
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};

/// Check that the screen is as expected; exit code 1 when it is not.
#[derive(Debug, Subcommand)]
pub enum Verify {
    /// Some visible text or description contains the text
    TextContains(TextContains),
    /// The top activity is the expected one
    TopActivity(TopActivity),
    /// A visible node matches
    NodeExists(NodeExists),
}

/// Options of `text-contains`.
#[derive(Debug, Args)]
pub struct TextContains {
    /// The text
    #[arg(long, allow_hyphen_values = true)]
    text: String,
    /// Upper and lower case differ
    #[arg(long)]
    case_sensitive: bool,
    /// Upper and lower case do not differ, which is the default
    #[arg(long, conflicts_with = "case_sensitive", hide = true)]
    ignore_case: bool,
}

/// Options of `top-activity`.
#[derive(Debug, Args)]
pub struct TopActivity {
    /// package/activity, or a part of it
    #[arg(long)]
    expected: String,
    /// How to compare
    #[arg(long, value_enum)]
    mode: Option<MatchMode>,
}

/// Options of `node-exists`.
#[derive(Debug, Args)]
pub struct NodeExists {
    /// How the node is named
    #[arg(long, value_enum)]
    by: By,
    /// Its text, description, id, class or alias
    #[arg(long, allow_hyphen_values = true)]
    value: String,
    /// Whole and case-sensitive, instead of a part in any case
    #[arg(long)]
    exact_match: bool,
}

impl Group for Verify {
    fn call(self, _: &Context) -> Call {
        match self {
            Verify::TextContains(TextContains { text, case_sensitive, ignore_case: _ }) => {
                Call::of::<VerifyTextContains>(TextContainsParams { text, case_sensitive, ..TextContainsParams::default() })
            }
            Verify::TopActivity(TopActivity { expected, mode }) => {
                Call::of::<VerifyTopActivity>(TopActivityParams { expected, mode, ..TopActivityParams::default() })
            }
            Verify::NodeExists(NodeExists { by, value, exact_match }) => Call::of::<VerifyNodeExists>(NodeExistsParams {
                by,
                value,
                exact_match,
                device: None,
                session: None,
                url: None,
                token: None,
            }),
        }
    }
}
