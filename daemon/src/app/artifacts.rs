//! `artifact.*`, and the choice of where a call stores its artifacts.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::artifact::{
    ArtifactDelete, ArtifactDetails, ArtifactGet, ArtifactList, Artifacts, DeleteParams, DeletedArtifact, GetParams,
    ListParams, SavedArtifact, Status,
};
use afd_proto::vocabulary::DeviceCall;
use base64::Engine;
use serde::Serialize;
use serde_json::json;

use super::checks::absolute;
use super::{Call, Core, Error, Result, current_trace};
use crate::app::Methods;
use afd_base::file::with_suffix;
use afd_base::task::run_blocking;
use afd_store::artifact::{self, ArtifactError, Filter, NewArtifact, Place};
use afd_store::{Store, new_uid};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ArtifactList, _, _>(|core, p| async move { list(&core.store, &p).await });
    methods.add::<ArtifactGet, _, _>(|core, p| async move { get(&core, &p).await });
    methods.add::<ArtifactDelete, _, _>(|core, p| async move { delete(&core, &p).await });
}

/// Name of the job that enforces the size and age limits on artifacts.
pub(super) const LIMITS_JOB: &str = "artifact-limits";

impl From<ArtifactError> for Error {
    fn from(error: ArtifactError) -> Self {
        match error {
            ArtifactError::Full(_) => Error::new(ErrorCode::StoreFull, error.to_string())
                .hint("free some disk space, or choose another location"),
            ArtifactError::Io { .. } | ArtifactError::NotAFile(_) => {
                Error::new(ErrorCode::StoreUnavailable, error.to_string())
                    .hint("fix the `artifacts.*` settings, or pass a path with the call")
            }
            ArtifactError::Store(error) => error.into(),
            ArtifactError::Panicked(error) => error.into(),
        }
    }
}

/// Location that a call requests for its artifact.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Destination<'a> {
    /// Name and value of the parameter that gives a file or directory path for this kind of artifact.
    pub path: Option<(&'static str, &'a str)>,
    /// Shared artifact root requested by the caller (`artifactDir`).
    pub root: Option<&'a str>,
}

/// Content and metadata of an artifact that a call writes.
pub(super) struct Content {
    pub kind: &'static str,
    pub mime_type: &'static str,
    pub extension: &'static str,
    pub op: &'static str,
    pub bytes: Vec<u8>,
}

impl Content {
    /// Serialises a result as a JSON document.
    pub(super) fn json<T: Serialize>(kind: &'static str, op: &'static str, value: &T) -> Result<Self> {
        let bytes = serde_json::to_vec(value)
            .map_err(|e| Error::new(ErrorCode::Internal, format!("cannot serialise the result as JSON: {e}")))?;
        Ok(Self { kind, mime_type: "application/json", extension: "json", op, bytes })
    }
}

impl Call {
    /// Chooses the location of an artifact: the path from the call, else the setting for its kind, else the shared root
    /// from the call, else the shared root from the settings.
    fn place(&self, kind: &str, destination: Destination<'_>) -> Result<Place> {
        let settings = &self.core.config.get().artifacts;
        let is_dir = kind.starts_with("page_");
        let of = |path: PathBuf| if is_dir { Place::Dir(path) } else { Place::File(path) };
        if let Some((field, path)) = destination.path {
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
        match destination.root {
            // A directory chosen by the caller is not subject to cleanup.
            Some(root) => Ok(Place::Dir(absolute("artifactDir", root)?)),
            None => Ok(Place::Root(settings.dir.clone())),
        }
    }

    /// Writes an artifact for this call.
    pub(super) async fn save_artifact(&self, content: Content, destination: Destination<'_>) -> Result<SavedArtifact> {
        let core = &self.core;
        let place = self.place(content.kind, destination)?;
        // If the call chose the location, errors name the parameter that chose it.
        let field = destination.path.map(|(field, _)| field).or(destination.root.map(|_| "artifactDir"));
        if let Place::File(path) = &place
            && core.is_daemon_file(path).await?
        {
            return Err(Error::param(
                field.unwrap_or("artifacts"),
                "a file that does not belong to the daemon",
                path.display(),
            ));
        }
        let new = NewArtifact {
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
            (Err(error @ (ArtifactError::Io { .. } | ArtifactError::NotAFile(_))), Some(field)) => {
                return Err(Error::param(field, "a writable location", error));
            }
            (written, _) => written?,
        };
        if core.artifacts.bytes_since_tidy() > core.config.get().artifacts.max_bytes / 8 {
            core.jobs.nudge(LIMITS_JOB);
        }
        Ok(written)
    }
}

impl Core {
    /// Writes an artifact that belongs to a session but to no device. It is written to `file`, the value of the
    /// parameter `field`, if that is given, else to the shared root.
    pub(super) async fn save_for_session(
        self: &Arc<Self>,
        session: &str,
        content: Content,
        field: &'static str,
        file: Option<PathBuf>,
    ) -> Result<SavedArtifact> {
        if let Some(file) = &file
            && self.is_daemon_file(file).await?
        {
            return Err(Error::param(field, "a file that does not belong to the daemon", file.display()));
        }
        let named = file.is_some();
        let new = NewArtifact {
            place: file.map_or_else(|| Place::Root(self.config.get().artifacts.dir.clone()), Place::File),
            kind: content.kind,
            mime_type: content.mime_type,
            extension: content.extension,
            content: content.bytes,
            op: content.op,
            // The session is not created here, because its content must not outlive a session that was deleted
            // meanwhile.
            session: super::session::known(self, session).await?.id,
            device: None,
            trace: current_trace().unwrap_or_else(new_uid),
        };
        let saver = self.clone();
        match self.finish(async move { saver.artifacts.save(new).await }).await? {
            Err(error @ (ArtifactError::Io { .. } | ArtifactError::NotAFile(_))) if named => {
                Err(Error::param(field, "a writable location", error))
            }
            written => Ok(written?),
        }
    }

    /// Returns whether a path refers to the database file, directly or through links. Such a file must not even be
    /// opened: closing it would release the POSIX locks that `SQLite` holds on it.
    pub(super) async fn leads_to_database(&self, path: &Path) -> Result<bool> {
        let (path, database) = (path.to_owned(), self.store.path().to_owned());
        let look = move || {
            let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
            let wanted = identity(&path);
            wanted.is_some() && wanted == identity(&database)
        };
        Ok(run_blocking(look).await?)
    }

    /// Returns whether a path, however it is spelled, is one of the daemon's own files, which artifacts must not
    /// overwrite.
    pub(super) async fn is_daemon_file(&self, path: &Path) -> Result<bool> {
        let (path, database) = (path.to_owned(), self.store.path().to_owned());
        let (config, socket) = (self.config.path().to_owned(), self.config.socket().to_owned());
        let backups = self.config.get().backup.dir.clone();
        let check = move || is_daemon_path(&path, &database, &config, &socket) || is_inside(&path, &backups);
        Ok(run_blocking(check).await?)
    }
}

/// Returns whether a path lies in a directory once all links are resolved.
fn is_inside(path: &Path, dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    path.ancestors().skip(1).find_map(|parent| parent.canonicalize().ok()).is_some_and(|real| real.starts_with(dir))
}

/// Returns whether a path is the database, the configuration file, the socket, or one of their companion files.
fn is_daemon_path(path: &Path, database: &Path, config: &Path, socket: &Path) -> bool {
    let real = |path: &Path| {
        let dir = path.parent().and_then(|d| d.canonicalize().ok())?;
        Some(dir.join(path.file_name()?))
    };
    let Some(wanted) = real(path) else { return false };
    let of_database = ["", "-wal", "-shm", "-journal", ".key", ".lock", ".damaged", ".restored", ".key.restored"]
        .map(|suffix| with_suffix(database, suffix));
    let others = [config.to_owned(), socket.to_owned(), with_suffix(socket, ".lock")];
    of_database.iter().chain(&others).filter_map(|own| real(own)).any(|own| own == wanted)
}

/// Implements `artifact.list`.
///
/// # Errors
/// If `limit` or `cursor` is out of range, or if the database cannot be read.
pub async fn list(store: &Store, params: &ListParams) -> Result<Artifacts> {
    let filter = Filter {
        session: params.session.clone(),
        kind: params.kind.clone(),
        page: super::paging::page(params.limit(), params.cursor)?,
    };
    Ok(store.read_all(move |c| artifact::list(c, &filter)).await?)
}

fn unknown(id: i64) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such artifact: {id}"))
        .hint("`afctl artifact list` lists the artifact ids")
        .details(json!({"id": id}))
}

/// Implements `artifact.get`.
///
/// # Errors
/// If there is no such artifact, or if its content was requested and is too large or missing.
pub async fn get(core: &Arc<Core>, params: &GetParams) -> Result<ArtifactDetails> {
    let id = params.id;
    let found = core.store.read_all(move |c| artifact::find(c, id)).await?;
    let mut got = ArtifactDetails { artifact: found.ok_or_else(|| unknown(id))?, text: None, base64: None };
    if !params.content {
        return Ok(got);
    }
    let artifact = &got.artifact;
    let limit = core.config.get().limits.inline_bytes;
    if usize::try_from(artifact.size_bytes).is_ok_and(|size| size > limit) {
        return Err(Error::new(
            ErrorCode::LimitExceeded,
            format!("file is {} bytes; the inline limit is {limit}", artifact.size_bytes),
        )
        .hint("read the file at `filePath` directly")
        .details(json!({"filePath": artifact.file_path})));
    }
    let gone = |what: String| {
        Error::new(ErrorCode::NotFound, what).details(json!({"filePath": artifact.file_path, "status": "missing"}))
    };
    if artifact.status == Status::Missing {
        return Err(gone(format!("the file of artifact {id} is missing or its content has changed")));
    }
    let bytes = tokio::fs::read(&artifact.file_path).await.map_err(|e| gone(format!("cannot read the file: {e}")))?;
    if artifact.mime_type.starts_with("text/") || artifact.mime_type == "application/json" {
        got.text = Some(String::from_utf8_lossy(&bytes).into_owned());
    } else {
        got.base64 = Some(as_base64(bytes).await?);
    }
    Ok(got)
}

/// Encodes bytes as base64 for a response, on a blocking thread.
pub(super) async fn as_base64(bytes: Vec<u8>) -> Result<String> {
    Ok(run_blocking(move || base64::engine::general_purpose::STANDARD.encode(bytes)).await?)
}

/// Implements `artifact.delete`.
///
/// # Errors
/// If there is no such artifact, or if it cannot be deleted.
pub async fn delete(core: &Arc<Core>, params: &DeleteParams) -> Result<DeletedArtifact> {
    let (deleter, id) = (core.clone(), params.id);
    let root = core.config.get().artifacts.dir.clone();
    let deleted = core.finish(async move { deleter.artifacts.delete(id, &root).await }).await?;
    deleted?.ok_or_else(|| unknown(id))
}

impl Core {
    /// Deletes artifacts that nothing refers to any more. If one cannot be deleted, the job that enforces the limits
    /// deletes it later.
    pub(super) async fn delete_artifacts(self: &Arc<Self>, ids: Vec<i64>) {
        let (own, root) = (self.clone(), self.config.get().artifacts.dir.clone());
        let work = async move {
            for id in ids {
                if let Err(error) = own.artifacts.delete(id, &root).await {
                    tracing::warn!(%error, "cannot delete a picture of a deleted message");
                }
            }
        };
        if let Err(error) = self.finish(work).await {
            tracing::warn!(%error, "cannot delete the pictures of deleted messages");
        }
    }
}

/// Deletes artifacts that exceed the size or age limits.
pub(super) async fn tidy(core: &Core) -> afd_store::job::Outcome {
    Ok(core.artifacts.tidy(&core.config.get().artifacts).await?)
}

/// Moves output that is longer than `limits.inline_bytes` to a file of a kind, for a method. Returns the file, and whether
/// the output was truncated because the file could not be saved.
pub(in crate::app) async fn move_to_file(
    core: &Arc<Core>,
    params: &impl DeviceCall,
    output: &mut Option<String>,
    (kind, op): (&'static str, &'static str),
) -> (Option<SavedArtifact>, bool) {
    let limit = core.config.get().limits.inline_bytes;
    let Some(mut long) = output.take_if(|o| o.len() > limit) else { return (None, false) };
    let bytes = long.clone().into_bytes();
    let content = Content { kind, mime_type: "text/plain", extension: "txt", op, bytes };
    let saved = async { core.call(params).await?.save_artifact(content, Destination::default()).await };
    match saved.await {
        Ok(written) => (Some(written), false),
        // The command has been executed; an error now would make the caller run it again.
        Err(error) => {
            tracing::warn!(error = %error.message, "cannot store the output of {op}");
            long.truncate(long.floor_char_boundary(limit));
            *output = Some(long);
            (None, true)
        }
    }
}
