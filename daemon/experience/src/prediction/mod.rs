//! Predicts where an action leads, also one that was never performed on the page.
//!
//! Idea: attempts at an action count in the nearest of five places where they were made ([`Level`]): on this page, on the
//! same element elsewhere in the activity or site, elsewhere in the app, on an equal row of this page, or on any element
//! of the role in the app. [`blend`] starts with nothing known and mixes in one place after the other, the nearest last.
//! What remains is the probability of an outcome that was never seen.
//!
//! Failures to perform an action and refuted checks are no outcomes. Of elements with the same role, only whether the page
//! stays is used: where they lead says nothing about this one.

mod before;
mod blend;
mod destination;
mod evidence;

pub use before::{History, page_before};
pub use blend::{Effect, Level, Likely, Prediction, Seen, blend};
pub use destination::Destination;
pub use evidence::{AttemptsHere, Origin, attempts_here, of_actions, without_target};
