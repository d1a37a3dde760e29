//! Where vectors are searched: in the index of this process, or in one outside that others may share.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::entries::Filtered;
use super::index::Index;
use super::search::{QueryVector, Scope};
use crate::store::Result;

/// An index of vectors.
pub trait VectorIndex {
    /// Returns what an entry is filtered and ranked by.
    fn get(&self, entry: i64) -> Option<&Filtered>;

    /// Returns up to `count` entries that may be found and whose vectors are nearest to that of a query, with the cosine of the angle,
    /// nearest first.
    ///
    /// # Errors
    /// If vectors cannot be read.
    fn nearest(&self, connection: &Connection, query: &QueryVector, count: usize, scope: &Scope) -> Result<Vec<(i64, f64)>>;
}

impl VectorIndex for Index {
    fn get(&self, entry: i64) -> Option<&Filtered> {
        Index::get(self, entry)
    }

    fn nearest(&self, connection: &Connection, query: &QueryVector, count: usize, scope: &Scope) -> Result<Vec<(i64, f64)>> {
        match &scope.only {
            Some(only) => self.among(connection, query.model, &query.vector, only.iter().copied(), |f| scope.allows(f)),
            None => Index::nearest(self, connection, query.model, &query.vector, count, |f| scope.allows(f)),
        }
    }
}

/// An entry of another store.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// What it is filtered and ranked by.
    pub found_by: Filtered,
    /// Cosine of the angle between its vector and that of the query.
    pub cosine: f64,
}

/// What an index outside answered to one query, beside the index of this process.
///
/// That knows what has changed since, and what is private, which never leaves this machine; and it has exact vectors. So both find the same.
pub struct Answered<'a> {
    /// Index of this process.
    pub index: &'a Index,
    /// Row id of the model whose vectors were searched.
    pub model: i64,
    /// Entries of this store that were found.
    pub own: Vec<i64>,
    /// Entries of other stores, by numbers below zero.
    pub foreign: &'a HashMap<i64, Foreign>,
    /// Entries whose changes have not been sent yet; `None` if there are too many of them.
    pub behind: Option<Vec<i64>>,
}

impl VectorIndex for Answered<'_> {
    fn get(&self, entry: i64) -> Option<&Filtered> {
        if entry < 0 { self.foreign.get(&entry).map(|foreign| &foreign.found_by) } else { self.index.get(entry) }
    }

    fn nearest(&self, connection: &Connection, query: &QueryVector, count: usize, scope: &Scope) -> Result<Vec<(i64, f64)>> {
        let Some(behind) = self.behind.as_ref().filter(|_| query.model == self.model) else {
            let mut near = VectorIndex::nearest(self.index, connection, query, count, scope)?;
            if query.model == self.model {
                self.add_foreign(&mut near, scope);
                near.truncate(count);
            }
            return Ok(near);
        };
        let found: HashSet<i64> = self.own.iter().chain(behind).copied().collect();
        let found = found.into_iter().filter(|id| scope.only.as_ref().is_none_or(|only| only.contains(id)));
        let mut near = self.index.among(connection, query.model, &query.vector, found, |f| !f.private && scope.allows(f))?;
        near.extend(match &scope.only {
            Some(only) => {
                self.index.among(connection, query.model, &query.vector, only.iter().copied(), |f| f.private && scope.allows(f))?
            }
            None => self.index.nearest(connection, query.model, &query.vector, count, |f| f.private && scope.allows(f))?,
        });
        self.add_foreign(&mut near, scope);
        near.truncate(count);
        Ok(near)
    }
}

impl Answered<'_> {
    fn add_foreign(&self, near: &mut Vec<(i64, f64)>, scope: &Scope) {
        near.extend(self.foreign.iter().filter(|(_, f)| scope.allows(&f.found_by)).map(|(id, f)| (*id, f.cosine)));
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    }
}
