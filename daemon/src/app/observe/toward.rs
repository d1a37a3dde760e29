//! The element of the page in front that brings the current task of the session nearest.
//!
//! The words of the task are resolved as those of a walk are ([`goal`]), in the app in front only. Nothing is returned
//! unless the first step of a known way is likelier than not and its element is in sight and not risky.

use afd_proto::observe::Toward;
use afd_proto::vocabulary::{Role, Verb};

use super::screen_capture::ScreenCapture;
use crate::app::Call;
use crate::app::visual::goal::{self, Asked, Goal};
use crate::app::visual::graph::{known_of, scope_in_front};
use afd_experience::visual::graph::{Edge, Graph};
use afd_experience::visual::path::{RouteQuery, routes};
use afd_screen::page::folding::fold;
use afd_screen::page::target;
use afd_workspace::tasks;

/// Least probability of the first step.
const MIN_STEP: f64 = 0.5;

/// What is known of the task in the app in front.
struct TaskGoal {
    task: i64,
    goal: Goal,
    graph: Graph,
}

impl Call {
    /// Returns the element that brings the current task nearest; `None` if there is no task, if nothing known fits its words,
    /// or if the database cannot be read.
    pub(super) async fn toward(&self, capture: &ScreenCapture) -> Option<Toward> {
        let state = self.state_in_front(capture).await?;
        let (session, place) = (self.session_id, scope_in_front(capture)?);
        let asker = self.asker();
        let read = move |c: &afd_store::Connection| {
            let Some(task) = tasks::current(c, session)? else { return Ok(None) };
            let Some((known, graph)) = known_of(c, Some(&place))? else { return Ok(None) };
            let asked = Asked::Words(task.description);
            let goal = goal::resolve(c, &known, &graph, (&asked, &asker))?.ok().flatten();
            Ok(goal.map(|goal| TaskGoal { task: task.id, goal, graph }))
        };
        let found = self.core.store.read(read).await;
        let TaskGoal { task, goal, graph } = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot read the way to the current task");
            None
        })?;
        let at = |index: usize| Some(capture.alias(index)).filter(|_| capture.numbers.get(index) != Some(&0));
        if goal.states.contains(&state) {
            let label = goal.element.as_deref().or(goal.text.as_deref())?;
            let mut named = capture.refs().iter().enumerate();
            let (index, _) = named.find(|(_, element)| fold(&element.label.title) == fold(label))?;
            return Some(Toward { task, alias: at(index)?, goal: label.to_owned(), probability: None });
        }
        let (edge, probability) = self.first_step(&graph, &goal, state)?;
        let wanted = edge.what.as_ref()?.target.as_ref()?;
        let index = target::locate(capture.snapshot(), capture.refs(), wanted)?;
        let rules = self.core.risk_rules();
        if rules.is_risky(capture.snapshot(), &capture.refs()[index]) {
            return None;
        }
        let name =
            || goal.states.iter().find_map(|state| graph.states.get(state)).map(|state| state.called().to_owned());
        let goal = goal.element.clone().or(goal.text.clone()).or_else(name)?;
        Some(Toward { task, alias: at(index)?, goal, probability: Some((probability * 1000.0).round() / 1000.0) })
    }

    /// Returns the first step of the best known way that touches nothing risky, and the probability of the whole way.
    fn first_step(&self, graph: &Graph, goal: &Goal, state: i64) -> Option<(Edge, f64)> {
        let rules = self.core.risk_rules();
        let is_usable = |edge: &&Edge| {
            let Some(action) = &edge.what else { return false };
            let target = action.target.as_ref();
            action.slots.is_empty()
                && match action.verb {
                    Verb::Tap => target.is_some_and(|target| {
                        target.ordinal.is_none()
                            && !matches!(target.role, Role::Switch | Role::Field)
                            && !rules.is_risky_target(target)
                    }),
                    Verb::Back => true,
                    _ => false,
                }
        };
        let edges = graph.edges.iter().filter(is_usable).cloned().collect();
        let usable = Graph { edges, interrupts: graph.interrupts.clone(), states: Default::default() };
        let wanted = RouteQuery { from: state, goals: goal.states.clone(), shortest: false, routes: 1 };
        let route = routes(&usable, &wanted).into_iter().next()?;
        let first = route.edges.first().filter(|edge| edge.probability >= MIN_STEP)?;
        Some(((*first).clone(), route.probability))
    }
}
