//! Observation of a page with 2,500 elements, compared with one read of its tree.

use std::time::{Duration, Instant};

use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_tests::{World, http, phone};
use serde_json::json;

use crate::{Times, report};

/// Number of observations.
const LOOKS: usize = 12;
/// Time between two observations. Meanwhile, the tree is read for comparison.
const SETTLED_AFTER: Duration = Duration::from_millis(160);
/// Columns and rows of the page.
const GRID: (i32, i32) = (50, 50);

/// Returns a page of small clickable cells, each with its own title and detail text.
fn page() -> Scene {
    let cell = |i: i32| {
        let (left, top) = (i % GRID.0 * 21, 100 + i / GRID.0 * 43);
        let text = |text: String, top: i32| {
            Node::new("android.widget.TextView", Rect::new(left, top, left + 21, top + 20)).text(text)
        };
        let children = vec![text(format!("Item {i}"), top), text(format!("{} pieces", i % 7), top + 21)];
        Node {
            clickable: true,
            children,
            ..Node::new("android.widget.LinearLayout", Rect::new(left, top, left + 21, top + 43))
        }
    };
    let root = Node {
        children: (0..GRID.0 * GRID.1).map(cell).collect(),
        ..Node::new("android.widget.FrameLayout", Rect::new(0, 0, 1080, 2400))
    };
    let pkg = "org.example.large".to_owned();
    let window = Window { id: 1, kind: "APPLICATION", pkg, title: None, layer: 0, focused: true, root };
    Scene { windows: vec![window], width: 1080, height: 2400, density: 420 }
}

/// Measures observations of a large page and prints the results.
pub fn run() {
    let world = World::process();
    world.phone.lock().shown = Some((page(), "org.example.large/.Main".to_owned()));
    let mut client = world.client();
    let auth = format!("Bearer {}", phone::TOKEN);
    let read = || {
        let started = Instant::now();
        let body = http::request(&world.phone.url(), "GET", "/api/screen", &[("authorization", &auth)], "").body;
        assert!(body.contains("Item 2499"), "the whole page");
        started.elapsed()
    };
    let look = |client: &mut afd_tests::Client| {
        let started = Instant::now();
        let shown = client.ok("observe.page", json!({"format": "outline", "maxRows": 2_500}));
        assert!(shown["settled"] == true && shown["outline"].as_str().is_some_and(|o| o.contains("Item 2499")));
        started.elapsed()
    };
    look(&mut client);
    let (mut looks, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..LOOKS {
        // The daemon reads a page once if its last capture is old enough to show that it has settled.
        let captured = Instant::now();
        while captured.elapsed() < SETTLED_AFTER {
            reads.push(read());
        }
        looks.push(look(&mut client));
    }
    let (looks, reads) = (Times::new(looks).p50(), Times::new(reads).p50());
    report("a look at 2,500 elements", looks / 1e3, reads / 1e3, "ms", "one read", "2x");
}
