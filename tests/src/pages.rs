//! A web server on loopback for tests: pages by their paths.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use std::sync::Mutex;

/// A running web server. It stops when it is dropped.
pub struct Pages {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stopped: Arc<AtomicBool>,
}

impl Pages {
    /// Starts a server with these pages: path and HTML. A page `hang` is never answered.
    pub fn start(pages: &'static [(&'static str, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("an address");
        let (requests, stopped) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (seen, stop) = (requests.clone(), stopped.clone());
        std::thread::spawn(move || {
            let hanging = Arc::<Mutex<Vec<TcpStream>>>::default();
            for stream in listener.incoming().take_while(|_| !stop.load(Ordering::Relaxed)) {
                let Ok(stream) = stream else { continue };
                let (seen, hanging) = (seen.clone(), hanging.clone());
                // A browser opens connections that it may not use.
                std::thread::spawn(move || {
                    let unanswered = answer(stream, pages, &seen);
                    hanging.lock().expect("the list").extend(unanswered);
                });
            }
        });
        Self { address, requests, stopped }
    }

    /// Returns the URL of the server, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the paths that were requested so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the list").clone()
    }
}

/// Answers a request. Returns the connection if it is never to be answered.
fn answer(stream: TcpStream, pages: &[(&str, &str)], seen: &Mutex<Vec<String>>) -> Option<TcpStream> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().and_then(Result::ok)?;
    // The browser sends nothing after the headers.
    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let page = pages.iter().find(|(known, _)| *known == path.split('?').next().unwrap_or_default());
    seen.lock().expect("the list").push(path);
    let (status, html) = page.map_or(("404 Not Found", ""), |(_, html)| ("200 OK", html));
    if html == "hang" {
        return Some(stream);
    }
    let length = html.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\ncontent-length: {length}"
    );
    let _ = write!(&stream, "{head}\r\n\r\n{html}");
    None
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}
