//! Clients and files that mean no good.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use afd_tests::{Daemon, TestPhone, World, wait};
use serde_json::json;

use crate::framings::{open, post};
use crate::limits::handshake;

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the daemon lives");
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

/// A masked control or data frame of at most 125 bytes.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).expect("short"), 0, 0, 0, 0];
    frame.extend(payload);
    frame
}

#[test]
fn pings_that_nobody_reads_the_answers_of_cost_no_memory() {
    let world = World::with(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 500\n");
    world.client().ok("observe.page", json!({}));
    let mut socket = handshake(&world);
    let before = resident_kib(world.daemon.pid());
    let pings = frame(0x89, &[b'x'; 125]).repeat(1000);
    socket.set_write_timeout(Some(Duration::from_secs(30))).expect("sets");
    // Up to 2.5 GB, if it were taken.
    let mut taken = 0_u64;
    let ended = (0..20_000).find_map(|_| socket.write_all(&pings).map(|()| taken += 1).err());
    let error = ended.expect("a client that reads nothing is cut off");
    assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "it is closed, and not merely left alone");
    let grown = resident_kib(world.daemon.pid()).saturating_sub(before);
    assert!(grown < 20 << 10, "{grown} KiB more after {taken} thousand pings");
    world.client().ok("act.home", json!({}));
}

#[test]
fn pings_do_not_keep_half_a_message_open() {
    let world = World::with(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 300\n");
    let mut socket = handshake(&world);
    socket.write_all(&frame(0x01, b"{\"jsonrpc\":")).expect("writes");
    let mut answers = Vec::new();
    let mut buffer = [0; 4096];
    // Each ping is answered, so that this goes on as fast as the daemon answers, until it has had enough.
    while socket.write_all(&frame(0x89, b"still here")).is_ok() {
        match socket.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => answers.extend_from_slice(&buffer[..n]),
        }
        if String::from_utf8_lossy(&answers).contains("TIMEOUT") {
            return;
        }
        answers.drain(..answers.len().saturating_sub(2000));
    }
    panic!("closed without a word: {:?}", String::from_utf8_lossy(&answers));
}

#[test]
fn idle_connections_keep_no_large_messages() {
    let world = World::new();
    world.client().ok("observe.page", json!({}));
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no.such\",\"params\":{{\"x\":\"{}\"}}}}\n", "y".repeat(3 << 20));
    let send = |stream: &mut UnixStream| {
        stream.write_all(large.as_bytes()).expect("writes");
        let mut byte = [0];
        while stream.read_exact(&mut byte).is_ok() && byte != *b"\n" {}
    };
    // What the allocator keeps for itself once it has seen such messages is not a connection's.
    (0..3).for_each(|_| send(&mut open(&world)));
    let before = resident_kib(world.daemon.pid());
    let mut idle: Vec<UnixStream> = (0..8).map(|_| open(&world)).collect();
    idle.iter_mut().for_each(send);
    let grown = resident_kib(world.daemon.pid()).saturating_sub(before);
    assert!(grown < 12 << 10, "{grown} KiB are kept for 8 idle connections that sent 3 MiB each");
}

#[test]
fn silent_connections_lock_nobody_out() {
    let world = World::with(TestPhone::start(), "\n[limits]\nconnections = 5\nidle_ms = 200\n");
    let silent: Vec<UnixStream> = (0..100).map(|_| open(&world)).collect();
    let ask = |method: &str| world.daemon.connect().call(method, json!({})).ok();
    wait::until("the owner to be answered", || ask("daemon.status"));
    wait::until("everybody to be answered", || ask("device.list"));
    // Those who wait for an answer, or follow events, keep their places.
    let mut busy: Vec<_> = (0..5).map(|_| world.daemon.connect()).collect();
    for connection in &mut busy {
        wait::until("a place", || {
            connection.call("events.subscribe", json!({})).is_ok().then_some(()).or_else(|| {
                *connection = world.daemon.connect();
                None
            })
        });
    }
    drop(silent);
    let refused = wait::until("all places to be taken", || match world.daemon.connect().call("device.list", json!({})) {
        Err(afd_tests::CallError::Rpc { data, .. }) => Some(data),
        _ => None,
    });
    assert_eq!(refused["code"], "LIMIT_EXCEEDED");
    assert!(refused["hint"].is_string());
    wait::until("the owner to be answered", || ask("daemon.version"));
}

#[test]
fn an_import_of_what_has_no_end_is_refused() {
    let world = World::new();
    let mut client = world.client();
    for (name, make) in [("zero", "ln -s /dev/zero components.json"), ("fifo", "mkfifo components.json")] {
        let dir = world.dir().join(name);
        std::fs::create_dir(&dir).expect("makes");
        std::fs::write(dir.join("meta.json"), "{}").expect("writes");
        let made = std::process::Command::new("sh").args(["-c", make]).current_dir(&dir).status().expect("a shell");
        assert!(made.success());
        for _ in 0..10 {
            let told = client.ok("visual.import", json!({"dir": dir}))["imported"][0]["remarks"].to_string();
            assert!(told.contains("components.json") && told.contains("regular file"), "{name}: {told}");
        }
    }
    client.ok("memory.save", json!({"topic": "t", "content": "c"}));
    client.ok("observe.page", json!({}));
}

#[test]
fn an_export_writes_through_no_link() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.ok("visual.learn", json!({}));
    let precious = world.dir().join("precious");
    std::fs::write(&precious, "mine").expect("writes");
    let at = world.dir().join("out/com.android.settings");
    std::fs::create_dir_all(&at).expect("makes");
    std::os::unix::fs::symlink(&precious, at.join("components.json")).expect("links");
    client.ok("visual.export", json!({"dir": world.dir().join("out"), "app": "com.android.settings"}));
    assert_eq!(std::fs::read_to_string(&precious).expect("reads"), "mine");
    assert!(std::fs::symlink_metadata(at.join("components.json")).expect("is there").is_file());
    let dangling = world.dir().join("out2/com.android.settings");
    std::fs::create_dir_all(&dangling).expect("makes");
    std::os::unix::fs::symlink(world.dir().join("nowhere"), dangling.join("meta.json")).expect("links");
    client.fails("visual.export", json!({"dir": world.dir().join("out2"), "app": "com.android.settings"}), "INVALID_PARAMS");
    assert!(!world.dir().join("nowhere").exists());
}

#[test]
fn one_database_has_one_daemon_whatever_leads_to_it() {
    let world = World::new();
    let other = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(world.dir().join("memory.db"), other.path().join("memory.db")).expect("links");
    std::fs::write(other.path().join("config.toml"), "").expect("writes");
    let why = Daemon::try_start(other.path()).err().expect("refused");
    assert!(why.contains("another daemon") && why.contains("database"), "{why}");
    // The lock is on the database itself, and not only on a file beside it that can be deleted.
    std::fs::remove_file(world.dir().join("memory.db.lock")).expect("removes");
    assert!(Daemon::try_start(other.path()).is_err());
    let twin = tempfile::tempdir().expect("a directory");
    std::fs::write(twin.path().join("config.toml"), "").expect("writes");
    // The same socket by another way, with its lock file gone: the socket of the first daemon stays.
    std::fs::remove_file(world.dir().join("run/afd.sock.lock")).expect("removes");
    std::os::unix::fs::symlink(world.dir().join("run"), twin.path().join("run")).expect("links");
    assert!(Daemon::try_start(twin.path()).is_err());
    world.client().ok("act.home", json!({}));
}

fn large_batch(calls: usize) -> String {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"});
    serde_json::Value::Array(vec![call; calls]).to_string()
}

#[test]
fn a_batch_of_large_answers_ends_at_the_limit() {
    let world = World::new();
    // Together they would have some 25 MB.
    let answer = post(&world, &large_batch(60));
    assert!(answer.body.len() < 1000 && answer.body.contains("LIMIT_EXCEEDED"), "{} bytes", answer.body.len());
}

/// Before, a batch kept its thread until it was done, and two of them silenced the daemon.
#[test]
fn batches_leave_others_their_turn() {
    let world = World::new();
    let mut client = world.client();
    post(&world, &large_batch(1));
    let mut batches: Vec<UnixStream> = (0..3).map(|_| open(&world)).collect();
    for batch in &mut batches {
        writeln!(batch, "{}", large_batch(256)).expect("writes");
        batch.set_nonblocking(true).expect("sets");
    }
    client.ok("daemon.version", json!({}));
    let done = batches.iter_mut().map(|batch| batch.read(&mut [0; 1]).is_ok()).filter(|answered| *answered).count();
    assert!(done < 3, "all batches were answered before a call that costs nothing");
    for mut batch in batches {
        batch.set_nonblocking(false).expect("sets");
        assert!(batch.read(&mut [0; 1]).is_ok_and(|n| n == 1), "and they are answered too");
    }
}

#[test]
fn a_body_that_ends_early_is_told() {
    let world = World::new();
    let mut stream = open(&world);
    write!(stream, "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{{\"jsonrpc\":").expect("writes");
    stream.shutdown(std::net::Shutdown::Write).expect("ends");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    assert!(answer.contains("INVALID_REQUEST") && answer.contains("ended early"), "{answer}");
}
