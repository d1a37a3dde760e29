//! Background work after an upgrade or an import, done in short pieces.

use std::sync::Arc;

use crate::app::core::Core;
use afd_conversation::messages;
use afd_experience::memory::rebuild;

/// Rebuilds the experience counters in short pieces, starting where an earlier run ended.
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

/// Creates the statements and search entries for messages recorded before an upgrade, in short pieces.
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
