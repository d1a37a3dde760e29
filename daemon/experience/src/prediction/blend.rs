//! Mixes the outcomes that were seen in near and far places into one distribution.
//!
//! Each place weighs its own outcomes against what farther places say: `n` attempts there have the weight `n / (n + k)`,
//! where `k` is the strength of the farther places. The strengths were chosen on six recordings of real apps so that the
//! stated probabilities agree with the shares that came true; `ui-traces --predict` measures both.

use super::destination::Destination;

/// A place where attempts at an action count, from the farthest to the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Elements of the same role in the app.
    Role,
    /// Equal rows of the page: elements with the same role, id and place in the hierarchy.
    Row,
    /// The same element in another activity of the app.
    App,
    /// The same element on another page of the activity or site.
    Activity,
    /// The same action on the page.
    State,
}

impl Level {
    const FROM_FAR: [Level; 5] = [Level::Role, Level::Row, Level::App, Level::Activity, Level::State];

    /// Returns the number of attempts that weigh as much as what farther places say.
    fn strength(self) -> f64 {
        match self {
            Level::Role | Level::Row => 2.0,
            Level::App | Level::Activity => 1.0,
            Level::State => 0.5,
        }
    }
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing changes.
    Nothing,
    /// The content of the page changes.
    Same,
    /// Another page opens.
    Page(Destination),
    /// The page before opens.
    Before,
}

/// Attempts with the same outcome.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Where the attempts were made.
    pub level: Level,
    /// The outcome.
    pub effect: Effect,
    /// Number of attempts.
    pub count: i64,
    /// Number of attempts, each weighted by its age.
    pub weight: f64,
    /// Row id of the state of a dialog that appeared over the page, if it was not the page that the action was aimed at.
    pub over: Option<i64>,
}

/// A possible outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Likely {
    /// The outcome.
    pub effect: Effect,
    /// Its probability, 0 to 1.
    pub probability: f64,
}

/// The outcomes to expect of an action.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The outcomes, most likely first. The probabilities add up to at most 1; the rest is for outcomes that were never seen.
    pub likely: Vec<Likely>,
    /// The nearest place where attempts were made.
    pub level: Level,
    /// Number of attempts there.
    pub attempts: i64,
    /// Row ids of the states of dialogs that appeared over the page to which the action led.
    pub dialogs: Vec<i64>,
}

impl Prediction {
    /// Returns the most likely outcome. Whether the page stays is decided first, then how it stays.
    pub fn top(&self) -> Option<&Likely> {
        let stays = |one: &&Likely| matches!(one.effect, Effect::Nothing | Effect::Same);
        let stay: f64 = self.likely.iter().filter(stays).map(|one| one.probability).sum();
        let leaves = self.likely.iter().find(|one| !stays(one));
        match leaves.filter(|one| one.probability >= stay) {
            Some(one) => Some(one),
            None => self.likely.iter().find(stays),
        }
    }

    /// Returns the probability that the page stays, whether or not its content changes.
    pub fn stays(&self) -> f64 {
        let stays = |one: &&Likely| matches!(one.effect, Effect::Nothing | Effect::Same);
        self.likely.iter().filter(stays).map(|one| one.probability).sum()
    }

    /// Returns the probability of an outcome that was never seen, 0 to 1.
    pub fn unknown(&self) -> f64 {
        (1.0 - self.likely.iter().map(|one| one.probability).sum::<f64>()).max(0.0)
    }

    /// Returns the row ids of the states that the action opens with at least this probability.
    pub fn states(&self, least: f64) -> Vec<i64> {
        let state = |one: &Likely| match &one.effect {
            Effect::Page(destination) if one.probability >= least => destination.state,
            _ => None,
        };
        self.likely.iter().filter_map(state).collect()
    }

    /// Returns the row id of the state that the action opens with at least this probability, if it is the most likely outcome
    /// and the action did so on this page before.
    pub fn expected_state(&self, least: f64) -> Option<i64> {
        match &self.top().filter(|top| !self.is_guess() && top.probability >= least)?.effect {
            Effect::Page(destination) => destination.state,
            _ => None,
        }
    }

    /// Returns whether nothing is known of the action on the page itself.
    pub fn is_guess(&self) -> bool {
        self.level != Level::State
    }
}

/// Mixes attempts into one prediction; `None` if there were none. `before` is the page before, if it is known.
pub fn blend(seen: &[Seen], before: Option<&Destination>) -> Option<Prediction> {
    let (mut likely, mut nearest): (Vec<Likely>, Option<(Level, i64)>) = (Vec::new(), None);
    for level in Level::FROM_FAR {
        let here: Vec<&Seen> = seen.iter().filter(|one| one.level == level && one.weight > 0.0).collect();
        let weight: f64 = here.iter().map(|one| one.weight).sum();
        if weight <= 0.0 {
            continue;
        }
        nearest = Some((level, here.iter().map(|one| one.count).sum()));
        let whole = weight + level.strength();
        likely.iter_mut().for_each(|one| one.probability *= level.strength() / whole);
        for one in here {
            let effect = match (&one.effect, before) {
                (Effect::Before, Some(before)) => Effect::Page(before.clone()),
                (Effect::Before, None) => continue,
                (Effect::Page(_), _) if level == Level::Role => continue,
                (effect, _) => effect.clone(),
            };
            match likely.iter_mut().find(|known| known.effect == effect) {
                Some(known) => known.probability += one.weight / whole,
                None => likely.push(Likely { effect, probability: one.weight / whole }),
            }
        }
    }
    likely.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let dialogs = seen.iter().filter_map(|one| one.over).collect();
    nearest.filter(|_| !likely.is_empty()).map(|(level, attempts)| Prediction { likely, level, attempts, dialogs })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(state: i64) -> Effect {
        Effect::Page(Destination::of_state(state))
    }

    fn seen(level: Level, effect: Effect, count: i64) -> Seen {
        Seen { level, effect, count, weight: count as f64, over: None }
    }

    fn top(seen: &[Seen]) -> (Effect, f64) {
        let prediction = blend(seen, None).expect("a prediction");
        let top = prediction.top().expect("an outcome");
        (top.effect.clone(), top.probability)
    }

    #[test]
    fn near_places_outweigh_far_ones_and_more_attempts_are_surer() {
        let far = seen(Level::App, page(1), 10);
        assert_eq!(top(std::slice::from_ref(&far)).0, page(1));
        assert_eq!(top(&[far.clone(), seen(Level::State, page(2), 1)]).0, page(2));
        let once = top(&[seen(Level::State, page(2), 1)]).1;
        let often = top(&[seen(Level::State, page(2), 20)]).1;
        assert!(once < 0.7 && often > 0.95, "{once} {often}");
        // Other places that agree make it surer, those that disagree make it less sure.
        let agreed = top(&[seen(Level::App, page(2), 10), seen(Level::State, page(2), 1)]).1;
        let disagreed = top(&[far, seen(Level::State, page(2), 1)]).1;
        assert!(agreed > once && disagreed <= once, "{agreed} {once} {disagreed}");
    }

    #[test]
    fn probabilities_add_up_to_one_at_most() {
        let all = [
            seen(Level::Role, Effect::Nothing, 3),
            seen(Level::Role, page(1), 5),
            seen(Level::Row, page(1), 2),
            seen(Level::App, page(2), 4),
            seen(Level::State, Effect::Same, 1),
            seen(Level::State, page(3), 1),
        ];
        let prediction = blend(&all, None).expect("a prediction");
        let sum: f64 = prediction.likely.iter().map(|one| one.probability).sum();
        assert!(sum < 1.0 && sum > 0.7, "{sum}");
        assert_eq!((prediction.level, prediction.attempts, prediction.is_guess()), (Level::State, 2, false));
    }

    #[test]
    fn a_page_that_elements_of_the_role_open_is_not_claimed() {
        let seen = [seen(Level::Role, page(1), 9), seen(Level::Role, Effect::Nothing, 1)];
        let prediction = blend(&seen, None).expect("a prediction");
        assert!(prediction.likely.iter().all(|one| one.effect == Effect::Nothing), "{prediction:?}");
        assert!(prediction.likely[0].probability < 0.1, "{prediction:?}");
        assert!(blend(&seen[..1], None).is_none(), "nothing is known of where it leads");
    }

    #[test]
    fn staying_is_one_outcome_against_leaving() {
        let seen = [
            seen(Level::State, page(1), 4),
            seen(Level::State, Effect::Same, 3),
            seen(Level::State, Effect::Nothing, 3),
        ];
        assert_eq!(top(&seen).0, Effect::Same);
    }

    #[test]
    fn the_page_before_counts_only_if_it_is_known() {
        let seen = [seen(Level::App, Effect::Before, 5)];
        assert!(blend(&seen, None).is_none());
        let before = Destination::of_state(7);
        let prediction = blend(&seen, Some(&before)).expect("a prediction");
        assert_eq!(prediction.top().map(|top| top.effect.clone()), Some(page(7)));
    }
}
