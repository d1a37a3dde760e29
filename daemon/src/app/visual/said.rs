//! Goals in the words of earlier tasks and of notes: where a session did the same task, and the page that a note about the
//! app names. Only tasks and notes of this store count: those from elsewhere are claims of others.

use std::collections::BTreeSet;

use afd_base::text;
use afd_base::text::tokens::{self, Wanted};
use afd_experience::memory::{deeds, notes};
use afd_experience::visual::scope::Known;
use afd_experience::visual::states;
use afd_proto::notes::Note;
use afd_screen::page::folding::fold;
use afd_store::{Connection, Reader, Result as Stored};
use afd_workspace::tasks;

/// Maximum number of tasks with the same words of which it is looked up where they were done.
const MAX_SAME: usize = 5;
/// Least share of the words of a goal that are in a note about it, and least number of these words.
const ABOUT: f64 = 0.6;
const ABOUT_WORDS: usize = 2;
/// Maximum number of tasks and of notes that are compared, the newest first.
const MAX_COMPARED: usize = 100;
/// Minimum length of a name that is looked for in a note, in characters.
const MIN_NAME: usize = 3;

/// Who asks, in which store.
#[derive(Debug, Clone)]
pub(in crate::app) struct Asker {
    /// Uid of this store.
    pub store: String,
    /// The session that asks.
    pub reader: Reader,
}

/// From what a goal in words is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Source {
    /// A task with these words.
    Task,
    /// The note with this topic.
    Note(String),
}

/// Returns the weight of the words that are in a text, as a share of all, and their number.
fn share(words: &[Wanted], text: &str) -> (f64, usize) {
    let own = tokens::of_text(text);
    let found: Vec<&Wanted> = words.iter().filter(|word| word.is_in(&own)).collect();
    let weight = |words: &mut dyn Iterator<Item = &Wanted>| words.map(|word| word.weight).sum::<f64>();
    let all = weight(&mut words.iter());
    let share = if all > 0.0 { weight(&mut found.iter().copied()) / all } else { 0.0 };
    (share, found.len())
}

/// Returns the page of a scope on which the newest passed task with these words was done.
pub(super) fn page_of_task(connection: &Connection, known: &Known, words: &str, asker: &Asker) -> Stored<Option<i64>> {
    // Two tasks that differ in a single name or number are two tasks.
    let wanted = all_words(words);
    let passed = tasks::passed(connection, &asker.store, asker.reader, MAX_COMPARED)?;
    for task in passed.into_iter().filter(|task| all_words(&task.description) == wanted).take(MAX_SAME) {
        let Some(key) = deeds::page_of(connection, &asker.store, task.session, task.span)? else { continue };
        let found = states::by_structure(connection, &[&key])?.into_iter().next();
        if let Some((_, id)) = found
            && states::get(connection, id)?.is_some_and(|state| state.app == known.id)
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Returns the words of a text, each once, without their order.
fn all_words(text: &str) -> BTreeSet<String> {
    text::words(text).into_iter().collect()
}

/// Words that turn a direction into its opposite: a note with one of them may say where something is not.
const NEGATIONS: [&str; 16] = [
    "not", "never", "no", "don", "doesn", "isn", "cannot", "nicht", "nie", "kein", "keine", "nunca", "jamais", "pas",
    "non", "bug",
];

/// Returns the name of the page that the note about a goal mentions last, and the topic of the note; `names` are what is known
/// in the scope. Returns nothing if two notes fit as well, or if the note says what not to do.
pub(super) fn page_of_note<'a>(
    connection: &Connection,
    known: &Known,
    (words, names): (&str, &BTreeSet<&'a str>),
    asker: &Asker,
) -> Stored<Option<(&'a str, String)>> {
    let wanted = tokens::of_query(words);
    let mut best: Option<(f64, Note, bool)> = None;
    let app = known.scope.site.as_ref().unwrap_or(&known.scope.app);
    // A note about no app applies to every app.
    for app in [app.as_str(), ""] {
        let filter = notes::Filter { app: Some(app.to_owned()), topic: None, reader: asker.reader };
        for note in notes::newest(connection, &filter, 0, MAX_COMPARED)?.notes {
            let (share, count) = share(&wanted, &format!("{} {}", note.topic, note.content));
            if note.origin.is_some() || share < ABOUT || count < ABOUT_WORDS {
                continue;
            }
            match &mut best {
                Some((most, _, is_tie)) if share == *most => *is_tie = true,
                Some((most, ..)) if share < *most => {}
                _ => best = Some((share, note, false)),
            }
        }
    }
    let Some((_, note, false)) = best else { return Ok(None) };
    let text = format!(" {} ", plain(&note.content));
    if NEGATIONS.iter().any(|word| text.contains(&format!(" {word} "))) {
        return Ok(None);
    }
    let mut found: Vec<(usize, &str)> = names
        .iter()
        .filter(|name| name.chars().count() >= MIN_NAME)
        .filter_map(|name| Some((text.rfind(&format!(" {} ", plain(name)))?, *name)))
        .collect();
    // Of two names that begin at one place, the longer one is meant.
    found.sort_by_key(|(at, name)| std::cmp::Reverse((*at, name.len())));
    Ok(found.first().map(|(_, name)| (*name, note.topic)))
}

/// Returns the folded words of a text, separated by single spaces.
fn plain(text: &str) -> String {
    fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
