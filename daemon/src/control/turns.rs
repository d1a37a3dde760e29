//! Who waits for whom: work on the same thing is done one after the other.

use crate::sync::KeyedLocks;

/// The locks of use cases.
#[derive(Default)]
pub(super) struct Turns {
    /// Acts with a request key that are under way: session, device and key.
    pub(super) acts: KeyedLocks<(String, String, String)>,
    /// Other calls with one: method and key.
    pub(super) calls: KeyedLocks<(&'static str, String)>,
    /// Writers of progress files, by session.
    pub(super) progress: KeyedLocks<String>,
    /// Writers of conversations, by session.
    pub(super) conversations: KeyedLocks<String>,
    /// Held while settings are read and put into force.
    pub(super) settings: tokio::sync::Mutex<()>,
}
