//! What is known of a phone between readings of its screen.

use std::collections::BTreeSet;
use std::time::Duration;

use super::screen;
use super::typing::Typist;
use afd_screen::page::Snapshot;

/// Maximum wait for a dump of a place that gave none last time.
const RESTLESS: Duration = Duration::from_secs(2);
/// Number of such places that are remembered.
const MAX_RESTLESS: usize = 200;

/// What is known of a phone.
#[derive(Debug, Clone, Default)]
pub struct KnownPhone {
    /// Size of the screen as it was turned when it was read last; `None` if it was not.
    pub size: Option<(i32, i32)>,
    /// Whether dumps must be written to a file, because the phone prints none.
    pub needs_file: bool,
    /// Whether the phone lacks `timeout`.
    pub lacks_timeout: bool,
    /// Input method that types any text, if it is the phone's.
    pub typist: Option<Typist>,
    /// Whether the field with the focus holds a password; `None` if there was an input since the screen was read.
    pub in_password: Option<bool>,
    /// The place that was read last.
    pub place: Option<String>,
    /// Places that gave no dump when they were read last, because they never stand still.
    pub restless: BTreeSet<String>,
}

impl KnownPhone {
    /// Returns the maximum wait for a dump: less than usual where the last one gave none.
    pub fn dump_limit(&self, usual: Duration) -> Duration {
        match self.place.as_ref().is_some_and(|place| self.restless.contains(place)) {
            true => usual.min(RESTLESS),
            false => usual,
        }
    }

    /// Remembers what a reading of the screen says of the phone.
    pub fn remember(&mut self, snapshot: &Snapshot, typist: Option<Typist>, in_password: Option<bool>) {
        let has_tree = !snapshot.nodes.is_empty();
        self.size = snapshot.size.filter(|_| has_tree);
        self.typist = typist;
        self.in_password = in_password;
        if let Some(place) = &snapshot.place {
            // A place that stands still now gets its time again.
            match snapshot.degraded.is_some_and(screen::is_restless) {
                true if self.restless.len() < MAX_RESTLESS => drop(self.restless.insert(place.clone())),
                true => {}
                false => drop(self.restless.remove(place)),
            }
        }
        self.place.clone_from(&snapshot.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_that_never_stands_still_gets_less_time_until_it_does() {
        let usual = Duration::from_secs(5);
        let seen = |place: &str, degraded: Option<&'static str>| Snapshot {
            place: Some(place.to_owned()),
            degraded,
            ..Snapshot::default()
        };
        let mut known = KnownPhone::default();
        assert_eq!(known.dump_limit(usual), usual);
        known.remember(&seen("a/.Game", Some(screen::LATE)), None, None);
        assert_eq!(known.dump_limit(usual), RESTLESS);
        known.remember(&seen("a/.Menu", None), None, None);
        assert_eq!(known.dump_limit(usual), usual, "another place");
        known.remember(&seen("a/.Game", Some(screen::LATE)), None, None);
        known.remember(&seen("a/.Game", None), None, None);
        assert_eq!(known.dump_limit(usual), usual, "it stands still now");
    }
}
