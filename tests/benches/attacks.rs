//! Measures how much an attack slows down another client: its calls during the attack, compared with the same calls
//! before the attack.
//!
//! Each attack ends after a fixed time.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_phone::fault::Kind;
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
        for (method, params) in [
            ("daemon.version", json!({})),
            ("memory.log", json!({"limit": 5})),
            ("act.home", json!({"device": "pixel"})),
        ] {
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
        "{what:<52} peak {:>5.1} MiB, p50 {:>6.2} ms, p99 {:>7.2} ms, max {:>7.2} ms; before p50 {:.2}, p99 {:.2}; budget p99 50 ms, max 250 ms",
        memory_kib(world, "VmHWM:") / 1024.0,
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
            let call = json!({"jsonrpc": "2.0", "id": n, "method": "observe.page", "params": {"url": format!("http://phone-{n}.example.org")}});
            let _ = writeln!(stream, "{call}");
        }
        let mut buffer = [0; 4096];
        while !stopped.load(Ordering::Relaxed) && !stream.read(&mut buffer).is_ok_and(|n| n == 0) {}
    }
}

/// Opens 250 connections and makes calls on all of them, over and over.
fn many_clients(socket: &Path, stopped: &AtomicBool) {
    // Those beyond the limit are refused and closed.
    let mut held: Vec<UnixStream> = (0..250).filter_map(|_| connect(socket)).collect();
    let call = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "device.list", "params": {}}));
    let mut buffer = [0; 4096];
    while !stopped.load(Ordering::Relaxed) {
        for stream in &mut held {
            let _ = stream.write_all(call.as_bytes());
        }
        for stream in held.iter_mut().take_while(|_| !stopped.load(Ordering::Relaxed)) {
            let _ = stream.read(&mut buffer);
        }
    }
}

/// Subscribes to everything, asks for large responses, and never reads.
fn silent_readers(socket: &Path, stopped: &AtomicBool) {
    let mut held = Vec::new();
    for _ in 0..20 {
        let Some(mut stream) = connect(socket) else { continue };
        let _ = writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {}}));
        held.push(stream);
    }
    let call = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": {}}));
    while !stopped.load(Ordering::Relaxed) {
        for stream in &mut held {
            let _ = stream.write_all(call.as_bytes());
        }
        std::thread::yield_now();
    }
}

/// Saves notes of 64 KB, of 5,000 different words, 16 at a time without waiting.
fn large_notes(socket: &Path, stopped: &AtomicBool) {
    let content: String = (0..8_000).map(|n| format!("{} ", word(n * 7919 % 5_000))).collect();
    let mut n = 0;
    let mut buffer = vec![0; 1 << 16];
    while !stopped.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(socket) else { continue };
        while !stopped.load(Ordering::Relaxed) {
            for _ in 0..16 {
                n += 1;
                let params = json!({"topic": format!("t{}", n % 40), "content": content});
                let _ = writeln!(
                    stream,
                    "{}",
                    json!({"jsonrpc": "2.0", "id": n, "method": "memory.save", "params": params})
                );
            }
            if stream.read(&mut buffer).is_ok_and(|n| n == 0) {
                break;
            }
        }
    }
}

/// Returns a made-up word, different for each number.
fn word(mut n: usize) -> String {
    let syllables = ["ba", "ke", "lo", "mi", "nu", "pra", "sti", "tor", "ven", "zu"];
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(syllables[n % 10]);
        n /= 10;
    }
    word
}

/// Imports visual memories from hostile directories: endless files and pipes.
fn hostile_imports(dir: &Path) -> impl Fn(&Path, &AtomicBool) + Sync + use<> {
    let hostile = dir.join("hostile/com.example.app");
    std::fs::create_dir_all(&hostile).expect("creates");
    std::fs::write(hostile.join("meta.json"), "{}").expect("writes");
    std::os::unix::fs::symlink("/dev/zero", hostile.join("components.json")).expect("links");
    let piped = dir.join("piped/com.example.app");
    std::fs::create_dir_all(&piped).expect("creates");
    std::fs::write(piped.join("meta.json"), "{}").expect("writes");
    let made = std::process::Command::new("mkfifo").arg(piped.join("components.json")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo runs");
    let dirs = [dir.join("hostile"), dir.join("piped")];
    move |socket, stopped| {
        let mut buffer = [0; 4096];
        while !stopped.load(Ordering::Relaxed) {
            let Some(mut stream) = connect(socket) else { continue };
            for dir in &dirs {
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": "visual.import", "params": {"dir": dir}});
                let _ = writeln!(stream, "{call}");
                let _ = stream.read(&mut buffer);
            }
        }
    }
}

/// Observes another phone repeatedly.
fn look_at(device: &'static str) -> impl Fn(&Path, &AtomicBool) + Sync {
    move |socket, stopped| {
        let mut buffer = vec![0; 1 << 20];
        while !stopped.load(Ordering::Relaxed) {
            let Some(mut stream) = connect(socket) else { continue };
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "observe.page", "params": {"device": device, "hints": false}});
            let _ = writeln!(stream, "{call}");
            while !stopped.load(Ordering::Relaxed) && stream.read(&mut buffer).is_err() {}
        }
    }
}

/// Starts a phone whose page has `elements` elements with the same name and `text_bytes` bytes of other text.
fn crowded_phone(elements: usize, text_bytes: usize) -> TestPhone {
    let phone = TestPhone::start();
    let node = |n: usize| {
        let (x, y) = (n % 60 * 18, n / 60 % 130 * 18);
        format!(
            "node_{n:08x}\tTextView\tRow {n}\t-\tcom.example.app:id/row\t{x},{y},{},{}\ton,clk,foc,ena\n",
            x + 17,
            y + 17
        )
    };
    let nodes: String = (0..elements).map(node).collect();
    let long = if text_bytes > 0 {
        format!("node_ffffffff\tTextView\t{}\t-\t-\t0,0,1080,2400\ton,ena\n", "lorem ".repeat(text_bytes / 6))
    } else {
        String::new()
    };
    let data = format!(
        "[mode: SYSTEM_API]\n[topActivity: com.example.app/.Main]\nscreen:1080x2400 density:420 orientation:portrait\n\
         --- window:7 type:APPLICATION pkg:com.example.app title:Main layer:0 focused:true ---\n\
         node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n{nodes}{long}"
    );
    let body = json!({"ok": true, "data": data, "error": null}).to_string();
    phone
        .fault_always("/api/screen", Kind::Status { status: 200, body, content_type: Some("application/json".into()) });
    phone
}

/// Measures the calls of another client while a phone is being observed.
fn compare_phone(what: &str, other: TestPhone) {
    let world = World::process();
    let mut client = world.client();
    client.ok("device.add", json!({"name": "other", "url": other.url(), "token": afd_tests::phone::TOKEN}));
    drop(client);
    compare(what, &world, look_at("other"));
}

/// Prints how much memory a long text from a phone takes.
fn long_text() {
    let (world, other) = (World::process(), crowded_phone(10, 50_000_000));
    let mut client = world.client();
    client.ok("device.add", json!({"name": "other", "url": other.url(), "token": afd_tests::phone::TOKEN}));
    client.ok("observe.page", json!({"device": "pixel"}));
    let before = memory_kib(&world, "VmHWM:");
    let answer = match client.call("observe.page", json!({"device": "other", "hints": false})) {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.code,
    };
    let peak = memory_kib(&world, "VmHWM:");
    println!(
        "{:<52} {:.1} MiB more at its peak ({answer}); budget 200 MiB",
        "a phone's text of 50 MB",
        (peak - before) / 1024.0
    );
}

fn memory_kib(world: &World, field: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.daemon.pid())).expect("reads");
    let value = status.lines().find_map(|line| line.strip_prefix(field)).expect("a size");
    value.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Returns a test environment whose daemon uses a name server that never responds; `None` if mounting is not permitted.
fn world_without_dns() -> Option<(World, UdpSocket)> {
    let server = UdpSocket::bind("127.0.0.1:53").ok()?;
    let mut world = World::process();
    let resolver = world.dir().join("resolv.conf");
    std::fs::write(&resolver, "nameserver 127.0.0.1\n").ok()?;
    world.daemon.stop();
    world.daemon = Daemon::try_start_with_resolver(world.dir(), &resolver).ok()?;
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
    compare("1,000 clients at work", &World::process(), many_clients);
    compare("80 subscribers that ask for much and never read", &World::process(), silent_readers);
    compare("notes of 64 KB, 64 at a time", &World::process(), large_notes);
    let world = World::process();
    let attack = hostile_imports(world.dir());
    compare("visual imports of endless files and pipes", &world, attack);
    compare_phone("a page of 3,000 elements of one name", crowded_phone(3_000, 0));
    let hanging = TestPhone::start();
    hanging.fault_always("/api", Kind::Hold);
    compare_phone("a phone that never answers", hanging);
    let garbage = TestPhone::start();
    garbage.fault_always("/api", Kind::Garbage);
    compare_phone("a phone that answers garbage", garbage);
    long_text();
    match world_without_dns() {
        Some((world, _server)) => compare("20 phones with unresolvable names", &world, unresolvable_names),
        None => println!("phones with unresolvable names: skipped, setting another name server is not permitted"),
    }
}
