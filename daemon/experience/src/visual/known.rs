//! An app's known pages and elements, from which test coverage is computed.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args, read};

/// A known page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Row id of the page's state.
    pub id: i64,
    /// Code of the page's state.
    pub code: String,
    /// Name of its state, or else the title, or else the code.
    pub name: String,
}

/// Returns the defined pages of an app and of its sites, in the order in which they were learned.
pub fn pages(connection: &Connection, app: &str) -> Result<Vec<Page>> {
    connection.all(
        "SELECT s.id, s.code, coalesce(s.name, s.title, s.code) AS called FROM states s JOIN apps a ON a.id = s.app_id
         WHERE a.app = :app AND a.deleted_at IS NULL AND s.deleted_at IS NULL AND s.code IS NOT NULL AND s.kind = 'page' ORDER BY s.id",
        args! {app},
        |row| {
            Ok(Page { id: row.get("id")?, code: row.get("code")?, name: row.get("called")? })
        },
    )
}

/// A component that can be tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Uid of the component.
    pub uid: String,
    /// Key of the component.
    pub key: String,
    /// Name of the component.
    pub name: String,
    /// Text of the component.
    pub label: Option<String>,
    /// Resource id of the component; `None` if it has none.
    pub res_id: Option<String>,
}

/// Returns the interactive components of an app and of its sites; plain text and containers are left out.
pub fn elements(connection: &Connection, app: &str) -> Result<Vec<Element>> {
    connection.all(
        "SELECT c.uid, c.key, c.name, c.label, c.res_id FROM components c JOIN apps a ON a.id = c.app_id
         WHERE a.app = :app AND a.deleted_at IS NULL AND c.deleted_at IS NULL AND c.kind NOT IN ('text', 'list', 'container', 'view')
         ORDER BY c.id",
        args! {app},
        |row| Ok(read!(row => Element { uid, key, name, label, res_id })),
    )
}

impl Element {
    /// Returns whether `given` names the element: it is the uid or, ignoring case, the name, the label, or the resource
    /// id with or without its package.
    pub fn is_called(&self, given: &str) -> bool {
        let folded = given.to_lowercase();
        let same = |text: Option<&str>| text.is_some_and(|t| t.to_lowercase() == folded);
        let short = self.res_id.as_deref().and_then(|id| id.rsplit('/').next());
        self.uid == given
            || same(Some(&self.name))
            || same(self.res_id.as_deref())
            || same(short)
            || same(self.label.as_deref())
    }
}
