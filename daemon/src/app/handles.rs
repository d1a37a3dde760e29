//! In-memory state of the use cases: one handle for each domain, passed to the code that needs it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Result;
use super::checks::check_new_name;
use super::observe::screen_capture::NewestCapture;
use super::observe::streams::WatchStreams;
use afd_base::model::Tokenizers;
use afd_base::sync::KeyedLocks;
use afd_experience::memory::{secrets::Secrets, views::Views};
use afd_experience::visual::Index;
use afd_store::{Store, StoreError};
use afd_workspace as sessions;

/// Session views, hashes of typed text, and the index of screen states.
pub struct Experience {
    /// Newest observation and aliases for each session on each device.
    pub(super) views: Views,
    /// Keyed hashes of typed text, used to recognise and redact it.
    pub(super) secrets: Arc<Secrets>,
    /// Index used to recognise screens as states.
    pub visual: Arc<Index>,
}

impl Experience {
    /// Reads or creates the key of the hashes, which is stored next to the database.
    ///
    /// # Errors
    /// If the key file cannot be used.
    pub(super) fn open(store: &Store) -> std::result::Result<Self, StoreError> {
        let secrets = Secrets::open(store.path())
            .map_err(|e| StoreError::Unavailable(format!("cannot use its key file: {e}")))?;
        Ok(Self {
            views: Views::default(),
            secrets: Arc::new(secrets),
            visual: Arc::new(Index::new(store.rollback_count())),
        })
    }
}

/// Newest captures of the devices, and their observation streams.
#[derive(Default)]
pub(super) struct Screens {
    /// Newest capture of each device, by its row id.
    pub(super) newest: Mutex<HashMap<i64, Arc<NewestCapture>>>,
    /// Observation streams shared by `observe.wait` calls.
    pub(super) streams: WatchStreams,
}

/// Maximum number of screens whose newest capture is kept. A session can have a screen of its own.
const MAX_SCREENS: usize = 256;

impl Screens {
    /// Keeps the newest capture of a screen.
    pub(super) fn keep(&self, screen: i64, capture: NewestCapture) {
        let mut newest = self.newest.lock();
        if newest.len() >= MAX_SCREENS && !newest.contains_key(&screen) {
            let oldest = newest.iter().min_by_key(|(_, one)| one.capture.at).map(|(screen, _)| *screen);
            oldest.and_then(|screen| newest.remove(&screen));
        }
        newest.insert(screen, Arc::new(capture));
    }
}

/// The sessions and their conversations.
#[derive(Default)]
pub struct Sessions {
    /// Session row ids, by session name.
    rows: Mutex<HashMap<String, i64>>,
    /// Counter that is incremented whenever row ids are forgotten.
    changes: AtomicU64,
    /// Locks held while a session's progress files are written, by session name.
    pub(super) progress: KeyedLocks<String>,
    /// Locks held while a conversation is written, by session and conversation name.
    pub(super) conversations: KeyedLocks<String>,
    /// Tokenizers, loaded on first use.
    pub tokenizers: Arc<Tokenizers>,
}

impl Sessions {
    /// Returns the row id of a session, creating the row on first use.
    pub(super) async fn row(&self, store: &Store, name: &str) -> Result<i64> {
        let known = self.rows.lock().get(name).copied();
        if let Some(id) = known {
            return Ok(id);
        }
        check_new_name("session", name)?;
        let (origin, wanted) = (store.origin().to_owned(), name.to_owned());
        let before = self.changes.load(Ordering::SeqCst);
        let id = store.write_first(move |c| sessions::row_id(c, &origin, &wanted)).await?;
        let mut known = self.rows.lock();
        // The session may have been renamed or deleted in the meantime. Then nothing is cached, and the next call reads
        // the row again.
        if self.changes.load(Ordering::SeqCst) == before {
            known.insert(name.to_owned(), id);
        }
        Ok(id)
    }

    /// Forgets the row id of a session that is renamed or deleted. Call this both before and after the change.
    pub(super) fn forget(&self, name: &str) {
        let mut known = self.rows.lock();
        self.changes.fetch_add(1, Ordering::SeqCst);
        known.remove(name);
    }

    /// Forgets the row ids of all sessions.
    pub(super) fn forget_all(&self) {
        let mut known = self.rows.lock();
        self.changes.fetch_add(1, Ordering::SeqCst);
        known.clear();
    }
}
