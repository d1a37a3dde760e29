//! Hostile clients and files: memory, connection slots, locks and links.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use afd_tests::{Daemon, TestPhone, World, wait};
use serde_json::json;

use crate::framings::{open, post};
use crate::limits::open_websocket;

/// Returns the resident memory of a process in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the daemon is running");
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

/// Returns a masked WebSocket frame with a payload of at most 125 bytes.
fn masked_frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).expect("short"), 0, 0, 0, 0];
    frame.extend(payload);
    frame
}

#[test]
fn unread_pongs_do_not_use_memory() {
    let world = World::with_process(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 500\n");
    world.client().ok("observe.page", json!({}));
    let mut socket = open_websocket(&world);
    let before = resident_kib(world.daemon.pid());
    let pings = masked_frame(0x89, &[b'x'; 125]).repeat(1000);
    socket.set_write_timeout(Some(Duration::from_secs(30))).expect("sets the timeout");
    // Up to 2.5 GB, if the daemon accepted all of it.
    let mut accepted = 0_u64;
    let ended = (0..20_000).find_map(|_| socket.write_all(&pings).map(|()| accepted += 1).err());
    let error = ended.expect("a client that does not read is disconnected");
    assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the connection is closed, not just ignored");
    let grown = resident_kib(world.daemon.pid()).saturating_sub(before);
    assert!(grown < 20 << 10, "{grown} KiB more after {accepted} thousand pings");
    world.client().ok("act.home", json!({}));
}

#[test]
fn pings_do_not_extend_the_timeout_of_a_partial_message() {
    let world = World::with(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 300\n");
    let mut socket = open_websocket(&world);
    socket.write_all(&masked_frame(0x01, b"{\"jsonrpc\":")).expect("writes");
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    // Every ping gets a pong, so this loop keeps pace with the daemon, until the daemon reports the timeout.
    while socket.write_all(&masked_frame(0x89, b"still here")).is_ok() {
        match socket.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => received.extend_from_slice(&buffer[..n]),
        }
        if String::from_utf8_lossy(&received).contains("TIMEOUT") {
            return;
        }
        received.drain(..received.len().saturating_sub(2000));
    }
    panic!("closed without an error: {:?}", String::from_utf8_lossy(&received));
}

#[test]
fn idle_connections_do_not_retain_large_messages() {
    let world = World::process();
    world.client().ok("observe.page", json!({}));
    let large = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no.such\",\"params\":{{\"x\":\"{}\"}}}}\n",
        "y".repeat(3 << 20)
    );
    let send = |stream: &mut UnixStream| {
        stream.write_all(large.as_bytes()).expect("writes");
        let mut byte = [0];
        while stream.read_exact(&mut byte).is_ok() && byte != *b"\n" {}
    };
    // Memory that the allocator retains after such messages does not belong to a connection.
    (0..3).for_each(|_| send(&mut open(&world)));
    let before = resident_kib(world.daemon.pid());
    let mut idle: Vec<UnixStream> = (0..24).map(|_| open(&world)).collect();
    idle.iter_mut().for_each(send);
    let grown = resident_kib(world.daemon.pid()).saturating_sub(before);
    assert!(grown < 24 << 10, "{grown} KiB are retained for 24 idle connections that sent 3 MiB each");
}

#[test]
fn silent_connections_do_not_lock_out_others() {
    let world = World::with(TestPhone::start(), "\n[limits]\nconnections = 5\nidle_ms = 200\n");
    let silent: Vec<UnixStream> = (0..100).map(|_| open(&world)).collect();
    let call = |method: &str| world.daemon.connect().call(method, json!({})).ok();
    wait::until("admin methods to be served", || call("daemon.status"));
    wait::until("all methods to be served", || call("device.list"));
    // Connections with pending calls or subscriptions keep their slots.
    let mut busy: Vec<_> = (0..5).map(|_| world.daemon.connect()).collect();
    for connection in &mut busy {
        wait::until("a slot", || {
            connection.call("events.subscribe", json!({})).is_ok().then_some(()).or_else(|| {
                *connection = world.daemon.connect();
                None
            })
        });
    }
    drop(silent);
    let refused =
        wait::until("all slots to be in use", || match world.daemon.connect().call("device.list", json!({})) {
            Err(afd_tests::CallError::Rpc { data, .. }) => Some(data),
            _ => None,
        });
    assert_eq!(refused["code"], "LIMIT_EXCEEDED");
    assert!(refused["hint"].is_string());
    wait::until("admin methods to be served", || call("daemon.version"));
}

#[test]
fn import_of_endless_files_is_refused() {
    let world = World::new();
    let mut client = world.client();
    for (name, make) in [("zero", "ln -s /dev/zero components.json"), ("fifo", "mkfifo components.json")] {
        let dir = world.dir().join(name);
        std::fs::create_dir(&dir).expect("creates the directory");
        std::fs::write(dir.join("meta.json"), "{}").expect("writes");
        let made = std::process::Command::new("sh").args(["-c", make]).current_dir(&dir).status().expect("a shell");
        assert!(made.success());
        for _ in 0..10 {
            let remarks = client.ok("visual.import", json!({"dir": dir}))["imported"][0]["remarks"].to_string();
            assert!(remarks.contains("components.json") && remarks.contains("regular file"), "{name}: {remarks}");
        }
    }
    client.ok("memory.save", json!({"topic": "t", "content": "c"}));
    client.ok("observe.page", json!({}));
}

#[test]
fn import_of_the_other_tool_reads_regular_files_only() {
    let world = World::new();
    let mut client = world.client();
    let fifo = world.dir().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("runs");
    assert!(made.success());
    for file in [fifo.to_str().expect("a path"), "/dev/zero"] {
        for (parameter, code) in [("configFile", "CONFLICT"), ("databaseFile", "CONFLICT")] {
            let error = client.fails("memory.importAf", json!({parameter: file, "dryRun": true}), code);
            assert!(error.message.contains("regular file"), "{error:?}");
        }
    }
}

#[test]
fn long_texts_of_actions_and_checks_are_refused() {
    let world = World::new();
    let mut client = world.client();
    let long = "x".repeat(10_000);
    for (method, params, field) in [
        ("act.tap", json!({"by": "text", "value": long}), "value"),
        ("act.scrollTo", json!({"text": long}), "text"),
        ("verify.textContains", json!({"text": long}), "text"),
        ("verify.nodeExists", json!({"by": "text", "value": long}), "value"),
        ("verify.topActivity", json!({"expected": long}), "expected"),
    ] {
        let error = client.fails(method, params, "INVALID_PARAMS");
        assert_eq!(error.details["path"], json!(field), "{error:?}");
    }
    assert_eq!(client.ok("memory.log", json!({}))["events"], json!([]));
}

#[test]
fn token_that_cannot_be_sent_is_no_unknown_outcome() {
    let world = World::new();
    let mut client = world.client();
    let (url, token) = (world.phone.url(), "a\r\nX: y");
    client.fails("device.add", json!({"name": "other", "url": url, "token": token}), "INVALID_PARAMS");
    client.fails("config.set", json!({"key": "device.pixel.token", "value": token}), "INVALID_PARAMS");
    client.fails("act.home", json!({"url": url, "token": token}), "DEVICE_UNREACHABLE");
    assert!(world.phone.hits("key").is_empty(), "nothing reached the phone");
}

#[test]
fn export_does_not_write_through_links() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.ok("visual.learn", json!({}));
    let precious = world.dir().join("precious");
    std::fs::write(&precious, "mine").expect("writes");
    let at = world.dir().join("out/com.android.settings");
    std::fs::create_dir_all(&at).expect("creates the directory");
    std::os::unix::fs::symlink(&precious, at.join("components.json")).expect("creates the link");
    client.ok("visual.export", json!({"dir": world.dir().join("out"), "app": "com.android.settings"}));
    assert_eq!(std::fs::read_to_string(&precious).expect("reads"), "mine");
    assert!(std::fs::symlink_metadata(at.join("components.json")).expect("exists").is_file());
    let dangling = world.dir().join("out2/com.android.settings");
    std::fs::create_dir_all(&dangling).expect("creates the directory");
    std::os::unix::fs::symlink(world.dir().join("nowhere"), dangling.join("meta.json")).expect("creates the link");
    client.fails(
        "visual.export",
        json!({"dir": world.dir().join("out2"), "app": "com.android.settings"}),
        "INVALID_PARAMS",
    );
    assert!(!world.dir().join("nowhere").exists());
}

#[test]
fn one_database_has_one_daemon_whatever_its_path() {
    let world = World::new();
    let other = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(world.dir().join("memory.db"), other.path().join("memory.db"))
        .expect("creates the link");
    std::fs::write(other.path().join("config.toml"), "").expect("writes");
    let why = Daemon::try_start(other.path()).err().expect("refused");
    assert!(why.contains("another daemon") && why.contains("database"), "{why}");
    // The database itself is locked, not only a file next to it that can be deleted.
    std::fs::remove_file(world.dir().join("memory.db.lock")).expect("removes");
    assert!(Daemon::try_start(other.path()).is_err());
    let twin = tempfile::tempdir().expect("a directory");
    std::fs::write(twin.path().join("config.toml"), "").expect("writes");
    // The same socket by another path and without its lock file: the socket of the first daemon is kept.
    std::fs::remove_file(world.dir().join("run/afd.sock.lock")).expect("removes");
    std::os::unix::fs::symlink(world.dir().join("run"), twin.path().join("run")).expect("creates the link");
    assert!(Daemon::try_start(twin.path()).is_err());
    world.client().ok("act.home", json!({}));
}

/// Returns a batch of calls with large responses.
fn large_batch(calls: usize) -> String {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"});
    serde_json::Value::Array(vec![call; calls]).to_string()
}

#[test]
fn batch_of_large_responses_is_limited() {
    let world = World::new();
    // Together the responses would have about 25 MB.
    let response = post(&world, &large_batch(60));
    assert!(response.body.len() < 1000 && response.body.contains("LIMIT_EXCEEDED"), "{} bytes", response.body.len());
}

/// Regression: a batch occupied its thread until it was done, and two of them blocked the daemon.
#[test]
fn batches_do_not_starve_other_calls() {
    let world = World::new();
    let mut client = world.client();
    post(&world, &large_batch(1));
    let mut batches: Vec<UnixStream> = (0..3).map(|_| open(&world)).collect();
    for batch in &mut batches {
        writeln!(batch, "{}", large_batch(256)).expect("writes");
        batch.set_nonblocking(true).expect("changes the socket mode");
    }
    client.ok("daemon.version", json!({}));
    let done = batches.iter_mut().map(|batch| batch.read(&mut [0; 1]).is_ok()).filter(|answered| *answered).count();
    assert!(done < 3, "a cheap call must not wait for all batches");
    for mut batch in batches {
        batch.set_nonblocking(false).expect("changes the socket mode");
        assert!(batch.read(&mut [0; 1]).is_ok_and(|n| n == 1), "the batches are answered, too");
    }
}

#[test]
fn truncated_body_is_reported() {
    let world = World::new();
    let mut stream = open(&world);
    write!(stream, "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{{\"jsonrpc\":")
        .expect("writes");
    stream.shutdown(std::net::Shutdown::Write).expect("shuts down");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("reads");
    assert!(response.contains("INVALID_REQUEST") && response.contains("ended early"), "{response}");
}
