//! Page models: a page's elements, and how stable they are across visits.
//!
//! Stability is an exponential moving average of the element overlap (Jaccard index) between consecutive versions; a
//! new model starts at 1.

use std::collections::BTreeSet;

use afd_proto::pattern::{PageElement, PageModel};
use rusqlite::{Connection, Row};

use afd_screen::page::pattern;
use afd_store::{Result, Sql as _, args, elsewhere, new_uid, now_ms, parse_list, read, to_json};

/// Weight of the latest comparison in the stability score.
const LATEST_WEIGHT: f64 = 0.3;
/// Maximum number of stored pages that a requested page is compared with.
const MAX_COMPARED: i64 = 500;

const COLUMNS: &str = concat!(
    "id, uid, app, page, page_type, elements, stability_score, seen_count, updated_at, ",
    elsewhere!("page_models")
);

fn read(row: &Row<'_>) -> rusqlite::Result<PageModel> {
    let app: String = row.get("app")?;
    Ok(read!(row => PageModel {
        id, uid, page, page_type, stability_score, seen_count, updated_at,
        origin: row.get("elsewhere")?,
        app: (!app.is_empty()).then_some(app),
        elements: parse_list(&row.get::<_, String>("elements")?),
        similarity: None,
    }))
}

/// Returns the overlap between two element lists: shared elements divided by distinct elements, 1 if both are empty.
fn element_overlap(before: &[PageElement], after: &[PageElement]) -> f64 {
    let names = |elements: &[PageElement]| -> BTreeSet<(String, Option<String>)> {
        elements.iter().map(|e| (e.selector.clone().unwrap_or_else(|| e.name.clone()), e.role.clone())).collect()
    };
    let (before, after) = (names(before), names(after));
    let all = before.union(&after).count();
    if all == 0 { 1.0 } else { before.intersection(&after).count() as f64 / all as f64 }
}

/// Inserts a page model, or updates the existing one and its stability score.
pub fn save(
    connection: &Connection,
    origin: &str,
    app: &str,
    page: &str,
    page_type: &str,
    elements: &[PageElement],
) -> Result<PageModel> {
    let now = now_ms();
    let sql = format!("SELECT {COLUMNS} FROM page_models WHERE app = :app AND page = :page AND deleted_at IS NULL");
    let known = connection.first(&sql, args! {app, page}, read)?;
    let id = match known {
        Some(known) => {
            let stability = known.stability_score * (1.0 - LATEST_WEIGHT) + element_overlap(&known.elements, elements) * LATEST_WEIGHT;
            connection.run(
                "UPDATE page_models SET page_type = :page_type, elements = :elements, stability_score = :stability_score,
                        seen_count = seen_count + 1, updated_at = :updated_at
                     WHERE id = :id",
                args! {
                    id: known.id, page_type, elements: to_json(elements),
                    stability_score: (stability * 1000.0).round() / 1000.0, updated_at: now
                },
            )?;
            known.id
        }
        None => connection.one(
            "INSERT INTO page_models (uid, origin, app, page, page_type, elements, stability_score, created_at, updated_at)
                 VALUES (:uid, :origin, :app, :page, :page_type, :elements, 1.0, :now, :now) RETURNING id",
            args! {uid: new_uid(), origin, app, page, page_type, elements: to_json(elements), now},
            |row| row.get("id"),
        )?,
    };
    let sql = format!("SELECT {COLUMNS} FROM page_models WHERE id = :id");
    connection.one(&sql, args! {id}, read)
}

/// Returns a page model by its row id, or `None` if it is missing or deleted.
pub fn get(connection: &Connection, id: i64) -> Result<Option<PageModel>> {
    let sql = format!("SELECT {COLUMNS} FROM page_models WHERE id = :id AND deleted_at IS NULL");
    connection.first(&sql, args! {id}, read)
}

/// Returns the models of pages with the same origin or app as `page` (a normalised page), most similar page first. Without a page,
/// returns the most recently updated models.
pub fn find(connection: &Connection, page: Option<&str>, app: Option<&str>, limit: usize) -> Result<Vec<PageModel>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM page_models WHERE deleted_at IS NULL AND (:app IS NULL OR app = :app) AND (:origin IS NULL OR substr(page, 1,
            length(:origin)) = :origin)
         ORDER BY (:page IS NOT NULL AND page = :page) DESC, updated_at DESC LIMIT :limit"
    );
    let origin = page.map(pattern::origin);
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(args! {app, origin, page, limit: MAX_COMPARED}, read)?;
    let mut models: Vec<PageModel> = found.collect::<rusqlite::Result<_>>()?;
    if let Some(page) = page {
        models.iter_mut().for_each(|m| m.similarity = Some(pattern::similarity(&m.page, page)));
        models.retain(|m| m.similarity.is_some_and(|s| s > 0.0));
        models.sort_by(|a, b| b.similarity.unwrap_or(0.0).total_cmp(&a.similarity.unwrap_or(0.0)));
    }
    models.truncate(limit);
    Ok(models)
}

/// Marks a page model as deleted and returns its uid, or `None` if there is no such model.
pub fn delete(connection: &Connection, id: i64) -> Result<Option<String>> {
    connection.first(
        "UPDATE page_models SET deleted_at = :now, updated_at = :now WHERE id = :id AND deleted_at IS NULL RETURNING uid",
        args! {id, now: now_ms()},
        |row| row.get("uid"),
    )
}
