//! Scores how well states are recognised: whether they predict the effect of an action, whether their number matches
//! that of the true structures, and whether a disturbed screen keeps its state.

use std::collections::{HashMap, HashSet};

use afd_phone::layout::Rng;
use afd_phone::recording::Recording;
use afd_screen::page::structure::Structure;

use super::disturb::disturb;
use super::structure_of;
use crate::learner::Learner;

/// Number of disturbed copies of each screen.
const COPIES: usize = 5;

/// The scores of a recording.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    /// Fraction of test steps whose next structure was predicted correctly; no prediction counts as wrong.
    pub all: f64,
    /// States per true structure.
    pub frag: f64,
    /// True structures per state.
    pub mix: f64,
    /// Fraction of disturbed screens that were recognised as the state of the original screen.
    pub robust: f64,
    /// The same if each disturbed screen is also learned before the next one.
    pub robust_learning: f64,
}

/// Scores a recording: the first 60 % of its steps train the prediction, the rest test it. Screens are learned
/// throughout, in chronological order.
pub fn score(recording: &Recording) -> Score {
    let structures: HashMap<&str, Structure> =
        recording.screens.iter().map(|(name, screen)| (name.as_str(), structure_of(screen, recording))).collect();
    let known = |name: &String| structures.contains_key(name.as_str());
    let steps: Vec<_> = recording.steps.iter().filter(|s| known(&s.from) && known(&s.to)).collect();
    let train = steps.len() * 6 / 10;
    let mut learner = Learner::default();
    let mut votes: HashMap<(i64, String), Vec<(&str, u32)>> = HashMap::new();
    let mut pairs: HashSet<(i64, &str)> = HashSet::new();
    let mut correct = 0;
    for (i, step) in steps.iter().enumerate() {
        let (from, to) = (learner.learn(&structures[step.from.as_str()]), learner.learn(&structures[step.to.as_str()]));
        let next = recording.screens[&step.to].structure.as_str();
        pairs.insert((from, recording.screens[&step.from].structure.as_str()));
        pairs.insert((to, next));
        let vote = votes.entry((from, step.key())).or_default();
        if i >= train {
            // Of equally frequent structures, the one that occurred first wins.
            let best = vote.iter().rev().max_by_key(|(_, count)| *count);
            correct += usize::from(best.is_some_and(|(structure, _)| *structure == next));
        } else {
            match vote.iter_mut().find(|(structure, _)| *structure == next) {
                Some((_, count)) => *count += 1,
                None => vote.push((next, 1)),
            }
        }
    }
    let states = pairs.iter().map(|(state, _)| state).collect::<HashSet<_>>().len().max(1);
    let truths = pairs.iter().map(|(_, structure)| structure).collect::<HashSet<_>>().len().max(1);
    let (robust, robust_learning) = robustness(recording, &structures, &mut learner);
    Score {
        all: correct as f64 / (steps.len() - train).max(1) as f64,
        frag: states as f64 / truths as f64,
        mix: pairs.len() as f64 / states as f64,
        robust,
        robust_learning,
    }
}

fn robustness(recording: &Recording, structures: &HashMap<&str, Structure>, learner: &mut Learner) -> (f64, f64) {
    let mut names: Vec<&str> = structures.keys().copied().collect();
    names.sort_unstable();
    // Screens that occur in no step have not been learned yet.
    names.iter().for_each(|name| {
        if learner.recognise(&structures[name]).is_none() {
            learner.learn(&structures[name]);
        }
    });
    let own: HashMap<&str, Option<i64>> =
        names.iter().map(|name| (*name, learner.recognise(&structures[name]))).collect();
    let mut rng = Rng::new(7);
    let disturbed: Vec<(&str, Structure)> = (0..COPIES)
        .flat_map(|_| {
            names
                .iter()
                .map(|name| (*name, structure_of(&disturb(&recording.screens[*name], &mut rng), recording)))
                .collect::<Vec<_>>()
        })
        .collect();
    let total = disturbed.len().max(1) as f64;
    let kept = disturbed.iter().filter(|(name, structure)| learner.recognise(structure) == own[name]).count();
    let learned = disturbed.iter().filter(|(name, structure)| Some(learner.learn(structure)) == own[name]).count();
    (kept as f64 / total, learned as f64 / total)
}
