//! The pages to which events and observations refer. Each combination of app, activity, page key, fingerprint and
//! structure is stored once.

use rusqlite::{Connection, Row};

use super::{Place, derived_uid};
use afd_store::{Result, Sql as _, args, now_ms};

/// A stored page. Unknown parts are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Row id of the page.
    pub id: i64,
    /// Package of the app.
    pub app: String,
    /// Activity, as `package/activity`.
    pub activity: String,
    /// Page key.
    pub key: String,
    /// Readable fingerprint.
    pub fingerprint: String,
    /// Structure key, by which states are recognised.
    pub structure: String,
    /// Title of the page, with digits masked.
    pub title: Option<String>,
    /// Whether the page is a dialog.
    pub dialog: bool,
}

/// The page columns that [`read`] needs, for a query in which `pages` has the alias `p`.
pub(super) const COLUMNS: &str = "p.id AS page_id, p.app AS page_app, p.activity AS page_activity, p.page_key AS page_page_key,
    p.fingerprint AS page_fingerprint, p.structure_key AS page_structure, p.title AS page_title, p.dialog AS page_dialog";

/// Reads a page from a query row. Returns `None` if the row has no page.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Option<Page>> {
    let Some(id) = row.get::<_, Option<i64>>("page_id")? else { return Ok(None) };
    Ok(Some(Page {
        id,
        app: row.get("page_app")?,
        activity: row.get("page_activity")?,
        key: row.get("page_page_key")?,
        fingerprint: row.get("page_fingerprint")?,
        structure: row.get("page_structure")?,
        title: row.get("page_title")?,
        dialog: row.get("page_dialog")?,
    }))
}

impl Page {
    /// Returns the key under which knowledge about the page is filed: its structure or, if that is unknown, its page
    /// key, activity or app with a prefix. Returns `None` if all of these are unknown.
    pub fn filed_under(&self) -> Option<String> {
        let some = |prefix: &str, value: &str| (!value.is_empty()).then(|| format!("{prefix}{value}"));
        some("", &self.structure)
            .or_else(|| (!self.key.is_empty()).then(|| filed_by_key(&self.key)))
            .or_else(|| some("activity:", &self.activity))
            .or_else(|| some("app:", &self.app))
    }

    /// Returns whether two rows describe the same page: their structures are equal or, if a structure is unknown, their
    /// page keys.
    pub fn is_same(&self, other: &Page) -> bool {
        match self.structure.is_empty() || other.structure.is_empty() {
            false => self.structure == other.structure,
            true => !self.key.is_empty() && self.key == other.key,
        }
    }
}

/// Returns the key under which knowledge about a page is filed if only its page key is known.
pub fn filed_by_key(key: &str) -> String {
    format!("page:{key}")
}

/// Finds or inserts the page of a place. Returns its row id, or `None` if nothing is known about the place.
pub fn id_of(connection: &Connection, store: &str, place: &Place) -> Result<Option<i64>> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let parts = [
        text(&place.structure),
        text(&place.page_key),
        text(&place.fingerprint),
        text(&place.activity),
        text(&place.app),
    ];
    if parts.iter().all(String::is_empty) {
        return Ok(None);
    }
    let known = connection.first(
        "SELECT id, title IS NULL AND :title IS NOT NULL AS renamed FROM pages WHERE structure_key = :structure AND page_key = :key
                AND fingerprint = :fingerprint AND activity = :activity AND app = :app",
        args! {
            structure: parts[0], key: parts[1], fingerprint: parts[2], activity: parts[3], app: parts[4],
            title: place.title
        },
        |row| Ok((row.get::<_, i64>("id")?, row.get::<_, bool>("renamed")?)),
    )?;
    match known {
        Some((id, false)) => return Ok(Some(id)),
        Some((id, true)) => {
            connection.run(
                "UPDATE pages SET title = :title, dialog = :dialog, updated_at = :now WHERE id = :id",
                args! {id, title: place.title, dialog: place.dialog, now: now_ms()},
            )?;
            return Ok(Some(id));
        }
        None => {}
    }
    let uid: Vec<&str> = std::iter::once("page").chain(parts.iter().map(String::as_str)).collect();
    connection.run(
        "INSERT INTO pages (uid, origin, app, activity, page_key, fingerprint, structure_key, title, dialog, updated_at)
             VALUES (:uid, :origin, :app, :activity, :key, :fingerprint, :structure, :title, :dialog, :now)",
        args! {
            uid: derived_uid(&uid), origin: store, structure: parts[0], key: parts[1], fingerprint: parts[2],
            activity: parts[3], app: parts[4], title: place.title, dialog: place.dialog, now: now_ms()
        },
    )?;
    Ok(Some(connection.last_insert_rowid()))
}

/// Finds or inserts the page under a dialog. Returns its row id, or `None` if no such page is known. A new page has
/// only an app and a structure, because nothing else is known about it.
pub fn id_of_below(connection: &Connection, store: &str, place: &Place) -> Result<Option<i64>> {
    match &place.below {
        Some(below) => {
            let page = Place { app: place.app.clone(), structure: Some(below.clone()), ..Place::default() };
            id_of(connection, store, &page)
        }
        None => Ok(None),
    }
}

/// Returns a page with this structure, preferably one with a page key. Returns `None` if the structure was never seen.
pub fn of_structure(connection: &Connection, key: &str) -> Result<Option<Page>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM pages p WHERE p.structure_key = :key ORDER BY length(p.page_key) DESC, p.id LIMIT 1"
    );
    Ok(connection.first(&sql, args! {key}, read)?.flatten())
}

/// Returns a page by its row id.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Page>> {
    let sql = format!("SELECT {COLUMNS} FROM pages p WHERE p.id = :id");
    Ok(connection.first(&sql, args! {id}, read)?.flatten())
}
