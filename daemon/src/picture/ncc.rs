//! Finding pictures in a picture: normalised cross-correlation of brightness, first where a thing was, then coarsely all over,
//! then thoroughly all over.
//!
//! A picture of one brightness has no correlation with anything: it is never found, and nothing is found on a flat ground.

use std::num::NonZero;

use image::RgbImage;

/// Found means this alike, 0 to 1 (seed 001).
pub const FOUND: f64 = 0.8;
/// Two pictures so alike show the same thing (seed 001).
pub const SAME: f64 = 0.92;
/// As alike as this, nothing better is looked for.
const CERTAIN: f64 = 0.95;
/// How far from its place a thing is looked for first, pixels.
const NEAR: i32 = 24;
/// A coarse look needs a template of at least so many pixels in each direction.
const COARSE_SIDE: usize = 6;
/// What a coarse look must find to look closer; shrinking blurs, so that it is less than [`FOUND`].
const COARSE_FOUND: f64 = 0.55;
/// How many places a coarse look proposes.
const PROPOSALS: usize = 6;
/// One row in so many is looked at first where much is to be looked at.
const SPARSE: usize = 4;
/// Brightness that varies less than this says nothing (standard deviation, of 255).
const FLAT: f64 = 2.0;
/// Products of brightness and deviation that fit 32 bits together.
const PIECE: usize = 2048;

/// Brightness of a picture.
#[derive(Debug, Clone)]
pub struct Gray {
    width: usize,
    height: usize,
    pixels: Vec<i16>,
}

impl Gray {
    /// The brightness of a picture.
    pub fn of(picture: &RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let bright = |p: &image::Rgb<u8>| ((u32::from(p[0]) * 299 + u32::from(p[1]) * 587 + u32::from(p[2]) * 114 + 500) / 1000) as i16;
        Self { width, height, pixels: picture.pixels().map(bright).collect() }
    }

    /// Width and height.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Half as wide and high.
    fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let (upper, lower) = (&self.pixels[2 * y * self.width..], &self.pixels[(2 * y + 1) * self.width..]);
            pixels.extend((0..width).map(|x| (upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) / 4));
        }
        Self { width, height, pixels }
    }

    /// Scaled to a size, by taking the nearest pixels.
    fn scaled(&self, width: usize, height: usize) -> Self {
        let at = |x: usize, y: usize| self.pixels[(y * self.height / height) * self.width + x * self.width / width];
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| at(x, y)).collect();
        Self { width, height, pixels }
    }
}

/// Sums over any rectangle of a picture in four steps.
#[derive(Debug)]
struct Ground {
    gray: Gray,
    sums: Vec<i64>,
    squares: Vec<i64>,
}

impl Ground {
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

    fn area(&self, table: &[i64], x: usize, y: usize, w: usize, h: usize) -> i64 {
        let stride = self.gray.width + 1;
        table[(y + h) * stride + x + w] - table[y * stride + x + w] - table[(y + h) * stride + x] + table[y * stride + x]
    }

    /// How alike a template and the place at this corner are, -1 to 1.
    fn likeness(&self, t: &Level, x: usize, y: usize) -> f64 {
        self.likeness_if(t, x, y, f64::NEG_INFINITY)
    }

    /// The same, or 0 where a quarter of the rows tells already that it is not half as much as is wanted.
    fn likeness_if(&self, t: &Level, x: usize, y: usize, wanted: f64) -> f64 {
        let n = (t.width * t.height) as f64;
        let (sum, square) = (self.area(&self.sums, x, y, t.width, t.height), self.area(&self.squares, x, y, t.width, t.height));
        let variance = square as f64 - (sum as f64) * (sum as f64) / n;
        if variance < FLAT * FLAT * n {
            return 0.0;
        }
        let row = |row: usize| {
            let start = (y + row) * self.gray.width + x;
            let ground = &self.gray.pixels[start..start + t.width];
            let line = &t.deviations[row * t.width..(row + 1) * t.width];
            // In pieces: the products of a very wide row do not fit 32 bits together.
            let piece = |(a, b): (&[i16], &[i16])| i64::from(a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>());
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
        // The deviations do not sum up to nothing exactly, as they were rounded.
        (product as f64 - t.residue * sum as f64 / n) / scale
    }
}

/// A template at one size.
#[derive(Debug)]
struct Level {
    width: usize,
    height: usize,
    /// Eight times how far each pixel is from the mean.
    deviations: Vec<i16>,
    residue: f64,
    norm: f64,
    /// The sum of the deviations of every fourth row, and how much more all rows weigh than those.
    sparse_residue: f64,
    sparse_share: f64,
}

impl Level {
    /// `None` when it is flat.
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
        (n > 0.0 && spread >= FLAT).then_some(Self { width, height, deviations, residue, norm, sparse_residue, sparse_share })
    }
}

/// What is looked for, at full, half and quarter size.
#[derive(Debug)]
pub struct Template {
    levels: Vec<Level>,
}

impl Template {
    /// A template of a picture; `None` when it is flat, and so would be found nowhere or everywhere.
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
}

/// How a thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Where it was.
    InPlace,
    /// By a coarse look at everything.
    Coarsely,
    /// By a thorough look at everything.
    Thoroughly,
}

/// Where a thing is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Left edge, pixels.
    pub x: i32,
    /// Top edge, pixels.
    pub y: i32,
    /// How alike, 0 to 1.
    pub likeness: f64,
    /// How it was found.
    pub how: How,
}

/// A rectangle of places: left, top, right, bottom; the last two not included.
type Area = (i32, i32, i32, i32);

/// A picture to be searched.
#[derive(Debug)]
pub struct Scene {
    levels: Vec<Ground>,
}

impl Scene {
    /// Prepares a picture.
    pub fn of(picture: &RgbImage) -> Self {
        let full = Gray::of(picture);
        let half = full.halved();
        let quarter = half.halved();
        Self { levels: [full, half, quarter].into_iter().map(Ground::new).collect() }
    }

    /// Where something can be so that all of it lies in the bounds, at a level.
    fn places(&self, t: &Level, level: usize, bounds: Area) -> Area {
        let (width, height) = self.levels[level].gray.size();
        let shrink = 1 << level;
        let most = |size: usize, own: usize, end: i32| (end / shrink).min(size as i32) - own as i32 + 1;
        ((bounds.0 / shrink).max(0), (bounds.1 / shrink).max(0), most(width, t.width, bounds.2), most(height, t.height, bounds.3))
    }

    /// The best place in an area at a level.
    fn best(&self, t: &Template, level: usize, area: Area) -> Option<(f64, i32, i32)> {
        let level_of = t.levels.get(level)?;
        let mut best: Option<(f64, i32, i32)> = None;
        for y in area.1..area.3 {
            for x in area.0..area.2 {
                let likeness = self.levels[level].likeness(level_of, x as usize, y as usize);
                if best.is_none_or(|b| likeness > b.0) {
                    best = Some((likeness, x, y));
                }
            }
        }
        best
    }

    /// Follows a place of a level down to the full picture.
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

    /// Places at a level that are worth a closer look, the best first; neighbours of better ones left out.
    fn proposals(&self, t: &Template, level: usize, bounds: Area) -> Vec<(f64, i32, i32)> {
        let Some(own) = t.levels.get(level) else { return Vec::new() };
        let area = self.places(own, level, bounds);
        let mut found: Vec<(f64, i32, i32)> = Vec::new();
        for y in area.1..area.3 {
            for x in area.0..area.2 {
                let likeness = self.levels[level].likeness_if(own, x as usize, y as usize, COARSE_FOUND);
                if likeness < COARSE_FOUND || (found.len() == PROPOSALS && found[PROPOSALS - 1].0 >= likeness) {
                    continue;
                }
                match found.iter_mut().find(|f| (f.1 - x).abs() <= 2 && (f.2 - y).abs() <= 2) {
                    Some(near) if near.0 < likeness => *near = (likeness, x, y),
                    Some(_) => {}
                    None => found.push((likeness, x, y)),
                }
                found.sort_by(|a, b| b.0.total_cmp(&a.0));
                found.truncate(PROPOSALS);
            }
        }
        found
    }

    /// Finds a template inside bounds, looking first where it was.
    pub fn find(&self, t: &Template, was_at: Option<(i32, i32)>, bounds: Area) -> Option<Hit> {
        if let Some(hit) = was_at.and_then(|place| self.in_place(t, place, bounds)) {
            return Some(hit);
        }
        let coarsest = t.levels.len() - 1;
        let hit = |found: Option<(f64, i32, i32)>, how| found.filter(|f| f.0 >= FOUND).map(|(likeness, x, y)| Hit { x, y, likeness, how });
        let look = |level: usize, how: How| {
            let refined = self.proposals(t, level, bounds).into_iter().filter_map(|(likeness, x, y)| match level {
                0 => Some((likeness, x, y)),
                _ => self.refine(t, level, (x, y), bounds),
            });
            hit(refined.max_by(|a, b| a.0.total_cmp(&b.0)), how)
        };
        // Quarter size first; then the next finer one, at which nothing that matters is blurred away.
        look(coarsest, How::Coarsely).or_else(|| if coarsest > 0 { look(coarsest - 1, How::Thoroughly) } else { None })
    }

    /// Looks where it was: at the very place, then around it.
    fn in_place(&self, t: &Template, (x, y): (i32, i32), bounds: Area) -> Option<Hit> {
        let all = self.places(&t.levels[0], 0, bounds);
        let inside = |x: i32, y: i32| x >= all.0 && y >= all.1 && x < all.2 && y < all.3;
        let here = if inside(x, y) { self.levels[0].likeness(&t.levels[0], x as usize, y as usize) } else { 0.0 };
        if here >= CERTAIN {
            return Some(Hit { x, y, likeness: here, how: How::InPlace });
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
        let (likeness, cx, cy) = self.best(t, level, area)?;
        let found = if level == 0 { Some((likeness, cx, cy)) } else { self.refine(t, level, (cx, cy), bounds) };
        let better = found.filter(|f| f.0 > here).unwrap_or((here, x, y));
        (better.0 >= FOUND).then_some(Hit { x: better.1, y: better.2, likeness: better.0, how: How::InPlace })
    }
}

/// What is looked for: its picture, and the left and top edge of where it was.
pub type Wanted = (Template, Option<(i32, i32)>);

/// Finds templates inside bounds, on all cores.
pub fn find_all(scene: &Scene, wanted: &[Wanted], bounds: Area) -> Vec<Option<Hit>> {
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
            // A worker that panicked has found nothing.
            worker.join().unwrap_or_default().into_iter().for_each(|(i, hit)| found[i] = hit);
        }
    });
    found
}

/// How alike two pictures of things are, whatever their sizes; 0 when one is more than twice as large as the other, or flat.
pub fn alike(a: &RgbImage, b: &RgbImage) -> f64 {
    let (a, b) = (Gray::of(a), Gray::of(b));
    let far = |x: usize, y: usize| x > 2 * y || y > 2 * x;
    let (width, height) = (a.width.min(b.width), a.height.min(b.height));
    if width < 5 || height < 5 || far(a.width, b.width) || far(a.height, b.height) {
        return 0.0;
    }
    match Level::new(&a.scaled(width, height)) {
        Some(level) => Ground::new(b.scaled(width, height)).likeness(&level, 0, 0),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests;
