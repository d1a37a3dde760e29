//! Names of sessions: clients that are connected at the same time have one each, also those of other processes. A name is taken by a lock
//! on a file, which ends with the process, however that ends.

use std::fs::{File, TryLockError};

/// Maximum number of clients of one name.
const MAX_CLIENTS: usize = 100;

/// Name of a session, taken as long as this exists.
#[derive(Debug)]
pub struct Name {
    name: String,
    _lock: Option<File>,
}

impl Name {
    /// Returns a name that somebody chose; it may be shared.
    pub fn given(name: &str) -> Self {
        Self { name: name.to_owned(), _lock: None }
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Takes a name, or the first that is free of it with a number behind. Where no lock can be had, names are not told apart.
pub fn free(name: &str) -> Name {
    let directory = afd_proto::paths::state_dir().join("mcp-sessions");
    if std::fs::create_dir_all(&directory).is_err() {
        return Name::given(name);
    }
    let names = std::iter::once(name.to_owned()).chain((2..=MAX_CLIENTS).map(|n| format!("{name}-{n}")));
    for name in names {
        let Ok(file) = File::create(directory.join(format!("{name}.lock"))) else { break };
        match file.try_lock() {
            Ok(()) => return Name { name, _lock: Some(file) },
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => break,
        }
    }
    Name::given(name)
}
