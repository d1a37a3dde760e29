//! Supersession: decides which older statements by the user a new one replaces.
//!
//! Of two statements about the same thing, the newer one counts. The *subject* of a statement is its words other than
//! figures and function words, weighted by rarity. The share of the subject that two statements have in common decides
//! (see the constants below; `kept.rs` and `truth.rs` in `tests/e2e/conversation` check their effect):
//!
//! * A correction replaces a statement with which it shares about half of the subject.
//! * Without correction words, there are two cases: either nearly the whole subject is the same and the only figure
//!   differs, or both statements are decisions that share half of the subject. Two similar sentences may be about
//!   different things, so the older text is kept as `was`.
//! * A correction that replaces nothing by these rules replaces the related statement that has most of its subject in
//!   common with it, if any. The replaced text is also kept as `was`.
//! * A statement that names what it replaces does not replace anything else.
//! * If both statements have figures and names of their own, both stay. The newer statement then gets the higher score.
//!
//! Invariant: no selection of statements contains a replaced one, or an assistant's repetition of its values right
//! after it.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::fact_rows::{COLUMNS, Fact, Places, Said, seen};
use super::facts::{self, Candidate, Kind};
use afd_base::text::{self, cut};
use afd_store::{Result, Sql as _, args, now_ms};

/// Maximum number of indexed subject words of a statement.
pub(super) const MAX_SUBJECT: usize = 16;
/// Number of a statement's rarest words that are looked up in older statements.
const PROBES: usize = 4;
/// Maximum number of older statements that are read for each word.
const READ_FOR_PROBE: i64 = 12;
/// Minimum share of the subject that a correction must have in common with the statement that it replaces.
const SAME_AS_CORRECTED: f64 = 0.45;
/// Minimum share of the subject that two statements without correction words must have in common.
const SAME_UNCORRECTED: f64 = 0.75;
/// Minimum share of the subject that two decisions must have in common.
const SAME_DECISION: f64 = 0.5;
/// Like `SAME_AS_CORRECTED`, for a replaced statement that has no figures and is neither a rule nor a decision.
const SAME_STATEMENT: f64 = 0.55;
/// Maximum length of the text that is kept from a replaced statement, in characters.
const MAX_WAS: usize = 60;

/// Subject of a statement, and its figures.
pub(super) struct Subject {
    /// Words of the statement, without figures and function words.
    pub words: BTreeSet<String>,
    /// Figures in the statement.
    pub values: BTreeSet<String>,
}

impl Subject {
    /// Extracts the subject and the figures of a sentence.
    pub fn of(text: &str) -> Self {
        let is_value = |w: &String| w.chars().any(char::is_numeric);
        let (values, words): (BTreeSet<String>, BTreeSet<String>) =
            text::words(&facts::folded(text)).into_iter().filter(|w| !text::is_stop(w)).partition(is_value);
        Self { words: words.into_iter().filter(|w| w.chars().count() > 1).collect(), values }
    }
}

/// Effect of a new statement on older ones.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// Shortened text of a replaced statement that a context shows beside the new one.
    pub was: Option<String>,
    /// Highest score of the statements that the new one may replace, if the replacement is uncertain; otherwise 0.
    pub doubted: f64,
    /// Whether the new statement replaces any older one.
    any: bool,
}

/// Minimum difference by which a statement scores higher than one that it may replace.
pub(super) const AFTER_DOUBTED: f64 = 0.01;
/// Maximum score that a statement passes on to one that may replace it. It limits the scores of a long chain of such
/// statements.
const MAX_DOUBTED: f64 = 1.5;
/// Minimum common share of the subject at which a correction may be about the same thing as an older statement.
const RELATED: f64 = 0.2;
/// Minimum common share of the subject at which a correction is assumed to be about the same thing as an older
/// statement.
const MAYBE_SAME: f64 = 0.3;

/// Marks the older statements by the user that `candidate` replaces.
pub(super) fn supersede(connection: &Connection, said: Said<'_>, candidate: &Candidate) -> Result<Replaced> {
    let about = candidate.about.as_ref().map_or("", |about| about.text.as_str());
    let own = Subject::of(&candidate.text);
    let mut wide = Subject::of(&format!("{about} {}", candidate.text));
    if wide.words.is_empty() {
        return Ok(Replaced::default());
    }
    let mut weights: Vec<(f64, String)> = Vec::new();
    for word in std::mem::take(&mut wide.words) {
        weights.push((weight(connection, said.conversation, &word)?, word));
    }
    weights.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut older: BTreeMap<i64, Fact> = BTreeMap::new();
    for (_, word) in weights.iter().take(PROBES) {
        older.extend(about_word(connection, said, word)?.into_iter().map(|fact| (fact.id, fact)));
    }
    let mut replaced = Replaced::default();
    // A correction that may be about several statements is assumed to be about the one with the largest common share of
    // the subject.
    let mut nearest: Option<(f64, Fact)> = None;
    for old in older.into_values().filter(|old| old.text != candidate.text) {
        let certain = match replaces(connection, said.conversation, (candidate, &own, &weights), &old)? {
            Judged::Replaces { certain } => certain,
            Judged::Related { shared } => {
                replaced.doubted = replaced.doubted.max(old.score.min(MAX_DOUBTED));
                if candidate.corrects && shared >= MAYBE_SAME && nearest.as_ref().is_none_or(|(most, _)| shared > *most)
                {
                    nearest = Some((shared, old));
                }
                continue;
            }
            Judged::Other => continue,
        };
        retire(connection, said, candidate, &old)?;
        if !certain {
            replaced.was = Some(cut::brief(&old.text, MAX_WAS));
        }
        (replaced.any, nearest) = (true, None);
    }
    if let Some((_, old)) = nearest.filter(|_| !replaced.any) {
        // From now on, the new statement shows both texts.
        retire(connection, said, candidate, &old)?;
        replaced.was = Some(cut::brief(&old.text, MAX_WAS));
    }
    Ok(replaced)
}

/// Number of messages after a statement in which the assistant may repeat it.
const REPEATED_IN: i64 = 4;

/// Marks a statement as replaced, and removes its words from the index. Without the removal, updating a value in the
/// same words a thousand times would mean that each update reads all of the old statements.
fn mark(connection: &Connection, said: Said<'_>, fact: i64) -> Result<()> {
    connection.run(
        "UPDATE message_facts SET superseded_by = :by, updated_at = :now WHERE id = :fact",
        args! {by: said.position, now: now_ms(), fact},
    )?;
    connection.run("DELETE FROM message_subjects WHERE fact_id = :fact", args! {fact})?;
    Ok(())
}

/// Marks a statement as replaced, together with the statements in which the assistant repeated its old values, so that
/// no context shows any of them.
fn retire(connection: &Connection, said: Said<'_>, candidate: &Candidate, old: &Fact) -> Result<()> {
    mark(connection, said, old.id)?;
    let stays: BTreeSet<String> = text::words(&facts::folded(&candidate.text)).into_iter().collect();
    let taken_back: Vec<String> = facts::echoes(&old.text)
        .into_iter()
        .filter(|word| !stays.contains(word) || is_denied(&candidate.text, word))
        .collect();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM message_facts f WHERE f.conversation_id = :conversation AND f.position > :after AND f.position <= :upto
            AND f.role = 'assistant' AND f.superseded_by IS NULL"
    ))?;
    let places = Places::of(&statement)?;
    let values = args! {conversation: said.conversation, after: old.position, upto: old.position + REPEATED_IN};
    let repeated: Vec<Fact> = statement.query_map(values, |row| places.read(row))?.collect::<rusqlite::Result<_>>()?;
    for fact in repeated {
        let words: BTreeSet<String> = text::words(&facts::folded(&fact.text)).into_iter().collect();
        if taken_back.iter().any(|value| words.contains(value)) {
            mark(connection, said, fact.id)?;
        }
    }
    Ok(())
}

/// Returns whether a sentence mentions a word only to deny it, as in `not 4711 any more`.
fn is_denied(sentence: &str, word: &str) -> bool {
    let folded = facts::folded(sentence);
    folded
        .split_once(word)
        .is_some_and(|(before, _)| text::words(before).iter().rev().take(3).any(|w| DENIALS.contains(&w.as_str())))
}

/// Words that deny the words after them, folded.
const DENIALS: &[&str] = &["not", "no", "never", "isn't", "nicht", "kein", "keine", "ne", "pas", "non", "nao", "ya"];

/// Returns the newest valid statements of older messages whose subject contains a word.
fn about_word(connection: &Connection, said: Said<'_>, word: &str) -> Result<Vec<Fact>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM message_subjects s JOIN message_facts f ON f.id = s.fact_id
         WHERE s.conversation_id = :conversation AND s.hash = :hash AND f.position < :position AND f.superseded_by IS NULL
         ORDER BY s.fact_id DESC LIMIT :limit"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = args! {
        conversation: said.conversation, hash: text::hash(word), position: said.position, limit: READ_FOR_PROBE
    };
    let places = Places::of(&statement)?;
    let found = statement.query_map(values, |row| places.read(row))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Relation of a statement to an older one.
enum Judged {
    /// The statement replaces the older one; `certain` is true if it is a correction.
    Replaces { certain: bool },
    /// The statement may replace the older one. `shared` is the larger of the two shares that the common words have in
    /// the subjects of the two statements.
    Related { shared: f64 },
    /// The statement is about something else.
    Other,
}

/// Returns how a new statement relates to an older one.
fn replaces(
    connection: &Connection,
    conversation: i64,
    (new, own, weights): (&Candidate, &Subject, &[(f64, String)]),
    old: &Fact,
) -> Result<Judged> {
    let subject = Subject::of(&old.text);
    let shared: f64 = weights.iter().filter(|(_, w)| subject.words.contains(w)).map(|(weight, _)| weight).sum();
    if shared <= 0.0 {
        return Ok(Judged::Other);
    }
    // A statement that names what it replaces does not replace anything else.
    let named = facts::replaced_words(&new.text);
    if !named.is_empty() && named.is_disjoint(&subject.words) {
        return Ok(Judged::Other);
    }
    let mut whole = 0.0;
    for word in &subject.words {
        whole += weight(connection, conversation, word)?;
    }
    let mine: f64 = weights.iter().map(|(weight, _)| weight).sum();
    let (of_old, of_new) = (shared / whole, shared / mine);
    let differs = own.values != subject.values || own.words != subject.words;
    let settles = |kind: Kind| kind != Kind::Statement;
    let settled = settles(old.kind) || !subject.values.is_empty();
    let enough = if settled { of_old.max(of_new) >= SAME_AS_CORRECTED } else { of_old >= SAME_STATEMENT };
    let both_differ = !own.values.is_empty()
        && !subject.values.is_empty()
        && own.values != subject.values
        && named.is_empty()
        && facts::names_differ(&new.text, &old.text);
    if new.corrects && enough && differs && !both_differ {
        return Ok(Judged::Replaces { certain: true });
    }
    let other_value = own.values.len() == 1 && subject.values.len() == 1 && own.values != subject.values;
    let same = of_old.min(of_new) >= SAME_UNCORRECTED
        && other_value
        && ends_with_value(&new.text)
        && ends_with_value(&old.text);
    let decided =
        new.kind == Kind::Decision && old.kind == Kind::Decision && of_old.min(of_new) >= SAME_DECISION && differs;
    if (same || decided) && !both_differ {
        return Ok(Judged::Replaces { certain: false });
    }
    let other_figure = !own.values.is_empty() && !subject.values.is_empty() && own.values != subject.values;
    let related =
        new.corrects && of_old.max(of_new) >= RELATED || other_figure && of_old.min(of_new) >= SAME_AS_CORRECTED;
    Ok(if related { Judged::Related { shared: of_old.max(of_new) } } else { Judged::Other })
}

/// Returns whether a statement ends with its only figure, after its subject. `The budget is 500 euros` does;
/// `Row 7 is done` does not, because the figure is part of a name.
fn ends_with_value(text: &str) -> bool {
    let before = text.split(char::is_numeric).next().unwrap_or("");
    let after = text.rsplit(char::is_numeric).next().unwrap_or("");
    text::words(&facts::folded(before)).len() >= 2
        && after.split_whitespace().filter(|w| w.contains(char::is_alphanumeric)).count() <= 1
}

/// Returns the weight of a word in a subject: 1 if it is new in the conversation, and less the more often it occurred.
pub fn weight(connection: &Connection, conversation: i64, word: &str) -> Result<f64> {
    let seen = seen(connection, conversation, text::hash(word))?;
    Ok(1.0 / (1.0 + (1.0 + seen as f64).ln()))
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::Role;
    use rusqlite::Connection;

    use super::super::kept::{TermCounts, keep};
    use super::{Said, about_word, facts};
    use afd_store::{Sql as _, args};

    const CONVERSATION: i64 = 1;

    fn conversation() -> Connection {
        let c = afd_store::in_memory().expect("opens");
        c.execute_batch(
            "INSERT INTO sessions (id, uid, origin, name, created_at, updated_at) VALUES (1, 's', 'here', 's', 1, 1);
             INSERT INTO conversations (id, session_id, name, uid, origin, updated_at) VALUES (1, 1, 'main', 'c', 'here', 1);",
        )
        .expect("a conversation");
        c
    }

    fn said(position: i64) -> Said<'static> {
        Said { conversation: CONVERSATION, position, role: Role::User, source: None, at: position }
    }

    fn say(c: &Connection, position: i64, text: &str) {
        let statements: Vec<_> = facts::candidates(Role::User, text, None).into_iter().map(|fact| (fact, 1)).collect();
        let mut counts = TermCounts::default();
        keep(c, "here", said(position), &statements, &mut counts).expect("keeps");
        counts.save(c, CONVERSATION).expect("saves");
    }

    fn holding(c: &Connection) -> Vec<String> {
        let sql = "SELECT text FROM message_facts WHERE superseded_by IS NULL ORDER BY position";
        c.all(sql, [], |row| row.get("text")).expect("reads")
    }

    /// Returns how many rows are read to find the statements about a word.
    fn read_about(c: &Connection, word: &str) -> i64 {
        let sql = "SELECT count(*) AS n FROM message_subjects WHERE conversation_id = :conversation AND hash = :hash";
        let values = args! {conversation: CONVERSATION, hash: afd_base::text::hash(word)};
        c.one(sql, values, |row| row.get("n")).expect("counts")
    }

    #[test]
    fn what_was_replaced_is_not_read_for_each_later_statement() {
        let c = conversation();
        for n in 1..=40 {
            say(&c, n, &format!("The budget for catering is {n} euros."));
        }
        assert_eq!(holding(&c), ["The budget for catering is 40 euros."]);
        assert_eq!(read_about(&c, "catering"), 1);
        // The user repeats an old statement, so that statement is valid again and can be found by its words.
        say(&c, 41, "The budget for catering is 7 euros.");
        assert_eq!(holding(&c), ["The budget for catering is 7 euros."]);
        let found = about_word(&c, said(42), "catering").expect("reads");
        assert_eq!(
            found.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>(),
            ["The budget for catering is 7 euros."]
        );
        say(&c, 42, "The budget for catering is 8 euros.");
        assert_eq!(holding(&c), ["The budget for catering is 8 euros."]);
    }
}
