//! Taps by label, alias and text on random screens: no tap hits an element other than the one that the result names.
//!
//! A screen has rows, overlapping buttons, parts outside the screen, equal labels and system bars, and sometimes a
//! dialog, a banner, a keyboard, or an overlay that is first in the tree. The phone decides which element is drawn on
//! top, and its log shows which element was hit. `AFD_TAPS` sets the number of taps, by default 200.

use afd_phone::layout::Rng;
use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_tests::{Client, World};
use serde_json::{Value, json};

const WIDTH: i32 = 1080;
const HEIGHT: i32 = 2400;
/// Maximum number of taps per screen.
const TAPS_PER_SCREEN: usize = 25;
/// Words for labels. There are only a few, so that labels are equal or contain each other.
const WORDS: [&str; 14] = [
    "Home",
    "Save",
    "Save as",
    "Display",
    "Dark theme",
    "Sound",
    "Sound and display",
    "Back",
    "Send",
    "Details",
    "Open",
    "Pay",
    "Wi-Fi",
    "More",
];

/// Builds random screens in which every node has a unique id.
struct Screens {
    rng: Rng,
    next: usize,
}

impl Screens {
    fn below(&mut self, n: i32) -> i32 {
        i32::try_from(self.rng.below(u64::from(n.unsigned_abs()))).expect("small")
    }

    fn chance(&mut self, percent: i32) -> bool {
        self.below(100) < percent
    }

    fn word(&mut self) -> String {
        WORDS[self.rng.below(WORDS.len() as u64) as usize].to_owned()
    }

    fn node(&mut self, class: &str, bounds: Rect) -> Node {
        self.next += 1;
        Node {
            res_id: Some(format!("org.example.random:id/n{}", self.next)),
            ..Node::new(&format!("android.widget.{class}"), bounds)
        }
    }

    fn text(&mut self, bounds: Rect) -> Node {
        Node { text: Some(self.word()), ..self.node("TextView", bounds) }
    }

    fn button(&mut self, bounds: Rect) -> Node {
        let disabled = self.chance(8);
        Node { text: Some(self.word()), clickable: true, disabled, ..self.node("Button", bounds) }
    }

    /// Returns a clickable row with a title, optionally a detail text, and optionally a switch that is itself
    /// clickable.
    fn row(&mut self, top: i32) -> Node {
        let bounds = Rect::new(0, top, WIDTH, top + 180);
        let mut children = vec![self.text(Rect::new(60, top + 20, 500, top + 80))];
        if self.chance(50) {
            children.push(self.text(Rect::new(60, top + 100, 600, top + 150)));
        }
        if self.chance(40) {
            let clickable = self.chance(60);
            children.push(Node { clickable, ..self.node("Switch", Rect::new(860, top + 40, 1040, top + 140)) });
        }
        let clickable = self.chance(80);
        Node { clickable, long_clickable: !clickable && self.chance(50), children, ..self.node("LinearLayout", bounds) }
    }

    fn anywhere(&mut self) -> Rect {
        let (left, top) = (self.below(1300) - 200, self.below(2800) - 200);
        Rect::new(left, top, left + 40 + self.below(500), top + 30 + self.below(300))
    }

    fn page(&mut self) -> Node {
        let mut children = vec![self.text(Rect::new(60, 100, 600, 180))];
        let rows: Vec<Node> = (0..self.below(9)).map(|i| self.row(260 + i * 180 - 60)).collect();
        if self.chance(70) {
            let list = self.node("ListView", Rect::new(0, 220, WIDTH, 1500));
            children.push(Node { scrollable: true, children: rows, ..list });
        } else {
            children.extend(rows);
        }
        for _ in 0..self.below(10) {
            let bounds = self.anywhere();
            let mut button = self.button(bounds);
            if self.chance(25) {
                let inner = Rect::new(
                    bounds.l + 5,
                    bounds.t + 5,
                    bounds.l + 25 + self.below(200),
                    bounds.t + 25 + self.below(100),
                );
                button.children.push(self.button(inner));
            }
            children.push(button);
        }
        for _ in 0..self.below(4) {
            let bounds = self.anywhere();
            children.push(self.text(bounds));
        }
        if self.chance(15) {
            let close = Node {
                desc: Some("Close".to_owned()),
                clickable: true,
                ..self.node("ImageButton", Rect::new(960, 63, 1080, 183))
            };
            let offer =
                vec![close, self.text(Rect::new(60, 500, 900, 600)), self.button(Rect::new(60, 1700, 1000, 1850))];
            let mut overlay = self.node("RelativeLayout", Rect::new(0, 0, WIDTH, HEIGHT));
            overlay.res_id = overlay.res_id.map(|id| format!("{id}_overlay"));
            let overlay = Node { clickable: true, elevated: true, children: offer, ..overlay };
            children.insert(0, overlay);
        }
        Node { children, ..self.node("FrameLayout", Rect::new(0, 0, WIDTH, HEIGHT)) }
    }

    fn window(id: i64, kind: &'static str, layer: i32, focused: bool, root: Node) -> Window {
        Window { id, kind, pkg: "org.example.random".to_owned(), title: None, layer, focused, root }
    }

    fn bars(&mut self) -> [Window; 2] {
        let clock = self.text(Rect::new(20, 5, 200, 55));
        let top = Node { children: vec![clock], ..self.node("FrameLayout", Rect::new(0, 0, WIDTH, 60)) };
        let home = Node {
            desc: Some("Home".to_owned()),
            clickable: true,
            ..self.node("ImageView", Rect::new(450, 2280, 630, 2400))
        };
        let bottom = Node { children: vec![home], ..self.node("FrameLayout", Rect::new(0, 2280, WIDTH, HEIGHT)) };
        [Self::window(3, "SYSTEM", 20, false, top), Self::window(4, "SYSTEM", 19, false, bottom)]
    }

    fn scene(&mut self) -> Scene {
        let page = self.page();
        let mut windows: Vec<Window> = self.bars().into();
        let mut focused = true;
        match self.below(10) {
            0 | 1 => {
                let top = 600 + self.below(600);
                let buttons = vec![
                    self.text(Rect::new(120, top + 30, 900, top + 100)),
                    self.button(Rect::new(120, top + 200, 900, top + 300)),
                ];
                let panel = Node { children: buttons, ..self.node("FrameLayout", Rect::new(90, top, 990, top + 400)) };
                let kind = if self.chance(50) { "SYSTEM" } else { "APPLICATION" };
                windows.push(Self::window(30, kind, 5, true, panel));
                focused = false;
            }
            2 => {
                let reply = vec![self.text(Rect::new(60, 110, 900, 190)), self.button(Rect::new(60, 230, 400, 330))];
                let banner = Node { children: reply, ..self.node("FrameLayout", Rect::new(30, 80, 1050, 360)) };
                windows.push(Self::window(31, "SYSTEM", 10, false, banner));
            }
            3 => {
                let keys = (0..3).map(|i| self.button(Rect::new(i * 108, 1600, i * 108 + 108, 1760))).collect();
                let keyboard = Node { children: keys, ..self.node("FrameLayout", Rect::new(0, 1560, WIDTH, HEIGHT)) };
                windows.push(Self::window(32, "INPUT_METHOD", 6, false, keyboard));
            }
            _ => {}
        }
        windows.push(Self::window(12, "APPLICATION", 0, focused, page));
        windows.sort_by_key(|w| -w.layer);
        Scene { windows, width: WIDTH, height: HEIGHT, density: 420 }
    }
}

/// Returns values with which elements of a screen can be tapped: aliases, labels and texts.
fn values(client: &mut Client, scene: &Scene) -> Vec<Value> {
    let refs = client.ok("observe.refs", json!({"full": true, "hints": false}));
    let rows = refs["rows"].as_array().cloned().unwrap_or_default();
    let named = |key: &str| {
        rows.iter().map(|r| r[key].clone()).filter(|v| v.as_str().is_some_and(|v| !v.is_empty())).collect::<Vec<_>>()
    };
    let texts = scene.flat().into_iter().filter_map(|f| f.node.text.clone()).map(Value::String);
    [named("ref"), named("label")].concat().into_iter().chain(texts).collect()
}

/// Returns whether a node or one of its descendants has this id.
fn contains(node: &Node, id: Option<&str>) -> bool {
    node.res_id.as_deref() == id || node.children.iter().any(|c| contains(c, id))
}

#[test]
fn no_tap_lands_on_anything_but_what_the_answer_names() {
    let wanted: usize = std::env::var("AFD_TAPS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let world = World::with(afd_tests::TestPhone::start(), "[observe]\nafter_act_ms = 0\n");
    let mut client = world.client();
    let mut screens = Screens { rng: Rng::new(20_260), next: 0 };
    let (mut tried, mut sent, mut refused, mut shown) = (0, 0, std::collections::BTreeMap::<String, usize>::new(), 0);
    while tried < wanted {
        let scene = screens.scene();
        {
            let mut phone = world.phone.lock();
            phone.shown = Some((scene.clone(), "org.example.random/.Main".to_owned()));
            phone.ui_seq += 1;
        }
        shown += 1;
        let values = values(&mut client, &scene);
        if values.is_empty() {
            continue;
        }
        for _ in 0..TAPS_PER_SCREEN.min(wanted - tried) {
            let value = values[screens.rng.below(values.len() as u64) as usize].clone();
            world.phone.clear_inputs();
            tried += 1;
            match client.call("act.tap", json!({"value": value})) {
                Ok(done) => {
                    sent += 1;
                    let input = world.phone.lock().inputs.last().cloned().expect("an input");
                    let named = done["target"]["resId"].as_str();
                    // A text that is not clickable is tapped where it is drawn.
                    let unmarked = done["unmarked"] == true && named == input.drawn_id.as_deref();
                    // What takes no taps itself, as a list, is where the tap lands all the same.
                    let node =
                        scene.flat().into_iter().find(|f| f.node.res_id.as_deref() == named).map(|f| f.node.clone());
                    let untouchable = node.is_some_and(|n| !n.clickable && contains(&n, input.drawn_id.as_deref()));
                    assert!(
                        named == input.hit_id.as_deref() || unmarked || untouchable,
                        "screen {shown}, {value}: {done} landed on {input:?}"
                    );
                }
                Err(error) => {
                    assert!(world.phone.lock().inputs.is_empty(), "{value}: {error:?}");
                    *refused.entry(error.code).or_default() += 1;
                }
            }
        }
    }
    println!("{tried} taps on {shown} screens: {sent} sent, none astray; refused: {refused:?}");
    assert!(sent * 2 > tried, "most taps can be sent: {sent} of {tried}, {refused:?}");
}
