//! The `reverse:` service, `adb reverse`: ports of the phone that lead to ports of the host. The practice phone has the ports of
//! this machine, on loopback only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::{AdbStream, Link, Message, OPEN, StreamEvent, pump};

/// The ports that lead to the host. They are closed when the connection to the host ends.
#[derive(Clone, Default)]
pub(super) struct Reverse(Arc<Mutex<BTreeMap<u16, Forward>>>);

struct Forward {
    /// Where it leads, as the host names it.
    to: String,
    task: AbortHandle,
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Reverse {
    fn ports(&self) -> std::sync::MutexGuard<'_, BTreeMap<u16, Forward>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all ports.
    pub(super) fn close(&self) {
        self.ports().clear();
    }

    /// Answers a request: what follows `reverse:`.
    pub(super) async fn answer(&self, request: &str, link: &Link) -> Vec<u8> {
        let port = |spec: &str| spec.strip_prefix("tcp:").and_then(|port| port.parse::<u16>().ok());
        match request.split_once(':').unwrap_or((request, "")) {
            ("forward", rest) => {
                let (rebinds, rest) = rest.strip_prefix("norebind:").map_or((true, rest), |rest| (false, rest));
                match rest.split_once(';').and_then(|(from, to)| Some((port(from)?, to))) {
                    Some((from, to)) => self.forward(from, to, rebinds, link).await,
                    None => failed("only tcp: can be reversed"),
                }
            }
            ("list-forward", _) => {
                let ports = self.ports();
                sized(
                    &ports
                        .iter()
                        .map(|(port, forward)| format!("(reverse) tcp:{port} {}\n", forward.to))
                        .collect::<String>(),
                )
            }
            ("killforward", spec) => match port(spec).and_then(|port| self.ports().remove(&port)) {
                Some(_) => b"OKAY".to_vec(),
                None => failed(&format!("listener '{spec}' not found")),
            },
            ("killforward-all", _) => {
                self.close();
                b"OKAY".to_vec()
            }
            _ => failed("unknown request"),
        }
    }

    async fn forward(&self, from: u16, to: &str, rebinds: bool, link: &Link) -> Vec<u8> {
        if self.ports().contains_key(&from) {
            if !rebinds {
                return failed("cannot rebind existing socket");
            }
            self.ports().remove(&from);
        }
        let listener = match TcpListener::bind(("127.0.0.1", from)).await {
            Ok(listener) => listener,
            Err(error) => return failed(&format!("cannot bind listener: {error}")),
        };
        let port = listener.local_addr().map_or(from, |address| address.port());
        let (own, target) = (link.clone(), to.to_owned());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connect(own.clone(), stream, target.clone()));
            }
        });
        self.ports().insert(port, Forward { to: to.to_owned(), task: task.abort_handle() });
        // The host learns a port that it left to the phone.
        let chosen = if from == 0 { sized(&port.to_string()) } else { Vec::new() };
        [b"OKAY".to_vec(), chosen].concat()
    }
}

/// Opens a stream to the host, and copies bytes both ways.
async fn connect(link: Link, stream: TcpStream, to: String) {
    let (sender, mut events) = mpsc::unbounded_channel();
    let local_id = link.register(sender);
    if link.out.send(Message::new(OPEN, local_id, 0, format!("{to}\0"))).is_err() {
        return;
    }
    if let Some(StreamEvent::Acknowledged(remote_id)) = events.recv().await {
        pump(AdbStream { local_id, remote_id, out: link.out.clone(), events }, stream).await;
    }
}

/// Returns a text after its length in four hexadecimal digits.
fn sized(text: &str) -> Vec<u8> {
    format!("{:04x}{text}", text.len()).into_bytes()
}

fn failed(why: &str) -> Vec<u8> {
    [b"FAIL".to_vec(), sized(why)].concat()
}
