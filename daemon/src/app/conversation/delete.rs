//! `conversation.delete`: erases one message and all data derived from it.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::conversation::{ConversationDelete, DeleteMessageParams, DeleteMessageResult};
use serde_json::json;

use super::{conversation_of, lock_name};
use crate::app::checks::check_session;
use crate::app::daemon::backups;
use crate::app::recall::Recall;
use crate::app::session::{SAYING, known};
use crate::app::{Core, Error, Methods, Result};
use afd_experience::memory::requests;
use afd_store::artifact;
use afd_workspace::erase;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConversationDelete, _, _>(|core, p| async move { message(&core, &p).await });
}

/// `conversation.delete`: erases a message, its statements, its search entry, the summaries that may quote it, and its
/// pictures.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, conversation or message.
pub async fn message(core: &Arc<Core>, params: &DeleteMessageParams) -> Result<DeleteMessageResult> {
    let name = params.session();
    check_session(name)?;
    let _lock = core.sessions.conversations.lock(lock_name(name, params.conversation.as_deref())).await;
    let session = known(core, name).await?;
    let id = session.id;
    let (origin, which, position) = (core.store.origin().to_owned(), params.conversation.clone(), params.position);
    let erased = core.store.write_or_refuse(move |c| {
        let mut conversation = conversation_of(c, session.id, which.as_deref())??;
        requests::forget_what_was_said(c)?;
        erase::message(c, &origin, &mut conversation, position)?.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, format!("there is no message {position} in this conversation"))
                .hint("`conversation list` and `conversation search` show the positions")
                .details(json!({"position": position}))
        })
    });
    let erased = erased.await?;
    // Reports and exports quote the conversation. The daemon deletes those that it manages, and returns the paths of
    // files that a caller named.
    let written = core.store.read_all(move |c| artifact::written(c, id, &SAYING)).await?;
    let (ours, theirs): (Vec<_>, Vec<_>) = written.into_iter().partition(|(_, _, managed)| *managed);
    core.delete_artifacts(erased.artifacts.into_iter().chain(ours.into_iter().map(|(id, _, _)| id)).collect()).await;
    Recall::scrub(core).await?;
    let backups = backups::holding(&core.config, erased.recorded_at).await;
    let files_left = theirs.into_iter().map(|(_, path, _)| path).collect();
    Ok(DeleteMessageResult { session: session.name, position, derived: erased.derived, files_left, backups })
}
