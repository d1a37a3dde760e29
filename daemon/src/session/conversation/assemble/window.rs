//! Which part of a conversation is sent as turns.
//!
//! Turns are measured by their brief lengths (`messages::brief_limit`), whose running total is stored. They begin at a multiple of a step
//! of that total, and a new step begins when they have grown by one. Messages that were there when the step began, apart from the newest
//! of them, are cut to their brief length; later ones stay as they are. So within a step a turn only appends.

/// How the tokens that are left for a conversation are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whether the whole conversation fits.
    pub whole: bool,
    /// Maximum brief tokens of the recent turns.
    pub turns: i64,
    /// Tokens for the memory of older turns.
    pub memory: i64,
    /// Brief tokens by which the start of the turns moves at a time.
    pub step: i64,
    /// Tokens kept free for what is recalled for the question.
    pub reserve: i64,
    /// Tokens by which the newest messages may exceed their brief lengths before the older of them are cut.
    pub surplus: i64,
}

/// Small budgets, tokens: there the memory and what is recalled weigh more than a stable prefix.
const SMALL: i64 = 6_000;
/// Shares of the tokens for the conversation, per cent: memory, step, and reserve; for small budgets, and for others.
const SHARES: [(i64, i64, i64); 2] = [(80, 10, 5), (51, 8, 0)];
/// A conversation that grows by this share of its tokens per call, per mille, moves in steps of the second share, per cent: with smaller
/// ones nearly every call would begin a new step.
const FAST: (i64, i64) = (30, 12);
/// Share that the newest messages may take beyond their brief lengths, per cent.
const SURPLUS: i64 = 2;
/// Size of the memory of messages that were taken out by request: tokens, and per cent of the budget; the smaller one counts.
const REQUESTED: (i64, i64) = (1_000, 50);
/// The newest messages displace memory while they take up to this share, per cent.
const MAX_NEWEST: i64 = 40;
/// The tokens for a conversation are rounded down to this share of the budget, so that small changes elsewhere do not move the turns.
const ROUND: i64 = 50;

impl Plan {
    /// Splits `available` tokens of a budget for a conversation of `said` tokens, of which the newest messages, which stay while they fit,
    /// have `newest`, and which grows by `growth` brief tokens per call.
    pub fn new(budget: i64, available: i64, (said, newest, growth): (i64, i64, i64)) -> Self {
        if said <= available {
            return Self { whole: true, turns: said, memory: 0, step: said.max(1), reserve: 0, surplus: said };
        }
        let unit = (budget / ROUND).max(1);
        let rounded = (available / unit * unit).max(1);
        let (mut memory, mut step, reserve) = SHARES[usize::from(budget >= SMALL)];
        if budget >= SMALL && growth * 1_000 >= rounded * FAST.0 {
            step = FAST.1;
        }
        let newest = newest.saturating_mul(100) / rounded;
        if newest <= MAX_NEWEST {
            memory = memory.min(100 - reserve - SURPLUS - newest);
        }
        let share = |percent: i64| (rounded * percent / 100).max(1);
        let turns = share(100 - memory - reserve - SURPLUS);
        Self { whole: false, turns, memory: share(memory), step: share(step), reserve: share(reserve), surplus: share(SURPLUS) }
    }

    /// Returns the plan for a conversation that fits, but whose older messages were taken out by request: they are represented by a short
    /// memory.
    pub fn with_memory(self, budget: i64, available: i64) -> Self {
        let memory = (budget * REQUESTED.1 / 100).min(REQUESTED.0).min(available - self.turns).max(0);
        Self { whole: false, memory, reserve: 0, step: available.max(1), turns: self.turns.max(1), surplus: available }
    }

    /// Returns the window of a conversation of `brief` tokens in brief lengths. `unused` is how many tokens of the memory have nothing to
    /// hold; the turns get them.
    pub fn window(&self, brief: i64, unused: i64) -> Window {
        let steps = (brief - self.turns + self.step - 1).max(0) / self.step;
        let begin = steps * self.step - (unused.max(0) / self.step) * self.step;
        let settled = if steps == 0 { 0 } else { self.turns + (steps - 1) * self.step };
        Window { begin: begin.max(0), settled }
    }
}

/// A window on a conversation, in brief tokens from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Where the turns begin.
    pub begin: i64,
    /// Total at which the current step began.
    pub settled: i64,
}
