//! The tasks: those on the built-in apps of the practice phone, and those on apps with an update each, which were written by
//! people who did not know the rules of memory.

use std::collections::BTreeMap;

use afd_phone::app::{self, App};
use afd_tests::TestPhone;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A step of a task.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// Tap the element with this title, which leads to another page.
    Tap(String),
    /// Tap the element with this title, which does something.
    Do(String),
    /// Find the page that shows a text. It is behind one of the rows of the current page.
    Find(String),
    /// Press Back.
    Back(IgnoredAny),
    /// Check that a text is on the screen.
    Check(String),
    /// Put a text into a field.
    #[serde(untagged)]
    Fill { fill: String, text: String },
}

/// A task, which begins on the first page of an app.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    pub app: String,
    /// What the user calls the page or element to reach; absent if it is called by its title.
    goal: Option<String>,
    pub steps: Vec<Step>,
    /// The steps after the app was updated.
    #[serde(default)]
    steps_2: Vec<Step>,
    /// The steps before the update.
    #[serde(skip)]
    before: Option<Vec<Step>>,
}

/// Returns the tasks on the built-in apps.
pub fn builtin() -> Vec<Task> {
    serde_json::from_str(include_str!("builtin.json")).expect("tasks")
}

/// Apps of other people in two versions, and tasks on them.
pub struct Set {
    pub name: &'static str,
    apps: &'static [[&'static str; 2]],
    tasks: &'static str,
    /// Other words for the goals of the tasks; empty if there are none.
    phrases: &'static str,
}

/// The apps by which the rules were made.
pub const OTHERS: Set = Set {
    name: "other apps",
    apps: &[
        [include_str!("apps/citybus.json"), include_str!("apps/citybus_2.json")],
        [include_str!("apps/hearth.json"), include_str!("apps/hearth_2.json")],
        [include_str!("apps/pigeon.json"), include_str!("apps/pigeon_2.json")],
        [include_str!("apps/potluck.json"), include_str!("apps/potluck_2.json")],
        [include_str!("apps/stride.json"), include_str!("apps/stride_2.json")],
    ],
    tasks: include_str!("tasks.json"),
    phrases: "{}",
};

/// Apps that were kept aside while the rules were made.
pub const HELD: Set = Set {
    name: "apps kept aside",
    apps: &[
        [include_str!("held/earshot.json"), include_str!("held/earshot_2.json")],
        [include_str!("held/fernbank.json"), include_str!("held/fernbank_2.json")],
        [include_str!("held/kerb.json"), include_str!("held/kerb_2.json")],
    ],
    tasks: include_str!("held/tasks.json"),
    phrases: include_str!("held/phrases.json"),
};

impl Set {
    /// Returns the tasks.
    pub fn tasks(&self) -> Vec<Task> {
        serde_json::from_str(self.tasks).expect("tasks")
    }

    /// Returns the tasks with goals in other words, where there are some.
    pub fn rephrased(&self) -> Vec<Task> {
        let phrases: BTreeMap<String, String> = serde_json::from_str(self.phrases).expect("phrases");
        let other = |task: Task| {
            let goal = task.goal.as_ref().map(|goal| phrases.get(goal).unwrap_or(goal).clone());
            Task { goal, ..task }
        };
        self.tasks().into_iter().map(other).collect()
    }

    /// Returns a version of the apps: 0, or 1 after the update.
    pub fn apps(&self, version: usize) -> impl Iterator<Item = App> {
        self.apps.iter().map(move |versions| app::parse(versions[version]).expect("an app"))
    }

    /// Starts a phone with a version of the apps.
    pub fn phone(&self, version: usize) -> TestPhone {
        TestPhone::with(|setup| setup.apps.extend(self.apps(version)))
    }
}

/// Returns whether a package is an app of one of the sets.
pub fn is_other(package: &str) -> bool {
    [OTHERS, HELD].iter().any(|set| set.apps(0).any(|app| app.package == package))
}

/// A way, and the step at its end.
pub struct Leg<'a> {
    pub way: &'a [Step],
    pub end: &'a Step,
    /// Title of the page or element to which the way leads; `None` if the step is done where the agent is.
    pub goal: Option<&'a str>,
}

/// Splits the steps of a task at those that do something.
pub fn legs(steps: &[Step]) -> Vec<Leg<'_>> {
    let (mut legs, mut from) = (Vec::new(), 0);
    for (at, end) in steps.iter().enumerate() {
        let way = &steps[from..at];
        let goal = match end {
            Step::Tap(_) | Step::Back(_) | Step::Find(_) => continue,
            Step::Do(title) => (!way.is_empty() || from == 0).then_some(title.as_str()),
            Step::Fill { .. } | Step::Check(_) => match way.last() {
                Some(Step::Tap(goal) | Step::Find(goal)) => Some(goal.as_str()),
                _ => None,
            },
        };
        legs.push(Leg { way, end, goal });
        from = at + 1;
    }
    legs
}

impl Task {
    /// Returns what an agent calls the goals of its ways: by their titles in the first version, and the last one in the
    /// user's words.
    pub fn names(&self) -> Vec<String> {
        let steps = self.before.as_ref().unwrap_or(&self.steps);
        let mut names: Vec<String> = legs(steps).iter().filter_map(|leg| leg.goal.map(str::to_owned)).collect();
        if let (Some(last), Some(goal)) = (names.last_mut(), &self.goal) {
            last.clone_from(goal);
        }
        names
    }

    /// Returns the same task after the update of its app.
    pub fn updated(&self) -> Self {
        Self { steps: self.steps_2.clone(), before: Some(self.steps.clone()), ..self.clone() }
    }
}
