//! Lists: which rows are wanted, and the page of them.

use rusqlite::ToSql;
use rusqlite::types::Value;

/// The conditions of a query, each with the name of its value.
#[derive(Debug, Clone)]
pub struct Conditions {
    sql: String,
    values: Vec<(&'static str, Value)>,
}

impl Conditions {
    /// What always holds.
    pub fn new(always: &str) -> Self {
        Self { sql: always.to_owned(), values: Vec::new() }
    }

    /// One more condition, if there is a value for it.
    #[must_use]
    pub fn given<V: Into<Value>>(mut self, condition: &str, name: &'static str, value: Option<V>) -> Self {
        if let Some(value) = value {
            self.sql.push_str(" AND ");
            self.sql.push_str(condition);
            self.values.push((name, value.into()));
        }
        self
    }

    /// A value that stands elsewhere in the query.
    #[must_use]
    pub fn value(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// The conditions, as they stand behind `WHERE`.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The values by name.
    pub fn values(&self) -> Vec<(&'static str, &dyn ToSql)> {
        self.values.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
    }
}

/// A page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// What the page before answered; none for the first.
    pub cursor: Option<i64>,
    /// At most this many rows.
    pub limit: usize,
}

impl Default for Page {
    /// Everything.
    fn default() -> Self {
        Self { cursor: None, limit: usize::MAX }
    }
}

impl Page {
    /// The first rows.
    pub fn first(limit: usize) -> Self {
        Self { cursor: None, limit }
    }

    /// How many rows are to be read: one more tells whether there is a next page.
    pub fn reads(self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX).saturating_add(1)
    }

    /// Keeps the rows of the page. Returns the cursor of the next one: that of its last row, or nothing on the last page.
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
    fn only_a_page_that_is_followed_has_a_cursor() {
        let page = Page { cursor: None, limit: 2 };
        let mut rows = vec![9, 7, 5];
        assert_eq!((page.reads(), page.cut(&mut rows, |n| *n), rows), (3, Some(7), vec![9, 7]));
        let mut last = vec![5, 3];
        assert_eq!((page.cut(&mut last, |n| *n), last), (None, vec![5, 3]));
        assert_eq!(Page::default().cut(&mut Vec::<i64>::new(), |n| *n), None);
    }

    #[test]
    fn conditions_without_a_value_are_left_out() {
        let conditions = Conditions::new("1").given("a = :a", ":a", Some(1)).given("b = :b", ":b", None::<i64>).value(":c", 3);
        assert_eq!(conditions.sql(), "1 AND a = :a");
        assert_eq!(conditions.values().iter().map(|(name, _)| *name).collect::<Vec<_>>(), [":a", ":c"]);
    }
}
