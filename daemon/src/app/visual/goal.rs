//! Goals: the pages, elements and texts that a caller's words can mean in an app or site.
//!
//! The interpretations are tried in this order, and the first that fits is taken: a state, a page with this title
//! (without the name of its site), the page behind an element with this title, an element, a text, the page on which a task
//! with these words was done, what a note with these words names ([`said`]), an element or page whose name contains all the
//! words, one whose name has the same meaning. Meanings are compared by the vectors of the built-in model, which knows the usual words of apps in
//! several languages. A meaning counts only if it is close ([`MIN_COSINE`]) and clearly closer than the next one
//! ([`MIN_LEAD`]), because a walk to a wrong page costs more than an error.

use std::collections::{BTreeMap, BTreeSet};

use afd_proto::visual::StateKind;
use afd_proto::vocabulary::Role;

use super::find;
use super::said::{self, Asker, Source};
use crate::app::Result;
use afd_base::model::embed::Builtin;
use afd_base::text::{self, tokens};
use afd_experience::visual::components;
use afd_experience::visual::graph::{Edge, Graph};
use afd_experience::visual::scope::Known;
use afd_experience::visual::states::{self, State};
use afd_screen::page::folding::fold;
use afd_screen::page::target;
use afd_store::{Connection, Result as Stored};

/// Minimum cosine of two names with the same meaning.
const MIN_COSINE: f32 = 0.53;
/// Minimum difference between the cosines of the closest name and of the next one.
const MIN_LEAD: f32 = 0.06;

/// Maximum number of words of a name in other words, without function words. A whole sentence says more than a name means.
const MAX_WORDS: usize = 4;
/// Minimum share of the attempts at an element that led to a page for the page to be behind the element.
const MIN_SHARE: f64 = 0.3;
/// What separates the name of a page from the name of its site in a title.
const SITE_MARKS: [&str; 4] = [" - ", " | ", " \u{2013} ", " \u{b7} "];
/// Maximum length of a text whose words or meaning may be the goal, in characters. A longer one is no name.
const MAX_TEXT: usize = 60;

/// What a caller asked for.
#[derive(Debug, Clone)]
pub(in crate::app) enum Asked {
    /// Whatever the words mean.
    Words(String),
    /// A state, by id, uid or name.
    State(String),
    /// An element, by its label.
    Element(String),
    /// A text.
    Text(String),
    /// A page in a browser, by its address.
    Address(String),
}

impl Asked {
    /// Returns the words, and the name of the parameter that contains them.
    pub(in crate::app) fn words(&self) -> (&str, &'static str) {
        match self {
            Asked::Words(words) => (words, "goal"),
            Asked::State(name) => (name, "state"),
            Asked::Element(label) => (label, "element"),
            Asked::Text(text) => (text, "text"),
            Asked::Address(url) => (url, "address"),
        }
    }
}

/// A goal in an app or site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::app) struct Goal {
    /// Row ids of the states in which the goal is, or is probably.
    pub states: BTreeSet<i64>,
    /// Label of the element to bring into sight; `None` if any page of `states` is the goal.
    pub element: Option<String>,
    /// Text to bring into sight.
    pub text: Option<String>,
    /// From what the goal is known, if it is not from its name.
    pub source: Option<Source>,
}

impl Goal {
    fn page(states: BTreeSet<i64>) -> Self {
        Self { states, ..Self::default() }
    }

    /// Returns whether being on one of the pages is enough.
    pub(in crate::app) fn is_page(&self) -> bool {
        self.element.is_none() && self.text.is_none()
    }
}

/// Returns the title of the element on which an edge acts.
pub(in crate::app) fn title_of(edge: &Edge) -> Option<&str> {
    edge.what.as_ref().and_then(|action| action.target.as_ref()).and_then(target::title)
}

/// Returns whether an edge leads to a page behind the element on which it acts. Touching a switch or a field may change the
/// page that contains it, and is what the caller wants to do there.
pub(in crate::app) fn leads_behind(edge: &Edge) -> bool {
    let target = edge.what.as_ref().and_then(|action| action.target.as_ref());
    edge.from != edge.to && target.is_none_or(|target| !matches!(target.role, Role::Switch | Role::Field))
}

/// Returns the pages to which an element with this title leads. A caller who asks for "Display" means the page behind
/// the row, not the page that contains the row.
pub(super) fn led_to(graph: &Graph, title: &str) -> BTreeSet<i64> {
    let wanted = fold(title);
    let titled = |edge: &&Edge| leads_behind(edge) && title_of(edge).is_some_and(|own| fold(own) == wanted);
    // An outcome that was rare may have had another cause.
    let pages = graph.edges.iter().filter(titled).filter(|edge| edge.success_rate >= MIN_SHARE).map(|edge| edge.to);
    // What appears on its own is not behind the element.
    pages.filter(|state| !graph.is_interrupt(*state)).collect()
}

/// Returns the pages that have an element with this label.
fn having(connection: &Connection, known: &Known, graph: &Graph, label: &str) -> Stored<BTreeSet<i64>> {
    let wanted = fold(label);
    let mut pages: BTreeSet<i64> = BTreeSet::new();
    if let Some(component) = components::find(connection, known.id, label)? {
        pages.extend(states::with_component(connection, component.id)?);
    }
    pages.extend(graph.edges.iter().filter(|e| title_of(e).is_some_and(|own| fold(own) == wanted)).map(|e| e.from));
    pages.retain(|state| graph.states.contains_key(state));
    Ok(pages)
}

/// Returns the goal that the caller's words mean in a scope; `None` if nothing known fits.
///
/// # Errors
/// `INVALID_PARAMS` if several states have that name.
pub(in crate::app) fn resolve(
    connection: &Connection,
    known: &Known,
    graph: &Graph,
    (asked, asker): (&Asked, &Asker),
) -> Stored<Result<Option<Goal>>> {
    let places: Vec<&State> = graph.states.values().filter(|s| s.app == known.id).collect();
    let (words, field) = asked.words();
    let state = match find::state(places.iter().copied(), field, words) {
        Ok(state) => state.map(|state| Goal::page(BTreeSet::from([state.id]))),
        // A text or an element may have the name of several pages.
        Err(_) if !matches!(asked, Asked::Words(_) | Asked::State(_)) => None,
        Err(ambiguous) => return Ok(Err(ambiguous)),
    };
    Ok(Ok(match asked {
        Asked::State(_) => state,
        Asked::Element(label) => {
            let states = having(connection, known, graph, label)?;
            Some(Goal { states, element: Some(label.clone()), ..Goal::default() })
        }
        Asked::Text(text) => Some(Goal { states: showing(&places, text), text: Some(text.clone()), ..Goal::default() }),
        // An address is opened, which is at most one step.
        Asked::Address(_) => Some(Goal::default()),
        Asked::Words(words) => match state {
            Some(state) => Some(state),
            None => named(connection, known, graph, &places, (words, asker))?,
        },
    }))
}

/// Returns the states that show a text: as a whole, else as a part.
fn showing(places: &[&State], text: &str) -> BTreeSet<i64> {
    let wanted = fold(text);
    let with = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<i64> {
        places.iter().filter(|s| s.texts.iter().any(|own| fits(&fold(own)))).map(|s| s.id).collect()
    };
    let whole = with(&|own| own == wanted);
    if whole.is_empty() { with(&|own| own.contains(&wanted)) } else { whole }
}

/// Returns the pages whose title is a name, without the name of their site. Several pages of one name are as good.
fn titled(places: &[&State], name: &str) -> BTreeSet<i64> {
    let wanted = fold(name);
    let is_named = |state: &&&State| {
        let title = state.title.as_deref().or(state.name.as_deref()).unwrap_or_default();
        let own = SITE_MARKS.iter().filter_map(|mark| title.split_once(mark)).map(|(own, _)| own);
        own.chain([title]).any(|own| fold(own) == wanted)
    };
    places.iter().filter(is_named).map(|state| state.id).collect()
}

/// Returns the goal that is named by words, see the module's documentation.
fn named(
    connection: &Connection,
    known: &Known,
    graph: &Graph,
    places: &[&State],
    (words, asker): (&str, &Asker),
) -> Stored<Option<Goal>> {
    if let Some(goal) = called(connection, known, graph, words)? {
        return Ok(Some(goal));
    }
    if let Some(page) = said::page_of_task(connection, known, words, asker)? {
        return Ok(Some(Goal { source: Some(Source::Task), ..Goal::page(BTreeSet::from([page])) }));
    }
    let all = candidates(connection, known, graph, places)?;
    // What a note says about an element or a text need not be the way to it.
    let names = all.iter().filter(|(_, goal)| goal.is_page()).map(|(name, _)| name.as_str()).collect();
    if let Some((name, topic)) = said::page_of_note(connection, known, (words, &names), asker)? {
        return Ok(Some(Goal { source: Some(Source::Note(topic)), ..all[name].clone() }));
    }
    Ok(by_words(&all, words).or_else(|| by_meaning(&all, words)).map(|name| all[name].clone()))
}

/// Returns the goal that has exactly this name.
pub(in crate::app) fn called(
    connection: &Connection,
    known: &Known,
    graph: &Graph,
    name: &str,
) -> Stored<Option<Goal>> {
    let places: Vec<&State> = graph.states.values().filter(|s| s.app == known.id).collect();
    let titled = titled(&places, name);
    if !titled.is_empty() {
        return Ok(Some(Goal::page(titled)));
    }
    // An element that opens a dialog does something: the caller wants the element.
    let is_page = |state: &i64| graph.states.get(state).is_some_and(|state| state.kind == StateKind::Page);
    let behind: BTreeSet<i64> = led_to(graph, name).into_iter().filter(is_page).collect();
    if !behind.is_empty() {
        return Ok(Some(Goal::page(behind)));
    }
    let pages = having(connection, known, graph, name)?;
    if !pages.is_empty() {
        return Ok(Some(Goal { states: pages, element: Some(name.to_owned()), ..Goal::default() }));
    }
    let wanted = fold(name);
    let shown: BTreeSet<i64> =
        places.iter().filter(|s| s.texts.iter().any(|own| fold(own) == wanted)).map(|s| s.id).collect();
    Ok((!shown.is_empty()).then(|| Goal { states: shown, text: Some(name.to_owned()), ..Goal::default() }))
}

/// Returns the names of what is known in a scope, each with its goal: pages, elements that lead to a page, and other
/// elements and texts. A page goes before an element of the same name, and an element before a text.
fn candidates(
    connection: &Connection,
    known: &Known,
    graph: &Graph,
    places: &[&State],
) -> Stored<BTreeMap<String, Goal>> {
    let mut all: BTreeMap<String, Goal> = BTreeMap::new();
    for state in places.iter().filter(|state| !graph.is_interrupt(state.id)) {
        for text in state.texts.iter().filter(|text| text.chars().count() <= MAX_TEXT) {
            let goal = all.entry(text.clone()).or_default();
            goal.text = Some(text.clone());
            goal.states.insert(state.id);
        }
    }
    for (state, label) in components::labels(connection, known.id)? {
        if graph.states.contains_key(&state) {
            let goal = all.entry(label.clone()).or_default();
            (goal.element, goal.text) = (Some(label), None);
            goal.states.insert(state);
        }
    }
    for edge in graph.edges.iter().filter(|edge| leads_behind(edge) && !graph.is_interrupt(edge.to)) {
        if let Some(title) = title_of(edge).filter(|title| !title.is_empty()) {
            let goal = all.entry(title.to_owned()).or_default();
            if !goal.is_page() {
                *goal = Goal::default();
            }
            goal.states.insert(edge.to);
        }
    }
    for state in places.iter().filter(|state| !graph.is_interrupt(state.id)) {
        for name in [state.name.as_deref(), state.title.as_deref(), state.description.as_deref()].into_iter().flatten()
        {
            all.insert(name.to_owned(), Goal::page(BTreeSet::from([state.id])));
        }
    }
    Ok(all)
}

/// Returns the element that words mean on a page, given the titles of its elements; `None` if none fits clearly.
pub(in crate::app) fn on_page<'a>(titles: impl Iterator<Item = &'a str>, words: &str) -> Option<Goal> {
    let named = titles.filter(|title| !title.is_empty() && title.chars().count() <= MAX_TEXT).enumerate();
    // Each element counts as a page of its own, so that two that fit as well are not mistaken for one.
    let goal = |(at, title): (usize, &str)| {
        let states = BTreeSet::from([i64::try_from(at).unwrap_or_default()]);
        (title.to_owned(), Goal { states, element: Some(title.to_owned()), ..Goal::default() })
    };
    let all: BTreeMap<String, Goal> = named.map(goal).collect();
    let name = by_words(&all, words).or_else(|| by_meaning(&all, words))?;
    Some(Goal { element: Some(name.to_owned()), ..Goal::default() })
}

/// Returns the shortest name that contains all the words; `None` if two goals have names of that length.
fn by_words<'a>(all: &'a BTreeMap<String, Goal>, words: &str) -> Option<&'a str> {
    let wanted = tokens::of_query(words);
    if wanted.is_empty() {
        return None;
    }
    // A word of a long text says little about what the text means.
    let fits = |name: &&String| {
        let own = tokens::of_text(name);
        wanted.iter().all(|word| word.is_in(&own)) && 2 * wanted.len() >= tokens::of_query(name).len()
    };
    let mut found: Vec<&String> = all.keys().filter(fits).collect();
    // A text may be what someone wrote, so pages and elements go first.
    let rank = |name: &String| (all[name].text.is_some(), name.chars().count());
    found.sort_by_key(|name| rank(name));
    let best = *found.first()?;
    let rivals = found.iter().copied().skip(1).take_while(|name| rank(name) == rank(best));
    only_goal(all, best, rivals)
}

/// Returns the numbers in a name. Names with other numbers mean other things, however alike they are.
fn numbers(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_numeric()).filter(|number| !number.is_empty()).collect()
}

/// Words with opposite meanings, which are used alike.
const OPPOSITES: [(&str, &str); 12] = [
    ("in", "out"),
    ("on", "off"),
    ("up", "down"),
    ("open", "close"),
    ("show", "hide"),
    ("add", "remove"),
    ("add", "delete"),
    ("enable", "disable"),
    ("start", "stop"),
    ("lock", "unlock"),
    ("join", "leave"),
    ("an", "aus"),
];

/// Returns whether one of two names has a word of which the other has the opposite.
fn is_opposite(a: &str, b: &str) -> bool {
    let (a, b) = (text::words(a), text::words(b));
    let has = |words: &[String], word: &str| words.iter().any(|own| own == word);
    OPPOSITES.iter().any(|(x, y)| (has(&a, x) && has(&b, y)) || (has(&a, y) && has(&b, x)))
}

/// Returns the name whose meaning is closest to the words; `None` if it is not close, or another one is as close.
fn by_meaning<'a>(all: &'a BTreeMap<String, Goal>, words: &str) -> Option<&'a str> {
    if tokens::of_query(words).len() > MAX_WORDS {
        return None;
    }
    let wanted = Builtin::vector(words);
    let cosine = |name: &String| Builtin::vector(name).iter().zip(&wanted).map(|(a, b)| a * b).sum::<f32>();
    let alike = all.keys().filter(|name| numbers(name) == numbers(words) && !is_opposite(name, words));
    let mut found: Vec<(f32, &String)> = alike.map(|name| (cosine(name), name)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, name) = found.first().filter(|(cosine, _)| *cosine >= MIN_COSINE)?;
    let rivals = found.iter().skip(1).take_while(|(cosine, _)| best - cosine < MIN_LEAD);
    only_goal(all, name, rivals.map(|(_, other)| *other))
}

/// Returns a name, unless another name that fits as well means something that is not on the pages of its goal.
fn only_goal<'a>(
    all: &'a BTreeMap<String, Goal>,
    name: &'a String,
    mut rivals: impl Iterator<Item = &'a String>,
) -> Option<&'a str> {
    rivals.all(|rival| all[rival].states.is_subset(&all[name].states)).then_some(name.as_str())
}
