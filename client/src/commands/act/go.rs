//! Options for `act go-to` and `go`.

use afd_proto::go::GoToParams;
use clap::Args;

use super::Key;

/// Options for `go-to`.
#[derive(Debug, Args)]
pub struct GoTo {
    /// Where to go: the name of a page, an element or a text, words that describe it, or a web address
    #[arg(value_name = "GOAL", required_unless_present_any = ["state", "element", "text", "address"],
        conflicts_with_all = ["state", "element", "text", "address"])]
    goal: Option<String>,
    /// Id or name of the state to reach
    #[arg(long, conflicts_with_all = ["element", "text", "address"])]
    state: Option<String>,
    /// Go to the element with this label, until it is in sight
    #[arg(long, conflicts_with_all = ["text", "address"])]
    element: Option<String>,
    /// Go to a page with this text, until the text is in sight
    #[arg(long, conflicts_with = "address")]
    text: Option<String>,
    /// Address of the page to reach, in a browser
    #[arg(long)]
    address: Option<String>,
    /// Package of the app in which the goal is [default: the app in front]
    #[arg(long)]
    app: Option<String>,
    /// Maximum number of actions
    #[arg(long)]
    max_steps: Option<u32>,
    /// Maximum number of unknown elements to try where no known way leads on
    #[arg(long, value_name = "N")]
    explore: Option<u32>,
    /// Also touch elements that are marked as risky
    #[arg(long)]
    allow_risky: bool,
    /// Relaunch the app, once, where the walk would end without a way on
    #[arg(long)]
    recover: bool,
    #[command(flatten)]
    key: Key,
}

impl GoTo {
    pub(super) fn params(self) -> GoToParams {
        let (goal, address) = match self.goal {
            Some(goal) if goal.contains("://") => (None, Some(goal)),
            goal => (goal, self.address),
        };
        GoToParams {
            goal,
            state: self.state,
            element: self.element,
            text: self.text,
            address,
            app: self.app,
            max_steps: self.max_steps,
            explore: self.explore,
            allow_risky: self.allow_risky,
            recover: self.recover,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..GoToParams::default()
        }
    }
}
