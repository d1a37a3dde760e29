//! Code that the drivers for Android phones share: roles and traits of elements, kinds of windows, key codes, and
//! checks of names.

mod elements;
mod keys;
mod names;
pub mod windows;

pub use elements::describe;
pub use keys::code;
pub use names::{check_intent, check_package};

/// Returns the app (the package) from a place of the form `package/activity`.
pub fn app_of(place: &str) -> Option<&str> {
    place.split_once('/').map(|(app, _)| app)
}
