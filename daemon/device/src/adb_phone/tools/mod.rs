//! Managing a phone over adb: apps, settings, log, crashes, recordings of the screen.
//!
//! This works beside any driver of the same phone: the one that reads screens over adb, and the one of the Autofish app.

mod apps;
mod incidents;
mod log;
mod recording;
mod settings;
mod typed;

use std::time::{Duration, Instant};

use afd_proto::Secret;
use afd_proto::incident::Incident;
use afd_proto::manage::DeviceConfiguration;
use parking_lot::Mutex;

use super::remote::Remote;
use super::screen::FOCUS;
use crate::{AppChange, BadParam, DriverError, DriverFuture, LogPart, LogQuery, Manages};
use afd_base::task::run_blocking;
pub use apps::LAUNCHABLE;
pub use incidents::LAST_CRASH;

/// Longest text of a line of the log, and longest report of a crash, in characters.
const MAX_LINE: usize = 4_000;
const MAX_REPORT: usize = 600;

/// Shortens a text, in which typed texts were replaced before: a part of one would not be found.
fn shortened(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// Manages one phone.
pub struct PhoneTools {
    remote: Remote,
    /// Whether a driver asks for incidents whenever it reads the screen.
    beside_dumps: bool,
    /// Time since which the phone is known. What its log says of earlier times is not returned, because it may hold texts that
    /// were typed then.
    since: Instant,
    typed: typed::Typed,
    incidents: Mutex<incidents::Known>,
    recording: tokio::sync::Mutex<Option<recording::Recording>>,
}

impl PhoneTools {
    /// Creates the tools of a phone. Nothing is sent until they are used.
    pub fn new(remote: Remote) -> Self {
        Self {
            remote,
            beside_dumps: false,
            since: Instant::now(),
            typed: typed::Typed::default(),
            incidents: Mutex::default(),
            recording: tokio::sync::Mutex::default(),
        }
    }

    /// Like [`Self::new`], for a driver that passes what [`LAST_CRASH`] prints to [`Self::notice`] with each screen.
    pub fn beside_dumps(remote: Remote) -> Self {
        Self { beside_dumps: true, ..Self::new(remote) }
    }

    /// Reads what [`LAST_CRASH`] printed, followed by the window in front.
    pub fn notice(&self, output: &str) {
        self.incidents.lock().notice(output, self.since.elapsed());
    }
}

impl Manages for PhoneTools {
    fn check_app_change(&self, change: &AppChange) -> Result<(), BadParam> {
        apps::check(change)
    }

    fn change_app<'a>(&'a self, change: &'a AppChange) -> DriverFuture<'a, String> {
        Box::pin(apps::change(&self.remote, change))
    }

    fn apps_named<'a>(&'a self, name: &'a str) -> DriverFuture<'a, Vec<String>> {
        Box::pin(apps::named(&self.remote, name))
    }

    fn configuration<'a>(&'a self, app: Option<&'a str>) -> DriverFuture<'a, DeviceConfiguration> {
        Box::pin(settings::read(&self.remote, app))
    }

    fn check_configuration(&self, wanted: &DeviceConfiguration) -> Result<(), BadParam> {
        settings::check(wanted)
    }

    fn configure<'a>(&'a self, wanted: &'a DeviceConfiguration) -> DriverFuture<'a, String> {
        Box::pin(settings::change(&self.remote, wanted))
    }

    fn log<'a>(&'a self, query: &'a LogQuery) -> DriverFuture<'a, LogPart> {
        Box::pin(async move {
            let known = self.typed.since().map_or(self.since, |since| since.max(self.since));
            let mut part = log::read(&self.remote, query, query.age.min(known.elapsed())).await?;
            let filter = self.typed.filter();
            let filtered = run_blocking(move || {
                for row in &mut part.rows {
                    row.text = shortened(&filter.without(&row.text), MAX_LINE);
                    row.tag = filter.without(&row.tag);
                }
                part
            });
            filtered.await.map_err(|panicked| DriverError::Failed(panicked.to_string()))
        })
    }

    fn incidents(&self) -> DriverFuture<'_, Vec<Incident>> {
        Box::pin(async move {
            if !self.beside_dumps {
                self.notice(&self.remote.query(&format!("{LAST_CRASH}; {FOCUS}")).await?);
            }
            let after = self.incidents.lock().unread_after();
            let (mut all, until) = match after {
                Some(after) => {
                    let output = self.remote.query(&incidents::crashes_since(after)).await?;
                    (incidents::crashes(&output, after), Some(incidents::last_entry(&output, after)))
                }
                None => (Vec::new(), None),
            };
            all.extend(self.incidents.lock().mark_read(until));
            let filter = self.typed.filter();
            all.iter_mut().for_each(|one| one.report = shortened(&filter.without(&one.report), MAX_REPORT));
            Ok(all)
        })
    }

    fn typed(&self, text: &Secret) {
        self.typed.note(text);
    }

    fn start_recording(&self, max: Duration) -> DriverFuture<'_, bool> {
        Box::pin(async move {
            let mut running = self.recording.lock().await;
            if running.as_ref().is_some_and(|recording| !recording.is_forgotten()) {
                return Ok(false);
            }
            *running = Some(recording::start(&self.remote, max).await?);
            Ok(true)
        })
    }

    fn stop_recording(&self) -> DriverFuture<'_, Option<(Vec<u8>, Duration)>> {
        Box::pin(async move {
            let mut running = self.recording.lock().await;
            let Some(recording) = running.as_mut() else { return Ok(None) };
            let video = recording::stop(&self.remote, recording).await;
            // What did not arrive is still there.
            if !matches!(video, Err(DriverError::Unreachable(_))) {
                *running = None;
            }
            video.map(Some)
        })
    }
}
