//! A Qdrant server for tests: the one at `AFD_TEST_QDRANT_URL`, behind a proxy that can simulate an outage.
//! `tests/qdrant/serve.py` is a suitable server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::http;

/// A collection prefix on the Qdrant server. Dropping it deletes the collections with this prefix.
pub struct TestQdrant {
    url: String,
    prefix: String,
    gate: Gate,
}

impl TestQdrant {
    /// Returns a unique prefix.
    ///
    /// # Panics
    /// If `AFD_TEST_QDRANT_URL` is not set.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let url = std::env::var("AFD_TEST_QDRANT_URL").expect("needs AFD_TEST_QDRANT_URL");
        let prefix = format!("afd-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { gate: Gate::start(url.trim_start_matches("http://")), url, prefix }
    }

    /// Returns the settings of a daemon that uses this prefix, as lines of the table `recall`.
    pub fn settings(&self) -> String {
        format!(
            "qdrant_url = \"http://127.0.0.1:{}\"\nqdrant_collection = \"{}\"\nqdrant_retry_ms = 20\n",
            self.gate.port, self.prefix
        )
    }

    /// Returns the URL of the server for daemons, which leads through the proxy.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.gate.port)
    }

    /// Simulates an outage: closes all connections, and accepts no new ones until [`TestQdrant::open`].
    pub fn shut(&self) {
        self.gate.shared.open.store(false, Ordering::SeqCst);
        for stream in self.gate.shared.streams.lock().expect("streams").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Accepts connections again.
    pub fn open(&self) {
        self.gate.shared.open.store(true, Ordering::SeqCst);
    }

    /// Calls the server directly, without the proxy, and returns status and body.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let response =
            http::request(&self.url, method, path, &[("content-type", "application/json")], &body.to_string());
        (response.status, serde_json::from_str(&response.body).unwrap_or(Value::Null))
    }

    /// Returns the names of its collections.
    pub fn collections(&self) -> Vec<String> {
        let (_, all) = self.call("GET", "/collections", &Value::Null);
        let names = all["result"]["collections"].as_array().expect("collections").iter();
        names
            .filter_map(|c| c["name"].as_str())
            .filter(|name| name.starts_with(&format!("{}-", self.prefix)))
            .map(str::to_owned)
            .collect()
    }

    /// Returns the points of all its collections.
    pub fn points(&self) -> Vec<Value> {
        let mut points = Vec::new();
        for name in self.collections() {
            let (status, found) = self.call(
                "POST",
                &format!("/collections/{name}/points/scroll"),
                &json!({"limit": 10_000, "with_payload": true}),
            );
            assert_eq!(status, 200, "{found}");
            points.extend(found["result"]["points"].as_array().expect("points").iter().cloned());
        }
        points
    }
}

impl Drop for TestQdrant {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            for name in self.collections() {
                self.call("DELETE", &format!("/collections/{name}"), &Value::Null);
            }
        }
    }
}

struct Shared {
    open: AtomicBool,
    stopped: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

/// A proxy that forwards connections to an address while it is open.
struct Gate {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Gate {
    fn start(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            open: AtomicBool::new(true),
            stopped: AtomicBool::new(false),
            streams: Mutex::default(),
        });
        let (own, address) = (shared.clone(), address.to_owned());
        let thread = std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if own.stopped.load(Ordering::SeqCst) {
                    return;
                }
                if own.open.load(Ordering::SeqCst)
                    && let Ok(far) = TcpStream::connect(&address)
                {
                    pass(&own, &near, &far);
                    pass(&own, &far, &near);
                }
            }
        });
        Self { port, shared, thread: Some(thread) }
    }
}

/// Forwards data from one connection to another until one of them ends.
fn pass(shared: &Shared, from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().expect("a clone"), to.try_clone().expect("a clone"));
    shared.streams.lock().expect("streams").push(from.try_clone().expect("a clone"));
    std::thread::spawn(move || {
        let mut buffer = [0; 16_384];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        for stream in self.shared.streams.lock().expect("streams").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wake the thread that accepts connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
