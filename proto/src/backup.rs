//! `backup.*`: copies of the memory with its artifacts. `afctl backup restore` puts one back; it needs no running
//! daemon.

use crate::vocabulary::NoParams;

words! {
    /// Why a backup was made.
    BackupReason {
        /// Someone asked for it.
        Request = "request",
        /// It was due.
        Schedule = "schedule",
        /// A newer version was about to change the schema.
        Migration = "migration",
        /// The database file was deleted or replaced while the daemon used it.
        Rescue = "rescue",
    }
}

params! {
    /// Parameters of `backup.verify`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "BackupVerifyParams"))]
    pub struct VerifyParams {
        /// Name of the backup; by default the newest.
        pub name: Option<String>,
    }

    /// Parameters of `backup.delete`.
    #[cfg_attr(feature = "schema", schemars(rename = "BackupDeleteParams"))]
    pub struct DeleteParams {
        /// Name of the backup.
        pub name: String,
    }
}

wire! {
    /// A backup: a directory with a copy of the database, its key and the artifacts.
    pub struct Backup {
        /// Name, which begins with the time.
        pub name: String,
        /// Time at which the copy was begun, UTC milliseconds; it has what was recorded before.
        pub created_at: i64,
        /// Why it was made.
        pub reason: BackupReason,
        /// Version of the program that made it.
        pub version: String,
        /// Version of the database schema.
        pub schema: u32,
        /// Uid of the memory.
        pub origin: String,
        /// Size of the copy of the database, bytes.
        pub database_bytes: u64,
        /// SHA-256 of the copy of the database, in hexadecimal digits.
        pub database_hash: String,
        /// SHA-256 of the key beside the database; absent if there was none.
        pub key_hash: Option<String>,
        /// Number of artifact files in it.
        pub artifacts: u64,
        /// Size of these files, bytes. Backups share the space of files that are the same.
        pub artifact_bytes: u64,
    }

    /// Backups, newest first.
    pub struct Backups {
        /// Directory that they are in.
        pub dir: String,
        /// The backups.
        pub backups: Vec<Backup>,
        /// Size of all of them on disk, bytes; a file that several share counts once.
        pub total_bytes: u64,
        /// Names in this directory that are no readable backups.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub unreadable: Vec<String>,
    }

    /// A backup that was checked and can be restored.
    #[cfg_attr(feature = "schema", schemars(rename = "VerifiedBackup"))]
    pub struct Verified {
        /// The backup.
        pub backup: Backup,
        /// Number of artifacts of which it has an intact copy.
        pub artifacts_checked: u64,
        /// Number of artifacts of which it has none: the memory can be restored without them.
        #[serde(default)]
        pub artifacts_lost: u64,
        /// Paths of these artifacts, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lost: Vec<String>,
    }

    /// Result of `backup.delete`.
    #[cfg_attr(feature = "schema", schemars(rename = "DeletedBackup"))]
    pub struct Deleted {
        /// Name of the backup that is gone.
        pub name: String,
    }

    /// What `afd --restore` did; printed as one line of JSON.
    pub struct Restored {
        /// The backup that the memory was restored from.
        pub backup: Backup,
        /// The database.
        pub database: String,
        /// Directory with the database that was replaced; absent if there was none.
        pub replaced: Option<String>,
        /// Number of artifact files that were missing and were put back.
        pub artifacts: u64,
        /// Number of artifacts that stay missing, because the backup has no intact copy of them.
        #[serde(default)]
        pub artifacts_lost: u64,
        /// Paths of these artifacts, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lost: Vec<String>,
    }
}

methods! {
    /// Copies the memory and its artifacts while the daemon goes on, and checks the copy.
    BackupCreate = "backup.create" (NoParams) -> Backup, Admin, [StoreUnavailable], "{}";
    /// Lists the backups, newest first.
    BackupList = "backup.list" (NoParams) -> Backups, Read, [], "{}";
    /// Checks that a backup can be restored: its database, its key and its schema. Lists artifacts of which it has no intact copy.
    BackupVerify = "backup.verify" (VerifyParams) -> Verified, Read, [NotFound], "{}";
    /// Deletes a backup.
    BackupDelete = "backup.delete" (DeleteParams) -> Deleted, Admin, [NotFound], r#"{"name":"20261123T031500Z"}"#;
}
