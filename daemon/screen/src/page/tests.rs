//! Tests of the page rules on synthetic screens.

use afd_proto::vocabulary::{Action, By, Point, Role, Target, Verb};
use proptest::prelude::*;

use super::refs::{self, Recorded};
use super::snapshot::{Flag, Flags, Node, Rect, Snapshot, Trait, Traits, Window, WindowKind};
use super::{Screen, fingerprint, label, reliability, select, target, touch};

fn flags(all: &[Flag]) -> Flags {
    all.iter().fold(Flags::default().with(Flag::Visible).with(Flag::Enabled), |f, flag| f.with(*flag))
}

/// Returns a visible, enabled node of the first window.
fn node(id: usize, parent: Option<usize>, class: &str, text: &str, bounds: [i32; 4], able: &[Flag]) -> Node {
    let [left, top, right, bottom] = bounds;
    Node {
        id: format!("node_{id}"),
        window: 0,
        parent,
        class: class.into(),
        text: (!text.is_empty()).then(|| text.to_owned()),
        desc: None,
        res_id: None,
        bounds: Rect { left, top, right, bottom },
        flags: flags(able),
        role: match class {
            "EditText" => Role::Field,
            "Switch" => Role::Switch,
            "RecyclerView" => Role::List,
            "LinearLayout" => Role::Row,
            "TextView" => Role::Text,
            _ => Role::View,
        },
        traits: Traits::default()
            .with(Trait::List, class == "RecyclerView")
            .with(Trait::Landmark, class == "RecyclerView")
            .with(Trait::StaticText, class == "TextView"),
        password: false,
        truncated: false,
        checked: None,
    }
}

/// Returns a window of the app `a.b`.
fn window(kind: WindowKind, layer: i64, focused: bool) -> Window {
    Window {
        id: layer,
        kind,
        type_name: "APPLICATION".into(),
        app: "a.b".into(),
        title: String::new(),
        layer,
        focused,
        place: None,
    }
}

/// Returns a list whose rows have no text of their own, scrolled by `scroll` pixels. Only visible rows are in the tree.
fn list(rows: &[(String, String)], scroll: i32) -> Snapshot {
    let mut nodes = vec![node(0, None, "RecyclerView", "", [0, 300, 1080, 2300], &[Flag::Scrollable])];
    nodes[0].res_id = Some("a.b:id/list".into());
    for (i, (title, rest)) in rows.iter().enumerate() {
        let top = 300 + i32::try_from(i).expect("few") * 200 - scroll;
        if top + 200 <= 300 || top >= 2300 {
            continue;
        }
        let row = nodes.len();
        nodes.push(node(
            row,
            Some(0),
            "LinearLayout",
            "",
            [0, top.max(300), 1080, (top + 200).min(2300)],
            &[Flag::Clickable],
        ));
        nodes.push(node(row + 1, Some(row), "TextView", title, [100, top + 20, 500, top + 80], &[]));
        nodes.push(node(row + 2, Some(row), "TextView", rest, [100, top + 100, 500, top + 150], &[]));
    }
    Snapshot {
        app: Some("a.b".into()),
        place: Some("a.b/.C".into()),
        place_knowable: true,
        mode: "SYSTEM_API".into(),
        windows: vec![window(WindowKind::Page, 0, true)],
        nodes,
        ..Snapshot::default()
    }
}

/// Returns a list with a number of rows, most of which may be below the screen.
pub(crate) fn long_list(count: i32) -> Snapshot {
    let mut page = list(&[], 0);
    page.size = Some((1080, 2400));
    for row in 0..count {
        let (top, at) = (300 + row * 200, page.nodes.len());
        page.nodes.push(node(at, Some(0), "LinearLayout", "", [0, top, 1080, top + 200], &[Flag::Clickable]));
        let title = format!("Row {row}");
        page.nodes.push(node(at + 1, Some(at), "TextView", &title, [100, top + 20, 500, top + 80], &[]));
    }
    page
}

fn recorded(screen: &Screen, index: usize) -> Recorded<'_> {
    screen.recorded(index).expect("a ref")
}

proptest! {
    /// However the list changes, a ref is found only on a row that still has its title.
    #[test]
    fn ref_is_never_found_on_another_title(
        titles in proptest::collection::vec(0..12u8, 3..14),
        after in proptest::collection::vec(0..12u8, 3..14),
        scroll in 0..900i32,
        pick in 1..10usize,
    ) {
        let rows = |names: &[u8]| names.iter().map(|n| (format!("Row {}", (b'A' + n) as char), format!("{n} min ago"))).collect::<Vec<_>>();
        let before = Screen::from(list(&rows(&titles), 0));
        let all = refs::all(&before);
        let pick = pick.min(all.len() - 1);
        let wanted = recorded(&before, pick);
        let now = list(&rows(&after), scroll);
        let current = refs::all(&now);
        if let Ok(found) = refs::find(wanted, &current, &fingerprint::exact_content(&now)) {
            prop_assert_eq!(&current[found.index].label.title, &wanted.what.label.title);
            // With duplicates, a ref is found only if nothing else changed. A ref that is found by its exact token may
            // have another identity token, because a cut edge changes its size.
            let twins = current.iter().filter(|r| r.label.title == wanted.what.label.title && r.identity == wanted.what.identity).count();
            prop_assert!(twins <= 1 || current.len() == all.len());
        }
    }

    /// In a list of distinct rows that scrolls by complete rows, a row is followed as long as it is visible.
    #[test]
    fn visible_row_is_followed_while_scrolling(scroll in 0..5i32, pick in 1..9usize) {
        let rows: Vec<_> = (0..20).map(|n| (format!("Title {n}"), "same".to_owned())).collect();
        let before = Screen::from(list(&rows, 0));
        let wanted = recorded(&before, pick);
        let after = list(&rows, scroll * 200);
        let now = refs::all(&after);
        let found = refs::find(wanted, &now, &fingerprint::exact_content(&after));
        if i32::try_from(pick).expect("small") > scroll {
            let found = found.expect("visible");
            prop_assert_eq!(&now[found.index].label.title, &wanted.what.label.title);
            prop_assert_eq!(found.moved, scroll > 0);
        } else {
            prop_assert_eq!(found, Err(0));
        }
    }

    /// Parsing any text as bounds does not panic, and bounds that are formatted and parsed again are unchanged.
    #[test]
    fn extreme_bounds_do_not_panic(text in "\\PC{0,40}", l in any::<i32>(), t in any::<i32>(), r in any::<i32>(), b in any::<i32>()) {
        let _ = text.parse::<Rect>();
        let rect = Rect { left: l, top: t, right: r, bottom: b };
        prop_assert!(rect.area() >= 0);
        prop_assert_eq!(rect.to_string().parse::<Rect>(), Ok(rect));
    }
}

#[test]
fn equal_icons_are_not_confused_after_scrolling() {
    let page = |first: usize| {
        let mut page = list(&[], 0);
        for row in 0..5 {
            let top = 300 + i32::try_from(row).expect("few") * 200;
            let at = page.nodes.len();
            page.nodes.push(node(
                at,
                Some(0),
                "TextView",
                &format!("Item {}", first + row),
                [0, top, 800, top + 200],
                &[],
            ));
            page.nodes.push(node(at + 1, Some(0), "ImageView", "", [900, top, 1080, top + 200], &[Flag::Clickable]));
            page.nodes[at + 1].desc = Some("Delete".into());
        }
        page
    };
    let (before, after) = (Screen::from(page(1)), page(2));
    let wanted = recorded(&before, 2);
    assert!(refs::find(wanted, &refs::all(&before), &fingerprint::exact_content(&before)).is_ok());
    // The icon belongs to the text before it.
    let found = refs::find(wanted, &refs::all(&after), &fingerprint::exact_content(&after));
    assert_eq!(found, Ok(refs::Found { index: 1, moved: true }));
    let gone = page(4);
    assert_eq!(refs::find(wanted, &refs::all(&gone), &fingerprint::exact_content(&gone)), Err(0));
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn labels_come_from_the_subtree_but_not_from_other_refs() {
    let mut page = list(&pairs(&[("Wi-Fi", "Connected"), ("Bluetooth", "Off")]), 0);
    assert_eq!(label::of(&page, 1).text(), "Wi-Fi, Connected");
    assert_eq!(label::of(&page, 0).text(), "", "a scroll container only has a label of its own");
    page.nodes[3].flags = flags(&[Flag::Clickable]);
    assert_eq!(label::of(&page, 1).text(), "Wi-Fi", "texts inside another ref belong to that ref");
    let mut field = list(&pairs(&[("x", "y")]), 0);
    field.nodes[1] =
        node(1, Some(0), "EditText", "typed text", [0, 300, 1080, 500], &[Flag::Editable, Flag::Clickable]);
    field.nodes[1].desc = Some("Name".into());
    assert_eq!(label::of(&field, 1).text(), "Name", "typed text is not a label");
}

#[test]
fn fingerprint_ignores_changing_content() {
    let key = |s: &Snapshot| fingerprint::identity(s).expect("a page").key;
    let one = list(&pairs(&[("Wi-Fi", "2 min ago"), ("B", "b")]), 0);
    let mut two = list(&pairs(&[("Other", "3 min ago")]), 0);
    two.mode = "SHELL_CMD".into();
    assert_eq!(key(&one), key(&two));
    assert_eq!(key(&one), "act=a.b/.C|wv=0|rid=list|cls=RecyclerView");
    assert_ne!(fingerprint::identity(&one).map(|i| i.fingerprint), fingerprint::identity(&two).map(|i| i.fingerprint));
    assert_eq!(fingerprint::key_of("act=a/.B|mode=X|wv=0|cls="), "act=a/.B|wv=0|cls=");
    two.place = None;
    assert_eq!(fingerprint::identity(&two), None, "an unknown activity is transient");
    two.place_knowable = false;
    assert!(key(&two).starts_with("act=a.b/|"));
}

#[test]
fn content_hash_detects_movement_but_not_time() {
    let at = |rest: &str, scroll| fingerprint::content_hash(&list(&pairs(&[("A", rest), ("B", "b")]), scroll));
    assert_eq!(at("2 min ago", 0), at("13 min ago", 0));
    assert_ne!(at("2 min ago", 0), at("2 min ago", 3));
    assert_ne!(at("2 min ago", 0), at("now", 0));
}

#[test]
fn untrusted_screens_give_a_reason() {
    let good = list(&pairs(&[("A", "a")]), 0);
    assert_eq!(reliability::doubt(&good), None);
    assert_eq!(reliability::doubt(&Snapshot::default()), Some("the screen is empty"));
    let mut system = good.clone();
    system.windows = vec![window(WindowKind::Bar, 5, false)];
    assert_eq!(reliability::doubt(&system), Some("only system windows are on the screen"));
    let mut lone = good.clone();
    lone.nodes.truncate(1);
    assert_eq!(reliability::doubt(&lone), Some("the screen has a single node"));
    let mut changing = good;
    changing.place = None;
    assert!(reliability::doubt(&changing).is_some());
}

#[test]
fn touch_avoids_nodes_in_and_over_its_target() {
    let mut page = list(&pairs(&[("A", "a"), ("B", "b")]), 0);
    assert_eq!(touch::point(&page, 1), Ok(Point { x: 540.0, y: 400.0 }));
    // A switch in the middle of the row is another ref.
    page = page.clone();
    let switch = node(9, Some(1), "Switch", "ON", [400, 300, 700, 500], &[Flag::Clickable]);
    page.nodes.insert(4, switch);
    page.nodes[5].parent = Some(0);
    let p = touch::point(&page, 1).expect("free");
    assert!(!(400.0..700.0).contains(&p.x) && (0.0..1080.0).contains(&p.x));
    // A window above the row.
    page = page.clone();
    page.windows.push(window(WindowKind::Page, 3, false));
    let mut sheet = node(20, None, "FrameLayout", "Sheet", [0, 300, 600, 500], &[Flag::Clickable]);
    sheet.window = 1;
    page.nodes.push(sheet);
    assert!(touch::point(&page, 1).expect("free").x >= 700.0);
    assert_eq!(touch::node_at(&page, 100.0, 400.0), Some(page.nodes.len() - 1));
    // The window covers the whole row.
    page = page.clone();
    page.nodes.last_mut().expect("the sheet").bounds.right = 1080;
    page = page.clone();
    assert_eq!(touch::point(&page, 1), Err(touch::Obstacle::Covered(page.nodes.len() - 1)));
    // A node of the same window that takes no touches lets them through.
    let mut shown = list(&pairs(&[("A", "a")]), 0);
    shown.nodes.push(node(8, Some(0), "TextView", "badge", [0, 300, 1080, 500], &[]));
    assert_eq!(touch::point(&shown, 1), Ok(Point { x: 540.0, y: 400.0 }));
}

#[test]
fn touch_stays_on_the_screen() {
    let mut page = list(&pairs(&[("A", "a")]), 0);
    page.size = Some((1080, 2400));
    page.nodes[1].bounds = Rect { left: 0, top: 1800, right: 1080, bottom: 4000 };
    assert_eq!(touch::point(&page, 1), Ok(Point { x: 540.0, y: 2050.0 }), "inside of the list, which ends at 2300");
    page = page.clone();
    page.nodes[1].parent = None;
    assert_eq!(touch::point(&page, 1), Ok(Point { x: 540.0, y: 2100.0 }));
    page = page.clone();
    page.nodes[1].bounds = Rect { left: -900, top: 0, right: 100, bottom: 200 };
    assert_eq!(touch::point(&page, 1), Ok(Point { x: 50.0, y: 100.0 }));
}

#[test]
fn selectors_match_and_resolve_to_clickable_ancestors() {
    let page = list(&pairs(&[("Wi-Fi", "On"), ("Wi-Fi Direct", "Off")]), 0);
    let find = |by, value, exact| select::visible(&page, &select::Selector { by, value, exact });
    assert_eq!(find(By::Text, "wi-fi", false).len(), 2);
    let exact = find(By::Text, "Wi-Fi", true);
    assert_eq!(select::tappable(&page, &exact), [1], "the text resolves to its row");
    assert_eq!(find(By::ResId, "list", true), [0], "the id name alone is an exact match");
    assert_eq!(find(By::Class, "android.widget.TextView", true).len(), 4);
    assert!(find(By::Ref, "@n1", false).is_empty());
}

#[test]
fn equal_targets_are_told_apart_by_ordinal() {
    let page = list(&pairs(&[("Same", "x"), ("Same", "x"), ("Other", "y")]), 0);
    assert_eq!([1, 4, 7].map(|i| target::describe(&page, i).ordinal), [Some(0), Some(1), None]);
    let all: Vec<usize> = (0..page.nodes.len()).collect();
    let each: Vec<_> = all.iter().map(|i| target::describe(&page, *i)).collect();
    assert_eq!(target::describe_each(&page, &all), each, "several at once are described in the same way");
    let key = |rest: &str| target::key(&target::describe(&list(&pairs(&[("Ann", rest)]), 0), 1));
    assert_eq!(key("2 min ago"), key("3 min ago"), "only the title is part of the key");
}

#[test]
fn equivalent_actions_have_equal_keys() {
    let tap = |label: &str, x: f64| Action {
        target: Some(Target { role: Role::Row, label: Some(label.into()), ..Target::default() }),
        point: Some(Point { x, y: 1.0 }),
        ..Action::of(Verb::Tap)
    };
    assert_eq!(target::action_key(&tap("A, 1", 5.0)), target::action_key(&tap("A, 2", 900.0)));
    assert_ne!(target::action_key(&tap("A", 5.0)), target::action_key(&tap("B", 5.0)));
    assert_eq!(target::sentence(&tap("A", 5.0)), "tap row \"A\"");
}

#[test]
fn only_row_of_a_title_is_found_when_its_edge_is_cut() {
    let rows = |names: &[&str]| names.iter().map(|n| ((*n).to_owned(), "1 min ago".to_owned())).collect::<Vec<_>>();
    let before = Screen::from(list(&rows(&["D", "A", "A"]), 0));
    // The first visible row is one pixel shorter. This changes its identity token, but not its exact token.
    let now = list(&rows(&["A", "A", "A", "A", "D"]), 801);
    let current = refs::all(&now);
    let found =
        refs::find(recorded(&before, 1), &current, &fingerprint::exact_content(&now)).expect("it is the only one");
    assert_eq!(current[found.index].label.title, "D");
}

#[test]
fn element_is_usable_once_its_centre_is_in_sight() {
    let at = |top: i32, bottom: i32| {
        let mut page = list(&pairs(&[("A", "a")]), 0);
        page.size = Some((1080, 2400));
        page.nodes[1].bounds = Rect { left: 0, top, right: 1080, bottom };
        // A tab bar below the list, which begins where the list ends.
        page.nodes.push(node(9, None, "View", "Home", [0, 2300, 1080, 2400], &[Flag::Clickable]));
        (touch::is_usable(&page, 1), touch::edge_in_sight(&page, 1))
    };
    assert_eq!(at(2291, 2411), (false, Some(9)), "only nine pixels are in sight");
    assert_eq!(at(2291, 2300), (false, Some(9)), "the device cut the bounds to the list");
    assert_eq!(at(2250, 2370), (false, None), "less than a half");
    assert_eq!(at(2230, 2350), (true, None), "its centre is free");
    assert_eq!(at(1000, 1200), (true, None));
}

#[test]
fn unrelated_elements_that_overlap_are_touched_where_both_are_free() {
    let page = |small: [i32; 4], first: bool| {
        let mut page = list(&[], 0);
        page.size = Some((1080, 2400));
        let (card, button) = (
            node(1, None, "View", "Card", [0, 300, 1080, 900], &[Flag::Clickable]),
            node(2, None, "Button", "Go", small, &[Flag::Clickable]),
        );
        page.nodes = if first { vec![button, card] } else { vec![card, button] };
        page
    };
    for first in [true, false] {
        let overlapping = page([0, 800, 400, 1000], first);
        let (card, button) = if first { (1, 0) } else { (0, 1) };
        assert!(touch::point(&overlapping, button).expect("free").y >= 900.0, "below the card");
        let p = touch::point(&overlapping, card).expect("free");
        assert!(p.y < 800.0 || p.x >= 400.0, "beside the button: {p:?}");
    }
    // If one lies in the other, the later one is assumed to be in front.
    assert!(touch::point(&page([400, 500, 600, 600], false), 1).is_ok());
    assert_eq!(touch::point(&page([400, 500, 600, 600], true), 0), Err(touch::Obstacle::Covered(1)));
}
