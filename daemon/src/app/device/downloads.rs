//! `device.downloads`: the files that pages gave.

use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::device::{DownloadInfo, DownloadList, DownloadStatus, DownloadsParams};
use afd_proto::vocabulary::Reply;

use crate::app::artifacts::{Content, Destination};
use crate::app::{Call, Core, Result};
use afd_base::task::run_blocking;
use afd_device::{Download, DownloadState};

/// Implements `device.downloads`.
///
/// # Errors
/// If the device gives no files, or if a file cannot be saved.
pub async fn downloads(core: &Arc<Core>, params: &DownloadsParams) -> Result<Reply<DownloadList>> {
    let call = core.call(params).await?;
    let (mut downloads, mut failure) = (Vec::new(), None);
    for download in call.device().downloads(params.wait_ms()).await? {
        let failed = DownloadInfo {
            name: download.name.clone(),
            bytes: download.bytes,
            state: DownloadStatus::Failed,
            artifact: None,
        };
        // One file that cannot be saved does not lose the others.
        downloads.push(saved(&call, download).await.unwrap_or_else(|error| {
            failure = Some(error);
            failed
        }));
    }
    match failure {
        Some(error) if downloads.iter().all(|download| download.artifact.is_none()) => Err(error),
        _ => Ok(call.reply(DownloadList { downloads })),
    }
}

/// Saves a file as an artifact, if it is complete.
async fn saved(call: &Call, download: Download) -> Result<DownloadInfo> {
    let Download { name, bytes, state } = download;
    let info = |state, artifact| DownloadInfo { name: name.clone(), bytes, state, artifact };
    let file = match state {
        DownloadState::Running => return Ok(info(DownloadStatus::Running, None)),
        DownloadState::Failed => return Ok(info(DownloadStatus::Failed, None)),
        DownloadState::Complete(file) => file,
    };
    let Ok(content) = run_blocking(move || content_of(&file)).await? else {
        return Ok(info(DownloadStatus::Failed, None));
    };
    let content = Content {
        kind: "download",
        mime_type: "application/octet-stream",
        extension: extension_of(&name),
        op: "device.downloads",
        bytes: content,
    };
    let artifact = call.save_artifact(content, Destination::default()).await?;
    Ok(info(DownloadStatus::Complete, Some(artifact)))
}

/// Reads a file, and deletes it.
fn content_of(file: &PathBuf) -> std::io::Result<Vec<u8>> {
    let content = std::fs::read(file);
    let _ = std::fs::remove_file(file);
    content
}

/// Returns the extension under which a file is saved. Programs are not saved under a name that starts them.
fn extension_of(name: &str) -> &'static str {
    const KNOWN: [&str; 14] =
        ["csv", "docx", "html", "jpg", "json", "md", "pdf", "png", "pptx", "svg", "txt", "xlsx", "xml", "zip"];
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
    KNOWN.into_iter().find(|known| *known == extension).unwrap_or("bin")
}
