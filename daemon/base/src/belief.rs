//! Computes the confidence in a statement from reports of its uses.
//!
//! Confidence is the mean of a Beta distribution. The prior counts as [`PRIOR_WEIGHT`] reports, and each report of
//! whether the statement held counts as one. The weight of a report halves every [`HALF_LIFE`], because apps change.
//! Without new reports the confidence returns to the prior.

/// Number of uses that the prior counts as.
const PRIOR_WEIGHT: f64 = 2.0;
/// Time after which a report counts half, milliseconds.
pub const HALF_LIFE: i64 = 180 * 86_400_000;

/// What is known of the uses of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Confidence before any use, 0 to 1.
    pub prior: f64,
    /// How often it held, as of `at`.
    pub held: f64,
    /// How often it did not.
    pub failed: f64,
    /// When it was used last, UTC milliseconds.
    pub at: Option<i64>,
}

impl Evidence {
    /// Returns the evidence of a statement that was not used yet.
    pub fn new(prior: f64) -> Self {
        Self { prior, held: 0.0, failed: 0.0, at: None }
    }

    /// Returns what it counts at a time.
    pub fn at(self, now: i64) -> Self {
        let age = now.saturating_sub(self.at.unwrap_or(now)).max(0);
        let left = 0.5_f64.powf(age as f64 / HALF_LIFE as f64);
        Self { held: self.held * left, failed: self.failed * left, at: self.at.map(|_| now), ..self }
    }

    /// Returns it with another use, and whether the statement held then (`None`: unknown).
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

    /// Returns it with what is known of another statement that says the same, as of the later use of both.
    pub fn with(self, other: Self) -> Self {
        let at = self.at.max(other.at);
        let (one, two) = (self.at(at.unwrap_or_default()), other.at(at.unwrap_or_default()));
        Self { prior: one.prior.max(two.prior), held: one.held + two.held, failed: one.failed + two.failed, at }
    }

    /// Returns the confidence at a time, 0 to 1, rounded to three decimals.
    pub fn confidence(self, now: i64) -> f64 {
        let Self { prior, held, failed, .. } = self.at(now);
        let mean = (prior * PRIOR_WEIGHT + held) / (PRIOR_WEIGHT + held + failed);
        (mean * 1_000.0).round() / 1_000.0
    }
}

/// Returns whether two confidences differ by enough to matter.
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
        // A new failure outweighs what held years ago, also where nothing was looked at in between.
        assert!(ten.used(Some(false), 10 * HALF_LIFE).confidence(10 * HALF_LIFE) < 0.4);
        assert!(ten.used(Some(false), 1).confidence(1) > 0.8);
        // Clocks that go back change nothing.
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
