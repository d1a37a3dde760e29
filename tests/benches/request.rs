//! One request on an open connection, beside a raw echo of the same bytes on a Unix socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Instant;

use afd_tests::World;

use crate::{Times, report};

const ROUNDS: usize = 7;
const CALLS: usize = 5_000;

/// Echoes lines of one connection.
fn echo(listener: UnixListener) {
    let Ok((stream, _)) = listener.accept() else { return };
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

pub fn run() {
    let world = World::new();
    let path = world.dir().join("echo.sock");
    let listener = UnixListener::bind(&path).expect("binds");
    let echoing = std::thread::spawn(move || echo(listener));
    let message = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.version\",\"params\":{}}\n";
    let mut floor = BufReader::new(UnixStream::connect(&path).expect("connects"));
    let mut ours = BufReader::new(UnixStream::connect(world.socket()).expect("connects"));
    let (mut of_floor, mut of_ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_floor.extend(measure(&mut floor, message));
        of_ours.extend(measure(&mut ours, message));
    }
    drop(floor);
    echoing.join().expect("ends");
    let (floor, ours) = (Times::new(of_floor), Times::new(of_ours));
    report("one request, open connection, p50", ours.p50(), floor.p50(), "us", "a raw echo", "2x");
    report("one request, open connection, p99", ours.p99(), floor.p99(), "us", "a raw echo", "none");
}
