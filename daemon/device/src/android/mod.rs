//! Shared parts of the drivers for Android phones: the meaning of classes and ids, the purposes of windows, key codes,
//! and checks of names.

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
