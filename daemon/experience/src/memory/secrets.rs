//! Keyed hashes of typed text. Only the length and the keyed hash of typed text are stored. The key is in a file next
//! to the database. Only the file's owner can read it.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use rusqlite::Connection;
use sha2::Sha256;

use afd_base::file::with_suffix;
use afd_store::Result;
use afd_store::args;

/// Maximum number of typed strings that are recognised when they appear again.
const REMEMBERED: usize = 4096;

/// Minimum length of a typed string that is recognised inside other text, in characters. Shorter strings occur in many
/// words.
const MIN_PART: usize = 5;
/// Maximum length of text that is searched for typed strings, in characters. If a typed string is longer, only its
/// prefix of this length is searched for.
const MAX_SEARCHED: usize = 512;
/// Maximum length of a prefix of a typed string that is recognised, in characters.
const MAX_BEGINNING: usize = 64;
/// Maximum number of hashes of typed strings and their prefixes, which suffices for about a thousand strings. Strings
/// typed after this limit is reached are recognised only as a whole.
const MAX_PARTS: usize = 40_000;

/// The key, and the hashes of strings that any session typed recently.
pub struct Secrets {
    key: [u8; 32],
    typed: Mutex<Typed>,
}

/// Hashes of typed strings.
#[derive(Default)]
struct Typed {
    exact: VecDeque<String>,
    /// Hashes of the case-folded strings that were typed since the daemon started, and of their prefixes.
    parts: HashSet<String>,
    /// Lengths of the case-folded strings, in characters.
    lengths: BTreeSet<usize>,
}

impl Secrets {
    /// Reads the key from the file next to a database. Creates the file if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the key can be neither read nor created.
    pub fn open(database: &Path) -> std::io::Result<Self> {
        let path = with_suffix(database, ".key");
        if !path.exists() {
            // Writes the complete key under a temporary name first, because a truncated key could not be read at any
            // later start.
            let temporary = with_suffix(database, ".key.new");
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|e| std::io::Error::other(e.to_string()))?;
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&key)?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
        }
        let mut key = [0; 32];
        std::fs::File::open(&path)?.read_exact(&mut key)?;
        Ok(Self { key, typed: Mutex::default() })
    }

    /// Loads the hashes of strings that were typed before the daemon started.
    pub fn load_typed(&self, connection: &Connection) -> Result<()> {
        let limit = i64::try_from(REMEMBERED).unwrap_or(i64::MAX);
        let mut statement = connection.prepare(
            "SELECT evidence FROM events WHERE op = 'text' ORDER BY origin = (SELECT origin FROM store) DESC, seq DESC LIMIT :limit",
        )?;
        let rows = statement.query_map(args! {limit}, |row| row.get::<_, Option<String>>("evidence"))?;
        let mut typed = self.typed.lock();
        for evidence in rows {
            let evidence: serde_json::Value = evidence?.and_then(|e| serde_json::from_str(&e).ok()).unwrap_or_default();
            if let Some(hash) = evidence["hash"].as_str() {
                typed.exact.push_front(hash.to_owned());
            }
        }
        Ok(())
    }

    /// Returns a keyed hash of text. It cannot be computed without the key.
    pub fn hash(&self, text: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(text.as_bytes());
        afd_base::hex::encode(&mac.finalize().into_bytes()[..16])
    }

    /// Remembers a typed string.
    pub fn remember(&self, text: &str) {
        let hash = self.hash(text);
        let folded: Vec<char> = text.trim().to_lowercase().chars().take(MAX_SEARCHED).collect();
        let ends =
            (MIN_PART..=folded.len().min(MAX_BEGINNING)).chain((folded.len() > MAX_BEGINNING).then_some(folded.len()));
        let beginnings: Vec<String> = ends.map(|n| self.hash(&folded[..n].iter().collect::<String>())).collect();
        let mut typed = self.typed.lock();
        if !typed.exact.contains(&hash) {
            typed.exact.push_back(hash);
        }
        if typed.exact.len() > REMEMBERED {
            typed.exact.pop_front();
        }
        if folded.len() >= MIN_PART && typed.parts.len() < MAX_PARTS {
            typed.lengths.insert(folded.len());
            typed.parts.extend(beginnings);
        }
    }

    /// Returns whether `text` reveals typed text: it was typed recently, or it contains, or is a prefix of, a string
    /// that was typed since the daemon started. The latter comparison ignores case and surrounding whitespace.
    pub fn reveals_typed(&self, text: &str) -> bool {
        if self.was_typed(text) {
            return true;
        }
        let folded: Vec<char> = text.trim().to_lowercase().chars().collect();
        let typed = self.typed.lock();
        if typed.parts.is_empty() || folded.len() < MIN_PART {
            return false;
        }
        // The text is too long to search. It counts as revealing, so that it is not stored.
        if folded.len() > MAX_SEARCHED {
            return true;
        }
        let known = |part: &[char]| typed.parts.contains(&self.hash(&part.iter().collect::<String>()));
        known(&folded) || typed.lengths.iter().any(|n| folded.windows(*n).any(known))
    }

    /// Returns whether exactly this text was typed recently.
    pub fn was_typed(&self, text: &str) -> bool {
        let hash = self.hash(text);
        self.typed.lock().exact.contains(&hash)
    }
}
