//! Replays recordings through the socket of a daemon, and scores its answers: whether hints concern elements on the
//! screen, how many observations come with a hint, and whether the first predicted outcome of the next action is right.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{RawNode, Recording, Screen, Step, scene_of};
use crate::{Client, World};

/// Time between an action and the observation of its outcome, in milliseconds.
const AFTER_ACT_MS: i64 = 4_000;

/// Scores of a daemon's answers in the last 40 % of a recording.
#[derive(Debug, Clone, Copy, Default)]
pub struct Handed {
    /// Observations of screens on which an action is possible that is known to lead to another page.
    pub looks: usize,
    /// Number of these observations that came with a hint.
    pub hinted_looks: usize,
    /// Targets of hints, except those that need scrolling first.
    pub targets: usize,
    /// Number of these targets that are on the screen.
    pub targets_on_screen: usize,
    /// Actions that were scored.
    pub actions: usize,
    /// Actions with a known outcome.
    pub known: usize,
    /// Actions whose first known outcome was right.
    pub right: usize,
    /// Actions for which "the page stays" was right.
    pub same_page: usize,
    /// Actions for which the most frequent outcome of the same action in the same activity was right.
    pub by_activity: usize,
}

impl Handed {
    /// Returns the sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            looks: self.looks + other.looks,
            hinted_looks: self.hinted_looks + other.hinted_looks,
            targets: self.targets + other.targets,
            targets_on_screen: self.targets_on_screen + other.targets_on_screen,
            actions: self.actions + other.actions,
            known: self.known + other.known,
            right: self.right + other.right,
            same_page: self.same_page + other.same_page,
            by_activity: self.by_activity + other.by_activity,
        }
    }
}

/// Replays recordings in parallel, each with its own daemon and phone, and returns the scores in the same order.
/// `steps` limits the number of steps of each. Requires debug assertions, because the daemons' clocks are advanced.
pub fn replay(recordings: &[Recording], steps: usize) -> Vec<Handed> {
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            recordings.iter().map(|recording| scope.spawn(move || Replay::run(recording, steps))).collect();
        runs.into_iter().map(|run| run.join().expect("a replay ends well")).collect()
    })
}

/// Number of times that something led to each true structure, in order of first occurrence.
type Votes<'a> = Vec<(&'a str, u32)>;

fn vote<'a>(votes: &mut Votes<'a>, structure: &'a str) {
    match votes.iter_mut().find(|(s, _)| *s == structure) {
        Some((_, count)) => *count += 1,
        None => votes.push((structure, 1)),
    }
}

/// Returns the most frequent structure; of equally frequent ones, the first.
fn winner<'a>(votes: Option<&Votes<'a>>) -> Option<&'a str> {
    votes?.iter().rev().max_by_key(|(_, count)| *count).map(|(structure, _)| *structure)
}

struct Replay<'a> {
    recording: &'a Recording,
    world: World,
    client: Client,
    handed: Handed,
    /// True structures of the states that the daemon named.
    truths: HashMap<String, Votes<'a>>,
    /// Outcomes of each action, by activity.
    by_activity: HashMap<(String, String), Votes<'a>>,
    /// Elements whose touch led from a structure to another one.
    leading: HashSet<(&'a str, String)>,
}

impl<'a> Replay<'a> {
    fn run(recording: &'a Recording, limit: usize) -> Handed {
        // Disabled, because the daemon's own captures after an action would see the screen of a later step.
        let world = World::with_clock_and("[observe]\nafter_act_ms = 0\n");
        let client = world.client();
        let (truths, by_activity, leading) = Default::default();
        Self { recording, world, client, handed: Handed::default(), truths, by_activity, leading }.steps(limit)
    }

    fn steps(mut self, limit: usize) -> Handed {
        let recording = self.recording;
        let known = |name: &String| recording.screens.contains_key(name);
        let steps: Vec<&Step> = recording.steps.iter().filter(|s| known(&s.from) && known(&s.to)).take(limit).collect();
        let train = steps.len() * 6 / 10;
        let mut shown = None;
        for (i, step) in steps.iter().enumerate() {
            let (from, to) = (&recording.screens[&step.from], &recording.screens[&step.to]);
            let look = match shown.take() {
                Some((name, look)) if name == &step.from => look,
                _ => self.look(from),
            };
            let testing = i >= train;
            if testing {
                self.judge_hints(from, &look);
            }
            let told = if testing { self.experience() } else { Value::Null };
            self.act(step, &look);
            // An earlier observation could not establish that nothing changed.
            self.world.advance(AFTER_ACT_MS);
            let next = self.look(to);
            if testing {
                self.judge_outcome(step, from, to, &told);
            }
            self.remember(step, from, to);
            shown = Some((&step.to, next));
        }
        self.handed
    }

    fn show(&self, screen: &Screen) {
        let mut phone = self.world.phone.lock();
        phone.shown = Some((scene_of(screen, self.recording.size), screen.activity.clone()));
        phone.ui_seq += 1;
    }

    fn look(&mut self, screen: &'a Screen) -> Value {
        self.show(screen);
        let look = self.client.ok("observe.page", json!({"include": ["refs"], "maxRows": 1_000}));
        if let Some(state) = look["page"]["state"].as_str() {
            vote(self.truths.entry(state.to_owned()).or_default(), &screen.structure);
        }
        look
    }

    fn experience(&mut self) -> Value {
        self.client.ok("memory.experience", json!({"limit": 10_000}))
    }

    /// Repeats the action of a step. If the target cannot be touched through the service, the action fails.
    fn act(&mut self, step: &Step, look: &Value) {
        let target = &step.action["target"];
        let bounds: Vec<i64> =
            target["bounds"].as_array().map(|b| b.iter().filter_map(Value::as_i64).collect()).unwrap_or_default();
        let place = match (alias_of(target, look), bounds.as_slice()) {
            (Some(alias), _) => json!({"by": "ref", "value": alias}),
            (None, [l, t, r, b]) => json!({"x": (l + r) / 2, "y": (t + b) / 2}),
            _ => json!({}),
        };
        let (method, params) = match step.action["type"].as_str().unwrap_or_default() {
            "touch" => ("act.tap", place),
            "long_touch" => ("act.longPress", place),
            "scroll" => {
                ("act.scroll", json!({"direction": step.action["direction"].as_str().unwrap_or("down").to_lowercase()}))
            }
            "set_text" => ("act.text", json!({"text": "words"})),
            "key" => ("act.back", json!({})),
            "intent" => ("act.launch", json!({"package": package(step)})),
            _ => ("act.stop", json!({"package": "org.example.none"})),
        };
        let _ = self.client.call(method, params);
    }

    fn judge_hints(&mut self, screen: &Screen, look: &Value) {
        let hints: Vec<&Value> = look["hints"].as_array().map(|h| h.iter().collect()).unwrap_or_default();
        let is_known = screen.nodes.iter().any(|n| self.leading.contains(&(screen.structure.as_str(), described(n))));
        if is_known {
            self.handed.looks += 1;
            self.handed.hinted_looks += usize::from(!hints.is_empty());
        }
        for target in hints.iter().filter(|h| h["first"].is_null()).map(|h| &h["target"]).filter(|t| !t.is_null()) {
            self.handed.targets += 1;
            self.handed.targets_on_screen += usize::from(is_on_screen(target, screen));
        }
    }

    /// Compares the predicted outcome of an action with its actual outcome.
    fn judge_outcome(&mut self, step: &Step, from: &'a Screen, to: &'a Screen, told: &Value) {
        if matches!(step.action["type"].as_str(), Some("intent" | "kill_app")) {
            return;
        }
        self.handed.actions += 1;
        self.handed.same_page += usize::from(from.structure == to.structure);
        let activity = winner(self.by_activity.get(&(from.activity.clone(), action(step))));
        self.handed.by_activity += usize::from(activity == Some(&to.structure));
        let log = self.client.ok("memory.log", json!({"limit": 1}));
        let done = &log["events"][0]["action"];
        let transitions = told["transitions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(outcome) = transitions.iter().find(|t| is_same(&t["action"], done)).map(|t| &t["outcomes"][0]) else {
            return;
        };
        self.handed.known += 1;
        let predicted = match outcome["kind"].as_str() {
            Some("page") => outcome["page"]["state"].as_str().and_then(|s| winner(self.truths.get(s))),
            Some("same" | "nothing") => Some(from.structure.as_str()),
            _ => None,
        };
        self.handed.right += usize::from(predicted == Some(&to.structure));
    }

    fn remember(&mut self, step: &Step, from: &'a Screen, to: &'a Screen) {
        vote(self.by_activity.entry((from.activity.clone(), action(step))).or_default(), &to.structure);
        if from.structure != to.structure
            && step.action["type"] == "touch"
            && let Some(node) = from.nodes.iter().find(|n| Some(n.0) == step.action["target"]["id"].as_i64())
        {
            self.leading.insert((&from.structure, described(node)));
        }
    }
}

/// Returns the key of an action: its type and the target's id, class and text.
fn action(step: &Step) -> String {
    let target = &step.action["target"];
    format!("{} {} {} {}", step.action["type"], target["rid"], target["cls"], target["text"])
}

/// Returns the key of a node: id, class, text and description.
fn described(node: &RawNode) -> String {
    format!("{:?} {} {:?} {:?}", node.3, node.2, node.4, node.5)
}

fn package(step: &Step) -> &str {
    let intent = step.action["intent"].as_str().unwrap_or_default();
    intent.split_whitespace().find(|w| w.contains('/')).and_then(|w| w.split('/').next()).unwrap_or("org.example.none")
}

/// Returns the alias of the ref with the same bounds and id as a target.
fn alias_of(target: &Value, look: &Value) -> Option<String> {
    let bounds: Vec<String> = target["bounds"].as_array()?.iter().map(Value::to_string).collect();
    let rows = look["refs"]["rows"].as_array()?;
    let row = rows
        .iter()
        .find(|r| r["bounds"] == bounds.join(",").as_str() && r["resId"].as_str() == target["rid"].as_str())?;
    row["ref"].as_str().map(str::to_owned)
}

/// Returns whether two actions have the same verb, parameters and target.
fn is_same(a: &Value, b: &Value) -> bool {
    let name = |a: &Value| a["target"]["title"].as_str().or(a["target"]["label"].as_str()).map(str::to_owned);
    let equal = |field: &str| a["target"][field] == b["target"][field];
    a["verb"] == b["verb"]
        && a["params"] == b["params"]
        && a["point"] == b["point"]
        && name(a) == name(b)
        && ["role", "resId", "path", "ordinal"].into_iter().all(equal)
}

/// Returns whether a visible element of a screen has the id of a target, and contains its title in its own texts or
/// those inside it. Uses only the recording.
fn is_on_screen(target: &Value, screen: &Screen) -> bool {
    let title = target["title"].as_str().or(target["label"].as_str()).unwrap_or_default();
    // Long titles are truncated.
    let title = title.trim_end_matches('\u{2026}');
    let has_title = |node: &RawNode| {
        let texts =
            [&node.4, &node.5].into_iter().flatten().map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
        title.is_empty() || texts.into_iter().any(|t| !t.is_empty() && (t.starts_with(title) || title.starts_with(&t)))
    };
    let children: HashMap<i64, Vec<&RawNode>> = screen.nodes.iter().fold(HashMap::new(), |mut all, n| {
        all.entry(n.1).or_insert_with(Vec::new).push(n);
        all
    });
    fn any_inside(node: &RawNode, children: &HashMap<i64, Vec<&RawNode>>, check: &dyn Fn(&RawNode) -> bool) -> bool {
        check(node) || children.get(&node.0).is_some_and(|c| c.iter().any(|n| any_inside(n, children, check)))
    }
    let with_id = |n: &&RawNode| target["resId"].is_null() || n.3.as_deref() == target["resId"].as_str();
    screen.nodes.iter().filter(|n| !n.7.contains('i')).filter(with_id).any(|n| any_inside(n, &children, &has_title))
}
