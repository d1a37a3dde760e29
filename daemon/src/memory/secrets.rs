//! Typed text is kept as its length and a keyed hash (DESIGN 6.9). The key lies beside the database, for its owner only.

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// How many typed texts of a session are recognised when they come back.
const REMEMBERED: usize = 64;
/// Of how many sessions.
const SESSIONS: usize = 256;

/// The key, and the hashes of what sessions typed lately.
pub struct Secrets {
    key: [u8; 32],
    typed: Mutex<HashMap<i64, VecDeque<String>>>,
}

impl Secrets {
    /// Reads the key beside a database; makes it the first time.
    ///
    /// # Errors
    /// When it can neither be read nor made.
    pub fn open(database: &Path) -> std::io::Result<Self> {
        let mut path = database.as_os_str().to_owned();
        path.push(".key");
        let path = Path::new(&path);
        let mut key = [0; 32];
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => {
                getrandom::fill(&mut key).map_err(|e| std::io::Error::other(e.to_string()))?;
                file.write_all(&key)?;
                file.sync_all()?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => std::fs::File::open(path)?.read_exact(&mut key)?,
            Err(error) => return Err(error),
        }
        Ok(Self { key, typed: Mutex::default() })
    }

    /// A hash that only the owner of the key can make.
    pub fn hash(&self, text: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(text.as_bytes());
        mac.finalize().into_bytes()[..16].iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Remembers that a session typed this.
    pub fn remember(&self, session: i64, text: &str) {
        let hash = self.hash(text);
        let mut typed = self.typed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if typed.len() >= SESSIONS && !typed.contains_key(&session) {
            typed.clear();
        }
        let hashes = typed.entry(session).or_default();
        hashes.push_back(hash);
        if hashes.len() > REMEMBERED {
            hashes.pop_front();
        }
    }

    /// Whether a session typed exactly this lately.
    pub fn was_typed(&self, session: i64, text: &str) -> bool {
        let hash = self.hash(text);
        self.typed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&session).is_some_and(|h| h.contains(&hash))
    }
}
