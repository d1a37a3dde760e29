//! Device side of the ADB protocol, over TCP, so that the real `adb` can connect, run shell commands and forward ports.
//!
//! Implements version 1.1 of the protocol, without checksums, and announces only the features that it serves.

mod lines;
mod reverse;
mod sync;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::server::{Shared, lock};
use lines::{executed, lines, shell_v2};

const CNXN: u32 = 0x4e58_4e43;
const OPEN: u32 = 0x4e45_504f;
const OKAY: u32 = 0x5941_4b4f;
const CLSE: u32 = 0x4553_4c43;
const WRTE: u32 = 0x4554_5257;
const VERSION: u32 = 0x0100_0001;
/// Maximum payload of a message, in bytes.
const MAX_DATA: u32 = 64 << 10;
/// Number of bytes before the pixels of a raw picture.
const RAW_HEAD: usize = 16;
/// Maximum size of a command's standard input, in bytes.
const MAX_INPUT: usize = 64 << 20;
/// What the phone says of itself. Clients show the model in their lists.
const BANNER: &[u8] =
    b"device::ro.product.name=practice;ro.product.model=Practice_Phone;ro.product.device=practice;features=shell_v2";

/// A protocol message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Message {
    command: u32,
    arg0: u32,
    arg1: u32,
    data: Vec<u8>,
}

impl Message {
    fn new(command: u32, arg0: u32, arg1: u32, data: impl Into<Vec<u8>>) -> Self {
        Self { command, arg0, arg1, data: data.into() }
    }

    fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
        let sum = self.data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
        let head = [self.command, self.arg0, self.arg1, length, sum, !self.command];
        head.iter().flat_map(|word| word.to_le_bytes()).chain(self.data.iter().copied()).collect()
    }

    async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Self> {
        let mut head = [0; 6];
        for word in &mut head {
            *word = stream.read_u32_le().await?;
        }
        let [command, arg0, arg1, length, _, magic] = head;
        if magic != !command || length > (1 << 20) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data).await?;
        Ok(Self { command, arg0, arg1, data })
    }
}

/// An event that the peer sends to a stream.
enum StreamEvent {
    Data(Vec<u8>),
    /// The peer has taken what was sent; holds its id of the stream.
    Acknowledged(u32),
    Close,
}

/// The streams of a connection, by local id.
type Streams = HashMap<u32, mpsc::UnboundedSender<StreamEvent>>;

/// A connection, as its streams use it.
#[derive(Clone)]
struct Link {
    out: mpsc::UnboundedSender<Message>,
    streams: Arc<Mutex<Streams>>,
    next_id: Arc<AtomicU32>,
    reverse: reverse::Reverse,
}

impl Link {
    /// Adds a stream, and returns its local id.
    fn register(&self, sender: mpsc::UnboundedSender<StreamEvent>) -> u32 {
        let local_id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|_, stream| !stream.is_closed());
        streams.insert(local_id, sender);
        local_id
    }
}

/// Accepts connections until its task is aborted.
pub(crate) async fn serve(listener: TcpListener, phone: Shared) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let _ = stream.set_nodelay(true);
                    connections.spawn(connection(stream, phone.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, phone: Shared) {
    let (mut reader, mut writer) = stream.into_split();
    let (out, mut outgoing) = mpsc::unbounded_channel::<Message>();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(message) = outgoing.recv().await {
            if writer.write_all(&message.bytes()).await.is_err() {
                return;
            }
        }
    });
    let next_id = Arc::new(AtomicU32::new(1));
    let link = Link { out: out.clone(), streams: Arc::default(), next_id, reverse: reverse::Reverse::default() };
    while let Ok(message) = Message::read(&mut reader).await {
        let response = match message.command {
            CNXN => Message::new(CNXN, VERSION, MAX_DATA, BANNER),
            OPEN => {
                let service = String::from_utf8_lossy(&message.data).trim_end_matches('\0').to_owned();
                let (sender, events) = mpsc::unbounded_channel();
                let local_id = link.register(sender);
                let adb = AdbStream { local_id, remote_id: message.arg0, out: out.clone(), events };
                tasks.spawn(open(adb, service, phone.clone(), link.clone()));
                continue;
            }
            WRTE | OKAY | CLSE => {
                let streams = link.streams.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(stream) = streams.get(&message.arg1) {
                    let _ = stream.send(match message.command {
                        WRTE => StreamEvent::Data(message.data),
                        OKAY => StreamEvent::Acknowledged(message.arg0),
                        _ => StreamEvent::Close,
                    });
                }
                continue;
            }
            _ => continue,
        };
        if out.send(response).is_err() {
            break;
        }
    }
    link.reverse.close();
}

/// One stream of a connection.
struct AdbStream {
    local_id: u32,
    remote_id: u32,
    out: mpsc::UnboundedSender<Message>,
    events: mpsc::UnboundedReceiver<StreamEvent>,
}

impl AdbStream {
    fn send_message(&self, command: u32, data: impl Into<Vec<u8>>) {
        // An error means that the connection is closed; the message can be dropped.
        let _ = self.out.send(Message::new(command, self.local_id, self.remote_id, data));
    }

    /// Refuses to open the stream. The local id 0 means that the stream never existed; an adb server ignores refusals
    /// with any other id.
    fn refuse(&self) {
        let _ = self.out.send(Message::new(CLSE, 0, self.remote_id, []));
    }

    /// Returns the standard input of a command that says how much of it there is, as `cmd package install -S SIZE` does; it is
    /// empty for other commands. `None` if the peer closed the stream.
    async fn input_of(&mut self, command: &str) -> Option<Vec<u8>> {
        let mut words =
            command.split_whitespace().skip_while(|word| *word != "install").skip_while(|word| *word != "-S");
        let size = words.nth(1).and_then(|size| size.parse().ok()).unwrap_or(0).min(MAX_INPUT);
        let mut input = Vec::new();
        while input.len() < size {
            match self.events.recv().await? {
                StreamEvent::Data(data) => {
                    self.send_message(OKAY, []);
                    input.extend(data);
                }
                StreamEvent::Acknowledged(_) => {}
                StreamEvent::Close => return None,
            }
        }
        Some(input)
    }

    /// Sends data in chunks, each acknowledged before the next. Returns false if the peer closed the stream.
    async fn send(&mut self, data: &[u8]) -> bool {
        for chunk in data.chunks(MAX_DATA as usize) {
            self.send_message(WRTE, chunk);
            loop {
                match self.events.recv().await {
                    Some(StreamEvent::Acknowledged(_)) => break,
                    Some(StreamEvent::Data(_)) => self.send_message(OKAY, []),
                    Some(StreamEvent::Close) | None => return false,
                }
            }
        }
        true
    }
}

async fn open(mut adb: AdbStream, service: String, phone: Shared, link: Link) {
    let shell = |prefix: &str| service.strip_prefix(prefix).map(str::to_owned);
    // `shell,v2,TERM=xterm,raw:COMMAND` begins with its options.
    let v2 =
        service.strip_prefix("shell,v2").and_then(|rest| rest.split_once(':')).map(|(_, command)| command.to_owned());
    if let Some(command) = v2 {
        adb.send_message(OKAY, []);
        shell_v2(adb, phone, command).await;
    } else if let Some(command) = shell("shell:").or_else(|| shell("exec:")) {
        adb.send_message(OKAY, []);
        if command.is_empty() {
            return lines(adb, phone, false).await;
        }
        let Some(input) = adb.input_of(&command).await else { return };
        let done = executed(&phone, command, input).await;
        let streams = [done.tty, done.out, done.err].concat();
        adb.send(&streams).await;
        adb.send_message(CLSE, []);
    } else if service == "framebuffer:" {
        adb.send_message(OKAY, []);
        framebuffer(&mut adb, &phone).await;
        adb.send_message(CLSE, []);
    } else if let Some(request) = service.strip_prefix("reverse:") {
        adb.send_message(OKAY, []);
        let answer = link.reverse.answer(request, &link).await;
        adb.send(&answer).await;
        adb.send_message(CLSE, []);
    } else if service == "sync:" {
        adb.send_message(OKAY, []);
        sync::serve(&mut adb, &phone).await;
        adb.send_message(CLSE, []);
    } else if let Some(port) = service.strip_prefix("tcp:").and_then(|p| p.parse::<u16>().ok()) {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                adb.send_message(OKAY, []);
                pump(adb, stream).await;
            }
            Err(_) => adb.refuse(),
        }
    } else {
        adb.refuse();
    }
}

/// Sends the screen as version 1 of the framebuffer service does: 13 numbers, then four bytes for each pixel.
async fn framebuffer(adb: &mut AdbStream, phone: &Shared) {
    let phone = phone.clone();
    let drawn = tokio::task::spawn_blocking(move || {
        let scene = lock(&phone).scene();
        (scene.width.unsigned_abs(), scene.height.unsigned_abs(), crate::picture::raw(&scene).split_off(RAW_HEAD))
    });
    let Ok((width, height, pixels)) = drawn.await else { return };
    let size = u32::try_from(pixels.len()).unwrap_or(0);
    // Bits for each pixel, and offset and number of the bits of red, blue, green and alpha.
    let head = [1, 32, size, width, height, 0, 8, 16, 8, 8, 8, 24, 8];
    let mut bytes: Vec<u8> = head.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend(pixels);
    adb.send(&bytes).await;
}

/// Copies bytes both ways between an ADB stream and a TCP connection to a port of the phone.
async fn pump(mut adb: AdbStream, mut stream: TcpStream) {
    let mut buffer = vec![0; MAX_DATA as usize];
    let mut may_send = true;
    loop {
        tokio::select! {
            event = adb.events.recv() => match event {
                Some(StreamEvent::Data(data)) => {
                    if stream.write_all(&data).await.is_err() {
                        break;
                    }
                    adb.send_message(OKAY, []);
                }
                Some(StreamEvent::Acknowledged(_)) => may_send = true,
                Some(StreamEvent::Close) | None => return,
            },
            read = stream.read(&mut buffer), if may_send => match read {
                Ok(0) | Err(_) => break,
                Ok(n) => {
                    adb.send_message(WRTE, &buffer[..n]);
                    may_send = false;
                }
            },
        }
    }
    adb.send_message(CLSE, []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_round_trip_and_a_wrong_magic_is_rejected() {
        let message = Message::new(OPEN, 7, 0, "shell:echo hi\0");
        let bytes = message.bytes();
        assert_eq!(bytes[..4], *b"OPEN");
        assert_eq!(bytes[20..24], (!OPEN).to_le_bytes());
        assert_eq!(Message::read(&mut bytes.as_slice()).await.expect("reads"), message);
        let mut wrong = bytes.clone();
        wrong[20] ^= 1;
        assert!(Message::read(&mut wrong.as_slice()).await.is_err());
    }
}
