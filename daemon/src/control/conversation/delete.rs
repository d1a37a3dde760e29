//! `conversation.delete`: erasing one message with everything that was made of it.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::conversation::{DeleteMessageParams, DeleteMessageResult};
use afd_proto::session::SessionCall;
use serde_json::json;

use super::super::session::known;
use super::super::{Core, Error, Result, check_session};
use super::{conversation_of, lock_name};
use crate::memory::requests;
use crate::session::conversation::erase;

/// `conversation.delete`: erases a message, its statements, its search entry, the summaries that may quote it, and its pictures.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, conversation or message.
pub async fn message(core: &Arc<Core>, params: &DeleteMessageParams) -> Result<DeleteMessageResult> {
    let name = params.session();
    check_session(name)?;
    let _lock = core.locks.conversations.lock(lock_name(name, params.conversation.as_deref())).await;
    let session = known(core, name).await?;
    let (origin, which, position) = (core.store.origin().to_owned(), params.conversation.clone(), params.position);
    let erased = core.store.write_or_refuse(move |c| {
        let mut conversation = conversation_of(c, session.id, which.as_deref())??;
        requests::forget_results(c, "conversation.")?;
        erase::message(c, &origin, &mut conversation, position)?.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, format!("there is no message {position} in this conversation"))
                .hint("`conversation list` and `conversation search` show the positions")
                .details(json!({"position": position}))
        })
    });
    let erased = erased.await?;
    core.delete_artifacts(erased.artifacts).await;
    core.store.scrub().await?;
    Ok(DeleteMessageResult { session: session.name, position, derived: erased.derived })
}
