//! Sizes on disk.

/// Sizes on disk, bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct OnDisk {
    pub(super) database: u64,
    pub(super) wal: u64,
    pub(super) artifacts: u64,
    pub(super) backups: u64,
    pub(super) last_backup_at: Option<i64>,
}
