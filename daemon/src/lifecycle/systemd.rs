//! Readiness notification to the owner of `NOTIFY_SOCKET`: systemd, or the `afctl` that started the daemon.

use sd_notify::NotifyState;

pub(super) fn ready() {
    let _ = sd_notify::notify(&[NotifyState::Ready]);
}

pub(super) fn stopping() {
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
}

pub(super) fn failed(why: &str) {
    let _ = sd_notify::notify(&[NotifyState::Status(why), NotifyState::Errno(1)]);
}
