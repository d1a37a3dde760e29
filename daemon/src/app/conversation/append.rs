//! `conversation.append`: recording messages with their pictures, token counts, facts and context keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use afd_proto::conversation::{AppendParams, AppendResult, Content, ConversationAppend, Message, Part, Role};
use afd_proto::pattern::PatternScope;
use base64::Engine;

use super::{SUMMARIES_JOB, check_name, counter, lock_name, usage};
use crate::app::checks::check_session;
use crate::app::session::{for_writing, lifecycle::check_context};
use crate::app::{Core, Error, Methods, Result, artifacts::Content as File};
use afd_base::config::Conversation as Settings;
use afd_base::model::Counter;
use afd_base::task::run_blocking;
use afd_conversation::compaction::{self, Limits};
use afd_conversation::ids::Open;
use afd_conversation::keys::{self, ContextValue};
use afd_conversation::prepared::{self, Prepared};
use afd_conversation::rolling::{self, Sizes};
use afd_conversation::{self as conversation, Conversation, kept, messages, totals, typed};
use afd_screen::picture;
use afd_store::{Connection, Result as Stored, Store, artifact, now_ms};
use afd_workspace as session;
use afd_workspace::learning::learn;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConversationAppend, _, _>(|core, p| async move { append(&core, p).await });
}

/// Maximum number of parts, and of tool calls, in one message.
const MAX_PARTS: usize = 1_000;

/// Validates the message at index `i` in a call.
fn check(i: usize, message: &Message) -> Result<()> {
    let bad =
        |field: &str, expected: &str, got: String| Err(Error::param(&format!("messages[{i}].{field}"), expected, got));
    // A tool result or a model's answer may be empty. Blocks that the daemon does not interpret are kept in `extra`.
    let says_nothing = message.content.is_empty() && message.tool_calls.is_empty() && message.extra.is_empty();
    if says_nothing && !matches!(message.role, Role::Tool | Role::Assistant) {
        return bad("content", "content or tool calls", "neither".to_owned());
    }
    if !message.tool_calls.is_empty() && message.role != Role::Assistant {
        return bad("toolCalls", "tool calls only in assistant messages", "another role".to_owned());
    }
    if message.role == Role::Tool && message.tool_call_id.as_deref().unwrap_or("").is_empty() {
        return bad("toolCallId", "the id of the tool call being answered", "nothing".to_owned());
    }
    let parts = if let Content::Parts(parts) = &message.content { parts.len() } else { 1 };
    if parts > MAX_PARTS {
        return bad("content", "at most 1000 parts", parts.to_string());
    }
    if message.tool_calls.len() > MAX_PARTS {
        return bad("toolCalls", "at most 1000 tool calls", message.tool_calls.len().to_string());
    }
    if message.tool_calls.iter().any(|c| c.id.is_empty() || c.name.is_empty()) {
        return bad("toolCalls", "a non-empty id and name for each tool call", "an empty one".to_owned());
    }
    Ok(())
}

/// `conversation.append`: records messages, creating the session if needed, and compacts the context if it has become
/// too full.
///
/// # Errors
/// If a message is invalid or cannot be recorded; in that case no message is recorded.
pub async fn append(core: &Arc<Core>, params: AppendParams) -> Result<AppendResult> {
    let name = params.session().to_owned();
    check_session(&name)?;
    check_name(params.conversation.as_deref())?;
    // The lock is taken before the first other await, so that messages are recorded in the order in which they were
    // sent.
    let lock = core.sessions.conversations.lock(lock_name(&name, params.conversation.as_deref())).await;
    let own = core.clone();
    let work = async move {
        let _lock = lock;
        record(&own, name, params).await
    };
    core.finish(work).await?
}

/// Records messages and their pictures; if anything fails, no message is recorded.
async fn record(core: &Arc<Core>, name: String, params: AppendParams) -> Result<AppendResult> {
    check_context(&params.context)?;
    let found = for_writing(core, &name).await?;
    let mut messages = params.messages;
    complete_ids(core, found.id, params.conversation.as_deref(), &mut messages).await?;
    messages.iter().enumerate().try_for_each(|(i, message)| check(i, message))?;
    let decoded = pictures(&core.store, &mut messages).await?;
    save_pictures(core, &name, &mut messages, decoded).await?;
    let (id, called) = (found.id, params.conversation.unwrap_or_else(|| conversation::MAIN.to_owned()));
    let wanted = called.clone();
    let (before, last) = core
        .store
        .read_all(move |c| {
            let conversation = conversation::named(c, id, &wanted)?;
            let last = messages::between(c, conversation.id, conversation.position - 1, conversation.position)?.pop();
            Ok((conversation, last.and_then(|m| prepared::asked_by(&m.message))))
        })
        .await?;
    let counter = counter(core, &before).await?;
    let settings = core.config.get();
    typed::blot(&mut messages, &settings.conversation.typing_calls);
    let prepared = prepare(messages, last, counter.clone()).await?;
    let tokens = prepared.iter().map(|p| p.tokens).sum();
    let work = Work {
        origin: core.store.origin().to_owned(),
        session: id,
        name: called,
        app: found.app.clone(),
        prepared,
        given: params.context,
        settings: settings.conversation.clone(),
        counter,
        has_model: settings.model.is_configured(),
    };
    let (conversation, context_set, done, hidden) =
        core.store.write_or_refuse(move |c| session::while_active(c, id, |c| work.execute(c))).await?;
    if done.messages > 0 && settings.model.is_configured() {
        core.jobs.nudge(SUMMARIES_JOB);
    }
    Ok(AppendResult {
        session: name.clone(),
        first: before.position + 1,
        last: conversation.position,
        tokens,
        context_set,
        compacted: done.messages,
        usage: {
            let limit = Limits::of(&conversation, &settings.conversation).tokens;
            let messages = conversation.position - conversation.begins_after();
            usage(&core.config, &name, &conversation, ((conversation.tokens - hidden).min(limit), messages))
        },
    })
}

/// Assigns ids to tool calls and tool results that have none.
async fn complete_ids(
    core: &Arc<Core>,
    session: i64,
    conversation: Option<&str>,
    messages: &mut [Message],
) -> Result<()> {
    let lacks = |m: &Message| {
        m.tool_calls.iter().any(|call| call.id.is_empty())
            || (m.role == Role::Tool && m.tool_call_id.as_deref().is_none_or(str::is_empty))
    };
    if !messages.iter().any(lacks) {
        return Ok(());
    }
    let called = conversation.unwrap_or(conversation::MAIN).to_owned();
    let (recorded, position) = core
        .store
        .read_all(move |c| {
            let conversation = conversation::named(c, session, &called)?;
            let after = conversation.position - messages::CALL_LOOKBACK;
            Ok((messages::between(c, conversation.id, after, conversation.position)?, conversation.position))
        })
        .await?;
    Open::after(&recorded).complete(messages, position);
    Ok(())
}

/// Counts tokens and extracts facts on a blocking thread, so that the runtime is not blocked.
async fn prepare(messages: Vec<Message>, mut before: Option<String>, counter: Counter) -> Result<Vec<Prepared>> {
    let work = move || {
        let each = messages.into_iter().map(|message| {
            let asked = prepared::asked_by(&message);
            let prepared = Prepared::of(message, before.as_deref(), &counter);
            before = asked;
            prepared
        });
        each.collect()
    };
    Ok(run_blocking(work).await?)
}

/// An inline picture in a message, to be saved as an artifact.
struct Picture {
    /// Index of the message, and of the part within it.
    message: usize,
    part: usize,
    bytes: Vec<u8>,
    /// Width and height; `None` for a format whose size is not read, such as GIF.
    size: Option<(u32, u32)>,
    media_type: &'static str,
}

/// Maximum width and height of a picture, in pixels.
const MAX_SIDE: u32 = 20_000;
/// Replacement for a picture whose data is not valid base64.
const UNREADABLE: &str = "[picture that cannot be read]";

/// Decodes base64 in either alphabet, with or without line breaks and padding.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
    let mut text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text = text.replace('-', "+").replace('_', "/");
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(text).ok().filter(|bytes| !bytes.is_empty())
}

/// Supported media types, with their file extensions.
const KINDS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/bmp", "bmp"),
    ("image/avif", "avif"),
    ("image/heic", "heic"),
    ("image/tiff", "tiff"),
    ("image/svg+xml", "svg"),
    ("application/octet-stream", "bin"),
];

/// Returns the size of a picture, if its format is supported, and its media type. The first bytes determine the type.
/// If they are unknown, the type named by the client is used.
fn measured(bytes: &[u8], named: Option<&str>) -> (Option<(u32, u32)>, &'static str) {
    if let Ok((size, png)) = picture::size_any(bytes)
        && size.0.max(size.1) <= MAX_SIDE
    {
        return (Some(size), if png { "image/png" } else { "image/jpeg" });
    }
    let begins = |start: &[u8]| bytes.starts_with(start);
    let kind = match bytes {
        _ if begins(b"GIF8") => Some("image/gif"),
        _ if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ if begins(b"BM") => Some("image/bmp"),
        _ if begins(b"\x89PNG") => Some("image/png"),
        _ if begins(b"\xff\xd8") => Some("image/jpeg"),
        _ => named,
    };
    let known = KINDS.iter().find(|(media_type, _)| Some(*media_type) == kind);
    (None, known.map_or("application/octet-stream", |(media_type, _)| media_type))
}

/// Returns the file extension of a media type.
fn extension_of(media_type: &str) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == media_type).map_or("bin", |(_, extension)| extension)
}

/// Decodes and checks the inline pictures of messages before anything is saved. A picture that already is an artifact
/// gets its size and media type from the artifact's file.
async fn pictures(store: &Store, messages: &mut [Message]) -> Result<Vec<Picture>> {
    let mut found = Vec::new();
    for (i, message) in messages.iter_mut().enumerate() {
        let Content::Parts(parts) = &mut message.content else { continue };
        for (n, part) in parts.iter_mut().enumerate() {
            let Part::Image { data, media_type, artifact: kept_as, url, width, height } = part else { continue };
            let field = |name: &str| format!("messages[{i}].content[{n}].{name}");
            for (name, side) in [("width", *width), ("height", *height)] {
                if side.is_some_and(|side| !(1..=MAX_SIDE).contains(&side)) {
                    return Err(Error::param(&field(name), "1 to 20000 pixels", side.unwrap_or(0)));
                }
            }
            if let Some(encoded) = data.take() {
                let Some(bytes) = run_blocking(move || from_base64(&encoded)).await? else {
                    // An unreadable picture must not prevent the call's other messages from being recorded.
                    *part = Part::Text { text: UNREADABLE.to_owned() };
                    continue;
                };
                let (size, media_type) = measured(&bytes, media_type.as_deref());
                found.push(Picture { message: i, part: n, bytes, size, media_type });
            } else if let Some(uid) = kept_as {
                let uid = uid.clone();
                let file = store.read_all(move |c| artifact::file_of(c, &uid)).await?;
                let file = file.ok_or_else(|| {
                    Error::param(&field("artifact"), "the uid of an existing artifact", "an unknown uid")
                })?;
                let bytes = run_blocking(move || std::fs::read(&file)).await?.unwrap_or_default();
                let (size, kind) = measured(&bytes, media_type.as_deref());
                (*width, *height) = size.unzip();
                *media_type = Some(kind.to_owned());
            } else if url.is_none() {
                return Err(Error::param(&field("data"), "data, artifact or url", "none of them"));
            }
        }
    }
    Ok(found)
}

/// Saves inline pictures as artifacts; the recorded messages refer to them by uid and do not contain the bytes.
async fn save_pictures(
    core: &Arc<Core>,
    session: &str,
    messages: &mut [Message],
    pictures: Vec<Picture>,
) -> Result<()> {
    for found in pictures {
        let (mime_type, extension) = (found.media_type, extension_of(found.media_type));
        let file = File { kind: "message_image", mime_type, extension, op: "conversation.append", bytes: found.bytes };
        let written = core.save_for_session(session, file, "messages", None).await?;
        let uid = core.store.read_all(move |c| Ok(artifact::find(c, written.artifact_id)?.map(|a| a.uid))).await?;
        let Content::Parts(parts) = &mut messages[found.message].content else { continue };
        if let Part::Image { media_type, artifact: kept_as, width, height, .. } = &mut parts[found.part] {
            (*width, *height) = found.size.unzip();
            *media_type = Some(mime_type.to_owned());
            *kept_as = uid;
        }
    }
    Ok(())
}

/// Data that the writer thread needs to append messages in one transaction.
struct Work {
    origin: String,
    session: i64,
    /// Name of the conversation.
    name: String,
    app: Option<String>,
    prepared: Vec<Prepared>,
    /// Context keys passed by the caller.
    given: BTreeMap<String, String>,
    settings: Settings,
    counter: Counter,
    /// Whether a language model is configured that can write better summaries.
    has_model: bool,
}

impl Work {
    /// Appends the messages and compacts if necessary. Returns the updated conversation, the context keys that were
    /// set, the result of the compaction, and the number of tokens before the start of the context.
    fn execute(
        self,
        c: &Connection,
    ) -> Stored<(Conversation, BTreeMap<String, String>, compaction::CompactionOutcome, i64)> {
        let mut conversation = conversation::named(c, self.session, &self.name)?;
        conversation::create(c, &self.origin, &mut conversation)?;
        let (s, at) = (&self.settings, now_ms());
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let sizes =
            Sizes { lines: size(s.summary_lines), request: size(s.brief_request), answer: size(s.brief_answer) };
        let mut set = keys::named(self.given);
        let mut seen = kept::TermCounts::default();
        for prepared in &self.prepared {
            let kept = prepared.pictures();
            kept.iter().try_for_each(|uid| artifact::keep(c, uid))?;
            messages::append(c, &self.origin, &mut conversation, prepared, &mut seen)?;
            rolling::ingest(&mut conversation.rolling, conversation.turn, &prepared.message, sizes);
            set.extend(learned_keys(c, &conversation, &prepared.message, s)?);
        }
        seen.save(c, conversation.id)?;
        conversation
            .context
            .extend(set.iter().map(|(key, value)| (key.clone(), ContextValue { value: value.clone(), at })));
        let limits = Limits::of(&conversation, s);
        let mut done = compaction::CompactionOutcome::default();
        if limits.exceeded(&conversation) {
            done = compaction::compact(c, &self.origin, &mut conversation, limits, &self.counter, self.has_model)?;
            let about = (self.app.as_deref(), PatternScope::Session);
            learn(c, &self.origin, self.session, about, &done.facts)?;
        }
        conversation::save(c, &self.origin, &conversation)?;
        let hidden = totals::running(c, conversation.id, conversation.begins_after())?;
        Ok((conversation, set, done, hidden))
    }
}

/// Returns the context keys confirmed by a tool result: empty unless the call is one of the configured `context_calls`
/// and succeeded.
fn learned_keys(
    c: &Connection,
    conversation: &Conversation,
    message: &Message,
    settings: &Settings,
) -> Stored<BTreeMap<String, String>> {
    let (Role::Tool, Some(id)) = (message.role, &message.tool_call_id) else { return Ok(BTreeMap::new()) };
    let Some(call) = messages::call(c, conversation.id, conversation.position, id)? else { return Ok(BTreeMap::new()) };
    if !settings.context_calls.contains(&call.name) || keys::failed(message) {
        return Ok(BTreeMap::new());
    }
    let tracked: Vec<String> = settings.tracked_keys.iter().chain(&conversation.tracked).cloned().collect();
    Ok(keys::set_by_call(&call, &tracked))
}
