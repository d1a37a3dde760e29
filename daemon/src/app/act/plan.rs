//! Action plans: the target, the commands to send, and the data to record.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::memory::Category;
use afd_proto::vocabulary::{Action, Point, Target, Verb};
use serde_json::Value;

use super::scroll::Search;
use super::target_spec::TargetSpec;
use afd_device::{Command, Input};
use afd_screen::page::{pattern, target};

/// Function that builds the commands of a plan. Its argument is the resolved point if the plan has a target.
pub(in crate::app) type Inputs = Arc<dyn Fn(Option<Point>) -> Vec<Command> + Send + Sync>;

/// An action to execute, with its target and the data to record.
#[derive(Clone)]
pub(in crate::app) struct Plan {
    pub category: Category,
    pub action: Action,
    pub target_spec: Option<TargetSpec>,
    pub steps: Steps,
    pub evidence: Option<Value>,
    /// Whether the device's output is returned to the caller but kept out of the recorded event.
    pub private: bool,
    /// Number of inputs that the device had received when the action was decided. If it has received more by the time of
    /// the action, nothing is sent. `None` if the action does not depend on it.
    pub decided_at: Option<u64>,
    /// Whether the action is refused if it never had an effect on its page.
    pub strict: bool,
    /// Whether what the memory knows of the action is looked up before.
    pub expects: bool,
    /// Whether to recover and try again if the target is missing or covered.
    pub recover: bool,
    /// What was done to recover before, in one sentence.
    pub recovery: Option<String>,
}

impl Plan {
    /// Creates a plan without a target.
    pub(in crate::app) fn of(verb: Verb, steps: Steps) -> Self {
        Self {
            category: Category::Act,
            action: Action::of(verb),
            target_spec: None,
            steps,
            evidence: None,
            private: false,
            decided_at: None,
            strict: false,
            expects: false,
            recover: false,
            recovery: None,
        }
    }

    /// Creates a plan that sends a single command.
    pub(in crate::app) fn single(verb: Verb, command: impl Into<Command>) -> Self {
        let command = command.into();
        Self::of(verb, Steps::Send(Arc::new(move |_| vec![command.clone()])))
    }

    /// Creates a plan that opens an app, or an address in a browser.
    pub(in crate::app) fn launch(package: &str) -> Self {
        Self::single(Verb::Launch, Input::Launch(package.to_owned())).with_param("package", pattern::origin(package))
    }

    /// Creates a plan that presses Back a number of times.
    pub(in crate::app) fn backs(times: u32) -> Self {
        let commands = vec![Command::Input(Input::Back); times as usize];
        Self::of(Verb::Back, Steps::Send(Arc::new(move |_| commands.clone()))).with_param("times", times)
    }

    /// Creates a plan that presses Home and opens an app, or an address in a browser.
    pub(in crate::app) fn relaunch(package: &str) -> Self {
        let commands = [Input::Home, Input::Launch(package.to_owned())].map(Command::Input);
        Self::of(Verb::Relaunch, Steps::Send(Arc::new(move |_| commands.to_vec())))
            .with_param("package", pattern::origin(package))
    }

    /// Makes the plan a recovery from the last failure of the session.
    pub(in crate::app) fn recovery(self) -> Self {
        Self { category: Category::Recover, ..self }
    }

    /// Creates a plan that touches a target. `press_ms` is the duration of a long press, in milliseconds.
    pub(in crate::app) fn touch(verb: Verb, target: TargetSpec, press_ms: u32) -> Self {
        let inputs: Inputs = Arc::new(move |point| {
            let Some(Point { x, y }) = point else { return Vec::new() };
            let input = match verb {
                Verb::LongPress => Input::LongPress(x, y, press_ms),
                Verb::DoubleTap => Input::DoubleTap(x, y),
                Verb::Hover => Input::Hover(x, y),
                _ => Input::Tap(x, y),
            };
            vec![input.into()]
        });
        Self { target_spec: Some(target), ..Self::of(verb, Steps::Send(inputs)) }
    }

    /// Returns what the plan does, in words.
    pub(in crate::app) fn sentence(&self) -> String {
        let mut action = self.action.clone();
        // Pressing Back once needs no number.
        action.params.retain(|name, value| name != "times" || *value != 1);
        if let Some(TargetSpec::Described(wanted)) = &self.target_spec {
            action.target = Some(Target { name: None, ..wanted.target.clone() });
        }
        target::sentence(&action)
    }

    /// Adds a parameter to the recorded action.
    pub(in crate::app) fn with_param(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.action.params.insert(name.to_owned(), value.into());
        self
    }
}

/// The way in which a plan is executed.
#[derive(Clone)]
pub(in crate::app) enum Steps {
    /// Sends the commands in order.
    Send(Inputs),
    /// Scrolls until a matching node is found.
    Search(Search),
    /// Replaces the content of a text field with this text.
    Fill(Secret),
    /// Types this text into the focused element.
    Type(Secret),
    /// Opens the app with this name.
    Open(String),
    /// Drags the target to a second target.
    Drag {
        /// The second target.
        to: TargetSpec,
        /// Duration of the drag, in milliseconds.
        ms: u32,
    },
}
