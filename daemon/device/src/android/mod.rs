//! What the drivers of Android phones share: what classes and ids mean, what windows are for, the codes of keys, and which
//! names are acceptable.

mod elements;
mod keys;
mod names;
pub mod windows;

pub use elements::describe;
pub use keys::code;
pub use names::{check_intent, check_package};

/// Returns the app of a place, which is `package/activity`.
pub fn app_of(place: &str) -> Option<&str> {
    place.split_once('/').map(|(app, _)| app)
}
