//! Pages that change while they are tapped: a tap hits the element that was named, or nothing.

use afd_tests::Client;
use afd_tests::pages::Pages;
use afd_tests::{TestPhone, World};
use serde_json::json;

use super::{outline, settings};

const ROWS: &str = "<style>body{margin:8px}button{display:block;width:200px;height:28px;margin:0}</style>
    <button onclick='top.out.textContent=1'>Amber</button><button onclick='top.out.textContent=2'>Brisk</button>
    <button onclick='top.out.textContent=3'>Coral</button>";

const PAGES: &[(&str, &str)] = &[
    (
        "/cover",
        "<!doctype html><title>Cover</title><p id='out'>-</p><iframe src='/covered'></iframe>
         <script>onmessage = event => out.textContent = event.data</script>",
    ),
    (
        "/covered",
        "<button onclick=\"parent.postMessage('pay', '*')\">Pay</button><p>below</p>
         <div style='position:absolute;inset:0;background:#fed'></div>
         <script>document.addEventListener('click', event => { if (event.target.tagName !== 'BUTTON') parent.postMessage('cover', '*') })</script>",
    ),
    (
        "/clipped",
        "<!doctype html><title>Clipped</title><p id='out'>-</p><div style='height:80px;overflow:hidden;position:relative'>
         <iframe src='/rows' style='position:absolute;top:-20px;height:140px;border:0'></iframe></div>",
    ),
    ("/rows", ROWS),
    (
        "/flees",
        "<!doctype html><title>Flees</title><style>button{position:absolute;left:50px;top:80px;width:200px;height:60px}</style>
         <p id='out'>-</p><button onclick=\"out.textContent='trap'\">Trap</button><button id='shy' onclick=\"out.textContent='shy'\">Shy</button>
         <script>shy.onmousemove = () => setTimeout(() => shy.style.left = '500px', 5)</script>",
    ),
    (
        "/renamed",
        "<!doctype html><title>Renamed</title><p id='out'>-</p><button id='it' onclick=\"out.textContent=it.textContent\">Open mail</button>
         <script>it.onmousemove = () => { it.textContent = 'Erase disk' }</script>",
    ),
    (
        "/counts",
        "<!doctype html><title>Counts</title><p id='out'>-</p><button id='it' onclick=\"out.textContent='skipped'\">Skip in 90</button>
         <script>let n = 90; setInterval(() => { it.textContent = 'Skip in ' + --n }, 7)</script>",
    ),
    (
        "/pressed",
        "<!doctype html><title>Pressed</title><p id='out'>-</p><button id='it' onclick=\"out.textContent='sent'\">Send</button>
         <script>it.onmousedown = () => { it.textContent = 'Sending' }</script>",
    ),
];

/// A browser that shows one of the pages.
struct Lab {
    world: World,
    _pages: Pages,
    _profile: tempfile::TempDir,
}

fn lab(path: &str) -> Lab {
    let (pages, profile) = (Pages::start(PAGES), tempfile::tempdir().expect("a directory"));
    let settings = settings(&format!("{}{path}", pages.url()), profile.path(), "");
    Lab { world: World::bare(TestPhone::start(), &settings), _pages: pages, _profile: profile }
}

fn covered(client: &mut Client, label: &str) {
    client.fails("act.tap", json!({"by": "text", "value": label}), "TARGET_COVERED");
}

fn tapped(client: &mut Client, label: &str) -> String {
    let tapped = client.ok("act.tap", json!({"by": "text", "value": label, "then": "outline"}));
    tapped["look"]["observation"]["outline"].as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs chromium"]
fn what_is_covered_in_a_frame_is_not_tapped() {
    let lab = lab("/cover");
    let mut client = lab.world.client();
    covered(&mut client, "Pay");
    let page = outline(&mut client);
    assert!(!page.contains("\"cover\"") && !page.contains("\"pay\""), "{page}");
}

#[test]
#[ignore = "needs chromium"]
fn a_frame_that_is_cut_off_is_tapped_at_the_right_place() {
    let lab = lab("/clipped");
    assert!(tapped(&mut lab.world.client(), "Coral").contains("\"3\""), "the row that was named");
}

#[test]
#[ignore = "needs chromium"]
fn an_element_that_flees_from_the_mouse_leaves_its_place_untouched() {
    let lab = lab("/flees");
    let mut client = lab.world.client();
    covered(&mut client, "Shy");
    assert!(outline(&mut client).contains("\"-\""), "the trap was not hit");
}

#[test]
#[ignore = "needs chromium"]
fn an_element_that_is_renamed_under_the_mouse_is_not_clicked() {
    let lab = lab("/renamed");
    let mut client = lab.world.client();
    covered(&mut client, "Open mail");
    assert!(outline(&mut client).contains("\"-\""), "nothing was erased");
}

#[test]
#[ignore = "needs chromium"]
fn a_number_that_counts_and_a_page_that_reacts_to_the_press_are_no_obstacles() {
    for (path, label, done) in [("/counts", "Skip in 90", "skipped"), ("/pressed", "Send", "sent")] {
        let lab = lab(path);
        let mut client = lab.world.client();
        let label = if path == "/counts" { label.trim_end_matches(" 90") } else { label };
        let page = tapped(&mut client, label);
        assert!(page.contains(&format!("\"{done}\"")), "{page}");
    }
}
