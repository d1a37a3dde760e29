//! `screenrecord`, and the commands that end it.

use std::sync::PoisonError;
use std::time::Duration;

use super::{Call, Output};
use crate::server::lock;

/// What a file of the format MP4 begins with. The recordings of the practice phone hold no pictures.
const HEAD: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x08free";
/// Number of the process of a recording, and of other commands in the background.
pub(super) const PID: u32 = 9_001;

/// Runs `screenrecord [--time-limit SECONDS] [...] FILE`.
pub(super) fn screenrecord(call: &Call<'_>) -> Output {
    let args = call.rest();
    let Some(file) = args.last().filter(|file| file.starts_with('/')) else {
        return Output::failed("Must specify output file (see --help).\n", 2);
    };
    let limit = args.iter().position(|arg| *arg == "--time-limit").and_then(|at| args.get(at + 1)?.parse().ok());
    let limit = Duration::from_secs(limit.unwrap_or(180).min(180));
    if !lock(call.phone).recordings.insert((*file).to_owned()) {
        return Output::failed(format!("Unable to open '{file}'\n"), 1);
    }
    let ended = lock(call.phone).recording_ended.clone();
    // A real one takes as long.
    let waited = ended.wait_timeout_while(lock(call.phone), limit, |phone| phone.recordings.contains(*file));
    let (mut phone, _) = waited.unwrap_or_else(PoisonError::into_inner);
    phone.recordings.remove(*file);
    phone.files.insert((*file).to_owned(), HEAD.to_vec());
    Output::default()
}

/// Runs `pkill [-SIGNAL] [-f] PATTERN`: ends recordings.
pub(super) fn pkill(call: &Call<'_>) -> Output {
    // The only patterns are the name of the program, and it with a file: `[s]creenrecord.*FILE`.
    let rest = call.rest();
    let pattern = rest.last().and_then(|pattern| pattern.rsplit(".*").next()).unwrap_or_default().to_owned();
    let mut phone = lock(call.phone);
    let before = phone.recordings.len();
    phone.recordings.retain(|file| !"screenrecord".contains(&pattern) && !file.contains(&pattern));
    phone.recording_ended.notify_all();
    Output { code: u8::from(before == phone.recordings.len()), ..Output::default() }
}

/// Runs `kill [-SIGNAL] PID...`: ends recordings.
pub(super) fn kill(call: &Call<'_>) -> Output {
    if call.rest().iter().any(|arg| *arg == PID.to_string()) {
        let mut phone = lock(call.phone);
        phone.recordings.clear();
        phone.recording_ended.notify_all();
    }
    Output::default()
}

/// Runs `pidof NAME...`.
pub(super) fn pidof(call: &Call<'_>) -> Output {
    let phone = lock(call.phone);
    let names = call.rest();
    let mut pids: Vec<String> = names.iter().filter_map(|name| phone.pid(name)).map(|pid| pid.to_string()).collect();
    if names.contains(&"screenrecord") && !phone.recordings.is_empty() {
        pids.push(PID.to_string());
    }
    match pids.is_empty() {
        true => Output { code: 1, ..Output::default() },
        false => Output::text(pids.join(" ") + "\n"),
    }
}

/// Runs `ps`: lists the apps that run.
pub(super) fn ps(call: &Call<'_>) -> Output {
    let phone = lock(call.phone);
    let mut text = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n".to_owned();
    text += "root             1     0   10000   1000 0                   0 S init\n";
    for app in &phone.apps {
        if let Some(pid) = phone.pid(&app.package) {
            let user = format!("u0_a{}", phone.uid(&app.package) - 10_000);
            text += &format!("{user:<12} {pid:>5}   500 1000000  90000 0                   0 S {}\n", app.package);
        }
    }
    Output::text(text)
}
