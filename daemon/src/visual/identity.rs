//! Which state a structure or a set of components is: pure rules, and what they need to know in memory.
//!
//! A page's structure that was seen before is the state that it was then. One that is new joins the nearest state of the same
//! place and title, if more than 7 of 10 features are shared and at most one is new there; a page of which nodes are missing
//! stays what it is so. A structure that keeps coming back gets a state of its own: what is missing by accident differs each
//! time. Sets of detections have no place: they join by the seed's rule alone. Measured on recordings (see `ui-traces` among
//! the tools in `tests/`).

use std::collections::HashMap;

use crate::page::structure::Structure;

/// A near miss may have so many features that the state did not have.
const MAX_NEW: usize = 1;
/// A structure that was seen so often ...
const RETURNS: u64 = 2;
/// ... and, when it merely lacks something, makes up this part of its state's visits, is a state of its own.
const SHARE: u64 = 10;

/// When so many states of a place differ in their titles only, titles there are content: of products, of people.
const MAX_TITLES: usize = 24;

/// Whether two sets are alike enough to be one state: Jaccard over 0.7 (seed 001; strictly, as in the original).
pub fn matches(common: usize, union: usize) -> bool {
    10 * common > 7 * union
}

/// Whether two states are alike enough to be merged: Jaccard over 0.85.
pub fn merges(common: usize, union: usize) -> bool {
    20 * common > 17 * union
}

/// `s_` and six hexadecimal digits of the hash of the sorted names; when that is taken, of it and what is taken (seed 001).
pub fn code(names: &[&str], taken: impl Fn(&str) -> bool) -> String {
    use md5::{Digest, Md5};
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let joined = sorted.join("|");
    let hashed = |text: &str| -> String {
        let digest = Md5::digest(text.as_bytes());
        format!("s_{}", crate::hex::encode(&digest[..3]))
    };
    let mut code = hashed(&joined);
    // A chain that comes back to itself would never end: then a number makes the difference.
    let mut tries = 0;
    while taken(&code) {
        tries += 1;
        code = if tries < 64 { hashed(&format!("{joined}{code}")) } else { hashed(&format!("{joined}{code}{tries}")) };
    }
    code
}

/// Sets of numbers, and which of them is most like another. Looks only at sets that share something.
#[derive(Debug, Clone, Default)]
struct Sets {
    sizes: Vec<u32>,
    owners: Vec<i64>,
    titles: Vec<Option<String>>,
    places: HashMap<String, HashMap<u64, Vec<u32>>>,
}

/// The nearest set.
struct Nearest {
    owner: i64,
    common: usize,
    union: usize,
}

impl Sets {
    fn add(&mut self, owner: i64, place: &str, title: Option<&str>, set: &[u64]) {
        let index = u32::try_from(self.sizes.len()).unwrap_or(u32::MAX);
        self.sizes.push(u32::try_from(set.len()).unwrap_or(u32::MAX));
        self.owners.push(owner);
        self.titles.push(title.map(str::to_owned));
        let lists = self.places.entry(place.to_owned()).or_default();
        set.iter().for_each(|item| lists.entry(*item).or_default().push(index));
    }

    /// The set with the highest Jaccard index of those that pass; the first of several.
    fn nearest(&self, place: &str, title: Option<&str>, set: &[u64], passes: impl Fn(usize, usize) -> bool) -> Option<Nearest> {
        let lists = self.places.get(place)?;
        let mut common = vec![0u32; self.sizes.len()];
        for index in set.iter().filter_map(|item| lists.get(item)).flatten() {
            common[*index as usize] += 1;
        }
        let agree = |i: usize| match (title, self.titles[i].as_deref()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let mut best: Option<Nearest> = None;
        let mut other_titles = 0;
        let mut untitled: Option<Nearest> = None;
        for (i, shared) in common.iter().enumerate().filter(|(_, shared)| **shared > 0) {
            let (shared, union) = (*shared as usize, set.len() + self.sizes[i] as usize - *shared as usize);
            if !passes(shared, union) {
                continue;
            }
            let agrees = agree(i);
            other_titles += usize::from(!agrees);
            let nearest = if agrees { &mut best } else { &mut untitled };
            if nearest.as_ref().is_none_or(|b| shared * b.union > b.common * union) {
                *nearest = Some(Nearest { owner: self.owners[i], common: shared, union });
            }
        }
        best.or_else(|| untitled.filter(|_| other_titles >= MAX_TITLES))
    }
}

/// A structure that was seen.
#[derive(Debug, Clone)]
struct Variant {
    state: i64,
    seen: u64,
}

/// What is known of the states of an app or site.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    variants: HashMap<String, Variant>,
    pages: Sets,
    detected: Sets,
    states: HashMap<i64, Known>,
    components: HashMap<String, i64>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    /// Key of the structure that named it.
    named_by: Option<String>,
    /// `s_` and six digits, once it is defined.
    code: Option<String>,
    visits: u64,
}

/// What a lesson changes.
#[derive(Debug, Clone)]
pub enum Change {
    /// A structure was seen as a state; `names` when the state is named by it.
    Seen {
        /// The structure.
        structure: Structure,
        /// Row of the state.
        state: i64,
        /// Whether it names the state.
        names: bool,
    },
    /// A state was defined.
    Code {
        /// Row of the state.
        state: i64,
        /// Its code.
        code: String,
    },
    /// A state is defined by a set of components.
    Set {
        /// Row of the state.
        state: i64,
        /// Rows of the components.
        components: Vec<u64>,
    },
    /// There is a new component.
    Component {
        /// What makes it the same.
        key: String,
        /// Its row.
        id: i64,
    },
}

/// What is to become of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is this state.
    Is(i64),
    /// It is taken for this state.
    Joins(i64),
    /// It is a state of its own.
    New,
}

impl Identity {
    /// Applies what a lesson changed.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Seen { structure, state, names } => self.note(structure, *state, *names),
            Change::Code { state, code } => self.take_up_code(*state, code),
            Change::Set { state, components } => self.take_up_set(*state, components),
            Change::Component { key, id } => self.take_up_component(key, *id),
        }
    }

    /// As much of it as recognising a page needs.
    pub fn of_pages(&self) -> Self {
        Self { variants: self.variants.clone(), pages: self.pages.clone(), states: self.states.clone(), ..Self::default() }
    }

    /// Which state a structure is; nothing is learned.
    pub fn recognise(&self, structure: &Structure) -> Option<i64> {
        match self.variants.get(&structure.key()) {
            Some(variant) => Some(variant.state),
            None => self.near(structure).map(|n| n.owner),
        }
    }

    /// Whether just this structure was seen before.
    pub fn has_seen(&self, structure: &Structure) -> bool {
        self.variants.contains_key(&structure.key())
    }

    /// The key under which a state is known best, for what is recognised without being learned.
    pub fn name_of(&self, state: i64) -> Option<&str> {
        self.states.get(&state)?.named_by.as_deref()
    }

    /// The code of a state, once it is defined.
    pub fn code_of(&self, state: i64) -> Option<&str> {
        self.states.get(&state)?.code.as_deref()
    }

    /// Takes up the code of a state.
    pub fn take_up_code(&mut self, state: i64, code: &str) {
        self.states.entry(state).or_default().code = Some(code.to_owned());
    }

    fn near(&self, s: &Structure) -> Option<Nearest> {
        let size = s.features.len();
        self.pages.nearest(&s.place, s.title.as_deref(), &s.features, |common, union| matches(common, union) && size - common <= MAX_NEW)
    }

    /// Decides about a structure that is seen now.
    pub fn decide(&self, structure: &Structure) -> Verdict {
        let key = structure.key();
        let known = self.variants.get(&key);
        if let Some(variant) = known
            && self.states.get(&variant.state).is_some_and(|s| s.named_by.as_deref() == Some(&key))
        {
            return Verdict::Is(variant.state);
        }
        let Some(near) = self.near(structure) else { return known.map_or(Verdict::New, |v| Verdict::Is(v.state)) };
        let seen = 1 + known.map_or(0, |v| v.seen);
        let lacks_only = structure.features.len() == near.common;
        let visits = self.states.get(&near.owner).map_or(0, |s| s.visits);
        let returns = seen >= RETURNS && (!lacks_only || seen * SHARE >= visits);
        if returns { Verdict::New } else { Verdict::Joins(near.owner) }
    }

    /// Notes that a structure was seen as a state; `names` when the state is named by it.
    pub fn note(&mut self, structure: &Structure, state: i64, names: bool) {
        let key = structure.key();
        if names {
            self.pages.add(state, &structure.place, structure.title.as_deref(), &structure.features);
            self.states.entry(state).or_default().named_by = Some(key.clone());
        }
        let variant = self.variants.entry(key).or_insert(Variant { state, seen: 0 });
        variant.state = state;
        variant.seen += 1;
        self.states.entry(state).or_default().visits += 1;
    }

    /// Takes up what a structure was, from the database.
    pub fn take_up(&mut self, key: &str, state: i64, seen: u64, named: Option<(&str, Option<&str>, &[u64])>) {
        if let Some((place, title, features)) = named {
            self.pages.add(state, place, title, features);
            self.states.entry(state).or_default().named_by = Some(key.to_owned());
        }
        self.variants.insert(key.to_owned(), Variant { state, seen });
    }

    /// Takes up how often a state was visited.
    pub fn take_up_visits(&mut self, state: i64, visits: u64) {
        self.states.entry(state).or_default().visits = visits;
    }

    /// Takes up a state that is defined by a set of components.
    pub fn take_up_set(&mut self, state: i64, components: &[u64]) {
        self.detected.add(state, "", None, components);
    }

    /// The row of a component by what makes it the same.
    pub fn component(&self, key: &str) -> Option<i64> {
        self.components.get(key).copied()
    }

    /// Takes up a component.
    pub fn take_up_component(&mut self, key: &str, id: i64) {
        self.components.insert(key.to_owned(), id);
    }

    /// The state whose components are most like these, by the seed's rule.
    pub fn by_components(&self, components: &[u64]) -> Option<i64> {
        self.detected.nearest("", None, components, matches).map(|n| n.owner)
    }
}
