//! Walks with `act.goTo` on recordings: the daemon learns from the first 60 % of a recording, the phone then plays the last
//! 40 %, and the walks are compared with those of two simple planners that know the same.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use afd_phone::layout::Rng;
use afd_phone::recording::play::Player;
use afd_phone::recording::{Recording, Step};
use serde_json::json;

use super::planner::{Order, Planner};
use super::replay::Replay;

/// Maximum number of steps between the two ends of a pair.
const MAX_DISTANCE: usize = 8;
/// Maximum number of steps of a walk.
pub(super) const MAX_STEPS: usize = 20;

/// Results of one way of walking.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reached {
    /// Number of walks that ended where they should.
    pub reached: usize,
    /// Steps of these walks.
    pub steps: usize,
    /// Fewest possible steps of these walks.
    pub fewest: usize,
}

impl Reached {
    /// Counts a walk; `steps` is `None` if it did not get there.
    pub(super) fn count(&mut self, steps: Option<usize>, fewest: usize) {
        let Some(steps) = steps else { return };
        self.reached += 1;
        self.steps += steps;
        self.fewest += fewest;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            reached: self.reached + other.reached,
            steps: self.steps + other.steps,
            fewest: self.fewest + other.fewest,
        }
    }

    /// Returns the number of steps per step that is needed at least.
    pub fn detour(&self) -> f64 {
        self.steps as f64 / self.fewest.max(1) as f64
    }
}

/// Results of walks.
#[derive(Debug, Clone, Default)]
pub struct Walks {
    /// Number of pairs of pages that occur in the part that was learned.
    pub pairs: usize,
    /// Other pairs, of which no planner can know.
    pub unseen: usize,
    /// Walks with `act.goTo`.
    pub go_to: Reached,
    /// Walks that ended elsewhere, but were reported as arrived.
    pub claimed: usize,
    /// Why the other walks ended, with their numbers.
    pub stopped: HashMap<String, usize>,
    /// Walks by the fewest known hops.
    pub hops: Reached,
    /// Walks by the way whose least likely step is most likely.
    pub widest: Reached,
}

impl Walks {
    /// Returns the sum of both.
    pub fn plus(mut self, other: Self) -> Self {
        for (why, count) in other.stopped {
            *self.stopped.entry(why).or_default() += count;
        }
        Self {
            pairs: self.pairs + other.pairs,
            unseen: self.unseen + other.unseen,
            go_to: self.go_to.plus(other.go_to),
            claimed: self.claimed + other.claimed,
            stopped: self.stopped,
            hops: self.hops.plus(other.hops),
            widest: self.widest.plus(other.widest),
        }
    }
}

/// Walks between pairs of pages of each recording, in parallel, and returns the results in the same order. `pairs` limits
/// the number of pairs of each. Requires debug assertions, because the daemons' clocks are advanced.
pub fn walk(recordings: Vec<Recording>, pairs: usize) -> Vec<Walks> {
    let recordings: Vec<Arc<Recording>> = recordings.into_iter().map(Arc::new).collect();
    std::thread::scope(|scope| {
        let runs: Vec<_> = recordings.iter().map(|recording| scope.spawn(move || walk_one(recording, pairs))).collect();
        runs.into_iter().map(|run| run.join().expect("the walks end well")).collect()
    })
}

/// A pair of pages: the id of the first screen, the structure of the goal, and the fewest steps between them.
struct Pair {
    from: String,
    to: String,
    fewest: usize,
}

fn walk_one(recording: &Arc<Recording>, most: usize) -> Walks {
    let known = |name: &String| recording.screens.contains_key(name);
    let steps: Vec<(usize, &Step)> =
        recording.steps.iter().enumerate().filter(|(_, step)| known(&step.from) && known(&step.to)).collect();
    let (learned, kept) = steps.split_at(steps.len() * 6 / 10);
    let Some((start, _)) = kept.first() else { return Walks::default() };
    let mut replay = Replay::new(recording);
    let steps: Vec<&Step> = learned.iter().map(|(_, step)| *step).collect();
    replay.learn(&steps);
    let states = replay.states(&steps);
    let played = *start..recording.steps.len();
    let player = || Player::new(recording.clone(), played.clone(), 0).expect("the screens are there");
    replay.play(player());
    let kept: Vec<&Step> = kept.iter().map(|(_, step)| *step).collect();
    let (mut walks, mut hops, mut widest) = (Walks::default(), player(), player());
    let [mut by_hops, mut by_width] = [Order::FewestHops, Order::Widest].map(|order| Planner::new(recording, order));
    for (_, step) in learned {
        by_hops.learn(step);
        by_width.learn(step);
    }
    let structure = |name: &String| recording.screens[name].structure.as_str();
    let seen: HashSet<&str> =
        learned.iter().flat_map(|(_, step)| [structure(&step.from), structure(&step.to)]).collect();
    let (known, unseen): (Vec<Pair>, Vec<Pair>) = pairs(recording, &kept)
        .into_iter()
        .partition(|pair| seen.contains(structure(&pair.from)) && seen.contains(pair.to.as_str()));
    walks.unseen = unseen.len();
    for pair in known.into_iter().take(most) {
        walks.pairs += 1;
        walks.hops.count(by_hops.walk(&mut hops, &pair.from, &pair.to), pair.fewest);
        walks.widest.count(by_width.walk(&mut widest, &pair.from, &pair.to), pair.fewest);
        let state = states.get(pair.to.as_str()).cloned().unwrap_or_default();
        let walked = replay.walk(&pair.from, json!({"state": state, "maxSteps": MAX_STEPS}));
        let is_there = recording.screens[&walked.at].structure == pair.to;
        walks.claimed += usize::from(walked.arrived && !is_there);
        walks.go_to.count((walked.arrived && is_there).then_some(walked.steps), pair.fewest);
        if !(walked.arrived && is_there) {
            *walks.stopped.entry(walked.stopped).or_default() += 1;
        }
    }
    walks
}

/// Returns pairs of pages that the steps connect, at random but the same each time.
fn pairs(recording: &Recording, steps: &[&Step]) -> Vec<Pair> {
    let structure = |name: &String| recording.screens[name].structure.as_str();
    let mut leads: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut screens: HashMap<&str, Vec<&String>> = HashMap::new();
    for step in steps {
        leads.entry(structure(&step.from)).or_default().insert(structure(&step.to));
        screens.entry(structure(&step.from)).or_default().push(&step.from);
    }
    let mut starts: Vec<&str> = screens.keys().copied().collect();
    starts.sort_unstable();
    let mut rng = Rng::new(11);
    let mut found = Vec::new();
    for start in starts {
        let mut seen: HashSet<&str> = HashSet::from([start]);
        let mut front = vec![start];
        for distance in 1..=MAX_DISTANCE {
            let mut next: Vec<&str> = front.iter().flat_map(|at| leads.get(at)).flatten().copied().collect();
            next.retain(|to| seen.insert(to));
            next.sort_unstable();
            for to in &next {
                let names = &screens[start];
                let from = names[rng.below(names.len() as u64) as usize].clone();
                found.push(Pair { from, to: (*to).to_owned(), fewest: distance });
            }
            front = next;
        }
    }
    for i in (1..found.len()).rev() {
        found.swap(i, rng.below(i as u64 + 1) as usize);
    }
    found
}
