//! One learning step of the visual memory, beside the plain way: four JSON files read, all pairs of states compared, four files
//! written. And finding components by their pictures, beside searching the whole picture for each.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use afd::page::Rect;
use afd::picture::ncc::{self, Scene, Template};
use afd::store::Store;
use afd::visual::learn::learn;
use afd::visual::lesson::{Lesson, Sighting};
use afd::visual::{Index, Scope, files};
use afd_phone::layout::Rng;
use image::{Rgb, RgbImage, imageops};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use serde_json::{Map, Value, json};

use crate::{Times, report};

/// The generator of all that is learned here.
const SEED: u64 = 20_261_122;
/// Components of a state, and elements seen in a step: 30 of 35 are those of a state.
const SET: usize = 30;
const SEEN: usize = 35;
const STEPS: usize = 64;
/// So many states are looked at.
const POOL: usize = 16;
/// The plain way takes seconds where states are many.
const PLAIN_STEPS: usize = 5;

fn name(n: usize) -> String {
    format!("component_{n:05}")
}

/// A set of different numbers below `n`.
fn pick(rng: &mut Rng, count: usize, n: usize, mut set: Vec<usize>) -> Vec<usize> {
    while set.len() < count {
        let next = rng.below(n as u64) as usize;
        if !set.contains(&next) {
            set.push(next);
        }
    }
    set
}

/// Writes a store of the original: components, and states of 30 of them with three transitions each. Returns the sets.
fn generate(dir: &Path, components: usize, states: usize) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(SEED);
    let at = "2026-03-23 15:30:00";
    let row = |n: usize| json!({"type": "icon", "source": "gpa_detector", "rel_x": n % 1000, "rel_y": n / 10, "w": 40, "h": 40, "icon_file": format!("components/{}.png", name(n)), "label": name(n), "confidence": 0.9, "page": "page", "learned_at": at, "last_seen": at, "seen_count": 5, "consecutive_misses": 0});
    let all: Map<String, Value> = (0..components).map(|n| (name(n), row(n))).collect();
    let sets: Vec<Vec<usize>> = (0..states).map(|_| pick(&mut rng, SET, components, Vec::new())).collect();
    let id = |i: usize| format!("s_{i:06}");
    let state = |(i, set): (usize, &Vec<usize>)| {
        let names: Vec<String> = set.iter().map(|n| name(*n)).collect();
        (
            id(i),
            json!({"name": id(i), "description": null, "defining_components": names, "first_seen": at, "last_seen": at, "visit_count": 20}),
        )
    };
    let mut edges = Map::new();
    for i in 0..states {
        for n in 0..3 {
            let (from, to, action) = (id(i), id(rng.below(states as u64) as usize), format!("click:{n}"));
            edges.insert(
                format!("{from}|{action}|{to}"),
                json!({"from_state": from, "action": action, "to_state": to, "count": 2, "last_used": at, "success_rate": 1.0}),
            );
        }
    }
    let meta =
        json!({"app": "bench", "domain": "", "detect_count": 100, "last_updated": at, "img_size": [1080, 2400], "forget_threshold": 15});
    let files = [
        ("meta.json", meta),
        ("components.json", Value::Object(all)),
        ("states.json", Value::Object(sets.iter().enumerate().map(state).collect())),
        ("transitions.json", Value::Object(edges)),
    ];
    for (file, value) in files {
        std::fs::write(dir.join(file), serde_json::to_string_pretty(&value).expect("is JSON")).expect("writes");
    }
    sets
}

/// What each step sees: the 30 components of a state, and five others that stand on the same page. A pool of pages is looked at
/// in turn.
fn looks(sets: &[Vec<usize>], components: usize) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(SEED + 1);
    let first = rng.below(sets.len() as u64) as usize;
    let pages: Vec<Vec<usize>> = (0..POOL).map(|i| pick(&mut rng, SEEN, components, sets[(first + i) % sets.len()].clone())).collect();
    (0..3 * POOL + 2 * STEPS).map(|i| pages[i % POOL].clone()).collect()
}

/// The plain way, as the original does it; returns whether a state matched.
fn plain(dir: &Path, seen: &[usize]) -> bool {
    let read =
        |file: &str| -> Map<String, Value> { serde_json::from_slice(&std::fs::read(dir.join(file)).expect("reads")).expect("is JSON") };
    let (mut meta, mut components, mut states, transitions) =
        (read("meta.json"), read("components.json"), read("states.json"), read("transitions.json"));
    let seen: HashSet<String> = seen.iter().map(|n| name(*n)).collect();
    for (name, row) in &mut components {
        let (count, misses) = (row["seen_count"].as_i64().unwrap_or(0), row["consecutive_misses"].as_i64().unwrap_or(0));
        (row["seen_count"], row["consecutive_misses"]) =
            if seen.contains(name) { (json!(count + 1), json!(0)) } else { (json!(count), json!(misses)) };
    }
    meta["detect_count"] = json!(meta["detect_count"].as_i64().unwrap_or(0) + 1);
    let stale: Vec<&String> =
        components.iter().filter(|(_, row)| row["consecutive_misses"].as_i64() >= Some(15)).map(|(name, _)| name).collect();
    assert!(stale.is_empty());
    let sets: Vec<(String, HashSet<&str>)> = states
        .iter()
        .map(|(id, s)| (id.clone(), s["defining_components"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()))
        .collect();
    let of_seen: HashSet<&str> = seen.iter().map(String::as_str).collect();
    let jaccard = |a: &HashSet<&str>, b: &HashSet<&str>| {
        let common = a.intersection(b).count();
        common as f64 / (a.len() + b.len() - common) as f64
    };
    let best = sets.iter().map(|(id, set)| (jaccard(set, &of_seen), id.clone())).max_by(|a, b| a.0.total_cmp(&b.0));
    let merges = (0..sets.len()).any(|i| (i + 1..sets.len()).any(|j| jaccard(&sets[i].1, &sets[j].1) > 0.85));
    assert!(!merges);
    let Some((likeness, id)) = best else { return false };
    drop(sets);
    if likeness > 0.7 {
        let state = &mut states[&id];
        state["visit_count"] = json!(state["visit_count"].as_i64().unwrap_or(0) + 1);
    }
    for (file, value) in [("meta.json", meta), ("components.json", components), ("states.json", states), ("transitions.json", transitions)]
    {
        // As durable as a commit: written beside, synced, renamed.
        let path = dir.join(format!("{file}.tmp"));
        let mut out = std::fs::File::create(&path).expect("creates");
        std::io::Write::write_all(&mut out, &serde_json::to_vec_pretty(&value).expect("is JSON")).expect("writes");
        out.sync_all().expect("syncs");
        std::fs::rename(path, dir.join(file)).expect("renames");
    }
    likeness > 0.7
}

fn sighting(n: usize) -> Sighting {
    let (left, top) = ((n % 1000) as i32 - 20, (n / 10) as i32 - 20);
    Sighting {
        key: format!("name:{}", name(n)),
        name: name(n),
        source: "gpa_detector".into(),
        kind: "icon".into(),
        label: Some(name(n)),
        steady: true,
        scrolls: false,
        res_id: None,
        class: None,
        bounds: Some(Rect { left, top, right: left + 40, bottom: top + 40 }),
        confidence: Some(0.9),
        crop: None,
    }
}

/// One step after the other, each acknowledged after its commit; then the same number eight at a time, as they come when several
/// devices are looked at. Both after each state was seen once: a page that came from a file is linked to its components then.
fn ours(dir: &Path, db: &Path, steps: &[Vec<usize>]) -> (Times, f64, f64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(db, &afd::task::Tasks::default(), |_| Ok(0)).expect("opens");
        let index = std::sync::Arc::new(Index::default());
        let scope = Scope { app: "bench".into(), site: None };
        let directory = files::read(dir).expect("reads").remove(0);
        let (known, own) = (index.clone(), scope.clone());
        store.write(move |c| files::take_up(c, "bench", &known, &own, directory, 1).map(|_| ())).await.expect("imports");
        let step = |seen: &Vec<usize>| {
            let sightings = seen.iter().map(|n| sighting(*n)).collect();
            let lesson = Lesson { scope: scope.clone(), structure: None, sightings, texts: Vec::new(), page: None, at: 2 };
            let index = index.clone();
            let done = store.write(move |c| learn(c, "bench", &index, &lesson));
            async { assert!(done.await.expect("learns").state.is_some_and(|s| s > 0), "it is a state that was known") }
        };
        for seen in &steps[..3 * POOL] {
            step(seen).await;
        }
        let mut floor = Vec::new();
        for n in 0..STEPS {
            let begun = Instant::now();
            store.write(move |c| Ok(c.execute("UPDATE apps SET updated_at = ?1", [n as i64])?)).await.expect("writes");
            floor.push(begun.elapsed());
        }
        let mut times = Vec::new();
        for seen in &steps[3 * POOL..3 * POOL + STEPS] {
            let begun = Instant::now();
            step(seen).await;
            times.push(begun.elapsed());
        }
        let begun = Instant::now();
        for eight in steps[3 * POOL + STEPS..].chunks(8) {
            futures_util::future::join_all(eight.iter().map(step)).await;
        }
        let together = begun.elapsed().as_secs_f64() * 1e6 / STEPS as f64;
        store.close();
        (Times::new(times), together, Times::new(floor).p50())
    })
}

fn learning() {
    for components in [100, 1_000, 5_000] {
        let mut few = None;
        for states in [20, 200, 1_000, 10_000] {
            let dir = tempfile::tempdir().expect("a directory");
            let files = dir.path().join("bench");
            std::fs::create_dir(&files).expect("a directory");
            let sets = generate(&files, components, states);
            let steps = looks(&sets, components);
            let (ours, together, floor) = ours(&files, &dir.path().join("m.db"), &steps);
            let few = *few.get_or_insert(ours.p50());
            let what = format!("learning step, {components} components, {states} states");
            if states > 1_000 {
                report(&what, ours.p50(), few, "us", "the same at 20 states", "2x");
                continue;
            }
            let once = |seen: &Vec<usize>| {
                let begun = Instant::now();
                assert!(plain(&files, seen), "it matches");
                begun.elapsed()
            };
            let plain = Times::new(steps[..PLAIN_STEPS].iter().map(once).collect());
            let budget = match (components, states) {
                (100, 20) => "10",
                (1_000, 1_000) => "100",
                _ => "-",
            };
            println!(
                "{what:<52} {:>10.1} us alone, {together:.0} us eight at a time (an empty commit {floor:.0} us); {:.1} and {:.1} times faster than the plain way ({:.0} us); budget {budget}",
                ours.p50(),
                plain.p50() / ours.p50(),
                plain.p50() / together,
                plain.p50()
            );
        }
    }
}

const WIDTH: u32 = 1080;
const HEIGHT: u32 = 2400;
const TEMPLATES: usize = 200;
/// The reference is measured on so many and counted for all.
const SAMPLE: usize = 20;

/// A screen of rectangles and coarse grains.
fn screen(seed: u64) -> RgbImage {
    let mut rng = Rng::new(seed);
    let grains = RgbImage::from_fn(WIDTH / 8, HEIGHT / 8, |_, _| Rgb([rng.below(256) as u8; 3]));
    let mut picture = imageops::resize(&grains, WIDTH, HEIGHT, imageops::FilterType::Triangle);
    for _ in 0..60 {
        let (x, y, w, h) = (rng.below(1000) as u32, rng.below(2300) as u32, 20 + rng.below(300) as u32, 10 + rng.below(80) as u32);
        let shade = rng.below(256) as u8;
        for (px, py) in (y..(y + h).min(HEIGHT)).flat_map(|py| (x..(x + w).min(WIDTH)).map(move |px| (px, py))) {
            picture.put_pixel(px, py, Rgb([shade; 3]));
        }
    }
    picture
}

struct Part {
    pixels: RgbImage,
    at: (u32, u32),
}

/// Parts of a screen, from icons to buttons.
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

/// Correlation with all places of the picture by Fourier transforms: that of the picture is made once, and two templates share one.
struct Everywhere {
    size: (usize, usize),
    picture: Vec<Complex<f32>>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    gray: Vec<f32>,
}

fn gray(picture: &RgbImage) -> Vec<f32> {
    picture.pixels().map(|p| f32::from(p[0]) * 0.299 + f32::from(p[1]) * 0.587 + f32::from(p[2]) * 0.114).collect()
}

/// A transform in both directions: rows, then columns.
fn transform(data: &mut [Complex<f32>], (width, height): (usize, usize), inverse: bool) {
    let mut planner = FftPlanner::new();
    let mut plan = |n| if inverse { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) };
    let (rows, columns) = (plan(width), plan(height));
    rows.process(data);
    let mut turned = vec![Complex::default(); data.len()];
    let turn = |from: &[Complex<f32>], to: &mut [Complex<f32>], w: usize, h: usize| {
        // In blocks that fit the cache.
        for (by, bx) in (0..h).step_by(32).flat_map(|by| (0..w).step_by(32).map(move |bx| (by, bx))) {
            for y in by..(by + 32).min(h) {
                for x in bx..(bx + 32).min(w) {
                    to[x * h + y] = from[y * w + x];
                }
            }
        }
    };
    turn(data, &mut turned, width, height);
    columns.process(&mut turned);
    turn(&turned, data, height, width);
}

impl Everywhere {
    fn new(picture: &RgbImage) -> Self {
        let (w, h) = (WIDTH as usize, HEIGHT as usize);
        // Sizes whose only factors are small.
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

    /// The best places of two templates.
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
        // Correlating with both at once: the templates stand in the real and in the imaginary part.
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
                table[(y + th) * stride + x + tw] - table[y * stride + x + tw] - table[(y + th) * stride + x] + table[y * stride + x]
            };
            let mut best = (0.0, 0, 0);
            for y in 0..=HEIGHT as usize - th {
                for x in 0..=WIDTH as usize - tw {
                    let value = product[y * w + x];
                    let value = f64::from(if part == 0 { value.re } else { value.im }) / scale;
                    let variance = area(&self.squares, x, y) - area(&self.sums, x, y).powi(2) / n;
                    let likeness = if variance > 1.0 { value / (norm * variance.sqrt()) } else { 0.0 };
                    if likeness > best.0 {
                        best = (likeness, x as u32, y as u32);
                    }
                }
            }
            best
        })
    }
}

fn matching() {
    let picture = screen(SEED);
    let all = parts(&picture, TEMPLATES);
    // Of 200, 15 were somewhere else before, and 5 are not there.
    let grains = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb([((x / 5 * 7919 + y / 5 * 104_729) % 251) as u8; 3]));
    let elsewhere = parts(&grains, 5);
    let was_at = |i: usize, p: &Part| {
        if i < 15 { ((p.at.0 as i32 + 300) % 900, (p.at.1 as i32 + 900) % 2200) } else { (p.at.0 as i32, p.at.1 as i32) }
    };
    let wanted: Vec<ncc::Wanted> = all[..TEMPLATES - 5]
        .iter()
        .enumerate()
        .chain(elsewhere.iter().enumerate().map(|(i, p)| (i + 20, p)))
        .map(|(i, p)| (Template::of(&p.pixels).expect("it is not flat"), Some(was_at(i, p))))
        .collect();
    let bounds = (0, 0, i32::MAX, i32::MAX);
    let once = || {
        let begun = Instant::now();
        let scene = Scene::of(&picture);
        let hits = ncc::find_all(&scene, &wanted, bounds);
        (begun.elapsed(), hits)
    };
    let (mut times, mut found) = (Vec::new(), 0);
    for _ in 0..5 {
        let (took, hits) = once();
        found = hits.iter().take(TEMPLATES - 5).zip(&all).filter(|(hit, p)| hit.is_some_and(|h| (h.x as u32, h.y as u32) == p.at)).count();
        assert!(hits[TEMPLATES - 5..].iter().all(Option::is_none), "what is not there is not found");
        times.push(took);
    }
    let ours = Times::new(times);
    let everywhere = Everywhere::new(&picture);
    assert_eq!(everywhere.gray.len(), (WIDTH * HEIGHT) as usize);
    let begun = Instant::now();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let right: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|n| {
                let (everywhere, all) = (&everywhere, &all);
                scope.spawn(move || {
                    let pairs = all[..SAMPLE].chunks(2).skip(n).step_by(cores);
                    pairs
                        .map(|pair| {
                            everywhere.find(&pair[0].pixels, &pair[1].pixels).iter().zip(pair).filter(|(f, p)| (f.1, f.2) == p.at).count()
                        })
                        .sum::<usize>()
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().expect("searches")).sum()
    });
    let reference = begun.elapsed() * u32::try_from(TEMPLATES / SAMPLE).expect("few");
    assert_eq!(right, SAMPLE, "the reference finds all");
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!(
        "visual.match, {TEMPLATES} templates, {found} of {} found at their place      {:>10.1} ms; {:>8.1} times faster than all over by Fourier transforms ({:.0} ms, {SAMPLE} measured); budget 20",
        TEMPLATES - 5,
        ours.p50() / 1e3,
        ms(reference) * 1e3 / ours.p50(),
        ms(reference)
    );
}

pub fn run() {
    learning();
    matching();
}
