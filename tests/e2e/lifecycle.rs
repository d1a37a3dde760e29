//! Lifecycle of the daemon: single instance, stale sockets, reload, shutdown.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use afd_phone::fault::Kind;
use afd_tests::{Daemon, TestPhone, World, daemon, wait};
use serde_json::json;

#[test]
fn second_daemon_is_refused_by_socket_and_by_database() {
    let world = World::process();
    let why = Daemon::try_start(world.dir()).err().expect("refused");
    assert!(why.contains("another daemon") && why.contains(&world.daemon.pid().to_string()), "{why}");
    // Another socket, the same database.
    let other = tempfile::tempdir().expect("a directory");
    let output =
        daemon::command(world.dir()).env("AFD_LOG", "off").arg("--log").arg("off").stderr(Stdio::piped()).output();
    assert_eq!(output.expect("runs").status.code(), Some(3));
    let mut command = std::process::Command::new(afd_tests::programs::path("afd"));
    command
        .env_clear()
        .arg("--socket")
        .arg(other.path().join("run/a.sock"))
        .arg("--memory-db")
        .arg(world.dir().join("memory.db"));
    command.arg("--config").arg(other.path().join("c.toml"));
    let output = command.output().expect("runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory.db"));
    world.client().ok("daemon.version", json!({}));
}

#[test]
fn stale_socket_of_a_killed_daemon_is_replaced() {
    let mut world = World::process();
    world.daemon.kill();
    assert!(world.socket().exists());
    world.daemon = Daemon::start(world.dir());
    world.client().ok("observe.top", json!({}));
    let mode = |p: &std::path::Path| std::fs::metadata(p).expect("exists").permissions().mode() & 0o777;
    assert_eq!((mode(&world.socket()), mode(&world.dir().join("run"))), (0o600, 0o700));
}

#[test]
fn socket_directory_accessible_to_others_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = dir.path().join("run");
    std::fs::create_dir(&run).expect("creates the directory");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).expect("sets the mode");
    let why = Daemon::try_start(dir.path()).err().expect("refused");
    assert!(why.contains("mode 755") && why.contains("use mode 700"), "{why}");
}

#[test]
fn invalid_settings_prevent_a_start_and_are_ignored_by_a_reload() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("config.toml"), "[device.a]\nurl = 5\n").expect("writes");
    let why = Daemon::try_start(dir.path()).err().expect("refused");
    assert!(why.contains("line 2"), "{why}");
    // A service manager is told that another start would fail in the same way.
    let ended = std::process::Command::new(afd_tests::programs::path("afd"))
        .env_clear()
        .env("HOME", dir.path())
        .arg("--socket")
        .arg(dir.path().join("run/afd.sock"))
        .arg("--config")
        .arg(dir.path().join("config.toml"))
        .output()
        .expect("runs");
    assert_eq!(ended.status.code(), Some(78));
    let unit = include_str!("../../systemd/afd.service");
    assert!(unit.contains("RestartPreventExitStatus=78"));

    let world = World::new();
    let mut client = world.client();
    let config = world.dir().join("config.toml");
    let good = std::fs::read_to_string(&config).expect("reads");
    std::fs::write(&config, "[device").expect("writes");
    client.fails("daemon.reload", json!({}), "CONFLICT");
    assert!(client.ok("daemon.status", json!({}))["configError"].is_string());
    client.ok("observe.top", json!({}));
    std::fs::write(&config, format!("{good}\n[nonsense]\nx = 1\n")).expect("writes");
    let reloaded = client.ok("daemon.reload", json!({}));
    assert_eq!(reloaded["warnings"], json!(["nonsense"]));
    assert!(client.ok("daemon.status", json!({})).get("configError").is_none());
}

#[test]
fn changed_file_and_sighup_reload_the_devices() {
    let world = World::process();
    let second = TestPhone::start();
    let mut client = world.client();
    let config = world.dir().join("config.toml");
    let good = std::fs::read_to_string(&config).expect("reads");
    let more =
        format!("{good}\n[device.second]\nurl = \"{}\"\ntoken = \"{}\"\n", second.url(), afd_tests::phone::TOKEN);
    let names = |client: &mut afd_tests::Client| -> Vec<String> {
        client.ok("device.list", json!({}))["devices"]
            .as_array()
            .expect("devices")
            .iter()
            .map(|d| d["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    // Editors save by renaming.
    std::fs::write(world.dir().join("config.new"), &more).expect("writes");
    std::fs::rename(world.dir().join("config.new"), &config).expect("renames");
    wait::until("the new device", || (names(&mut client) == ["pixel", "second"]).then_some(()));
    client.ok("observe.top", json!({"device": "second"}));
    std::fs::write(&config, &good).expect("writes");
    world.daemon.signal("HUP");
    wait::until("the device to be removed", || (names(&mut client) == ["pixel"]).then_some(()));
}

#[test]
fn shutdown_finishes_calls_in_flight() {
    for framing in ["line", "http"] {
        let mut world = World::process();
        world.phone.fault("/api/press/home", Kind::Hold);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "act.home"}).to_string();
        let mut stream = crate::framings::open(&world);
        let caller = std::thread::spawn(move || match framing {
            "line" => {
                use std::io::{BufRead, Write};
                writeln!(stream, "{call}").expect("writes");
                let mut line = String::new();
                std::io::BufReader::new(stream).read_line(&mut line).expect("reads");
                line
            }
            _ => afd_tests::http::exchange(&mut stream, "POST", "/", &[], &call).body,
        });
        wait::until("the action to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
        let idle = world.daemon.connect();
        world.daemon.signal("TERM");
        wait::until("the daemon to stop listening", || UnixStream::connect(world.socket()).is_err().then_some(()));
        world.phone.release();
        let response = caller.join().expect("does not panic");
        assert!(response.contains("eventId"), "{framing}: {response:?}");
        assert!(world.daemon.wait().success());
        assert!(!world.socket().exists());
        drop(idle);
        world.daemon = Daemon::start(world.dir());
        assert_eq!(world.client().ok("memory.log", json!({}))["events"][0]["status"], "ok");
    }
}

#[test]
fn second_signal_exits_immediately() {
    let mut world = World::process();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut connection = world.daemon.connect();
    let caller = std::thread::spawn(move || connection.call("act.home", json!({})).is_err());
    wait::until("the action to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    world.daemon.signal("INT");
    wait::until("the daemon to stop listening", || UnixStream::connect(world.socket()).is_err().then_some(()));
    world.daemon.signal("INT");
    assert_eq!(world.daemon.wait().code(), Some(130));
    assert!(caller.join().expect("does not panic"));
}

#[test]
fn client_that_shuts_the_daemon_down_gets_a_response() {
    let mut world = World::process();
    assert_eq!(world.client().ok("daemon.shutdown", json!({}))["stopping"], true);
    assert!(world.daemon.wait().success());
}

#[test]
fn file_that_is_not_a_database_prevents_a_start_and_is_unchanged() {
    let dir = tempfile::tempdir().expect("a directory");
    let junk = "precious, but no database ".repeat(200);
    std::fs::write(dir.path().join("memory.db"), &junk).expect("writes");
    let why = Daemon::try_start(dir.path()).err().expect("refused");
    assert!(why.contains("memory database"), "{why}");
    assert_eq!(std::fs::read_to_string(dir.path().join("memory.db")).expect("reads"), junk);
    assert!(!dir.path().join("memory.db.lock").exists(), "no lock file is created for a foreign file");
}

#[test]
fn file_that_is_not_a_socket_is_not_removed() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = dir.path().join("run");
    std::fs::create_dir(&run).expect("creates the directory");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o700)).expect("sets the mode");
    std::fs::write(run.join("afd.sock"), "precious").expect("writes");
    let why = Daemon::try_start(dir.path()).err().expect("refused");
    assert!(why.contains("is not a socket"), "{why}");
    assert_eq!(std::fs::read_to_string(run.join("afd.sock")).expect("reads"), "precious");
}

#[test]
fn inherited_socket_is_used_and_not_removed() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("inherited.sock");
    let listener = UnixListener::bind(&path).expect("binds");
    // systemd passes the socket as descriptor 3 and the process id in the environment; a shell can do both, given the
    // socket as its standard input.
    let script = r#"exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$0" "$@""#;
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(script).arg(afd_tests::programs::path("afd"));
    command
        .arg("--socket")
        .arg(dir.path().join("run/unused.sock"))
        .arg("--memory-db")
        .arg(dir.path().join("m.db"))
        .arg("--config")
        .arg(dir.path().join("c.toml"));
    let mut child =
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(listener))).stderr(Stdio::null()).spawn().expect("runs");
    let mut connection =
        afd_link::connection::Connection::open(&path).expect("the backlog accepts it before the daemon is ready");
    let version = connection.call("daemon.version", json!({})).expect("succeeds");
    assert_eq!(version["pid"], json!(child.id()));
    connection.call("daemon.shutdown", json!({})).expect("succeeds");
    assert!(child.wait().expect("waits").success());
    assert!(path.exists(), "the socket belongs to systemd");
}
