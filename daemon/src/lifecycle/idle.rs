//! Frees memory while the daemon is idle.

use std::sync::Weak;
use std::time::Duration;

use crate::app::Core;
use afd_base::platform;

/// Interval at which the daemon checks for new calls.
const EVERY: Duration = Duration::from_secs(20);
/// Numbers of consecutive checks without a call after which memory is freed: once soon, and once more after the first
/// jobs have run.
const LOOKS: [u32; 2] = [1, 6];
/// Number of further checks after which memory is freed again, because jobs also run without a call.
const AGAIN: u32 = 90;

/// Frees memory whenever the daemon is idle. Runs until the daemon ends.
pub(super) async fn run(core: Weak<Core>) {
    let (mut before, mut looks) = (0, 0);
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(core) = core.upgrade() else { return };
        let calls = core.runtime.calls.asked();
        if calls != before || core.runtime.in_flight() > 0 {
            (before, looks) = (calls, 0);
            continue;
        }
        looks += 1;
        if LOOKS.contains(&looks) || looks % AGAIN == 0 {
            core.recall.shrink();
            core.store.shrink().await;
            platform::trim_heap();
            platform::release_program();
        }
    }
}
