//! Prepares the database file and its connections: checks the file's type, restricts access to the file, and configures
//! each connection.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::{Result, StoreError};

/// Checks that a path does not exist, or is an empty file or a SQLite database. Modifies nothing.
///
/// # Errors
/// If the path is anything else, or cannot be read.
pub fn probe(path: &Path) -> Result<()> {
    let refuse = |why: &str| Err(StoreError::Unavailable(format!("{} {why}", path.display())));
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refuse(&format!("cannot be read: {error}")),
    };
    if !meta.is_file() {
        return refuse("is not a regular file");
    }
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut f| std::io::Read::read_exact(&mut f, &mut head));
    match read {
        Ok(()) if &head == b"SQLite format 3\0" => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof && meta.len() == 0 => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => refuse(&format!("cannot be read: {error}")),
        // Either the database header is damaged, or the file belongs to another program.
        _ => Err(StoreError::Damaged(format!("{} is not a database", path.display()))),
    }
}

/// Configures a connection for reading or writing.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(128);
    connection.busy_timeout(Duration::from_secs(5))?;
    // Query plans must not depend on bound values. Otherwise, SQLite prepares such a statement again whenever its
    // values change, which takes longer than most statements.
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection
        .execute_batch("PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;")
}

pub(super) fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    prepare(connection)?;
    // With FULL, an acknowledged write survives a power failure. Group commit makes the cost of this negligible.
    connection.execute_batch(
        "PRAGMA cache_size = -4000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;",
    )
}

/// Deletes the statistics about table sizes that earlier versions of afd collected. SQLite still relied on these
/// statistics when the tables had grown. For example, it scanned a table with a million rows instead of using an index,
/// because the statistics said that the table had ten rows. Without statistics, SQLite uses the indexes. The deletion
/// runs on a second connection, so that `connection` reloads its schema without the statistics.
pub(super) fn forget_statistics(connection: &Connection, path: &Path) {
    let exist = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name LIKE 'sqlite_stat_') AS exist";
    let removed = connection.query_row(exist, [], |row| row.get("exist")).and_then(|exist: bool| {
        let drop = "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4;";
        if exist { Connection::open(path)?.execute_batch(drop) } else { Ok(()) }
    });
    if let Err(error) = removed {
        tracing::debug!(%error, "cannot remove statistics; queries may be slow");
    }
}

/// Makes the database file accessible only to its owner, because it records actions on a phone.
pub(super) fn restrict(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
        tracing::warn!(%error, path = %path.display(), "cannot restrict the database file");
    }
}
