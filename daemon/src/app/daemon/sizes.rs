//! Disk space used by the daemon.

/// Sizes on disk of the daemon's data, in bytes, and the time of the last backup.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct OnDisk {
    pub(in crate::app) database: u64,
    pub(in crate::app) wal: u64,
    pub(in crate::app) artifacts: u64,
    pub(in crate::app) backups: u64,
    pub(in crate::app) last_backup_at: Option<i64>,
}
