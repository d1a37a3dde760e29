//! Template matching by normalised cross-correlation (NCC) of brightness.
//!
//! The score at a place is the correlation between the template and the pixels there, from -1 to 1, where 1 means equal
//! except for brightness and contrast. Integral images give the mean and the variance of any place in constant time, so
//! only the sum of products has to visit every pixel.
//!
//! A search begins at the last known place and around it. Unless the match there is certain, the whole area is searched
//! too, at the coarsest size of the template (full, half or quarter). If neither finds a match, the next finer size is
//! searched. The best candidates of a reduced size are refined level by level up to full size. Only the score at full
//! size decides, and the best match wins.
//!
//! A match is sure if it is certain at or near its last known place, or clearly better than the match at any other
//! place. Invariant: two templates never match in one place, because the lower score is dropped.
//!
//! The correlation with an area of uniform brightness is not defined: flat templates are rejected, and flat places
//! score 0.
//!
//! The constants below are the thresholds; `COARSE_SCORE` is lower than [`MATCH_SCORE`] because shrinking blurs. The
//! benchmark `tests/benches/visual/matching.rs` compares hits and time with an exhaustive search.

use std::num::NonZero;

use image::RgbImage;

/// Minimum score of a match, 0 to 1.
pub const MATCH_SCORE: f64 = 0.8;
/// Score above which two pictures are assumed to show the same element.
pub const SAME_SCORE: f64 = 0.92;
/// Minimum score at which a match at or near the last known place is accepted without searching further.
const CERTAIN_SCORE: f64 = 0.98;
/// Minimum lead of the best place over the second best for a sure match.
const MARGIN: f64 = 0.03;
/// Share of the union of two matches that their overlap must exceed for them to count as one place, in percent.
const ONE_PLACE_PERCENT: i64 = 60;
/// Distance from the last known place that is searched first, in pixels.
const NEAR: i32 = 24;
/// Minimum width and height of a template at a reduced size, in pixels.
const COARSE_SIDE: usize = 6;
/// Minimum score of a candidate before refinement. It is lower than [`MATCH_SCORE`], because shrinking blurs.
const COARSE_SCORE: f64 = 0.55;
/// Maximum number of candidates that are refined.
const PROPOSALS: usize = 6;
/// Distance between the rows that are compared first, to reject poor places early.
const SPARSE: usize = 4;
/// Standard deviation of brightness (0 to 255) below which an area counts as flat.
const FLAT: f64 = 2.0;
/// Number of products of brightness and deviation whose sum fits in 32 bits.
const PIECE: usize = 2048;

/// A greyscale picture.
#[derive(Debug, Clone)]
pub struct Gray {
    width: usize,
    height: usize,
    pixels: Vec<i16>,
}

impl Gray {
    /// Converts a picture to greyscale.
    pub fn of(picture: &RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let bright = |p: &image::Rgb<u8>| {
            ((u32::from(p[0]) * 299 + u32::from(p[1]) * 587 + u32::from(p[2]) * 114 + 500) / 1000) as i16
        };
        Self { width, height, pixels: picture.pixels().map(bright).collect() }
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns the picture at half its width and height.
    fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let (upper, lower) = (&self.pixels[2 * y * self.width..], &self.pixels[(2 * y + 1) * self.width..]);
            pixels.extend(
                (0..width).map(|x| (upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) / 4),
            );
        }
        Self { width, height, pixels }
    }

    /// Returns the picture scaled to another size with nearest-neighbour sampling.
    fn scaled(&self, width: usize, height: usize) -> Self {
        let at = |x: usize, y: usize| self.pixels[(y * self.height / height) * self.width + x * self.width / width];
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect();
        Self { width, height, pixels }
    }
}

/// A greyscale picture with integral images of its pixels and of their squares.
#[derive(Debug)]
struct IntegralImage {
    gray: Gray,
    sums: Vec<i64>,
    squares: Vec<i64>,
}

impl IntegralImage {
    fn new(gray: Gray) -> Self {
        let stride = gray.width + 1;
        let (mut sums, mut squares) = (vec![0; stride * (gray.height + 1)], vec![0; stride * (gray.height + 1)]);
        for y in 0..gray.height {
            let (mut sum, mut square) = (0, 0);
            for x in 0..gray.width {
                let v = i64::from(gray.pixels[y * gray.width + x]);
                sum += v;
                square += v * v;
                sums[(y + 1) * stride + x + 1] = sums[y * stride + x + 1] + sum;
                squares[(y + 1) * stride + x + 1] = squares[y * stride + x + 1] + square;
            }
        }
        Self { gray, sums, squares }
    }

    /// Returns the sum of the values in a rectangle, computed from an integral image.
    fn area(&self, table: &[i64], x: usize, y: usize, w: usize, h: usize) -> i64 {
        let stride = self.gray.width + 1;
        table[(y + h) * stride + x + w] - table[y * stride + x + w] - table[(y + h) * stride + x]
            + table[y * stride + x]
    }

    /// Returns the score, -1 to 1, of a template whose top left corner is at `(x, y)`.
    fn score(&self, t: &Level, x: usize, y: usize) -> f64 {
        self.score_if(t, x, y, f64::NEG_INFINITY)
    }

    /// Returns [`Self::score`], or 0 if the rows that are compared first already predict less than half of the `wanted`
    /// score.
    fn score_if(&self, t: &Level, x: usize, y: usize, wanted: f64) -> f64 {
        let n = (t.width * t.height) as f64;
        let (sum, square) =
            (self.area(&self.sums, x, y, t.width, t.height), self.area(&self.squares, x, y, t.width, t.height));
        let variance = square as f64 - (sum as f64) * (sum as f64) / n;
        if variance < FLAT * FLAT * n {
            return 0.0;
        }
        let row = |row: usize| {
            let start = (y + row) * self.gray.width + x;
            let ground = &self.gray.pixels[start..start + t.width];
            let line = &t.deviations[row * t.width..(row + 1) * t.width];
            // The row is summed in pieces, because the products of a very wide row could overflow 32 bits.
            let piece = |(a, b): (&[i16], &[i16])| {
                i64::from(a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>())
            };
            line.chunks(PIECE).zip(ground.chunks(PIECE)).map(piece).sum::<i64>()
        };
        let scale = t.norm * variance.sqrt();
        let mut product: i64 = (0..t.height).step_by(SPARSE).map(row).sum();
        if t.height >= 2 * SPARSE {
            let mean = sum as f64 / n;
            let sparse = (product as f64 - t.sparse_residue * mean) * t.sparse_share;
            if sparse < wanted / 2.0 * scale {
                return 0.0;
            }
        }
        product += (0..t.height).filter(|r| r % SPARSE != 0).map(row).sum::<i64>();
        // Correct for rounding, because the deviations do not sum up to exactly zero.
        (product as f64 - t.residue * sum as f64 / n) / scale
    }
}

/// A template at one size.
#[derive(Debug)]
struct Level {
    width: usize,
    height: usize,
    /// Eight times the deviation of each pixel from the mean, rounded.
    deviations: Vec<i16>,
    residue: f64,
    norm: f64,
    /// Sum of the deviations in the rows that are compared first.
    sparse_residue: f64,
    /// Ratio of the sum of the squared deviations in all rows to the sum in the rows that are compared first.
    sparse_share: f64,
}

impl Level {
    /// Prepares a template at one size. Returns `None` if the template is flat.
    fn new(gray: &Gray) -> Option<Self> {
        let n = gray.pixels.len() as f64;
        let mean = gray.pixels.iter().map(|p| f64::from(*p)).sum::<f64>() / n;
        let deviations: Vec<i16> = gray.pixels.iter().map(|p| ((f64::from(*p) - mean) * 8.0).round() as i16).collect();
        let residue = deviations.iter().map(|d| f64::from(*d)).sum::<f64>();
        let square = deviations.iter().map(|d| f64::from(*d) * f64::from(*d)).sum::<f64>();
        let spread = (square / n).sqrt() / 8.0;
        let sparse = || deviations.chunks_exact(gray.width.max(1)).step_by(SPARSE).flatten().map(|d| f64::from(*d));
        let (sparse_residue, sparse_square) = (sparse().sum::<f64>(), sparse().map(|d| d * d).sum::<f64>());
        let sparse_share = if sparse_square > 0.0 { square / sparse_square } else { 0.0 };
        let (width, height, norm) = (gray.width, gray.height, square.sqrt());
        (n > 0.0 && spread >= FLAT).then_some(Self {
            width,
            height,
            deviations,
            residue,
            norm,
            sparse_residue,
            sparse_share,
        })
    }
}

/// A picture to search for, at full, half and quarter size. Reduced sizes at which it would be too small or flat are
/// left out.
#[derive(Debug)]
pub struct Template {
    levels: Vec<Level>,
}

impl Template {
    /// Prepares a template. Returns `None` if the picture is empty or flat, because it would match nowhere or
    /// everywhere.
    pub fn of(picture: &RgbImage) -> Option<Self> {
        let gray = Gray::of(picture);
        if gray.width == 0 || gray.height == 0 {
            return None;
        }
        let mut levels = vec![Level::new(&gray)?];
        let mut smaller = gray;
        while levels.len() < 3 && smaller.width / 2 >= COARSE_SIDE && smaller.height / 2 >= COARSE_SIDE {
            smaller = smaller.halved();
            match Level::new(&smaller) {
                Some(level) => levels.push(level),
                None => break,
            }
        }
        Some(Self { levels })
    }

    /// Returns the width and height in pixels.
    fn size(&self) -> (i32, i32) {
        let pixels = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        (pixels(self.levels[0].width), pixels(self.levels[0].height))
    }
}

/// The search step that found a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// Search at or around the last known place.
    InPlace,
    /// Search over the whole area, at the coarsest size.
    Coarsely,
    /// Search over the whole area, at the next finer size.
    Thoroughly,
}

/// A place at which a template matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Left edge of the match, in pixels of the searched picture.
    pub x: i32,
    /// Top edge of the match, in pixels of the searched picture.
    pub y: i32,
    /// Score of the match, from 0 to 1, where 1 means equal except for brightness and contrast.
    pub score: f64,
    /// Search step that found the match.
    pub how: SearchStep,
    /// Whether the match is certain at or near its last known place, or clearly better than at any other place.
    pub sure: bool,
}

/// A rectangle of places: left, top, right, bottom; right and bottom are exclusive.
type Area = (i32, i32, i32, i32);

/// A picture to search in, at full, half and quarter size.
#[derive(Debug)]
pub struct Scene {
    levels: Vec<IntegralImage>,
}

impl Scene {
    /// Prepares a picture to search in.
    pub fn of(picture: &RgbImage) -> Self {
        let full = Gray::of(picture);
        let half = full.halved();
        let quarter = half.halved();
        Self { levels: [full, half, quarter].into_iter().map(IntegralImage::new).collect() }
    }

    /// Returns the places at a level where the whole template lies inside the bounds.
    fn places(&self, t: &Level, level: usize, bounds: Area) -> Area {
        let (width, height) = self.levels[level].gray.size();
        let shrink = 1 << level;
        let most = |size: usize, own: usize, end: i32| (end / shrink).min(size as i32) - own as i32 + 1;
        (
            (bounds.0 / shrink).max(0),
            (bounds.1 / shrink).max(0),
            most(width, t.width, bounds.2),
            most(height, t.height, bounds.3),
        )
    }

    /// Returns the best score in an area at a level, and its place.
    fn best(&self, t: &Template, level: usize, area: Area) -> Option<(f64, i32, i32)> {
        let level_of = t.levels.get(level)?;
        let mut best: Option<(f64, i32, i32)> = None;
        for y in area.1..area.3 {
            for x in area.0..area.2 {
                let score = self.levels[level].score(level_of, x as usize, y as usize);
                if best.is_none_or(|b| score > b.0) {
                    best = Some((score, x, y));
                }
            }
        }
        best
    }

    /// Refines a place that was found at a reduced size, level by level up to full size.
    fn refine(&self, t: &Template, level: usize, (x, y): (i32, i32), bounds: Area) -> Option<(f64, i32, i32)> {
        let (mut x, mut y) = (x, y);
        let mut found = None;
        for finer in (0..level).rev() {
            let all = self.places(&t.levels[finer], finer, bounds);
            let (cx, cy) = (x * 2, y * 2);
            let area = ((cx - 3).max(all.0), (cy - 3).max(all.1), (cx + 4).min(all.2), (cy + 4).min(all.3));
            found = self.best(t, finer, area);
            (x, y) = found.map(|(_, x, y)| (x, y))?;
        }
        found
    }

    /// Returns the best candidates at a level, best first. Of candidates at most two pixels apart, only the best is
    /// kept.
    fn proposals(&self, t: &Template, level: usize, bounds: Area) -> Vec<(f64, i32, i32)> {
        let Some(own) = t.levels.get(level) else { return Vec::new() };
        let area = self.places(own, level, bounds);
        let mut found: Vec<(f64, i32, i32)> = Vec::new();
        for y in area.1..area.3 {
            for x in area.0..area.2 {
                let score = self.levels[level].score_if(own, x as usize, y as usize, COARSE_SCORE);
                if score < COARSE_SCORE || (found.len() == PROPOSALS && found[PROPOSALS - 1].0 >= score) {
                    continue;
                }
                match found.iter_mut().find(|f| (f.1 - x).abs() <= 2 && (f.2 - y).abs() <= 2) {
                    Some(near) if near.0 < score => *near = (score, x, y),
                    Some(_) => {}
                    None => found.push((score, x, y)),
                }
                found.sort_by(|a, b| b.0.total_cmp(&a.0));
                found.truncate(PROPOSALS);
            }
        }
        found
    }

    /// Searches for a template inside the bounds, beginning around its last known place.
    pub fn find(&self, t: &Template, was_at: Option<(i32, i32)>, bounds: Area) -> Option<Match> {
        let here = was_at.and_then(|place| self.in_place(t, place, bounds));
        if let Some(hit) = here.filter(|hit| hit.score >= CERTAIN_SCORE) {
            return Some(hit);
        }
        let coarsest = t.levels.len() - 1;
        let look = |level: usize, how: SearchStep| -> Vec<Match> {
            let refined = self.proposals(t, level, bounds).into_iter().filter_map(|(score, x, y)| match level {
                0 => Some((score, x, y)),
                _ => self.refine(t, level, (x, y), bounds),
            });
            refined
                .filter(|f| f.0 >= MATCH_SCORE)
                .map(|(score, x, y)| Match { x, y, score, how, sure: false })
                .collect()
        };
        // The coarsest size is searched first. The next finer size keeps the details that the coarsest blurs away.
        let mut found = look(coarsest, SearchStep::Coarsely);
        if found.is_empty() && here.is_none() && coarsest > 0 {
            found = look(coarsest - 1, SearchStep::Thoroughly);
        }
        found.extend(here);
        // Among equal scores, the match in place wins, because it comes last.
        let best = found.iter().copied().max_by(|a, b| a.score.total_cmp(&b.score))?;
        let (width, height) = t.size();
        let apart = |m: &&Match| (m.x - best.x).abs() > width / 2 || (m.y - best.y).abs() > height / 2;
        let second = found.iter().filter(apart).map(|m| m.score).fold(0.0, f64::max);
        Some(Match { sure: best.score - second >= MARGIN, ..best })
    }

    /// Searches at the last known place, then around it.
    fn in_place(&self, t: &Template, (x, y): (i32, i32), bounds: Area) -> Option<Match> {
        let all = self.places(&t.levels[0], 0, bounds);
        let inside = |x: i32, y: i32| x >= all.0 && y >= all.1 && x < all.2 && y < all.3;
        let here = if inside(x, y) { self.levels[0].score(&t.levels[0], x as usize, y as usize) } else { 0.0 };
        if here >= CERTAIN_SCORE {
            return Some(Match { x, y, score: here, how: SearchStep::InPlace, sure: true });
        }
        let level = t.levels.len() - 1;
        let shrink = 1 << level;
        let coarse = self.places(&t.levels[level], level, bounds);
        let near = NEAR / shrink + 1;
        let area = (
            (x / shrink - near).max(coarse.0),
            (y / shrink - near).max(coarse.1),
            (x / shrink + near + 1).min(coarse.2),
            (y / shrink + near + 1).min(coarse.3),
        );
        let (score, cx, cy) = self.best(t, level, area)?;
        let found = if level == 0 { Some((score, cx, cy)) } else { self.refine(t, level, (cx, cy), bounds) };
        let better = found.filter(|f| f.0 > here).unwrap_or((here, x, y));
        let sure = better.0 >= CERTAIN_SCORE;
        (better.0 >= MATCH_SCORE).then_some(Match {
            x: better.1,
            y: better.2,
            score: better.0,
            how: SearchStep::InPlace,
            sure,
        })
    }
}

/// A template, with the left and top edges of its last known place if there is one, in pixels.
pub type TemplateQuery = (Template, Option<(i32, i32)>);

/// Searches for templates inside the bounds, on all cores. The results are in the order of the templates.
pub fn find_all(scene: &Scene, wanted: &[TemplateQuery], bounds: Area) -> Vec<Option<Match>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some((template, was_at)) = wanted.get(i) else { return done };
            done.push((i, scene.find(template, *was_at, bounds)));
        }
    };
    let mut found = vec![None; wanted.len()];
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(wanted.len()).max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // The templates of a worker that panicked count as not found.
            worker.join().unwrap_or_default().into_iter().for_each(|(i, hit)| found[i] = hit);
        }
    });
    leave_each_place_to_the_best(&mut found, wanted);
    found
}

/// Drops matches at places where another template matches better.
fn leave_each_place_to_the_best(found: &mut [Option<Match>], wanted: &[TemplateQuery]) {
    let mut order: Vec<usize> = (0..found.len()).filter(|i| found[*i].is_some()).collect();
    let score = |found: &[Option<Match>], i: usize| found[i].map_or(0.0, |m| m.score);
    order.sort_by(|a, b| score(found, *b).total_cmp(&score(found, *a)));
    let area = |i: usize, m: &Match| {
        let (width, height) = wanted[i].0.size();
        (m.x, m.y, m.x + width, m.y + height)
    };
    let mut taken: Vec<Area> = Vec::new();
    for i in order {
        let Some(hit) = &found[i] else { continue };
        let own = area(i, hit);
        if taken.iter().any(|other| is_one_place(own, *other)) {
            found[i] = None;
        } else {
            taken.push(own);
        }
    }
}

/// Returns whether two rectangles cover mostly the same pixels.
fn is_one_place(a: Area, b: Area) -> bool {
    let size = |r: Area| i64::from((r.2 - r.0).max(0)) * i64::from((r.3 - r.1).max(0));
    let common = size((a.0.max(b.0), a.1.max(b.1), a.2.min(b.2), a.3.min(b.3)));
    common * 100 > (size(a) + size(b) - common) * ONE_PLACE_PERCENT
}

/// Scales two pictures to a common size and returns their score, -1 to 1. The score is 0 if one picture is more than
/// twice as wide or high as the other, or if either picture is flat or has a side shorter than five pixels.
pub fn similarity(a: &RgbImage, b: &RgbImage) -> f64 {
    let (a, b) = (Gray::of(a), Gray::of(b));
    let far = |x: usize, y: usize| x > 2 * y || y > 2 * x;
    let (width, height) = (a.width.min(b.width), a.height.min(b.height));
    if width < 5 || height < 5 || far(a.width, b.width) || far(a.height, b.height) {
        return 0.0;
    }
    match Level::new(&a.scaled(width, height)) {
        Some(level) => IntegralImage::new(b.scaled(width, height)).score(&level, 0, 0),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests;
