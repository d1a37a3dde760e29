//! One request on an open connection, beside a raw echo of the same bytes on a Unix socket by a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use afd_tests::World;

use crate::{Times, report};

const ROUNDS: usize = 7;
const CALLS: usize = 5_000;

/// The word that makes this program the echo.
pub const ECHO: &str = "echo-at";

/// Echoes the lines of one connection.
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
            let begun = Instant::now();
            stream.get_mut().write_all(message).expect("writes");
            stream.read_until(b'\n', &mut line).expect("reads");
            begun.elapsed()
        })
        .collect()
}

fn compare(how: &str, budget: &str) {
    let world = World::new();
    let path = world.dir().join("echo.sock");
    let mut echo = Command::new(std::env::current_exe().expect("a program")).arg(ECHO).arg(&path).spawn().expect("runs");
    let message = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.version\",\"params\":{}}\n";
    let floor = afd_tests::wait::until("the echo to listen", || UnixStream::connect(&path).ok());
    let mut floor = BufReader::new(floor);
    let mut ours = BufReader::new(UnixStream::connect(world.socket()).expect("connects"));
    let (mut of_floor, mut of_ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_floor.extend(measure(&mut floor, message));
        of_ours.extend(measure(&mut ours, message));
    }
    drop(floor);
    echo.wait().expect("ends");
    let (floor, ours) = (Times::new(of_floor), Times::new(of_ours));
    report(&format!("one request, open connection, {how}, p50"), ours.p50(), floor.p50(), "us", "a raw echo", budget);
    report(&format!("one request, open connection, {how}, p99"), ours.p99(), floor.p99(), "us", "a raw echo", "none");
}

/// Keeps this thread, and what it starts, on some cores; false where the system has no `taskset`.
fn stay_on(cores: &str) -> bool {
    let own = std::process::id().to_string();
    Command::new("taskset").args(["-p", "-c", cores, &own]).output().is_ok_and(|output| output.status.success())
}

pub fn run() {
    compare("unpinned", "2.5x");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if stay_on("0") {
        compare("pinned", "2x");
        stay_on(&format!("0-{}", cores - 1));
    } else {
        println!("one request, pinned: left out, there is no taskset");
    }
}
