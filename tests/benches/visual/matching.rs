//! Finding components by their pictures, compared with an exhaustive search of the whole screen for each component.

use std::time::{Duration, Instant};

use afd_phone::layout::Rng;
use afd_screen::picture::ncc::{self, Scene, Template};
use image::{Rgb, RgbImage, imageops};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use super::SEED;
use crate::Times;

const WIDTH: u32 = 1080;
const HEIGHT: u32 = 2400;
const TEMPLATES: usize = 200;
/// Number of templates with which the reference is measured. Its time is extrapolated to all templates.
const SAMPLE: usize = 20;

/// Returns a synthetic screen of rectangles on coarse noise.
fn screen(seed: u64) -> RgbImage {
    let mut rng = Rng::new(seed);
    let noise = RgbImage::from_fn(WIDTH / 8, HEIGHT / 8, |_, _| Rgb([rng.below(256) as u8; 3]));
    let mut picture = imageops::resize(&noise, WIDTH, HEIGHT, imageops::FilterType::Triangle);
    for _ in 0..60 {
        let (x, y, w, h) =
            (rng.below(1000) as u32, rng.below(2300) as u32, 20 + rng.below(300) as u32, 10 + rng.below(80) as u32);
        let shade = rng.below(256) as u8;
        for (px, py) in (y..(y + h).min(HEIGHT)).flat_map(|py| (x..(x + w).min(WIDTH)).map(move |px| (px, py))) {
            picture.put_pixel(px, py, Rgb([shade; 3]));
        }
    }
    picture
}

/// A region cut out of a screen, and its position there.
struct Part {
    pixels: RgbImage,
    at: (u32, u32),
}

/// Cuts regions out of a screen, between icons and buttons in size.
fn parts(picture: &RgbImage, count: usize) -> Vec<Part> {
    let mut rng = Rng::new(SEED + 2);
    let mut found = Vec::new();
    while found.len() < count {
        let (w, h) = (40 + rng.below(100) as u32, 40 + rng.below(60) as u32);
        let (x, y) = (rng.below(u64::from(WIDTH - w)) as u32, rng.below(u64::from(HEIGHT - h)) as u32);
        let pixels = imageops::crop_imm(picture, x, y, w, h).to_image();
        if Template::of(&pixels).is_some() {
            found.push(Part { pixels, at: (x, y) });
        }
    }
    found
}

/// Exhaustive search by Fourier transforms. The transform of the picture is computed once, and two templates share one
/// transform.
struct ExhaustiveSearch {
    size: (usize, usize),
    picture: Vec<Complex<f32>>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    gray: Vec<f32>,
}

fn gray(picture: &RgbImage) -> Vec<f32> {
    picture.pixels().map(|p| f32::from(p[0]) * 0.299 + f32::from(p[1]) * 0.587 + f32::from(p[2]) * 0.114).collect()
}

/// Computes a two-dimensional Fourier transform: rows, then columns.
fn transform(data: &mut [Complex<f32>], (width, height): (usize, usize), inverse: bool) {
    let mut planner = FftPlanner::new();
    let mut plan = |n| if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) };
    let (rows, columns) = (plan(width), plan(height));
    rows.process(data);
    let mut transposed = vec![Complex::default(); data.len()];
    let transpose = |from: &[Complex<f32>], to: &mut [Complex<f32>], w: usize, h: usize| {
        // In blocks that fit the cache.
        for (by, bx) in (0..h).step_by(32).flat_map(|by| (0..w).step_by(32).map(move |bx| (by, bx))) {
            for y in by..(by + 32).min(h) {
                for x in bx..(bx + 32).min(w) {
                    to[x * h + y] = from[y * w + x];
                }
            }
        }
    };
    transpose(data, &mut transposed, width, height);
    columns.process(&mut transposed);
    transpose(&transposed, data, height, width);
}

impl ExhaustiveSearch {
    fn new(picture: &RgbImage) -> Self {
        let (w, h) = (WIDTH as usize, HEIGHT as usize);
        // Pad to sizes that have only small prime factors.
        let size = (1200, 2500);
        let gray = gray(picture);
        let mut data = vec![Complex::default(); size.0 * size.1];
        let (mut sums, mut squares) = (vec![0.0; (w + 1) * (h + 1)], vec![0.0; (w + 1) * (h + 1)]);
        for y in 0..h {
            let (mut sum, mut square) = (0.0, 0.0);
            for x in 0..w {
                let v = gray[y * w + x];
                data[y * size.0 + x] = Complex::new(v, 0.0);
                sum += f64::from(v);
                square += f64::from(v) * f64::from(v);
                sums[(y + 1) * (w + 1) + x + 1] = sums[y * (w + 1) + x + 1] + sum;
                squares[(y + 1) * (w + 1) + x + 1] = squares[y * (w + 1) + x + 1] + square;
            }
        }
        transform(&mut data, size, false);
        Self { size, picture: data, sums, squares, gray }
    }

    /// Returns the best score and position of each of two templates.
    fn find(&self, a: &RgbImage, b: &RgbImage) -> [(f64, u32, u32); 2] {
        let mut data = vec![Complex::default(); self.size.0 * self.size.1];
        let norms = [a, b].map(|t| {
            let pixels = gray(t);
            let mean = pixels.iter().sum::<f32>() / pixels.len() as f32;
            (pixels.iter().map(|p| p - mean).collect::<Vec<_>>(), t.width() as usize)
        });
        for (i, (pixels, width)) in norms.iter().enumerate() {
            for (n, p) in pixels.iter().enumerate() {
                let at = &mut data[(n / width) * self.size.0 + n % width];
                if i == 0 { at.re = *p } else { at.im = *p }
            }
        }
        transform(&mut data, self.size, false);
        // Correlate both templates at once: one is the real part, the other the imaginary part.
        let (w, h) = self.size;
        let product: Vec<Complex<f32>> = (0..w * h)
            .map(|i| {
                let (x, y) = (i % w, i / w);
                let mirror = data[((h - y) % h) * w + (w - x) % w];
                self.picture[i] * mirror
            })
            .collect();
        let mut product = product;
        transform(&mut product, self.size, true);
        let scale = (w * h) as f64;
        [(a, 0), (b, 1)].map(|(t, part)| {
            let norm = f64::from(norms[part].0.iter().map(|p| p * p).sum::<f32>()).sqrt();
            let (tw, th) = (t.width() as usize, t.height() as usize);
            let n = (tw * th) as f64;
            let stride = WIDTH as usize + 1;
            let area = |table: &[f64], x: usize, y: usize| {
                table[(y + th) * stride + x + tw] - table[y * stride + x + tw] - table[(y + th) * stride + x]
                    + table[y * stride + x]
            };
            let mut best = (0.0, 0, 0);
            for y in 0..=HEIGHT as usize - th {
                for x in 0..=WIDTH as usize - tw {
                    let value = product[y * w + x];
                    let value = f64::from(if part == 0 { value.re } else { value.im }) / scale;
                    let variance = area(&self.squares, x, y) - area(&self.sums, x, y).powi(2) / n;
                    let score = if variance > 1.0 { value / (norm * variance.sqrt()) } else { 0.0 };
                    if score > best.0 {
                        best = (score, x as u32, y as u32);
                    }
                }
            }
            best
        })
    }
}

/// Returns how long an exhaustive search takes for all parts, extrapolated from a sample.
fn reference(picture: &RgbImage, all: &[Part]) -> Duration {
    let exhaustive = ExhaustiveSearch::new(picture);
    assert_eq!(exhaustive.gray.len(), (WIDTH * HEIGHT) as usize);
    let started = Instant::now();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let right: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|n| {
                let exhaustive = &exhaustive;
                scope.spawn(move || {
                    let pairs = all[..SAMPLE].chunks(2).skip(n).step_by(cores);
                    pairs
                        .map(|pair| {
                            exhaustive
                                .find(&pair[0].pixels, &pair[1].pixels)
                                .iter()
                                .zip(pair)
                                .filter(|(f, p)| (f.1, f.2) == p.at)
                                .count()
                        })
                        .sum::<usize>()
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().expect("the worker does not panic")).sum()
    });
    assert_eq!(right, SAMPLE, "the reference finds every part");
    started.elapsed() * u32::try_from(TEMPLATES / SAMPLE).expect("fits in u32")
}

pub(super) fn matching() {
    let picture = screen(SEED);
    let all = parts(&picture, TEMPLATES);
    // Of 200 templates, 15 have moved since they were learned, and 5 are not on the screen.
    let noise = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb([((x / 5 * 7919 + y / 5 * 104_729) % 251) as u8; 3]));
    let elsewhere = parts(&noise, 5);
    let was_at = |i: usize, p: &Part| {
        if i < 15 {
            ((p.at.0 as i32 + 300) % 900, (p.at.1 as i32 + 900) % 2200)
        } else {
            (p.at.0 as i32, p.at.1 as i32)
        }
    };
    let wanted: Vec<ncc::TemplateQuery> = all[..TEMPLATES - 5]
        .iter()
        .enumerate()
        .chain(elsewhere.iter().enumerate().map(|(i, p)| (i + 20, p)))
        .map(|(i, p)| (Template::of(&p.pixels).expect("it is not flat"), Some(was_at(i, p))))
        .collect();
    let bounds = (0, 0, i32::MAX, i32::MAX);
    let once = || {
        let started = Instant::now();
        let scene = Scene::of(&picture);
        let hits = ncc::find_all(&scene, &wanted, bounds);
        (started.elapsed(), hits)
    };
    let (mut times, mut found) = (Vec::new(), 0);
    for _ in 0..5 {
        let (took, hits) = once();
        found = hits
            .iter()
            .take(TEMPLATES - 5)
            .zip(&all)
            .filter(|(hit, p)| hit.is_some_and(|h| (h.x as u32, h.y as u32) == p.at))
            .count();
        assert!(
            hits[TEMPLATES - 5..].iter().all(Option::is_none),
            "templates that are not on the screen are not found"
        );
        times.push(took);
    }
    let ours = Times::new(times);
    let reference = reference(&picture, &all);
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!(
        "visual.match, {TEMPLATES} templates, {found} of {} found in place            {:>10.1} ms; \
         {:>8.1} times faster than an exhaustive search ({:.0} ms, from {SAMPLE} templates); budget 20",
        TEMPLATES - 5,
        ours.p50() / 1e3,
        ms(reference) * 1e3 / ours.p50(),
        ms(reference)
    );
}
