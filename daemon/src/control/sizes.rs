//! Sizes on disk.

/// Sizes on disk, bytes.
#[derive(Debug, Clone, Default)]
pub struct OnDisk {
    pub database: u64,
    pub wal: u64,
    pub artifacts: u64,
    pub backups: u64,
    pub last_backup_at: Option<i64>,
}
