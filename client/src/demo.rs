//! The tour: a private daemon and a practice phone in a temporary directory, and a real task through the public interface.

mod story;
mod world;

use std::io::IsTerminal;
use std::time::Duration;

use crate::cli::Demo;
use story::Story;
use world::{Interrupted, World};

/// Plays it. Everything that it starts ends with it.
pub fn run(options: &Demo) -> u8 {
    let usual = if std::io::stdout().is_terminal() { 700 } else { 0 };
    let pause = Duration::from_millis(options.pause_ms.unwrap_or(usual).min(10_000));
    let played = World::start(options.seed).and_then(|world| Story::new(world, options.seed, pause).play());
    match played {
        Ok(()) => 0,
        Err(Interrupted(why)) => {
            eprintln!("afctl demo: {why}");
            crate::outcome::FAILED
        }
    }
}
