//! Recordings that UI explorers made on real phones, and scores of how well the daemon recognises states on them.
//!
//! Each screen is processed as if it came from a phone: encoded as the text of the phone's service, parsed by the
//! daemon's code, and reduced to the structure by which states are recognised.

mod disturb;
mod planner;
mod replay;
mod score;
mod walks;

use std::path::{Path, PathBuf};

pub use afd_phone::recording::Recording;
use afd_phone::recording::Screen;
use afd_phone::wire;
use afd_screen::page::structure::{self, Structure};

pub use replay::{Handed, Judged, replay};
pub use score::{Score, score};
pub use walks::{Reached, Walks, walk};

/// Reads all recordings in a directory: pairs of `NAME.states.jsonl.gz` and `NAME.steps.jsonl.gz`, or both without
/// `.gz`.
///
/// # Errors
/// A message that names the file that cannot be read, or a message that the directory contains no recording.
pub fn read(dir: &Path) -> Result<Vec<Recording>, String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    found.sort();
    let names = found.iter().filter_map(|path| Some(path.file_name()?.to_str()?.split_once(".states.jsonl")?.0));
    let recordings: Vec<Recording> = names.map(|name| Recording::read(&dir.join(name))).collect::<Result<_, _>>()?;
    if recordings.is_empty() {
        Err(format!("{} contains no NAME.states.jsonl or NAME.states.jsonl.gz", dir.display()))
    } else {
        Ok(recordings)
    }
}

/// Returns the structure that the daemon derives from a screen.
fn structure_of(screen: &Screen, recording: &Recording) -> Structure {
    let size = recording.size;
    let text = wire::screen_text(
        Some(&recording.scene(screen)),
        "SYSTEM_API",
        Some(&screen.activity),
        (size.0, size.1, recording.scene(screen).density),
    );
    let snapshot = afd_device::autofish::parse_screen(&text).expect("the practice phone's text can be read");
    structure::of(&snapshot).map(|s| s.front).unwrap_or_default()
}

/// Returns the mean of each score.
pub fn average(scores: &[Score]) -> Score {
    let mean = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / scores.len().max(1) as f64;
    Score {
        all: mean(|s| s.all),
        frag: mean(|s| s.frag),
        mix: mean(|s| s.mix),
        robust: mean(|s| s.robust),
        robust_learning: mean(|s| s.robust_learning),
    }
}
