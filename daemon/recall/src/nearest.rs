//! Where vectors are searched: in the index of this process, or in one outside that others may share.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::entries::Filtered;
use super::index::Index;
use super::scope::{QueryVector, Scope};
use super::terms::Terms;
use afd_store::Result;

/// An index of vectors.
pub trait VectorIndex {
    /// Returns what an entry is filtered and ranked by.
    fn get(&self, entry: i64) -> Option<&Filtered>;

    /// Returns entries of other stores that may be found, with the terms of their texts.
    fn foreign(&self, _: &Scope) -> Vec<(i64, &Terms)> {
        Vec::new()
    }

    /// Returns up to `count` entries that may be found and whose vectors are nearest to that of a query, with the
    /// cosine of the angle, nearest first.
    ///
    /// # Errors
    /// If vectors cannot be read.
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

    fn nearest(
        &self,
        connection: &Connection,
        query: &QueryVector,
        count: usize,
        scope: &Scope,
    ) -> Result<Vec<(i64, f64)>> {
        match &scope.only {
            Some(only) => self.among(connection, query.model, &query.vector, only.iter().copied(), |f| scope.allows(f)),
            None => Index::nearest(self, connection, query.model, &query.vector, count, |f| scope.allows(f)),
        }
    }
}

/// An entry of another store.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// Terms of its text.
    pub terms: Terms,
    /// What it is filtered and ranked by.
    pub found_by: Filtered,
    /// Cosine of the angle between its vector and that of the query.
    pub cosine: f64,
}

/// What an index outside answered to one query, beside the index of this process.
///
/// That one has all entries of this store, also those that are private or were not sent yet, and exact vectors; so what
/// is found of one's own does not depend on what others have put there, nor on whether the index outside has lost
/// something.
pub struct Answered<'a> {
    /// Index of this process.
    pub index: &'a Index,
    /// Row id of the model whose vectors were searched.
    pub model: i64,
    /// Entries of this store that were found.
    pub own: Vec<i64>,
    /// Entries of other stores, by numbers below zero.
    pub foreign: &'a HashMap<i64, Foreign>,
}

impl VectorIndex for Answered<'_> {
    fn get(&self, entry: i64) -> Option<&Filtered> {
        if entry < 0 { self.foreign.get(&entry).map(|foreign| &foreign.found_by) } else { self.index.get(entry) }
    }

    fn foreign(&self, scope: &Scope) -> Vec<(i64, &Terms)> {
        self.foreign.iter().filter(|(_, f)| scope.allows(&f.found_by)).map(|(id, f)| (*id, &f.terms)).collect()
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
        // However many others have put there, they do not displace one's own.
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
