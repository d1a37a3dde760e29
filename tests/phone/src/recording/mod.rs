//! Recordings of real phones: distinct screens, and the steps between them. [`play`] makes the phone play one.
//!
//! A recording consists of two files of JSON lines, both with `.gz` or both without. `PREFIX.states.jsonl` has a line for
//! each distinct screen, `PREFIX.steps.jsonl` one for each step, in order of time.

pub mod play;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::scene::{Node, Rect, Scene, Window};

/// Density of the recordings' phones, dots per inch.
const DENSITY: i32 = 420;

/// A recording of one app.
#[derive(Debug)]
pub struct Recording {
    /// Base name of its files.
    pub name: String,
    /// Width and height of the screen, in pixels.
    pub size: (i32, i32),
    /// Screens, by their ids.
    pub screens: HashMap<String, Screen>,
    /// Steps, in order of time.
    pub steps: Vec<Step>,
}

/// A node: id, parent id (-1 for none), class, resource id, text, description, bounds, flags (`c` clickable,
/// `l` long-clickable, `s` scrollable, `e` editable, `d` disabled, `i` invisible, and others).
pub type RawNode = (i64, i64, String, Option<String>, Option<String>, Option<String>, [i32; 4], String);

/// A distinct screen.
#[derive(Debug, Clone, Deserialize)]
pub struct Screen {
    /// Id of its exact content.
    pub state_str: String,
    /// Id of its content-free structure.
    pub structure: String,
    /// Activity in front, as `package/activity`.
    pub activity: String,
    /// Package in front.
    pub package: String,
    /// Nodes in pre-order.
    pub nodes: Vec<RawNode>,
}

/// An action, and the ids of the screens before and after it.
#[derive(Debug, Deserialize)]
pub struct Step {
    /// The action: `type` is `touch`, `long_touch`, `scroll`, `set_text`, `key`, `intent` or `kill_app`, and `target` the
    /// node at which it was aimed.
    pub action: Value,
    /// Id of the screen before it; that screen may be missing.
    pub from: String,
    /// Id of the screen after it; that screen may be missing.
    pub to: String,
    /// Whether it changed nothing.
    pub noop: bool,
}

impl Step {
    /// Returns the type of the action.
    pub fn kind(&self) -> &str {
        self.action["type"].as_str().unwrap_or_default()
    }

    /// Returns a key of the action: its type and the target's id, class and text.
    pub fn key(&self) -> String {
        let target = &self.action["target"];
        format!("{} {} {} {}", self.action["type"], target["rid"], target["cls"], target["text"])
    }

    /// Returns the package that the step launches; `None` if it launches none.
    pub fn package(&self) -> Option<&str> {
        let intent = self.action["intent"].as_str()?;
        intent.split_whitespace().find(|word| word.contains('/'))?.split('/').next()
    }
}

impl Recording {
    /// Reads the recording whose files begin with a prefix, such as `traces/app1`.
    ///
    /// # Errors
    /// A message that names the file that cannot be read.
    pub fn read(prefix: &Path) -> Result<Self, String> {
        let with = |ending: &str| PathBuf::from(format!("{}{ending}", prefix.display()));
        let is_packed = !with(".states.jsonl").exists() && with(".states.jsonl.gz").exists();
        let ending = if is_packed { ".gz" } else { "" };
        let screens: Vec<Screen> = lines(&with(&format!(".states.jsonl{ending}")))?;
        let steps = lines(&with(&format!(".steps.jsonl{ending}")))?;
        let name = prefix.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The root of a full-size window is as large as the screen. Other nodes may exceed the screen, and the `w` and `h`
        // of a recording may belong to the other orientation.
        let roots = || screens.iter().flat_map(|screen| &screen.nodes).filter(|node| node.1 < 0);
        let right = roots().map(|node| node.6[2]).max().unwrap_or_default();
        let bottom = roots().map(|node| node.6[3]).max().unwrap_or_default();
        let screens = screens.into_iter().map(|screen| (screen.state_str.clone(), screen)).collect();
        Ok(Self { name, size: (right, bottom), screens, steps })
    }

    /// Returns a screen as a scene of the phone.
    pub fn scene(&self, screen: &Screen) -> Scene {
        let mut roots = build(&screen.nodes, -1);
        let root = if roots.len() == 1 { roots.remove(0) } else { Node { children: roots, ..Node::default() } };
        let pkg = screen.package.clone();
        let window = Window { id: 1, kind: "APPLICATION", pkg, title: None, layer: 0, focused: true, root };
        let (width, height) = self.size;
        Scene { windows: vec![window], width, height, density: DENSITY }
    }
}

/// Returns the lines of a file, which is packed if its name ends with `.gz`.
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
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(at, line)| serde_json::from_str(line).map_err(|e| in_file(format!("line {}: {e}", at + 1))))
        .collect()
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
