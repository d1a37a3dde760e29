//! Renders the results of managing a device: settings, log, recordings. Apps are changed by actions.

use std::fmt::Write as _;

use afd_proto::manage::{
    ActClearApp, ActConfigure, ActGrant, ActInstall, ActUninstall, ConfigureResult, DeviceConfiguration, DeviceLog,
    DeviceLogRead, DeviceStartRecording, DeviceStopRecording, LogLevel, LogRow, RecordingSaved, RecordingStarted,
};
use afd_proto::vocabulary::Reply;
use afd_proto::{Method as _, Word};

use crate::safe;

use super::observe::{acted, looked};
use super::parts::{BAD, DIM, GOOD, WARN, bytes, paint};
use super::render::human;

human! {
    ActInstall => |r| acted(ActInstall::INFO.name, r);
    ActUninstall => |r| acted(ActUninstall::INFO.name, r);
    ActClearApp => |r| acted(ActClearApp::INFO.name, r);
    ActGrant => |r| acted(ActGrant::INFO.name, r);
    ActConfigure => configured;
    DeviceLogRead => |r: &Reply<DeviceLog>| log(&r.body);
    DeviceStartRecording => |r: &Reply<RecordingStarted>| {
        format!("{} recording, for at most {} s\n", paint(GOOD, "started"), r.body.max_ms / 1_000)
    };
    DeviceStopRecording => |r: &Reply<RecordingSaved>| saved(&r.body);
}

fn configured(reply: &Reply<ConfigureResult>) -> String {
    let ConfigureResult { before, look, duration_ms, .. } = &reply.body;
    let DeviceConfiguration { orientation, dark_mode, locale, locale_app, airplane_mode } = before;
    let word = |value: &Option<bool>| value.map(|value| value.to_string());
    let parts = [
        ("orientation", orientation.map(|orientation| Word::word(orientation).to_owned())),
        ("dark mode", word(dark_mode)),
        ("locale", locale.as_deref().map(|locale| if locale.is_empty() { "none" } else { locale }).map(safe::line)),
        ("app", locale_app.as_deref().map(safe::line)),
        ("airplane mode", word(airplane_mode)),
    ];
    let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    let before = parts.collect::<Vec<_>>().join(", ");
    let before = if before.is_empty() { String::new() } else { format!("; before: {before}") };
    format!("{} set{before} {}\n", paint(GOOD, "done"), paint(DIM, &format!("{duration_ms} ms")))
        + &looked(look.as_ref())
}

fn log(log: &DeviceLog) -> String {
    let DeviceLog { lines, truncated, since_ms } = log;
    if lines.is_empty() {
        return format!("nothing was logged in the last {} s\n", since_ms.div_ceil(1_000));
    }
    let mut out = String::new();
    if *truncated {
        out.push_str(&(paint(DIM, "older lines were left out; --limit shows more") + "\n"));
    }
    for LogRow { at, level, tag, pid, text } in lines {
        let style = match level {
            LogLevel::Error | LogLevel::Fatal => BAD,
            LogLevel::Warning => WARN,
            _ => DIM,
        };
        let letter = level.word()[..1].to_uppercase();
        let _ = writeln!(
            out,
            "> {} {} {}({pid}): {}",
            clock(*at),
            paint(style, &letter),
            safe::line(tag),
            safe::line(text)
        );
    }
    out
}

fn saved(saved: &RecordingSaved) -> String {
    let RecordingSaved { duration_ms, size_bytes, artifact } = saved;
    let seconds = duration_ms.div_ceil(1_000);
    format!("{} {seconds} s, {}, as {}\n", paint(GOOD, "saved"), bytes(*size_bytes), artifact.saved_file)
}

/// Formats the time of a line in the local time zone.
fn clock(at: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at);
    time.map_or_else(
        |_| at.to_string(),
        |time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%T.%3f").to_string(),
    )
}
