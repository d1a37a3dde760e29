//! `visual.transitions`, `visual.path` and `visual.graph`: the graph of states and the routes through it.

use crate::artifact::SavedArtifact;
use crate::visual::{ScopeInfo, State, StateRef};
use crate::vocabulary::{Target, TargetSelector};

scope_params! {
    /// Parameters of `visual.transitions`.
    #[derive(Default)]
    pub struct TransitionsParams {
        /// Only transitions from this state, given by id or name.
        pub from: Option<String>,
    }

    /// Parameters of `visual.path`.
    #[derive(Default)]
    pub struct PathParams {
        /// Start: id or name of a state, or name or label of a component in it; by default the page that the session
        /// observed last.
        pub from: Option<String>,
        /// Goal: id or name of a state, or name or label of a component in it.
        pub to: String,
        /// Whether to return the route with the fewest steps instead of the most reliable one.
        #[serde(default)]
        pub shortest: bool,
        /// Maximum number of alternative routes.
        pub alternatives: Option<u32> where 0..=10 = 2,
    }

    /// Parameters of `visual.graph`.
    #[derive(Default)]
    pub struct GraphParams {
        /// Format of the graph.
        pub format: Option<GraphFormat> = GraphFormat::Dot,
        /// Absolute path of a file to write the graph to; by default the graph is returned inline.
        pub save_file: Option<String>,
    }
}

words! {
    /// Output format of a graph.
    GraphFormat {
        /// Graphviz DOT.
        Dot = "dot",
        /// Mermaid, for Markdown pages.
        Mermaid = "mermaid",
        /// SVG picture.
        Svg = "svg",
    }
}

wire! {
    /// A transition between two states.
    #[cfg_attr(feature = "schema", schemars(rename = "GraphTransition"))]
    pub struct Transition {
        /// Unique key of the transition: `from|action|to`.
        pub key: String,
        /// Id of the state that the transition starts from.
        pub from: String,
        /// Id of the state that the transition leads to.
        pub to: String,
        /// Name of the state that the transition starts from; absent if the state has none.
        pub from_name: Option<String>,
        /// Name of the state that the transition leads to; absent if the state has none.
        pub to_name: Option<String>,
        /// Description of the action in words.
        pub action: String,
        /// Element that is acted on; absent if the action has no target or was imported.
        pub target: Option<Target>,
        /// Parameters with which an action can select the target as it was during the recorded action; absent if the
        /// target has neither a label nor an id.
        pub selector: Option<TargetSelector>,
        /// Number of times the action led to the state `to`.
        pub count: i64,
        /// Number of times the action was tried in the state `from`, including failures and other outcomes.
        pub attempts: i64,
        /// Share of the attempts that led to the state `to`, 0 to 1; older attempts have less weight.
        pub success_rate: f64,
        /// Estimated probability that the action leads to the state `to`, 0 to 1: the success rate, pulled towards 0.5
        /// if there are few attempts.
        pub probability: f64,
        /// Mean duration of the transition, in milliseconds; absent if it was never measured.
        pub mean_ms: Option<i64>,
        /// Time at which the transition last succeeded, in Unix milliseconds.
        pub last_used: Option<i64>,
    }

    /// Result of `visual.transitions`.
    pub struct Transitions {
        /// App or site that the graph belongs to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Transitions, in the order in which each was first seen.
        pub transitions: Vec<Transition>,
    }

    /// A route from one state to another.
    pub struct Route {
        /// Transitions to take, in order; empty if the start is the goal.
        pub steps: Vec<Transition>,
        /// Estimated probability that all steps succeed, 0 to 1.
        pub probability: f64,
        /// Expected duration of the route, in milliseconds.
        pub expected_ms: i64,
    }

    /// Result of `visual.path`.
    pub struct Path {
        /// App or site that the states belong to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// State from which a route was sought.
        pub from: StateRef,
        /// State to which a route was sought.
        pub to: StateRef,
        /// Whether a route is known.
        pub known: bool,
        /// The result in one sentence.
        pub text: String,
        /// Best route; absent if none is known.
        pub route: Option<Route>,
        /// Alternative routes, best first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub alternatives: Vec<Route>,
        /// Reachable state that is most similar to the goal; only if no route is known.
        pub nearest: Option<StateRef>,
        /// Pop-ups that may interrupt the route, with the actions that dismiss them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub interrupts: Vec<State>,
    }

    /// Result of `visual.graph`.
    pub struct RenderedGraph {
        /// App or site that the graph belongs to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Format of the graph.
        pub format: GraphFormat,
        /// Number of states in the graph.
        pub states: u32,
        /// Number of transitions in the graph.
        pub transitions: u32,
        /// The graph; absent if it was saved to a file.
        pub graph: Option<String>,
        /// File that the graph was saved to.
        pub artifact: Option<SavedArtifact>,
    }
}

methods! {
    /// Lists the known transitions between the states of an app or site.
    VisualTransitions = "visual.transitions" (TransitionsParams, SCOPE) -> Transitions, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Finds the most reliable route to a state, or to a state that shows a component.
    VisualPath = "visual.path" (PathParams, SCOPE) -> Path, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings","to":"Wi-Fi"}"#, PATH;
    /// Renders the state graph of an app or site.
    VisualGraph = "visual.graph" (GraphParams, SCOPE) -> RenderedGraph, Read, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","format":"mermaid"}"#;
}
