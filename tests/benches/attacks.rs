//! What another client notices of an attack: its calls while it goes on, beside the same calls before it.
//!
//! Each attack is bounded in time and ends by itself.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_tests::{Client, Daemon, TestPhone, World};
use serde_json::json;

use crate::Times;

/// How long an attack lasts, and the same calls before it.
const LASTS: Duration = Duration::from_secs(4);

/// Times the calls of another client for a while: one at a time, each as soon as the one before is answered.
fn watch(client: &mut Client) -> Times {
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < LASTS {
        for (method, params) in
            [("daemon.version", json!({})), ("memory.log", json!({"limit": 5})), ("act.home", json!({"device": "pixel"}))]
        {
            let asked = Instant::now();
            client.ok(method, params);
            times.push(asked.elapsed());
        }
    }
    Times::new(times)
}

fn compare(what: &str, world: &World, attack: impl Fn(&Path, &AtomicBool) + Sync) {
    let mut client = world.client();
    client.ok("act.home", json!({"device": "pixel"}));
    let before = watch(&mut client);
    let (over, socket) = (AtomicBool::new(false), world.socket());
    let during = std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..4).map(|_| scope.spawn(|| attack(&socket, &over))).collect();
        let during = watch(&mut client);
        over.store(true, Ordering::Relaxed);
        attackers.into_iter().for_each(|attacker| attacker.join().expect("ends"));
        during
    });
    let ms = |us: f64| us / 1000.0;
    println!(
        "{what:<52} p50 {:>6.2} ms, p99 {:>7.2} ms, worst {:>7.2} ms; before p50 {:.2}, p99 {:.2}; budget p99 50 ms",
        ms(during.p50()),
        ms(during.p99()),
        ms(during.at(1.0)),
        ms(before.p50()),
        ms(before.p99())
    );
}

/// A connection whose writes give up soon, so that an attacker that is held up sees the end of its time.
fn connect(socket: &Path) -> Option<UnixStream> {
    let stream = UnixStream::connect(socket).ok()?;
    stream.set_write_timeout(Some(Duration::from_millis(200))).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(200))).ok()?;
    Some(stream)
}

/// WebSocket pings whose answers nobody reads.
fn pings(socket: &Path, over: &AtomicBool) {
    let mut frame = vec![0x89, 0x80 | 125, 0, 0, 0, 0];
    frame.extend([b'x'; 125]);
    let frames = frame.repeat(1000);
    while !over.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        let upgrade = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let _ = stream.write_all(upgrade);
        while !over.load(Ordering::Relaxed) && stream.write_all(&frames).is_ok() {}
    }
}

/// Batches of the largest answer there is, read as fast as they come.
fn batches(socket: &Path, over: &AtomicBool) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"});
    let batch = format!("{}\n", serde_json::Value::Array(vec![call; 150]));
    let mut buffer = vec![0; 1 << 20];
    while !over.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        for _ in 0..4 {
            let _ = stream.write_all(batch.as_bytes());
        }
        while !over.load(Ordering::Relaxed) && stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
}

/// More connections than there are places, all of them silent.
fn silence(socket: &Path, over: &AtomicBool) {
    let mut held = Vec::new();
    while !over.load(Ordering::Relaxed) {
        held.extend(connect(socket));
        if held.len() > 200 {
            held.clear();
        }
    }
}

/// Phones whose names a name server never tells.
fn lost_names(socket: &Path, over: &AtomicBool) {
    let mut n = 0;
    while !over.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        for _ in 0..5 {
            n += 1;
            let call =
                json!({"jsonrpc": "2.0", "id": n, "method": "observe.page", "params": {"url": format!("http://phone-{n}.example.org")}});
            let _ = writeln!(stream, "{call}");
        }
        let mut buffer = [0; 4096];
        while !over.load(Ordering::Relaxed) && !stream.read(&mut buffer).is_ok_and(|n| n == 0) {}
    }
}

/// A world whose daemon asks a name server that swallows every question.
fn deaf_world() -> Option<(World, UdpSocket)> {
    let server = UdpSocket::bind("127.0.0.1:53").ok()?;
    let mut world = World::with(TestPhone::start(), "");
    let resolver = world.dir().join("resolv.conf");
    std::fs::write(&resolver, "nameserver 127.0.0.1\n").ok()?;
    world.daemon.signal("TERM");
    world.daemon.wait();
    world.daemon = Daemon::start_with_resolver(world.dir(), &resolver)?;
    Some((world, server))
}

pub fn run() {
    compare("pings that nobody reads, 4 clients", &World::new(), pings);
    compare("batches of rpc.discover, 4 clients", &World::new(), batches);
    compare("silent connections over the limit, 4 clients", &World::with(TestPhone::start(), "\n[limits]\nconnections = 300\n"), silence);
    match deaf_world() {
        Some((world, _server)) => compare("20 phones whose names are never told", &world, lost_names),
        None => println!("phones whose names are never told: left out, the system lets no other name server be named"),
    }
}
