//! Gives memory back while nobody calls.

use std::sync::Weak;
use std::time::Duration;

use crate::app::Core;
use afd_base::resident;

/// How often it is looked whether anybody called.
const EVERY: Duration = Duration::from_secs(20);
/// Looks without a call after which memory is given back: soon, and again after the jobs that run first.
const LOOKS: [u32; 2] = [1, 6];
/// Number of further looks after which it is given back again: jobs run without being called.
const AGAIN: u32 = 90;

/// Runs until the daemon ends.
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
            resident::trim_heap();
            resident::release_program();
        }
    }
}
