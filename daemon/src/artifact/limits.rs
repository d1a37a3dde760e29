//! The limits of the shared root: size and age. The oldest files go first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, named_params};

use super::files::mark_of;
use super::{ArtifactError, rows};
use crate::config::ArtifactSettings;
use crate::file::UNFINISHED;
use crate::store::{Result, Store, now_ms};
use crate::task::run_blocking;

/// How long a file that no row knows is left alone: somebody may be about to write its row.
const GRACE: Duration = Duration::from_secs(3600);

/// How many rows are changed at a time.
const PIECE: usize = 100;

/// A file of the shared root, as its rows tell it.
struct Kept {
    path: PathBuf,
    size: i64,
    /// When it was last written, UTC milliseconds.
    at: i64,
    /// Whether it is part of the memory, and stays until that lets go of it.
    for_good: bool,
}

fn kept(connection: &Connection) -> Result<Vec<Kept>> {
    let mut statement = connection.prepare(
        "SELECT file_path, max(size_bytes) AS size_bytes, max(created_at) AS last_created_at, max(kept = 1 OR kind IN ('component_image',
            'page_image')) AS for_good FROM artifacts
         WHERE managed = 1 AND deleted_at IS NULL GROUP BY file_path ORDER BY max(created_at), max(id)",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(Kept {
            path: PathBuf::from(row.get::<_, String>("file_path")?),
            size: row.get("size_bytes")?,
            at: row.get("last_created_at")?,
            for_good: row.get("for_good")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Which files have to go, oldest first.
fn too_many(files: &[Kept], settings: &ArtifactSettings, now: i64) -> usize {
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
    let (stay, mut files): (Vec<Kept>, Vec<Kept>) = store.read_all(kept).await?.into_iter().partition(|f| f.for_good);
    let left = files.split_off(too_many(&files, settings, now_ms()));
    let size = |files: &[Kept]| files.iter().map(|f| f.size).sum::<i64>();
    let said = format!("deleted {} files of {} bytes, kept {} of {} bytes", files.len(), size(&files), left.len(), size(&left));
    let known: HashSet<PathBuf> = left.into_iter().chain(stay).map(|f| f.path).collect();
    let (root, mark) = (settings.dir.clone(), mark_of(store.origin()));
    let (gone, strays, known) = run_blocking(move || {
        let gone: Vec<PathBuf> = files.into_iter().map(|f| f.path).filter(|path| remove(path)).collect();
        let strays = remove_strays(&root, &mark, &known);
        (gone, strays, known)
    })
    .await?;
    // In pieces: the writer has others to serve.
    for piece in gone.chunks(PIECE).map(<[PathBuf]>::to_vec) {
        store
            .write(move |c| {
                let sql = "UPDATE artifacts SET deleted_at = :now, updated_at = :now WHERE file_path = :path AND deleted_at IS NULL";
                let mut delete = c.prepare_cached(sql)?;
                piece.iter().try_for_each(|path| {
                    Ok(delete.execute(named_params! {":path": path.display().to_string(), ":now": now_ms()}).map(|_| ())?)
                })
            })
            .await?;
    }
    let known: Vec<PathBuf> = known.into_iter().collect();
    for piece in known.chunks(PIECE).map(<[PathBuf]>::to_vec) {
        store.write(move |c| piece.iter().try_for_each(|path| rows::note(c, path))).await?;
    }
    Ok(if strays > 0 { format!("{said}, removed {strays} strays") } else { said })
}

/// Removes a file; one that is gone already is as good as removed.
fn remove(path: &Path) -> bool {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %path.display(), "cannot delete an artifact");
            false
        }
        _ => true,
    }
}

/// Removes what a crash left: unfinished files, and files whose row was never written.
fn remove_strays(root: &Path, mark: &str, known: &HashSet<PathBuf>) -> usize {
    let Ok(entries) = std::fs::read_dir(root) else { return 0 };
    let old = |entry: &std::fs::DirEntry| {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| SystemTime::now().duration_since(t).ok());
        age.is_some_and(|age| age > GRACE)
    };
    let ours = |name: &str| name.starts_with(UNFINISHED) || is_our_name(name, mark);
    let strays = entries.flatten().filter(|e| e.file_name().to_str().is_some_and(ours) && !known.contains(&e.path()) && old(e));
    strays.filter(|e| std::fs::remove_file(e.path()).is_ok()).count()
}

/// Whether a name is one that we give: `kind-hash-mark.extension`.
fn is_our_name(name: &str, mark: &str) -> bool {
    let stem = name.rsplit_once('.').and_then(|(stem, _)| stem.strip_suffix(mark)).and_then(|s| s.strip_suffix('-'));
    let hash = stem.and_then(|s| s.rsplit_once('-')).map(|(_, hash)| hash);
    hash.is_some_and(|h| h.len() == 24 && h.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_until_both_limits_hold() {
        let files: Vec<Kept> = (1..=5).map(|n| Kept { path: PathBuf::new(), size: 10, at: n * 1000, for_good: false }).collect();
        let of = |max_bytes, seconds| {
            let max_age = Duration::from_secs(seconds);
            let settings =
                ArtifactSettings { dir: PathBuf::new(), screen_file: None, screenshot_file: None, page_dir: None, max_bytes, max_age };
            too_many(&files, &settings, 6000)
        };
        assert_eq!(of(100, 100), 0);
        assert_eq!(of(30, 100), 2);
        assert_eq!(of(100, 3), 2);
        assert_eq!(of(100, 0), 5);
        assert_eq!(of(1, 100), 5);
    }

    #[test]
    fn only_our_own_names_are_strays() {
        let ours = |name: &str| is_our_name(name, "00112233");
        assert!(ours("screenshot_image-0123456789abcdef01234567-00112233.jpg"));
        assert!(!ours("screenshot_image-0123456789abcdef01234567-ffffffff.jpg"), "another store's");
        assert!(!ours("screenshot_image-0123456789abcdef01234567.jpg"), "somebody's own directory");
        assert!(!ours("holiday-photo.jpg") && !ours("notes.txt"));
    }
}
