//! `afctl events`: follows the live event stream.

use std::io::Write;

use afd_proto::Method;
use afd_proto::events::{EventsSubscribe, SubscribeParams};
use clap::{ArgMatches, Args, FromArgMatches};

use crate::output::{effective, print};
use afd_link::dial::{Purpose, connect, failure};
use afd_link::human;
use afd_link::options::{Context, Format};
use afd_link::outcome::{Failure, Outcome};
use afd_link::safe;

/// Options for `events`.
#[derive(Debug, Args)]
pub struct Follow {
    /// Start with the events after this cursor (the `cursor` of an event; 0 for all events)
    #[arg(long, value_name = "CURSOR", allow_negative_numbers = true)]
    since: Option<i64>,
    /// Only messages from this session
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only messages about this device
    #[arg(long, value_name = "NAME")]
    for_device: Option<String>,
    /// Exit after this many messages
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

/// Prints messages until the requested number is reached or the stream ends; returns the exit code.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let options = Follow::from_arg_matches(matches)?;
    let format = context.global.output;
    Ok(follow(options, context).err().map_or(0, |failure| {
        let outcome = Outcome::failed("events", "subscribe", failure);
        print(&outcome, format);
        outcome.exit()
    }))
}

fn follow(options: Follow, context: &Context) -> Result<(), Failure> {
    let global = &context.global;
    let mut connection = connect(global, Purpose::Call)?;
    let Follow { since, for_session, for_device, count } = options;
    let params = SubscribeParams { since, session: for_session, device: for_device.or_else(|| global.device.clone()) };
    connection.call_raw(EventsSubscribe::INFO.name, &params).map_err(|e| failure(e, global))?;
    let human = effective(global.output) == Format::Human;
    for _ in 0..count.unwrap_or(u64::MAX) {
        let mut message = connection.notification().map_err(|e| failure(e.into(), global))?;
        let line = if human {
            safe::value(&mut message);
            // A message of a type unknown to this version is shown as JSON.
            serde_json::from_value(message.clone()).map_or_else(|_| message.to_string(), |sent| human::live(&sent))
        } else {
            safe::json(&message.to_string())
        };
        let mut out = anstream::stdout();
        // Stop if the reader has closed the pipe.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    Ok(())
}
