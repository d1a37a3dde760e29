//! Runtime: calls that do not block each other, ordered events, one queue per phone, supervised tasks.

mod calls;
mod hostile;
mod order;
mod repeats;
pub mod tasks;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use afd_tests::World;
use serde_json::{Value, json};

use crate::framings::open;

/// A connection with several calls in flight.
pub struct Pipeline {
    reader: BufReader<UnixStream>,
}

impl Pipeline {
    pub fn new(world: &World) -> Self {
        Self { reader: BufReader::new(open(world)) }
    }

    pub fn send(&mut self, id: u64, method: &str, params: Value) {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.reader.get_mut(), "{call}").expect("writes");
    }

    /// Reads the next message of any kind.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("reads");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line:?}"))
    }

    /// Reads messages until the response to this call, and returns it.
    pub fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }
}

/// Returns the number of calls that wait for the phone or are using it.
fn waiting_calls(world: &World) -> u64 {
    world.client().ok("device.list", json!({}))["devices"][0]["waiting"].as_u64().expect("a number")
}
