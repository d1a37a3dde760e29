//! Recordings that UI explorers made on real phones, and scores of how well the daemon recognises states on them.
//!
//! Each screen is processed as if it came from a phone: encoded as the text of the phone's service, parsed by the
//! daemon's code, and reduced to the structure by which states are recognised.

mod disturb;
mod replay;
mod score;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_phone::wire;
use afd_screen::page::structure::{self, Structure};
use serde::Deserialize;
use serde_json::Value;

pub use replay::{Handed, Judged, replay};
pub use score::{Score, score};

/// Density of the recordings' phones, dots per inch.
const DENSITY: i32 = 420;

/// A recording of one app.
pub struct Recording {
    /// Base name of its files.
    pub name: String,
    /// Width and height of the screen, in pixels.
    size: (i32, i32),
    screens: HashMap<String, Screen>,
    steps: Vec<Step>,
}

/// A node: id, parent id (-1 for none), class, resource id, text, description, bounds, flags.
type RawNode = (i64, i64, String, Option<String>, Option<String>, Option<String>, [i32; 4], String);

/// A distinct screen.
#[derive(Debug, Clone, Deserialize)]
struct Screen {
    state_str: String,
    structure: String,
    activity: String,
    package: String,
    nodes: Vec<RawNode>,
}

/// An action and the `state_str` of the screens before and after it.
#[derive(Debug, Deserialize)]
struct Step {
    action: Value,
    from: String,
    to: String,
    noop: bool,
}

/// Reads all recordings in a directory: pairs of `NAME.states.jsonl.gz` and `NAME.steps.jsonl.gz`, or both without
/// `.gz`.
///
/// # Errors
/// A message that names the file that cannot be read, or a message that the directory contains no recording.
pub fn read(dir: &Path) -> Result<Vec<Recording>, String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    found.sort();
    let states = found.iter().filter_map(|p| Some((p, p.file_name()?.to_str()?.split_once(".states.jsonl")?)));
    let recordings: Vec<Recording> = states
        .map(|(path, (name, ending))| recording(path, &dir.join(format!("{name}.steps.jsonl{ending}")), name))
        .collect::<Result<_, _>>()?;
    if recordings.is_empty() {
        Err(format!("{} contains no NAME.states.jsonl or NAME.states.jsonl.gz", dir.display()))
    } else {
        Ok(recordings)
    }
}

fn recording(states: &Path, steps: &Path, name: &str) -> Result<Recording, String> {
    let screens: Vec<Screen> = lines(states)?;
    // The root of a full-size window is as large as the screen. Other nodes may exceed the screen, and the `w` and `h`
    // of a recording may belong to the other orientation.
    let roots = || screens.iter().flat_map(|s| &s.nodes).filter(|n| n.1 < 0);
    let right = roots().map(|n| n.6[2]).max().unwrap_or_default();
    let bottom = roots().map(|n| n.6[3]).max().unwrap_or_default();
    let screens = screens.into_iter().map(|s| (s.state_str.clone(), s)).collect();
    Ok(Recording { name: name.to_owned(), size: (right, bottom), screens, steps: lines(steps)? })
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let in_file = |e: String| format!("{}: {e}", path.display());
    let bytes = std::fs::read(path).map_err(|e| in_file(e.to_string()))?;
    let text = if path.extension().is_some_and(|e| e == "gz") {
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).map_err(|e| in_file(e.to_string()))?;
        text
    } else {
        String::from_utf8(bytes).map_err(|e| in_file(e.to_string()))?
    };
    text.lines()
        .filter(|l| !l.is_empty())
        .map(|l| serde_json::from_str(l).map_err(|e| in_file(e.to_string())))
        .collect()
}

/// Converts a screen to a scene of the practice phone.
fn scene_of(screen: &Screen, size: (i32, i32)) -> Scene {
    let mut roots = build(&screen.nodes, -1);
    let root = if roots.len() == 1 { roots.remove(0) } else { Node { children: roots, ..Node::default() } };
    let window =
        Window { id: 1, kind: "APPLICATION", pkg: screen.package.clone(), title: None, layer: 0, focused: true, root };
    let (width, height) = size;
    Scene { windows: vec![window], width, height, density: DENSITY }
}

/// Returns the structure that the daemon derives from a screen.
fn structure_of(screen: &Screen, size: (i32, i32)) -> Structure {
    let text = wire::screen_text(
        Some(&scene_of(screen, size)),
        "SYSTEM_API",
        Some(&screen.activity),
        (size.0, size.1, DENSITY),
    );
    let snapshot = afd_device::autofish::parse_screen(&text).expect("the practice phone's text can be read");
    structure::of(&snapshot).map(|s| s.front).unwrap_or_default()
}

fn build(nodes: &[RawNode], parent: i64) -> Vec<Node> {
    let mut children: HashMap<i64, Vec<&RawNode>> = HashMap::new();
    nodes.iter().for_each(|n| children.entry(n.1).or_default().push(n));
    fn below(children: &HashMap<i64, Vec<&RawNode>>, parent: i64) -> Vec<Node> {
        let make = |n: &&RawNode| {
            let (id, _, class, res_id, text, desc, [l, t, r, b], flags) = n;
            let has = |flag| flags.contains(flag);
            Node {
                res_id: res_id.clone(),
                class: class.clone(),
                text: text.clone(),
                desc: desc.clone(),
                bounds: Rect::new(*l, *t, *r, *b),
                clickable: has('c'),
                long_clickable: has('l'),
                scrollable: has('s'),
                editable: has('e'),
                disabled: has('d'),
                hidden: has('i'),
                children: below(children, *id),
                ..Node::default()
            }
        };
        children.get(&parent).map(|list| list.iter().map(make).collect()).unwrap_or_default()
    }
    below(&children, parent)
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
