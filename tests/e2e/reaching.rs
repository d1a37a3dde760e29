//! `afctl` reaches the daemon: one that was killed, one that leaves, one that hangs, an older one, and somebody else's.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use afd_phone::fault::Kind;
use afd_tests::daemon::send_signal;
use afd_tests::{TestPhone, World, programs};
use serde_json::{Value, json};

use crate::command_line::{afctl, envelope, on, private_home};

/// A home with a phone in its settings; whatever daemon runs for it ends with it.
struct Home {
    dir: tempfile::TempDir,
    phone: TestPhone,
}

impl Home {
    fn new() -> Self {
        let (dir, phone) = (private_home(), TestPhone::start());
        let config = dir.path().join(".config/afd");
        std::fs::create_dir_all(&config).expect("makes");
        let text = format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n", phone.url(), afd_tests::phone::TOKEN);
        std::fs::write(config.join("config.toml"), text).expect("writes");
        Self { dir, phone }
    }

    fn run(&self, args: &[&str]) -> (Value, i32) {
        envelope(&afctl(self.dir.path()).args(args).output().expect("runs"))
    }

    fn ok(&self, args: &[&str]) -> Value {
        let (told, code) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {told}");
        told["data"].clone()
    }

    fn pid(&self) -> Option<u32> {
        let (told, code) = self.run(&["status"]);
        (code == 0).then(|| told["data"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())).flatten()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.run(&["daemon", "shutdown"]);
    }
}

#[test]
fn the_next_command_after_a_kill_starts_a_new_daemon() {
    let home = Home::new();
    home.ok(&["observe", "top"]);
    for (round, next) in [vec!["observe", "top"], vec!["act", "home"], vec!["memory", "save", "--topic", "t", "--content", "c"]]
        .into_iter()
        .cycle()
        .take(9)
        .enumerate()
    {
        send_signal(home.pid().expect("a daemon"), "KILL");
        let (told, code) = home.run(&next);
        assert_eq!(code, 0, "round {round}, {next:?}: {told}");
    }
    assert_eq!(home.phone.hits("home").len(), 3, "each act was sent once");
    assert_eq!(home.ok(&["memory", "search", "--query", "c"])["notes"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_daemon_that_was_told_to_stop_has_ended_when_that_is_answered() {
    let home = Home::new();
    for round in 0..10 {
        home.ok(&["memory", "save", "--topic", "t", "--content", &format!("note {round}")]);
        let pid = home.pid().expect("a daemon");
        home.ok(&["daemon", "shutdown"]);
        let lock = std::fs::File::open(home.dir.path().join("run/afd/afd.sock.lock")).expect("opens");
        assert!(lock.try_lock().is_ok(), "round {round}: {pid} has ended");
    }
    assert_eq!(home.ok(&["memory", "search", "--query", "note"])["notes"].as_array().map(Vec::len), Some(10));
}

#[test]
fn a_command_that_meets_a_leaving_daemon_waits_for_the_next_one() {
    let home = Home::new();
    home.ok(&["observe", "top"]);
    for _ in 0..5 {
        send_signal(home.pid().expect("a daemon"), "TERM");
        home.ok(&["observe", "top"]);
    }
}

#[test]
fn another_database_in_the_environment_keeps_nobody_from_stopping_a_daemon() {
    let world = World::new();
    let with = |args: &[&str]| {
        let mut command = afctl(world.dir());
        command.env("AFD_SOCKET", world.socket()).env("AF_DB", world.dir().join("other.db")).args(args);
        envelope(&command.output().expect("runs"))
    };
    let (told, code) = with(&["memory", "log"]);
    assert_eq!((told["error"]["code"].as_str(), code), (Some("CONFLICT"), 1));
    assert_eq!(with(&["status"]).1, 0);
    assert_eq!(with(&["daemon", "shutdown"]).1, 0);
}

#[test]
fn a_socket_of_ones_own_is_no_business_of_an_enabled_unit() {
    let home = private_home();
    let units = home.path().join(".config/systemd/user/default.target.wants");
    std::fs::create_dir_all(&units).expect("makes");
    std::fs::write(units.join("afd.service"), "").expect("writes");
    let (told, code) = envelope(&afctl(home.path()).args(["memory", "log"]).output().expect("runs"));
    assert_eq!((told["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3));
    assert!(told["error"]["hint"].as_str().is_some_and(|h| h.contains("systemctl --user start afd.service")), "{told}");
    let (told, _) = envelope(&afctl(home.path()).args(["--no-spawn", "memory", "log"]).output().expect("runs"));
    assert!(told["error"]["hint"].as_str().is_some_and(|h| h.contains("systemctl")), "{told}");
    let socket = home.path().join("run/mine/own.sock");
    let socket = socket.to_str().expect("text");
    let (told, code) = envelope(&afctl(home.path()).args(["--socket", socket, "memory", "log"]).output().expect("runs"));
    assert_eq!(code, 0, "{told}");
    let (_, code) = envelope(&afctl(home.path()).args(["--socket", socket, "daemon", "shutdown"]).output().expect("runs"));
    assert_eq!(code, 0);
}

#[test]
fn a_daemon_that_answers_nobody_is_not_waited_for() {
    let world = World::new();
    world.daemon.signal("STOP");
    for args in [&["status"][..], &["observe", "top"]] {
        let mut command = afctl(world.dir());
        command.env("AFD_SOCKET", world.socket()).env("AFD_PROBE_MS", "50").args(args);
        let (told, code) = envelope(&command.output().expect("runs"));
        assert_eq!((told["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{args:?}: {told}");
        let hint = told["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&world.daemon.pid().to_string()), "{told}");
    }
    world.daemon.signal("CONT");
    assert_eq!(on(&world, &["observe", "top"]).1, 0);
}

#[test]
fn a_call_that_takes_long_is_waited_for() {
    let world = World::new();
    let mut command = afctl(world.dir());
    command.env("AFD_SOCKET", world.socket()).env("AFD_PROBE_MS", "50");
    command.args(["observe", "wait", "--until", "text", "--text", "never there", "--timeout-ms", "800"]);
    let (told, code) = envelope(&command.output().expect("runs"));
    assert_eq!((told["error"]["code"].as_str(), code), (Some("TIMEOUT"), 1), "{told}");
}

/// Answers one connection after the other as an old daemon would.
fn pretend(socket: &Path) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(socket).expect("binds");
    let version = json!({"version": "0.0.1", "protocol": 1, "capabilities": [], "pid": 1, "startedAt": 0});
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut writer = stream.try_clone().expect("clones");
        for line in BufReader::new(stream).lines() {
            let call: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            let answer = match call["method"].as_str() {
                Some("daemon.version") => json!({"jsonrpc": "2.0", "id": call["id"], "result": version}),
                _ => json!({"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32601, "message": "no such method"}}),
            };
            writeln!(writer, "{answer}").expect("writes");
        }
    })
}

#[test]
fn an_older_daemon_is_told() {
    let home = private_home();
    let dir = home.path().join("run/afd");
    std::fs::create_dir(&dir).expect("makes");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).expect("sets");
    let daemon = pretend(&dir.join("afd.sock"));
    let (told, code) = envelope(&afctl(home.path()).args(["memory", "log"]).output().expect("runs"));
    daemon.join().expect("ends");
    assert_eq!(code, 1);
    let hint = told["error"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("0.0.1") && hint.contains("daemon shutdown"), "{told}");
}

/// Before, a command that met a dying daemon failed; now it asks again, with the same key.
#[test]
fn a_write_that_was_cut_off_is_asked_again_with_its_own_key() {
    let home = private_home();
    let dir = home.path().join("run/afd");
    std::fs::create_dir(&dir).expect("makes");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).expect("sets");
    let listener = UnixListener::bind(dir.join("afd.sock")).expect("binds");
    let daemon = std::thread::spawn(move || {
        let mut keys: Vec<Value> = Vec::new();
        while keys.len() < 2 {
            let (stream, _) = listener.accept().expect("a client");
            let mut writer = stream.try_clone().expect("clones");
            for line in BufReader::new(stream).lines() {
                let call: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
                if call["method"] == "memory.save" {
                    keys.push(call["params"]["requestKey"].clone());
                    if keys.len() == 1 {
                        // It dies while it works.
                        break;
                    }
                }
                writeln!(writer, "{}", json!({"jsonrpc": "2.0", "id": call["id"], "result": {"version": "x", "note": {}}}))
                    .expect("writes");
            }
        }
        keys
    });
    let args = ["--no-spawn", "memory", "save", "--topic", "t", "--content", "c"];
    let (told, code) = envelope(&afctl(home.path()).args(args).output().expect("runs"));
    let keys = daemon.join().expect("ends");
    assert_eq!(code, 0, "{told}");
    assert!(keys[0].as_str().is_some_and(|key| key.len() > 20) && keys[0] == keys[1], "{keys:?}");
}

#[test]
fn a_directory_that_others_can_write_to_is_not_trusted() {
    let home = private_home();
    let dir = home.path().join("run/afd");
    std::fs::create_dir(&dir).expect("makes");
    let daemon = UnixListener::bind(dir.join("afd.sock")).expect("binds");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).expect("sets");
    let run = || envelope(&afctl(home.path()).args(["--url", "http://h", "--token", "SECRET", "observe", "top"]).output().expect("runs"));
    let (told, code) = run();
    assert_eq!((told["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{told}");
    assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("not trusted") && m.contains("777")), "{told}");
    std::fs::rename(&dir, home.path().join("elsewhere")).expect("moves");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), &dir).expect("links");
    assert!(run().0["error"]["message"].as_str().is_some_and(|m| m.contains("symbolic link")));
    daemon.set_nonblocking(true).expect("sets");
    assert!(daemon.accept().is_err(), "nothing was sent there");
    assert!(!home.path().join("elsewhere/afd.spawn.lock").exists());
}

/// Needs to be the superuser, to have somebody else make the socket first.
#[test]
fn a_socket_of_somebody_else_gets_no_token() {
    let can = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", "true"]).output();
    if !can.is_ok_and(|o| o.status.success()) {
        println!("left out: nobody else can be pretended to be");
        return;
    }
    // Where everybody may pass, as in /tmp.
    let open = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).expect("sets");
    let programs = open.path().join("afd");
    std::fs::copy(programs::path("afd"), &programs).expect("copies");
    let dir = open.path().join("run");
    let mut impostor = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups"])
        .arg(&programs)
        .arg("--socket")
        .arg(dir.join("afd.sock"))
        .arg("--memory-db")
        .arg(open.path().join("m.db"))
        .env_clear()
        .env("HOME", open.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    afd_tests::wait::until("the impostor to listen", || dir.join("afd.sock").exists().then_some(()));
    // Its directory belongs to it, which is enough to see; then, where only the socket does.
    let run = |socket: &Path| {
        let mut command = afctl(open.path());
        command.arg("--socket").arg(socket).args(["--url", "http://h", "--token", "SECRET", "observe", "top"]);
        envelope(&command.output().expect("runs"))
    };
    let (told, code) = run(&dir.join("afd.sock"));
    assert_eq!((told["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{told}");
    assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("belongs to user 65534")), "{told}");
    let mine = open.path().join("mine");
    std::fs::create_dir(&mine).expect("makes");
    std::fs::set_permissions(&mine, std::fs::Permissions::from_mode(0o755)).expect("sets");
    std::fs::rename(dir.join("afd.sock"), mine.join("afd.sock")).expect("moves");
    let (told, code) = run(&mine.join("afd.sock"));
    assert_eq!((told["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{told}");
    assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("user 65534 listens")), "{told}");
    impostor.kill().expect("kills");
    impostor.wait().expect("ends");
}

/// A text that would take over a terminal.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{85}\u{202e}y\u{2066}z";

/// Runs a command in all forms of output, as on a terminal: styles stay, and with them whatever else is no text.
fn shows_nothing_that_steers(world: &World, command: &[&str], succeeds: bool) {
    for output in ["human", "json", "text"] {
        let mut run = afctl(world.dir());
        run.env("AFD_SOCKET", world.socket()).env("CLICOLOR_FORCE", "1").args(command).args(["--output", output]);
        let output = run.output().expect("runs");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), succeeds, "{command:?}: {text}");
        assert!(text.contains('y'), "it is still shown: {text}");
        for steering in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{85}", "\u{202e}", "\u{2066}"] {
            assert!(!text.contains(steering), "{command:?} {steering:?}: {text:?}");
        }
    }
}

#[test]
fn what_a_phone_says_does_not_steer_the_terminal() {
    let world = World::new();
    let body = json!({"ok": false, "data": null, "error": HOSTILE}).to_string();
    world.phone.fault_always("/api/press/home", Kind::Status { status: 500, body, content_type: Some("application/json".into()) });
    shows_nothing_that_steers(&world, &["act", "home"], false);
    let screen = format!(
        "[mode: SYSTEM_API]\n[topActivity: org.example.odd/.Main]\nscreen:1080x2400 density:420 orientation:portrait\n\
         --- window:1 type:APPLICATION pkg:org.example.odd title:{HOSTILE} layer:1 focused:true ---\n\
         node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n\
         node_1\tButton\t{HOSTILE}\t-\torg.example.odd:id/b\t0,0,400,400\ton,clk,ena\nhierarchy:\nnode_1\n"
    );
    let body = json!({"ok": true, "data": screen, "error": null}).to_string();
    world.phone.fault_always("/api/screen", Kind::Status { status: 200, body, content_type: Some("application/json".into()) });
    shows_nothing_that_steers(&world, &["observe", "refs"], true);
    shows_nothing_that_steers(&world, &["act", "tap", "--by", "resid", "--value", "b"], true);
    shows_nothing_that_steers(&world, &["memory", "log"], true);
    shows_nothing_that_steers(&world, &["events", "--since", "0", "--count", "4"], true);
}

#[test]
fn what_others_wrote_does_not_steer_the_terminal() {
    let world = World::new();
    world.client().ok("memory.save", json!({"topic": "t", "content": HOSTILE}));
    world.client().ok("session.task.add", json!({"session": "s", "description": HOSTILE}));
    world.client().ok("conversation.append", json!({"session": "s", "messages": [{"role": "user", "content": HOSTILE}]}));
    let shown = [
        &["memory", "search", "--query", "x"][..],
        &["session", "show", "-s", "s"],
        &["session", "task", "list", "-s", "s"],
        &["conversation", "list", "-s", "s"],
    ];
    for command in shown {
        shows_nothing_that_steers(&world, command, true);
    }
}
