//! Sizes on disk.

/// Sizes on disk, bytes.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct OnDisk {
    pub(in crate::app) database: u64,
    pub(in crate::app) wal: u64,
    pub(in crate::app) artifacts: u64,
    pub(in crate::app) backups: u64,
    pub(in crate::app) last_backup_at: Option<i64>,
}
