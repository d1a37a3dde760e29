//! Building blocks of list queries: optional conditions and pagination.

use rusqlite::ToSql;
use rusqlite::types::Value;

/// The conditions of a query, with their named values.
#[derive(Debug, Clone)]
pub struct Conditions {
    sql: String,
    values: Vec<(&'static str, Value)>,
}

impl Conditions {
    /// Starts with a condition that always applies.
    pub fn new(always: &str) -> Self {
        Self { sql: always.to_owned(), values: Vec::new() }
    }

    /// Adds a condition if there is a value for it.
    #[must_use]
    pub fn given<V: Into<Value>>(mut self, condition: &str, name: &'static str, value: Option<V>) -> Self {
        if let Some(value) = value {
            self.values.push((name, value.into()));
            self = self.and(condition);
        }
        self
    }

    /// Restricts the rows to those that a reader may see. `table` is the name, in the query, of a table with the
    /// columns `scope` and `session_id`.
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

    /// Binds a value that is used elsewhere in the query.
    #[must_use]
    pub fn value(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// Returns the conditions as SQL, to follow `WHERE`.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the values with their names.
    pub fn values(&self) -> Vec<(&'static str, &dyn ToSql)> {
        self.values.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
    }
}

/// The reader of records, some of which are private to a session.
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

/// One page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Cursor that the previous page returned; `None` for the first page.
    pub cursor: Option<i64>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Default for Page {
    /// Returns a page with all rows.
    fn default() -> Self {
        Self { cursor: None, limit: usize::MAX }
    }
}

impl Page {
    /// Returns the first page.
    pub fn first(limit: usize) -> Self {
        Self { cursor: None, limit }
    }

    /// Returns the number of rows to read: one more than the limit, which shows whether there is a next page.
    pub fn reads(self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX).saturating_add(1)
    }

    /// Drops the rows beyond the limit. Returns the cursor of the next page, which is that of the last row kept; `None`
    /// on the last page.
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
