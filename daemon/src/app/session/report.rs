//! `session.report`: writes a report about the actions and findings of a session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::picture::PictureFormat;
use afd_proto::session::{ReportFormat, ReportParams, ReportResult, SessionReport};

use super::{digest, known};
use crate::app::artifacts::Content;
use crate::app::checks::absolute;
use crate::app::observe::screenshot::KIND as SCREENSHOT;
use crate::app::{Core, Methods, Result};
use afd_base::task::run_blocking;
use afd_experience::memory::sessions;
use afd_screen::picture::{self, PictureError};
use afd_store::{Connection, Page, Result as Stored, Store, artifact};
use afd_workspace::report::{self, Moment, Picture, html, machine};
use afd_workspace::summary::Digest;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionReport, _, _>(|core, p| async move { report(&core, &p).await });
}

/// Maximum number of actions and checks in the timeline of a report. Older ones are left out.
const MAX_DEEDS: usize = 300;
/// Maximum number of pictures in a report.
const MAX_PICTURES: usize = 60;
/// Maximum number of screenshots in the timeline of a report. Older ones are left out.
const MAX_SCREENSHOTS: usize = 40;
/// Maximum length of the longer side of a picture in a report, in pixels.
const PICTURE_SIDE: u32 = 1_000;
/// JPEG quality of the pictures in a report.
const JPEG_QUALITY: u8 = 80;

/// `session.report`: writes a report as HTML (the default), Markdown, JUnit XML or JSON.
///
/// # Errors
/// If there is no such session, or if the report cannot be written.
pub async fn report(core: &Arc<Core>, params: &ReportParams) -> Result<ReportResult> {
    let file = params.file.as_deref().map(|f| absolute("file", f)).transpose()?;
    let session = known(core, params.session()).await?;
    let digest = digest(&core.store, session).await?;
    let format = params.format.or_else(|| of_extension(file.as_deref()?)).unwrap_or(ReportFormat::Html);
    write(core, &digest, format, file).await
}

/// Returns the report format for a file's extension.
fn of_extension(file: &Path) -> Option<ReportFormat> {
    match file.extension()?.to_str()?.to_lowercase().as_str() {
        "html" | "htm" => Some(ReportFormat::Html),
        "md" | "markdown" => Some(ReportFormat::Markdown),
        "xml" => Some(ReportFormat::Junit),
        "json" => Some(ReportFormat::Json),
        _ => None,
    }
}

/// Renders a report and saves it to `file` if one is given, else to the artifact directory.
pub(super) async fn write(
    core: &Arc<Core>,
    digest: &Digest,
    format: ReportFormat,
    file: Option<PathBuf>,
) -> Result<ReportResult> {
    let (id, name) = (digest.session.id, digest.session.name.clone());
    let moments = core.store.read_all(move |c| timeline(c, id, name)).await?;
    let pictures = pictures(&core.store, digest, &moments).await?;
    let count = i64::try_from(pictures.len()).unwrap_or(i64::MAX);
    let (mime_type, extension, text) = match format {
        ReportFormat::Html => ("text/html", "html", html::page(digest, &moments, &pictures)),
        ReportFormat::Markdown => ("text/markdown", "md", report::markdown(digest, &moments, &pictures)),
        ReportFormat::Junit => ("application/xml", "xml", machine::junit(digest)),
        ReportFormat::Json => ("application/json", "json", machine::json(digest, &moments)),
    };
    let content =
        Content { kind: "session_report", mime_type, extension, op: "session.report", bytes: text.into_bytes() };
    let written = core.save_for_session(&digest.session.name, content, "file", file).await?;
    Ok(ReportResult {
        session: digest.session.name.clone(),
        format,
        file: written.saved_file,
        artifact_id: written.artifact_id,
        size_bytes: written.size_bytes,
        pictures: count,
    })
}

/// Returns the last actions, checks and screenshots of a session, oldest first.
fn timeline(c: &Connection, session: i64, name: String) -> Stored<Vec<Moment>> {
    let done = sessions::deeds(c, session, MAX_DEEDS)?.into_iter();
    let mut moments: Vec<Moment> = done
        .map(|deed| Moment { at: deed.at, what: deed.what, ok: deed.ok, activity: deed.activity, picture: None })
        .collect();
    let wanted =
        artifact::Filter { session: Some(name), kind: Some(SCREENSHOT.to_owned()), page: Page::first(MAX_SCREENSHOTS) };
    let taken = artifact::list(c, &wanted)?.artifacts.into_iter().map(|shot| Moment {
        at: shot.created_at,
        what: "took a screenshot".to_owned(),
        ok: true,
        activity: None,
        picture: Some(shot.uid),
    });
    moments.extend(taken);
    moments.sort_by_key(|moment| moment.at);
    Ok(moments)
}

/// Loads the screenshots of bugs, worst first, then the evidence of results, then the newest screenshots of the
/// timeline. Files that are missing or unreadable are left out.
async fn pictures(store: &Store, digest: &Digest, moments: &[Moment]) -> Result<Vec<Picture>> {
    let of_bugs = digest.bugs.iter().filter_map(|b| b.screenshot.clone());
    let of_results = digest.results.iter().filter_map(|r| r.evidence.clone());
    let of_timeline = moments.iter().rev().filter_map(|d| d.picture.clone());
    let mut uids: Vec<String> = Vec::new();
    for uid in of_bugs.chain(of_results).chain(of_timeline) {
        if !uids.contains(&uid) && uids.len() < MAX_PICTURES {
            uids.push(uid);
        }
    }
    let files = store.read_all(move |c| {
        let files = uids.into_iter().map(|uid| Ok(artifact::file_of(c, &uid)?.map(|file| (uid, file))));
        files.collect::<afd_store::Result<Vec<_>>>()
    });
    let files = files.await?;
    let read = run_blocking(move || {
        let shown = files.into_iter().flatten().filter_map(|(artifact, file)| {
            let unused = |error: &dyn std::error::Error| tracing::debug!(%error, file = %file.display(), "picture left out of the report");
            let bytes = std::fs::read(&file).inspect_err(|error| unused(error)).ok()?;
            let jpeg = thumbnail(&bytes).inspect_err(|error| unused(error)).ok()?;
            Some(Picture { artifact, file: file.display().to_string(), jpeg })
        });
        shown.collect()
    });
    Ok(read.await?)
}

/// Decodes a picture and re-encodes it as a JPEG of at most [`PICTURE_SIDE`] pixels a side.
fn thumbnail(bytes: &[u8]) -> std::result::Result<Vec<u8>, PictureError> {
    let whole = picture::decode_any(bytes)?;
    picture::encode(&picture::at_most(whole, PICTURE_SIDE), PictureFormat::Jpeg, JPEG_QUALITY)
}
