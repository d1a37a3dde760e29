//! Scores how well the daemon distinguishes the pages of apps with few resource ids.
//!
//! Each app is a file with one screen per line, labelled with the true name of its page. The authors of the screens had
//! not seen the rules. Those in `tuned` were used to develop the rules, those in `held` were not.

use std::collections::BTreeMap;
use std::path::Path;

use afd_phone::layout::Rng;
use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_phone::wire;
use afd_screen::page::Snapshot;
use afd_screen::page::structure::{self, Structure};
use serde::Deserialize;

use crate::learner::Learner;

/// Density of the screens, dots per inch.
const DENSITY: i32 = 420;

/// A node: class, bounds, text, description, resource id, flags (`clk lng scr edt foc dis inv`), children.
#[derive(Debug, Clone, Deserialize)]
pub struct RawNode {
    c: String,
    b: [i32; 4],
    t: Option<String>,
    d: Option<String>,
    i: Option<String>,
    #[serde(default)]
    f: String,
    #[serde(default)]
    k: Vec<RawNode>,
}

/// A window: type, package, title, layer, whether it has the focus, and its root.
#[derive(Debug, Clone, Deserialize)]
pub struct RawWindow {
    id: i64,
    r#type: String,
    pkg: String,
    title: String,
    layer: i32,
    focused: bool,
    root: RawNode,
}

/// A screen: foreground package and activity, size, windows from the topmost one down.
#[derive(Debug, Clone, Deserialize)]
pub struct RawScreen {
    app: String,
    activity: String,
    size: (i32, i32),
    windows: Vec<RawWindow>,
}

/// A screen and the page that it shows.
#[derive(Debug, Clone, Deserialize)]
pub struct Labelled {
    /// True name of the page.
    pub page: String,
    /// What is special about this screen of the page.
    pub what: String,
    /// The screen.
    pub screen: RawScreen,
}

impl RawNode {
    fn scene(&self) -> Node {
        let has = |flag: &str| self.f.split(',').any(|f| f == flag);
        let [l, t, r, b] = self.b;
        Node {
            res_id: self.i.clone(),
            class: self.c.clone(),
            text: self.t.clone(),
            desc: self.d.clone(),
            bounds: Rect::new(l, t, r, b),
            clickable: has("clk"),
            long_clickable: has("lng"),
            focusable: has("foc"),
            scrollable: has("scr"),
            editable: has("edt"),
            disabled: has("dis"),
            hidden: has("inv"),
            children: self.k.iter().map(RawNode::scene).collect(),
            ..Node::default()
        }
    }
}

impl RawScreen {
    /// Returns the screen as a scene of the practice phone, and the foreground activity.
    pub fn scene(&self) -> (Scene, String) {
        let windows = self.windows.iter().map(|w| Window {
            id: w.id,
            kind: w.r#type.clone().leak(),
            pkg: w.pkg.clone(),
            title: Some(w.title.clone()),
            layer: w.layer,
            focused: w.focused,
            root: w.root.scene(),
        });
        let (width, height) = self.size;
        (
            Scene { windows: windows.collect(), width, height, density: DENSITY },
            format!("{}/{}", self.app, self.activity),
        )
    }

    /// Returns the screen as the daemon reads it from the practice phone.
    pub fn snapshot(&self) -> Snapshot {
        let (scene, activity) = self.scene();
        let text = wire::screen_text(Some(&scene), "SYSTEM_API", Some(&activity), (self.size.0, self.size.1, DENSITY));
        afd_device::autofish::parse_screen(&text).expect("the practice phone's text can be read")
    }

    /// Returns the structure that the daemon derives from the screen.
    pub fn structure(&self) -> Structure {
        structure::of(&self.snapshot()).map(|s| s.front).unwrap_or_default()
    }
}

/// Reads the apps in a directory; returns the screens of each, by name of the app.
///
/// # Panics
/// If a file cannot be read.
pub fn read(dir: &Path) -> BTreeMap<String, Vec<Labelled>> {
    let files = std::fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .filter_map(Result::ok)
        .map(|e| e.path());
    let app = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("reads");
        let screens =
            text.lines().filter(|l| !l.is_empty()).map(|l| serde_json::from_str(l).expect("a screen")).collect();
        (path.file_stem().expect("a name").to_string_lossy().into_owned(), screens)
    };
    files.filter(|p| p.extension().is_some_and(|e| e == "jsonl")).map(app).collect()
}

/// Numbers of pairs of screens, and of those that were classified incorrectly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Pairs of screens of different pages.
    pub different: usize,
    /// Those of them with the same state.
    pub merged: usize,
    /// Pairs of screens of the same page.
    pub same: usize,
    /// Those of them with different states.
    pub split: usize,
}

impl Pairs {
    /// Returns the share of pairs of different pages that have the same state.
    pub fn merged_share(self) -> f64 {
        self.merged as f64 / self.different.max(1) as f64
    }

    /// Returns the share of pairs of the same page that have different states.
    pub fn split_share(self) -> f64 {
        self.split as f64 / self.same.max(1) as f64
    }

    /// Returns the sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            different: self.different + other.different,
            merged: self.merged + other.merged,
            same: self.same + other.same,
            split: self.split + other.split,
        }
    }
}

/// Learns the screens of an app in the given order, or shuffled by a seed other than 0, and compares their states with
/// their pages. Also returns the number of errors by pages.
pub fn score(screens: &[Labelled], seed: u64) -> (Pairs, BTreeMap<String, usize>) {
    let mut order: Vec<usize> = (0..screens.len()).collect();
    let mut rng = Rng::new(seed);
    if seed != 0 {
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i as u64 + 1) as usize);
        }
    }
    let (mut learner, mut states) = (Learner::default(), vec![0; screens.len()]);
    for at in order {
        states[at] = learner.learn(&screens[at].screen.structure());
    }
    let (mut pairs, mut wrong) = (Pairs::default(), BTreeMap::new());
    for (i, a) in screens.iter().enumerate() {
        for (j, b) in screens.iter().enumerate().skip(i + 1) {
            let one = states[i] == states[j];
            if a.page == b.page {
                pairs.same += 1;
                pairs.split += usize::from(!one);
                *wrong.entry(format!("split {}", a.page)).or_default() += usize::from(!one);
            } else {
                pairs.different += 1;
                pairs.merged += usize::from(one);
                *wrong.entry(format!("merged {} and {}", a.page, b.page)).or_default() += usize::from(one);
            }
        }
    }
    wrong.retain(|_, count| *count > 0);
    (pairs, wrong)
}
