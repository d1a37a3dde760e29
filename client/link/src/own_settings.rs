//! What the command line reads of the configuration file of the daemon.

use std::path::{Path, PathBuf};

use crate::options::{Global, typed_config};

fn file(global: &Global) -> PathBuf {
    typed_config(global).cloned().unwrap_or_else(afd_proto::paths::config)
}

/// Returns a text of a section of the configuration file.
pub fn text(global: &Global, section: &str, key: &str) -> Option<String> {
    // Most files do not have the section and need not be parsed.
    let text = std::fs::read_to_string(file(global)).ok().filter(|text| text.contains(section))?;
    let table: toml::Table = text.parse().ok()?;
    table.get(section)?.get(key)?.as_str().map(str::to_owned)
}

/// Returns the database that these options, the configuration file or the default name.
pub fn database(global: &Global) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Some(named) = global.memory_db.as_deref().filter(|path| !path.as_os_str().is_empty()) {
        return absolute(named);
    }
    // A relative path in the file is relative to the directory of the file.
    let in_file = text(global, "memory", "db")
        .map(|named| absolute(&file(global)).parent().unwrap_or(Path::new("/")).join(named));
    in_file.unwrap_or_else(afd_proto::paths::database)
}
