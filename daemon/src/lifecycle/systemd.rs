//! Notifications to the owner of `NOTIFY_SOCKET`: systemd, or the `afctl` that started the daemon.

use std::time::Duration;

use sd_notify::NotifyState;

pub(super) fn ready() {
    let _ = sd_notify::notify(&[NotifyState::Ready, NotifyState::Status("ready")]);
}

/// The settings are read again; [`ready`] follows.
pub(super) fn reloading() {
    let mut states = vec![NotifyState::Reloading];
    // The service manager relates it to the signal that asked for it.
    states.extend(NotifyState::monotonic_usec_now().ok());
    let _ = sd_notify::notify(&states);
}

pub(super) fn stopping() {
    let _ = sd_notify::notify(&[NotifyState::Stopping, NotifyState::Status("finishing calls in flight")]);
}

pub(super) fn failed(why: &str) {
    let _ = sd_notify::notify(&[NotifyState::Status(why), NotifyState::Errno(1)]);
}

/// Returns how often the service manager wants to hear that the daemon is alive; `None` if it does not watch it.
pub(super) fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// The daemon is alive.
pub(super) fn alive(status: &str) {
    let _ = sd_notify::notify(&[NotifyState::Watchdog, NotifyState::Status(status)]);
}

/// Says in the status text what has stopped. The watchdog is not fed.
pub(super) fn stuck(what: &str) {
    let _ = sd_notify::notify(&[NotifyState::Status(what)]);
}
