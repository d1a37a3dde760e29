//! Work that an upgrade or an import leaves, done some at a time in the background.

use std::sync::Arc;

use crate::app::core::Core;
use afd_conversation::messages;
use afd_experience::memory::rebuild;

/// Makes the counters of experience again after an upgrade, some at a time, from where an earlier run ended.
pub fn rebuild_experience(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    core.tasks.spawn("rebuild-experience", move || {
        let weak = weak.clone();
        async move {
            while let Some(core) = weak.upgrade() {
                match core.store.write_long(rebuild::some).await {
                    Ok(true) => return,
                    Ok(false) => tokio::task::yield_now().await,
                    Err(error) => {
                        tracing::warn!(%error, "cannot rebuild experience; it is tried again at the next start");
                        return;
                    }
                }
            }
        }
    });
}

/// Makes the statements and search entries of messages from before an upgrade, some at a time.
pub fn index_messages(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    core.tasks.spawn("index-messages", move || {
        let weak = weak.clone();
        async move {
            while let Some(core) = weak.upgrade() {
                let origin = core.store.origin().to_owned();
                match core.store.write_long(move |c, piece| messages::index_some(c, &origin, piece)).await {
                    Ok(true) => return,
                    Ok(false) => tokio::task::yield_now().await,
                    Err(error) => {
                        tracing::warn!(%error, "cannot index messages; it is tried again at the next start");
                        return;
                    }
                }
            }
        }
    });
}
