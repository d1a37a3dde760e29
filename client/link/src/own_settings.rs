//! Settings that the command line reads from the daemon's configuration file.

use std::path::{Path, PathBuf};

use crate::options::{Global, typed_config};

fn file(global: &Global) -> PathBuf {
    typed_config(global).cloned().unwrap_or_else(afd_proto::paths::config)
}

/// Returns a string value from a section of the configuration file, if it is set.
pub fn text(global: &Global, section: &str, key: &str) -> Option<String> {
    // Skip parsing if the file does not contain the section, which is the usual case.
    let text = std::fs::read_to_string(file(global)).ok().filter(|text| text.contains(section))?;
    let table: toml::Table = text.parse().ok()?;
    table.get(section)?.get(key)?.as_str().map(str::to_owned)
}

/// Returns the database path: from the options, else from the configuration file, else the default.
pub fn database(global: &Global) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Some(named) = global.memory_db.as_deref().filter(|path| !path.as_os_str().is_empty()) {
        return absolute(named);
    }
    // Relative paths in the file are relative to its directory.
    let in_file = text(global, "memory", "db")
        .map(|named| absolute(&file(global)).parent().unwrap_or(Path::new("/")).join(named));
    in_file.unwrap_or_else(afd_proto::paths::database)
}
