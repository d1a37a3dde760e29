//! Building blocks for queries that return lists: optional conditions and pagination.

use rusqlite::ToSql;
use rusqlite::types::Value;

/// The conditions in a query's `WHERE` clause, with the values of their named parameters.
#[derive(Debug, Clone)]
pub struct Conditions {
    sql: String,
    values: Vec<(&'static str, Value)>,
}

impl Conditions {
    /// Creates the conditions for a query, starting with one that always applies.
    pub fn new(always: &str) -> Self {
        Self { sql: always.to_owned(), values: Vec::new() }
    }

    /// Adds a condition if there is a value for its named parameter.
    #[must_use]
    pub fn given<V: Into<Value>>(mut self, condition: &str, name: &'static str, value: Option<V>) -> Self {
        if let Some(value) = value {
            self.values.push((name, value.into()));
            self = self.and(condition);
        }
        self
    }

    /// Restricts the rows to those that a reader may see. `table` is the name or alias of a table in the query that has
    /// the columns `scope` and `session_id`.
    #[must_use]
    pub fn told(self, table: &str, reader: Reader) -> Self {
        match reader {
            Reader::Keeper => self,
            Reader::Nobody => self.and(&format!("{table}.scope <> 'session'")),
            Reader::Session(id) => self.given(
                &format!("({table}.scope <> 'session' OR {table}.session_id = :reader)"),
                ":reader",
                Some(id),
            ),
        }
    }

    fn and(mut self, condition: &str) -> Self {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self
    }

    /// Binds a named parameter that is used elsewhere in the query.
    #[must_use]
    pub fn value(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// Returns the conditions as SQL, for use after `WHERE`.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the named parameters and their values.
    pub fn values(&self) -> Vec<(&'static str, &dyn ToSql)> {
        self.values.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
    }
}

/// Who reads records. Some records are private to a session, so that other readers do not see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reader {
    /// A reader outside of any session.
    #[default]
    Nobody,
    /// The session with this row id.
    Session(i64),
    /// A reader that maintains the memory and may see all records.
    Keeper,
}

impl Reader {
    /// Returns the reader for a session, or for no session.
    pub fn of(session: Option<i64>) -> Self {
        session.map_or(Self::Nobody, Self::Session)
    }
}

/// Which page of a list to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Cursor that the previous page returned; `None` for the first page.
    pub cursor: Option<i64>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Default for Page {
    /// Selects all rows as a single page.
    fn default() -> Self {
        Self { cursor: None, limit: usize::MAX }
    }
}

impl Page {
    /// Selects the first page, with at most `limit` rows.
    pub fn first(limit: usize) -> Self {
        Self { cursor: None, limit }
    }

    /// Returns the number of rows to read, which is one more than the limit to find out whether there is a next page.
    pub fn reads(self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX).saturating_add(1)
    }

    /// Drops the rows beyond the limit. Returns the cursor for the next page, which is the cursor of the last row that
    /// was kept; `None` if this is the last page.
    pub fn cut<T>(self, rows: &mut Vec<T>, cursor: impl FnOnce(&T) -> i64) -> Option<i64> {
        let more = rows.len() > self.limit;
        rows.truncate(self.limit);
        rows.last().filter(|_| more).map(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_page_has_no_cursor() {
        let page = Page { cursor: None, limit: 2 };
        let mut rows = vec![9, 7, 5];
        assert_eq!((page.reads(), page.cut(&mut rows, |n| *n), rows), (3, Some(7), vec![9, 7]));
        let mut last = vec![5, 3];
        assert_eq!((page.cut(&mut last, |n| *n), last), (None, vec![5, 3]));
        assert_eq!(Page::default().cut(&mut Vec::<i64>::new(), |n| *n), None);
    }

    #[test]
    fn a_reader_is_told_what_is_for_all_and_its_own() {
        let told = |reader| Conditions::new("1").told("t", reader).sql().to_owned();
        assert_eq!(told(Reader::Keeper), "1");
        assert_eq!(told(Reader::of(None)), "1 AND t.scope <> 'session'");
        assert_eq!(told(Reader::of(Some(3))), "1 AND (t.scope <> 'session' OR t.session_id = :reader)");
    }

    #[test]
    fn conditions_without_a_value_are_omitted() {
        let conditions =
            Conditions::new("1").given("a = :a", ":a", Some(1)).given("b = :b", ":b", None::<i64>).value(":c", 3);
        assert_eq!(conditions.sql(), "1 AND a = :a");
        assert_eq!(conditions.values().iter().map(|(name, _)| *name).collect::<Vec<_>>(), [":a", ":c"]);
    }
}
