//! Stored embeddings of entries, with their sketches: one bit for the sign of each component.

use rusqlite::Connection;

use afd_base::model::embed::{BUILTIN, Builtin};
use afd_store::{Result, Sql as _, args, now_ms};

/// A model that computes embeddings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Row id of the model.
    pub id: i64,
    /// Identity of the model, which includes everything that its vectors depend on.
    pub identity: String,
    /// Number of components in the model's vectors.
    pub dimensions: i64,
}

/// Returns the model with this identity, if it was used before.
pub fn find_model(connection: &Connection, identity: &str) -> Result<Option<Model>> {
    connection.first(
        "SELECT id, identity, dimensions FROM embedding_models WHERE identity = :identity",
        args! {identity},
        |row| Ok(Model { id: row.get("id")?, identity: row.get("identity")?, dimensions: row.get("dimensions")? }),
    )
}

/// Returns the model with this identity, inserting it if it was not used before.
pub fn model(connection: &Connection, identity: &str, dimensions: i64) -> Result<Model> {
    if let Some(model) = find_model(connection, identity)? {
        return Ok(model);
    }
    connection.run(
        "INSERT INTO embedding_models (identity, dimensions, created_at) VALUES (:identity, :dimensions, :now)",
        args! {identity, dimensions, now: now_ms()},
    )?;
    Ok(Model { id: connection.last_insert_rowid(), identity: identity.to_owned(), dimensions })
}

/// Returns the sketch of a vector.
pub fn sketch(vector: &[f32]) -> Vec<u64> {
    let word = |part: &[f32]| part.iter().enumerate().fold(0, |bits, (i, x)| bits | u64::from(*x > 0.0) << i);
    vector.chunks(64).map(word).collect()
}

fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Returns the 64-bit words of a stored sketch.
pub fn stored_sketch(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Stores the vector of an entry. `content` is the hash of the text from which the vector was computed.
pub fn put(connection: &Connection, model: i64, entry: i64, content: i64, vector: &[f32]) -> Result<()> {
    connection.run(
        "INSERT INTO embeddings (model_id, entry_id, content, vector, created_at) VALUES (:model_id, :entry_id, :content, :vector, :now)
             ON CONFLICT (entry_id, model_id) DO UPDATE SET content = excluded.content, vector = excluded.vector,
                created_at = excluded.created_at",
        args! {model_id: model, entry_id: entry, content, vector: bytes_of(vector), now: now_ms()},
    )?;
    let bits: Vec<u8> = sketch(vector).into_iter().flat_map(u64::to_le_bytes).collect();
    connection.run(
        "INSERT OR REPLACE INTO sketches (model_id, entry_id, bits) VALUES (:model_id, :entry_id, :bits)",
        args! {model_id: model, entry_id: entry, bits},
    )?;
    Ok(())
}

/// Computes and stores the vector of the built-in model for an entry that has none. `content` is the hash of `text`.
pub fn put_builtin(connection: &Connection, entry: i64, content: i64, text: &str) -> Result<()> {
    if let Some(model) = find_model(connection, BUILTIN)?
        && has(connection, model.id, entry)?
    {
        return Ok(());
    }
    let vector = Builtin::vector(text);
    let model = model(connection, BUILTIN, vector.len() as i64)?;
    put(connection, model.id, entry, content, &vector)
}

/// Returns whether an entry has a vector of a model.
fn has(connection: &Connection, model: i64, entry: i64) -> Result<bool> {
    let mut found =
        connection.prepare_cached("SELECT 1 FROM embeddings WHERE entry_id = :entry AND model_id = :model")?;
    Ok(found.exists(args! {entry, model})?)
}

/// Stores the vector of an entry if the entry still has the content from which the vector was computed. Returns whether
/// it was stored.
pub fn put_current(connection: &Connection, model: i64, entry: i64, content: i64, vector: &[f32]) -> Result<bool> {
    let current: bool = connection.one(
        "SELECT EXISTS (SELECT 1 FROM entries WHERE id = :id AND gone = 0 AND content = :content) AS current",
        args! {id: entry, content},
        |row| row.get("current"),
    )?;
    if current {
        put(connection, model, entry, content, vector)?;
    }
    Ok(current)
}

fn delete_sketch(connection: &Connection, model: i64, entry: i64) -> Result<()> {
    connection.run("DELETE FROM sketches WHERE model_id = :model AND entry_id = :entry", args! {model, entry})?;
    Ok(())
}

/// Removes all vectors of an entry.
pub fn remove(connection: &Connection, entry: i64) -> Result<()> {
    let mut of = connection.prepare_cached("SELECT model_id FROM embeddings WHERE entry_id = :entry_id")?;
    let models: Vec<i64> =
        of.query_map(args! {entry_id: entry}, |row| row.get("model_id"))?.collect::<rusqlite::Result<_>>()?;
    for model in models {
        delete_sketch(connection, model, entry)?;
    }
    connection.run("DELETE FROM embeddings WHERE entry_id = :entry_id", args! {entry_id: entry})?;
    Ok(())
}

/// Returns the vector that a model computed for an entry, if there is one.
pub fn get(connection: &Connection, model: i64, entry: i64) -> Result<Option<Vec<f32>>> {
    let bytes: Option<Vec<u8>> = connection.first(
        "SELECT vector FROM embeddings WHERE entry_id = :entry_id AND model_id = :model_id",
        args! {entry_id: entry, model_id: model},
        |row| row.get("vector"),
    )?;
    Ok(bytes.map(|bytes| floats(&bytes)))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Returns whether an entry has a vector of the model `needed`, and each of its vectors, of any model, has the correct
/// size and sketch. A stale vector is empty and is not checked.
pub fn are_sound(connection: &Connection, entry: i64, needed: i64) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT v.model_id, v.vector, m.dimensions, s.bits FROM embeddings v JOIN embedding_models m ON m.id = v.model_id
         LEFT JOIN sketches s ON s.model_id = v.model_id AND s.entry_id = v.entry_id WHERE v.entry_id = :entry",
    )?;
    let mut rows = statement.query(args! {entry})?;
    let mut has_needed = false;
    while let Some(row) = rows.next()? {
        has_needed |= row.get::<_, i64>("model_id")? == needed;
        let vector = floats(&row.get::<_, Vec<u8>>("vector")?);
        let bits: Option<Vec<u8>> = row.get("bits")?;
        let goes_with_it = bits.as_deref().map(stored_sketch).as_deref() == Some(&sketch(&vector));
        let has_size = usize::try_from(row.get::<_, i64>("dimensions")?).is_ok_and(|size| size == vector.len());
        let is_sound = has_size && goes_with_it && vector.iter().all(|x| x.is_finite());
        if !is_sound && !vector.is_empty() {
            return Ok(false);
        }
    }
    Ok(has_needed)
}

/// Returns the dot product of two vectors, which is the cosine of their angle if both have unit length.
pub fn product(a: &[f32], b: &[f32]) -> f32 {
    // Use eight independent sums, so that the processor can compute them in parallel.
    let mut sums = [0.0_f32; 8];
    let (left, right) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (x, y) in left.0.iter().zip(right.0) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum::<f32>() + left.1.iter().zip(right.1).map(|(x, y)| x * y).sum::<f32>()
}

/// Estimates the cosine of the angle between a vector of unit length and the vector that has a sketch.
pub fn estimated_cosine(vector: &[f32], sketch: &[u64]) -> f64 {
    let sign = |i: usize| if sketch[i / 64] >> (i % 64) & 1 == 1 { 1.0 } else { -1.0 };
    let product: f64 = vector.iter().enumerate().map(|(i, x)| f64::from(*x) * sign(i)).sum();
    // The mean cosine between a vector with normally distributed components and its signs is the square root of 2/pi.
    let of_signs = (std::f64::consts::FRAC_2_PI * vector.len() as f64).sqrt();
    (product / of_signs).clamp(-1.0, 1.0)
}

/// Maximum number of entries that one call to `lacking` examines.
const LOOKED_AT: i64 = 1_000;

/// Returns up to `limit` entries that changed after a version and lack a vector of a model for their current content.
/// Also returns the version up to which entries were examined, or `None` if there are no more entries to examine.
pub fn lacking(connection: &Connection, model: i64, after: i64, limit: usize) -> Result<(Vec<i64>, Option<i64>)> {
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.version, e.gone = 0 AND e.due = 0 AND e.words > 0 AND (v.id IS NULL OR v.content <> e.content) AS lacks
         FROM entries e LEFT JOIN embeddings v ON v.entry_id = e.id AND v.model_id = :model
         WHERE e.version > :after ORDER BY e.version LIMIT :limit",
    )?;
    let mut rows = statement.query(args! {model, after, limit: LOOKED_AT})?;
    let (mut lacking, mut upto) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        upto = Some(row.get("version")?);
        if row.get("lacks")? {
            lacking.push(row.get("id")?);
            if lacking.len() == limit {
                break;
            }
        }
    }
    Ok((lacking, upto))
}

/// Returns the number of entries that have a current vector of a model.
pub fn count(connection: &Connection, model: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM embeddings v JOIN entries e ON e.id = v.entry_id
             WHERE v.model_id = :model AND v.content = e.content AND e.gone = 0",
        args! {model},
        |row| row.get("count"),
    )
}

/// Deletes up to `limit` vectors that belong to models whose identities are not in `keep`. Returns the entries of the
/// deleted vectors. The rows of the models stay, so that their ids are not reused.
pub fn delete_others(connection: &Connection, keep: &[&str], limit: i64) -> Result<Vec<i64>> {
    let models: Vec<(i64, String)> = connection.all("SELECT id, identity FROM embedding_models", [], |row| {
        Ok((row.get::<_, i64>("id")?, row.get::<_, String>("identity")?))
    })?;
    let mut deleted: Vec<i64> = Vec::new();
    for (model, _) in models.iter().filter(|(_, identity)| !keep.contains(&identity.as_str())) {
        let mut of =
            connection.prepare_cached("SELECT entry_id FROM embeddings WHERE model_id = :model LIMIT :limit")?;
        let rows =
            of.query_map(args! {model, limit: limit.saturating_sub(deleted.len() as i64)}, |row| row.get("entry_id"))?;
        let entries: Vec<i64> = rows.collect::<rusqlite::Result<_>>()?;
        for entry in entries {
            let of = args! {model, entry};
            delete_sketch(connection, *model, entry)?;
            connection.run("DELETE FROM embeddings WHERE model_id = :model AND entry_id = :entry", of)?;
            deleted.push(entry);
        }
    }
    Ok(deleted)
}

/// Empties up to `limit` stale vectors of a model: those computed before `before` (Unix milliseconds) whose entries
/// have not been used since. Keeps their sketches, by which searches still find the entries. Returns the row ids of
/// these entries.
pub fn empty_stale(connection: &Connection, model: i64, before: i64, limit: i64) -> Result<Vec<i64>> {
    let stale: Vec<i64> = connection.all(
        "SELECT v.entry_id FROM embeddings v JOIN entries e ON e.id = v.entry_id
         WHERE v.model_id = :model AND v.created_at < :before AND v.vector <> x'' AND coalesce(e.used_at, 0) < :before LIMIT :limit",
        args! {model, before, limit},
        |row| row.get("entry_id"),
    )?;
    for entry in &stale {
        let of = args! {model, entry};
        connection.run("UPDATE embeddings SET vector = x'' WHERE model_id = :model AND entry_id = :entry", of)?;
    }
    Ok(stale)
}

/// Marks an entry's emptied vectors as outdated, so that they are computed again. Returns whether there were any.
pub fn renew(connection: &Connection, entry: i64) -> Result<bool> {
    let stale = connection.run(
        "UPDATE embeddings SET content = 0 WHERE entry_id = :entry AND vector = x'' AND content <> 0",
        args! {entry},
    )?;
    Ok(stale > 0)
}

/// Returns the number of the given entries whose vectors of a model were emptied.
pub fn count_emptied(connection: &Connection, model: i64, entries: impl Iterator<Item = i64>) -> Result<usize> {
    let mut emptied = connection
        .prepare_cached("SELECT 1 FROM embeddings WHERE entry_id = :entry AND model_id = :model AND vector = x''")?;
    let mut count = 0;
    for entry in entries {
        count += usize::from(emptied.exists(args! {entry, model})?);
    }
    Ok(count)
}
