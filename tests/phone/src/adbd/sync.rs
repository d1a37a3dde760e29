//! The `sync:` service, version 1: `adb push` and `adb pull`.

use super::{AdbStream, OKAY, StreamEvent};
use crate::server::{Shared, lock};

/// Maximum size of a file, in bytes.
const MAX_FILE: usize = 64 << 20;
/// Maximum size of a piece of a file, in bytes.
const PIECE: usize = 60_000;
/// Mode of files and of folders, with their types.
const MODES: [u32; 2] = [0o100_644, 0o040_755];
/// Folders that exist without files in them.
const FOLDERS: [&str; 5] = ["", "/sdcard", "/storage/emulated/0", "/data", "/data/local/tmp"];

/// Serves requests until the client ends the service.
pub(super) async fn serve(adb: &mut AdbStream, phone: &Shared) {
    let mut received = Received { bytes: Vec::new() };
    loop {
        let Some((id, length)) = received.head(adb).await else { return };
        if id == *b"QUIT" {
            return;
        }
        let Some(path) = received.take(adb, (length as usize).min(PIECE)).await else { return };
        let path = String::from_utf8_lossy(&path).into_owned();
        let answer = match &id {
            b"STAT" => stat(phone, &path),
            b"LIST" => list(phone, &path),
            b"RECV" => content(phone, &path),
            b"SEND" => match received.file(adb).await {
                Some(Some(bytes)) => {
                    let name = path.rsplit_once(',').map_or(path.as_str(), |(name, _)| name);
                    lock(phone).files.insert(name.to_owned(), bytes);
                    words(b"OKAY", &[0])
                }
                Some(None) => failed("the file is too large"),
                None => return,
            },
            _ => failed("unknown request"),
        };
        if !adb.send(&answer).await {
            return;
        }
    }
}

/// What has arrived and was not read yet.
struct Received {
    bytes: Vec<u8>,
}

impl Received {
    async fn take(&mut self, adb: &mut AdbStream, count: usize) -> Option<Vec<u8>> {
        while self.bytes.len() < count {
            match adb.events.recv().await? {
                StreamEvent::Data(data) => {
                    self.bytes.extend(data);
                    adb.send_message(OKAY, []);
                }
                StreamEvent::Acknowledged(_) => {}
                StreamEvent::Close => return None,
            }
        }
        Some(self.bytes.drain(..count).collect())
    }

    async fn head(&mut self, adb: &mut AdbStream) -> Option<([u8; 4], u32)> {
        let head = self.take(adb, 8).await?;
        Some(([head[0], head[1], head[2], head[3]], u32::from_le_bytes([head[4], head[5], head[6], head[7]])))
    }

    /// Reads the pieces of a file; the inner value is `None` if it is too large.
    async fn file(&mut self, adb: &mut AdbStream) -> Option<Option<Vec<u8>>> {
        let (mut file, mut fits) = (Vec::new(), true);
        loop {
            match self.head(adb).await? {
                (id, length) if id == *b"DATA" => {
                    let piece = self.take(adb, length as usize).await?;
                    fits &= file.len() + piece.len() <= MAX_FILE;
                    if fits {
                        file.extend(piece);
                    }
                }
                _ => return Some(fits.then_some(file)),
            }
        }
    }
}

fn words(id: &[u8; 4], words: &[u32]) -> Vec<u8> {
    id.iter().copied().chain(words.iter().flat_map(|word| word.to_le_bytes())).collect()
}

fn failed(why: &str) -> Vec<u8> {
    [words(b"FAIL", &[u32::try_from(why.len()).unwrap_or_default()]), why.as_bytes().to_vec()].concat()
}

fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// Returns mode, size and time of a file or folder; the mode 0 says that there is none.
fn stat(phone: &Shared, path: &str) -> Vec<u8> {
    let phone = lock(phone);
    let folder = path.trim_end_matches('/');
    let is_folder = FOLDERS.contains(&folder) || phone.files.keys().any(|file| file.starts_with(&format!("{folder}/")));
    match phone.files.get(path) {
        Some(bytes) => words(b"STAT", &[MODES[0], size(bytes), 0]),
        None if is_folder => words(b"STAT", &[MODES[1], 0, 0]),
        None => words(b"STAT", &[0, 0, 0]),
    }
}

fn list(phone: &Shared, path: &str) -> Vec<u8> {
    let phone = lock(phone);
    let inside = format!("{}/", path.trim_end_matches('/'));
    let mut answer = Vec::new();
    for (file, bytes) in &phone.files {
        let Some(name) = file.strip_prefix(&inside).filter(|name| !name.contains('/')) else { continue };
        answer.extend(words(b"DENT", &[MODES[0], size(bytes), 0, size(name.as_bytes())]));
        answer.extend(name.as_bytes());
    }
    answer.extend(words(b"DONE", &[0, 0, 0, 0]));
    answer
}

fn content(phone: &Shared, path: &str) -> Vec<u8> {
    let Some(bytes) = lock(phone).files.get(path).cloned() else { return failed("No such file or directory") };
    let mut answer = Vec::new();
    for piece in bytes.chunks(PIECE) {
        answer.extend(words(b"DATA", &[size(piece)]));
        answer.extend(piece);
    }
    answer.extend(words(b"DONE", &[0]));
    answer
}
