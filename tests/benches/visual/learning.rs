//! One learning step of the visual memory, compared with a naive implementation that reads four JSON files, compares
//! all pairs of states, and writes the four files.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use afd_experience::visual::learn::learn;
use afd_experience::visual::lesson::{Lesson, Sighting};
use afd_experience::visual::{Index, Scope, files};
use afd_phone::layout::Rng;
use afd_screen::page::Rect;
use afd_store::Store;
use serde_json::{Map, Value, json};

use super::SEED;
use crate::{Times, report};

/// Number of components of a state.
const SET: usize = 30;
/// Number of elements seen in a step; [`SET`] of them are the components of a state.
const SEEN: usize = 35;
const STEPS: usize = 64;
/// Number of states that the steps visit in turn.
const POOL: usize = 16;
/// Number of steps measured for the naive implementation, which takes seconds with many states.
const NAIVE_STEPS: usize = 5;

fn name(n: usize) -> String {
    format!("component_{n:05}")
}

/// Adds different numbers below `n` to `set` until it has `count` of them.
fn pick(rng: &mut Rng, count: usize, n: usize, mut set: Vec<usize>) -> Vec<usize> {
    while set.len() < count {
        let next = rng.below(n as u64) as usize;
        if !set.contains(&next) {
            set.push(next);
        }
    }
    set
}

/// Writes files in the format that `visual.import` reads: components, and states of 30 components with three
/// transitions each. Returns the components of each state.
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
    let meta = json!({"app": "bench", "domain": "", "detect_count": 100, "last_updated": at, "img_size": [1080, 2400], "forget_threshold": 15});
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

/// Returns the elements that each step sees: the 30 components of a state and five others on the same page. The steps
/// visit a pool of pages in turn.
fn visits(sets: &[Vec<usize>], components: usize) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(SEED + 1);
    let first = rng.below(sets.len() as u64) as usize;
    let pages: Vec<Vec<usize>> =
        (0..POOL).map(|i| pick(&mut rng, SEEN, components, sets[(first + i) % sets.len()].clone())).collect();
    (0..3 * POOL + 2 * STEPS).map(|i| pages[i % POOL].clone()).collect()
}

/// Performs a naive learning step on the files; returns whether a state matched.
fn naive(dir: &Path, seen: &[usize]) -> bool {
    let read = |file: &str| -> Map<String, Value> {
        serde_json::from_slice(&std::fs::read(dir.join(file)).expect("reads")).expect("is JSON")
    };
    let (mut meta, mut components, mut states, transitions) =
        (read("meta.json"), read("components.json"), read("states.json"), read("transitions.json"));
    let seen: HashSet<String> = seen.iter().map(|n| name(*n)).collect();
    for (name, row) in &mut components {
        let (count, misses) =
            (row["seen_count"].as_i64().unwrap_or(0), row["consecutive_misses"].as_i64().unwrap_or(0));
        (row["seen_count"], row["consecutive_misses"]) =
            if seen.contains(name) { (json!(count + 1), json!(0)) } else { (json!(count), json!(misses)) };
    }
    meta["detect_count"] = json!(meta["detect_count"].as_i64().unwrap_or(0) + 1);
    let stale: Vec<&String> = components
        .iter()
        .filter(|(_, row)| row["consecutive_misses"].as_i64() >= Some(15))
        .map(|(name, _)| name)
        .collect();
    assert!(stale.is_empty());
    let sets: Vec<(String, HashSet<&str>)> = states
        .iter()
        .map(|(id, s)| {
            (id.clone(), s["defining_components"].as_array().into_iter().flatten().filter_map(Value::as_str).collect())
        })
        .collect();
    let of_seen: HashSet<&str> = seen.iter().map(String::as_str).collect();
    let jaccard = |a: &HashSet<&str>, b: &HashSet<&str>| {
        let common = a.intersection(b).count();
        common as f64 / (a.len() + b.len() - common) as f64
    };
    let best = sets.iter().map(|(id, set)| (jaccard(set, &of_seen), id.clone())).max_by(|a, b| a.0.total_cmp(&b.0));
    let merges = (0..sets.len()).any(|i| (i + 1..sets.len()).any(|j| jaccard(&sets[i].1, &sets[j].1) > 0.85));
    assert!(!merges);
    let Some((similarity, id)) = best else { return false };
    drop(sets);
    if similarity > 0.7 {
        let state = &mut states[&id];
        state["visit_count"] = json!(state["visit_count"].as_i64().unwrap_or(0) + 1);
    }
    for (file, value) in [
        ("meta.json", meta),
        ("components.json", components),
        ("states.json", states),
        ("transitions.json", transitions),
    ] {
        // For the same durability as a commit, write a temporary file, sync it and rename it.
        let path = dir.join(format!("{file}.tmp"));
        let mut out = std::fs::File::create(&path).expect("creates");
        std::io::Write::write_all(&mut out, &serde_json::to_vec_pretty(&value).expect("is JSON")).expect("writes");
        out.sync_all().expect("syncs");
        std::fs::rename(path, dir.join(file)).expect("renames");
    }
    similarity > 0.7
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

/// Measures steps one after another, each acknowledged after its commit, then the same number eight at a time, as when
/// several devices are observed. Both start after each state was seen, because the first visit links an imported page
/// to its components. Returns the former, the mean of the latter, and the median of a minimal commit; the last two in
/// microseconds.
fn ours(dir: &Path, db: &Path, steps: &[Vec<usize>]) -> (Times, f64, f64) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(db, &afd_base::task::Tasks::default(), |_, _| {}, |_| Ok(0)).expect("opens");
        let index = std::sync::Arc::new(Index::default());
        let scope = Scope { app: "bench".into(), site: None };
        let directory = files::read(dir).expect("reads").remove(0);
        let (known, own) = (index.clone(), scope.clone());
        store
            .write(move |c| files::import_directory(c, "bench", &known, &own, directory, 1).map(|_| ()))
            .await
            .expect("imports");
        let step = |seen: &Vec<usize>| {
            let sightings = seen.iter().map(|n| sighting(*n)).collect();
            let lesson = Lesson {
                scope: scope.clone(),
                structure: None,
                sightings,
                cut: false,
                texts: Vec::new(),
                scrolled_from: None,
                host: None,
                size: None,
                page: None,
                at: 2,
            };
            let index = index.clone();
            let done = store.write(move |c| learn(c, "bench", &index, &lesson));
            async {
                assert!(done.await.expect("learns").state.is_some_and(|s| s > 0), "the step matches a known state")
            }
        };
        for seen in &steps[..3 * POOL] {
            step(seen).await;
        }
        let mut minimal_commit = Vec::new();
        for n in 0..STEPS {
            let started = Instant::now();
            store.write(move |c| Ok(c.execute("UPDATE apps SET updated_at = ?1", [n as i64])?)).await.expect("writes");
            minimal_commit.push(started.elapsed());
        }
        let mut times = Vec::new();
        for seen in &steps[3 * POOL..3 * POOL + STEPS] {
            let started = Instant::now();
            step(seen).await;
            times.push(started.elapsed());
        }
        let started = Instant::now();
        for eight in steps[3 * POOL + STEPS..].chunks(8) {
            futures_util::future::join_all(eight.iter().map(step)).await;
        }
        let together = started.elapsed().as_secs_f64() * 1e6 / STEPS as f64;
        store.close(None);
        (Times::new(times), together, Times::new(minimal_commit).p50())
    })
}

pub(super) fn learning() {
    for components in [100, 1_000, 5_000] {
        let mut few = None;
        for states in [20, 200, 1_000, 10_000] {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let files = dir.path().join("bench");
            std::fs::create_dir(&files).expect("a directory");
            let sets = generate(&files, components, states);
            let steps = visits(&sets, components);
            let (ours, together, minimal_commit) = ours(&files, &dir.path().join("m.db"), &steps);
            let few = *few.get_or_insert(ours.p50());
            let what = format!("learning step, {components} components, {states} states");
            if states > 1_000 {
                report(&what, ours.p50(), few, "us", "20 states", "2x");
                continue;
            }
            let once = |seen: &Vec<usize>| {
                let started = Instant::now();
                assert!(naive(&files, seen), "a state matches");
                started.elapsed()
            };
            let naive = Times::new(steps[..NAIVE_STEPS].iter().map(once).collect());
            let budget = match (components, states) {
                (100, 20) => "10",
                (1_000, 1_000) => "100",
                _ => "-",
            };
            println!(
                "{what:<52} {:>10.1} us alone, {together:.0} us eight at a time (a minimal commit {minimal_commit:.0} us); \
                 {:.1} and {:.1} times faster than the naive way ({:.0} us); budget {budget}",
                ours.p50(),
                naive.p50() / ours.p50(),
                naive.p50() / together,
                naive.p50()
            );
        }
    }
}
