//! Sends notifications to the owner of `NOTIFY_SOCKET`: systemd, or the `afctl` that started the daemon.

use std::time::Duration;

use sd_notify::NotifyState;

pub(super) fn ready() {
    let _ = sd_notify::notify(&[NotifyState::Ready, NotifyState::Status("ready")]);
}

/// Reports that the settings are being reloaded. [`ready`] must be called afterwards.
pub(super) fn reloading() {
    let mut states = vec![NotifyState::Reloading];
    // The service manager compares this time with that of the signal that requested the reload.
    states.extend(NotifyState::monotonic_usec_now().ok());
    let _ = sd_notify::notify(&states);
}

pub(super) fn stopping() {
    let _ = sd_notify::notify(&[NotifyState::Stopping, NotifyState::Status("finishing calls in flight")]);
}

pub(super) fn failed(why: &str) {
    let _ = sd_notify::notify(&[NotifyState::Status(why), NotifyState::Errno(1)]);
}

/// Returns the interval at which the service manager expects a sign of life; `None` if it does not watch the daemon.
pub(super) fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Reports that the daemon is alive.
pub(super) fn alive(status: &str) {
    let _ = sd_notify::notify(&[NotifyState::Watchdog, NotifyState::Status(status)]);
}

/// Reports in the status text what has stopped. Does not feed the watchdog.
pub(super) fn stuck(what: &str) {
    let _ = sd_notify::notify(&[NotifyState::Status(what)]);
}
