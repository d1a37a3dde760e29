//! The background job that asks a language model for better summaries. Until one is written, the extractive summary is
//! used.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::conversation::{RecordedMessage, Role};
use afd_proto::pattern::{PatternKind, PatternScope};

use super::{SUMMARIES_JOB, as_i64, counter};
use crate::app::Core;
use afd_base::config::LanguageModelSettings;
use afd_base::model::{Endpoint, LanguageModel, ModelError, Request};
use afd_base::text::cut;
use afd_conversation::summaries::StoredSummary;
use afd_conversation::{self as conversation, messages, summaries};
use afd_store::{Connection, Store, now_ms};
use afd_workspace::{self as session, patterns};

const SUMMARISE: &str = "You keep the memory of an agent that operates a phone or another user interface. Write a short summary of the \
    conversation that you are given. Keep every fact, decision, finding, figure and name that may matter later; leave out small talk and \
    steps that led nowhere. If an earlier summary comes first, keep what it says. Answer with the summary alone.";
const EXTRACT: &str = "From the conversation that you are given, list what is worth remembering for good: bugs that were found, patterns \
    that were learned, important decisions, what the person prefers. Answer with a JSON array of short texts and nothing else.";

/// Maximum length of a message's text, and of its tool calls, that the language model receives, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;
/// Maximum number of messages read at a time.
const BATCH: i64 = 500;
/// Maximum number of facts taken from one response.
const MAX_FACTS: usize = 50;
/// Maximum length of a fact, in characters. Longer facts are ignored.
const MAX_FACT_CHARS: usize = 500;

/// Writes all summaries that are due and returns a report for the job log.
pub(in crate::app) async fn run(core: &Arc<Core>) -> afd_store::job::Outcome {
    let settings = core.config.get().model.clone();
    let model: Option<Box<dyn LanguageModel>> = match Endpoint::new(&settings) {
        Ok(found) => found.map(|endpoint| Box::new(endpoint) as Box<dyn LanguageModel>),
        Err(why) => {
            // Record the reason with each due summary, so that it is visible there and not only in the log.
            while let Some(kept) = core.store.read_all(|c| summaries::due(c, now_ms())).await? {
                record_failure(&core.store, &settings, &kept, &ModelError::Temporary(why.to_string())).await?;
            }
            schedule_retry(core).await;
            return Err(why.into());
        }
    };
    let Some(model) = model else { return Ok("no language model is configured".to_owned()) };
    let (mut written, mut failed) = (0, 0);
    while let Some(kept) = core.store.read_all(|c| summaries::due(c, now_ms())).await? {
        match improve(core, model.as_ref(), &settings, &kept).await {
            Ok(()) => written += 1,
            Err(error) => {
                failed += 1;
                record_failure(&core.store, &settings, &kept, &error).await?;
            }
        }
    }
    schedule_retry(core).await;
    Ok(format!("{written} summaries written, {failed} failed"))
}

/// Records a failed attempt. A failure that may be temporary is retried with exponential backoff, up to the configured
/// number of attempts.
async fn record_failure(
    store: &Store,
    settings: &LanguageModelSettings,
    kept: &StoredSummary,
    error: &ModelError,
) -> afd_store::Result<()> {
    let (row, said, asked) = (kept.clone(), error.to_string(), kept.attempts + 1);
    let again = matches!(error, ModelError::Temporary(_)) && asked < as_i64(settings.attempts);
    let wait = as_i64(settings.retry_ms).saturating_mul(1 << asked.clamp(1, 20).saturating_sub(1));
    let at = again.then(|| now_ms().saturating_add(wait));
    store.write(move |c| summaries::failed(c, &row, &said, at)).await
}

/// Schedules the next run of the job for when the next summary is due.
async fn schedule_retry(core: &Arc<Core>) {
    let Ok(Some(at)) = core.store.read_all(summaries::next_due).await else { return };
    let wait = Duration::from_millis(u64::try_from(at - now_ms()).unwrap_or(0).max(1));
    core.jobs.nudge_at(SUMMARIES_JOB, tokio::time::Instant::now() + wait);
}

/// Has the language model write one summary and extract facts, and stores both.
async fn improve(
    core: &Arc<Core>,
    model: &dyn LanguageModel,
    settings: &LanguageModelSettings,
    kept: &StoredSummary,
) -> Result<(), ModelError> {
    let later = |e: afd_store::StoreError| ModelError::Temporary(e.to_string());
    let (id, info) = (kept.conversation, kept.info.clone());
    let (after, upto) = (info.after, info.upto);
    let (conversation, app, earlier) = core
        .store
        .read_all(move |c| {
            let conversation = conversation::by_id(c, id)?.unwrap_or_default();
            let app = session::app_of(c, conversation.session)?;
            Ok((conversation, app, summaries::written(c, id, after, upto)?))
        })
        .await
        .map_err(later)?;
    let mut from = earlier.as_ref().map_or(after, |e| e.info.upto);
    let mut text = earlier.map(|e| e.info.text).unwrap_or_default();
    let mut facts: Vec<String> = Vec::new();
    let max_tokens = u32::try_from(settings.max_output_tokens).unwrap_or(u32::MAX);
    // A long range is summarised in batches, each together with the summary of the previous ones.
    while from < upto {
        let said = core
            .store
            .read_all(move |c| messages::between(c, id, from, upto.min(from + BATCH)))
            .await
            .map_err(later)?;
        let (material, last) = material(&text, &said, usize::try_from(settings.max_input_chars).unwrap_or(usize::MAX));
        text = model.ask(&Request { system: SUMMARISE.to_owned(), input: material.clone(), max_tokens }).await?;
        // A failure to extract facts must not prevent the summary from being stored.
        let found = model.ask(&Request { system: EXTRACT.to_owned(), input: material, max_tokens }).await;
        facts.extend(found.map(|said| parse_facts(&said)).unwrap_or_default());
        from = last.unwrap_or(upto);
    }
    let counter = counter(core, &conversation).await.map_err(|e| ModelError::Temporary(e.to_string()))?;
    let (row, name, origin) = (kept.clone(), model.name().to_owned(), core.store.origin().to_owned());
    let (tokens, uid) = (counter.count(&text), conversation.uid.clone());
    let stored = core.store.write(move |c| {
        // The session may have been deleted while the model was writing, and its row ids given to another one.
        let same = conversation::by_id(c, id)?.filter(|found| found.uid == uid);
        let Some(mut conversation) = same else { return Ok(()) };
        if !summaries::improve(c, &row, &text, &name, tokens)? {
            return Ok(());
        }
        if conversation.compacted_to == row.info.upto {
            conversation.used += tokens - row.info.tokens;
            conversation::save(c, &origin, &conversation)?;
        }
        facts.iter().try_for_each(|text| save_fact(c, &origin, text, app.as_deref(), conversation.session))
    });
    stored.await.map_err(later)
}

/// Saves a fact that a model extracted, as a pattern of its session.
fn save_fact(c: &Connection, origin: &str, text: &str, app: Option<&str>, session: i64) -> afd_store::Result<()> {
    let new = patterns::New {
        kind: PatternKind::KeyFact,
        text,
        app: app.unwrap_or(""),
        page: "",
        scope: PatternScope::Session,
        data: None,
        prior: Some(0.6),
        session: Some(session),
        source: Some("model"),
    };
    patterns::save(c, origin, &new).map(|_| ())
}

/// Renders the earlier summary and as many messages as fit into `most` bytes, but at least one. Also returns the
/// position of the last message included.
fn material(earlier: &str, said: &[RecordedMessage], most: usize) -> (String, Option<i64>) {
    let role = |role: Role| match role {
        Role::System => "rules",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut lines: Vec<String> = Vec::new();
    if !earlier.is_empty() {
        lines.push(format!("Earlier summary: {earlier}"));
    }
    let mut remaining = most.saturating_sub(earlier.len());
    let mut last = None;
    for recorded in said {
        let message = &recorded.message;
        let calls: String = message
            .tool_calls
            .iter()
            .map(|c| format!(" [calls {} {}]", c.name, afd_store::to_json(&c.arguments)))
            .collect();
        let line = format!(
            "{}: {}{}",
            role(message.role),
            cut::head(&message.content.text(), MAX_MESSAGE_CHARS),
            cut::head(&calls, MAX_MESSAGE_CHARS)
        );
        // Each batch takes at least one message, so that the loop ends.
        if line.len() > remaining && last.is_some() {
            break;
        }
        remaining = remaining.saturating_sub(line.len());
        last = Some(recorded.position);
        lines.push(line);
    }
    (lines.join("\n\n"), last)
}

/// Returns the strings in the JSON array that a response contains, wherever the array is in the text. The list is empty
/// if there is no array.
fn parse_facts(answer: &str) -> Vec<String> {
    let array =
        answer.find('[').zip(answer.rfind(']')).and_then(|(from, to)| answer.get(from..=to)).unwrap_or_default();
    let texts: Vec<String> = serde_json::from_str(array).unwrap_or_default();
    let fits = |text: &String| !text.trim().is_empty() && text.chars().count() <= MAX_FACT_CHARS;
    texts.into_iter().filter(fits).take(MAX_FACTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_facts_from_chatty_answers_and_ignores_malformed_ones() {
        assert_eq!(parse_facts("Here you are:\n```json\n[\"a bug\", \"\", \"a wish\"]\n```"), ["a bug", "a wish"]);
        for malformed in ["", "none", "[1, 2]", "] [", "[\"open"] {
            assert!(parse_facts(malformed).is_empty(), "{malformed}");
        }
    }
}
