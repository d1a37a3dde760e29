//! Typed text is kept as its length and a keyed hash (DESIGN 6.9). The key lies beside the database, for its owner only.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use parking_lot::Mutex;
use rusqlite::{Connection, named_params};
use sha2::Sha256;

use crate::store::Result;

/// How many typed texts are recognised when they come back.
const REMEMBERED: usize = 4096;

/// The key, and the hashes of what was typed lately, by whichever session.
pub struct Secrets {
    key: [u8; 32],
    typed: Mutex<VecDeque<String>>,
}

impl Secrets {
    /// Reads the key beside a database; makes it the first time.
    ///
    /// # Errors
    /// When it can neither be read nor made.
    pub fn open(database: &Path) -> std::io::Result<Self> {
        let beside = |suffix: &str| {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        };
        let path = beside(".key");
        if !path.exists() {
            // Made whole under another name first: half a key would lock the memory for good.
            let temporary = beside(".key.new");
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|e| std::io::Error::other(e.to_string()))?;
            let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&key)?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
        }
        let mut key = [0; 32];
        std::fs::File::open(&path)?.read_exact(&mut key)?;
        Ok(Self { key, typed: Mutex::default() })
    }

    /// Takes up the hashes of what was typed before the daemon was started.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn recall(&self, connection: &Connection) -> Result<()> {
        let limit = i64::try_from(REMEMBERED).unwrap_or(i64::MAX);
        let mut statement = connection.prepare("SELECT evidence FROM events WHERE op = 'text' ORDER BY seq DESC LIMIT :limit")?;
        let rows = statement.query_map(named_params! {":limit": limit}, |row| row.get::<_, Option<String>>("evidence"))?;
        let mut typed = self.typed.lock();
        for evidence in rows {
            let evidence: serde_json::Value = evidence?.and_then(|e| serde_json::from_str(&e).ok()).unwrap_or_default();
            if let Some(hash) = evidence["hash"].as_str() {
                typed.push_front(hash.to_owned());
            }
        }
        Ok(())
    }

    /// A hash that only the owner of the key can make.
    pub fn hash(&self, text: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(text.as_bytes());
        crate::hex::encode(&mac.finalize().into_bytes()[..16])
    }

    /// Remembers that this was typed.
    pub fn remember(&self, text: &str) {
        let hash = self.hash(text);
        let mut typed = self.typed.lock();
        if !typed.contains(&hash) {
            typed.push_back(hash);
        }
        if typed.len() > REMEMBERED {
            typed.pop_front();
        }
    }

    /// Whether exactly this was typed lately.
    pub fn was_typed(&self, text: &str) -> bool {
        let hash = self.hash(text);
        self.typed.lock().contains(&hash)
    }
}
