//! Nearest-neighbour search: in the in-memory index alone, or also in an external index that several stores may share.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::Turn;
use super::filtered::Filtered;
use super::index::Index;
use super::scope::{QueryVector, Scope};
use afd_store::Result;

/// An index that finds the entries with the nearest vectors.
pub trait VectorIndex {
    /// Returns the fields by which an entry is filtered and ranked.
    fn get(&self, entry: i64) -> Option<&Filtered>;

    /// Returns the entries from other stores that the scope allows, each with the tokens of its text.
    fn foreign(&self, _: &Scope) -> Vec<(i64, &str)> {
        Vec::new()
    }

    /// Returns the message at a place in a conversation.
    fn at(&self, turn: Turn) -> Option<i64>;

    /// Returns the cosine of the angle between the query vector and that of an entry of this store, estimated from its
    /// sketch; `None` if it has none.
    fn estimate(&self, query: &QueryVector, entry: i64) -> Option<f64>;

    /// Returns the entries that the scope allows and whose vectors are nearest to the query vector, with the cosine of
    /// the angle, nearest first. Returns up to `count` entries, or up to half as many again if entries from other
    /// stores are included.
    ///
    /// # Errors
    /// If a vector cannot be read.
    fn nearest(
        &self,
        connection: &Connection,
        query: &QueryVector,
        count: usize,
        scope: &Scope,
    ) -> Result<Vec<(i64, f64)>>;
}

impl VectorIndex for Index {
    fn get(&self, entry: i64) -> Option<&Filtered> {
        Index::get(self, entry)
    }

    fn at(&self, turn: Turn) -> Option<i64> {
        Index::at(self, turn)
    }

    fn estimate(&self, query: &QueryVector, entry: i64) -> Option<f64> {
        Index::estimate(self, query.model, &query.vector, entry)
    }

    fn nearest(
        &self,
        connection: &Connection,
        query: &QueryVector,
        count: usize,
        scope: &Scope,
    ) -> Result<Vec<(i64, f64)>> {
        match &scope.only {
            Some(only) => {
                Index::among(self, connection, query.model, &query.vector, only.iter().copied(), |f| scope.allows(f))
            }
            None => Index::nearest(self, connection, query.model, &query.vector, count, scope, |_| true),
        }
    }
}

/// An entry from another store.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// Tokens of its text.
    pub tokens: String,
    /// Fields by which it is filtered and ranked.
    pub found_by: Filtered,
    /// Cosine of the angle between its vector and the query vector.
    pub cosine: f64,
}

/// The response of an external index to one query, combined with the in-memory index.
///
/// The in-memory index has all entries of this store, including private and unsent ones, and exact vectors. Results
/// from this store therefore depend neither on entries that other stores have uploaded nor on entries that the external
/// index has lost.
pub struct Answered<'a> {
    /// The in-memory index.
    pub index: &'a Index,
    /// Row id of the model whose vectors were searched.
    pub model: i64,
    /// Row ids of the entries of this store that the external index found.
    pub own: Vec<i64>,
    /// Entries from other stores, keyed by negative ids.
    pub foreign: &'a HashMap<i64, Foreign>,
}

impl VectorIndex for Answered<'_> {
    fn get(&self, entry: i64) -> Option<&Filtered> {
        if entry < 0 { self.foreign.get(&entry).map(|foreign| &foreign.found_by) } else { self.index.get(entry) }
    }

    fn at(&self, turn: Turn) -> Option<i64> {
        self.index.at(turn)
    }

    fn estimate(&self, query: &QueryVector, entry: i64) -> Option<f64> {
        VectorIndex::estimate(self.index, query, entry)
    }

    fn foreign(&self, scope: &Scope) -> Vec<(i64, &str)> {
        self.foreign.iter().filter(|(_, f)| scope.allows(&f.found_by)).map(|(id, f)| (*id, f.tokens.as_str())).collect()
    }

    fn nearest(
        &self,
        connection: &Connection,
        query: &QueryVector,
        count: usize,
        scope: &Scope,
    ) -> Result<Vec<(i64, f64)>> {
        let mut near = VectorIndex::nearest(self.index, connection, query, count, scope)?;
        if query.model != self.model {
            return Ok(near);
        }
        let here: HashSet<i64> = near.iter().map(|(id, _)| *id).collect();
        let more = self
            .own
            .iter()
            .copied()
            .filter(|id| !here.contains(id) && scope.only.as_ref().is_none_or(|only| only.contains(id)));
        near.extend(self.index.among(connection, query.model, &query.vector, more, |f| scope.allows(f))?);
        let mut foreign: Vec<(i64, f64)> =
            self.foreign.iter().filter(|(_, f)| scope.allows(&f.found_by)).map(|(id, f)| (*id, f.cosine)).collect();
        nearest_first(&mut foreign);
        // Entries from other stores do not displace this store's entries, however many there are.
        foreign.truncate(count.div_ceil(2));
        near.extend(foreign);
        nearest_first(&mut near);
        near.truncate(count + count.div_ceil(2));
        Ok(near)
    }
}

fn nearest_first(found: &mut [(i64, f64)]) {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
}
