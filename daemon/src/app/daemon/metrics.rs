//! `daemon.metrics`: daemon metrics, also in the Prometheus text format.

use std::fmt::{Display, Write as _};
use std::sync::Arc;
use std::time::Duration;

use afd_proto::daemon::{DaemonMetrics, MethodLoad, Metrics};
use afd_proto::device::DeviceState;

use super::call_counts::Load;
use crate::app::{Core, Methods, daemon};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DaemonMetrics, _, _>(|core, _| async move { Ok(metrics(&core).await) });
}

/// Metrics in the Prometheus text format.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP afd_{name} {help}\n# TYPE afd_{name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> = labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escape(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "afd_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.value(name, &[], value);
    }
}

/// Implements `daemon.metrics`.
pub async fn metrics(core: &Arc<Core>) -> Metrics {
    let status = daemon::status(core).await;
    let loads = core.runtime.calls.list();
    let mut text = Text::default();
    text.gauge("uptime_seconds", "Time since the start of the daemon.", status.uptime_ms / 1000);
    text.gauge("connections", "Open connections.", status.connections);
    text.gauge("calls_in_flight", "Calls in progress.", status.calls_in_flight);
    text.gauge("store_writable", "Whether the memory takes writes.", u8::from(status.store.writable));
    text.gauge("store_pending_writes", "Writes that wait for their commit.", status.store.pending_writes);
    text.gauge("database_bytes", "Size of the database.", status.store.size_bytes);
    text.gauge("wal_bytes", "Size of the write-ahead log.", status.sizes.wal_bytes);
    text.gauge("artifact_bytes", "Size of the artifacts.", status.sizes.artifact_bytes);
    text.gauge("backup_bytes", "Size of the backups.", status.sizes.backup_bytes);
    if let Some(at) = status.last_backup_at {
        text.gauge("last_backup_timestamp_seconds", "Time of the newest backup.", at / 1000);
    }
    text.head("device_up", "gauge", "Whether the device answered the last request; absent before the first one.");
    for device in status.devices.iter().filter(|d| d.state != DeviceState::Unknown) {
        text.value("device_up", &[("device", &device.name)], u8::from(device.state == DeviceState::Ready));
    }
    text.head("device_waiting", "gauge", "Calls that wait for the device or hold it.");
    status.devices.iter().for_each(|d| text.value("device_waiting", &[("device", &d.name)], d.waiting));
    text.head("device_leased", "gauge", "Whether a session holds a lease.");
    status
        .devices
        .iter()
        .for_each(|d| text.value("device_leased", &[("device", &d.name)], u8::from(d.lease.is_some())));
    text.head("job_runs_total", "counter", "Runs of a job.");
    let jobs = core.jobs.list();
    jobs.iter().for_each(|job| text.value("job_runs_total", &[("job", &job.name)], job.runs));
    text.head("task_restarts_total", "counter", "Restarts of a background task that failed.");
    status.tasks.iter().for_each(|task| text.value("task_restarts_total", &[("task", &task.name)], task.restarts));
    text.head("calls_total", "counter", "Calls that ended.");
    loads.iter().for_each(|(name, load)| text.value("calls_total", &[("method", name)], load.calls));
    text.head("call_errors_total", "counter", "Calls that ended with an error.");
    loads.iter().for_each(|(name, load)| text.value("call_errors_total", &[("method", name)], load.errors));
    text.head("call_seconds_total", "counter", "Time that calls took.");
    loads
        .iter()
        .for_each(|(name, load)| text.value("call_seconds_total", &[("method", name)], load.total.as_secs_f64()));
    let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let of = |(name, load): &(&str, Load)| MethodLoad {
        name: (*name).to_owned(),
        calls: load.calls,
        errors: load.errors,
        mean_us: us(load.total) / load.calls.max(1),
        max_us: us(load.longest),
    };
    Metrics { text: text.0, methods: loads.iter().map(of).collect() }
}
