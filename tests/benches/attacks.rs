//! How much an attack slows down another client: its calls during the attack, compared with the same calls before it.
//!
//! Each attack is limited in time and ends by itself.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_tests::{Client, Daemon, TestPhone, World};
use serde_json::json;

use crate::Times;

/// Duration of an attack, and of the measurement before it.
const DURATION: Duration = Duration::from_secs(4);

/// Measures the calls of another client: one at a time, each sent as soon as the previous one has returned.
fn measure(client: &mut Client) -> Times {
    let started = Instant::now();
    let mut times = Vec::new();
    while started.elapsed() < DURATION {
        for (method, params) in
            [("daemon.version", json!({})), ("memory.log", json!({"limit": 5})), ("act.home", json!({"device": "pixel"}))]
        {
            let sent = Instant::now();
            client.ok(method, params);
            times.push(sent.elapsed());
        }
    }
    Times::new(times)
}

fn compare(what: &str, world: &World, attack: impl Fn(&Path, &AtomicBool) + Sync) {
    let mut client = world.client();
    client.ok("act.home", json!({"device": "pixel"}));
    let before = measure(&mut client);
    let (stopped, socket) = (AtomicBool::new(false), world.socket());
    let during = std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..4).map(|_| scope.spawn(|| attack(&socket, &stopped))).collect();
        let during = measure(&mut client);
        stopped.store(true, Ordering::Relaxed);
        attackers.into_iter().for_each(|attacker| attacker.join().expect("the attacker does not panic"));
        during
    });
    let ms = |us: f64| us / 1000.0;
    println!(
        "{what:<52} p50 {:>6.2} ms, p99 {:>7.2} ms, max {:>7.2} ms; before p50 {:.2}, p99 {:.2}; budget p99 50 ms",
        ms(during.p50()),
        ms(during.p99()),
        ms(during.percentile(1.0)),
        ms(before.p50()),
        ms(before.p99())
    );
}

/// Connects with short timeouts, so that an attacker that is blocked notices the end of the attack.
fn connect(socket: &Path) -> Option<UnixStream> {
    let stream = UnixStream::connect(socket).ok()?;
    stream.set_write_timeout(Some(Duration::from_millis(200))).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(200))).ok()?;
    Some(stream)
}

/// Sends WebSocket pings without reading the pongs.
fn pings(socket: &Path, stopped: &AtomicBool) {
    let mut frame = vec![0x89, 0x80 | 125, 0, 0, 0, 0];
    frame.extend([b'x'; 125]);
    let frames = frame.repeat(1000);
    while !stopped.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        let upgrade = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let _ = stream.write_all(upgrade);
        while !stopped.load(Ordering::Relaxed) && stream.write_all(&frames).is_ok() {}
    }
}

/// Sends batches of the call with the largest response, and reads as fast as possible.
fn batches(socket: &Path, stopped: &AtomicBool) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"});
    let batch = format!("{}\n", serde_json::Value::Array(vec![call; 150]));
    let mut buffer = vec![0; 1 << 20];
    while !stopped.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        for _ in 0..4 {
            let _ = stream.write_all(batch.as_bytes());
        }
        while !stopped.load(Ordering::Relaxed) && stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
}

/// Opens more connections than the limit allows and sends nothing on them.
fn silent_connections(socket: &Path, stopped: &AtomicBool) {
    let mut held = Vec::new();
    while !stopped.load(Ordering::Relaxed) {
        held.extend(connect(socket));
        if held.len() > 200 {
            held.clear();
        }
    }
}

/// Calls phones whose host names are never resolved.
fn unresolvable_names(socket: &Path, stopped: &AtomicBool) {
    let mut n = 0;
    while !stopped.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        for _ in 0..5 {
            n += 1;
            let call =
                json!({"jsonrpc": "2.0", "id": n, "method": "observe.page", "params": {"url": format!("http://phone-{n}.example.org")}});
            let _ = writeln!(stream, "{call}");
        }
        let mut buffer = [0; 4096];
        while !stopped.load(Ordering::Relaxed) && !stream.read(&mut buffer).is_ok_and(|n| n == 0) {}
    }
}

/// Returns a test environment whose daemon uses a name server that never responds; `None` where that is not permitted.
fn world_without_dns() -> Option<(World, UdpSocket)> {
    let server = UdpSocket::bind("127.0.0.1:53").ok()?;
    let mut world = World::process();
    let resolver = world.dir().join("resolv.conf");
    std::fs::write(&resolver, "nameserver 127.0.0.1\n").ok()?;
    world.daemon.stop();
    world.daemon = Daemon::start_with_resolver(world.dir(), &resolver)?;
    Some((world, server))
}

pub fn run() {
    compare("pings without reading, 4 clients", &World::process(), pings);
    compare("batches of rpc.discover, 4 clients", &World::process(), batches);
    compare(
        "silent connections beyond the limit, 4 clients",
        &World::with_process(TestPhone::start(), "\n[limits]\nconnections = 300\n"),
        silent_connections,
    );
    match world_without_dns() {
        Some((world, _server)) => compare("20 phones with unresolvable names", &world, unresolvable_names),
        None => println!("phones with unresolvable names: skipped, setting another name server is not permitted"),
    }
}
