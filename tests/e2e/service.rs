//! The daemon as a service: checks by `afctl doctor`, systemd units, the watchdog, logs, and uninstallation.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use afd_phone::fault::Kind;
use afd_tests::docs::repository;
use afd_tests::{Daemon, TestPhone, World};
use serde_json::{Value, json};

use crate::command_line::{afctl, envelope, run_afctl, temporary_home};

fn finding(diagnosis: &Value, check: &str) -> Value {
    let found = diagnosis["findings"].as_array().into_iter().flatten().find(|f| f["check"] == check);
    found.unwrap_or_else(|| panic!("no finding about {check}: {diagnosis}")).clone()
}

#[test]
fn doctor_says_what_works_and_what_to_do() {
    let world = World::process();
    let config = world.dir().join("config.toml");
    std::fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("sets the mode");
    let (told, code) = run_afctl(&world, &["doctor"]);
    let diagnosis = &told["data"];
    assert_eq!((diagnosis["ok"].as_bool(), code), (Some(true), 0), "{told}");
    for check in ["socket", "daemon", "database", "settings", "device pixel"] {
        assert_eq!(finding(diagnosis, check)["level"], "ok", "{diagnosis}");
    }
    let backups = finding(diagnosis, "backups");
    assert_eq!(backups["level"], "warning");
    assert!(backups["advice"].as_str().is_some_and(|a| a.contains("afctl backup create")));
    let events = world.client().ok("memory.log", json!({}))["events"].clone();
    assert_eq!(events, json!([]), "checks leave no trace");

    world
        .phone
        .fault_always("/api", Kind::Status { status: 401, body: "Invalid bearer token".into(), content_type: None });
    let (told, code) = run_afctl(&world, &["doctor"]);
    assert_eq!((told["data"]["ok"].as_bool(), code), (Some(false), 1), "{told}");
    let device = finding(&told["data"], "device pixel");
    assert!(device["level"] == "error" && device["advice"].as_str().is_some_and(|a| a.contains("token")), "{device}");

    std::fs::write(&config, "[device.pixel]\nurl = \"http://127.0.0.1:1\"\nodd = 1\n[backup]\ndir = \"/proc/none\"\n")
        .expect("writes");
    world.client().ok("daemon.reload", json!({}));
    let (told, _) = run_afctl(&world, &["doctor"]);
    let settings = finding(&told["data"], "settings");
    assert!(settings["message"].as_str().is_some_and(|m| m.contains("odd")), "{settings}");
    assert_eq!(
        finding(&told["data"], "directory of backups")["level"],
        "error",
        "nobody can write there, root neither"
    );
}

#[test]
fn doctor_explains_a_daemon_that_does_not_start() {
    let home = temporary_home();
    let data = home.path().join(".local/share/afd");
    std::fs::create_dir_all(&data).expect("creates");
    std::fs::write(data.join("memory.db"), "no database at all ".repeat(300)).expect("writes");
    let (told, code) = envelope(&afctl(home.path()).arg("doctor").output().expect("runs"));
    assert_eq!(code, 1);
    let daemon = finding(&told["data"], "daemon");
    assert!(
        daemon["level"] == "error" && daemon["message"].as_str().is_some_and(|m| m.contains("memory.db")),
        "{daemon}"
    );
}

#[test]
fn units_are_accepted_and_sandboxed() {
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        eprintln!("systemd-analyze is not installed: the units are not checked");
        return;
    };
    assert!(version.status.success());
    let dir = tempfile::tempdir().expect("a directory");
    let afd = afd_tests::programs::path("afd");
    for unit in ["afd.service", "afd.socket"] {
        let text = std::fs::read_to_string(repository(&format!("systemd/{unit}"))).expect("reads");
        std::fs::write(dir.path().join(unit), text.replace("%h/.local/bin/afd", afd.to_str().expect("a path")))
            .expect("writes");
    }
    let analyze = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command.env("XDG_RUNTIME_DIR", dir.path()).current_dir(dir.path()).args(arguments).output().expect("runs")
    };
    let verified = analyze(&["--user", "verify", "./afd.service", "./afd.socket"]);
    assert!(verified.status.success() && verified.stderr.is_empty(), "{}", String::from_utf8_lossy(&verified.stderr));
    let security = analyze(&["--user", "security", "--offline=true", "./afd.service"]);
    let text = String::from_utf8_lossy(&security.stdout).into_owned();
    let exposure: f64 = text
        .lines()
        .find_map(|line| {
            line.split_once("Overall exposure level for afd.service: ")?.1.split_whitespace().next()?.parse().ok()
        })
        .unwrap_or_else(|| panic!("no figure in {text}"));
    assert!(exposure <= 2.5, "{text}");
}

#[test]
fn service_manager_hears_of_start_life_reload_and_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).expect("binds");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("sets a timeout");
    let receive = || {
        let mut buffer = [0; 4096];
        let n = socket.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..n]).into_owned()
    };
    let until = |wanted: &str| loop {
        let message = receive();
        if message.contains(wanted) {
            return message;
        }
    };
    let mut command = afd_tests::daemon::command(dir.path());
    let mut child = command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "300000").spawn().expect("runs");
    until("READY=1");
    let alive = until("WATCHDOG=1");
    assert!(alive.contains("STATUS=0 devices"), "{alive}");
    until("WATCHDOG=1");
    afd_tests::daemon::send_signal(child.id(), "HUP");
    assert!(until("RELOADING=1").contains("MONOTONIC_USEC="));
    until("READY=1");
    afd_tests::daemon::send_signal(child.id(), "TERM");
    until("STOPPING=1");
    assert!(child.wait().expect("waits").success());
}

#[test]
fn socket_activation_with_the_tool_of_systemd() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("activated.sock");
    let mut command = Command::new("systemd-socket-activate");
    let plain = afd_tests::daemon::command(dir.path());
    command.arg("--listen").arg(&path).arg("--setenv").arg(format!("HOME={}", dir.path().display()));
    command
        .arg(plain.get_program())
        .args(plain.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        eprintln!("systemd-socket-activate is not installed: activation by it is not tested");
        return;
    };
    afd_tests::wait::until("the socket", || path.exists().then_some(()));
    let mut connection = afd_link::connection::Connection::open(&path).expect("connects");
    let status = connection.call("daemon.status", json!({})).expect("answers");
    assert_eq!(status["socket"], json!(path), "the socket that clients use, not the one of the settings");
    connection.call("daemon.shutdown", json!({})).expect("answers");
    child.wait().expect("waits");
}

#[test]
fn units_are_written_with_the_path_of_the_program_and_removed() {
    let home = temporary_home();
    let run = |arguments: &[&str]| envelope(&afctl(home.path()).args(arguments).output().expect("runs"));
    let (installed, code) = run(&["service", "install", "--no-start"]);
    assert_eq!(code, 0, "{installed}");
    let unit = std::fs::read_to_string(home.path().join(".config/systemd/user/afd.service")).expect("reads");
    let program = afd_tests::programs::path("afd");
    assert!(unit.contains(&format!("ExecStart={}\n", program.display())), "{unit}");
    // A unit that the user changed is neither overwritten nor removed silently.
    let socket = home.path().join(".config/systemd/user/afd.socket");
    let own = std::fs::read_to_string(&socket).expect("reads") + "# mine\n";
    std::fs::write(&socket, &own).expect("writes");
    let (refused, code) = run(&["service", "install", "--no-start"]);
    assert_eq!((refused["error"]["code"].as_str(), code), (Some("CONFLICT"), 1), "{refused}");
    assert!(refused["error"]["hint"].as_str().is_some_and(|hint| hint.contains("--replace")), "{refused}");
    assert_eq!(std::fs::read_to_string(&socket).expect("reads"), own);
    assert_eq!(run(&["service", "install", "--no-start", "--replace"]).1, 0);
    let (status, _) = run(&["service", "status"]);
    assert_eq!(status["data"]["afd.socket"]["installed"], json!(true), "{status}");
    assert_eq!(run(&["service", "uninstall"]).1, 0);
    assert!(!home.path().join(".config/systemd/user/afd.service").exists());
}

#[test]
fn uninstall_names_what_is_stored_and_deletes_it_only_when_told() {
    let home = temporary_home();
    let phone = TestPhone::start();
    let run = |arguments: &[&str]| envelope(&afctl(home.path()).args(arguments).output().expect("runs"));
    assert_eq!(run(&["device", "add", "pixel", "--url", &phone.url(), "--token", afd_tests::phone::TOKEN]).1, 0);
    assert_eq!(run(&["backup", "create"]).1, 0);
    let kept = home.path().join("mine.txt");
    std::fs::write(&kept, "mine").expect("writes");
    let (told, code) = run(&["uninstall"]);
    assert_eq!((told["data"]["purged"].as_bool(), code), (Some(false), 0));
    assert!(home.path().join(".local/share/afd/memory.db").exists());
    let foreign = home.path().join(".local/share/afd/backups/family/photo.jpg");
    std::fs::create_dir_all(foreign.parent().expect("a directory")).expect("creates");
    std::fs::write(&foreign, "a photo").expect("writes");
    // A checkout with a configuration file that `AFD_CONFIG` names.
    let checkout = home.path().join("src/afd");
    std::fs::create_dir_all(&checkout).expect("creates");
    std::fs::write(checkout.join("dev.toml"), "").expect("writes");
    let (refused, code) = run(&["uninstall", "--purge"]);
    assert_eq!((refused["error"]["code"].as_str(), code), (Some("INVALID_PARAMS"), 2), "nobody agreed: {refused}");
    assert!(home.path().join(".local/share/afd/memory.db").exists());
    let mut purge = afctl(home.path());
    purge.env("AFD_CONFIG", checkout.join("dev.toml")).args(["uninstall", "--purge", "--yes"]);
    let (purged, code) = envelope(&purge.output().expect("runs"));
    assert_eq!(code, 0, "{purged}");
    for gone in [".local/share/afd/memory.db", ".local/share/afd/artifacts", ".config/afd", ".local/state/afd"] {
        assert!(!home.path().join(gone).exists(), "{gone}");
    }
    let backups = std::fs::read_dir(home.path().join(".local/share/afd/backups")).expect("reads").count();
    assert!(foreign.exists() && backups == 1, "what afd did not write stays");
    assert!(purged["data"]["left"].to_string().contains("backups/family"), "{purged}");
    assert!(kept.exists() && checkout.join("dev.toml").exists());
    assert_eq!(run(&["status"]).1, 3, "the daemon was stopped");
}

#[test]
fn daemon_is_restarted_by_one_command() {
    let home = temporary_home();
    let run = |arguments: &[&str]| envelope(&afctl(home.path()).args(arguments).output().expect("runs"));
    let before = run(&["daemon", "start"]).0["data"]["pid"].clone();
    let (restarted, code) = run(&["daemon", "restart"]);
    assert_eq!(code, 0);
    assert!(restarted["data"]["pid"].is_u64() && restarted["data"]["pid"] != before);
    let (status, _) = run(&["status"]);
    assert_eq!(status["data"]["log"], json!(home.path().join(".local/state/afd/afd.log")));
    let (logs, text) = {
        let output = afctl(home.path()).args(["service", "logs", "-n", "5"]).output().expect("runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(logs && text.contains("ready"), "{text}");
    run(&["daemon", "shutdown"]);
}

#[test]
fn token_can_be_in_a_file_or_a_credential() {
    let phone = TestPhone::start();
    let dir = tempfile::tempdir().expect("a directory");
    let credentials = dir.path().join("credentials");
    std::fs::create_dir(&credentials).expect("creates");
    std::fs::write(credentials.join("pixel.token"), format!("{}\n", afd_tests::phone::TOKEN)).expect("writes");
    let settings = format!("[device.pixel]\nurl = \"{}\"\ntoken_file = \"pixel.token\"\n", phone.url());
    std::fs::write(dir.path().join("config.toml"), &settings).expect("writes");
    // There is no such file next to the settings.
    let mut without = Daemon::start(dir.path());
    let diagnosis = without.connect().call("daemon.doctor", json!({})).expect("answers");
    let settings = finding(&diagnosis, "settings");
    assert!(
        settings["level"] == "error"
            && settings["message"].as_str().is_some_and(|m| m.contains("device.pixel.token_file")),
        "{settings}"
    );
    without.stop();
    let directory = credentials.to_str().expect("a path");
    let daemon = Daemon::start_with_env(dir.path(), &[("CREDENTIALS_DIRECTORY", directory)]);
    let mut connection = daemon.connect();
    let page = connection.call("observe.page", json!({"device": "pixel"})).expect("the token is right");
    assert!(page["page"]["key"].is_string());
    let listed = connection.call("config.list", json!({})).expect("lists").to_string();
    assert!(!listed.contains(afd_tests::phone::TOKEN));
}

#[test]
fn log_has_actions_without_their_texts() {
    let world = World::process();
    let mut client = world.client();
    client.ok("act.tap", json!({"device": "pixel", "by": "text", "value": "bluetooth"}));
    client.ok("act.text", json!({"device": "pixel", "text": "s3cretword"}));
    let log = world.daemon.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" INFO ") && line.contains("action")).collect();
    assert!(lines.iter().any(|line| line.contains("op=\"tap\"") && line.contains("status=ok")), "{lines:?}");
    assert!(
        !log.contains("s3cretword") && !lines.iter().any(|line| line.to_lowercase().contains("bluetooth")),
        "{lines:?}"
    );
    assert!(Path::new(&world.dir().join("afd.log")).exists());
}

#[test]
fn metrics_are_figures_in_the_format_of_prometheus() {
    let world = World::new();
    let mut client = world.client();
    client.ok("act.home", json!({"device": "pixel"}));
    client.fails("act.tap", json!({"device": "pixel", "by": "text", "value": "nowhere"}), "TARGET_NOT_FOUND");
    let metrics = client.ok("daemon.metrics", json!({}));
    let text = metrics["text"].as_str().expect("a text");
    for line in [
        "afd_calls_total{method=\"act.home\"} 1",
        "afd_call_errors_total{method=\"act.tap\"} 1",
        "afd_device_up{device=\"pixel\"} 1",
        "afd_store_writable 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in {text}");
    }
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let value = line.rsplit_once(' ').map(|(_, value)| value.parse::<f64>());
        assert!(matches!(value, Some(Ok(_))), "{line}");
    }
    let tap = metrics["methods"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|m| m["name"] == "act.tap")
        .expect("was called")
        .clone();
    assert!(tap["errors"] == 1 && tap["maxUs"].as_u64() >= tap["meanUs"].as_u64(), "{tap}");
}

#[test]
fn status_is_shown_again_and_again() {
    use std::io::Read;
    let world = World::process();
    world.client().ok("act.home", json!({"device": "pixel"}));
    let mut command = afctl(world.dir());
    command.env("AFD_SOCKET", world.socket()).args(["status", "--watch", "--every-ms", "100"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("runs");
    let mut output = child.stdout.take().expect("is captured");
    let (mut text, mut block) = (String::new(), [0; 4096]);
    while text.matches("act.home").count() < 3 {
        let n = output.read(&mut block).expect("reads");
        assert!(n > 0, "ended after {text}");
        text.push_str(&String::from_utf8_lossy(&block[..n]));
    }
    assert!(text.contains("pixel") && text.contains("PER S"), "{text}");
    child.kill().expect("stops");
    child.wait().expect("waits");
}
