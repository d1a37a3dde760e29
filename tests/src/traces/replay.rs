//! Replays recordings through the socket of a daemon, and scores its answers: whether hints concern elements on the
//! screen, how many observations come with a hint, and whether the predicted outcome of the next action comes true.

use std::collections::{BTreeMap, HashMap, HashSet};

use afd_phone::recording::play::Player;
use afd_phone::recording::{RawNode, Recording, Screen, Step};
use serde_json::{Value, json};

use crate::{Client, World};

/// Time between an action and the observation of its outcome, in milliseconds.
const AFTER_ACT_MS: i64 = 4_000;

/// A prediction of the next action, and what came.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// Probability of the outcome that was given as the most likely one; 0 if nothing was predicted.
    pub probability: f64,
    /// Whether the page came that was given as the most likely one.
    pub right: bool,
    /// Probability that nothing changes.
    pub nothing: f64,
    /// Whether nothing changed.
    pub did_nothing: bool,
    /// Whether the most likely outcome was a guess.
    pub guess: bool,
}

/// Scores of a daemon's answers in the last 40 % of a recording.
#[derive(Debug, Clone, Default)]
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
    /// The prediction of each of them.
    pub judged: Vec<Judged>,
    /// Actions for which "the page stays" was right.
    pub same_page: usize,
    /// Actions for which the most frequent outcome of the same action in the same activity was right.
    pub by_activity: usize,
    /// Actions for which the most frequent outcome of the same action on the same element was right.
    pub by_element: usize,
    /// Actions for which the most frequent outcome of the same action on a screen with the same ids, with their numbers, was
    /// right.
    pub by_ids: usize,
}

impl Handed {
    /// Returns the sum of both.
    pub fn plus(mut self, mut other: Self) -> Self {
        self.judged.append(&mut other.judged);
        Self {
            looks: self.looks + other.looks,
            hinted_looks: self.hinted_looks + other.hinted_looks,
            targets: self.targets + other.targets,
            targets_on_screen: self.targets_on_screen + other.targets_on_screen,
            actions: self.actions + other.actions,
            judged: self.judged,
            same_page: self.same_page + other.same_page,
            by_activity: self.by_activity + other.by_activity,
            by_element: self.by_element + other.by_element,
            by_ids: self.by_ids + other.by_ids,
        }
    }

    /// Returns the share of the actions whose predicted page came. An action without a prediction counts as wrong.
    pub fn accuracy(&self) -> f64 {
        share(self.judged.iter().filter(|one| one.right).count(), self.judged.len())
    }

    /// Returns the mean squared difference between the stated probability and what came (1 or 0).
    pub fn brier(&self) -> f64 {
        let squared = |one: &Judged| (one.probability - f64::from(u8::from(one.right))).powi(2);
        self.judged.iter().map(squared).sum::<f64>() / self.judged.len().max(1) as f64
    }

    /// Returns the expected calibration error: in ten bins of stated probability, the difference between the mean of the
    /// probabilities and the share that came true, weighted by the size of the bin.
    pub fn calibration_error(&self) -> f64 {
        let mut bins = [(0.0, 0.0); 10];
        for one in &self.judged {
            let bin = &mut bins[((one.probability * 10.0) as usize).min(9)];
            bin.0 += one.probability;
            bin.1 += f64::from(u8::from(one.right));
        }
        bins.iter().map(|(stated, true_)| (stated - true_).abs()).sum::<f64>() / self.judged.len().max(1) as f64
    }

    /// Returns the precision of "nothing changes" at the highest threshold that finds this share of those actions.
    pub fn precision_of_nothing(&self, recall: f64) -> f64 {
        let mut sorted: Vec<&Judged> = self.judged.iter().collect();
        sorted.sort_by(|a, b| b.nothing.total_cmp(&a.nothing));
        let all = sorted.iter().filter(|one| one.did_nothing).count();
        let (mut found, mut asserted) = (0, 0);
        // Actions with the same probability are found together.
        for group in sorted.chunk_by(|a, b| a.nothing == b.nothing) {
            asserted += group.len();
            found += group.iter().filter(|one| one.did_nothing).count();
            if found as f64 >= recall * all as f64 {
                break;
            }
        }
        share(found, asserted)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
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

/// A walk, as `act.goTo` reports it, and where it ended.
pub(super) struct Walked {
    pub(super) arrived: bool,
    pub(super) stopped: String,
    /// Number of actions.
    pub(super) steps: usize,
    /// Id of the screen at the end.
    pub(super) at: String,
}

/// A daemon that sees the screens of a recording.
pub(super) struct Replay<'a> {
    recording: &'a Recording,
    world: World,
    client: Client,
    handed: Handed,
    /// True structures of the states that the daemon named.
    truths: HashMap<String, Votes<'a>>,
    /// Outcomes of each action, by activity, by element, and by the ids on the screen.
    by_activity: HashMap<(String, String), Votes<'a>>,
    by_element: HashMap<String, Votes<'a>>,
    by_ids: HashMap<(String, String), Votes<'a>>,
    /// Elements whose touch led from a structure to another one.
    leading: HashSet<(&'a str, String)>,
}

impl<'a> Replay<'a> {
    fn run(recording: &'a Recording, limit: usize) -> Handed {
        Self::new(recording).steps(limit)
    }

    /// Starts a daemon that knows nothing.
    pub(super) fn new(recording: &'a Recording) -> Self {
        // Disabled, because the daemon's own captures after an action would see the screen of a later step.
        let world = World::with_clock_and("[observe]\nafter_act_ms = 0\n");
        let client = world.client();
        let (truths, by_activity, by_element, by_ids, leading) = Default::default();
        Self { recording, world, client, handed: Handed::default(), truths, by_activity, by_element, by_ids, leading }
    }

    /// Lets the daemon see these steps.
    pub(super) fn learn(&mut self, steps: &[&'a Step]) {
        let recording = self.recording;
        for step in steps {
            let look = self.look(&recording.screens[&step.from]);
            self.act(step, &look);
            self.world.advance(AFTER_ACT_MS);
            self.look(&recording.screens[&step.to]);
        }
    }

    /// Returns the states by which the daemon knows the structures of these steps.
    pub(super) fn states(&mut self, steps: &[&'a Step]) -> HashMap<&'a str, String> {
        let recording = self.recording;
        let newest = steps.iter().flat_map(|step| [&step.from, &step.to]);
        let by_structure: HashMap<&str, &Screen> =
            newest.map(|name| &recording.screens[name]).map(|screen| (screen.structure.as_str(), screen)).collect();
        let named = by_structure.into_iter().filter_map(|(structure, screen)| {
            let look = self.look(screen);
            Some((structure, look["page"]["state"].as_str()?.to_owned()))
        });
        named.collect()
    }

    /// Lets the phone play a recording from now on.
    pub(super) fn play(&self, player: Player) {
        let mut phone = self.world.phone.lock();
        (phone.shown, phone.player) = (None, Some(player));
        phone.ui_seq += 1;
    }

    /// Walks from a screen with `act.goTo`.
    pub(super) fn walk(&mut self, from: &str, params: Value) -> Walked {
        let shown = self.world.phone.lock().player.as_mut().is_some_and(|player| player.show(from));
        assert!(shown, "the recording has the screen");
        // What is shown here is no outcome of the step before.
        self.world.advance(AFTER_ACT_MS * 10);
        let walked = self.client.call("act.goTo", params);
        let phone = self.world.phone.lock();
        let now = phone.clock.now_ms();
        let at = phone.player.as_ref().map(|player| player.name(now).to_owned()).unwrap_or_default();
        match walked {
            Ok(walked) => Walked {
                arrived: walked["arrived"] == true,
                stopped: walked["stopped"].as_str().unwrap_or_default().to_owned(),
                steps: walked["steps"].as_array().map_or(0, Vec::len),
                at,
            },
            Err(error) => Walked { arrived: false, stopped: error.code, steps: 0, at },
        }
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
            let told = if testing { self.predict(step) } else { Value::Null };
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
        phone.shown = Some((self.recording.scene(screen), screen.activity.clone()));
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

    fn predict(&mut self, step: &Step) -> Value {
        let params = match verb(step) {
            "tap" => json!({"limit": 1_000}),
            verb => json!({"verb": verb, "limit": 1_000}),
        };
        self.client.ok("memory.predict", params)
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
        let params = match verb(step) {
            "tap" | "longPress" => place,
            "scroll" => json!({"direction": step.action["direction"].as_str().unwrap_or("down").to_lowercase()}),
            "text" => json!({"text": "words"}),
            "launch" => json!({"package": step.package().unwrap_or("org.example.none")}),
            "stop" => json!({"package": "org.example.none"}),
            _ => json!({}),
        };
        let method = &format!("act.{}", verb(step));
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
        let is_right = |predicted: Option<&str>| usize::from(predicted == Some(to.structure.as_str()));
        self.handed.by_activity += is_right(winner(self.by_activity.get(&(from.activity.clone(), step.key()))));
        self.handed.by_element += is_right(winner(self.by_element.get(&step.key())));
        self.handed.by_ids += is_right(winner(self.by_ids.get(&(ids(from), step.key()))));
        let log = self.client.ok("memory.log", json!({"limit": 1}));
        let done = &log["events"][0]["action"];
        let predictions = told["predictions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let found = predictions.iter().find(|one| is_same(&one["action"], done));
        let outcomes = found.and_then(|one| one["outcomes"].as_array()).map(Vec::as_slice).unwrap_or_default();
        let mut votes: Vec<(&str, f64)> = Vec::new();
        let mut nothing = 0.0;
        for outcome in outcomes {
            let probability = outcome["probability"].as_f64().unwrap_or_default();
            let page = match outcome["kind"].as_str() {
                Some("page") => outcome["state"].as_str().and_then(|s| winner(self.truths.get(s))).unwrap_or("unknown"),
                _ => from.structure.as_str(),
            };
            if outcome["kind"] == "nothing" {
                nothing += probability;
            }
            match votes.iter_mut().find(|(known, _)| *known == page) {
                Some((_, sum)) => *sum += probability,
                None => votes.push((page, probability)),
            }
        }
        let top = votes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        self.handed.judged.push(Judged {
            probability: top.map_or(0.0, |(_, probability)| *probability),
            right: top.is_some_and(|(page, _)| *page == to.structure),
            nothing,
            did_nothing: step.noop,
            guess: found.is_some_and(|one| one["guess"] == true),
        });
    }

    fn remember(&mut self, step: &Step, from: &'a Screen, to: &'a Screen) {
        vote(self.by_activity.entry((from.activity.clone(), step.key())).or_default(), &to.structure);
        vote(self.by_element.entry(step.key()).or_default(), &to.structure);
        vote(self.by_ids.entry((ids(from), step.key())).or_default(), &to.structure);
        if from.structure != to.structure
            && step.action["type"] == "touch"
            && let Some(node) = from.nodes.iter().find(|n| Some(n.0) == step.action["target"]["id"].as_i64())
        {
            self.leading.insert((&from.structure, described(node)));
        }
    }
}

/// Returns the verb with which a step is repeated.
fn verb(step: &Step) -> &'static str {
    match step.kind() {
        // Such as one that stops an app.
        "intent" if step.package().is_none() => "stop",
        "touch" => "tap",
        "long_touch" => "longPress",
        "scroll" => "scroll",
        "set_text" => "text",
        "key" => "back",
        "intent" => "launch",
        _ => "stop",
    }
}

/// Returns the resource ids of a screen's visible elements, sorted, with the number of elements of each.
fn ids(screen: &Screen) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let visible = screen.nodes.iter().filter(|node| !node.7.contains('i'));
    visible.filter_map(|node| node.3.as_deref()).for_each(|id| *counts.entry(id).or_default() += 1);
    format!("{counts:?}")
}

/// Returns the key of a node: id, class, text and description.
fn described(node: &RawNode) -> String {
    format!("{:?} {} {:?} {:?}", node.3, node.2, node.4, node.5)
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
        // A point says where the element was.
        && (!a["target"].is_null() || a["point"] == b["point"])
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
