//! What the visual memory knows of an app, for telling how much of it was covered.

use rusqlite::{Connection, named_params};

use crate::store::Result;

/// A page that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Row of its state.
    pub id: i64,
    /// Code of its state.
    pub code: String,
    /// What it is called.
    pub name: String,
}

/// The pages of an app and of its sites that have a code, in the order in which they were learned.
///
/// # Errors
/// What SQLite says.
pub fn pages(connection: &Connection, app: &str) -> Result<Vec<Page>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.id, s.code, coalesce(s.name, s.title, s.code) AS called FROM states s JOIN apps a ON a.id = s.app_id
         WHERE a.app = :app AND a.deleted_at IS NULL AND s.deleted_at IS NULL AND s.code IS NOT NULL AND s.kind = 'page' ORDER BY s.id",
    )?;
    let found = statement
        .query_map(named_params! {":app": app}, |row| Ok(Page { id: row.get("id")?, code: row.get("code")?, name: row.get("called")? }))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// A component that can be tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Uid of its component.
    pub uid: String,
    /// What makes it the same component.
    pub key: String,
    /// Name.
    pub name: String,
    /// What it says.
    pub label: Option<String>,
    /// Resource id.
    pub res_id: Option<String>,
}

/// The components of an app and of its sites that do something: mere texts and containers are nothing to test.
///
/// # Errors
/// What SQLite says.
pub fn elements(connection: &Connection, app: &str) -> Result<Vec<Element>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.uid, c.key, c.name, c.label, c.res_id FROM components c JOIN apps a ON a.id = c.app_id
         WHERE a.app = :app AND a.deleted_at IS NULL AND c.deleted_at IS NULL AND c.kind NOT IN ('text', 'list', 'container', 'view')
         ORDER BY c.id",
    )?;
    let found = statement.query_map(named_params! {":app": app}, |row| {
        Ok(Element {
            uid: row.get("uid")?,
            key: row.get("key")?,
            name: row.get("name")?,
            label: row.get("label")?,
            res_id: row.get("res_id")?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

impl Element {
    /// Whether it is meant by a name, a resource id or the end of one, or a label.
    pub fn is_called(&self, given: &str) -> bool {
        let folded = given.to_lowercase();
        let same = |text: Option<&str>| text.is_some_and(|t| t.to_lowercase() == folded);
        let short = self.res_id.as_deref().and_then(|id| id.rsplit('/').next());
        self.uid == given || same(Some(&self.name)) || same(self.res_id.as_deref()) || same(short) || same(self.label.as_deref())
    }
}
