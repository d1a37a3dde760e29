//! Performance budgets, each compared with a reference that is measured in the same run, and printed as ratios.
//!
//! `cargo bench -p afd-tests` runs all benchmarks. Words after `--` select the benchmarks whose names contain one of
//! them. With `AFD_BENCH_AF=/path/to/af`, the command line is also compared with that client.

mod attacks;
mod command_line;
mod conversation;
mod experience;
mod importing;
mod look;
mod month;
mod notes;
mod recall;
mod recording;
mod request;
mod visual;

use std::time::Duration;

use afd_tests::{Daemon, World};

/// Sorted measured durations.
pub struct Times(Vec<Duration>);

impl Times {
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// Returns a percentile, given as a fraction of 1, in microseconds.
    fn percentile(&self, fraction: f64) -> f64 {
        let index = ((self.0.len() - 1) as f64 * fraction).round() as usize;
        self.0[index].as_secs_f64() * 1e6
    }

    fn p50(&self) -> f64 {
        self.percentile(0.5)
    }

    fn p99(&self) -> f64 {
        self.percentile(0.99)
    }
}

/// Returns a test environment whose database was filled while its daemon was stopped.
pub fn world(fill: impl FnOnce(&std::path::Path)) -> World {
    let mut world = World::process();
    world.daemon.stop();
    fill(&world.dir().join("memory.db"));
    world.daemon = Daemon::start(world.dir());
    world
}

/// Prints a measurement, its ratio to the reference, and its budget.
pub fn report(what: &str, ours: f64, reference: f64, unit: &str, against: &str, budget: &str) {
    println!(
        "{what:<52} {ours:>10.1} {unit:<8} {:>6.2}x vs {against} ({reference:.1} {unit}); budget {budget}",
        ours / reference
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(request::ECHO) {
        request::echo(std::path::Path::new(&arguments.next().expect("the path of the socket")));
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all: [(&str, fn()); 12] = [
        ("request", request::run),
        ("attacks", attacks::run),
        ("recording", recording::run),
        ("command_line", command_line::run),
        ("experience", experience::run),
        ("recall", recall::run),
        ("month", month::run),
        ("importing", importing::run),
        ("visual", visual::run),
        ("conversation", conversation::run),
        ("notes", notes::run),
        ("look", look::run),
    ];
    for (name, run) in all {
        if wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str())) {
            run();
        }
    }
}
