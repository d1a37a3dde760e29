//! Periodically checks that the daemon works, and reports this to the service manager. A daemon whose writer, listener
//! or device queues have stopped is not reported as alive, so the service manager restarts it.

use std::path::Path;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::systemd;
use crate::app::Core;
use afd_device::Registry;

/// Interval of the check. The interval is shorter if the service manager's watchdog requires that.
const EVERY: Duration = Duration::from_secs(10);
/// Maximum time for a response on the daemon's own socket.
const ANSWER: Duration = Duration::from_secs(5);
/// Maximum duration of a write, such as the import of a large file.
const MAX_WRITE: Duration = Duration::from_secs(300);
/// Maximum time for which a call may hold a device. A phone may take ten minutes to respond.
const MAX_TURN: Duration = Duration::from_secs(900);

/// Checks the daemon until it ends.
pub(super) async fn run(core: Weak<Core>) {
    let watchdog = systemd::watchdog_interval();
    let every = watchdog.map_or(EVERY, |interval| (interval / 3).min(EVERY));
    let mut writing: Option<tokio::task::JoinHandle<()>> = None;
    let mut writing_since = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(every).await;
        let Some(core) = core.upgrade() else { return };
        if writing.as_ref().is_none_or(|w| w.is_finished()) {
            // An empty write also detects that the database file was deleted.
            let store = core.store.clone();
            writing = Some(tokio::spawn(async move { _ = store.flush().await }));
            writing_since = tokio::time::Instant::now();
        }
        let stuck = match answers(core.runtime.socket()).await {
            Err(why) => Some(format!("the socket does not answer: {why}")),
            Ok(()) if writing_since.elapsed() > MAX_WRITE => {
                Some(format!("a write takes more than {} s", MAX_WRITE.as_secs()))
            }
            Ok(()) => stuck_device(&core.devices),
        };
        match stuck {
            None => systemd::alive(&summary(&core)),
            Some(what) => {
                tracing::error!(what, "the daemon does not work");
                systemd::stuck(&what);
            }
        }
    }
}

/// Requests the daemon version over the daemon's own socket.
async fn answers(socket: &Path) -> Result<(), String> {
    let ask = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.version\"}\n").await?;
        stream.read_u8().await
    };
    match timeout(ANSWER, ask).await {
        Ok(Ok(_)) => Ok(()),
        // At the connection limit, the daemon closes new ones. That counts as a response.
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(()),
        // A deleted socket is no reason for a restart, which would disconnect the clients.
        Ok(Err(error))
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionReset) =>
        {
            Ok(())
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", ANSWER.as_secs())),
    }
}

fn stuck_device(devices: &Registry) -> Option<String> {
    let stuck = devices.list().into_iter().find(|device| device.turn_time().is_some_and(|time| time > MAX_TURN))?;
    Some(format!("the device {} has been in use for more than {} min", stuck.name(), MAX_TURN.as_secs() / 60))
}

/// Returns a one-line summary of the daemon's state.
fn summary(core: &Core) -> String {
    let damage = core.damage().map_or_else(String::new, |damage| format!("; {damage}"));
    let (devices, connections) = (core.devices.list().len(), core.runtime.connections.load(Ordering::SeqCst));
    format!("{devices} devices, {connections} connections, {} calls in flight{damage}", core.runtime.in_flight())
}
