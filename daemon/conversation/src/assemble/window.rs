//! Which part of a conversation is sent as turns.
//!
//! A step begins whenever the conversation has grown by a fixed number of tokens. Everything about the turns is decided
//! by what was there when the step began: of those messages the newest stay as they are, older ones are cut to their
//! brief length (`prepared::brief_limit`), and as many of these are there as make the turns one step less than their
//! share. Later messages stay as they are, and together they have less than a step. So within a step a turn only
//! appends, and the turns never exceed their share.

/// How the tokens that are left for a conversation are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whether the whole conversation fits.
    pub whole: bool,
    /// Maximum tokens of the recent turns.
    pub turns: i64,
    /// Tokens for the memory of older turns.
    pub memory: i64,
    /// Tokens by which a conversation grows until its turns begin elsewhere.
    pub step: i64,
    /// Tokens kept free for what is recalled for the question.
    pub reserve: i64,
}

/// Small budgets, tokens: there the memory and what is recalled weigh more than a stable prefix.
const SMALL: i64 = 6_000;
/// Shares of the tokens for the conversation, per cent: memory, step, and reserve; for small budgets, and for others.
/// What a step leaves free is filled behind the turns, so a larger step makes longer prefixes rarer and a smaller one
/// makes steps more frequent.
const SHARES: [(i64, i64, i64); 2] = [(72, 10, 5), (51, 10, 0)];
/// Size of the memory of messages that were taken out by request: tokens, and per cent of the budget; the smaller one
/// counts.
const REQUESTED_TOKENS: i64 = 1_000;
const REQUESTED_PERCENT: i64 = 50;
/// The newest messages displace memory while they take up to this share, per cent.
const MAX_NEWEST: i64 = 40;
/// The tokens for a conversation are rounded down to this share of the budget, so that small changes elsewhere do not
/// move the turns.
const ROUND: i64 = 50;

/// Rounds tokens down, so that small changes elsewhere change nothing.
pub fn rounded(tokens: i64, budget: i64) -> i64 {
    let unit = (budget / ROUND).max(1);
    tokens / unit * unit
}

impl Plan {
    /// Splits `available` tokens of a budget for a conversation of `said` tokens, of which the newest messages, which
    /// stay while they fit, have `newest`.
    pub fn new(budget: i64, available: i64, (said, newest): (i64, i64)) -> Self {
        if said <= available {
            return Self { whole: true, turns: said, memory: 0, step: said.max(1), reserve: 0 };
        }
        let rounded = rounded(available, budget).max(1);
        let (mut memory, step, reserve) = SHARES[usize::from(budget >= SMALL)];
        let newest = newest.saturating_mul(100) / rounded;
        if newest <= MAX_NEWEST {
            memory = memory.min(100 - reserve - newest);
        }
        let share = |percent: i64| (rounded * percent / 100).max(1);
        let turns = share(100 - memory - reserve);
        Self { whole: false, turns, memory: share(memory), step: share(step), reserve: share(reserve) }
    }

    /// Returns the plan for a conversation that fits, but whose older messages were taken out by request: they are
    /// represented by a short memory.
    pub fn with_memory(self, budget: i64, available: i64) -> Self {
        let memory = (budget * REQUESTED_PERCENT / 100).min(REQUESTED_TOKENS).min(available - self.turns).max(0);
        Self { whole: false, memory, reserve: 0, step: available.max(1), turns: self.turns.max(1) }
    }

    /// Returns at which total the step of a conversation of `said` tokens began; 0 if its turns do not exceed their
    /// share yet.
    pub fn began(&self, said: i64) -> i64 {
        if said <= self.turns { 0 } else { said / self.step * self.step }
    }

    /// Returns how many tokens the turns may have when a step begins. `unused` is how many tokens of the memory have
    /// nothing to hold.
    pub fn at_start(&self, unused: i64) -> i64 {
        (self.turns - self.step).max(self.step) + unused.max(0)
    }
}
