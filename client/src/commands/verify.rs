//! The `verify` commands.

use afd_proto::verify::{
    ElementParams, ElementState, MatchMode, NodeExistsParams, TextContainsParams, TopActivityParams, VerifyElement,
    VerifyNodeExists, VerifyTextContains, VerifyTopActivity,
};
use afd_proto::vocabulary::By;
use clap::{Args, Subcommand};

use super::{Call, Group};
use afd_link::options::Context;

/// Check that the screen is as expected; otherwise the exit code is 1.
#[derive(Debug, Subcommand)]
pub enum Verify {
    /// Check that a visible text or description contains the given text
    TextContains(TextContains),
    /// Check that the foreground activity is the expected one
    TopActivity(TopActivity),
    /// Check that the given text is on the page, or that an element has the given state
    Element(Element),
    /// Check that a visible node matches
    NodeExists(NodeExists),
}

/// Options for `text-contains`.
#[derive(Debug, Args)]
pub struct TextContains {
    /// Text to look for
    #[arg(value_name = "TEXT", required_unless_present = "text", conflicts_with = "text")]
    what: Option<String>,
    /// Same as the TEXT argument
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    /// Distinguish upper and lower case
    #[arg(long)]
    case_sensitive: bool,
    /// Ignore case (default)
    #[arg(long, conflicts_with = "case_sensitive", hide = true)]
    ignore_case: bool,
}

/// Options for `element`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("state").args(["on", "off", "enabled", "disabled", "gone"]))]
pub struct Element {
    /// Label, title, #id or alias of an element, or text on the page; only whole words match
    #[arg(value_name = "TEXT", required_unless_present = "text", conflicts_with = "text", allow_hyphen_values = true)]
    what: Option<String>,
    /// Same as the TEXT argument
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    /// The element must be switched on or checked
    #[arg(long)]
    on: bool,
    /// The element must be switched off or not checked
    #[arg(long)]
    off: bool,
    /// The element must be enabled
    #[arg(long)]
    enabled: bool,
    /// The element must be disabled
    #[arg(long)]
    disabled: bool,
    /// The element or text must not be on the page
    #[arg(long)]
    gone: bool,
    /// Text that the element must show: the value of a field, or a text inside the element
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "state")]
    shows: Option<String>,
    /// Match the whole text, case-sensitively
    #[arg(long, alias = "exact-match")]
    exact: bool,
}

impl Element {
    fn params(self) -> ElementParams {
        let states = [
            (self.on, ElementState::On),
            (self.off, ElementState::Off),
            (self.enabled, ElementState::Enabled),
            (self.disabled, ElementState::Disabled),
            (self.gone, ElementState::Gone),
        ];
        ElementParams {
            text: self.text.or(self.what).unwrap_or_default(),
            state: states.into_iter().find(|(given, _)| *given).map(|(_, state)| state),
            shows: self.shows,
            exact_match: self.exact,
            ..ElementParams::default()
        }
    }
}

/// Options for `top-activity`.
#[derive(Debug, Args)]
pub struct TopActivity {
    /// Expected activity as package/activity, or part of it
    #[arg(long)]
    expected: String,
    /// How the foreground activity is compared with the expected one
    #[arg(long, value_enum)]
    mode: Option<MatchMode>,
}

/// Options for `node-exists`.
#[derive(Debug, Args)]
pub struct NodeExists {
    /// Property that identifies the node
    #[arg(long, value_enum)]
    by: By,
    /// Text, description, id, class or alias of the node
    #[arg(long, allow_hyphen_values = true)]
    value: String,
    /// Match the whole value, case-sensitively, instead of any part of it in any case
    #[arg(long)]
    exact_match: bool,
}

impl Group for Verify {
    fn call(self, _: &Context) -> Call {
        match self {
            Verify::TextContains(TextContains { what, text, case_sensitive, ignore_case: _ }) => {
                let text = text.or(what).unwrap_or_default();
                Call::of::<VerifyTextContains>(TextContainsParams {
                    text,
                    case_sensitive,
                    ..TextContainsParams::default()
                })
            }
            Verify::TopActivity(TopActivity { expected, mode }) => {
                Call::of::<VerifyTopActivity>(TopActivityParams { expected, mode, ..TopActivityParams::default() })
            }
            Verify::Element(element) => Call::of::<VerifyElement>(element.params()),
            Verify::NodeExists(NodeExists { by, value, exact_match }) => {
                Call::of::<VerifyNodeExists>(NodeExistsParams {
                    by,
                    value,
                    exact_match,
                    device: None,
                    session: None,
                    url: None,
                    token: None,
                })
            }
        }
    }
}
