//! Storage of statements: scored sentences from messages, and the term counts that scores depend on. `supersede`
//! decides which statement replaces which.

use std::collections::{BTreeSet, HashMap};

use afd_proto::conversation::Role;
use rusqlite::Connection;

use super::fact_rows::{COLUMNS, Places};
pub use super::fact_rows::{Fact, Said, seen};
use super::facts::{self, Candidate, Kind};
use super::supersede::{AFTER_DOUBTED, MAX_SUBJECT, Replaced, Subject, supersede};
use afd_base::text;
use afd_store::{Result, args, new_uid, now_ms};

/// Term counts in a conversation, by hash: the stored count, and the number of occurrences that the messages being
/// appended add to it.
#[derive(Debug, Default)]
pub struct TermCounts(HashMap<i64, (i64, i64)>);

impl TermCounts {
    /// Returns the number of previous occurrences of a hash, and counts this one.
    fn count(&mut self, connection: &Connection, conversation: i64, hash: i64) -> Result<i64> {
        if let Some((before, more)) = self.0.get_mut(&hash) {
            *more += 1;
            return Ok(*before + *more - 1);
        }
        let before = seen(connection, conversation, hash)?;
        self.0.insert(hash, (before, 1));
        Ok(before)
    }

    /// Writes the added counts to the database.
    pub fn save(&self, connection: &Connection, conversation: i64) -> Result<()> {
        let mut add = connection.prepare_cached(
            "INSERT INTO message_terms (conversation_id, hash, seen) VALUES (:conversation_id, :hash, :seen)
             ON CONFLICT (conversation_id, hash) DO UPDATE SET seen = seen + excluded.seen",
        )?;
        self.0.iter().try_for_each(|(hash, (_, more))| {
            add.execute(args! {conversation_id: conversation, hash, seen: more}).map(|_| ())
        })?;
        Ok(())
    }
}

/// Minimum base score at which a plain statement by the user can be replaced. Corrections, rules, decisions and
/// statements with figures can always be replaced.
const MIN_REPLACEABLE: f64 = 0.3;
/// Factor for the score of a request, relative to other statements. A request is carried out once, but a statement
/// stays valid.
const ASKED: f64 = 0.6;
/// Maximum number of statements in one message that may replace older ones.
const MAX_CORRECTIONS: usize = 6;

/// Inserts a statement, or updates the position of the same sentence if it is already stored.
const INSERT: &str =
    "INSERT INTO message_facts (uid, origin, conversation_id, position, place, role, source, kind, text, about, about_by, was, tokens,
            score, rank, sentence, template, at, updated_at)
         VALUES (:uid, :origin, :conversation_id, :position, :place, :role, :source, :kind, :text, :about, :about_by, :was, :tokens,
            :score, :rank, :sentence, :template, :at, :now)
         ON CONFLICT (conversation_id, sentence) DO UPDATE SET position = CASE WHEN excluded.role = 'user' THEN excluded.position
                WHEN excluded.role = role AND excluded.position > position THEN coalesce(again, position) ELSE position END,
            at = CASE WHEN excluded.role = 'user' THEN excluded.at
                WHEN excluded.role = role AND excluded.position > position THEN coalesce(again_at, at) ELSE at END,
            again = CASE WHEN excluded.role = 'user' THEN NULL
                WHEN excluded.role = role AND excluded.position > position THEN excluded.position ELSE again END,
            again_at = CASE WHEN excluded.role = 'user' THEN NULL
                WHEN excluded.role = role AND excluded.position > position THEN excluded.at ELSE again_at END,
            place = iif(excluded.role = 'user', excluded.place, place), kind = iif(excluded.role = 'user', excluded.kind, kind),
            source = iif(excluded.role = 'user', NULL, source), superseded_by = iif(excluded.role = 'user', NULL, superseded_by),
            role = iif(excluded.role = 'user', 'user', role),
            updated_at = excluded.updated_at
         RETURNING id";

/// Scores and stores the statements of a message, with their token counts. If the user says a sentence that is already
/// stored, the stored sentence moves to this message. If another role repeats its own sentence, the new position is
/// stored in addition to the old one, so that a context changes only when the repetition is no longer among its turns.
pub fn keep(
    connection: &Connection,
    origin: &str,
    said: Said<'_>,
    statements: &[(Candidate, i64)],
    seen: &mut TermCounts,
) -> Result<()> {
    let (conversation, now) = (said.conversation, now_ms());
    let mut insert = connection.prepare_cached(INSERT)?;
    let mut about = connection.prepare_cached(
        "INSERT OR IGNORE INTO message_subjects (conversation_id, hash, fact_id) VALUES (:conversation_id, :hash, :fact_id)",
    )?;
    let mut corrections = 0;
    for (candidate, tokens) in statements {
        let words = candidate
            .words
            .iter()
            .map(|word| seen.count(connection, conversation, *word))
            .collect::<Result<Vec<_>>>()?;
        let template_count = seen.count(connection, conversation, candidate.template)? + 1;
        let own_score = facts::score(candidate, &words) * if candidate.asks { ASKED } else { 1.0 };
        let mut replaced = Replaced::default();
        let states = candidate.corrects || candidate.kind != Kind::Statement || has_figure(&candidate.text);
        // A request is carried out once, so it replaces nothing, and nothing replaces it.
        let settles = states && !candidate.asks;
        if said.role == Role::User && settles && corrections < MAX_CORRECTIONS {
            corrections += 1;
            replaced = supersede(connection, said, candidate)?;
        }
        // A statement that may replace an older one takes precedence over it.
        let score = own_score.max(replaced.doubted + AFTER_DOUBTED);
        let replaceable =
            said.role == Role::User && !candidate.asks && (settles || candidate.base_score >= MIN_REPLACEABLE);
        let values = args! {
            uid: new_uid(), origin, conversation_id: conversation, position: said.position,
            place: i64::try_from(candidate.place).unwrap_or(i64::MAX), role: said.role.word(), source: said.source,
            kind: candidate.kind.word(), text: candidate.text,
            about: candidate.about.as_ref().map(|about| &about.text),
            about_by: candidate.about.as_ref().and_then(|about| about.by).map(Role::word), was: replaced.was, tokens,
            score, rank: facts::discount_repeats(score, template_count), sentence: candidate.sentence,
            template: candidate.template, at: said.at, now
        };
        let fact: i64 = insert.query_row(values, |row| row.get("id"))?;
        let subject = if replaceable { Subject::of(&candidate.text).words } else { BTreeSet::new() };
        for word in subject.iter().take(MAX_SUBJECT) {
            about.execute(args! {conversation_id: conversation, hash: text::hash(word), fact_id: fact})?;
        }
    }
    Ok(())
}

fn has_figure(text: &str) -> bool {
    text.chars().any(char::is_numeric)
}

/// Number of previous messages that are searched for the words of a message.
const ECHO_REACH: i64 = 5;
/// Score that a statement gains for each of its figures and names that a later message repeats.
const ECHO_GAIN: f64 = 0.06;
/// Maximum number of repeated figures and names for which a statement gains score.
const MAX_ECHOES: usize = 2;

/// Maximum number of replaced statements that are read for a context.
const MAX_REPLACED: i64 = 400;

/// Returns the folded text of each replaced statement, most recently replaced first. A context does not quote these.
pub fn replaced(connection: &Connection, conversation: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT text FROM message_facts WHERE conversation_id = :conversation_id AND superseded_by IS NOT NULL
         ORDER BY superseded_by DESC LIMIT :limit",
    )?;
    let values = args! {conversation_id: conversation, limit: MAX_REPLACED};
    let texts = statement.query_map(values, |row| row.get::<_, String>("text"))?;
    Ok(texts.collect::<rusqlite::Result<Vec<_>>>()?.iter().map(|text| text::fold(text)).collect())
}

/// Raises the scores of statements by other roles in the last few messages if this message repeats their figures or
/// names. An assistant repeats important instructions and uses tool results, but an anecdote is not repeated.
pub fn echo(connection: &Connection, said: Said<'_>, content: &str) -> Result<()> {
    let words = facts::echoes(content);
    if words.is_empty() || said.role == Role::Tool || said.role == Role::System {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT id, text FROM message_facts WHERE conversation_id = :conversation_id AND position >= :from AND position < :position
            AND role <> :role AND score > 0",
    )?;
    let values = args! {
        conversation_id: said.conversation, from: said.position - ECHO_REACH, position: said.position,
        role: said.role.word()
    };
    let recent: Vec<(i64, String)> =
        statement.query_map(values, |row| Ok((row.get("id")?, row.get("text")?)))?.collect::<rusqlite::Result<_>>()?;
    let mut raise = connection.prepare_cached(
        "UPDATE message_facts SET rank = rank + :gain * rank / score, score = score + :gain, updated_at = :now WHERE id = :id",
    )?;
    for (id, text) in recent {
        let folded = facts::folded(&text);
        let taken_up = words.iter().filter(|w| has_word(&folded, w)).count().min(MAX_ECHOES);
        if taken_up > 0 {
            raise.execute(args! {id, gain: ECHO_GAIN * taken_up as f64, now: now_ms()})?;
        }
    }
    Ok(())
}

fn has_word(folded: &str, word: &str) -> bool {
    folded.match_indices(word).any(|(at, _)| {
        let before = folded[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        before && folded[at + word.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric())
    })
}

/// Returns the best valid statements between positions `after` and `before` (both exclusive), best first. The user
/// contributes up to `of_user` statements. The assistant and tools contribute up to `of_others` each, so that they
/// cannot displace the user's statements.
pub fn facts(
    connection: &Connection,
    conversation: i64,
    (after, before): (i64, i64),
    (of_user, of_others): (usize, usize),
) -> Result<Vec<Fact>> {
    // Over the whole conversation the rank index yields the best ones directly; a later range is read completely and
    // then sorted.
    let index = if after == 0 { "message_facts_best" } else { "message_facts_places" };
    let repeated = |column: &str| {
        format!(
            "CASE WHEN f.again < :before THEN f.again{} ELSE f.{column} END AS {column}",
            if column == "at" { "_at" } else { "" }
        )
    };
    let columns = COLUMNS.replace("f.position", &repeated("position")).replace("f.at", &repeated("at"));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns}, coalesce(t.seen, 1) AS times FROM message_facts f INDEXED BY {index}
         LEFT JOIN message_terms t ON t.conversation_id = f.conversation_id AND t.hash = f.template
         WHERE f.conversation_id = :conversation AND f.position > :after AND f.position < :before AND f.role = :role
            AND f.superseded_by IS NULL ORDER BY f.rank DESC, f.position LIMIT :limit"
    ))?;
    let (places, times) = (Places::of(&statement)?, statement.column_index("times")?);
    let mut found: Vec<Fact> = Vec::new();
    for (role, count) in [(Role::User, of_user), (Role::Assistant, of_others), (Role::Tool, of_others)] {
        let limit = i64::try_from(count).unwrap_or(i64::MAX);
        let values = args! {conversation, after, before, role: role.word(), limit};
        let rows = statement.query_map(values, |row| {
            let fact = places.read(row)?;
            Ok(Fact { score: facts::discount_repeats(fact.score, row.get(times)?), ..fact })
        })?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    Ok(found)
}
