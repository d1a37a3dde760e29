//! `visual.*`: the state graph, and ways through it.

use crate::artifact::Written;
use crate::visual::{About, State, StateRef};
use crate::vocabulary::Target;

scope_params! {
    /// Parameters of `visual.transitions`.
    #[derive(Default)]
    pub struct TransitionsParams {
        /// Only those that begin at this state: its id or name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<String>,
    }

    /// Parameters of `visual.path`.
    #[derive(Default)]
    pub struct PathParams {
        /// Id or name of a state, or name or label of a component whose page is meant; by default the page that the session saw last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<String>,
        /// The goal, named in the same way.
        pub to: String,
        /// The fewest steps, whatever their chance.
        #[serde(default)]
        pub shortest: bool,
        /// How many other routes to tell, by default 2, at most 10.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub alternatives: Option<u32>,
    }

    /// Parameters of `visual.graph`.
    #[derive(Default)]
    pub struct GraphParams {
        /// By default `dot`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub format: Option<GraphFormat>,
        /// Write it to this file, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub save_file: Option<String>,
    }
}

words! {
    /// How a graph is drawn.
    GraphFormat {
        /// For Graphviz.
        Dot = "dot",
        /// For Markdown pages.
        Mermaid = "mermaid",
        /// A picture.
        Svg = "svg",
    }
}

wire! {
    /// What leads from one state to another.
    pub struct Transition {
        /// `from|action|to`, which no other has.
        pub key: String,
        /// Id of the state.
        pub from: String,
        /// Id of the state.
        pub to: String,
        /// What is done.
        pub action: String,
        /// What it is done to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub target: Option<Target>,
        /// How often it led there.
        pub count: i64,
        /// How often it was tried, failures and other outcomes included.
        pub attempts: i64,
        /// The part of the tries that led there, older ones weighing less.
        pub success_rate: f64,
        /// The same, pulled towards one half while little is known.
        pub probability: f64,
        /// How long it took on average, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mean_ms: Option<i64>,
        /// When it led there last, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_used: Option<i64>,
    }

    /// The state graph.
    pub struct Transitions {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// The edges, in the order in which they were first seen.
        pub transitions: Vec<Transition>,
    }

    /// A way from one state to another.
    pub struct Route {
        /// Its steps; none when the goal is where it begins.
        pub steps: Vec<Transition>,
        /// The chance that all of them work.
        pub probability: f64,
        /// How long they take, milliseconds.
        pub expected_ms: i64,
    }

    /// The way to a state, or what is known instead.
    pub struct Path {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// Where it begins.
        pub from: StateRef,
        /// The goal that was chosen.
        pub to: StateRef,
        /// Whether a way is known.
        pub known: bool,
        /// In one sentence.
        pub text: String,
        /// The way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub route: Option<Route>,
        /// Other ways.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub alternatives: Vec<Route>,
        /// Without a way: the state that can be reached and has most in common with the goal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub nearest: Option<StateRef>,
        /// Pop-ups that may come up on the way, and what takes them away.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub interrupts: Vec<State>,
    }

    /// A drawn graph.
    pub struct Drawn {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// How it is drawn.
        pub format: GraphFormat,
        /// How many states it shows.
        pub states: u32,
        /// How many edges.
        pub transitions: u32,
        /// The drawing, unless it was written to a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub graph: Option<String>,
        /// The file that was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact: Option<Written>,
    }
}

methods! {
    /// Lists what leads from state to state.
    VisualTransitions = "visual.transitions" (TransitionsParams, SCOPE) -> Transitions, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings"}"#;
    /// Finds the way to a state, or to the page of a component.
    VisualPath = "visual.path" (PathParams, SCOPE) -> Path, Read, [NotFound, StoreUnavailable], r#"{"app":"com.android.settings","to":"Wi-Fi"}"#;
    /// Draws the state graph.
    VisualGraph = "visual.graph" (GraphParams, SCOPE) -> Drawn, Read, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","format":"mermaid"}"#;
}
