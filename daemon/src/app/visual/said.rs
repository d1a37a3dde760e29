//! Goals in the words of earlier tasks and of notes: where a session did the same task, and the page or element that a note
//! about the app names. Only what was saved in this store counts: a note from elsewhere is a claim of others.

use std::collections::BTreeSet;

use afd_base::text::tokens::{self, Wanted};
use afd_experience::memory::{deeds, notes};
use afd_experience::visual::scope::Known;
use afd_experience::visual::states;
use afd_screen::page::folding::fold;
use afd_store::{Connection, Reader, Result as Stored};
use afd_workspace::tasks;

/// Least share of the words of each of two tasks that are also in the other one.
const SAME_TASK: f64 = 0.8;
/// Least share of the words of a goal that are in a note about it, and least number of them.
const ABOUT: f64 = 0.6;
const ABOUT_WORDS: usize = 2;
/// Maximum number of tasks and of notes that are compared, the newest first.
const MAX_COMPARED: usize = 300;
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
    let wanted = tokens::of_query(words);
    for task in tasks::passed(connection, &asker.store, asker.reader, MAX_COMPARED)? {
        let is_same = fold(&task.description) == fold(words)
            || (share(&wanted, &task.description).0 >= SAME_TASK
                && share(&tokens::of_query(&task.description), words).0 >= SAME_TASK);
        if !is_same {
            continue;
        }
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

/// Returns the names that the note about a goal mentions, the last one first; `names` are what is known in the scope. Returns
/// none if two notes fit as well.
pub(super) fn names_of_note<'a>(
    connection: &Connection,
    known: &Known,
    (words, names): (&str, &BTreeSet<&'a str>),
    asker: &Asker,
) -> Stored<Vec<&'a str>> {
    let wanted = tokens::of_query(words);
    let mut best: Option<(f64, String, bool)> = None;
    let apps = [Some(&known.scope.app), known.scope.site.as_ref()];
    for app in apps.into_iter().flatten() {
        let filter = notes::Filter { app: Some(app.clone()), topic: None, reader: asker.reader };
        for note in notes::newest(connection, &filter, 0, MAX_COMPARED)?.notes {
            let text = format!("{} {}", note.topic, note.content);
            let (share, count) = share(&wanted, &text);
            if note.origin.is_some() || share < ABOUT || count < ABOUT_WORDS {
                continue;
            }
            match &mut best {
                Some((most, _, is_tie)) if share == *most => *is_tie = true,
                Some((most, ..)) if share < *most => {}
                _ => best = Some((share, text, false)),
            }
        }
    }
    let Some((_, text, false)) = best else { return Ok(Vec::new()) };
    let text = format!(" {} ", plain(&text));
    let mut found: Vec<(usize, &str)> = names
        .iter()
        .filter(|name| name.chars().count() >= MIN_NAME)
        .filter_map(|name| Some((text.rfind(&format!(" {} ", plain(name)))?, *name)))
        .collect();
    // Of two names that begin at one place, the longer one is meant.
    found.sort_by_key(|(at, name)| std::cmp::Reverse((*at, name.len())));
    Ok(found.into_iter().map(|(_, name)| name).collect())
}

/// Returns the folded words of a text, separated by single spaces.
fn plain(text: &str) -> String {
    fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
