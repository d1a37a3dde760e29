//! The runtime: calls that cannot block each other, events in order, one order per phone, tasks that are watched.

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

/// A connection on which several calls are under way at once.
struct Pipeline {
    reader: BufReader<UnixStream>,
}

impl Pipeline {
    fn new(world: &World) -> Self {
        Self { reader: BufReader::new(open(world)) }
    }

    fn send(&mut self, id: u64, method: &str, params: Value) {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.reader.get_mut(), "{call}").expect("writes");
    }

    /// The next message, whatever it is.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("reads");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line:?}"))
    }

    /// The answer to a call.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }
}

/// How many calls wait for the phone or hold it.
fn waiting(world: &World) -> u64 {
    world.client().ok("device.list", json!({}))["devices"][0]["waiting"].as_u64().expect("a number")
}
