//! Statistics about calls since the daemon started.

use std::collections::BTreeMap;
use std::time::Duration;

use afd_proto::Method as _;
use afd_proto::daemon::DaemonVersion;
use parking_lot::Mutex;

/// Statistics about calls since the daemon started, by method.
#[derive(Default)]
pub struct Calls(Mutex<BTreeMap<&'static str, Load>>);

/// Number and durations of the calls to a method.
#[derive(Clone, Copy, Default)]
pub(in crate::app) struct Load {
    pub(in crate::app) calls: u64,
    pub(in crate::app) errors: u64,
    pub(in crate::app) total: Duration,
    pub(in crate::app) longest: Duration,
}

impl Calls {
    /// Counts a finished call.
    pub fn count(&self, method: &'static str, took: Duration, failed: bool) {
        let mut loads = self.0.lock();
        let load = loads.entry(method).or_default();
        load.calls += 1;
        load.errors += u64::from(failed);
        load.total += took;
        load.longest = load.longest.max(took);
    }

    /// Returns the number of finished calls, excluding calls to `daemon.version`, which the daemon also makes itself.
    pub fn asked(&self) -> u64 {
        self.0.lock().iter().filter(|(name, _)| **name != DaemonVersion::INFO.name).map(|(_, load)| load.calls).sum()
    }

    pub(in crate::app) fn list(&self) -> Vec<(&'static str, Load)> {
        self.0.lock().iter().map(|(name, load)| (*name, *load)).collect()
    }
}
