//! Asking a language model for better summaries, in the background. While it gives none, the extractive ones stand.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::conversation::{Recorded, Role};
use afd_proto::pattern::PatternKind;

use super::super::Core;
use super::{SUMMARIES_JOB, as_i64, counter};
use crate::config::LanguageModelSettings;
use crate::model::{Endpoint, LanguageModel, ModelError, Request};
use crate::session::conversation::summaries::Kept;
use crate::session::conversation::{self, messages, summaries};
use crate::session::{self, patterns};
use crate::store::now_ms;
use crate::text::cut;

const SUMMARISE: &str = "You keep the memory of an agent that operates a phone or another user interface. Write a short summary of the \
    conversation that you are given. Keep every fact, decision, finding, figure and name that may matter later; leave out small talk and \
    steps that led nowhere. If an earlier summary comes first, keep what it says. Answer with the summary alone.";
const EXTRACT: &str = "From the conversation that you are given, list what is worth remembering for good: bugs that were found, patterns \
    that were learned, important decisions, what the person prefers. Answer with a JSON array of short texts and nothing else.";

/// Letters of one message that the language model is shown.
const MESSAGE: usize = 2_000;
/// At most this many messages are read at once.
const PIECE: i64 = 500;
/// At most this many facts are taken from an answer, each of at most so many characters.
const FACTS: (usize, usize) = (50, 500);

/// Does what is due; says what came of it.
pub(in crate::control) async fn run(core: &Arc<Core>) -> crate::job::Outcome {
    let settings = core.config.get().model.clone();
    let model: Option<Box<dyn LanguageModel>> = match Endpoint::new(&settings) {
        Ok(found) => found.map(|endpoint| Box::new(endpoint) as Box<dyn LanguageModel>),
        Err(why) => {
            // Whoever looks at a summary that waits for it is to know.
            while let Some(kept) = core.store.read_all(|c| summaries::due(c, now_ms())).await? {
                put_off(core, &settings, &kept, &ModelError::Later(why.to_string())).await?;
            }
            schedule_retry(core).await;
            return Err(why.into());
        }
    };
    let Some(model) = model else { return Ok("no language model is set".to_owned()) };
    let (mut written, mut failed) = (0, 0);
    while let Some(kept) = core.store.read_all(|c| summaries::due(c, now_ms())).await? {
        match improve(core, model.as_ref(), &settings, &kept).await {
            Ok(()) => written += 1,
            Err(error) => {
                failed += 1;
                put_off(core, &settings, &kept, &error).await?;
            }
        }
    }
    schedule_retry(core).await;
    Ok(format!("{written} summaries written, {failed} failed"))
}

/// Notes a failure. What may be different next time is tried again, later each time.
async fn put_off(core: &Arc<Core>, settings: &LanguageModelSettings, kept: &Kept, error: &ModelError) -> crate::store::Result<()> {
    let (id, said, asked) = (kept.id, error.to_string(), kept.attempts + 1);
    let again = matches!(error, ModelError::Later(_)) && asked < as_i64(settings.attempts);
    let wait = as_i64(settings.retry_ms).saturating_mul(1 << asked.clamp(1, 20).saturating_sub(1));
    let at = again.then(|| now_ms().saturating_add(wait));
    core.store.write(move |c| summaries::failed(c, id, &said, at)).await
}

/// Runs again when the next one is due.
async fn schedule_retry(core: &Arc<Core>) {
    let Ok(Some(at)) = core.store.read_all(summaries::next_due).await else { return };
    let wait = Duration::from_millis(u64::try_from(at - now_ms()).unwrap_or(0).max(1));
    core.jobs.nudge_at(SUMMARIES_JOB, tokio::time::Instant::now() + wait);
}

async fn improve(core: &Arc<Core>, model: &dyn LanguageModel, settings: &LanguageModelSettings, kept: &Kept) -> Result<(), ModelError> {
    let later = |e: crate::store::StoreError| ModelError::Later(e.to_string());
    let (id, info) = (kept.session, kept.info.clone());
    let (after, upto) = (info.after, info.upto);
    let (talk, app, earlier) = core
        .store
        .read_all(move |c| Ok((conversation::of(c, id)?, session::app_of(c, id)?, summaries::written(c, id, after, upto)?)))
        .await
        .map_err(later)?;
    let mut from = earlier.as_ref().map_or(after, |e| e.info.upto);
    let mut text = earlier.map(|e| e.info.text).unwrap_or_default();
    let mut facts: Vec<String> = Vec::new();
    let max_tokens = u32::try_from(settings.max_output_tokens).unwrap_or(u32::MAX);
    // A long stretch goes piece by piece, each with the summary of those before it.
    while from < upto {
        let said = core.store.read_all(move |c| messages::between(c, id, from, upto.min(from + PIECE))).await.map_err(later)?;
        let (material, last) = material(&text, &said, usize::try_from(settings.max_input_chars).unwrap_or(usize::MAX));
        text = model.ask(&Request { task: SUMMARISE.to_owned(), material: material.clone(), max_tokens }).await?;
        // That facts cannot be had is no reason to do without the summary.
        let found = model.ask(&Request { task: EXTRACT.to_owned(), material, max_tokens }).await;
        facts.extend(found.map(|said| listed(&said)).unwrap_or_default());
        from = last.unwrap_or(upto);
    }
    let counter = counter(core, &talk).await.map_err(|e| ModelError::Later(e.to_string()))?;
    let (row, name, origin) = (kept.clone(), model.name().to_owned(), core.store.origin().to_owned());
    let tokens = counter.count(&text);
    let stored = core.store.write(move |c| {
        summaries::improve(c, row.id, &text, &name, tokens)?;
        let mut talk = conversation::of(c, id)?;
        if talk.compacted_to == row.info.upto {
            talk.used += tokens - row.info.tokens;
            conversation::save(c, &origin, &talk)?;
        }
        for fact in &facts {
            let new = patterns::New {
                kind: PatternKind::KeyFact,
                text: fact,
                app: app.as_deref().unwrap_or(""),
                page: "",
                data: None,
                prior: Some(0.6),
                session: Some(id),
            };
            patterns::save(c, &origin, &new)?;
        }
        Ok(())
    });
    stored.await.map_err(later)
}

/// A piece of a conversation as a text after the summary of what was before, as much as fits; returns the last message of it too.
fn material(earlier: &str, said: &[Recorded], most: usize) -> (String, Option<i64>) {
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
    let mut room = most.saturating_sub(earlier.len());
    let mut last = None;
    for recorded in said {
        let message = &recorded.message;
        let calls: String = message.tool_calls.iter().map(|c| format!(" [calls {} {}]", c.name, session::json(&c.arguments))).collect();
        let line = format!("{}: {}{}", role(message.role), cut::head(&message.content.text(), MESSAGE), cut::head(&calls, MESSAGE));
        // At least one goes with each piece, so that there is an end.
        if line.len() > room && last.is_some() {
            break;
        }
        room = room.saturating_sub(line.len());
        last = Some(recorded.position);
        lines.push(line);
    }
    (lines.join("\n\n"), last)
}

/// The texts of a JSON array, wherever in an answer it stands.
fn listed(answer: &str) -> Vec<String> {
    let array = answer.find('[').zip(answer.rfind(']')).and_then(|(from, to)| answer.get(from..=to)).unwrap_or_default();
    let texts: Vec<String> = serde_json::from_str(array).unwrap_or_default();
    let fits = |text: &String| !text.trim().is_empty() && text.chars().count() <= FACTS.1;
    texts.into_iter().filter(fits).take(FACTS.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_in_chatty_answers_and_not_in_nonsense() {
        assert_eq!(listed("Here you are:\n```json\n[\"a bug\", \"\", \"a wish\"]\n```"), ["a bug", "a wish"]);
        for nonsense in ["", "none", "[1, 2]", "] [", "[\"open"] {
            assert!(listed(nonsense).is_empty(), "{nonsense}");
        }
    }
}
