//! The budgets of the design, each beside its reference in the same run, printed as ratios.
//!
//! `cargo bench -p afd-tests` runs all; a word after `--` runs those whose name holds it. With `AFD_BENCH_AF=/path/to/af`
//! the command line is measured beside that client too.

mod attacks;
mod command_line;
mod conversation;
mod experience;
mod notes;
mod recording;
mod request;
mod visual;

use std::time::Duration;

use afd_tests::{Daemon, TestPhone, World};

/// Times, for their middle and their worst.
pub struct Times(Vec<Duration>);

impl Times {
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    fn at(&self, share: f64) -> f64 {
        let index = ((self.0.len() - 1) as f64 * share).round() as usize;
        self.0[index].as_secs_f64() * 1e6
    }

    fn p50(&self) -> f64 {
        self.at(0.5)
    }

    fn p99(&self) -> f64 {
        self.at(0.99)
    }
}

/// A world whose database is filled while its daemon is down.
pub fn world(fill: impl FnOnce(&std::path::Path)) -> World {
    let mut world = World::with(TestPhone::start(), "");
    world.daemon.signal("TERM");
    world.daemon.wait();
    fill(&world.dir().join("memory.db"));
    world.daemon = Daemon::start(world.dir());
    world
}

/// Prints one comparison.
pub fn report(what: &str, ours: f64, reference: f64, unit: &str, against: &str, budget: &str) {
    println!("{what:<52} {ours:>10.1} {unit:<8} {:>6.2}x of {against} ({reference:.1} {unit}); budget {budget}", ours / reference);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(request::ECHO) {
        request::echo(std::path::Path::new(&arguments.next().expect("a path")));
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all: [(&str, fn()); 8] = [
        ("request", request::run),
        ("attacks", attacks::run),
        ("recording", recording::run),
        ("command_line", command_line::run),
        ("experience", experience::run),
        ("visual", visual::run),
        ("conversation", conversation::run),
        ("notes", notes::run),
    ];
    for (name, run) in all {
        if wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str())) {
            run();
        }
    }
}
