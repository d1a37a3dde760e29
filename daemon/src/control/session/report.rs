//! `session.report`: what a session did and found, for people.

use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::picture::PictureFormat;
use afd_proto::session::{ReportFormat, ReportParams, ReportWritten, SessionCall};

use super::super::artifacts::{Content, absolute};
use super::super::{Core, Result};
use super::{digest, known};
use crate::artifact;
use crate::picture::{self, PictureError};
use crate::session::report::{self, Picture, html};
use crate::session::summary::Digest;
use crate::task::run_blocking;

/// At most this many pictures are in a report.
const PICTURES: usize = 60;
/// The longer side of a picture in a report, pixels, and the quality of its JPEG.
const SIZE: (u32, u8) = (1_000, 80);

/// `session.report`
///
/// # Errors
/// When there is no such session, or the report cannot be written.
pub async fn report(core: &Arc<Core>, params: &ReportParams) -> Result<ReportWritten> {
    let file = params.file.as_deref().map(|f| absolute("file", f)).transpose()?;
    let session = known(core, params.session()).await?;
    let digest = digest(core, session).await?;
    write(core, &digest, params.format.unwrap_or(ReportFormat::Html), file).await
}

pub(super) async fn write(core: &Arc<Core>, digest: &Digest, format: ReportFormat, file: Option<PathBuf>) -> Result<ReportWritten> {
    let pictures = pictures(core, digest).await?;
    let count = i64::try_from(pictures.len()).unwrap_or(i64::MAX);
    let (mime_type, extension, text) = match format {
        ReportFormat::Html => ("text/html", "html", html::page(digest, &pictures)),
        ReportFormat::Markdown => ("text/markdown", "md", report::markdown(digest, &pictures)),
    };
    let content = Content { kind: "session_report", mime_type, extension, op: "session.report", bytes: text.into_bytes() };
    let written = core.save_for_session(&digest.session.name, content, "file", file).await?;
    Ok(ReportWritten {
        session: digest.session.name.clone(),
        format,
        file: written.saved_file,
        artifact_id: written.artifact_id,
        size_bytes: written.size_bytes,
        pictures: count,
    })
}

/// The pictures of bugs, worst first, then of results; those that are gone are left out.
async fn pictures(core: &Arc<Core>, digest: &Digest) -> Result<Vec<Picture>> {
    let of_bugs = digest.bugs.iter().filter_map(|b| b.screenshot.clone());
    let mut uids: Vec<String> = Vec::new();
    for uid in of_bugs.chain(digest.results.iter().filter_map(|r| r.evidence.clone())) {
        if !uids.contains(&uid) && uids.len() < PICTURES {
            uids.push(uid);
        }
    }
    let files = core.store.read_all(move |c| {
        let files = uids.into_iter().map(|uid| Ok(artifact::file_of(c, &uid)?.map(|file| (uid, file))));
        files.collect::<crate::store::Result<Vec<_>>>()
    });
    let files = files.await?;
    let read = run_blocking(move || {
        let shown = files.into_iter().flatten().filter_map(|(artifact, file)| {
            let unused = |error: &dyn std::error::Error| tracing::debug!(%error, file = %file.display(), "no picture for the report");
            let bytes = std::fs::read(&file).inspect_err(|error| unused(error)).ok()?;
            let jpeg = small(&bytes).inspect_err(|error| unused(error)).ok()?;
            Some(Picture { artifact, file: file.display().to_string(), jpeg })
        });
        shown.collect()
    });
    Ok(read.await?)
}

/// A picture as a small JPEG.
fn small(bytes: &[u8]) -> std::result::Result<Vec<u8>, PictureError> {
    let whole = picture::decode_any(bytes)?;
    picture::encode(&picture::at_most(whole, SIZE.0), PictureFormat::Jpeg, SIZE.1)
}
