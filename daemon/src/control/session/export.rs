//! `session.export`: everything about a session as one document.

use std::sync::Arc;

use afd_proto::session::{Export, ExportParams, ExportResult, SessionCall};

use super::super::artifacts::{Content, absolute};
use super::super::{Core, Result};
use super::{digest, known};
use crate::artifact;
use crate::memory::{log, notes};
use crate::session::conversation::{self, messages, summaries};
use crate::session::{patterns, tested};
use crate::store::Page;
use crate::visual::known as visual;

/// Name of the document format.
const FORMAT: &str = "afd-session";
/// Version of the document format.
const FORMAT_VERSION: u32 = 1;
/// Maximum number of rows of each kind in a document.
const MAX_ROWS: usize = 1_000_000;

/// `session.export`: returns the document inline if it is small and no file was named, else writes it to a file.
///
/// # Errors
/// If there is no such session, or the document cannot be written.
pub async fn export(core: &Arc<Core>, params: &ExportParams) -> Result<ExportResult> {
    let file = params.file.as_deref().map(|f| absolute("file", f)).transpose()?;
    let session = known(core, params.session()).await?;
    let name = session.name.clone();
    let document = document(core, session).await?;
    let content = Content::json("session_export", "session.export", &document)?;
    let size_bytes = i64::try_from(content.bytes.len()).unwrap_or(i64::MAX);
    if file.is_none() && content.bytes.len() <= core.config.get().limits.inline_bytes {
        return Ok(ExportResult { session: name, document: Some(Box::new(document)), file: None, artifact_id: None, size_bytes });
    }
    let written = core.save_for_session(&name, content, "file", file).await?;
    Ok(ExportResult {
        session: name,
        document: None,
        file: Some(written.saved_file),
        artifact_id: Some(written.artifact_id),
        size_bytes: written.size_bytes,
    })
}

/// Collects the export document of a session.
async fn document(core: &Arc<Core>, session: crate::session::Session) -> Result<Export> {
    let digest = digest(core, session).await?;
    let (id, name) = (digest.session.id, digest.session.name.clone());
    let gathered = core.store.read_all(move |c| {
        let conversation = conversation::of(c, id)?;
        let mut messages = messages::between(c, conversation.id, 0, i64::MAX)?;
        messages.iter_mut().for_each(|m| m.in_context = m.position > conversation.begins_after());
        let filter = log::Filter { session: Some(name.clone()), after: Some(0), page: Page::first(MAX_ROWS), ..log::Filter::default() };
        let artifacts = artifact::Filter { session: Some(name.clone()), page: Page::first(MAX_ROWS), kind: None };
        let mut tested: Vec<_> = tested::all(c, id)?.into_iter().map(|m| m.element).collect();
        // Components are exported by name, as their uids mean nothing in another database.
        let mut names = std::collections::HashMap::new();
        for app in tested.iter().map(|t| t.app.clone()).collect::<std::collections::BTreeSet<_>>() {
            names.extend(visual::elements(c, &app)?.into_iter().map(|e| (e.uid, e.name)));
        }
        tested.iter_mut().for_each(|t| t.component = t.component.as_ref().and_then(|uid| names.get(uid).cloned()));
        let patterns =
            patterns::Filter { session: Some(id), reader: patterns::Reader::Keeper, limit: MAX_ROWS, ..patterns::Filter::default() };
        Ok((
            messages,
            summaries::all(c, conversation.id)?,
            patterns::find(c, &patterns)?,
            log::read(c, &filter)?.events,
            notes::of_session(c, id)?,
            artifact::list(c, &artifacts)?.artifacts,
            tested,
        ))
    });
    let (messages, summaries, patterns, events, notes, artifacts, tested) = gathered.await?;
    let (next_steps, blockers, summary) = (digest.next_steps(), digest.blockers(), digest.summary(true));
    let tasks = digest.done.into_iter().chain(digest.current).chain(digest.queue).collect();
    Ok(Export {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        summary: digest.session.summary.unwrap_or(summary),
        info: digest.info,
        statistics: digest.statistics,
        coverage: digest.coverage,
        tasks,
        bugs: digest.bugs,
        results: digest.results,
        tested,
        pages: digest.pages,
        messages,
        summaries,
        patterns,
        events,
        notes,
        artifacts,
        next_steps,
        blockers,
        context: digest.context,
    })
}
