//! Learns the states of one app in the same way as the daemon, without a database.

use afd_experience::visual::identity::{Identity, Verdict};
use afd_screen::page::structure::Structure;

/// Learned states of an app.
#[derive(Default)]
pub struct Learner {
    identity: Identity,
    count: i64,
}

impl Learner {
    /// Learns a page; returns its state.
    pub fn learn(&mut self, structure: &Structure) -> i64 {
        let (state, names, example) = match self.identity.decide(structure) {
            Verdict::Is(state) | Verdict::Joins(state) => (state, false, false),
            Verdict::Extends(state) => (state, false, true),
            Verdict::New => {
                self.count += 1;
                (self.count, true, true)
            }
        };
        self.identity.note(structure, state, names, false);
        if example {
            self.identity.add_example(state, &structure.place, &structure.evidence);
        }
        state
    }

    /// Returns the state of a page without learning it.
    pub fn recognise(&self, structure: &Structure) -> Option<i64> {
        self.identity.recognise(structure)
    }
}
