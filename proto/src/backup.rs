//! `backup.*`: consistent snapshots of the memory with its artifacts. `afctl backup restore` restores a snapshot and
//! does not need a running daemon.

use crate::vocabulary::NoParams;

words! {
    /// Reason for a backup.
    BackupReason {
        /// The user requested the backup.
        Request = "request",
        /// The backup was scheduled.
        Schedule = "schedule",
        /// A newer version was about to change the schema.
        Migration = "migration",
        /// The database file was deleted or replaced while the daemon was using it.
        Rescue = "rescue",
    }
}

params! {
    /// Parameters of `backup.verify`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "BackupVerifyParams"))]
    pub struct VerifyParams {
        /// Name of the backup; by default the newest backup is checked.
        pub name: Option<String>,
    }

    /// Parameters of `backup.delete`.
    #[cfg_attr(feature = "schema", schemars(rename = "BackupDeleteParams"))]
    pub struct DeleteParams {
        /// Name of the backup to delete.
        pub name: String,
    }
}

wire! {
    /// A backup: a directory with copies of the database, the database key and the artifacts.
    pub struct Backup {
        /// Name of the backup, which begins with the time of the backup.
        pub name: String,
        /// Time at which the copy was started, in Unix milliseconds. The backup contains everything that was recorded
        /// before that time.
        pub created_at: i64,
        /// Reason for the backup.
        pub reason: BackupReason,
        /// Version of the program that made the backup.
        pub version: String,
        /// Version of the database schema.
        pub schema: u32,
        /// Uid of the memory that was backed up.
        pub origin: String,
        /// Size of the database copy, in bytes.
        pub database_bytes: u64,
        /// SHA-256 hash of the database copy, in hexadecimal digits.
        pub database_hash: String,
        /// SHA-256 hash of the database key, in hexadecimal digits; absent if there was no key.
        pub key_hash: Option<String>,
        /// Number of artifact files in the backup.
        pub artifacts: u64,
        /// Size of the artifact files, in bytes. Identical files occupy disk space only once across backups.
        pub artifact_bytes: u64,
    }

    /// Backups, newest first.
    pub struct Backups {
        /// Path of the directory that contains the backups.
        pub dir: String,
        /// The backups.
        pub backups: Vec<Backup>,
        /// Total size of the backups on disk, in bytes; a file that several backups share is counted once.
        pub total_bytes: u64,
        /// Names of entries in the backup directory that are not readable backups.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub unreadable: Vec<String>,
    }

    /// A backup that was checked and can be restored.
    #[cfg_attr(feature = "schema", schemars(rename = "VerifiedBackup"))]
    pub struct Verified {
        /// The backup that was checked.
        pub backup: Backup,
        /// Number of artifacts with an intact copy in the backup.
        pub artifacts_checked: u64,
        /// Number of artifacts without an intact copy in the backup. The memory can be restored without these
        /// artifacts.
        #[serde(default)]
        pub artifacts_lost: u64,
        /// Paths of the artifacts without an intact copy, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lost: Vec<String>,
    }

    /// Result of `backup.delete`.
    #[cfg_attr(feature = "schema", schemars(rename = "DeletedBackup"))]
    pub struct Deleted {
        /// Name of the deleted backup.
        pub name: String,
    }

    /// Result of `afd --restore`, printed as one line of JSON.
    pub struct Restored {
        /// The backup that the memory was restored from.
        pub backup: Backup,
        /// Path of the restored database.
        pub database: String,
        /// Path of the directory that contains the replaced database; absent if there was no database.
        pub replaced: Option<String>,
        /// Number of missing artifact files that were restored.
        pub artifacts: u64,
        /// Number of artifacts that remain missing because the backup has no intact copies of them.
        #[serde(default)]
        pub artifacts_lost: u64,
        /// Paths of the artifacts without an intact copy, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lost: Vec<String>,
    }
}

methods! {
    /// Copies the memory and its artifacts while the daemon is running, and checks the copy.
    BackupCreate = "backup.create" (NoParams) -> Backup, Admin, [StoreUnavailable], "{}";
    /// Lists the backups, newest first.
    BackupList = "backup.list" (NoParams) -> Backups, Read, [], "{}";
    /// Checks that a backup can be restored (database, key, schema), and lists artifacts without an intact copy.
    BackupVerify = "backup.verify" (VerifyParams) -> Verified, Read, [NotFound], "{}";
    /// Deletes a backup.
    BackupDelete = "backup.delete" (DeleteParams) -> Deleted, Admin, [NotFound], r#"{"name":"20261123T031500Z"}"#;
}
