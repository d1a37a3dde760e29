//! How far the entries are in step with their rows, and who waits for that.

use std::time::Duration;

use tokio::sync::watch;

/// How long a reader waits for the entries of what was written before.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far the entries are in step with their rows.
pub struct Progress {
    /// Number of commits that marked entries.
    marked: watch::Sender<u64>,
    /// Number of those whose entries were derived, or are among too many.
    derived: watch::Sender<u64>,
}

impl Default for Progress {
    fn default() -> Self {
        // Rows may have been written by another version, or by an import that was cut off.
        Self { marked: watch::Sender::new(1), derived: watch::Sender::new(0) }
    }
}

impl Progress {
    /// Tells that entries were marked.
    pub fn mark(&self) {
        self.marked.send_modify(|count| *count += 1);
    }

    /// Returns a receiver of the number of commits that marked entries.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.marked.subscribe()
    }

    /// Tells that the entries of the first commits were derived, or are among too many.
    pub fn advance(&self, upto: u64) {
        self.derived.send_replace(upto);
    }

    /// Waits until the entries of what was committed before are derived: all, or the newest if there are many. Waits no
    /// longer than a second, as for a disk that fails.
    pub async fn catch_up(&self) {
        let upto = *self.marked.borrow();
        let mut derived = self.derived.subscribe();
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
