//! `afctl events`: the live stream.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::cli::{Follow, Format, Global};
use crate::dial::{Purpose, connect, failure};
use crate::human;
use crate::outcome::Outcome;
use crate::output::{effective, print};
use crate::safe;

/// Prints messages until there are enough, or the stream ends.
pub fn run(global: &Global, options: &Follow) -> u8 {
    let fail = |f| {
        let outcome = Outcome { category: "events".into(), op: "subscribe".into(), result: Err(f) };
        print(&outcome, global.output);
        outcome.exit()
    };
    let mut connection = match connect(global, Purpose::Call) {
        Ok(connection) => connection,
        Err(error) => return fail(error),
    };
    let mut params = Map::new();
    let mut put = |name: &str, value: Option<Value>| value.map(|v| params.insert(name.to_owned(), v));
    put("since", options.since.map(|s| json!(s)));
    put("session", options.for_session.clone().map(|s| json!(s)));
    put("device", options.for_device.clone().or_else(|| global.device.clone()).map(|d| json!(d)));
    if let Err(error) = connection.call("events.subscribe", Value::Object(params)) {
        return fail(failure(error, global));
    }
    let human = effective(global.output) == Format::Human;
    let mut left = options.count.unwrap_or(u64::MAX);
    while left > 0 {
        let mut message = match connection.notification() {
            Ok(message) => message,
            Err(error) => return fail(failure(error.into(), global)),
        };
        let line = if human {
            safe::value(&mut message);
            human::live(&message)
        } else {
            safe::json(&message.to_string())
        };
        let mut out = anstream::stdout();
        // A reader that goes away ends the stream.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            return 0;
        }
        left -= 1;
    }
    0
}
