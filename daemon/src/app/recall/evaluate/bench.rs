//! An in-memory database with the entries of an evaluation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use afd_proto::conversation::{Content, Message, Role};
use afd_proto::pattern::PatternScope;
use afd_proto::recall::{EntryType, SearchMode, StoredType};

use super::sets::{Entry, Query, Set};
use crate::app::recall::search::Embedded;
use crate::app::recall::{Recall, indexer};
use crate::app::{Error, Result};
use afd_base::model::Counter;
use afd_base::model::embed::Embedder;
use afd_base::task::run_blocking;
use afd_conversation::kept::TermCounts;
use afd_conversation::prepared::Prepared;
use afd_conversation::{self as conversation, messages};
use afd_recall::baseline::Texts;
use afd_recall::search::{self, Ask, Ranked, Scope};
use afd_recall::text_index::Effort;
use afd_recall::{Turn, entries, filtered, memories, vectors};
use afd_store::{self as store, Connection, Piece, Reader, Result as Stored, now_ms};
use afd_workspace as session;

/// Number of texts that are embedded at a time.
const BATCH: usize = 32;
/// Number of results per query that are evaluated.
pub const DEPTH: usize = 25;
/// Identity of the store.
const ORIGIN: &str = "evaluation";

/// Where the entries of a set are.
#[derive(Debug, Default)]
struct Place {
    /// Row ids of the session and the conversation, if the set is a conversation.
    thread: Option<(i64, i64)>,
    /// Row ids of the entries, by their ids in the file.
    rows: HashMap<String, i64>,
}

/// An in-memory database with the entries of all sets.
pub struct Bench {
    connection: Connection,
    recall: Recall,
    places: HashMap<String, Place>,
    texts: HashMap<i64, String>,
    baselines: Texts,
}

impl Bench {
    pub fn new(sets: &[Set]) -> Stored<Self> {
        let connection = store::in_memory()?;
        let (recall, mut places) = (Recall::default(), HashMap::new());
        let mut texts = HashMap::new();
        for set in sets {
            let place = if set.is_conversation { said(&connection, &recall, set)? } else { stored(&connection, set)? };
            for entry in &set.entries {
                let between = if set.is_conversation { ": " } else { "\n" };
                let text = format!("{}{between}{}", entry.title.as_deref().unwrap_or_default(), entry.text);
                texts.extend(place.rows.get(&entry.id).map(|row| (*row, text.trim().to_owned())));
            }
            places.insert(set.name.clone(), place);
        }
        let baselines = Texts::new(texts.clone())?;
        Ok(Self { connection, recall, places, texts, baselines })
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the row ids of the entries that a query of a set should find.
    pub fn expected(&self, set: &str, query: &Query) -> Vec<i64> {
        let rows = self.places.get(set).map(|place| &place.rows);
        query.expected.iter().filter_map(|id| rows?.get(id).copied()).collect()
    }

    /// Returns the entries that a query finds, best first, and whether the best one is a strong match.
    pub fn search(&self, set: &str, query: &Query, embedded: &Embedded, way: &str) -> Stored<(Vec<i64>, bool)> {
        let place = self.places.get(set);
        let thread = place.and_then(|place| place.thread);
        let mode = match way {
            "text" => SearchMode::Text,
            "vector" => SearchMode::Vector,
            "hybrid" => SearchMode::Hybrid,
            baseline => {
                let among: HashSet<i64> = match place.filter(|place| place.thread.is_some()) {
                    Some(place) => place.rows.values().copied().collect(),
                    None => self.texts.keys().copied().collect(),
                };
                let found = match baseline {
                    "like" => self.baselines.like(&query.query, &among, DEPTH),
                    "bm25" => self.baselines.bm25(&query.query, &among, DEPTH),
                    _ => self.baselines.fts5(&query.query, &among, DEPTH)?,
                };
                return Ok((found, true));
            }
        };
        self.recall.with_index(&self.connection, embedded.identity(), |index, builtin, other| {
            let mut vectors = embedded.lists(builtin, other);
            if mode == SearchMode::Vector {
                vectors.truncate(1);
            }
            let ask = Ask {
                text: query.query.clone(),
                vectors,
                fluency: embedded.fluency(),
                knows_script: embedded.knows_script(),
                mode,
                scope: Scope {
                    now: now_ms(),
                    app: query.app.as_deref().map(filtered::name_hash),
                    reader: Reader::of(thread.map(|(session, _)| session)),
                    thread: thread.map(|(_, thread)| thread),
                    types: thread.map(|_| EntryType::Message).into_iter().collect(),
                    ..Scope::default()
                },
                effort: Effort::SEARCH,
                half_life_days: 180.0,
                limit: DEPTH,
                fold: false,
            };
            let ranked = search::run(&self.connection, index, index.corpus(), &ask)?;
            let strong = ranked.first().is_some_and(|best: &Ranked| !best.is_weak);
            Ok((ranked.into_iter().map(|hit| hit.entry).collect(), strong))
        })
    }

    /// Computes the vectors of the configured model for all entries.
    pub async fn embed(self, model: &Arc<dyn Embedder>) -> Result<Self> {
        let texts: Vec<(i64, String)> = self.texts.iter().map(|(id, text)| (*id, text.clone())).collect();
        let mut made = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let vectors = model.embed(batch.iter().map(|(_, text)| text.clone()).collect()).await;
            let vectors = vectors.map_err(|e| Error::param("directory", "entries that the model can embed", e))?;
            made.extend(batch.iter().map(|(id, _)| *id).zip(vectors));
        }
        let identity = model.identity().to_owned();
        let put = move || -> Stored<Self> {
            for (entry, vector) in &made {
                let row = vectors::model(&self.connection, &identity, vector.len() as i64)?;
                vectors::put(&self.connection, row.id, *entry, 0, vector)?;
                entries::announce(&self.connection, *entry)?;
            }
            Ok(self)
        };
        Ok(run_blocking(put).await??)
    }
}

fn derive(connection: &Connection) -> Stored<()> {
    while indexer::some(connection, 100, &Piece::whole())? > 0 {}
    Ok(())
}

/// Stores the entries of a set as memories.
fn stored(connection: &Connection, set: &Set) -> Stored<Place> {
    let session = session::row_id(connection, ORIGIN, ORIGIN)?;
    let mut place = Place::default();
    for entry in &set.entries {
        let (uid, _) = memories::store(connection, ORIGIN, &memory(set, entry, session))?;
        derive(connection)?;
        place.rows.extend(entries::find(connection, &uid)?.map(|source| (entry.id.clone(), source.id)));
    }
    Ok(place)
}

fn memory(set: &Set, entry: &Entry, session: i64) -> memories::Memory {
    let mut tags = entry.tags.clone();
    tags.extend((!entry.kind.is_empty()).then(|| entry.kind.clone()));
    memories::Memory {
        uid: String::new(),
        session,
        kind: StoredType::Fact,
        title: entry.title.clone(),
        text: entry.text.clone(),
        app: entry.app.clone().unwrap_or_default(),
        site: set.name.clone(),
        scope: PatternScope::Everybody,
        source: set.name.clone() + "/" + &entry.id,
        confidence: 0.7,
        tags,
        related: Vec::new(),
        expires_at: None,
        created_at: now_ms(),
    }
}

/// Records the entries of a set as the messages of a conversation.
fn said(connection: &Connection, recall: &Recall, set: &Set) -> Stored<Place> {
    let session = session::row_id(connection, ORIGIN, &set.name)?;
    let mut thread = conversation::of(connection, session)?;
    conversation::create(connection, ORIGIN, &mut thread)?;
    let first = set.entries.first().and_then(|entry| entry.title.clone());
    let (counter, mut seen) = (Counter::estimate(), TermCounts::default());
    for entry in &set.entries {
        let role = if entry.title == first { Role::User } else { Role::Assistant };
        let content = Content::Text(entry.text.clone());
        let message = Message { role, content, name: entry.title.clone(), ..Message::default() };
        let prepared = Prepared::of(message, None, &counter);
        messages::append(connection, ORIGIN, &mut thread, &prepared, &mut seen)?;
    }
    conversation::save(connection, ORIGIN, &thread)?;
    derive(connection)?;
    let rows = recall.with_index(connection, None, |index, _, _| {
        let at = |i: usize| index.at(Turn { thread: thread.id, position: i64::try_from(i + 1).unwrap_or(i64::MAX) });
        Ok(set.entries.iter().enumerate().filter_map(|(i, entry)| Some((entry.id.clone(), at(i)?))).collect())
    })?;
    Ok(Place { thread: Some((session, thread.id)), rows })
}
