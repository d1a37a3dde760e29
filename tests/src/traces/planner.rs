//! Two simple planners, with which walks are compared. They know the true structure of each screen, count where each action
//! led, and take the best way; an action that led elsewhere is not tried again in the same walk.

use std::collections::{HashMap, HashSet};

use afd_phone::recording::play::{Played, Player};
use afd_phone::recording::{Recording, Step};
use afd_phone::scene::Node;
use serde_json::Value;

use super::walks::MAX_STEPS;

/// Time between two steps, in milliseconds.
const STEP_MS: i64 = 10_000;

/// Which way is the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The one with the fewest steps.
    FewestHops,
    /// The one whose least likely step is most likely.
    Widest,
}

/// A planner and what it has counted.
pub(super) struct Planner<'a> {
    recording: &'a Recording,
    order: Order,
    /// Number of times that an action led from a structure to another one.
    counts: HashMap<(String, String), HashMap<String, u32>>,
    /// The actions, by their keys.
    actions: HashMap<String, &'a Step>,
    now: i64,
}

/// A known step: the key of the action, the structure to which it leads, and its share of the outcomes.
type Way<'b> = (&'b str, &'b str, f64);

impl<'a> Planner<'a> {
    pub(super) fn new(recording: &'a Recording, order: Order) -> Self {
        Self { recording, order, counts: HashMap::new(), actions: HashMap::new(), now: 0 }
    }

    fn structure(&self, screen: &str) -> String {
        self.recording.screens[screen].structure.clone()
    }

    /// Counts a step.
    pub(super) fn learn(&mut self, step: &'a Step) {
        let key = key(step);
        self.actions.entry(key.clone()).or_insert(step);
        let (from, to) = (self.structure(&step.from), self.structure(&step.to));
        *self.counts.entry((from, key)).or_default().entry(to).or_default() += 1;
    }

    /// Walks from a screen to a structure. Returns the number of steps; `None` if it did not get there.
    pub(super) fn walk(&mut self, player: &mut Player, from: &str, goal: &str) -> Option<usize> {
        player.show(from);
        let mut failed: HashSet<(String, String)> = HashSet::new();
        for taken in 0..=MAX_STEPS {
            let here = self.structure(player.name(self.now));
            if here == goal {
                return Some(taken);
            }
            let (action, to) = loop {
                let (action, to) = self.next(&here, goal, &failed)?;
                if let Some(point) = point_of(player, self.now, self.actions[&action]) {
                    perform(player, self.actions[&action], point, self.now);
                    break (action, to);
                }
                failed.insert((here.clone(), action));
            };
            self.now += STEP_MS;
            let came = self.structure(player.name(self.now));
            *self.counts.entry((here.clone(), action.clone())).or_default().entry(came.clone()).or_default() += 1;
            if came != to {
                failed.insert((here, action));
            }
        }
        None
    }

    /// Returns the action at which the best way begins, and the structure to which it should lead.
    fn next(&self, here: &str, goal: &str, failed: &HashSet<(String, String)>) -> Option<(String, String)> {
        let mut ways: HashMap<&str, Vec<Way<'_>>> = HashMap::new();
        for ((from, action), led) in &self.counts {
            let all: u32 = led.values().sum();
            if failed.contains(&(from.clone(), action.clone())) {
                continue;
            }
            let outcomes = led.iter().filter(|(to, _)| *to != from);
            ways.entry(from)
                .or_default()
                .extend(outcomes.map(|(to, count)| (action.as_str(), to.as_str(), f64::from(*count) / f64::from(all))));
        }
        ways.values_mut().for_each(|all| all.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(b.0))));
        // From the goal backwards: of each structure, how good its best way is, and the step at which that begins.
        let mut best: HashMap<&str, ((f64, f64), Option<Way<'_>>)> = HashMap::from([(goal, ((1.0, 1.0), None))]);
        let rank = |hops: f64, width: f64| match self.order {
            Order::FewestHops => (-hops, width),
            Order::Widest => (width, -hops),
        };
        let parts = |rank: (f64, f64)| match self.order {
            Order::FewestHops => (-rank.0, rank.1),
            Order::Widest => (-rank.1, rank.0),
        };
        best.insert(goal, (rank(0.0, 1.0), None));
        loop {
            let mut is_better = false;
            for (from, all) in &ways {
                for way in all {
                    let Some((beyond, _)) = best.get(way.1).copied() else { continue };
                    let (hops, width) = parts(beyond);
                    let found = rank(hops + 1.0, width.min(way.2));
                    if *from != goal && best.get(from).is_none_or(|(known, _)| found > *known) {
                        best.insert(from, (found, Some(*way)));
                        is_better = true;
                    }
                }
            }
            if !is_better {
                break;
            }
        }
        let (_, way) = best.get(here)?;
        way.map(|(action, to, _)| (action.to_owned(), to.to_owned()))
    }
}

/// Returns the key of a step's action, with where it scrolls, which key it presses, or what it launches.
fn key(step: &Step) -> String {
    let how = ["direction", "name", "intent"].map(|name| &step.action[name]);
    format!("{} {how:?}", step.key())
}

/// Returns where the target of an action is on the screen; any point for an action without one, `None` if it is not in sight.
fn point_of(player: &Player, now: i64, step: &Step) -> Option<(f32, f32)> {
    let target = &step.action["target"];
    if target.is_null() || step.kind() == "scroll" {
        return Some((0.0, 0.0));
    }
    fn find<'a>(node: &'a Node, target: &Value) -> Option<&'a Node> {
        let same = |name: &str, own: Option<&str>| target[name].as_str() == own;
        let is_it = same("rid", node.res_id.as_deref())
            && same("cls", Some(&node.class))
            && same("text", node.text.as_deref())
            && !node.hidden;
        if is_it { Some(node) } else { node.children.iter().find_map(|child| find(child, target)) }
    }
    player.scene(now).windows.iter().find_map(|window| find(&window.root, target)).map(|node| node.bounds.center())
}

fn perform(player: &mut Player, step: &Step, (x, y): (f32, f32), now: i64) {
    let scene = player.scene(now).clone();
    let hit = scene.hit(x, y).map(|(_, node)| node);
    let input = match step.kind() {
        "touch" => Played::Touch(false, hit, (x, y)),
        "long_touch" => Played::Touch(true, hit, (x, y)),
        "scroll" => Played::Scroll(step.action["direction"].as_str().unwrap_or_default()),
        "set_text" => Played::Text,
        "key" => Played::Back,
        _ => step.package().map_or(Played::Stop, Played::Launch),
    };
    player.play(input, now);
}
