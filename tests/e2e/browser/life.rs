//! How a browser starts and ends, and its tabs.

use std::path::Path;

use afd_tests::daemon::Daemon;
use afd_tests::pages::Pages;
use afd_tests::wait::until;
use afd_tests::{TestPhone, World};
use serde_json::json;

use super::{Lab, PAGES, outline, settings, tap};

#[test]
#[ignore = "needs chromium"]
fn the_tab_that_was_opened_last_is_current_until_it_is_closed() {
    let lab = Lab::new("/opener");
    let mut client = lab.world.client();
    tap(&mut client, "Open a window");
    until("the new tab", || Some(()).filter(|()| outline(&mut client).contains("Close this")));
    tap(&mut client, "Close this");
    until("the first tab", || Some(()).filter(|()| outline(&mut client).contains("Open a window")));
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_that_was_killed_is_started_again() {
    let lab = Lab::new("/second");
    let mut client = lab.world.client();
    assert!(outline(&mut client).contains("The second page"));
    let pid = process_with(lab.profile.path());
    afd_tests::daemon::send_signal(pid, "KILL");
    assert!(outline(&mut client).contains("The second page"));
    assert_ne!(process_with(lab.profile.path()), pid);
}

/// Returns the id of the browser's main process with a profile.
fn process_with(profile: &Path) -> u32 {
    running_with(profile).expect("a browser")
}

fn running_with(profile: &Path) -> Option<u32> {
    let wanted = format!("--user-data-dir={}", profile.display());
    let is_main = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        arguments.contains(&wanted.as_bytes()) && !arguments.iter().any(|argument| argument.starts_with(b"--type="))
    };
    let all = std::fs::read_dir("/proc").expect("lists").flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(is_main)
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_ends_with_the_daemon_and_keeps_its_cookies() {
    let mut lab = Lab::new("/cookie");
    assert!(outline(&mut lab.world.client()).contains("no cookie"));
    lab.world.daemon.stop();
    until("the end of the browser", || running_with(lab.profile.path()).is_none().then_some(()));
    lab.world.daemon = afd_tests::Daemon::host(lab.world.dir());
    assert!(outline(&mut lab.world.client()).contains("seen=yes"));
}

#[test]
#[ignore = "needs chromium"]
fn a_daemon_that_is_a_unit_of_systemd_starts_the_browser_in_a_unit_of_its_own() {
    let (pages, profile, programs) = (Pages::start(PAGES), tempfile::tempdir(), tempfile::tempdir());
    let (profile, programs) = (profile.expect("a directory"), programs.expect("a directory"));
    // What systemd-run does, but for the unit.
    let asked = programs.path().join("asked");
    let script =
        format!("#!/bin/sh\necho \"$@\" >{asked:?}\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n");
    let fake = programs.path().join("systemd-run");
    std::fs::write(&fake, script).expect("writes");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("may be run");
    let settings = settings(&format!("{}/second", pages.url()), profile.path(), "allow_private = true\n");
    let world = World::start(TestPhone::start(), &settings, |dir| Daemon::start_as_unit(dir, programs.path()));
    assert!(outline(&mut world.client()).contains("The second page"));
    let asked = std::fs::read_to_string(&asked).expect("systemd-run was asked");
    assert!(asked.starts_with("--user --pipe --quiet --collect ") && asked.contains(" -- /bin/sh -c "), "{asked}");
}

#[test]
#[ignore = "needs chromium"]
fn tabs_are_listed_chosen_opened_and_closed() {
    let lab = Lab::new("/second");
    let mut client = lab.world.client();
    outline(&mut client);
    client.ok("act.tab", json!({"tab": "new"}));
    lab.open(&mut client, "/lines");
    let tabs = client.ok("device.tabs", json!({}));
    let seen = |n: usize| (tabs["tabs"][n]["tab"].clone(), tabs["tabs"][n]["current"].clone());
    assert_eq!((seen(0), seen(1)), ((json!("t1"), json!(false)), (json!("t2"), json!(true))), "{tabs}");
    assert!(outline(&mut client).contains("page \"Lines\""));
    client.ok("act.tab", json!({"tab": "t1"}));
    assert!(outline(&mut client).contains("page \"Second\""));
    client.ok("act.tab", json!({"tab": "t1", "close": true}));
    assert!(outline(&mut client).contains("page \"Lines\""));
    client.fails("act.tab", json!({"tab": "t1"}), "NOT_FOUND");
    client.fails("act.tab", json!({"tab": "t2", "close": true}), "DEVICE_ERROR");
    client.fails("act.tab", json!({"tab": "second"}), "INVALID_PARAMS");
}
