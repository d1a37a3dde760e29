//! Runs parts of a write so that they take effect completely or not at all.

use rusqlite::Connection;

use super::StoreError;
use super::sql::Sql as _;

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.run(sql, [])?;
    Ok(())
}

/// Runs work, and rolls back all of its changes if it fails.
///
/// # Errors
/// If the work or a database operation fails.
pub fn all_or_nothing<T, E: From<StoreError>>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    execute(connection, "SAVEPOINT part")?;
    let done = work(connection);
    if done.is_err() {
        execute(connection, "ROLLBACK TO part")?;
    }
    execute(connection, "RELEASE part")?;
    done
}

/// Runs work, rolls back its changes, and returns its result.
///
/// # Errors
/// If the work or a database operation fails.
pub fn taken_back<T, E: From<StoreError>>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    execute(connection, "SAVEPOINT part")?;
    let done = work(connection);
    execute(connection, "ROLLBACK TO part")?;
    execute(connection, "RELEASE part")?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) AS n FROM t", [], |row| row.get("n")).expect("counts")
    }

    #[test]
    fn error_leaves_nothing_of_its_part_and_the_rest_as_it_was() {
        let connection = Connection::open_in_memory().expect("opens");
        connection.execute_batch("CREATE TABLE t (x); BEGIN; INSERT INTO t VALUES (1)").expect("begins");
        let insert = |c: &Connection| -> Result<(), StoreError> { Ok(c.execute_batch("INSERT INTO t VALUES (2)")?) };
        all_or_nothing(&connection, insert).expect("is done");
        let failed = all_or_nothing(&connection, |c| {
            insert(c)?;
            Err::<(), _>(StoreError::Full)
        });
        assert!(matches!(failed, Err(StoreError::Full)));
        // Savepoints can be nested.
        let seen = taken_back(&connection, |c| all_or_nothing(c, insert).map(|()| count(c)));
        assert_eq!((seen.expect("is done"), count(&connection)), (3, 2));
    }
}
