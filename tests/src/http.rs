//! A minimal HTTP/1.1 exchange over any stream, for looking at what really goes over the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response, taken apart.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
}

impl Response {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// Takes bytes apart.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|l| l.split(' ').nth(1)).and_then(|s| s.parse().ok()).unwrap_or(0);
        let headers = lines.filter_map(|l| l.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }
}

/// Sends a request over a stream and reads the answer until the other side ends.
pub fn exchange(stream: &mut (impl Read + Write), method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let extra: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{extra}content-length: {}\r\n\r\n{body}", body.len())
        .expect("writes");
    let mut bytes = Vec::new();
    // A connection that is reset after the answer has still given it.
    let _ = stream.read_to_end(&mut bytes);
    Response::parse(&bytes)
}

/// A request to a base URL on loopback.
pub fn request(base: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("sets a time-out");
    exchange(&mut stream, method, path, headers, body)
}
