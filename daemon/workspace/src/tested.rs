//! Elements that sessions marked as tested.

use afd_proto::findings::TestedElement;
use rusqlite::Connection;

use afd_store::exchange::MAX_FIGURE;
use afd_store::{Result, Sql as _, args, new_uid, now_ms, read};

/// An element to mark as tested.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Name of the element, as given by the caller.
    pub element: String,
    /// Uid and name of the visual component that matches the element.
    pub component: Option<(String, String)>,
    /// Package of the app; empty if unknown.
    pub app: String,
    /// Page key, activity or URL; empty if unknown.
    pub page: String,
    /// Code of the visual state in which the element was found.
    pub state: Option<String>,
    /// Whether an assertion about the element passed; `None` if there was no assertion.
    pub passed: Option<bool>,
    /// Number of visible rows of the list that contains the element; `None` for an element that is not in a list.
    pub list_rows: Option<i64>,
}

/// Marks an element as tested; marking it again adds to its counts. Returns the element with its total counts.
pub fn mark(connection: &Connection, origin: &str, session: i64, mark: &Mark) -> Result<TestedElement> {
    let now = now_ms();
    let (passed, failed) = (i64::from(mark.passed == Some(true)), i64::from(mark.passed == Some(false)));
    let (passed, failed, times) = connection.one(
        "INSERT INTO tested_elements (uid, origin, session_id, app, page, state, element, component, passed, failed, list_rows,
                created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :app, :page, :state, :element, :component, :passed, :failed, :list_rows, :now, :now)
             ON CONFLICT (session_id, app, page, element) DO UPDATE SET passed = passed + excluded.passed,
             failed = failed + excluded.failed,
                times = times + 1, component = coalesce(excluded.component, component), state = coalesce(excluded.state, state),
                list_rows = coalesce(excluded.list_rows, list_rows), updated_at = excluded.updated_at
             RETURNING passed, failed, times",
        args! {
            uid: new_uid(), origin, session_id: session, app: mark.app, page: mark.page, state: mark.state,
            element: mark.element, component: mark.component.as_ref().map(|c| &c.0), passed, failed,
            list_rows: mark.list_rows, now
        },
        |row| Ok((row.get("passed")?, row.get("failed")?, row.get("times")?)),
    )?;
    super::touch(connection, session)?;
    Ok(TestedElement {
        element: mark.element.clone(),
        component: mark.component.as_ref().map(|c| c.1.clone()),
        app: mark.app.clone(),
        page: mark.page.clone(),
        passed,
        failed,
        times,
        last_at: now,
    })
}

/// Inserts an element that was marked in another copy of this memory, unless the session has already marked it.
pub fn restore(connection: &Connection, origin: &str, session: i64, element: &TestedElement) -> Result<()> {
    connection.run(
        "INSERT INTO tested_elements (uid, origin, session_id, app, page, element, passed, failed, times, created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :app, :page, :element, :passed, :failed, :times, :at, :at)
             ON CONFLICT (session_id, app, page, element) DO NOTHING",
        args! {
            uid: new_uid(), origin, session_id: session, app: element.app, page: element.page,
            element: element.element, passed: element.passed.clamp(0, MAX_FIGURE),
            failed: element.failed.clamp(0, MAX_FIGURE), times: element.times.clamp(1, MAX_FIGURE),
            at: element.last_at.clamp(0, now_ms())
        },
    )?;
    Ok(())
}

/// Counts the elements that a session has marked.
pub fn count(connection: &Connection, session: i64) -> Result<i64> {
    let sql = "SELECT count(*) AS count FROM tested_elements WHERE session_id = :session_id";
    connection.one(sql, args! {session_id: session}, |row| row.get("count"))
}

/// A marked element with the state in which it was found.
#[derive(Debug, Clone)]
pub struct Marked {
    /// The element; its `component` field holds the component's uid instead of its name.
    pub element: TestedElement,
    /// Code of the visual state in which the element was found.
    pub state: Option<String>,
    /// Number of visible rows of the list that contained the element at that time; `None` for an element that is not in
    /// a list.
    pub list_rows: Option<i64>,
}

/// Returns all elements that a session marked, in the order in which they were first marked.
pub fn all(connection: &Connection, session: i64) -> Result<Vec<Marked>> {
    connection.all(
        "SELECT element, component, app, page, passed, failed, times, updated_at, state, list_rows FROM tested_elements
            WHERE session_id = :session_id ORDER BY id",
        args! {session_id: session},
        |row| {
            let element = read!(row => TestedElement {
                element, component, app, page, passed, failed, times,
                last_at: row.get("updated_at")?,
            });
            Ok(Marked { element, state: row.get("state")?, list_rows: row.get("list_rows")? })
        },
    )
}
