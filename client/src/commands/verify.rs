//! `verify`

use clap::{Args, Subcommand, ValueEnum};

use super::{By, Call};

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
    mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    Contains,
    Equals,
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

impl Verify {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Verify::TextContains(t) => {
                Call::new("verify.textContains").with("text", t.text.clone()).maybe("caseSensitive", t.case_sensitive.then_some(true))
            }
            Verify::TopActivity(t) => Call::new("verify.topActivity").with("expected", t.expected.clone()).maybe(
                "mode",
                t.mode.map(|m| match m {
                    Mode::Contains => "contains",
                    Mode::Equals => "equals",
                }),
            ),
            Verify::NodeExists(n) => Call::new("verify.nodeExists")
                .with("by", n.by.wire())
                .with("value", n.value.clone())
                .maybe("exactMatch", n.exact_match.then_some(true)),
        }
    }
}
