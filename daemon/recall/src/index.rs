//! The in-memory index: the fields that searches filter by, and sketches of the vectors.
//!
//! Each change to an entry gives the entry a new version. `Index::follow` reads the entries that have changed since the
//! version up to which the index is complete, so the index can be dropped and loaded again at any time.
//!
//! A sketch holds the sign of each component of a vector, one bit each. A nearest-neighbour search has three stages,
//! each of which is more exact than the previous one and has fewer candidates:
//!
//! 1. The number of equal bits of the sketches selects 20 candidates per result, at least 1,000.
//! 2. The dot product of the query vector with the signs selects 3 candidates per result, at least 80.
//! 3. The vectors of these candidates are read from the database and compared exactly. The sketch of a vector that was
//!    emptied is kept, and the cosine is estimated from it.
//!
//! Invariant: the index is complete up to its version. If reading fails, the index is reset. The tests compare the
//! first two stages with a full sort.

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::entries;
use super::filtered::{self, Filtered, Glance};
use super::scope::Scope;
use super::text_index::{CommonTokens, Corpus};
use super::{Turn, vectors};
use afd_store::Result;
use afd_store::args;

/// Number of entries that are read at a time.
const PAGE: i64 = 4_096;
/// Number of second-stage candidates for each result.
const SIGNS_FOR_EACH: usize = 20;
/// Minimum number of second-stage candidates.
const LEAST_BY_SIGNS: usize = 1_000;
/// Number of third-stage candidates for each result.
const VECTORS_FOR_EACH: usize = 3;
/// Minimum number of third-stage candidates.
const LEAST_BY_VECTORS: usize = 80;

/// Value that marks an entry without a place in the index.
const NOWHERE: u32 = u32::MAX;

/// Sketches of one model's vectors, indexed by the places of their entries.
#[derive(Debug, Default)]
struct Sketches {
    /// Number of 64-bit words in a sketch; 0 if there are no sketches yet.
    width: usize,
    bits: Vec<u64>,
    /// For each place, whether the entry at that place has a sketch.
    present: Vec<bool>,
}

impl Sketches {
    fn set(&mut self, place: usize, sketch: &[u64]) {
        if sketch.is_empty() {
            return;
        }
        if self.width == 0 {
            self.width = sketch.len();
        }
        self.grow(place + 1);
        if sketch.len() == self.width {
            self.bits[place * self.width..(place + 1) * self.width].copy_from_slice(sketch);
            self.present[place] = true;
        }
    }

    fn grow(&mut self, places: usize) {
        if self.present.len() < places {
            self.present.resize(places, false);
            self.bits.resize(places * self.width, 0);
        }
    }

    fn get(&self, place: usize) -> Option<&[u64]> {
        let is_present = self.present.get(place).is_some_and(|present| *present);
        is_present.then(|| &self.bits[place * self.width..(place + 1) * self.width])
    }

    fn clear(&mut self, place: usize) {
        if let Some(present) = self.present.get_mut(place) {
            *present = false;
        }
    }
}

/// The in-memory index of the entries.
#[derive(Debug, Default)]
pub struct Index {
    /// Version up to which changes have been read into the index.
    version: i64,
    /// Places of the entries, indexed by row id. This is a list, because row ids are dense and each entry that contains
    /// a query term is looked up.
    places: Vec<u32>,
    ids: Vec<i64>,
    filtered: Vec<Option<Filtered>>,
    /// For each place, a part of `filtered`; of a place without an entry, that of its former entry.
    glances: Vec<Glance>,
    free: Vec<u32>,
    sketches: FxHashMap<i64, Sketches>,
    /// Row ids of the messages' entries, by their places in their conversations.
    turns: FxHashMap<Turn, i64>,
    words: u64,
    entries: usize,
    common: CommonTokens,
}

impl Index {
    /// Returns whether the index is loaded, with the sketches of these models.
    pub fn is_loaded(&self, models: &[i64]) -> bool {
        self.version > 0 && models.iter().all(|model| self.sketches.contains_key(model))
    }

    /// Returns the number of changes visible to `connection` that have not been read into the index yet. If the index
    /// is not loaded or lacks the sketches of a model, returns the approximate number of entries.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn behind(&self, connection: &Connection, models: &[i64]) -> Result<i64> {
        if self.is_loaded(models) {
            Ok((entries::newest_version(connection)? - self.version).max(0))
        } else {
            super::extent::last_id(connection)
        }
    }

    /// Reads new changes from the database. `models` has the row ids of the models whose vectors are searched.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn follow(&mut self, connection: &Connection, models: &[i64]) -> Result<()> {
        let followed = self.read(connection, models);
        if followed.is_err() {
            // Reset the index, because a partly loaded one would look complete.
            *self = Self::default();
        }
        followed
    }

    fn read(&mut self, connection: &Connection, models: &[i64]) -> Result<()> {
        let fresh = self.version == 0;
        let mut loaded = false;
        for model in models.iter().filter(|_| !fresh) {
            if !self.sketches.contains_key(model) {
                self.load_sketches(connection, *model)?;
                loaded = true;
            }
        }
        if loaded {
            // The index may have read changes that are newer than these sketches; in that case, read those changes
            // again.
            self.version = self.version.min(entries::newest_version(connection)?);
        }
        loop {
            let changed = filtered::changed(connection, self.version, PAGE)?;
            for entry in &changed {
                let place = self.put(entry.id, entry.found_by.clone());
                self.version = entry.version;
                if let Some(place) = place.filter(|_| !fresh) {
                    self.read_sketches(connection, entry.id, place)?;
                }
            }
            if (changed.len() as i64) < PAGE {
                break;
            }
        }
        if fresh {
            models.iter().try_for_each(|model| self.load_sketches(connection, *model))?;
        }
        Ok(())
    }

    fn place(&self, id: i64) -> Option<usize> {
        let place = self.places.get(usize::try_from(id).ok()?)?;
        (*place != NOWHERE).then_some(*place as usize)
    }

    fn set_place(&mut self, id: i64, place: u32) {
        let Ok(id) = usize::try_from(id) else { return };
        if self.places.len() <= id {
            self.places.resize(id + 1, NOWHERE);
        }
        self.places[id] = place;
    }

    /// Inserts or updates an entry, and returns its place. If `filtered` is `None`, removes the entry.
    fn put(&mut self, id: i64, filtered: Option<Filtered>) -> Option<usize> {
        let place = self.place(id);
        if let Some(place) = place
            && let Some(before) = self.filtered[place].take()
        {
            self.words -= u64::from(before.words);
            self.entries -= 1;
            before.turn.map(|turn| self.turns.remove(&turn));
        }
        let Some(filtered) = filtered else {
            if let Some(place) = place {
                self.set_place(id, NOWHERE);
                self.sketches.values_mut().for_each(|s| s.clear(place));
                self.free.push(u32::try_from(place).unwrap_or(NOWHERE));
            }
            return None;
        };
        self.words += u64::from(filtered.words);
        self.entries += 1;
        filtered.turn.map(|turn| self.turns.insert(turn, id));
        let place = place.unwrap_or_else(|| {
            let place = self.free.pop().map_or(self.ids.len(), |place| place as usize);
            if place == self.ids.len() {
                self.ids.push(id);
                self.filtered.push(None);
                self.glances.push(filtered.glance());
            }
            self.ids[place] = id;
            self.set_place(id, u32::try_from(place).unwrap_or(NOWHERE));
            place
        });
        self.glances[place] = filtered.glance();
        self.filtered[place] = Some(filtered);
        Some(place)
    }

    fn read_sketches(&mut self, connection: &Connection, entry: i64, place: usize) -> Result<()> {
        let mut read = connection
            .prepare_cached("SELECT bits FROM sketches WHERE model_id = :model_id AND entry_id = :entry_id")?;
        for (model, sketches) in &mut self.sketches {
            sketches.clear(place);
            let mut rows = read.query(args! {model_id: model, entry_id: entry})?;
            if let Some(row) = rows.next()? {
                sketches.set(place, &vectors::stored_sketch(row.get_ref("bits")?.as_blob().unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn load_sketches(&mut self, connection: &Connection, model: i64) -> Result<()> {
        let mut sketches = Sketches::default();
        let mut statement =
            connection.prepare_cached("SELECT entry_id, bits FROM sketches WHERE model_id = :model_id")?;
        let mut rows = statement.query(args! {model_id: model})?;
        while let Some(row) = rows.next()? {
            if let Some(place) = self.place(row.get("entry_id")?) {
                sketches.set(place, &vectors::stored_sketch(row.get_ref("bits")?.as_blob().unwrap_or_default()));
            }
        }
        self.sketches.insert(model, sketches);
        Ok(())
    }

    /// Returns the fields by which an entry is filtered.
    pub fn get(&self, id: i64) -> Option<&Filtered> {
        self.filtered[self.place(id)?].as_ref()
    }

    /// Returns the message at a place in a conversation.
    pub fn at(&self, turn: Turn) -> Option<i64> {
        self.turns.get(&turn).copied()
    }

    /// Returns the version up to which changes have been read into the index.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Returns the size of the corpus for full-text search.
    pub fn corpus(&self) -> Corpus<'_> {
        let mean_words = self.words as f64 / (self.entries.max(1)) as f64;
        Corpus { entries: self.entries, mean_words, common: &self.common }
    }

    /// Returns the memory that the index uses, in bytes.
    pub fn bytes(&self) -> usize {
        let sketches: usize = self.sketches.values().map(|s| s.bits.capacity() * 8 + s.present.capacity()).sum();
        self.ids.capacity() * 8
            + self.filtered.capacity() * size_of::<Option<Filtered>>()
            + self.glances.capacity() * size_of::<Glance>()
            + self.places.capacity() * 4
            + self.turns.capacity() * size_of::<(Turn, i64)>()
            + sketches
    }

    /// Returns the number of entries that lack a sketch of a model.
    pub fn without_sketch(&self, model: i64) -> usize {
        let present = self.sketches.get(&model).map_or(0, |s| s.present.iter().filter(|p| **p).count());
        self.entries.saturating_sub(present)
    }

    /// Returns the cosine of the angle between a vector of unit length and that of an entry. Estimates it from the sketch
    /// if the vector was emptied; returns `None` if the entry has neither.
    fn cosine(&self, connection: &Connection, model: i64, vector: &[f32], entry: i64) -> Result<Option<f64>> {
        if let Some(stored) = vectors::get(connection, model, entry)?.filter(|stored| stored.len() == vector.len()) {
            return Ok(Some(f64::from(vectors::product(vector, &stored))));
        }
        Ok(self.estimate(model, vector, entry))
    }

    /// Returns the cosine of the angle between a vector of unit length and that of an entry, estimated from its sketch;
    /// `None` if it has none.
    pub fn estimate(&self, model: i64, vector: &[f32], entry: i64) -> Option<f64> {
        let sketches = self.sketches.get(&model).filter(|s| s.width == vector.len().div_ceil(64))?;
        let sketch = sketches.get(self.place(entry)?)?;
        Some(vectors::estimated_cosine(vector, sketch))
    }

    /// Compares the vectors of the given entries with a vector of unit length, using the vectors of one model. Returns
    /// the entries with the cosine of the angle, nearest first.
    ///
    /// # Errors
    /// If a vector cannot be read.
    pub fn among(
        &self,
        connection: &Connection,
        model: i64,
        vector: &[f32],
        entries: impl Iterator<Item = i64>,
        wanted: impl Fn(&Filtered) -> bool,
    ) -> Result<Vec<(i64, f64)>> {
        let mut exact = Vec::new();
        for entry in entries.filter(|id| self.get(*id).is_some_and(&wanted)) {
            exact.extend(self.cosine(connection, model, vector, entry)?.map(|cosine| (entry, cosine)));
        }
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        Ok(exact)
    }

    /// Returns up to `count` entries in a scope that `wanted` accepts and whose vectors, as computed by a model, are nearest
    /// to a vector of unit length. The entries come with the cosine of the angle, nearest first.
    ///
    /// # Errors
    /// If a vector cannot be read.
    pub fn nearest(
        &self,
        connection: &Connection,
        model: i64,
        vector: &[f32],
        count: usize,
        scope: &Scope,
        wanted: impl Fn(&Filtered) -> bool,
    ) -> Result<Vec<(i64, f64)>> {
        let Some(sketches) = self.sketches.get(&model).filter(|s| s.width == vector.len().div_ceil(64)) else {
            return Ok(Vec::new());
        };
        let may_be_found = |place: usize| {
            let found = |filtered: &Filtered| scope.allows(filtered) && wanted(filtered);
            self.glances.get(place).is_some_and(|glance| scope.may_allow(*glance))
                && self.filtered.get(place).and_then(Option::as_ref).is_some_and(found)
        };
        let near =
            by_bits(sketches, &vectors::sketch(vector), (count * SIGNS_FOR_EACH).max(LEAST_BY_SIGNS), may_be_found);
        let near = by_signs(sketches, vector, near, (count * VECTORS_FOR_EACH).max(LEAST_BY_VECTORS));
        let mut exact = Vec::with_capacity(near.len());
        for place in near {
            let id = self.ids[place];
            exact.extend(self.cosine(connection, model, vector, id)?.map(|cosine| (id, cosine)));
        }
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        exact.truncate(count);
        Ok(exact)
    }
}

/// Returns up to `count` places that `wanted` accepts and whose sketches differ from `sketch` in the fewest bits.
fn by_bits(sketches: &Sketches, sketch: &[u64], count: usize, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the check above shows that the processor supports `popcnt`, which is all that the function requires.
        #[allow(unsafe_code)]
        return unsafe { by_bits_popcnt(sketches, sketch, count, wanted) };
    }
    fewest_bits(sketches, count, wanted, |bits| distance(bits, sketch))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn by_bits_popcnt(sketches: &Sketches, sketch: &[u64], count: usize, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    // Sketches of the usual size, 384 components, need no loop.
    if let Ok(sketch) = <&[u64; 6]>::try_from(sketch) {
        return fewest_bits(sketches, count, wanted, |bits| {
            bits.try_into().map_or(u32::MAX, |bits: &[u64; 6]| distance_of_six(bits, sketch))
        });
    }
    fewest_bits(sketches, count, wanted, |bits| distance(bits, sketch))
}

/// Returns the number of bits in which two sketches differ.
#[inline(always)]
fn distance(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// Returns the number of bits in which two sketches of the usual size differ.
#[inline(always)]
fn distance_of_six(a: &[u64; 6], b: &[u64; 6]) -> u32 {
    let of = |i: usize| (a[i] ^ b[i]).count_ones();
    of(0) + of(1) + of(2) + of(3) + of(4) + of(5)
}

/// Returns the places of the nearest sketches. Reads each sketch once, and calls `wanted` only if the sketch may be
/// among the nearest, because there are many sketches and the filter fields are elsewhere in memory. Among equally near
/// sketches, the first ones are returned.
#[inline(always)]
fn fewest_bits(
    sketches: &Sketches,
    count: usize,
    wanted: impl Fn(usize) -> bool,
    distance: impl Fn(&[u64]) -> u32,
) -> Vec<usize> {
    let mut near: Vec<(usize, usize)> = Vec::new();
    // The number of candidates at each distance, the largest distance that still matters, and the number of candidates
    // up to that distance.
    let mut having = vec![0_usize; sketches.width * 64 + 1];
    let (mut most, mut found) = (sketches.width * 64, 0);
    for (place, bits) in sketches.bits.chunks_exact(sketches.width.max(1)).enumerate() {
        let distance = distance(bits) as usize;
        if distance > most || !sketches.present[place] || !wanted(place) {
            continue;
        }
        near.push((distance, place));
        having[distance] += 1;
        found += 1;
        while most > 0 && found - having[most] >= count {
            found -= having[most];
            most -= 1;
        }
    }
    let mut ties = count.saturating_sub(found - having[most]);
    near.retain(|(distance, _)| {
        let is_tie = *distance == most;
        let stays = *distance < most || is_tie && ties > 0;
        ties -= usize::from(is_tie && stays);
        stays
    });
    near.into_iter().map(|(_, place)| place).collect()
}

/// Returns the `count` places whose signs have the largest dot product with a vector.
fn by_signs(sketches: &Sketches, vector: &[f32], places: Vec<usize>, count: usize) -> Vec<usize> {
    if places.len() <= count {
        return places;
    }
    // For each byte of a sketch: the sum for each of its possible values.
    let mut sums: Vec<[f32; 256]> = vector.chunks(8).map(sums_of).collect();
    sums.resize(sketches.width * 8, [0.0; 256]);
    let (sums, _) = sums.as_chunks::<8>();
    let product = |place: usize| {
        // Use eight independent sums, so that no addition waits for another.
        let mut product = [0.0_f32; 8];
        for (word, sums) in sketches.bits[place * sketches.width..].iter().zip(sums) {
            for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
                product[i] += sums[i][usize::from(byte)];
            }
        }
        product.iter().sum::<f32>()
    };
    let mut products: Vec<(f32, usize)> = places.into_iter().map(|place| (product(place), place)).collect();
    products.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0));
    products.truncate(count);
    products.into_iter().map(|(_, place)| place).collect()
}

/// Returns the sums of eight components for all combinations of signs. A set bit means that the component is added, a
/// clear bit that it is subtracted.
fn sums_of(part: &[f32]) -> [f32; 256] {
    let mut sums = [-part.iter().sum::<f32>(); 256];
    for byte in 1..256_usize {
        let component = part.get(byte.trailing_zeros() as usize).copied().unwrap_or(0.0);
        sums[byte] = sums[byte & (byte - 1)] + 2.0 * component;
    }
    sums
}

#[cfg(test)]
mod tests;
