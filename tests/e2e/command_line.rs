//! `afctl` as a program: envelopes, exit codes, environment variables, output formats.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use afd_tests::{TestPhone, World, programs, wait};
use serde_json::{Value, json};

/// Returns an `afctl` command without the caller's environment.
pub fn afctl(home: &Path) -> Command {
    let mut command = Command::new(programs::path("afctl"));
    command.env_clear().env("HOME", home).env("XDG_RUNTIME_DIR", home.join("run")).stdin(Stdio::null());
    command
}

/// Runs `afctl` against the daemon of a world; returns the envelope and the exit code.
pub fn run_afctl(world: &World, args: &[&str]) -> (Value, i32) {
    envelope(&afctl(world.dir()).env("AFD_SOCKET", world.socket()).args(args).output().expect("runs"))
}

/// Returns the last line of standard output as JSON (null if it is none), and the exit code (-1 if there is none).
pub fn envelope(output: &Output) -> (Value, i32) {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    (serde_json::from_str(last).unwrap_or(Value::Null), output.status.code().unwrap_or(-1))
}

/// Creates a home directory with an empty runtime directory `run`.
pub fn temporary_home() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("run")).expect("creates the directory");
    dir
}

#[test]
fn envelope_and_exit_code_report_the_outcome() {
    let world = World::new();
    let (ok, code) = run_afctl(&world, &["observe", "top"]);
    assert_eq!(
        (ok["category"].as_str(), ok["op"].as_str(), ok["status"].as_str(), code),
        (Some("observe"), Some("top"), Some("ok"), 0)
    );
    assert_eq!(ok["traceId"], ok["data"]["traceId"]);
    assert_eq!(ok["data"]["topActivity"], "com.android.settings/.Settings");
    let (failed, code) = run_afctl(&world, &["act", "tap", "--by", "text", "--value", "Pluto"]);
    assert_eq!(
        (failed["status"].as_str(), failed["error"]["code"].as_str(), code),
        (Some("failed"), Some("TARGET_NOT_FOUND"), 1)
    );
    assert!(
        failed["error"]["hint"].is_string() && failed["traceId"].is_string() && failed["error"]["retryable"] == false
    );
    let (assertion, code) = run_afctl(&world, &["verify", "text-contains", "--text", "Pluto"]);
    assert_eq!((assertion["error"]["code"].as_str(), code), (Some("ASSERTION_FAILED"), 1));
    let (usage, code) = run_afctl(&world, &["act", "tap"]);
    assert_eq!((usage["error"]["code"].as_str(), code), (Some("INVALID_PARAMS"), 2));
    let (gone, code) = envelope(&afctl(world.dir()).args(["--no-spawn", "observe", "top"]).output().expect("runs"));
    assert_eq!((gone["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3));
}

/// Commands with the verbs and flags of `af`, and newer ones, in an order in which each succeeds.
const COMMANDS: &[&[&str]] = &[
    &["health"],
    &["--session", "s1", "observe", "page", "--field", "screen", "--field", "refs", "--max-rows", "80"],
    &[
        "observe",
        "screen",
        "--max-rows",
        "80",
        "--field",
        "id",
        "--field",
        "text",
        "--field",
        "desc",
        "--field",
        "resId",
    ],
    &["observe", "screen", "--full"],
    &["observe", "refs", "--max-rows", "80"],
    &["observe", "screenshot", "--max-dim", "200", "--quality", "50"],
    &["act", "tap", "--xy", "540,150.5"],
    &["act", "tap", "--by", "ref", "--value", "@n2"],
    &["verify", "node-exists", "--by", "resid", "--value", "title"],
    &["verify", "node-exists", "--by", "content_desc", "--value", "Navigate up"],
    &["verify", "text-contains", "--text", "use wi-fi", "--ignore-case"],
    &["verify", "top-activity", "--expected", "com.android.settings", "--mode", "contains"],
    &["act", "back"],
    &["act", "swipe", "--from", "540,1500", "--to", "540,900", "--duration", "10"],
    &["act", "key", "--key-code", "66"],
    &["act", "launch", "--package", "org.example.bank"],
    &["act", "tap", "--by", "resid", "--value", "user_field"],
    &["act", "text", "--text", "-dashed"],
    &["recover", "back", "--times", "2"],
    &["recover", "relaunch", "--package", "com.android.settings"],
    &["act", "stop", "--package", "org.example.bank"],
    &["recover", "home"],
    &["memory", "context"],
    &["memory", "log", "--for-session", "s1", "--limit", "20"],
    &["memory", "stats", "--for-session", "s1"],
    &["memory", "experience", "--app", "com.android.settings", "--limit", "3"],
    &[
        "memory",
        "save",
        "--app",
        "com.android.settings",
        "--topic",
        "nav/home-to-wifi",
        "--content",
        "Settings, then Wi-Fi",
    ],
    &["memory", "search", "--topic", "nav/", "--query", "wifi", "--limit", "5"],
    &["memory", "delete", "--id", "1"],
    &[
        "observe",
        "overlay",
        "set",
        "--enable",
        "--max-marks",
        "9",
        "--mark-scope",
        "all",
        "--refresh",
        "off",
        "--offset-x",
        "2",
    ],
    &["observe", "overlay", "get"],
    &["observe", "overlay", "set", "--disable"],
    &["observe", "screenshot", "--annotate", "--hide-overlay", "--max-marks", "30", "--mark-scope", "interactive"],
    &["observe", "wait", "--until", "settled", "--timeout-ms", "5000"],
    &["act", "launch", "--package", "com.android.settings"],
    &["act", "scroll-to", "--text", "About phone"],
    &["act", "long-press", "--xy", "540,1200", "--duration", "10"],
    &["act", "double-tap", "--xy", "540,150"],
    &["config", "list"],
    &["config", "set", "artifacts.max_age_days", "7"],
    &["config", "get", "artifacts.max_age_days"],
    &["config", "unset", "artifacts.max_age_days"],
    &["artifact", "list", "--limit", "5"],
    &["artifact", "get", "--id", "1"],
    &["artifact", "delete", "--id", "1"],
    &["job", "list"],
    &["job", "run", "artifact-limits"],
    &["--proxy", "auto", "--no-memory", "observe", "top", "--timeout-ms", "10000"],
    &["device", "list"],
    &["device", "lease", "--ttl-ms", "1000"],
    &["device", "release"],
    &["device", "packages", "--filter", "bank"],
    &["daemon", "version"],
    &["status"],
    &["rpc", "observe.top"],
];

#[test]
fn verbs_and_flags_of_af_work() {
    let world = World::new();
    for args in COMMANDS {
        let session: &[&str] = if args.contains(&"--session") { &[] } else { &["--session", "default"] };
        // Aliases belong to a session, so observe the refs in the session that taps.
        if args.contains(&"@n2") {
            run_afctl(&world, &["observe", "refs", "--session", "default"]);
        }
        let all: Vec<&str> = session.iter().copied().chain(args.iter().copied()).collect();
        let (response, code) = run_afctl(&world, &all);
        assert_eq!((response["status"].as_str(), code), (Some("ok"), 0), "{args:?}: {response}");
    }
}

/// Precedence: flag, environment variable of the kind, its setting, shared root.
#[test]
fn flags_and_environment_decide_where_artifacts_are_saved() {
    let world = World::new();
    let at = |name: &str| world.dir().join(name).display().to_string();
    let saved = |args: &[&str], env: &[(&str, String)], part: &str| {
        let mut command = afctl(world.dir());
        command
            .env("AFD_SOCKET", world.socket())
            .current_dir(world.dir())
            .args(args)
            .envs(env.iter().map(|(k, v)| (k, v)));
        let (response, code) = envelope(&command.output().expect("runs"));
        assert_eq!(code, 0, "{response}");
        let data = if part.is_empty() { &response["data"] } else { &response["data"][part] };
        data["artifact"]["savedFile"].as_str().unwrap_or_else(|| panic!("no file: {response}")).to_owned()
    };
    let root = ("AF_ARTIFACT_DIR", at("root"));
    let kind = ("AF_SCREENSHOT_FILE", at("kind.jpg"));
    assert!(saved(&["observe", "screenshot"], &[], "").starts_with(&at("artifacts")));
    assert!(saved(&["observe", "screenshot"], std::slice::from_ref(&root), "").starts_with(&at("root")));
    assert_eq!(saved(&["observe", "screenshot"], &[root.clone(), kind.clone()], ""), at("kind.jpg"));
    assert_eq!(
        saved(&["observe", "screenshot", "--save-file", "flag.jpg"], &[root.clone(), kind], ""),
        at("flag.jpg"),
        "relative to the caller's working directory"
    );
    assert_eq!(
        saved(&["observe", "screen", "--full"], &[("AF_SCREEN_FILE", at("screen.json"))], ""),
        at("screen.json")
    );
    assert!(saved(&["observe", "page"], &[root, ("AF_PAGE_DIR", at("pages"))], "screen").starts_with(&at("pages")));
}

#[test]
fn output_format_follows_flag_environment_and_setting() {
    let world = World::new();
    let print = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = afctl(world.dir());
        command
            .env("AFD_SOCKET", world.socket())
            .env("AFD_CONFIG", world.dir().join("config.toml"))
            .args(args)
            .envs(env.iter().copied());
        String::from_utf8(command.output().expect("runs").stdout).expect("text")
    };
    print(&["config", "set", "output.default", "text"], &[]);
    assert!(print(&["observe", "top"], &[]).starts_with("status=ok\n"));
    assert!(print(&["observe", "top"], &[("AF_OUTPUT", "json")]).starts_with('{'));
    assert!(print(&["observe", "top", "--output", "json"], &[]).starts_with('{'));
}

#[test]
fn app_install_and_uninstall_refer_to_adb() {
    let world = World::new();
    for args in [vec!["app", "install", "--version", "latest", "--force"], vec!["app", "uninstall", "--dry-run"]] {
        let (response, code) = run_afctl(&world, &args);
        assert_eq!((response["error"]["code"].as_str(), code), (Some("UNSUPPORTED"), 1));
        assert!(response["error"]["hint"].as_str().is_some_and(|h| h.contains("adb ")), "{response}");
    }
}

#[test]
fn af_url_selects_the_phone_for_one_call() {
    let world = World::new();
    let second = TestPhone::start();
    let call = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = afctl(world.dir());
        command.env("AFD_SOCKET", world.socket()).args(args).envs(env.iter().copied());
        envelope(&command.output().expect("runs"))
    };
    let url = second.url();
    let env = [("AF_URL", url.as_str()), ("AF_TOKEN", afd_tests::phone::TOKEN)];
    assert_eq!(call(&["act", "home"], &env).1, 0);
    let slash = format!("{url}/");
    assert_eq!(call(&["observe", "top"], &env).1, 0);
    assert_eq!(call(&["memory", "context"], &[("AF_URL", slash.as_str())]).0["data"]["found"], true);
    assert_eq!((second.hits("home").len(), world.phone.hits("home").len()), (1, 0));
    // An explicit device overrides the environment.
    assert_eq!(call(&["act", "home", "--device", "pixel"], &env).1, 0);
    assert_eq!((second.hits("home").len(), world.phone.hits("home").len()), (1, 1));
    assert_eq!(
        call(&["act", "home"], &[("AF_TOKEN", "of another phone")]).1,
        0,
        "AF_TOKEN without AF_URL does not apply to the configured device"
    );
    let (named, code) = call(&["act", "home"], &[("AFD_SESSION", "mine")]);
    assert_eq!((named["data"]["session"].as_str(), code), (Some("mine"), 0));
}

#[test]
fn output_formats_are_json_text_and_human() {
    let world = World::new();
    let run = |output: &str| {
        let out = afctl(world.dir())
            .env("AFD_SOCKET", world.socket())
            .env("AF_OUTPUT", output)
            .args(["observe", "refs", "--max-rows", "3"])
            .output();
        String::from_utf8(out.expect("runs").stdout).expect("text")
    };
    assert_eq!(run("json").lines().count(), 1);
    let text = run("text");
    assert!(
        text.starts_with("status=ok\ncategory=observe\nop=refs\ntraceId=")
            && text.contains("\ndata.rows[1].label=Wi-Fi, Connected\n"),
        "{text}"
    );
    let human = run("human");
    assert!(
        human.contains("REF") && human.contains("Wi-Fi, Connected") && !human.contains('\u{1b}'),
        "no colours in a pipe: {human}"
    );
}

#[test]
fn calls_time_out_and_can_be_interrupted() {
    let world = World::new();
    world.phone.fault("/api/press/home", afd_phone::fault::Kind::Hold);
    let (response, code) = run_afctl(&world, &["act", "home", "--timeout-ms", "200"]);
    assert_eq!((response["error"]["code"].as_str(), code), (Some("TIMEOUT"), 1));
    let world = World::new();
    world.phone.scene("org.example.lab", Some("restless"));
    let mut command = afctl(world.dir());
    let child = command
        .env("AFD_SOCKET", world.socket())
        .args(["observe", "page", "--wait-ms", "60000"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    wait::until("the call to be in flight", || {
        (world.client().ok("daemon.status", json!({}))["callsInFlight"].as_u64() >= Some(2)).then_some(())
    });
    afd_tests::daemon::send_signal(child.id(), "INT");
    let (response, code) = envelope(&child.wait_with_output().expect("exits"));
    assert_eq!(
        (response["status"].as_str(), response["error"]["code"].as_str(), code),
        (Some("interrupted"), Some("INTERRUPTED"), 130)
    );
}

#[test]
fn events_command_prints_events() {
    let world = World::new();
    world.client().ok("act.home", json!({}));
    let out = afctl(world.dir())
        .env("AFD_SOCKET", world.socket())
        .args(["events", "--since", "0", "--count", "1"])
        .output()
        .expect("runs");
    let message: Value = serde_json::from_slice(&out.stdout).expect("a line of JSON");
    assert_eq!((message["kind"].as_str(), message["op"].as_str()), (Some("event"), Some("home")));
}

#[test]
fn usage_errors_name_what_is_missing_in_the_format_that_was_asked_for() {
    let home = temporary_home();
    for (args, expected) in [
        (["act", "tap", "--exact-match"].as_slice(), "<TARGET|--value <VALUE>|--xy <X,Y>>"),
        (&["observe", "wait", "--until", "text"], "--text <TEXT>"),
        (&["device", "add", "pixel"], "missing --url"),
    ] {
        let (output, code) = envelope(&afctl(home.path()).args(args).output().expect("runs"));
        assert_eq!((output["error"]["code"].as_str(), code), (Some("INVALID_PARAMS"), 2), "{output}");
        assert!(output["error"]["message"].as_str().is_some_and(|m| m.contains(expected)), "{output}");
        for human in [["-o", "human"].as_slice(), &["--output=human"], &["-ohuman"]] {
            let run = afctl(home.path()).args(args).args(human).output().expect("runs");
            assert_eq!((run.status.code(), run.stdout.as_slice()), (Some(2), b"".as_slice()));
            assert!(String::from_utf8_lossy(&run.stderr).contains(expected));
        }
    }
}

#[test]
fn completions_and_help_list_commands_and_flags() {
    let home = temporary_home();
    let out =
        |args: &[&str]| String::from_utf8(afctl(home.path()).args(args).output().expect("runs").stdout).expect("text");
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&["completions", shell]).contains("text-contains"), "{shell}");
    }
    let help = out(&["--help"]);
    assert!(help.contains("Exit codes") && help.contains("observe page"), "{help}");
    assert!(out(&["act", "tap", "--help"]).contains("--exact-match"));
}

#[test]
fn demo_succeeds_with_different_seeds() {
    let home = temporary_home();
    for seed in ["0", "3", "8"] {
        let out = afctl(home.path()).args(["demo", "--seed", seed]).output().expect("runs");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
        for word in ["REF_ALIAS_STALE", "Compared:", "arrived at", "passed", "relaunch"] {
            assert!(text.contains(word), "the demo with seed {seed} does not mention {word}: {text}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).expect("lists").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["run"], "the demo leaves no files behind");
}

#[test]
fn empty_variables_are_ignored_and_unwritable_output_is_a_failure() {
    let world = World::new();
    let mut command = afctl(world.dir());
    command.env("AFD_SOCKET", world.socket()).envs([
        ("AF_DB", ""),
        ("AF_OUTPUT", ""),
        ("AFD_SESSION", ""),
        ("AF_URL", ""),
        ("AFD_CONFIG", ""),
    ]);
    let (response, code) = envelope(&command.args(["observe", "top"]).output().expect("runs"));
    assert_eq!((response["data"]["session"].as_str(), code), (Some("default"), 0), "{response}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opens");
    let status = afctl(world.dir())
        .env("AFD_SOCKET", world.socket())
        .args(["observe", "top"])
        .stdout(full)
        .status()
        .expect("runs");
    assert_eq!(status.code(), Some(1));
    let (usage, code) = run_afctl(&world, &["observe", "overlay"]);
    assert!(usage["error"]["message"].as_str().is_some_and(|m| m.contains("subcommand")) && code == 2, "{usage}");
}

#[test]
fn missing_and_ambiguous_devices_are_explained() {
    let world = World::bare(TestPhone::start(), "");
    let run = |args: &[&str]| {
        let output = afctl(world.dir())
            .env("AFD_SOCKET", world.socket())
            .args(["--output", "human"])
            .args(args)
            .output()
            .expect("runs");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let output = run(&["device", "list"]);
    assert!(output.contains("afctl init"), "{output}");
    run(&["device", "add", "left", "--url", "http://127.0.0.1:1"]);
    run(&["device", "add", "right", "--url", "http://127.0.0.1:2"]);
    let output = run(&["observe", "page"]);
    assert!(output.contains("left") && output.contains("right"), "{output}");
}

#[test]
fn session_tested_takes_the_result_as_a_flag() {
    let world = World::new();
    run_afctl(&world, &["session", "start"]);
    for (flag, counts) in [("--passed", [1, 0]), ("--failed", [1, 1])] {
        let (response, code) = run_afctl(&world, &["session", "tested", "Wi-Fi", "--new", flag]);
        let element = &response["data"]["elements"][0];
        assert_eq!(
            (code, [element["passed"].as_i64(), element["failed"].as_i64()]),
            (0, counts.map(Some)),
            "{response}"
        );
    }
    let (refused, code) = run_afctl(&world, &["session", "tested", "Wi-Fi", "--passed", "--failed"]);
    assert_ne!(code, 0, "{refused}");
}

#[test]
fn init_adds_a_phone_and_shows_its_screen() {
    let world = World::new();
    let init = |args: &[&str], input: &str| {
        let mut command = std::process::Command::new(programs::path("afctl"));
        command
            .env_clear()
            .env("HOME", world.dir())
            .args(["-o", "json", "--socket"])
            .arg(world.socket())
            .arg("init")
            .args(args);
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("afctl runs");
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), input.as_bytes()).expect("writes");
        let output = child.wait_with_output().expect("ends");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let practice = init(&["practice"], "");
    let pid =
        practice["data"]["phonePid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("the phone's process");
    let again = init(&["practice"], "");
    afd_tests::daemon::send_signal(pid, "KILL");
    let mut client = world.client();
    let unreachable = client.fails("observe.page", json!({"device": "practice"}), "DEVICE_UNREACHABLE");
    assert!(
        unreachable.hint.as_deref().is_some_and(|hint| hint.contains("`afctl init practice` starts it again")),
        "{unreachable:?}"
    );
    let restarted = init(&["practice"], "");
    let pid = restarted["data"]["phonePid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("another process");
    client.ok("observe.page", json!({"device": "practice"}));
    afd_tests::daemon::send_signal(pid, "KILL");
    assert!(practice["data"]["look"].as_str().is_some_and(|o| o.starts_with("page \"Settings\"")), "{practice}");
    assert_eq!(
        (&again["data"]["url"], &again["data"]["phonePid"]),
        (&practice["data"]["url"], &Value::Null),
        "the same phone"
    );
    let url = world.phone.url();
    let wrong = init(&["url", "--url", &url, "--name", "mine", "--ask-token"], "not-the-token-1234\n");
    assert!(wrong["data"]["found"].as_str().is_some_and(|f| f.contains("token")), "{wrong}");
    assert!(wrong["data"]["next"][0].as_str().is_some_and(|n| n.contains("device.mine.token")), "{wrong}");
    assert!(wrong["data"]["look"].is_null() && !wrong.to_string().contains("not-the-token"), "{wrong}");
    let taken =
        init(&["url", "--url", &url, "--name", "mine", "--ask-token"], &format!("{}\n", afd_tests::phone::TOKEN));
    assert_eq!(taken["error"]["code"], "CONFLICT", "{taken}");
    let right =
        init(&["url", "--url", &url, "--name", "other", "--ask-token"], &format!("{}\n", afd_tests::phone::TOKEN));
    assert!(right["data"]["look"].as_str().is_some_and(|o| o.contains("Wi-Fi")), "{right}");
    let nobody = init(&[], "");
    assert_eq!(nobody["error"]["code"], "INVALID_PARAMS", "{nobody}");
}
