//! `afctl observe top` as a whole process, beside an empty program and, if there is one, another client.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use afd_tests::{World, programs};

use crate::{Times, report};

const ROUNDS: usize = 9;
const RUNS: usize = 40;

/// Ticks of processor time that ended children have used.
fn child_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let at = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    at(13) + at(14)
}

fn measure(command: &mut Command, times: &mut Vec<Duration>) -> u64 {
    let before = child_ticks();
    for _ in 0..RUNS {
        let begun = Instant::now();
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("runs");
        times.push(begun.elapsed());
        assert!(status.success());
    }
    child_ticks() - before
}

pub fn run() {
    let world = World::new();
    let mut nothing = Command::new(programs::path("nothing"));
    let mut afctl = Command::new(programs::path("afctl"));
    afctl.env_clear().env("HOME", world.dir()).env("AFD_SOCKET", world.socket()).args(["observe", "top"]);
    let mut other = std::env::var_os("AFD_BENCH_AF").map(|path| {
        let mut command = Command::new(path);
        command.args(["--url", &world.phone.url(), "--token", afd_tests::phone::TOKEN, "observe", "top"]).current_dir(world.dir());
        command
    });
    let (mut of_nothing, mut of_afctl, mut of_other) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cpu_nothing, mut cpu_afctl, mut cpu_other) = (0, 0, 0);
    for _ in 0..ROUNDS {
        cpu_nothing += measure(&mut nothing, &mut of_nothing);
        cpu_afctl += measure(&mut afctl, &mut of_afctl);
        if let Some(command) = &mut other {
            cpu_other += measure(command, &mut of_other);
        }
    }
    let (floor, ours) = (Times::new(of_nothing), Times::new(of_afctl));
    report("afctl observe top, whole process, p50", ours.p50(), floor.p50(), "us", "an empty program", "2x");
    report("afctl observe top, processor time", cpu_afctl as f64, (cpu_nothing as f64).max(1.0), "ticks", "an empty program", "none");
    if other.is_some() {
        let other = Times::new(of_other);
        report("afctl observe top, whole process, p50", ours.p50(), other.p50(), "us", "the other client", "0.5x");
        report("afctl observe top, processor time", cpu_afctl as f64, (cpu_other as f64).max(1.0), "ticks", "the other client", "0.5x");
    }
}
