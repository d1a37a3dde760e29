//! A minimal HTTP/1.1 client over any stream, for tests of the actual bytes on the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A parsed response.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Headers, in the order in which they were sent.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
}

impl Response {
    /// Returns the value of a header; the name is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// Parses a response; the status is 0 if the first line is malformed.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|l| l.split(' ').nth(1)).and_then(|s| s.parse().ok()).unwrap_or(0);
        let headers = lines.filter_map(|l| l.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }
}

/// Sends a request over a stream and reads the response until the other side closes.
pub fn exchange(
    stream: &mut (impl Read + Write),
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let extra: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{extra}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    // The server may refuse the request after its first line, and close the connection before the rest is written.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    // A reset after the response does not matter.
    let _ = stream.read_to_end(&mut bytes);
    Response::parse(&bytes)
}

/// Sends a request to a base URL on loopback.
pub fn request(base: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("sets a timeout");
    exchange(&mut stream, method, path, headers, body)
}
