//! State identity: decides which state a page structure, or a set of detected components, belongs to. The rules are
//! pure functions of data in memory.
//!
//! Idea: the structure that named a state always belongs to that state. Any other structure joins the most similar
//! state with the same place and title, if the Jaccard index of their features is over 0.7 and that state lacks at most
//! one of the structure's features. A page with missing nodes therefore stays the same state. A joined structure that
//! keeps returning becomes a state of its own, because accidental differences vary. If it merely lacks features, it
//! must also account for a tenth of the visits of the state that it joined. A structure that is similar to no state
//! keeps its previous state, or else becomes a new one.
//!
//! Invariants: a page that was only scrolled since it was recognised stays the same state, unless its new structure
//! already has a state of its own. Different titles separate states. Titles are ignored, as content (names of products
//! or people), only if a structure is similar to no state with its title but to at least [`CONTENT_TITLES_MIN`] states
//! with other titles.
//!
//! [`likeness`] compares a page with few resource ids to the stored examples of each state. A page in another language
//! becomes a further example. A state that was stored before evidence existed accepts the first page that has its
//! earlier key.
//!
//! Sets of detections have no place and no title, so the Jaccard index alone decides. `tests/e2e/golden.rs` compares
//! this rule with the source tool. The thresholds were measured on recordings of real apps (the program `ui-traces` in
//! `tests/`). `visual/tests.rs` checks the rules for structures.

use std::collections::{BTreeSet, HashMap};

use super::likeness::{self, Look};
use afd_screen::page::structure::Structure;

/// A structure joins a state only if the state lacks at most this many of the structure's features.
const MAX_NEW_FEATURES: usize = 1;
/// Minimum number of sightings for a joined structure to become a state of its own.
const RETURNS_MIN: u64 = 2;
/// A structure that merely lacks features becomes a state of its own only if it accounts for at least one in this many
/// visits of the state that it joined.
const RETURNS_SHARE: u64 = 10;

/// Minimum number of similar states with other titles for titles to count as content.
const CONTENT_TITLES_MIN: usize = 24;

/// Returns whether two sets are similar enough to be one state, which requires a Jaccard index strictly over 0.7.
pub fn matches(common: usize, union: usize) -> bool {
    10 * common > 7 * union
}

/// Returns whether two states are similar enough to be merged, which requires a Jaccard index strictly over 0.85.
pub fn merges(common: usize, union: usize) -> bool {
    20 * common > 17 * union
}

/// Returns a code for a state: `s_` and six hexadecimal digits of the MD5 hash of its sorted component names. While
/// that code is taken, the names are hashed again together with it.
pub fn code(names: &[&str], taken: impl Fn(&str) -> bool) -> String {
    use md5::{Digest, Md5};
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let joined = sorted.join("|");
    let hashed = |text: &str| -> String {
        let digest = Md5::digest(text.as_bytes());
        format!("s_{}", afd_base::hex::encode(&digest[..3]))
    };
    let mut code = hashed(&joined);
    // Such a chain of hashes may run into a cycle. From the 64th try on, a number breaks it.
    let mut tries = 0;
    while taken(&code) {
        tries += 1;
        code = if tries < 64 { hashed(&format!("{joined}{code}")) } else { hashed(&format!("{joined}{code}{tries}")) };
    }
    code
}

/// Sets of numbers, with an index that finds the set most similar to a given one. Only sets that share an item are
/// compared.
#[derive(Debug, Clone, Default)]
struct Sets {
    sizes: Vec<u32>,
    owners: Vec<i64>,
    titles: Vec<Option<String>>,
    places: HashMap<String, HashMap<u64, Vec<u32>>>,
}

/// The set that is most similar to a given one.
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

    /// Returns how many items each set of a place has in common with a given set; `None` if no set has that place.
    fn common(&self, place: &str, set: &[u64]) -> Option<Vec<u32>> {
        let lists = self.places.get(place)?;
        let mut common = vec![0u32; self.sizes.len()];
        for index in set.iter().filter_map(|item| lists.get(item)).flatten() {
            common[*index as usize] += 1;
        }
        Some(common)
    }

    /// Returns the owners of the sets of a place that are similar enough to a given one ([`matches`]).
    fn alike(&self, place: &str, set: &[u64]) -> impl Iterator<Item = i64> {
        let common = self.common(place, set).unwrap_or_default().into_iter().enumerate();
        let is_alike = move |(i, shared): &(usize, u32)| {
            let shared = *shared as usize;
            shared > 0 && matches(shared, set.len() + self.sizes[*i] as usize - shared)
        };
        common.filter(is_alike).map(|(i, _)| self.owners[i])
    }

    /// Returns the set with the highest Jaccard index among those that satisfy `passes` and do not have another title.
    /// Of equally similar sets, returns the first. If there is none, but enough sets with other titles satisfy `passes`
    /// ([`CONTENT_TITLES_MIN`]), returns the best of those.
    fn nearest(
        &self,
        place: &str,
        title: Option<&str>,
        set: &[u64],
        passes: impl Fn(usize, usize) -> bool,
    ) -> Option<Nearest> {
        let common = self.common(place, set)?;
        let agree = |i: usize| match (title, self.titles[i].as_deref()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let mut best: Option<Nearest> = None;
        let mut other_titles = 0;
        let mut other_title: Option<Nearest> = None;
        for (i, shared) in common.iter().enumerate().filter(|(_, shared)| **shared > 0) {
            let (shared, union) = (*shared as usize, set.len() + self.sizes[i] as usize - *shared as usize);
            if !passes(shared, union) {
                continue;
            }
            let agrees = agree(i);
            other_titles += usize::from(!agrees);
            let nearest = if agrees { &mut best } else { &mut other_title };
            if nearest.as_ref().is_none_or(|b| shared * b.union > b.common * union) {
                *nearest = Some(Nearest { owner: self.owners[i], common: shared, union });
            }
        }
        best.or_else(|| other_title.filter(|_| other_titles >= CONTENT_TITLES_MIN))
    }
}

/// A structure that was assigned to a state.
#[derive(Debug, Clone)]
struct Variant {
    state: i64,
    seen: u64,
    /// Whether the structure stays with this state, even if another state is more similar.
    pinned: bool,
}

/// A capture of a page with few resource ids that serves as an example of a state.
#[derive(Debug, Clone)]
struct Example {
    state: i64,
    hashes: Vec<u64>,
}

/// Maximum number of examples per state.
const MAX_EXAMPLES: usize = 8;

/// The known states of a scope.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// Examples of pages with few resource ids, by place.
    examples: HashMap<String, Vec<Example>>,
    variants: HashMap<String, Variant>,
    pages: Sets,
    detected: Sets,
    states: HashMap<i64, StateInfo>,
    components: HashMap<String, i64>,
}

#[derive(Debug, Clone, Default)]
struct StateInfo {
    /// Key of the structure that names the state.
    named_by: Option<String>,
    /// Code of the state, `s_` and six hexadecimal digits; `None` until the state is defined.
    code: Option<String>,
    visits: u64,
}

/// A change made by a lesson.
#[derive(Debug, Clone)]
pub enum Change {
    /// A structure was assigned to a state.
    Seen {
        /// The structure that was assigned.
        structure: Structure,
        /// Row id of the state.
        state: i64,
        /// Whether the structure names the state.
        names: bool,
        /// Whether the structure stays with this state, even if another state is more similar, because the page was
        /// only scrolled.
        pinned: bool,
        /// Whether the structure's evidence is kept as an example of the state.
        example: bool,
    },
    /// A state was defined.
    Code {
        /// Row id of the state.
        state: i64,
        /// Code of the state.
        code: String,
    },
    /// A state was defined by a set of components.
    Set {
        /// Row id of the state.
        state: i64,
        /// Row ids of the components in the set.
        components: Vec<u64>,
    },
    /// A component was created.
    Component {
        /// Key of the component.
        key: String,
        /// Row id of the component.
        id: i64,
    },
}

/// A decision on the state to which a structure belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The structure already belonged to this state.
    Is(i64),
    /// The structure joins this state, because it is similar.
    Joins(i64),
    /// The structure is a further example of this state.
    Extends(i64),
    /// The structure belongs to a new state.
    New,
}

impl Identity {
    /// Applies a change made by a lesson.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Seen { structure, state, names, pinned, example } => {
                self.note(structure, *state, *names, *pinned);
                if *example {
                    self.add_example(*state, &structure.place, &structure.evidence);
                }
            }
            Change::Code { state, code } => self.set_code(*state, code),
            Change::Set { state, components } => self.add_set(*state, components),
            Change::Component { key, id } => self.add_component(key, *id),
        }
    }

    /// Returns a copy with only the data that page recognition needs.
    pub fn of_pages(&self) -> Self {
        Self {
            variants: self.variants.clone(),
            pages: self.pages.clone(),
            states: self.states.clone(),
            examples: self.examples.clone(),
            ..Self::default()
        }
    }

    /// Returns the row id of the state to which a structure belongs, without learning anything.
    pub fn recognise(&self, structure: &Structure) -> Option<i64> {
        match self.variants.get(&structure.key()) {
            Some(variant) => Some(variant.state),
            None if !structure.evidence.is_empty() => match self.decide_by_evidence(structure) {
                Verdict::Is(state) | Verdict::Joins(state) | Verdict::Extends(state) => Some(state),
                Verdict::New => None,
            },
            None => self.near(structure).map(|n| n.owner),
        }
    }

    /// Adds an example of a state. Ignores the example if it has no evidence, or if the state has [`MAX_EXAMPLES`]
    /// examples.
    pub fn add_example(&mut self, state: i64, place: &str, hashes: &[u64]) {
        let examples = self.examples.entry(place.to_owned()).or_default();
        if !hashes.is_empty() && examples.iter().filter(|e| e.state == state).count() < MAX_EXAMPLES {
            examples.push(Example { state, hashes: hashes.to_vec() });
        }
    }

    /// Decides which state a page with few resource ids belongs to, by the page's evidence.
    fn decide_by_evidence(&self, structure: &Structure) -> Verdict {
        let look = Look(&structure.evidence);
        let examples = self.examples.get(&structure.place).map(Vec::as_slice).unwrap_or_default();
        let best =
            examples.iter().map(|e| (likeness::same(look, Look(&e.hashes)), e)).filter(|(score, _)| *score > 0.0);
        if let Some((_, example)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let own = || examples.iter().filter(|e| e.state == example.state);
            let new = own().count() < MAX_EXAMPLES && own().all(|e| likeness::looks_different(look, Look(&e.hashes)));
            return if new { Verdict::Extends(example.state) } else { Verdict::Joins(example.state) };
        }
        match self.in_another_language(look, examples).or_else(|| self.id_from_before(structure)) {
            Some(state) => Verdict::Extends(state),
            None => Verdict::New,
        }
    }

    /// Returns the state of a page in a new language, if one state fits clearly better than all others.
    fn in_another_language(&self, look: Look<'_>, examples: &[Example]) -> Option<i64> {
        let mut states: HashMap<i64, f64> = HashMap::new();
        for example in examples {
            let score = match likeness::differ_in_language(look, Look(&example.hashes)) {
                true => likeness::same_places(look, Look(&example.hashes)),
                // The state is already known in this language, and looks different.
                false => f64::NEG_INFINITY,
            };
            let known = states.entry(example.state).or_insert(score);
            *known = if known.is_infinite() || score.is_infinite() { f64::NEG_INFINITY } else { known.max(score) };
        }
        let mut ranked: Vec<(i64, f64)> = states.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (state, score) = *ranked.first()?;
        let clear = ranked.get(1).is_none_or(|(_, next)| score - next >= likeness::MARGIN);
        (score >= likeness::SAME_PLACES && clear).then_some(state)
    }

    /// Returns the state to which a page belonged before evidence existed, unless the state has examples of another
    /// page.
    fn id_from_before(&self, structure: &Structure) -> Option<i64> {
        let state = self.variants.get(structure.earlier_key.as_ref()?)?.state;
        let taken = self.examples.values().flatten().any(|e| e.state == state);
        (!taken).then_some(state)
    }

    /// Returns whether exactly this structure was seen before.
    pub fn has_seen(&self, structure: &Structure) -> bool {
        self.variants.contains_key(&structure.key())
    }

    /// Returns the key of the structure that names a state. Screens that are recognised but not learned are recorded
    /// under this key.
    pub fn name_of(&self, state: i64) -> Option<&str> {
        self.states.get(&state)?.named_by.as_deref()
    }

    /// Returns the code of a state, once it is defined.
    pub fn code_of(&self, state: i64) -> Option<&str> {
        self.states.get(&state)?.code.as_deref()
    }

    /// Sets the code of a state.
    pub fn set_code(&mut self, state: i64, code: &str) {
        self.states.entry(state).or_default().code = Some(code.to_owned());
    }

    /// Returns the states in the same place whose pages look like this one, whatever their titles are: an update of the app
    /// may have renamed or translated one of them.
    pub fn alike(&self, structure: &Structure) -> BTreeSet<i64> {
        if structure.evidence.is_empty() {
            return self.pages.alike(&structure.place, &structure.features).collect();
        }
        let look = Look(&structure.evidence);
        let examples = self.examples.get(&structure.place).map(Vec::as_slice).unwrap_or_default();
        let is_alike = |example: &&Example| {
            let other = Look(&example.hashes);
            likeness::same(look, other) > 0.0
                || (likeness::differ_in_language(look, other)
                    && likeness::same_places(look, other) >= likeness::SAME_PLACES)
        };
        examples.iter().filter(is_alike).map(|example| example.state).collect()
    }

    /// Returns the most similar state with the same place.
    fn near(&self, s: &Structure) -> Option<Nearest> {
        let size = s.features.len();
        self.pages.nearest(&s.place, s.title.as_deref(), &s.features, |common, union| {
            matches(common, union) && size - common <= MAX_NEW_FEATURES
        })
    }

    /// Decides which state a structure belongs to, by the rules in the module documentation.
    pub fn decide(&self, structure: &Structure) -> Verdict {
        let key = structure.key();
        let known = self.variants.get(&key);
        if !structure.evidence.is_empty() {
            return known.map_or_else(|| self.decide_by_evidence(structure), |v| Verdict::Is(v.state));
        }
        if let Some(variant) = known
            && (variant.pinned || self.states.get(&variant.state).is_some_and(|s| s.named_by.as_deref() == Some(&key)))
        {
            return Verdict::Is(variant.state);
        }
        let Some(near) = self.near(structure) else { return known.map_or(Verdict::New, |v| Verdict::Is(v.state)) };
        let seen = 1 + known.map_or(0, |v| v.seen);
        let lacks_only = structure.features.len() == near.common;
        let visits = self.states.get(&near.owner).map_or(0, |s| s.visits);
        let returns = seen >= RETURNS_MIN && (!lacks_only || seen * RETURNS_SHARE >= visits);
        if returns { Verdict::New } else { Verdict::Joins(near.owner) }
    }

    /// Returns the state of the structure with this key.
    pub fn state_of(&self, key: &str) -> Option<i64> {
        self.variants.get(key).map(|v| v.state)
    }

    /// Counts a structure that was assigned to a state. `names` says whether it names the state, and `pinned` whether
    /// it stays with the state even if another state is more similar.
    pub fn note(&mut self, structure: &Structure, state: i64, names: bool, pinned: bool) {
        let key = structure.key();
        if names {
            self.pages.add(state, &structure.place, structure.title.as_deref(), &structure.features);
            self.states.entry(state).or_default().named_by = Some(key.clone());
        }
        let variant = self.variants.entry(key).or_insert(Variant { state, seen: 0, pinned });
        variant.pinned |= pinned;
        variant.state = state;
        variant.seen += 1;
        self.states.entry(state).or_default().visits += 1;
    }

    /// Adds a structure from the database. If the structure names the state, `named` is its place, title and features.
    pub fn add_variant(
        &mut self,
        key: &str,
        state: i64,
        (seen, pinned): (u64, bool),
        named: Option<(&str, Option<&str>, &[u64])>,
    ) {
        if let Some((place, title, features)) = named {
            self.pages.add(state, place, title, features);
            self.states.entry(state).or_default().named_by = Some(key.to_owned());
        }
        self.variants.insert(key.to_owned(), Variant { state, seen, pinned });
    }

    /// Sets the number of visits to a state.
    pub fn set_visits(&mut self, state: i64, visits: u64) {
        self.states.entry(state).or_default().visits = visits;
    }

    /// Adds a state that is defined by a set of components.
    pub fn add_set(&mut self, state: i64, components: &[u64]) {
        self.detected.add(state, "", None, components);
    }

    /// Returns the row id of a component by its key.
    pub fn component(&self, key: &str) -> Option<i64> {
        self.components.get(key).copied()
    }

    /// Adds a component's key and row id.
    pub fn add_component(&mut self, key: &str, id: i64) {
        self.components.insert(key.to_owned(), id);
    }

    /// Returns the state with the most similar set of components, if it is similar enough.
    pub fn by_components(&self, components: &[u64]) -> Option<i64> {
        self.detected.nearest("", None, components, matches).map(|n| n.owner)
    }
}
