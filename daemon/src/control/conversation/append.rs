//! `conversation.append`

use std::collections::BTreeMap;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::conversation::{AppendParams, Appended, Content, Message, Part, Role};
use afd_proto::session::SessionCall;
use base64::Engine;
use rusqlite::Connection;

use super::super::session::{for_writing, lifecycle::check_context};
use super::super::{Core, Error, Result, artifacts::Content as File, check_session};
use super::{SUMMARIES_JOB, counter, usage};
use crate::config::Conversation as Settings;
use crate::model::Counter;
use crate::session::conversation::compaction::{self, Limits};
use crate::session::conversation::keys::{self, Known};
use crate::session::conversation::messages::{self, Prepared};
use crate::session::conversation::rolling::{self, Sizes};
use crate::session::conversation::{self, Conversation};
use crate::store::{Result as Stored, now_ms};
use crate::{artifact, picture};

/// At most this many messages in one call.
const MESSAGES: usize = 1_000;
/// At most this many parts or calls of tools in a message.
const PARTS: usize = 1_000;

fn check(i: usize, message: &Message) -> Result<()> {
    let bad = |field: &str, expected: &str, got: String| Err(Error::param(&format!("messages[{i}].{field}"), expected, got));
    // A tool may answer nothing.
    if message.content.is_empty() && message.tool_calls.is_empty() && message.role != Role::Tool {
        return bad("content", "a text, parts, or calls of tools beside it", "nothing".to_owned());
    }
    if !message.tool_calls.is_empty() && message.role != Role::Assistant {
        return bad("toolCalls", "calls of tools of the assistant only", "those of another".to_owned());
    }
    if message.role == Role::Tool && message.tool_call_id.as_deref().unwrap_or("").is_empty() {
        return bad("toolCallId", "the id of the call that a tool answers", "nothing".to_owned());
    }
    let parts = if let Content::Parts(parts) = &message.content { parts.len() } else { 1 };
    if parts > PARTS || message.tool_calls.len() > PARTS {
        return bad("content", "at most 1000 parts and calls", parts.max(message.tool_calls.len()).to_string());
    }
    if message.tool_calls.iter().any(|c| c.id.is_empty() || c.name.is_empty()) {
        return bad("toolCalls", "an id and a name for each call", "an empty one".to_owned());
    }
    Ok(())
}

/// `conversation.append`
///
/// # Errors
/// When a message is of no use, or cannot be recorded; then none is.
pub async fn append(core: &Arc<Core>, params: AppendParams) -> Result<Appended> {
    let name = params.session().to_owned();
    check_session(&name)?;
    // Before anything else waits: messages stay in the order in which they were sent.
    let turn = core.turns.of(&name);
    let _turn = turn.lock().await;
    if params.messages.is_empty() || params.messages.len() > MESSAGES {
        return Err(Error::param("messages", "1 to 1000 messages", params.messages.len()));
    }
    params.messages.iter().enumerate().try_for_each(|(i, message)| check(i, message))?;
    check_context(&params.context)?;
    let session = for_writing(core, &name).await?;
    let mut messages = params.messages;
    for (i, message) in messages.iter_mut().enumerate() {
        keep_pictures(core, &name, i, message).await?;
    }
    let id = session.id;
    let before = core.store.read_all(move |c| conversation::of(c, id)).await?;
    let counter = counter(core, &before).await?;
    let prepared = prepare(messages, counter.clone()).await?;
    let tokens = prepared.iter().map(|p| p.tokens).sum();
    let settings = core.config.get();
    let work = Work {
        origin: core.store.origin().to_owned(),
        session: id,
        app: session.app.clone(),
        prepared,
        given: params.context,
        settings: settings.conversation.clone(),
        counter,
        asks: settings.model.provider.is_some(),
    };
    let (talk, context_set, done) = core.store.write(move |c| work.carry_out(c)).await?;
    if done.messages > 0 && settings.model.provider.is_some() {
        core.jobs.nudge(SUMMARIES_JOB);
    }
    Ok(Appended {
        session: name.clone(),
        first: before.position + 1,
        last: talk.position,
        tokens,
        context_set,
        compacted: done.messages,
        usage: usage(core, &name, &talk),
    })
}

/// Counts and reads messages where that holds nobody up.
async fn prepare(messages: Vec<Message>, counter: Counter) -> Result<Vec<Prepared>> {
    let work = tokio::task::spawn_blocking(move || messages.into_iter().map(|m| Prepared::of(m, &counter)).collect());
    work.await.map_err(|e| Error::new(ErrorCode::Internal, format!("the messages cannot be read: {e}")))
}

/// Pictures become artifacts: the record names them, and does not hold them.
async fn keep_pictures(core: &Arc<Core>, session: &str, i: usize, message: &mut Message) -> Result<()> {
    let Content::Parts(parts) = &mut message.content else { return Ok(()) };
    for (n, part) in parts.iter_mut().enumerate() {
        let Part::Image { data, media_type, artifact: kept_as, url, width, height } = part else { continue };
        let field = |name: &str| format!("messages[{i}].content[{n}].{name}");
        let Some(encoded) = data.take() else {
            if kept_as.is_none() && url.is_none() {
                return Err(Error::param(&field("data"), "data, artifact or url", "none of them"));
            }
            continue;
        };
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(encoded.trim())
            .map_err(|_| Error::param(&field("data"), "a picture in base64", "something else"))?;
        let (size, png) = picture::size_any(&bytes).map_err(|e| Error::param(&field("data"), "a PNG or JPEG", e))?;
        let (mime_type, extension) = if png { ("image/png", "png") } else { ("image/jpeg", "jpg") };
        let file = File { kind: "message_image", mime_type, extension, op: "conversation.append", bytes };
        let written = core.save_for_session(session, file, "messages", None).await?;
        let kept = core.store.write(move |c| {
            let uid = artifact::find(c, written.artifact_id)?.map(|a| a.uid);
            uid.as_deref().map(|uid| artifact::keep(c, uid)).transpose()?;
            Ok(uid)
        });
        let uid = kept.await?;
        (*width, *height) = (Some(size.0), Some(size.1));
        *media_type = Some(mime_type.to_owned());
        *kept_as = uid;
    }
    Ok(())
}

struct Work {
    origin: String,
    session: i64,
    app: Option<String>,
    prepared: Vec<Prepared>,
    given: BTreeMap<String, String>,
    settings: Settings,
    counter: Counter,
    asks: bool,
}

impl Work {
    fn carry_out(self, c: &Connection) -> Stored<(Conversation, BTreeMap<String, String>, compaction::Done)> {
        let mut talk = conversation::of(c, self.session)?;
        let (s, at) = (&self.settings, now_ms());
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let sizes = Sizes { lines: size(s.summary_lines), request: size(s.brief_request), answer: size(s.brief_answer) };
        let mut set = self.given;
        for prepared in &self.prepared {
            messages::append(c, &self.origin, &mut talk, prepared)?;
            rolling::take_up(&mut talk.rolling, talk.turn, &prepared.message, sizes);
            set.extend(learned_keys(c, &talk, &prepared.message, s)?);
        }
        talk.context.extend(set.iter().map(|(key, value)| (key.clone(), Known { value: value.clone(), at })));
        let limits = Limits::of(&talk, s);
        let mut done = compaction::Done::default();
        if limits.exceeded(&talk) {
            done = compaction::compact(c, &self.origin, &mut talk, limits, &self.counter, self.app.as_deref(), self.asks)?;
        }
        conversation::save(c, &self.origin, &talk)?;
        Ok((talk, set, done))
    }
}

/// The context keys that an answer of a tool confirms: the call is one that sets them, and it succeeded.
fn learned_keys(c: &Connection, talk: &Conversation, message: &Message, settings: &Settings) -> Stored<BTreeMap<String, String>> {
    let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) else { return Ok(BTreeMap::new()) };
    if keys::failed(message) {
        return Ok(BTreeMap::new());
    }
    let Some(call) = messages::call(c, talk.session, talk.position, id)? else { return Ok(BTreeMap::new()) };
    if !settings.context_calls.contains(&call.name) {
        return Ok(BTreeMap::new());
    }
    let tracked: Vec<String> = settings.tracked_keys.iter().chain(&talk.tracked).cloned().collect();
    Ok(keys::of_call(&call, &tracked))
}
