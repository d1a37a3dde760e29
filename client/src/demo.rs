//! The guided tour: a private daemon, a practice phone or site, and a real task done through the public interface.

mod agent;
mod reader;
mod story;
mod world;

use std::io::IsTerminal;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches};

use afd_link::options::Context;
use story::Story;
use world::{DemoError, Kind, World};

/// Options for `demo`.
#[derive(Debug, Clone, Args)]
pub struct Demo {
    /// Use a browser and a practice site instead of a practice phone; needs Chromium or Chrome
    #[arg(long)]
    browser: bool,
    /// Seed from which the practice phone and the task are generated
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pause before each step in milliseconds [default: 700 on a terminal, 0 in a pipe]
    #[arg(long, value_name = "MS")]
    pause_ms: Option<u64>,
}

/// Runs the tour; at the end, stops everything that it started.
pub fn run(matches: &ArgMatches, _: &Context) -> Result<u8, clap::Error> {
    Ok(play(&Demo::from_arg_matches(matches)?))
}

fn play(options: &Demo) -> u8 {
    let default = if std::io::stdout().is_terminal() { 700 } else { 0 };
    let pause = Duration::from_millis(options.pause_ms.unwrap_or(default).min(10_000));
    let kind = if options.browser { Kind::Browser } else { Kind::Phone };
    let played = World::start(kind, options.seed).and_then(|world| Story::new(kind, world, options.seed, pause).play());
    match played {
        Ok(()) => 0,
        Err(DemoError(message)) => {
            eprintln!("afctl demo: {message}");
            afd_link::outcome::FAILED
        }
    }
}
