//! One request on an open connection, compared with an echo of the same bytes by another process over a Unix socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use afd_tests::World;

use crate::{Times, report};

const ROUNDS: usize = 7;
const CALLS: usize = 5_000;

/// Argument that makes this program the echo server; the path of its socket follows.
pub const ECHO: &str = "echo-at";

/// Accepts one connection and echoes its lines.
pub fn echo(path: &Path) {
    let listener = UnixListener::bind(path).expect("binds");
    let (stream, _) = listener.accept().expect("a client");
    let mut writer = stream.try_clone().expect("clones");
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        if writer.write_all(&line).is_err() {
            return;
        }
        line.clear();
    }
}

fn measure(stream: &mut BufReader<UnixStream>, message: &[u8]) -> Vec<std::time::Duration> {
    let mut line = Vec::new();
    (0..CALLS)
        .map(|_| {
            line.clear();
            let started = Instant::now();
            stream.get_mut().write_all(message).expect("writes");
            stream.read_until(b'\n', &mut line).expect("reads");
            started.elapsed()
        })
        .collect()
}

fn compare(how: &str, budget: &str) {
    let world = World::process();
    let path = world.dir().join("echo.sock");
    let mut echo = Command::new(std::env::current_exe().expect("the path of this program"))
        .arg(ECHO)
        .arg(&path)
        .spawn()
        .expect("runs");
    let message = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.version\",\"params\":{}}\n";
    let baseline = afd_tests::wait::until("the echo to listen", || UnixStream::connect(&path).ok());
    let mut baseline = BufReader::new(baseline);
    let mut ours = BufReader::new(UnixStream::connect(world.socket()).expect("connects"));
    let (mut baseline_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        baseline_times.extend(measure(&mut baseline, message));
        our_times.extend(measure(&mut ours, message));
    }
    drop(baseline);
    echo.wait().expect("waits");
    let (baseline, ours) = (Times::new(baseline_times), Times::new(our_times));
    report(
        &format!("one request, open connection, {how}, p50"),
        ours.p50(),
        baseline.p50(),
        "us",
        "a raw echo",
        budget,
    );
    report(
        &format!("one request, open connection, {how}, p99"),
        ours.p99(),
        baseline.p99(),
        "us",
        "a raw echo",
        "none",
    );
}

/// Pins this thread and its future child processes to some cores; returns false if `taskset` is not available.
fn pin_to(cores: &str) -> bool {
    let own = std::process::id().to_string();
    Command::new("taskset").args(["-p", "-c", cores, &own]).output().is_ok_and(|output| output.status.success())
}

pub fn run() {
    compare("unpinned", "2.5x");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if pin_to("0") {
        compare("pinned", "2x");
        pin_to(&format!("0-{}", cores - 1));
    } else {
        println!("one request, pinned: skipped, taskset is not available");
    }
}
