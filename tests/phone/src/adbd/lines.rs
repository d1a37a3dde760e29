//! Command lines over both versions of the shell's protocol, and the lines that are typed into a shell.

use super::{AdbStream, CLSE, MAX_DATA, OKAY, StreamEvent};
use crate::server::{Shared, lock};
use crate::shell::{self, Output};

/// Runs a command line on a thread of its own, because commands may take their time.
pub(super) async fn executed(phone: &Shared, command: String, input: Vec<u8>) -> Output {
    *lock(phone).requests.entry("adb:command".to_owned()).or_default() += 1;
    let phone = phone.clone();
    tokio::task::spawn_blocking(move || shell::run(&phone, &command, &input)).await.unwrap_or_default()
}

/// Runs a command line with version 2 of the shell's protocol: packets for each stream, and the exit code at the end.
pub(super) async fn shell_v2(mut adb: AdbStream, phone: Shared, command: String) {
    if command.is_empty() {
        return lines(adb, phone, true).await;
    }
    let done = executed(&phone, command, Vec::new()).await;
    let mut answer = Vec::new();
    for (id, data) in [(1, &done.tty), (1, &done.out), (2, &done.err)] {
        data.chunks(MAX_DATA as usize / 2).for_each(|chunk| answer.extend(packet(id, chunk)));
    }
    answer.extend(packet(3, &[done.code]));
    adb.send(&answer).await;
    adb.send_message(CLSE, []);
}

/// Returns a packet of version 2 of the shell's protocol.
fn packet(id: u8, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    [&[id][..], &length.to_le_bytes(), data].concat()
}

/// What arrives on the standard input of a shell: bytes as they are, or in packets of version 2 of the protocol.
struct Input {
    is_v2: bool,
    bytes: Vec<u8>,
    typed: Vec<u8>,
    /// Whether the input has ended.
    ended: bool,
}

impl Input {
    fn add(&mut self, data: &[u8]) {
        if !self.is_v2 {
            self.typed.extend(data);
            return;
        }
        self.bytes.extend(data);
        while let [id, a, b, c, d, rest @ ..] = self.bytes.as_slice() {
            let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            let (id, Some(content)) = (*id, rest.get(..length)) else { return };
            match id {
                0 => self.typed.extend(content),
                4 => self.ended = true,
                _ => {}
            }
            self.bytes.drain(..5 + length);
        }
    }

    fn line(&mut self) -> Option<String> {
        let end = self.typed.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = end.or_else(|| (self.ended && !self.typed.is_empty()).then(|| self.typed.len() - 1))?;
        let line: Vec<u8> = self.typed.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    }
}

/// Runs the lines that a person or a program types, one after the other.
pub(super) async fn lines(mut adb: AdbStream, phone: Shared, is_v2: bool) {
    let mut input = Input { is_v2, bytes: Vec::new(), typed: Vec::new(), ended: false };
    let mut code = 0;
    while let Some(event) = adb.events.recv().await {
        match event {
            StreamEvent::Data(data) => {
                adb.send_message(OKAY, []);
                input.add(&data);
            }
            StreamEvent::Acknowledged(_) => {}
            StreamEvent::Close => return,
        }
        while let Some(line) = input.line() {
            if let Some(given) = line.strip_prefix("exit") {
                code = given.trim().parse().unwrap_or(code);
                input.ended = true;
                input.typed.clear();
                break;
            }
            let done = executed(&phone, line, Vec::new()).await;
            code = done.code;
            let text = [done.tty, done.out, done.err].concat();
            let answer = if is_v2 { packet(1, &text) } else { text };
            if !answer.is_empty() && !adb.send(&answer).await {
                return;
            }
        }
        if input.ended {
            if is_v2 {
                adb.send(&packet(3, &[code])).await;
            }
            break;
        }
    }
    adb.send_message(CLSE, []);
}
