//! Progress of deriving recall entries from their rows, and the wait for it.

use std::time::Duration;

use tokio::sync::{Notify, watch};

/// Maximum time that a reader waits for the entries of earlier writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress of deriving recall entries from their rows.
pub struct Progress {
    /// Number of commits that marked entries.
    marked: watch::Sender<u64>,
    /// Number of these commits that are handled: their entries were derived, or left to the background because there
    /// are too many.
    derived: watch::Sender<u64>,
    /// Signalled when a reader begins to wait.
    wanted: Notify,
}

impl Default for Progress {
    fn default() -> Self {
        // The first commit counts as marked, because another version or an interrupted import may have written rows.
        Self { marked: watch::Sender::new(1), derived: watch::Sender::new(0), wanted: Notify::new() }
    }
}

impl Progress {
    /// Counts a commit that marked entries.
    pub fn mark(&self) {
        self.marked.send_modify(|count| *count += 1);
    }

    /// Returns a receiver for the number of commits that marked entries.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.marked.subscribe()
    }

    /// Records that the first `upto` commits are handled: their entries were derived, or left to the background.
    pub fn advance(&self, upto: u64) {
        self.derived.send_replace(upto);
    }

    /// Waits until a reader waits for entries.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Waits until the entries of earlier commits are derived: all of them, or the newest if there are many. Waits at
    /// most one second, so that it also returns if the disk fails.
    pub async fn catch_up(&self) {
        let upto = *self.marked.borrow();
        let mut derived = self.derived.subscribe();
        if *derived.borrow_and_update() < upto {
            self.wanted.notify_one();
        }
        let _ = tokio::time::timeout(PATIENCE, derived.wait_for(|count| *count >= upto)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn readers_wait_for_what_was_marked_before_and_for_nothing_later() {
        let progress = Progress::default();
        progress.advance(1);
        progress.mark();
        let waits = progress.catch_up();
        tokio::pin!(waits);
        let soon = Duration::from_millis(1);
        assert!(tokio::time::timeout(soon, &mut waits).await.is_err(), "the second commit is not derived");
        progress.mark();
        progress.advance(2);
        assert!(tokio::time::timeout(soon, &mut waits).await.is_ok(), "the third commit came later");
    }

    #[tokio::test(start_paused = true)]
    async fn readers_do_not_wait_for_ever() {
        let began = tokio::time::Instant::now();
        Progress::default().catch_up().await;
        assert_eq!(began.elapsed(), PATIENCE);
    }
}
