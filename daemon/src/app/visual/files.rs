//! `visual.import` and `visual.export`: exchanging learned apps as directories of JSON files and pictures.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::files::{
    ExportParams, ExportedScope, FileRemark, ImportParams, ImportedScope, VisualExport, VisualExportResult,
    VisualImport, VisualImportResult,
};
use afd_proto::import::Tally;

use super::{UPKEEP_JOB, about, find, graph};
use crate::app::checks::absolute;
use crate::app::rows::count;
use crate::app::{Core, Error, Methods, Result, current_trace};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_experience::visual::files::{self, Directory, Export};
use afd_experience::visual::scope::{self, Known, Scope};
use afd_experience::visual::{components, purge};
use afd_screen::page::site;
use afd_store::artifact::{self, NewArtifact, Place};
use afd_store::{new_uid, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualImport, _, _>(|core, p| async move { import(&core, &p).await });
    methods.add::<VisualExport, _, _>(|core, p| async move { export(&core, &p).await });
}

/// Maximum size of an imported or exported picture, in bytes.
const MAX_PICTURE: u64 = 32 << 20;

fn tally(t: files::Tally) -> Tally {
    Tally { found: t.found, added: t.added, present: t.present, cleaned: 0, skipped: t.skipped }
}

/// `visual.import`: imports the directory of one app, or the directories of several apps.
///
/// # Errors
/// `NOT_FOUND` if there is nothing to import, or another error if the result cannot be stored.
pub async fn import(core: &Arc<Core>, params: &ImportParams) -> Result<VisualImportResult> {
    let dir = absolute("dir", &params.dir)?;
    let read = run_blocking(move || files::read(&dir)).await?;
    let found = read.map_err(|e| {
        Error::new(ErrorCode::NotFound, e.to_string()).hint("pass the directory of an app, or the parent of several")
    })?;
    if params.app.is_some() && found.iter().filter(|d| d.site.is_none()).count() > 1 {
        return Err(Error::param("app", "no value, because the directory holds several apps", "a name"));
    }
    let session = core.sessions.row(&core.store, params.session()).await?;
    let mut imported = Vec::new();
    let mut app = String::new();
    for directory in found {
        let scope = scope_of(&directory, params.app.as_deref(), &mut app);
        imported.push(core.import_one(directory, scope, params.dry_run, session).await?);
    }
    core.jobs.nudge(UPKEEP_JOB);
    Ok(VisualImportResult { dry_run: params.dry_run, imported })
}

/// Returns the scope of a directory. The directories of an app's sites follow the app's own directory, whose name is
/// passed on in `app`.
fn scope_of(directory: &Directory, wanted: Option<&str>, app: &mut String) -> Scope {
    let text = |key: &str| directory.meta.get(key).and_then(|v| v.as_str()).filter(|t| !t.trim().is_empty());
    match &directory.site {
        None => {
            let own = directory.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            *app = wanted.or(text("app")).unwrap_or(&own).to_owned();
            Scope { app: app.clone(), site: None }
        }
        Some(dir) => {
            let of_domain = text("domain").and_then(site::parse).map(|s| s.name);
            let site = of_domain.or_else(|| site::name_of(dir)).unwrap_or_else(|| dir.to_lowercase());
            Scope { app: app.clone(), site: Some(site) }
        }
    }
}

impl Core {
    /// Imports one directory with its pictures. A dry run rolls the database changes back and saves no pictures.
    async fn import_one(
        self: &Arc<Self>,
        mut directory: Directory,
        scope: Scope,
        dry_run: bool,
        session: i64,
    ) -> Result<ImportedScope> {
        if let Some(dir) =
            directory.site.clone().filter(|dir| Some(dir) != scope.site.as_deref().map(site::directory).as_ref())
        {
            directory.meta.insert("_dir".to_owned(), dir.into());
        }
        let (path, pages, name) = (directory.path.clone(), directory.pages.clone(), directory.name.clone());
        let (origin, index, own) = (self.store.origin().to_owned(), self.experience.visual.clone(), scope.clone());
        let work =
            move |c: &afd_store::Connection| files::import_directory(c, &origin, &index, &own, directory, now_ms());
        let report = if dry_run { self.store.dry_run(work).await? } else { self.store.write(work).await? };
        if dry_run {
            // The dry run was rolled back, so what it loaded into the index is not in the database.
            self.experience.visual.reload(&scope);
        } else {
            self.experience.visual.touch_all(report.app);
        }
        let found = (report.pictures.len() + pages.len()) as u64;
        let mut remarks: Vec<FileRemark> =
            report.remarks.into_iter().map(|r| FileRemark { file: r.file, key: r.key, why: r.why }).collect();
        let before = remarks.len();
        let mut refuse = |file: &str, why: String| {
            let file = if name.is_empty() { file.to_owned() } else { format!("{name}/{file}") };
            remarks.push(FileRemark { file, key: String::new(), why });
        };
        for (component, file) in report.pictures {
            match self.import_picture(&path, &file, "component_image", dry_run, session).await? {
                Ok(Some(uid)) => {
                    self.store.write(move |c| components::set_crop(c, component, Some(&uid), now_ms())).await?
                }
                Ok(None) => {}
                Err(why) => refuse(&file, why),
            }
        }
        for page in pages {
            let name = page.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let file = format!("pages/{name}");
            match self.import_picture(&path, &file, "page_image", dry_run, session).await? {
                Ok(Some(uid)) => self.save_page_picture(report.app, name, uid).await?,
                Ok(None) => {}
                Err(why) => refuse(&file, why),
            }
        }
        let skipped = (remarks.len() - before) as u64;
        let pictures = Tally { found, added: found - skipped, skipped, ..Tally::default() };
        Ok(ImportedScope {
            about: afd_proto::visual::ScopeInfo { app: scope.app, site: scope.site },
            dir: name,
            components: tally(report.components),
            states: tally(report.states),
            transitions: tally(report.transitions),
            pictures,
            remarks,
        })
    }

    /// Imports a picture. Returns the uid of its artifact (`None` in a dry run), or the reason why the picture is
    /// skipped.
    async fn import_picture(
        self: &Arc<Self>,
        dir: &Path,
        file: &str,
        kind: &'static str,
        dry_run: bool,
        session: i64,
    ) -> Result<std::result::Result<Option<String>, String>> {
        let (dir, name) = (dir.to_owned(), file.to_owned());
        let content = match run_blocking(move || read_picture(&dir, &name)).await? {
            Ok(content) => content,
            Err(why) => return Ok(Err(why)),
        };
        if dry_run {
            return Ok(Ok(None));
        }
        let (mime_type, extension) =
            if content.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
        self.save_picture(kind, (mime_type, extension), content, session, None, "visual.import")
            .await
            .map(|uid| Ok(Some(uid)))
    }

    /// Records the picture of a page and deletes the one that it replaces, unless something else uses the old picture.
    pub(super) async fn save_page_picture(self: &Arc<Self>, app: i64, page: String, uid: String) -> Result<()> {
        let replaced = self.store.write(move |c| match scope::add_page(c, app, &page, &uid)? {
            Some(before) if !purge::pictures_in_use(c)?.contains(&before) => artifact::id_of(c, &before),
            _ => Ok(None),
        });
        if let Some(id) = replaced.await? {
            let (deleter, root) = (self.clone(), self.config.get().artifacts.dir.clone());
            self.finish(async move { deleter.artifacts.delete(id, &root).await }).await??;
        }
        Ok(())
    }

    /// Saves a picture as an artifact and returns its uid.
    pub(super) async fn save_picture(
        self: &Arc<Self>,
        kind: &'static str,
        (mime_type, extension): (&'static str, &'static str),
        content: Vec<u8>,
        session: i64,
        device: Option<i64>,
        op: &'static str,
    ) -> Result<String> {
        let trace = current_trace().unwrap_or_else(new_uid);
        let place = Place::Root(self.config.get().artifacts.dir.clone());
        let new = NewArtifact { place, kind, mime_type, extension, content, op, session, device, trace };
        let saver = self.clone();
        let written = self.finish(async move { saver.artifacts.save(new).await }).await??;
        let found = self.store.read(move |c| artifact::find(c, written.artifact_id)).await?;
        found
            .map(|a| a.uid)
            .ok_or_else(|| Error::new(ErrorCode::Internal, "the artifact that was just written was not found"))
    }
}

/// Reads a picture, which must be inside `dir` even after links are resolved.
fn read_picture(dir: &Path, file: &str) -> std::result::Result<Vec<u8>, String> {
    let dir = dir.canonicalize().map_err(|e| e.to_string())?;
    let path = match dir.join(file).canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err("skipped: no such file".to_owned()),
        Err(error) => return Err(format!("skipped: {error}")),
    };
    if !path.starts_with(&dir) {
        return Err("skipped: the file is outside the directory".to_owned());
    }
    let content = file::read_capped(&path, MAX_PICTURE).map_err(|e| format!("skipped: {e}"))?;
    let known = content.starts_with(b"\x89PNG") || content.starts_with(b"\xff\xd8");
    if known { Ok(content) } else { Err("skipped: not a PNG or JPEG".to_owned()) }
}

/// `visual.export`: writes the knowledge about one app or site, or about all of them, to one directory each.
///
/// # Errors
/// `NOT_FOUND` if there is nothing to export, `INVALID_PARAMS` if a target already contains an export.
pub async fn export(core: &Arc<Core>, params: &ExportParams) -> Result<VisualExportResult> {
    let dir = absolute("dir", &params.dir)?;
    let wanted = scopes(core, params).await?;
    if wanted.is_empty() {
        return Err(Error::new(ErrorCode::NotFound, "nothing has been learned yet")
            .hint("observe a screen or run `afctl visual import`"));
    }
    let mut exports = Vec::new();
    for known in wanted {
        let scope = known.clone();
        let export = core.store.read_all(move |c| files::collect(c, &scope, &graph::read(c, &scope)?)).await?;
        let target = dir.join(&export.directory);
        // Names that map to the same directory would overwrite each other. A site has its own directory below its app's
        // directory.
        if exports.iter().any(|(_, other, _): &(Known, PathBuf, Export)| *other == target) {
            return Err(Error::param("app", "one app at a time, as several would share a directory", target.display()));
        }
        // `symlink_metadata`, because a dangling link counts as existing.
        if target.join("meta.json").symlink_metadata().is_ok() {
            return Err(Error::param("dir", "a directory without a previous export", target.display()));
        }
        exports.push((known, target, export));
    }
    let mut exported = Vec::new();
    for (known, target, export) in exports {
        exported.push(core.write_export(&known, target, export).await?);
    }
    Ok(VisualExportResult { exported })
}

/// Returns the scopes to export: the given site, the given app with its sites, or all.
async fn scopes(core: &Arc<Core>, params: &ExportParams) -> Result<Vec<Known>> {
    let Some(app) = &params.app else { return Ok(core.store.read_all(scope::all).await?) };
    let of =
        afd_proto::visual::ScopeSelector { app: Some(app), site: params.site.as_deref(), session: None, device: None };
    let known = find::scope(core, of).await?;
    if params.site.is_some() {
        return Ok(vec![known]);
    }
    let all = core.store.read_all(scope::all).await?;
    Ok(all.into_iter().filter(|k| k.scope.app == known.scope.app).collect())
}

impl Core {
    /// Writes the JSON files and pictures of one scope to `dir`.
    async fn write_export(self: &Arc<Self>, known: &Known, dir: PathBuf, export: Export) -> Result<ExportedScope> {
        let mut files: Vec<(PathBuf, Source)> = Vec::new();
        for (name, content) in &export.files {
            let text =
                serde_json::to_vec_pretty(content).map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
            files.push((dir.join(name), Source::Text(text)));
        }
        let pictures = export.pictures.clone();
        let paths = self
            .store
            .read_all(move |c| {
                pictures
                    .into_iter()
                    .map(|p| Ok((p.file, artifact::file_of(c, &p.artifact)?)))
                    .collect::<afd_store::Result<Vec<_>>>()
            })
            .await?;
        for (file, path) in paths {
            files.push((dir.join(file), path.map_or(Source::Missing, Source::File)));
        }
        let written = run_blocking(move || write_all(files)).await?;
        let (pictures, missing) = written.map_err(|e| Error::param("dir", "a writable directory", e))?;
        let (components, states, transitions) = export.counts;
        Ok(ExportedScope {
            about: about(known),
            dir: dir.display().to_string(),
            components: count(components),
            states: count(states),
            transitions: count(transitions),
            pictures,
            missing_pictures: missing,
        })
    }
}

/// Where the content of an exported file comes from.
enum Source {
    Text(Vec<u8>),
    File(PathBuf),
    /// No content: a picture whose artifact no longer exists.
    Missing,
}

/// Writes files. Returns how many pictures were copied and how many are missing.
fn write_all(files: Vec<(PathBuf, Source)>) -> std::io::Result<(u32, u32)> {
    let (mut copied, mut gone) = (0, 0);
    for (path, source) in files {
        match source {
            Source::Text(text) => file::replace(&path, &text)?,
            Source::File(from) => match file::read_capped(&from, MAX_PICTURE) {
                Ok(picture) => {
                    file::replace(&path, &picture)?;
                    copied += 1;
                }
                Err(error) if error.kind() == ErrorKind::NotFound => gone += 1,
                Err(error) => return Err(error),
            },
            Source::Missing => gone += 1,
        }
    }
    Ok((copied, gone))
}
