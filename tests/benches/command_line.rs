//! `afctl observe top` as a whole process, compared with an empty program and, if `AFD_BENCH_AF` is set, with another
//! client.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use afd_tests::{World, programs};

use crate::{Times, report};

const ROUNDS: usize = 9;
const RUNS: usize = 40;

/// Returns the CPU time that exited child processes have used, in clock ticks.
fn child_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let at = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    at(13) + at(14)
}

fn measure(command: &mut Command, times: &mut Vec<Duration>) -> u64 {
    let before = child_ticks();
    for _ in 0..RUNS {
        let started = Instant::now();
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("runs");
        times.push(started.elapsed());
        assert!(status.success());
    }
    child_ticks() - before
}

pub fn run() {
    let world = World::process();
    let mut nothing = Command::new(programs::path("nothing"));
    let mut afctl = Command::new(programs::path("afctl"));
    afctl.env_clear().env("HOME", world.dir()).env("AFD_SOCKET", world.socket()).args(["observe", "top"]);
    let mut other = std::env::var_os("AFD_BENCH_AF").map(|path| {
        let mut command = Command::new(path);
        command
            .args(["--url", &world.phone.url(), "--token", afd_tests::phone::TOKEN, "observe", "top"])
            .current_dir(world.dir());
        command
    });
    let (mut nothing_times, mut afctl_times, mut other_times) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cpu_nothing, mut cpu_afctl, mut cpu_other) = (0, 0, 0);
    for _ in 0..ROUNDS {
        cpu_nothing += measure(&mut nothing, &mut nothing_times);
        cpu_afctl += measure(&mut afctl, &mut afctl_times);
        if let Some(command) = &mut other {
            cpu_other += measure(command, &mut other_times);
        }
    }
    let (baseline, ours) = (Times::new(nothing_times), Times::new(afctl_times));
    report("afctl observe top, whole process, p50", ours.p50(), baseline.p50(), "us", "an empty program", "2x");
    report(
        "afctl observe top, CPU time",
        cpu_afctl as f64,
        (cpu_nothing as f64).max(1.0),
        "ticks",
        "an empty program",
        "none",
    );
    if other.is_some() {
        let other = Times::new(other_times);
        report("afctl observe top, whole process, p50", ours.p50(), other.p50(), "us", "the other client", "0.5x");
        report(
            "afctl observe top, CPU time",
            cpu_afctl as f64,
            (cpu_other as f64).max(1.0),
            "ticks",
            "the other client",
            "0.5x",
        );
    }
}
