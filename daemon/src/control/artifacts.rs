//! `artifact.*`, and where an artifact of a call goes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::artifact::{Artifacts, DeleteParams, Deleted, GetParams, Got, ListParams, Status, Written};
use base64::Engine;
use serde::Serialize;
use serde_json::json;

use super::{Call, Core, Error, Result, current_trace};
use crate::artifact::{self, ArtifactError, Filter, New, Place};
use crate::store::new_uid;
use crate::task::run_blocking;

/// The job that keeps the limits.
pub(super) const LIMITS_JOB: &str = "artifact-limits";

impl From<ArtifactError> for Error {
    fn from(error: ArtifactError) -> Self {
        match error {
            ArtifactError::Full(_) => {
                Error::new(ErrorCode::StoreFull, error.to_string()).hint("make room on the disk, or choose another place")
            }
            ArtifactError::Io { .. } | ArtifactError::NoFile(_) => Error::new(ErrorCode::StoreUnavailable, error.to_string())
                .hint("mend the settings `artifacts.*`, or give the call a path of its own"),
            ArtifactError::Store(error) => error.into(),
            ArtifactError::Panicked(error) => error.into(),
        }
    }
}

/// What a call said about where its artifact goes (seed 000, "Artifact Storage").
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wish<'a> {
    /// A file or directory for this kind: from a flag, or from the caller's variable for it.
    pub path: Option<(&'static str, &'a str)>,
    /// The caller's shared root.
    pub root: Option<&'a str>,
}

/// What is written.
pub(super) struct Content {
    pub kind: &'static str,
    pub mime_type: &'static str,
    pub extension: &'static str,
    pub op: &'static str,
    pub bytes: Vec<u8>,
}

impl Content {
    /// A result as a JSON document.
    pub(super) fn json<T: Serialize>(kind: &'static str, op: &'static str, value: &T) -> Result<Self> {
        let bytes = serde_json::to_vec(value).map_err(|e| Error::new(ErrorCode::Internal, format!("cannot be written as JSON: {e}")))?;
        Ok(Self { kind, mime_type: "application/json", extension: "json", op, bytes })
    }
}

/// A path of a call, which must make sense wherever the daemon runs.
pub(super) fn absolute(field: &'static str, path: &str) -> Result<PathBuf> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(Error::param(field, "an absolute path", format!("{:?}", path.display().to_string())));
    }
    Ok(path.to_owned())
}

impl Call {
    /// The place of an artifact: the call's path, the setting for its kind, the shared root of call, variable or settings.
    fn place(&self, kind: &str, wish: Wish<'_>) -> Result<Place> {
        let settings = &self.core.config.get().artifacts;
        let is_dir = kind.starts_with("page_");
        let of = |path: PathBuf| if is_dir { Place::Dir(path) } else { Place::File(path) };
        if let Some((field, path)) = wish.path {
            return Ok(of(absolute(field, path)?));
        }
        let setting = match kind {
            "screenshot_image" => settings.screenshot_file.clone(),
            "screen_full_json" => settings.screen_file.clone(),
            _ if is_dir => settings.page_dir.clone(),
            _ => None,
        };
        if let Some(path) = setting {
            return Ok(of(path));
        }
        match wish.root {
            // What others made is not ours to tidy.
            Some(root) => Ok(Place::Dir(absolute("artifactDir", root)?)),
            None => Ok(Place::Root(settings.dir.clone())),
        }
    }

    /// Writes an artifact.
    pub(super) async fn save_artifact(&self, content: Content, wish: Wish<'_>) -> Result<Written> {
        let core = &self.core;
        let place = self.place(content.kind, wish)?;
        // What went wrong with a place of the call is a fault of that field.
        let field = wish.path.map(|(field, _)| field).or(wish.root.map(|_| "artifactDir"));
        if let Place::File(path) = &place
            && core.is_own(path).await?
        {
            return Err(Error::param(field.unwrap_or("artifacts"), "a file that is not the daemon's own", path.display()));
        }
        let new = New {
            place,
            kind: content.kind,
            mime_type: content.mime_type,
            extension: content.extension,
            content: content.bytes,
            op: content.op,
            session: self.session_id,
            device: Some(self.device_id),
            trace: self.echo.trace_id.clone(),
        };
        let saver = core.clone();
        let written = match (core.finish(async move { saver.artifacts.save(new).await }).await?, field) {
            (Err(error @ (ArtifactError::Io { .. } | ArtifactError::NoFile(_))), Some(field)) => {
                return Err(Error::param(field, "a place where a file can be written", error));
            }
            (written, _) => written?,
        };
        if core.artifacts.fresh_bytes() > core.config.get().artifacts.max_bytes / 8 {
            core.jobs.nudge(LIMITS_JOB);
        }
        Ok(written)
    }
}

impl Core {
    /// Writes an artifact of a session that shows no device: to a file that the field of a call names, else to the shared root.
    pub(super) async fn save_for_session(
        self: &Arc<Self>,
        session: &str,
        content: Content,
        field: &'static str,
        file: Option<PathBuf>,
    ) -> Result<Written> {
        if let Some(file) = &file
            && self.is_own(file).await?
        {
            return Err(Error::param(field, "a file that is not the daemon's own", file.display()));
        }
        let named = file.is_some();
        let new = New {
            place: file.map_or_else(|| Place::Root(self.config.get().artifacts.dir.clone()), Place::File),
            kind: content.kind,
            mime_type: content.mime_type,
            extension: content.extension,
            content: content.bytes,
            op: content.op,
            session: self.session_row(session).await?,
            device: None,
            trace: current_trace().unwrap_or_else(new_uid),
        };
        let saver = self.clone();
        match self.finish(async move { saver.artifacts.save(new).await }).await? {
            Err(error @ (ArtifactError::Io { .. } | ArtifactError::NoFile(_))) if named => {
                Err(Error::param(field, "a place where a file can be written", error))
            }
            written => Ok(written?),
        }
    }

    /// Whether a path leads to the database, by whatever link. It must not even be read: closing it would end the locks that
    /// `SQLite` holds on it.
    pub(super) async fn leads_to_database(&self, path: &Path) -> Result<bool> {
        let (path, database) = (path.to_owned(), self.store.path().to_owned());
        let look = move || {
            let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
            let wanted = identity(&path);
            wanted.is_some() && wanted == identity(&database)
        };
        Ok(run_blocking(look).await?)
    }

    /// Whether a path is that of a file which the daemon itself lives on, whatever way it is written.
    pub(super) async fn is_own(&self, path: &Path) -> Result<bool> {
        let (path, database) = (path.to_owned(), self.store.path().to_owned());
        let (config, socket) = (self.config.path().to_owned(), self.config.socket().to_owned());
        Ok(run_blocking(move || leads_to_own(&path, &database, &config, &socket)).await?)
    }
}

/// Whether a path is that of a database, of a settings file, of a socket, or of what lies beside them.
fn leads_to_own(path: &Path, database: &Path, config: &Path, socket: &Path) -> bool {
    let real = |path: &Path| {
        let dir = path.parent().and_then(|d| d.canonicalize().ok())?;
        Some(dir.join(path.file_name()?))
    };
    let Some(wanted) = real(path) else { return false };
    let beside = |own: &Path, suffix: &str| {
        let mut name = own.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let of_database = ["", "-wal", "-shm", "-journal", ".key", ".lock"].map(|suffix| beside(database, suffix));
    let others = [config.to_owned(), socket.to_owned(), beside(socket, ".lock")];
    of_database.iter().chain(&others).filter_map(|own| real(own)).any(|own| own == wanted)
}

/// `artifact.list`
///
/// # Errors
/// When the limit is out of range or the database cannot be read.
pub async fn list(core: &Arc<Core>, params: &ListParams) -> Result<Artifacts> {
    let filter =
        Filter { session: params.session.clone(), kind: params.kind.clone(), page: super::paging::page(params.limit, params.cursor, 20)? };
    Ok(core.store.read_all(move |c| artifact::list(c, &filter)).await?)
}

fn unknown(id: i64) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no artifact {id}"))
        .hint("`afctl artifact list` shows the numbers of the artifacts")
        .details(json!({"id": id}))
}

/// `artifact.get`
///
/// # Errors
/// When there is none, or its content is asked for and too large or gone.
pub async fn get(core: &Arc<Core>, params: &GetParams) -> Result<Got> {
    let id = params.id;
    let found = core.store.read_all(move |c| artifact::find(c, id)).await?;
    let mut got = Got { artifact: found.ok_or_else(|| unknown(id))?, text: None, base64: None };
    if !params.content {
        return Ok(got);
    }
    let artifact = &got.artifact;
    let most = core.config.get().limits.inline_bytes;
    if usize::try_from(artifact.size_bytes).is_ok_and(|size| size > most) {
        return Err(Error::new(ErrorCode::LimitExceeded, format!("the file has {} bytes, an answer carries {most}", artifact.size_bytes))
            .hint("read the file itself")
            .details(json!({"filePath": artifact.file_path})));
    }
    let gone = |what: String| Error::new(ErrorCode::NotFound, what).details(json!({"filePath": artifact.file_path, "status": "missing"}));
    if artifact.status == Status::Missing {
        return Err(gone(format!("the file of artifact {id} is gone, or holds something else by now")));
    }
    let bytes = tokio::fs::read(&artifact.file_path).await.map_err(|e| gone(format!("the file cannot be read: {e}")))?;
    if artifact.mime_type.starts_with("text/") || artifact.mime_type == "application/json" {
        got.text = Some(String::from_utf8_lossy(&bytes).into_owned());
    } else {
        got.base64 = Some(as_base64(bytes).await?);
    }
    Ok(got)
}

/// Bytes as they travel in an answer.
pub(super) async fn as_base64(bytes: Vec<u8>) -> Result<String> {
    Ok(run_blocking(move || base64::engine::general_purpose::STANDARD.encode(bytes)).await?)
}

/// `artifact.delete`
///
/// # Errors
/// When there is none, or it cannot be deleted.
pub async fn delete(core: &Arc<Core>, params: &DeleteParams) -> Result<Deleted> {
    let (deleter, id) = (core.clone(), params.id);
    let deleted = core.finish(async move { deleter.artifacts.delete(id).await }).await?;
    deleted?.ok_or_else(|| unknown(id))
}

/// Keeps the limits of artifacts.
pub(super) async fn tidy(core: &Core) -> crate::job::Outcome {
    Ok(core.artifacts.tidy(&core.config.get().artifacts).await?)
}
