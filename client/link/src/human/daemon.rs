//! Renders the results of the `daemon` commands.

use std::time::Duration;

use afd_proto::daemon::{DaemonMethods, DaemonMetrics, DaemonShutdown, MethodList, MethodLoad, MethodSummary, Metrics};

use super::parts::table;
use super::render::human;

human! {
    DaemonMethods => methods;
    DaemonMetrics => |metrics: &Metrics| metrics.text.clone();
    DaemonShutdown => |_| "stopped\n".to_owned();
}

fn methods(list: &MethodList) -> String {
    let row = |m: &MethodSummary| [m.name.clone(), m.effect.to_string(), m.summary.clone()];
    table(["method", "effect", "summary"], list.methods.iter().map(row))
}

/// Renders a table of the methods that were called, with their call rates since the previous update and their
/// durations.
pub fn rates(before: &[MethodLoad], now: &[MethodLoad], since: Duration) -> String {
    let old = |name: &str| before.iter().find(|m| m.name == name).map_or((0, 0), |m| (m.calls, m.calls * m.mean_us));
    let row = |m: &MethodLoad| {
        let (calls, total) = old(&m.name);
        let new = m.calls.saturating_sub(calls);
        let mean = (m.calls * m.mean_us).saturating_sub(total) / new.max(1);
        let rate = if before.is_empty() {
            String::new()
        } else {
            format!("{:.1}", new as f64 / since.as_secs_f64().max(0.001))
        };
        let ms = |us: u64| format!("{:.1}", us as f64 / 1000.0);
        [
            m.name.clone(),
            m.calls.to_string(),
            rate,
            if new > 0 { ms(mean) } else { String::new() },
            ms(m.max_us),
            m.errors.to_string(),
        ]
    };
    let shown = now.iter().filter(|m| !m.name.starts_with("daemon.") && m.name != "job.list");
    table(["method", "calls", "per s", "mean ms", "max ms", "errors"], shown.map(row))
}
