//! Renders the results of `conversation.*`, `pattern.*` and `pageModel.*`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use afd_proto::context::{
    ActiveElement, ContextPart, ConversationContext, ConversationUsage, ConversationWorking, ModelContext,
    RecentObservation, Usage, WorkingMemory,
};
use afd_proto::conversation::{
    AppendResult, ClearResult, CompactResult, Content, ConversationAppend, ConversationClear, ConversationCompact,
    ConversationDelete, ConversationList, ConversationSearch, ConversationSummary, DeleteMessageResult, FoundMessage,
    FoundMessages, Message, Messages, Part, RecordedMessage, Summary,
};
use afd_proto::pattern::{
    DeleteResult, PageModel, PageModelDelete, PageModelFind, PageModelSave, PageModels, Pattern, PatternDelete,
    PatternFind, PatternList, PatternMerge, PatternPromote, PatternSave, PatternUsed, Patterns,
};
use serde_json::Value;

use super::parts::{BAD, BOLD, DIM, GOOD, WARN, count, from, maybe, more, paint, shorten, table, time};
use super::render::human;

human! {
    ConversationAppend => appended;
    ConversationList => messages;
    ConversationCompact => compacted;
    ConversationSearch => found;
    ConversationDelete => erased;
    ConversationSummary => summary;
    ConversationClear => |c: &ClearResult| format!("removed {} from the context; they stay in the record\n", count(c.messages, "message"));
    ConversationUsage => usage;
    ConversationContext => context;
    ConversationWorking => working;
    PatternSave => |p: &Pattern| pattern_table(std::slice::from_ref(p));
    PatternFind => |p: &Patterns| pattern_table(&p.patterns);
    PatternList => |p: &Patterns| pattern_table(&p.patterns);
    PatternMerge => |p: &Pattern| pattern_table(std::slice::from_ref(p));
    PatternPromote => |p: &Pattern| pattern_table(std::slice::from_ref(p));
    PatternUsed => |p: &Pattern| pattern_table(std::slice::from_ref(p));
    PatternDelete => deleted;
    PageModelSave => |m: &PageModel| model_table(std::slice::from_ref(m));
    PageModelFind => |m: &PageModels| model_table(&m.page_models);
    PageModelDelete => deleted;
}

fn usage(usage: &Usage) -> String {
    let Usage {
        used, limit, percentage, messages, max_messages, threshold, recorded, recorded_tokens, tokenizer, ..
    } = usage;
    let mut out = format!(
        "{used} of {limit} tokens ({percentage} %), {messages} of {max_messages} messages; compacted above {threshold} %\n{}\n",
        paint(DIM, &format!("on record: {recorded} messages, {recorded_tokens} tokens, counted by {tokenizer}"))
    );
    if let Some(fits) = usage.can_afford {
        let verdict = if fits { paint(GOOD, "fit") } else { paint(BAD, "do not fit") };
        let _ = writeln!(out, "{} more tokens {verdict}", maybe(&usage.asked));
    }
    out
}

fn keys(keys: &BTreeMap<String, String>) -> String {
    keys.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
}

fn appended(appended: &AppendResult) -> String {
    let AppendResult { first, last, tokens, compacted, .. } = appended;
    let messages = if first == last { format!("message {first}") } else { format!("messages {first} to {last}") };
    let mut out = format!("{} {messages}, {}\n", paint(GOOD, "appended"), count(tokens, "token"));
    let set: Vec<String> = appended.context_set.iter().map(|(k, v)| format!("{k}={v}")).collect();
    if !set.is_empty() {
        let _ = writeln!(out, "context: {}", set.join(" "));
    }
    if *compacted > 0 {
        let _ = writeln!(out, "{compacted} older messages were replaced by a summary");
    }
    out
}

/// Renders the content and tool calls of a message on one line.
fn content(message: &Message) -> String {
    let text = match &message.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => {
            let texts = parts.iter().map(|part| match part {
                Part::Text { text } => text.as_str(),
                Part::Image { .. } => "[picture]",
            });
            texts.collect::<Vec<_>>().join(" ")
        }
    };
    let calls = message.tool_calls.iter().map(|call| format!("[{}]", call.name));
    std::iter::once(text).chain(calls).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn messages(list: &Messages) -> String {
    let row = |m: &RecordedMessage| {
        let in_context = if m.in_context { "yes".to_owned() } else { String::new() };
        [
            m.position.to_string(),
            time(m.at),
            m.message.role.to_string(),
            m.tokens.to_string(),
            in_context,
            content(&m.message),
        ]
    };
    table(["position", "at", "role", "tokens", "context", "content"], list.messages.iter().map(row))
        + &more(list.next_cursor)
}

fn found(found: &FoundMessages) -> String {
    let row = |m: &FoundMessage| {
        let place =
            if m.conversation == "main" { m.session.clone() } else { format!("{}/{}", m.session, m.conversation) };
        [place, m.position.to_string(), time(m.at), m.role.to_string(), m.text.clone()]
    };
    table(["session", "position", "at", "role", "text"], found.messages.iter().map(row))
}

/// Renders the list of backups that still contain the deleted data. Returns an empty string if there are none.
pub(super) fn still_in(backups: &[String]) -> String {
    if backups.is_empty() {
        String::new()
    } else {
        format!("{} {}\n", paint(WARN, "still in backups:"), backups.join(", "))
    }
}

fn erased(deleted: &DeleteMessageResult) -> String {
    let left = deleted.files_left.iter().map(|file| format!("not deleted, because you chose its path: {file}\n"));
    format!(
        "{} message {}, and {} derived from it\n",
        paint(GOOD, "deleted"),
        deleted.position,
        count(deleted.derived, "row")
    ) + &left.collect::<String>()
        + &still_in(&deleted.backups)
}

/// Renders the role, content and tool calls of a message, in whichever message format it was returned.
fn model_message(message: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let content = if message["content"].is_null() { String::new() } else { text(&message["content"]) };
    let calls = ["toolCalls", "tool_calls"].iter().flat_map(|key| message[*key].as_array().into_iter().flatten());
    let calls: String = calls.map(|call| format!("\n{call}")).collect();
    format!("{}\n{content}{calls}\n\n", paint(BOLD, &text(&message["role"])))
}

fn context(context: &ModelContext) -> String {
    let mut out = String::new();
    if let Some(system) = &context.system {
        let texts: Vec<&str> = system.iter().filter_map(|block| block["text"].as_str()).collect();
        let _ = writeln!(out, "{}\n{}\n", paint(BOLD, "system"), texts.join("\n\n"));
    }
    out.extend(context.messages.iter().map(model_message));
    let parts: Vec<String> = context.parts.iter().map(|p: &ContextPart| format!("{} {}", p.part, p.tokens)).collect();
    let ModelContext { tokens, budget, tokenizer, saved_percent, tokens_of_all, .. } = context;
    let figures = format!(
        "{tokens} of {budget} tokens, counted by {tokenizer} ({}); {saved_percent} % of {tokens_of_all} saved",
        parts.join(", ")
    );
    let _ = writeln!(out, "{}", paint(DIM, &figures));
    for left in &context.left_out {
        let _ = writeln!(out, "{} {} {}: {}", paint(WARN, "left out"), left.count, left.what, left.why);
    }
    out
}

fn summary(summary: &Summary) -> String {
    let mut out: String = summary.lines.iter().map(|line| format!("{line}\n")).collect();
    out.push_str(&keys(&summary.context));
    let Summary { tokens, tokens_of_all, saved_percent, .. } = summary;
    let _ = writeln!(
        out,
        "{}",
        paint(DIM, &format!("{tokens} tokens instead of {tokens_of_all}, {saved_percent} % saved"))
    );
    if let Some(kept) = &summary.compacted {
        let _ = writeln!(out, "{} {}\n{}", paint(BOLD, "earlier messages"), paint(DIM, &kept.method), kept.text);
    }
    out
}

fn working(working: &WorkingMemory) -> String {
    let mut out = usage(&working.usage);
    if let Some(task) = &working.current_task {
        let _ = writeln!(out, "{} {}", paint(BOLD, "current task"), task.description);
    }
    out.push_str(&keys(&working.context));
    if !working.active_elements.is_empty() {
        if working.stale {
            out.push_str(&(paint(WARN, "stale: an action was performed since the observation") + "\n"));
        }
        let row = |e: &ActiveElement| {
            [e.alias.clone(), e.target.role.to_string(), maybe(&e.target.label), maybe(&e.target.res_id)]
        };
        out.push_str(&table(["ref", "role", "label", "resId"], working.active_elements.iter().map(row)));
    }
    let row = |s: &RecentObservation| {
        let (settled, reliable) = (s.settled.to_string(), s.reliable.to_string());
        [time(s.at), s.device.clone(), s.source.to_string(), maybe(&s.activity), settled, reliable]
    };
    out + &table(
        ["at", "device", "source", "activity", "settled", "reliable"],
        working.recent_observations.iter().map(row),
    )
}

fn compacted(compacted: &CompactResult) -> String {
    let CompactResult { messages, tokens_before, tokens_after, facts, .. } = compacted;
    let verb = paint(GOOD, "compacted");
    let mut out = format!(
        "{verb} {}: {tokens_before} tokens before, {tokens_after} after; {} learned\n",
        count(messages, "message"),
        count(facts, "key fact")
    );
    if let Some(kept) = &compacted.summary {
        let pending = if kept.pending { ", a language model is writing a better one" } else { "" };
        let _ = writeln!(out, "{}\n{}", paint(DIM, &format!("{}{pending}", kept.method)), kept.text);
    }
    out
}

fn deleted(deleted: &DeleteResult) -> String {
    format!("{} {}\n", paint(GOOD, "deleted"), deleted.id)
}

fn pattern_table(patterns: &[Pattern]) -> String {
    let row = |p: &Pattern| {
        let (confidence, used) = (p.confidence.to_string(), p.usage_count.to_string());
        [
            p.id.to_string(),
            p.kind.to_string(),
            confidence,
            used,
            p.scope.to_string(),
            p.text.clone() + from(&p.origin),
            maybe(&p.app),
            maybe(&p.page),
        ]
    };
    table(["id", "kind", "confidence", "used", "scope", "text", "app", "page"], patterns.iter().map(row))
}

fn model_table(models: &[PageModel]) -> String {
    let row = |m: &PageModel| {
        let names: Vec<&str> = m.elements.iter().map(|e| e.name.as_str()).collect();
        let (stability, seen) = (m.stability_score.to_string(), m.seen_count.to_string());
        [
            m.id.to_string(),
            m.page.clone() + from(&m.origin),
            m.page_type.clone(),
            stability,
            seen,
            maybe(&m.similarity),
            shorten(&names.join(", ")),
        ]
    };
    table(["id", "page", "type", "stability", "seen", "similarity", "elements"], models.iter().map(row))
}
