//! Enforces the size and age limits of the shared root. The oldest files are deleted first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use super::super::sql::args;
use super::files::{is_below, store_tag, tag_of};
use super::{ArtifactError, rows};
use crate::{Result, Store, now_ms};
use afd_base::config::ArtifactSettings;
use afd_base::file::TEMP_PREFIX;
use afd_base::task::run_blocking;

/// Minimum age at which a file without a row is deleted. The row of a newer file may not have been written yet.
const GRACE: Duration = Duration::from_secs(3600);

/// Maximum number of files whose rows are changed in one write.
const BATCH: usize = 100;

/// A file in the shared root, as described by its rows.
struct RootFile {
    path: PathBuf,
    size: i64,
    /// Time of the last write, in Unix milliseconds.
    at: i64,
    /// Whether the file is exempt from the limits, because the memory refers to it.
    permanent: bool,
}

fn managed_files(connection: &Connection) -> Result<Vec<RootFile>> {
    let [component, page] = rows::REFERENCED_KINDS;
    let mut statement = connection.prepare(
        "SELECT file_path, max(size_bytes) AS size_bytes, max(created_at) AS last_created_at,
            max(kept = 1 OR kind IN (:component, :page)) AS for_good FROM artifacts
         WHERE managed = 1 AND deleted_at IS NULL GROUP BY file_path ORDER BY max(created_at), max(id)",
    )?;
    let rows = statement.query_map(args! {component, page}, |row| {
        Ok(RootFile {
            path: PathBuf::from(row.get::<_, String>("file_path")?),
            size: row.get("size_bytes")?,
            at: row.get("last_created_at")?,
            permanent: row.get("for_good")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns how many of the oldest files must be deleted to meet the limits. `files` is sorted by age, oldest first.
fn count_to_delete(files: &[RootFile], settings: &ArtifactSettings, now: i64) -> usize {
    let oldest = now - i64::try_from(settings.max_age.as_millis()).unwrap_or(i64::MAX / 2);
    let mut total: i64 = files.iter().map(|f| f.size).sum();
    let most = i64::try_from(settings.max_bytes).unwrap_or(i64::MAX);
    let stays = files.iter().position(|file| {
        let stays = file.at >= oldest && total <= most;
        total -= file.size;
        stays
    });
    stays.unwrap_or(files.len())
}

pub(super) async fn tidy(store: &Store, settings: &ArtifactSettings) -> std::result::Result<String, ArtifactError> {
    let (all, below) = (store.read_all(managed_files).await?, settings.dir.clone());
    // Never delete files outside the root, whatever their rows say.
    let all = run_blocking(move || {
        all.into_iter().filter(|f| is_below(&f.path, &below) || !f.path.exists()).collect::<Vec<_>>()
    })
    .await?;
    let (stay, mut files): (Vec<RootFile>, Vec<RootFile>) = all.into_iter().partition(|f| f.permanent);
    let left = files.split_off(count_to_delete(&files, settings, now_ms()));
    let size = |files: &[RootFile]| files.iter().map(|f| f.size).sum::<i64>();
    let said =
        format!("deleted {} files ({} bytes), kept {} ({} bytes)", files.len(), size(&files), left.len(), size(&left));
    let known: HashSet<PathBuf> = left.into_iter().chain(stay).map(|f| f.path).collect();
    let (root, tag) = (settings.dir.clone(), store_tag(store.origin()));
    let (gone, orphans, known) = run_blocking(move || {
        let gone: Vec<PathBuf> = files.into_iter().map(|f| f.path).filter(|path| remove(path)).collect();
        let orphans = remove_orphans(&root, &tag, &known);
        (gone, orphans, known)
    })
    .await?;
    // Update the rows in batches, so that other writes do not wait long.
    for batch in gone.chunks(BATCH).map(<[PathBuf]>::to_vec) {
        store
            .write(move |c| {
                let sql = "UPDATE artifacts SET deleted_at = :now, updated_at = :now WHERE file_path = :path AND deleted_at IS NULL";
                let mut delete = c.prepare_cached(sql)?;
                batch.iter().try_for_each(|path| {
                    Ok(delete.execute(args! {path: path.display().to_string(), now: now_ms()}).map(|_| ())?)
                })
            })
            .await?;
    }
    let known: Vec<PathBuf> = known.into_iter().collect();
    for batch in known.chunks(BATCH).map(<[PathBuf]>::to_vec) {
        store.write(move |c| batch.iter().try_for_each(|path| rows::update_presence(c, path))).await?;
    }
    Ok(if orphans > 0 { format!("{said}, removed {orphans} orphaned files") } else { said })
}

/// Removes a file. Returns whether the file is gone, which is also the case if it did not exist.
fn remove(path: &Path) -> bool {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %path.display(), "cannot delete an artifact");
            false
        }
        _ => true,
    }
}

/// Removes files that a crash left behind: unfinished files, and files without a row. Returns their number.
fn remove_orphans(root: &Path, tag: &str, known: &HashSet<PathBuf>) -> usize {
    let Ok(entries) = std::fs::read_dir(root) else { return 0 };
    let old = |entry: &std::fs::DirEntry| {
        let age =
            entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| SystemTime::now().duration_since(t).ok());
        age.is_some_and(|age| age > GRACE)
    };
    let ours = |name: &str| name.starts_with(TEMP_PREFIX) || tag_of(name) == Some(tag);
    let orphans =
        entries.flatten().filter(|e| e.file_name().to_str().is_some_and(ours) && !known.contains(&e.path()) && old(e));
    orphans.filter(|e| std::fs::remove_file(e.path()).is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_files_are_deleted_until_both_limits_hold() {
        let files: Vec<RootFile> =
            (1..=5).map(|n| RootFile { path: PathBuf::new(), size: 10, at: n * 1000, permanent: false }).collect();
        let of = |max_bytes, seconds| {
            let max_age = Duration::from_secs(seconds);
            let settings = ArtifactSettings {
                dir: PathBuf::new(),
                screen_file: None,
                screenshot_file: None,
                page_dir: None,
                max_bytes,
                max_age,
            };
            count_to_delete(&files, &settings, 6000)
        };
        assert_eq!(of(100, 100), 0);
        assert_eq!(of(30, 100), 2);
        assert_eq!(of(100, 3), 2);
        assert_eq!(of(100, 0), 5);
        assert_eq!(of(1, 100), 5);
    }

    #[test]
    fn only_names_given_by_this_store_are_orphans() {
        let ours = |name: &str| tag_of(name) == Some("00112233");
        assert!(ours("screenshot_image-0123456789abcdef01234567-00112233.jpg"));
        assert!(!ours("screenshot_image-0123456789abcdef01234567-ffffffff.jpg"), "another store's");
        assert!(!ours("screenshot_image-0123456789abcdef01234567.jpg"), "in a directory outside the shared root");
        assert!(!ours("holiday-photo.jpg") && !ours("notes.txt"));
    }
}
