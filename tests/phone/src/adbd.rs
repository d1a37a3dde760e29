//! The phone's end of the cable: the ADB protocol over TCP, so that the real `adb` can connect, run a shell line and
//! forward ports. Version 1 of the protocol, with checksums and without features, as old phones speak it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::server::{Shared, lock};

const CNXN: u32 = 0x4e58_4e43;
const OPEN: u32 = 0x4e45_504f;
const OKAY: u32 = 0x5941_4b4f;
const CLSE: u32 = 0x4553_4c43;
const WRTE: u32 = 0x4554_5257;
const VERSION: u32 = 0x0100_0000;
/// The most that a message may carry.
const MAX_DATA: u32 = 4096;

/// A message of the protocol.
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

/// What the other side says to a stream.
enum Said {
    Data(Vec<u8>),
    Ready,
    Close,
}

/// The streams of a connection by our number.
type Streams = HashMap<u32, mpsc::UnboundedSender<Said>>;

/// Serves the cable until it is dropped.
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
    let mut streams = Streams::new();
    let numbers = Arc::new(AtomicU32::new(1));
    while let Ok(message) = Message::read(&mut reader).await {
        streams.retain(|_, stream| !stream.is_closed());
        let answer = match message.command {
            CNXN => Message::new(
                CNXN,
                VERSION,
                MAX_DATA,
                &b"device::ro.product.name=practice;ro.product.model=Practice_Phone;ro.product.device=practice;"[..],
            ),
            OPEN => {
                let ours = numbers.fetch_add(1, Ordering::Relaxed);
                let service = String::from_utf8_lossy(&message.data).trim_end_matches('\0').to_owned();
                let (said, hears) = mpsc::unbounded_channel();
                streams.insert(ours, said);
                let line = Line { ours, theirs: message.arg0, out: out.clone(), hears };
                tasks.spawn(open(line, service, phone.clone()));
                continue;
            }
            WRTE | OKAY | CLSE => {
                if let Some(stream) = streams.get(&message.arg1) {
                    let _ = stream.send(match message.command {
                        WRTE => Said::Data(message.data),
                        OKAY => Said::Ready,
                        _ => Said::Close,
                    });
                }
                continue;
            }
            _ => continue,
        };
        if out.send(answer).is_err() {
            return;
        }
    }
}

/// One stream of a connection.
struct Line {
    ours: u32,
    theirs: u32,
    out: mpsc::UnboundedSender<Message>,
    hears: mpsc::UnboundedReceiver<Said>,
}

impl Line {
    fn say(&self, command: u32, data: impl Into<Vec<u8>>) {
        // The connection may be gone; then nobody needs it.
        let _ = self.out.send(Message::new(command, self.ours, self.theirs, data));
    }

    /// Sends data piece by piece; each is to be acknowledged before the next. False when the other side closed.
    async fn send(&mut self, data: &[u8]) -> bool {
        for piece in data.chunks(MAX_DATA as usize) {
            self.say(WRTE, piece);
            loop {
                match self.hears.recv().await {
                    Some(Said::Ready) => break,
                    Some(Said::Data(_)) => self.say(OKAY, []),
                    Some(Said::Close) | None => return false,
                }
            }
        }
        true
    }
}

async fn open(mut line: Line, service: String, phone: Shared) {
    if let Some(command) = service.strip_prefix("shell:") {
        line.say(OKAY, []);
        let output = shell(&phone, command);
        line.send(output.as_bytes()).await;
        line.say(CLSE, []);
    } else if let Some(port) = service.strip_prefix("tcp:").and_then(|p| p.parse::<u16>().ok()) {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                line.say(OKAY, []);
                pump(line, stream).await;
            }
            Err(_) => line.say(CLSE, []),
        }
    } else {
        line.say(CLSE, []);
    }
}

/// Carries bytes both ways between a stream of the cable and a port of the phone.
async fn pump(mut line: Line, mut stream: TcpStream) {
    let mut buffer = vec![0; MAX_DATA as usize];
    let mut may_send = true;
    loop {
        tokio::select! {
            said = line.hears.recv() => match said {
                Some(Said::Data(data)) => {
                    if stream.write_all(&data).await.is_err() {
                        break;
                    }
                    line.say(OKAY, []);
                }
                Some(Said::Ready) => may_send = true,
                Some(Said::Close) | None => return,
            },
            read = stream.read(&mut buffer), if may_send => match read {
                Ok(0) | Err(_) => break,
                Ok(n) => {
                    line.say(WRTE, &buffer[..n]);
                    may_send = false;
                }
            },
        }
    }
    line.say(CLSE, []);
}

/// The few shell lines that clients of the cable need.
fn shell(phone: &Shared, command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().map(|w| w.trim_matches(['\'', '"'])).collect();
    match words.as_slice() {
        ["cat", path] => hint(phone, path).unwrap_or_else(|| format!("cat: {path}: No such file or directory\n")),
        ["getprop", "ro.product.model"] => "Practice Phone\n".to_owned(),
        ["echo", rest @ ..] => format!("{}\n", rest.join(" ")),
        _ => format!("/system/bin/sh: {}: not found\n", words.first().unwrap_or(&"")),
    }
}

/// The connection hint, where the app of the service writes it.
fn hint(phone: &Shared, path: &str) -> Option<String> {
    let phone = lock(phone);
    let hint = phone.hint.as_ref()?;
    (path == format!("/sdcard/Android/data/{}/files/connection-hint.json", hint.package)).then(|| hint.json(phone.clock.now_ms()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_is_read_as_it_was_written() {
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
