//! Backups and restores that are killed at any point lose no data.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use afd_tests::{Daemon, World, programs, wait};
use serde_json::json;

use super::{names, save, topics};

/// Number of notes. They make the database large enough that copying takes a while.
const NOTES: usize = 39;

fn rounds() -> u64 {
    std::env::var("AFD_FAULT_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3).clamp(3, 60)
}

/// Returns a world whose memory has some megabytes and a complete backup, and the topics of its notes.
fn filled() -> (World, Vec<String>) {
    let world = World::process();
    let mut client = world.client();
    for n in 0..NOTES {
        client.ok("memory.save", json!({"topic": format!("long {n}"), "content": "text ".repeat(12_000)}));
    }
    client.ok("observe.screenshot", json!({"device": "pixel"}));
    client.ok("backup.create", json!({}));
    let all = topics(&mut client);
    (world, all)
}

/// Returns the size in bytes of the largest file with a name in a directory tree.
fn size(dir: &Path, name: &str) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size(&entry.path(), name),
        Ok(meta) if entry.file_name() == name => meta.len(),
        _ => 0,
    });
    sizes.max().unwrap_or(0)
}

/// Returns the directories of backups that are being made.
fn unfinished(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(".afd-")))
        .collect()
}

fn is_whole(world: &World) {
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let found: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checks");
    assert_eq!(found, "ok");
}

#[test]
fn backup_that_is_killed_leaves_the_memory_and_the_backups_before_it() {
    let (mut world, mut all) = filled();
    let rounds = rounds();
    let backups = world.dir().join("backups");
    let whole = size(&backups, "memory.db");
    let mut complete = names(&mut world.client()).len();
    for round in 0..rounds {
        save(&mut world.client(), &format!("round {round}"));
        all.push(format!("round {round}"));
        let mut stream = UnixStream::connect(world.socket()).expect("connects");
        stream
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"backup.create\",\"params\":{}}\n")
            .expect("sends");
        wait::until("a part of the backup", || {
            let parts = unfinished(&backups);
            let is_far = parts.iter().any(|part| size(part, "memory.db") >= whole * round / rounds);
            let is_done = std::fs::read_dir(&backups).into_iter().flatten().count() > complete;
            (is_far || (parts.is_empty() && is_done)).then_some(())
        });
        world.daemon.kill();
        world.daemon = Daemon::start(world.dir());
        assert!(unfinished(&backups).is_empty(), "round {round}");
        let mut client = world.client();
        let made = names(&mut client);
        assert!(made.len() >= complete.min(7), "round {round}: {made:?}");
        complete = made.len();
        client.ok("backup.verify", json!({"name": made[0]}));
        let mut expected = all.clone();
        expected.sort();
        let found = client.ok("memory.stats", json!({}))["notes"].as_u64().expect("a number");
        assert_eq!(found as usize, expected.len(), "round {round}");
    }
    is_whole(&world);
    println!("{rounds} rounds, {} notes", all.len());
}

/// Begins to restore the newest backup while no daemon runs.
fn begin_restore(world: &World) -> Child {
    let dir = world.dir();
    let mut command = Command::new(programs::path("afd"));
    command.env_clear().env("HOME", dir).arg("--restore");
    command
        .arg("--socket")
        .arg(world.socket())
        .arg("--config")
        .arg(dir.join("config.toml"))
        .arg("--memory-db")
        .arg(dir.join("memory.db"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs")
}

#[test]
fn restore_that_is_killed_leaves_the_old_memory_or_the_restored_one() {
    let (mut world, restored) = filled();
    let rounds = rounds();
    let whole = size(&world.dir().join("backups"), "memory.db");
    let (mut old, mut new) = (0, 0);
    for round in 0..rounds {
        let extra = format!("round {round}");
        save(&mut world.client(), &extra);
        world.daemon.stop();
        let mut restore = begin_restore(&world);
        // In the last third of the rounds, the restore is killed after the copy is complete.
        let wanted = whole * round * 3 / (rounds * 2);
        wait::until("a part of the restore", || {
            let is_far = wanted <= whole && size(world.dir(), "memory.db.restoring") >= wanted.max(1);
            (is_far || world.dir().join("memory.db.restored").exists() || restore.try_wait().expect("waits").is_some())
                .then_some(())
        });
        let _ = restore.kill();
        restore.wait().expect("ends");
        world.daemon = Daemon::start(world.dir());
        let found = topics(&mut world.client());
        if found.contains(&extra) {
            old += 1;
        } else {
            assert_eq!(found, restored, "round {round}");
            new += 1;
        }
        assert!(restored.iter().all(|topic| found.contains(topic)), "round {round}");
        assert_eq!(
            size(world.dir(), "memory.db.restoring") + size(world.dir(), "memory.db.restored"),
            0,
            "round {round}"
        );
        world.client().ok("backup.verify", json!({}));
    }
    is_whole(&world);
    println!("{rounds} rounds: {old} left the old memory, {new} the restored one");
}
