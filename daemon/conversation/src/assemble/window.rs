//! The window: the part of a conversation that is sent as turns.
//!
//! A step begins whenever the conversation has grown by a fixed number of tokens. The messages at that time determine
//! the turns of the whole step. The newest of these messages stay unchanged, and older ones are shortened to their
//! brief length (`prepared::brief_limit`). As many older ones are included as fit in the share of the turns minus one
//! step. Messages that are added during the step stay unchanged, and together they are shorter than a step. Within a
//! step, a new turn therefore only appends, and the turns never exceed their share.

/// How the tokens that are left for a conversation are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Whether the whole conversation fits in the tokens that are left for it.
    pub whole: bool,
    /// Maximum tokens of the recent turns.
    pub turns: i64,
    /// Tokens for the memory of older turns.
    pub memory: i64,
    /// Tokens by which a conversation grows before its turns start at a later message.
    pub step: i64,
    /// Tokens reserved for the quotes recalled for the question.
    pub reserve: i64,
    /// Whether tokens that the turns leave unused go to the recalled quotes and not to the memory.
    pub quotes_first: bool,
}

/// Budget below which the memory and recalled quotes matter more than a stable prefix, in tokens.
const SMALL: i64 = 6_000;
/// Shares of the tokens for the conversation, per cent: memory, step and reserve, first for small budgets, then for
/// others. During a step, recalled quotes fill the room after the turns. A larger step therefore makes long stable
/// prefixes rarer, and a smaller one makes steps more frequent.
const SHARES: [(i64, i64, i64); 2] = [(72, 10, 5), (51, 10, 0)];
/// Maximum number of words of a short question, function words not counted.
const SHORT: usize = 8;
/// Shares of a question that one older message contains, for short questions and for longer ones: up to the first, the
/// question is taken for an order or a remark, from the second on for a question that older messages answer. Nine in ten
/// questions of LoCoMo have up to eight words, and half of them a share of 0.66 or more; nine in ten of the requests in
/// `tests/conversations/tuned` are longer, with a share of less than 0.37.
const ANSWERED: [(f64, f64); 2] = [(0.15, 0.4), (0.3, 0.6)];
/// Share of the memory that goes to the recalled quotes for a question that older messages answer.
const MOVED: f64 = 0.6;
/// Maximum size of the memory for messages that were removed on request, in tokens. The smaller of this limit and
/// `REQUESTED_PERCENT` applies.
const REQUESTED_TOKENS: i64 = 1_000;
/// Maximum size of the memory for messages that were removed on request, in per cent of the budget.
const REQUESTED_PERCENT: i64 = 50;
/// Maximum size of the newest messages at which the memory gives up tokens to them, in per cent of the tokens for the
/// conversation.
const MAX_NEWEST: i64 = 40;
/// Divisor for rounding: the tokens for a conversation are rounded down to a multiple of `budget / ROUND`, so that
/// small changes elsewhere do not move the turns.
const ROUND: i64 = 50;

/// Rounds tokens down to a multiple of `budget / ROUND`, so that small changes in the rest of the context have no
/// effect.
pub fn rounded(tokens: i64, budget: i64) -> i64 {
    let unit = (budget / ROUND).max(1);
    tokens / unit * unit
}

impl Plan {
    /// Splits the `available` tokens of a budget for a conversation of `said` tokens. `newest` is the number of tokens
    /// in the newest messages, which stay unchanged while they fit.
    pub fn new(budget: i64, available: i64, (said, newest): (i64, i64)) -> Self {
        if said <= available {
            return Self { whole: true, turns: said, memory: 0, step: said.max(1), reserve: 0, quotes_first: false };
        }
        let rounded = rounded(available, budget).max(1);
        let (mut memory, step, reserve) = SHARES[usize::from(budget >= SMALL)];
        let newest = newest.saturating_mul(100) / rounded;
        if newest <= MAX_NEWEST {
            memory = memory.min(100 - reserve - newest);
        }
        let share = |percent: i64| (rounded * percent / 100).max(1);
        let turns = share(100 - memory - reserve);
        Self {
            whole: false,
            turns,
            memory: share(memory),
            step: share(step),
            reserve: share(reserve),
            quotes_first: false,
        }
    }

    /// Moves tokens from the memory to the recalled quotes if older messages contain much of the question. `share` is
    /// the largest share of the question that one of them contains, 0 to 1, and `words` the number of words of the question.
    /// Larger budgets hold the quotes anyway, and keep a stable prefix.
    pub fn for_question(self, (share, words): (f64, usize), budget: i64) -> Self {
        if self.whole || budget >= SMALL {
            return self;
        }
        let (none, all) = ANSWERED[usize::from(words > SHORT)];
        let strength = ((share - none) / (all - none)).clamp(0.0, 1.0);
        let moved = (self.memory as f64 * MOVED * strength) as i64;
        Self { memory: self.memory - moved, reserve: self.reserve + moved, quotes_first: strength > 0.5, ..self }
    }

    /// Returns the plan for a conversation that fits, but whose older messages were removed on request. A short memory
    /// represents them.
    pub fn with_memory(self, budget: i64, available: i64) -> Self {
        let memory = (budget * REQUESTED_PERCENT / 100).min(REQUESTED_TOKENS).min(available - self.turns).max(0);
        Self { whole: false, memory, reserve: 0, step: available.max(1), turns: self.turns.max(1), quotes_first: false }
    }

    /// Returns the token count of a conversation at the beginning of its current step, given its current token count
    /// `said`; 0 while its turns do not exceed their share.
    pub fn began(&self, said: i64) -> i64 {
        if said <= self.turns { 0 } else { said / self.step * self.step }
    }

    /// Returns the maximum tokens of the turns at the beginning of a step. `unused` is the number of tokens that the
    /// memory does not need.
    pub fn at_start(&self, unused: i64) -> i64 {
        (self.turns - self.step).max(self.step) + unused.max(0)
    }
}
