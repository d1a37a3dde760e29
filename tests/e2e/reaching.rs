//! How `afctl` connects to a daemon that was killed, is shutting down, hangs, is older, or belongs to another user; and
//! terminal safety of its output.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use afd_phone::fault::Kind;
use afd_tests::daemon::send_signal;
use afd_tests::{TestPhone, World, programs, wait};
use serde_json::{Value, json};

use crate::command_line::{afctl, envelope, run_afctl, temporary_home};

/// A home directory with a phone in its settings. Dropping it shuts down the daemon that was started for it.
struct Home {
    dir: tempfile::TempDir,
    phone: TestPhone,
}

impl Home {
    fn new() -> Self {
        let (dir, phone) = (temporary_home(), TestPhone::start());
        let config = dir.path().join(".config/afd");
        std::fs::create_dir_all(&config).expect("creates the directory");
        let text = format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n", phone.url(), afd_tests::phone::TOKEN);
        std::fs::write(config.join("config.toml"), text).expect("writes");
        Self { dir, phone }
    }

    fn run(&self, args: &[&str]) -> (Value, i32) {
        envelope(&afctl(self.dir.path()).args(args).output().expect("runs"))
    }

    /// Runs a command that must succeed, and returns its data.
    fn ok(&self, args: &[&str]) -> Value {
        let (output, code) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {output}");
        output["data"].clone()
    }

    /// Returns the process id of the daemon; starts one if none is running.
    fn pid(&self) -> Option<u32> {
        let (output, code) = self.run(&["status"]);
        (code == 0).then(|| output["data"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())).flatten()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.run(&["daemon", "shutdown"]);
    }
}

#[test]
fn command_after_a_kill_starts_a_new_daemon() {
    let home = Home::new();
    home.ok(&["observe", "top"]);
    for (round, next) in
        [vec!["observe", "top"], vec!["act", "home"], vec!["memory", "save", "--topic", "t", "--content", "c"]]
            .into_iter()
            .cycle()
            .take(9)
            .enumerate()
    {
        send_signal(home.pid().expect("a daemon"), "KILL");
        let (output, code) = home.run(&next);
        assert_eq!(code, 0, "round {round}, {next:?}: {output}");
    }
    assert_eq!(home.phone.hits("home").len(), 3, "each act was sent once");
    assert_eq!(home.ok(&["memory", "search", "--query", "c"])["notes"].as_array().map(Vec::len), Some(3));
}

#[test]
fn removed_socket_is_made_again_with_its_directory_and_its_lock() {
    let home = Home::new();
    home.ok(&["observe", "top"]);
    let pid = home.pid().expect("a daemon");
    let run = home.dir.path().join("run/afd");
    for removed in [run.join("afd.sock"), run.join("afd.sock.lock"), run.clone()] {
        let is_dir = removed.is_dir();
        if is_dir { std::fs::remove_dir_all(&removed) } else { std::fs::remove_file(&removed) }.expect("removes");
        assert_eq!(home.pid(), Some(pid), "after {} was removed", removed.display());
        wait::until("all of it", || {
            (run.join("afd.sock").exists() && run.join("afd.sock.lock").exists()).then_some(())
        });
        assert_eq!(std::fs::metadata(&run).expect("a directory").permissions().mode() & 0o777, 0o700);
    }
    std::fs::remove_dir_all(&run).expect("removes");
    home.ok(&["daemon", "restart"]);
    let next = home.pid().expect("a daemon");
    assert_ne!(next, pid);
    std::fs::remove_dir_all(&run).expect("removes");
    home.ok(&["daemon", "shutdown"]);
    assert!(!run.join("afd.sock").exists(), "what was made again is removed at the end");
}

/// Number of SIGTERM on Linux.
const SIGTERM: i32 = 15;

/// Returns whether a process has a pending signal, by its number.
fn is_pending(pid: u32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("ShdPnd:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn daemon_that_does_not_answer_is_restarted() {
    let home = Home::new();
    home.ok(&["observe", "top"]);
    let pid = home.pid().expect("a daemon");
    send_signal(pid, "STOP");
    // A stopped process handles SIGTERM only after SIGCONT.
    let waker = std::thread::spawn(move || {
        wait::until("SIGTERM", || is_pending(pid, SIGTERM).then_some(()));
        send_signal(pid, "CONT");
    });
    home.ok(&["daemon", "restart"]);
    waker.join().expect("does not panic");
    assert!(home.pid().is_some_and(|next| next != pid));
}

#[test]
fn daemon_is_found_by_the_memory_that_the_settings_name() {
    let home = Home::new();
    let settings = home.dir.path().join(".config/afd/config.toml");
    let text = std::fs::read_to_string(&settings).expect("reads");
    std::fs::write(&settings, format!("{text}\n[memory]\ndb = \"elsewhere/own.db\"\n")).expect("writes");
    home.ok(&["observe", "top"]);
    let pid = home.pid().expect("a daemon");
    let other = home.dir.path().join("other");
    let mut command = afctl(home.dir.path());
    let (output, code) = envelope(&command.env("XDG_RUNTIME_DIR", other).args(["status"]).output().expect("runs"));
    assert_eq!((output["data"]["pid"].as_u64(), code), (Some(u64::from(pid)), 0), "{output}");
}

#[test]
fn shutdown_returns_after_the_daemon_has_exited() {
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
fn command_during_a_shutdown_starts_a_new_daemon() {
    let home = Home::new();
    for _ in 0..5 {
        // A command may still be answered by the daemon that is ending.
        let pid = wait::until("a daemon", || {
            home.ok(&["observe", "top"]);
            home.pid()
        });
        send_signal(pid, "TERM");
        home.ok(&["observe", "top"]);
    }
}

#[test]
fn status_and_shutdown_ignore_a_conflicting_database_variable() {
    let world = World::new();
    let with = |args: &[&str]| {
        let mut command = afctl(world.dir());
        command.env("AFD_SOCKET", world.socket()).env("AF_DB", world.dir().join("other.db")).args(args);
        envelope(&command.output().expect("runs"))
    };
    let (output, code) = with(&["memory", "log"]);
    assert_eq!((output["error"]["code"].as_str(), code), (Some("CONFLICT"), 1));
    assert_eq!(with(&["status"]).1, 0);
    assert_eq!(with(&["daemon", "shutdown"]).1, 0);
}

#[test]
fn enabled_systemd_unit_does_not_apply_to_an_explicit_socket() {
    let home = temporary_home();
    let units = home.path().join(".config/systemd/user/default.target.wants");
    std::fs::create_dir_all(&units).expect("creates the directory");
    std::fs::write(units.join("afd.service"), "").expect("writes");
    let (output, code) = envelope(&afctl(home.path()).args(["memory", "log"]).output().expect("runs"));
    assert_eq!((output["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3));
    assert!(output["error"]["hint"].as_str().is_some_and(|h| h.contains("afctl daemon restart")), "{output}");
    let (output, _) = envelope(&afctl(home.path()).args(["--no-spawn", "memory", "log"]).output().expect("runs"));
    assert!(output["error"]["hint"].as_str().is_some_and(|h| h.contains("systemd")), "{output}");
    let socket = home.path().join("run/mine/own.sock");
    let socket = socket.to_str().expect("text");
    let (output, code) =
        envelope(&afctl(home.path()).args(["--socket", socket, "memory", "log"]).output().expect("runs"));
    assert_eq!(code, 0, "{output}");
    let (_, code) =
        envelope(&afctl(home.path()).args(["--socket", socket, "daemon", "shutdown"]).output().expect("runs"));
    assert_eq!(code, 0);
}

#[test]
fn unresponsive_daemon_is_not_waited_for() {
    let world = World::process();
    world.daemon.signal("STOP");
    for args in [&["status"][..], &["observe", "top"]] {
        let mut command = afctl(world.dir());
        command.env("AFD_SOCKET", world.socket()).env("AFD_PROBE_MS", "50").args(args);
        let (output, code) = envelope(&command.output().expect("runs"));
        assert_eq!((output["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{args:?}: {output}");
        let hint = output["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&world.daemon.pid().to_string()), "{output}");
    }
    world.daemon.signal("CONT");
    assert_eq!(run_afctl(&world, &["observe", "top"]).1, 0);
}

#[test]
fn long_call_is_waited_for() {
    let world = World::new();
    let mut command = afctl(world.dir());
    command.env("AFD_SOCKET", world.socket()).env("AFD_PROBE_MS", "50");
    command.args(["observe", "wait", "--until", "text", "--text", "never there", "--timeout-ms", "800"]);
    let (output, code) = envelope(&command.output().expect("runs"));
    assert_eq!((output["error"]["code"].as_str(), code), (Some("TIMEOUT"), 1), "{output}");
}

/// Serves one connection as an older daemon would, which answers calls with an error.
fn serve_as_older_daemon(socket: &Path, error: Value) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(socket).expect("binds");
    let version = json!({"version": "0.0.1", "protocol": 1, "capabilities": [], "pid": 1, "startedAt": 0});
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut writer = stream.try_clone().expect("clones");
        for line in BufReader::new(stream).lines() {
            let call: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            let response = match call["method"].as_str() {
                Some("daemon.version") => json!({"jsonrpc": "2.0", "id": call["id"], "result": version}),
                _ => json!({"jsonrpc": "2.0", "id": call["id"], "error": error}),
            };
            writeln!(writer, "{response}").expect("writes");
        }
    })
}

#[test]
fn older_daemon_is_reported() {
    // Use the current wording of the daemon, because the hint depends on it.
    let world = World::new();
    let refused = world.client().fails("memory.log", json!({"unheard": 1}), "INVALID_PARAMS");
    let unknown_parameter = json!({"code": -32602, "message": refused.message, "data": {"code": refused.code, "retryable": false, "details": refused.details}});
    for error in [json!({"code": -32601, "message": "no such method"}), unknown_parameter] {
        let home = temporary_home();
        let dir = home.path().join("run/afd");
        std::fs::create_dir(&dir).expect("creates the directory");
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).expect("sets the mode");
        let daemon = serve_as_older_daemon(&dir.join("afd.sock"), error);
        let (output, code) = envelope(&afctl(home.path()).args(["memory", "log"]).output().expect("runs"));
        daemon.join().expect("does not panic");
        assert_eq!(code, 1);
        let hint = output["error"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains("0.0.1") && hint.contains("daemon restart"), "{output}");
    }
}

/// Regression: a command failed if the daemon died while executing it; it must be repeated with the same key.
#[test]
fn interrupted_write_is_repeated_with_its_request_key() {
    let home = temporary_home();
    let dir = home.path().join("run/afd");
    std::fs::create_dir(&dir).expect("creates the directory");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).expect("sets the mode");
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
                        // The daemon dies while executing the call.
                        break;
                    }
                }
                writeln!(
                    writer,
                    "{}",
                    json!({"jsonrpc": "2.0", "id": call["id"], "result": {"version": "x", "note": {}}})
                )
                .expect("writes");
            }
        }
        keys
    });
    let args = ["--no-spawn", "memory", "save", "--topic", "t", "--content", "c"];
    let (output, code) = envelope(&afctl(home.path()).args(args).output().expect("runs"));
    let keys = daemon.join().expect("does not panic");
    assert_eq!(code, 0, "{output}");
    assert!(keys[0].as_str().is_some_and(|key| key.len() > 20) && keys[0] == keys[1], "{keys:?}");
}

#[test]
fn socket_directory_writable_by_others_is_not_trusted() {
    let home = temporary_home();
    let dir = home.path().join("run/afd");
    std::fs::create_dir(&dir).expect("creates the directory");
    let daemon = UnixListener::bind(dir.join("afd.sock")).expect("binds");
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).expect("sets the mode");
    let run = || {
        envelope(
            &afctl(home.path())
                .args(["--url", "http://h", "--token", "SECRET", "observe", "top"])
                .output()
                .expect("runs"),
        )
    };
    let (output, code) = run();
    assert_eq!((output["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{output}");
    assert!(
        output["error"]["message"].as_str().is_some_and(|m| m.contains("not trusted") && m.contains("777")),
        "{output}"
    );
    std::fs::rename(&dir, home.path().join("elsewhere")).expect("moves");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), &dir).expect("creates the link");
    assert!(run().0["error"]["message"].as_str().is_some_and(|m| m.contains("symbolic link")));
    daemon.set_nonblocking(true).expect("changes the socket mode");
    assert!(daemon.accept().is_err(), "nothing was sent to it");
    assert!(!home.path().join("elsewhere/afd.spawn.lock").exists());
}

/// Must run as root, so that another user can create the socket first.
#[test]
#[ignore = "needs another user"]
fn socket_of_another_user_gets_no_token() {
    // A directory that is accessible to everyone, like /tmp.
    let open = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).expect("sets the mode");
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
    // First the directory belongs to the other user; further down, only the socket does.
    let run = |socket: &Path| {
        let mut command = afctl(open.path());
        command.arg("--socket").arg(socket).args(["--url", "http://h", "--token", "SECRET", "observe", "top"]);
        envelope(&command.output().expect("runs"))
    };
    let (output, code) = run(&dir.join("afd.sock"));
    assert_eq!((output["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{output}");
    assert!(output["error"]["message"].as_str().is_some_and(|m| m.contains("belongs to user 65534")), "{output}");
    let mine = open.path().join("mine");
    std::fs::create_dir(&mine).expect("creates the directory");
    std::fs::set_permissions(&mine, std::fs::Permissions::from_mode(0o755)).expect("sets the mode");
    std::fs::rename(dir.join("afd.sock"), mine.join("afd.sock")).expect("moves");
    let (output, code) = run(&mine.join("afd.sock"));
    assert_eq!((output["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "{output}");
    assert!(output["error"]["message"].as_str().is_some_and(|m| m.contains("user 65534 listens")), "{output}");
    impostor.kill().expect("kills");
    impostor.wait().expect("exits");
}

/// A text with control sequences and characters that would manipulate a terminal.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{85}\u{202e}y\u{2066}z";

/// Runs a command with each output format like on a terminal, where neither styles nor other control sequences are
/// stripped. Asserts that no control sequence of [`HOSTILE`] is printed.
fn assert_prints_no_control_sequences(world: &World, command: &[&str], succeeds: bool) {
    for output in ["human", "json", "text"] {
        let mut run = afctl(world.dir());
        run.env("AFD_SOCKET", world.socket()).env("CLICOLOR_FORCE", "1").args(command).args(["--output", output]);
        let output = run.output().expect("runs");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), succeeds, "{command:?}: {text}");
        assert!(text.contains('y'), "the text is still shown: {text}");
        for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{85}", "\u{202e}", "\u{2066}"] {
            assert!(!text.contains(sequence), "{command:?} {sequence:?}: {text:?}");
        }
    }
}

#[test]
fn text_from_a_phone_cannot_control_the_terminal() {
    let world = World::new();
    let body = json!({"ok": false, "data": null, "error": HOSTILE}).to_string();
    world.phone.fault_always(
        "/api/press/home",
        Kind::Status { status: 500, body, content_type: Some("application/json".into()) },
    );
    assert_prints_no_control_sequences(&world, &["act", "home"], false);
    let screen = format!(
        "[mode: SYSTEM_API]\n[topActivity: org.example.odd/.Main]\nscreen:1080x2400 density:420 orientation:portrait\n\
         --- window:1 type:APPLICATION pkg:org.example.odd title:{HOSTILE} layer:1 focused:true ---\n\
         node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n\
         node_1\tButton\t{HOSTILE}\t-\torg.example.odd:id/b\t0,0,400,400\ton,clk,ena\nhierarchy:\nnode_1\n"
    );
    let body = json!({"ok": true, "data": screen, "error": null}).to_string();
    world
        .phone
        .fault_always("/api/screen", Kind::Status { status: 200, body, content_type: Some("application/json".into()) });
    assert_prints_no_control_sequences(&world, &["observe", "refs"], true);
    assert_prints_no_control_sequences(&world, &["act", "tap", "--by", "resid", "--value", "b"], true);
    assert_prints_no_control_sequences(&world, &["memory", "log"], true);
    assert_prints_no_control_sequences(&world, &["events", "--since", "0", "--count", "4"], true);
}

#[test]
fn stored_text_cannot_control_the_terminal() {
    let world = World::new();
    world.client().ok("memory.save", json!({"topic": "t", "content": HOSTILE}));
    world.client().ok("session.task.add", json!({"session": "s", "description": HOSTILE}));
    world
        .client()
        .ok("conversation.append", json!({"session": "s", "messages": [{"role": "user", "content": HOSTILE}]}));
    let shown = [
        &["memory", "search", "--query", "x"][..],
        &["session", "show", "-s", "s"],
        &["session", "task", "list", "-s", "s"],
        &["conversation", "list", "-s", "s"],
    ];
    for command in shown {
        assert_prints_no_control_sequences(&world, command, true);
    }
}
