//! A client's resource subscriptions. Notifications from the daemon show which resources have changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use afd_proto::Method;
use afd_proto::events::{EventsSubscribe, MessageWithCursor};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::daemon::Daemon;
use crate::resources;

/// Pause before the first reconnection attempt; the pause doubles with each attempt, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The resources that a client has subscribed to.
pub struct Following {
    daemon: Arc<Daemon>,
    session: String,
    state: Arc<State>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    followed: Mutex<BTreeSet<String>>,
    /// Changed resources that the client has not been notified about yet, by URI.
    changed: Mutex<BTreeSet<String>>,
    more: Notify,
}

impl State {
    /// Marks as changed the subscribed resources for which `affected` returns true.
    fn note(&self, affected: impl Fn(&str) -> bool) {
        if let (Ok(followed), Ok(mut changed)) = (self.followed.lock(), self.changed.lock()) {
            changed.extend(followed.iter().filter(|uri| affected(uri)).cloned());
        }
        self.more.notify_one();
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().ok().and_then(|mut task| task.take()) {
            task.abort();
        }
    }
}

impl Following {
    pub fn new(daemon: Arc<Daemon>, session: String) -> Self {
        Self { daemon, session, state: Arc::default(), task: Mutex::default() }
    }

    /// Waits for the next changed resource and returns its URI. Several changes to one resource are reported once.
    pub async fn changed(&self) -> String {
        loop {
            let next = self.state.changed.lock().ok().and_then(|mut changed| changed.pop_first());
            match next {
                Some(uri) => return uri,
                None => self.state.more.notified().await,
            }
        }
    }

    /// Subscribes to a resource. The first subscription starts the task that listens to the daemon.
    pub fn add(&self, uri: &str) {
        if let Ok(mut followed) = self.state.followed.lock() {
            followed.insert(uri.to_owned());
        }
        if let Ok(mut task) = self.task.lock()
            && task.as_ref().is_none_or(JoinHandle::is_finished)
        {
            *task = Some(tokio::spawn(listen(self.daemon.clone(), self.session.clone(), self.state.clone())));
        }
    }

    /// Unsubscribes from a resource. Removing the last subscription closes the connection to the daemon.
    pub fn remove(&self, uri: &str) {
        let Ok(mut followed) = self.state.followed.lock() else { return };
        followed.remove(uri);
        if followed.is_empty()
            && let Some(task) = self.task.lock().ok().and_then(|mut task| task.take())
        {
            task.abort();
        }
    }
}

/// Listens to the daemon until the task is aborted. If the daemon exits, reconnects once it is running again, but never
/// starts it.
async fn listen(daemon: Arc<Daemon>, session: String, state: Arc<State>) {
    let mut pause = FIRST_PAUSE;
    let mut missed = false;
    loop {
        let connecting = daemon.clone();
        if let Ok(Some(mut lines)) = tokio::task::spawn_blocking(move || subscribe(&connecting)).await {
            pause = FIRST_PAUSE;
            if std::mem::replace(&mut missed, true) {
                state.note(|_| true);
            }
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                match serde_json::from_value::<MessageWithCursor>(message["params"]["result"].clone()) {
                    Ok(message) => {
                        state.note(|uri| resources::is_affected(uri, &message.message, daemon.device(), &session))
                    }
                    // A message of an unknown type from a newer daemon may concern any resource.
                    Err(_) if message["params"].is_object() => state.note(|_| true),
                    Err(_) => {}
                }
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

type Lines = tokio::io::Lines<BufReader<tokio::io::Chain<std::io::Cursor<Vec<u8>>, UnixStream>>>;

/// Subscribes to the daemon's events. Returns the lines that the daemon sends, or `None` if no daemon is running. Must
/// be called within the Tokio runtime.
fn subscribe(daemon: &Daemon) -> Option<Lines> {
    let mut connection = daemon.connect_running().ok()?;
    connection.call_raw(EventsSubscribe::INFO.name, &json!({})).ok()?;
    let (stream, rest) = connection.into_stream();
    stream.set_read_timeout(None).ok()?;
    stream.set_nonblocking(true).ok()?;
    let stream = UnixStream::from_std(stream).ok()?;
    Some(BufReader::new(std::io::Cursor::new(rest).chain(stream)).lines())
}
