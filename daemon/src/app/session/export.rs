//! `session.export`: everything about a session, as one document for programs, or as lines that can be imported.

use std::sync::Arc;

use afd_proto::notes::Note;
use afd_proto::transfer::{Export, ExportFormat, ExportParams, ExportResult, ExportedConversation, SessionExport};
use serde_json::json;

use super::lines::{LINES_FORMAT, LINES_VERSION, NoteRecord};
use super::{digest, known};
use crate::app::artifacts::Content;
use crate::app::checks::absolute;
use crate::app::{Core, Methods, Result};
use afd_conversation::{self as conversation, Conversation, messages, summaries};
use afd_experience::memory::{log, notes};
use afd_experience::visual::known as visual;
use afd_store::{Connection, Page, Reader, SCHEMA, Store, StoreError, artifact, now_ms};
use afd_workspace::elsewhere::Elsewhere;
use afd_workspace::patterns;
use afd_workspace::records::{self, SessionRecord};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionExport, _, _>(|core, p| async move { export(&core, &p).await });
}

/// Name of the document format.
const FORMAT: &str = "afd-session";
/// Version of the document format.
const FORMAT_VERSION: u32 = 1;
/// Maximum number of rows of each kind in a document.
const MAX_ROWS: usize = 1_000_000;

/// `session.export`: returns the document inline if it is small and no file was named, else writes it to a file.
///
/// # Errors
/// If there is no such session, or if the document cannot be written.
pub async fn export(core: &Arc<Core>, params: &ExportParams) -> Result<ExportResult> {
    let file = params.file.as_deref().map(|f| absolute("file", f)).transpose()?;
    let session = known(core, params.session()).await?;
    let name = session.name.clone();
    if params.format == Some(ExportFormat::Lines) {
        let bytes = lines(&core.store, session).await?;
        let content = Content {
            kind: "session_export",
            mime_type: "application/jsonl",
            extension: "jsonl",
            op: "session.export",
            bytes,
        };
        return written(core, name, content, file).await;
    }
    let document = document(&core.store, session).await?;
    let content = Content::json("session_export", "session.export", &document)?;
    let size_bytes = i64::try_from(content.bytes.len()).unwrap_or(i64::MAX);
    if file.is_none() && content.bytes.len() <= core.config.get().limits.inline_bytes {
        return Ok(ExportResult {
            session: name,
            document: Some(Box::new(document)),
            file: None,
            artifact_id: None,
            size_bytes,
        });
    }
    written(core, name, content, file).await
}

/// Saves an export to `file` if one is given, else as an artifact.
async fn written(
    core: &Arc<Core>,
    name: String,
    content: Content,
    file: Option<std::path::PathBuf>,
) -> Result<ExportResult> {
    let size_bytes = i64::try_from(content.bytes.len()).unwrap_or(i64::MAX);
    let written = core.save_for_session(&name, content, "file", file).await?;
    Ok(ExportResult {
        session: name,
        document: None,
        file: Some(written.saved_file),
        artifact_id: Some(written.artifact_id),
        size_bytes,
    })
}

/// Collects the export lines for a session: a header, the session, and its records.
async fn lines(store: &Store, session: afd_workspace::Session) -> Result<Vec<u8>> {
    let digest = digest(store, session).await?;
    let origin = store.origin().to_owned();
    let gathered = store.read_all(move |c| {
        let id = digest.session.id;
        let elsewhere = Elsewhere { statistics: digest.statistics.clone(), pages: digest.pages };
        let own = SessionRecord::of(&digest.session, &origin, elsewhere);
        let header = json!({"format": LINES_FORMAT, "version": LINES_VERSION, "schema": SCHEMA, "origin": origin, "exportedAt": now_ms()});
        let mut text = header.to_string().into_bytes();
        let mut put = |value: serde_json::Value| {
            text.push(b'\n');
            text.extend(value.to_string().into_bytes());
        };
        put(typed("session", &own)?);
        records::dump(c, id, |record| put(record.into()))?;
        for note in notes::of_session(c, id)? {
            let app = note.app.unwrap_or_default();
            let Note { uid, topic, content, created_at, scope, .. } = note;
            let note = NoteRecord { uid, app, topic, content, created_at, scope };
            put(typed("note", &note)?);
        }
        text.push(b'\n');
        Ok(text)
    });
    Ok(gathered.await?)
}

/// Returns a record as JSON, with its type as the field `type`.
fn typed(kind: &str, record: &impl serde::Serialize) -> afd_store::Result<serde_json::Value> {
    let mut value = serde_json::to_value(record)
        .map_err(|error| StoreError::Unavailable(format!("cannot be written as JSON: {error}")))?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("type".to_owned(), kind.into());
    }
    Ok(value)
}

/// Returns a conversation with its messages.
fn exported(c: &Connection, own: Conversation) -> afd_store::Result<ExportedConversation> {
    let mut messages = messages::between(c, own.id, 0, i64::MAX)?;
    messages.iter_mut().for_each(|m| m.in_context = m.position > own.begins_after());
    Ok(ExportedConversation { summaries: summaries::all(c, own.id)?, messages, conversation: own.name })
}

/// Collects the export document of a session.
async fn document(store: &Store, session: afd_workspace::Session) -> Result<Export> {
    let digest = digest(store, session).await?;
    let (id, name, mut tested) = (digest.session.id, digest.session.name.clone(), digest.tested.clone());
    let gathered = store.read_all(move |c| {
        let main = exported(c, conversation::of(c, id)?)?;
        let others = conversation::all(c, id)?.into_iter().filter(|other| other.name != conversation::MAIN);
        let others = others.map(|other| exported(c, other)).collect::<afd_store::Result<Vec<_>>>()?;
        let page = Page::first(MAX_ROWS);
        let filter = log::Filter { session: Some(name.clone()), after: Some(0), page, ..log::Filter::default() };
        let artifacts = artifact::Filter { session: Some(name.clone()), page, kind: None };
        // Components are exported by name, as their uids mean nothing in another database.
        let mut names = std::collections::HashMap::new();
        for app in tested.iter().map(|t| t.app.clone()).collect::<std::collections::BTreeSet<_>>() {
            names.extend(visual::elements(c, &app)?.into_iter().map(|e| (e.uid, e.name)));
        }
        tested.iter_mut().for_each(|t| t.component = t.component.as_ref().and_then(|uid| names.get(uid).cloned()));
        let reader = Reader::Keeper;
        let patterns = patterns::Filter { session: Some(id), reader, limit: MAX_ROWS, ..patterns::Filter::default() };
        let patterns = patterns::find(c, &patterns)?;
        let (events, notes) = (log::read(c, &filter)?.events, notes::of_session(c, id)?);
        Ok((main, others, patterns, events, notes, artifact::list(c, &artifacts)?.artifacts, tested))
    });
    let (main, conversations, patterns, events, notes, artifacts, tested) = gathered.await?;
    let (next_steps, blockers, summary) = (digest.next_steps(), digest.blockers(), digest.summary(true));
    let duration_ms = digest.elapsed_ms();
    let tasks = digest.done.into_iter().chain(digest.current).chain(digest.queue).collect();
    Ok(Export {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION,
        summary: digest.session.summary.unwrap_or(summary),
        duration_ms,
        info: digest.info,
        statistics: digest.statistics,
        coverage: digest.coverage,
        tasks,
        bugs: digest.bugs,
        results: digest.results,
        tested,
        pages: digest.pages,
        messages: main.messages,
        summaries: main.summaries,
        conversations,
        patterns,
        events,
        notes,
        artifacts,
        next_steps,
        blockers,
        context: digest.context,
    })
}
