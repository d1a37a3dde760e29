//! Computes the confidence in a statement from reports on its uses.
//!
//! Confidence is the mean of a Beta distribution. The prior counts as [`PRIOR_WEIGHT`] reports, and each report of
//! whether the statement held counts as one. The weight of a report halves every [`HALF_LIFE`], because apps change.
//! Without new reports the confidence returns to the prior.

/// Number of reports to which the prior is equivalent.
const PRIOR_WEIGHT: f64 = 2.0;
/// Time in which the weight of a report halves, in milliseconds.
pub const HALF_LIFE: i64 = 180 * 86_400_000;

/// The evidence for a statement: its prior, and the weighted reports on its uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Confidence before the statement was first used, 0 to 1.
    pub prior: f64,
    /// Weighted number of uses in which the statement held, as of `at`.
    pub held: f64,
    /// Weighted number of uses in which the statement did not hold, as of `at`.
    pub failed: f64,
    /// Time of the last use, in Unix milliseconds; `None` if there was none.
    pub at: Option<i64>,
}

impl Evidence {
    /// Returns the evidence for a statement that has never been used.
    pub fn new(prior: f64) -> Self {
        Self { prior, held: 0.0, failed: 0.0, at: None }
    }

    /// Returns the evidence with its weights reduced to their values at the time `now`, in Unix milliseconds.
    pub fn at(self, now: i64) -> Self {
        let age = now.saturating_sub(self.at.unwrap_or(now)).max(0);
        let left = 0.5_f64.powf(age as f64 / HALF_LIFE as f64);
        Self { held: self.held * left, failed: self.failed * left, at: self.at.map(|_| now), ..self }
    }

    /// Returns this evidence with an additional use at the time `now`, in Unix milliseconds. `held` says whether the
    /// statement held, and is `None` if that is unknown.
    pub fn used(self, held: Option<bool>, now: i64) -> Self {
        let before = self.at(now);
        let one = |counts: bool| f64::from(u8::from(counts));
        Self {
            held: before.held + one(held == Some(true)),
            failed: before.failed + one(held == Some(false)),
            at: Some(now),
            ..before
        }
    }

    /// Returns this evidence combined with the evidence for another statement that has the same meaning, as of the
    /// later of their last uses. The higher prior is kept.
    pub fn with(self, other: Self) -> Self {
        let at = self.at.max(other.at);
        let (one, two) = (self.at(at.unwrap_or_default()), other.at(at.unwrap_or_default()));
        Self { prior: one.prior.max(two.prior), held: one.held + two.held, failed: one.failed + two.failed, at }
    }

    /// Returns the confidence at the time `now` (Unix milliseconds), 0 to 1, rounded to three decimals.
    pub fn confidence(self, now: i64) -> f64 {
        let Self { prior, held, failed, .. } = self.at(now);
        let mean = (prior * PRIOR_WEIGHT + held) / (PRIOR_WEIGHT + held + failed);
        (mean * 1_000.0).round() / 1_000.0
    }
}

/// Returns whether two confidences differ by at least 0.01.
pub fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() >= 0.01
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(prior: f64, held: f64, failed: f64) -> Evidence {
        Evidence { prior, held, failed, at: Some(0) }
    }

    #[test]
    fn confidence_follows_reported_uses() {
        assert_eq!(Evidence::new(0.5).confidence(7), 0.5);
        assert!(evidence(0.5, 3.0, 0.0).confidence(0) > 0.75 && evidence(0.5, 0.0, 3.0).confidence(0) < 0.25);
        assert!(evidence(0.9, 0.0, 1.0).confidence(0) > evidence(0.5, 0.0, 1.0).confidence(0));
        assert_eq!(Evidence::new(0.5).used(None, 5).confidence(5), 0.5);
    }

    #[test]
    fn what_was_reported_long_ago_counts_less() {
        let ten = evidence(0.5, 10.0, 0.0);
        assert_eq!(ten.at(HALF_LIFE).held, 5.0);
        assert!(ten.confidence(20 * HALF_LIFE) < 0.501);
        // A new failure outweighs uses that held years ago, even if nothing was reported in between.
        assert!(ten.used(Some(false), 10 * HALF_LIFE).confidence(10 * HALF_LIFE) < 0.4);
        assert!(ten.used(Some(false), 1).confidence(1) > 0.8);
        // A clock that is set back changes nothing.
        assert_eq!(ten.at(-5).held, 10.0);
    }

    #[test]
    fn evidence_of_two_is_that_of_their_uses() {
        let both = evidence(0.5, 2.0, 1.0).with(Evidence::new(0.8));
        assert_eq!((both.prior, both.held, both.failed, both.at), (0.8, 2.0, 1.0, Some(0)));
        assert_eq!(Evidence::new(0.5).with(Evidence::new(0.5)).at, None);
        let later = Evidence { at: Some(HALF_LIFE), ..evidence(0.5, 3.0, 0.0) };
        let both = evidence(0.5, 4.0, 0.0).with(later);
        assert_eq!((both.held, both.at), (5.0, Some(HALF_LIFE)), "merging is no use");
    }
}
