//! Framing: splitting a byte stream into JSON-RPC messages, for the two framings that are used directly on a socket.

/// Framing of the messages in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON text per line, terminated by `\n`. A `\r` before the `\n` is ignored, and so are empty lines.
    Line,
    /// `Content-Length: N` headers, an empty line, then N bytes, as in the Language Server Protocol.
    ContentLength,
}

/// An error after which the stream cannot be decoded any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameError {
    /// A message is larger than the decoder's limit.
    TooLarge {
        /// Maximum message size, in bytes.
        limit: usize,
    },
    /// The header block is malformed; the string is the reason.
    BadHeader(String),
}

impl std::fmt::Display for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FrameError::TooLarge { limit } => write!(f, "a message exceeds the limit of {limit} bytes"),
            FrameError::BadHeader(what) => write!(f, "the message header is malformed: {what}"),
        }
    }
}

impl std::error::Error for FrameError {}

/// Maximum size of a header block, in bytes.
const MAX_HEADER: usize = 4096;

/// Maximum buffer capacity that an empty decoder keeps, in bytes. Without this limit, an idle connection would keep a
/// buffer as large as its largest message.
const MAX_IDLE_CAPACITY: usize = 64 << 10;

/// Decoder that buffers bytes and yields complete messages. Its buffer is bounded by the message limit plus one read,
/// and is cleared once all of its messages have been yielded.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    limit: usize,
    buffer: Vec<u8>,
    /// End of the part of the buffer that was already searched for a line end.
    searched: usize,
    /// Start of the bytes that have not been yielded yet.
    start: usize,
}

impl Decoder {
    /// Creates a decoder for messages of at most `limit` bytes.
    pub fn new(framing: Framing, limit: usize) -> Self {
        Self { framing, limit, buffer: Vec::new(), searched: 0, start: 0 }
    }

    /// Appends bytes that were read from the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Clears the buffer if all of its bytes have been yielded.
    fn release(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            (self.start, self.searched) = (0, 0);
            if self.buffer.capacity() > MAX_IDLE_CAPACITY {
                self.buffer = Vec::new();
            }
        }
    }

    /// Returns the capacity of the buffer, in bytes.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Returns whether the buffer holds part of a message.
    pub fn is_partial(&self) -> bool {
        self.buffer[self.start..].iter().any(|b| !b.is_ascii_whitespace())
    }

    /// Returns the next complete message, or `None` if more bytes are needed.
    ///
    /// # Errors
    /// Returns a [`FrameError`] as soon as the message is known to be too large or malformed; the stream cannot be used
    /// afterwards.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        match self.framing {
            Framing::Line => self.next_line(),
            Framing::ContentLength => self.next_body(),
        }
    }

    /// Returns the last line of a stream that has ended without a line terminator, or `None` if nothing is left or the
    /// framing is not [`Framing::Line`].
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer[self.start..].trim_ascii().to_vec();
        self.start = self.buffer.len();
        self.release();
        (self.framing == Framing::Line && !rest.is_empty()).then_some(rest)
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        loop {
            let Some(at) = self.buffer[self.searched..].iter().position(|b| *b == b'\n') else {
                self.searched = self.buffer.len();
                return self.check(self.buffer.len() - self.start).map(|()| None);
            };
            let end = self.searched + at;
            self.check(end - self.start)?;
            let line = self.buffer[self.start..end].trim_ascii().to_vec();
            self.start = end + 1;
            self.searched = self.start;
            self.release();
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
    }

    fn next_body(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let bytes = &self.buffer[self.start..];
        let Some((header_end, gap)) = header_end(bytes) else {
            if bytes.len() > MAX_HEADER {
                return Err(FrameError::BadHeader(format!("no empty line within {MAX_HEADER} bytes")));
            }
            return Ok(None);
        };
        let length = content_length(&bytes[..header_end])?;
        self.check(length)?;
        let body = header_end + gap;
        if bytes.len() < body + length {
            return Ok(None);
        }
        let message = bytes[body..body + length].to_vec();
        self.start += body + length;
        self.searched = self.start;
        self.release();
        Ok(Some(message))
    }

    fn check(&self, length: usize) -> Result<(), FrameError> {
        if length > self.limit { Err(FrameError::TooLarge { limit: self.limit }) } else { Ok(()) }
    }
}

/// Returns the end of the header block and the length of the empty line that follows it, or `None` if there is no empty
/// line within [`MAX_HEADER`] bytes.
fn header_end(bytes: &[u8]) -> Option<(usize, usize)> {
    let window = &bytes[..bytes.len().min(MAX_HEADER)];
    let crlf = window.windows(4).position(|w| w == b"\r\n\r\n").map(|at| (at, 4));
    let lf = window.windows(2).position(|w| w == b"\n\n").map(|at| (at, 2));
    match (crlf, lf) {
        (Some(a), Some(b)) => Some(if a.0 < b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

fn content_length(header: &[u8]) -> Result<usize, FrameError> {
    let text = std::str::from_utf8(header).map_err(|_| FrameError::BadHeader("not UTF-8".into()))?;
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            return value.trim().parse().map_err(|_| {
                FrameError::BadHeader(format!("Content-Length is {:?}, expected a number", value.trim()))
            });
        }
    }
    Err(FrameError::BadHeader("no Content-Length".into()))
}

/// Encodes a message for a stream with the given framing.
pub fn encode(framing: Framing, message: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 32);
    encode_into(framing, message, &mut out);
    out
}

/// Encodes a message for a stream with the given framing, and appends it to `out`.
pub fn encode_into(framing: Framing, message: &str, out: &mut Vec<u8>) {
    if framing == Framing::ContentLength {
        out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes());
    }
    out.extend_from_slice(message.as_bytes());
    if framing == Framing::Line {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_in_chunks(framing: Framing, stream: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let mut decoder = Decoder::new(framing, 1000);
        let mut out = Vec::new();
        for part in stream.chunks(chunk) {
            decoder.push(part);
            while let Some(message) = decoder.next_message().expect("valid stream") {
                out.push(message);
            }
        }
        out
    }

    #[test]
    fn messages_do_not_depend_on_chunking() {
        let messages = ["{\"a\":1}", "[1,2]", "\"\u{1F600} \u{4e2d}\""];
        for framing in [Framing::Line, Framing::ContentLength] {
            let stream: Vec<u8> = messages.iter().flat_map(|m| encode(framing, m)).collect();
            for chunk in 1..=stream.len() {
                let got = decode_in_chunks(framing, &stream, chunk);
                assert_eq!(got, messages.map(|m| m.as_bytes().to_vec()), "{framing:?} in chunks of {chunk}");
            }
        }
    }

    #[test]
    fn oversized_message_is_rejected_before_it_is_buffered() {
        let mut line = Decoder::new(Framing::Line, 10);
        line.push(b"12345678901");
        assert_eq!(line.next_message(), Err(FrameError::TooLarge { limit: 10 }));
        let mut body = Decoder::new(Framing::ContentLength, 10);
        body.push(b"Content-Length: 11\r\n\r\n");
        assert_eq!(body.next_message(), Err(FrameError::TooLarge { limit: 10 }));
    }

    #[test]
    fn malformed_headers_are_reported() {
        for (header, word) in
            [("X: 1\r\n\r\n", "no Content-Length"), ("Content-Length: x\r\n\r\n", "expected a number")]
        {
            let mut decoder = Decoder::new(Framing::ContentLength, 10);
            decoder.push(header.as_bytes());
            let error = decoder.next_message().expect_err("bad header");
            assert!(error.to_string().contains(word), "{error}");
        }
        let mut endless = Decoder::new(Framing::ContentLength, 10);
        endless.push(&[b'C'; MAX_HEADER + 1]);
        assert!(endless.next_message().is_err());
    }

    #[test]
    fn buffer_shrinks_after_a_large_message() {
        for framing in [Framing::Line, Framing::ContentLength] {
            let mut decoder = Decoder::new(framing, 10 << 20);
            decoder.push(&encode(framing, &"x".repeat(8 << 20)));
            assert_eq!(decoder.next_message().expect("valid").map(|m| m.len()), Some(8 << 20));
            assert!(decoder.capacity() <= MAX_IDLE_CAPACITY, "{framing:?} keeps {} bytes", decoder.capacity());
            decoder.push(&encode(framing, "{}"));
            assert_eq!(decoder.next_message(), Ok(Some(b"{}".to_vec())));
        }
    }

    #[test]
    fn last_line_needs_no_line_end() {
        let mut decoder = Decoder::new(Framing::Line, 100);
        decoder.push(b"{}\n \r\n[1]");
        assert_eq!(decoder.next_message(), Ok(Some(b"{}".to_vec())));
        assert_eq!(decoder.next_message(), Ok(None));
        assert!(decoder.is_partial());
        assert_eq!(decoder.finish(), Some(b"[1]".to_vec()));
        assert_eq!(decoder.finish(), None);
    }
}
