//! Code that the drivers for Android phones share: roles and traits of elements, kinds of windows, key codes, and
//! checks of names.

pub mod dump;
mod elements;
mod finish;
mod keys;
mod names;
pub mod windows;
mod xml;

pub use finish::{finish, mask_password};
pub use keys::code;
pub use names::{app_of, check_intent, check_package};
