//! Tests of learning: states, components, forgetting, merging, undo, and the graph, on an in-memory database.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use afd_proto::history::ChangeOp;
use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::{Action, Role, Target, Verb};
use rusqlite::Connection;

use super::graph::{self, Graph};
use super::index::Index;
use super::learn::{Learned, learn};
use super::lesson::{Lesson, Sighting, TREE};
use super::path::{RouteQuery, nearest, routes};
use super::scope::{self, Known, Scope};
use super::{components, forget, history, merge, states};
use afd_screen::page::moves::Move;
use afd_screen::page::snapshot::Rect;
use afd_screen::page::structure::Structure;
use afd_screen::page::target::action_key;

const ORIGIN: &str = "o";

struct Lab {
    c: Connection,
    index: Index,
    at: Cell<i64>,
}

impl Lab {
    fn new() -> Self {
        let c = afd_store::in_memory().expect("a database");
        Self { c, index: Index::new(Arc::default()), at: Cell::new(1_000_000) }
    }

    fn learn(&self, lesson: &Lesson) -> Learned {
        self.at.set(self.at.get() + 1_000);
        let lesson = Lesson { at: self.at.get(), ..lesson.clone() };
        let learned = learn(&self.c, ORIGIN, &self.index, &lesson).expect("learns");
        learned.unpublished.publish();
        learned
    }

    fn scope(&self) -> Known {
        scope::find(&self.c, &app()).expect("reads").expect("known")
    }

    fn names(&self, state: i64) -> Vec<String> {
        components::defining_names(&self.c, state).expect("reads")
    }

    fn state(&self, id: i64) -> states::State {
        states::get(&self.c, id).expect("reads").expect("a state")
    }

    fn component(&self, name: &str) -> Option<components::Component> {
        components::find(&self.c, self.scope().id, name).expect("reads")
    }
}

fn app() -> Scope {
    Scope { app: "a.b".into(), site: None }
}

fn structure(title: &str, features: impl IntoIterator<Item = u64>) -> Structure {
    let mut features: Vec<u64> = features.into_iter().collect();
    features.sort_unstable();
    Structure {
        app: "a.b".into(),
        site: None,
        place: "a.b/.Main".into(),
        title: Some(title.into()),
        features,
        dialog: false,
        evidence: Vec::new(),
        earlier_key: None,
    }
}

fn sighting(name: &str) -> Sighting {
    Sighting {
        key: format!("key-{name}"),
        name: name.into(),
        source: TREE.into(),
        kind: "button".into(),
        label: Some(name.into()),
        steady: true,
        scrolls: false,
        res_id: None,
        class: None,
        bounds: Some(Rect { left: 0, top: 0, right: 10, bottom: 10 }),
        confidence: None,
        crop: None,
    }
}

/// Returns a lesson from a page with these components.
fn lesson(structure: Structure, names: &[&str]) -> Lesson {
    Lesson {
        structure: Some(structure),
        sightings: names.iter().map(|name| sighting(name)).collect(),
        texts: vec!["Title".into()],
        size: Some((1080, 2400)),
        ..Lesson::of_picture(app(), None, 0)
    }
}

/// Returns a lesson from a picture in which a detector found these components.
fn picture(names: &[&str]) -> Lesson {
    let found = |name: &&str| Sighting { source: "ocr".into(), confidence: Some(0.9), ..sighting(name) };
    Lesson { sightings: names.iter().map(found).collect(), ..Lesson::of_picture(app(), None, 0) }
}

#[test]
fn page_is_defined_when_it_is_seen_again() {
    let lab = Lab::new();
    let page = lesson(structure("List", 0..10), &["open", "search"]);
    let first = lab.learn(&page);
    assert!(!first.defined && first.new_components == 2);
    let id = first.state.expect("a state");
    assert_eq!((lab.state(id).code, lab.names(id)), (None, vec![]), "one look may have been an accident");
    let second = lab.learn(&Lesson { texts: vec!["Title".into(), "12 new".into()], ..page.clone() });
    assert!(second.defined && second.new_components == 0 && second.state == Some(id));
    let state = lab.state(id);
    assert!(state.code.as_deref().is_some_and(|code| code.starts_with("s_") && code.len() == 8));
    assert_eq!((state.name.as_deref(), state.visit_count), (Some("List"), 2));
    assert_eq!(state.texts, ["Title"], "what was there both times");
    assert_eq!(lab.names(id), ["open", "search"]);
    assert!(!lab.learn(&page).defined, "a state is defined once");
}

#[test]
fn pages_are_told_apart_by_title_place_and_structure() {
    let lab = Lab::new();
    let at = |s: Structure| lab.learn(&lesson(s, &[])).state.expect("a state");
    let list = at(structure("List", 0..10));
    assert_ne!(at(structure("Other", 0..10)), list, "another title");
    assert_ne!(at(Structure { place: "a.b/.Other".into(), ..structure("List", 0..10) }), list, "another place");
    assert_ne!(at(structure("List", 100..110)), list, "another structure");
    assert_ne!(at(Structure { dialog: true, place: String::new(), ..structure("List", 0..10) }), list, "a dialog");
    assert_eq!(at(structure("List", 0..9)), list, "a node is missing");
    assert_eq!(at(structure("List", 0..11)), list, "a node is new");
    assert_ne!(at(structure("List", 0..12)), list, "two nodes are new");
}

#[test]
fn look_that_keeps_coming_back_becomes_a_state_of_its_own() {
    let lab = Lab::new();
    let at =
        |features: std::ops::Range<u64>| lab.learn(&lesson(structure("List", features), &[])).state.expect("a state");
    let list = at(0..10);
    assert_eq!(at(0..11), list, "once is an accident");
    let own = at(0..11);
    assert_eq!(at(0..11), at(0..11));
    assert_ne!((own, at(0..11)), (list, list), "it keeps coming back");
    assert_eq!(at(0..10), list);
}

#[test]
fn page_that_was_only_scrolled_stays_what_it_was() {
    let lab = Lab::new();
    let top = structure("List", 0..10);
    let list = lab.learn(&lesson(top.clone(), &[])).state;
    let further = Lesson { scrolled_from: Some(top.key()), ..lesson(structure("List", 50..60), &[]) };
    assert_eq!(lab.learn(&further).state, list);
    // If the page before scrolling is unknown, the structure decides.
    let unknown = Lesson { scrolled_from: Some("unknown".into()), ..lesson(structure("List", 80..90), &[]) };
    assert_ne!(lab.learn(&unknown).state, list);
}

#[test]
fn component_that_is_missed_too_often_is_forgotten_and_can_be_brought_back() {
    let lab = Lab::new();
    let page = structure("List", 0..10);
    let (with, without) = (lesson(page.clone(), &["open", "banner"]), lesson(page, &["open"]));
    let state = lab.learn(&with).state.expect("a state");
    lab.learn(&with);
    scope::set_threshold(&lab.c, lab.scope().id, 4).expect("sets");
    for round in 0..3 {
        assert_eq!(lab.learn(&without).missed, 1, "{round}");
    }
    assert!(forget::stale(&lab.c, ORIGIN, &lab.scope(), lab.at.get()).expect("forgets").is_empty(), "too early");
    lab.learn(&without);
    let gone = forget::stale(&lab.c, ORIGIN, &lab.scope(), lab.at.get()).expect("forgets");
    assert_eq!((gone.len(), gone[0].op, gone[0].what.as_str()), (1, ChangeOp::Forget, "banner"));
    assert!(gone[0].why.contains("missed 4 times in a row"), "{}", gone[0].why);
    assert_eq!((lab.component("banner").is_some(), lab.names(state)), (false, vec!["open".to_owned()]));
    history::undo(&lab.c, gone[0].id, lab.at.get()).expect("undoes");
    assert_eq!((lab.component("banner").is_some(), lab.names(state).len()), (true, 2));
}

#[test]
fn component_that_is_seen_in_between_is_not_forgotten() {
    let lab = Lab::new();
    let page = structure("List", 0..10);
    let (with, without) = (lesson(page.clone(), &["open", "banner"]), lesson(page, &["open"]));
    lab.learn(&with);
    lab.learn(&with);
    scope::set_threshold(&lab.c, lab.scope().id, 3).expect("sets");
    for _ in 0..6 {
        lab.learn(&without);
        lab.learn(&without);
        lab.learn(&with);
    }
    assert!(forget::stale(&lab.c, ORIGIN, &lab.scope(), lab.at.get()).expect("forgets").is_empty());
    // A truncated list of components says nothing about the rest.
    for _ in 0..6 {
        assert_eq!(lab.learn(&Lesson { cut: true, ..without.clone() }).missed, 0);
    }
    assert!(forget::stale(&lab.c, ORIGIN, &lab.scope(), lab.at.get()).expect("forgets").is_empty());
}

#[test]
fn component_of_two_pages_is_forgotten_page_by_page() {
    let lab = Lab::new();
    let pages = [structure("List", 0..10), structure("Item", 20..30)];
    for page in &pages {
        lab.learn(&lesson(page.clone(), &["menu", "open"]));
        lab.learn(&lesson(page.clone(), &["menu", "open"]));
    }
    scope::set_threshold(&lab.c, lab.scope().id, 2).expect("sets");
    for _ in 0..2 {
        lab.learn(&lesson(pages[0].clone(), &["open"]));
    }
    let gone = forget::stale(&lab.c, ORIGIN, &lab.scope(), lab.at.get()).expect("forgets");
    assert_eq!(gone.iter().map(|e| e.what.as_str()).collect::<Vec<_>>(), ["menu on one of its pages"]);
    assert!(lab.component("menu").is_some());
}

#[test]
fn sets_of_detections_join_by_what_is_known_of_them() {
    let lab = Lab::new();
    let ten: Vec<String> = (0..10).map(|n| format!("word {n}")).collect();
    let some = |range: std::ops::Range<usize>| -> Vec<&str> { ten[range].iter().map(String::as_str).collect() };
    assert_eq!(lab.learn(&picture(&some(0..10))).state, None, "nothing of it is known yet");
    let state = lab.learn(&picture(&some(0..10))).state.expect("a state");
    assert_eq!(lab.learn(&picture(&some(0..8))).state, Some(state), "eight of ten");
    assert_ne!(lab.learn(&picture(&some(0..7))).state, Some(state), "seven of ten are not over 0.7");
}

#[test]
fn similar_sets_of_detections_are_merged_into_the_one_with_more_visits() {
    let lab = Lab::new();
    let words: Vec<String> = (0..30).map(|n| format!("word {n}")).collect();
    let some = |from: usize, to: usize| -> Vec<&str> { words[from..to].iter().map(String::as_str).collect() };
    lab.learn(&picture(&some(0, 30)));
    let small = lab.learn(&picture(&some(0, 20))).state.expect("a state");
    let large = lab.learn(&picture(&some(0, 30))).state.expect("a state");
    assert_ne!(small, large, "20 of 30 are too few");
    lab.learn(&picture(&some(0, 30)));
    let touched = lab.index.take_pending().remove(&lab.scope().id).expect("touched");
    let merged = merge::similar(&lab.c, ORIGIN, lab.scope().id, &touched, lab.at.get()).expect("merges");
    assert!(merged.is_empty(), "20 of 30 are no 85 percent");
    // Deleting components of the larger set makes the two sets similar.
    for name in &words[22..30] {
        let component = lab.component(name).expect("known");
        forget::delete_component(&lab.c, ORIGIN, lab.scope().id, &component, (ChangeOp::Delete, "asked"), lab.at.get())
            .expect("deletes");
    }
    lab.index.touch(lab.scope().id, Some(large));
    let touched = lab.index.take_pending().remove(&lab.scope().id).expect("touched");
    let merged = merge::similar(&lab.c, ORIGIN, lab.scope().id, &touched, lab.at.get()).expect("merges");
    assert_eq!(merged.len(), 1);
    assert!(merged[0].why.starts_with("20 of 22 components are equal"), "{}", merged[0].why);
    assert!(states::get(&lab.c, small).expect("reads").is_none());
    assert_eq!(lab.state(large).visit_count, 3, "visits are added");
    history::undo(&lab.c, merged[0].id, lab.at.get()).expect("undoes");
    assert!(states::get(&lab.c, small).expect("reads").is_some());
    assert_eq!(lab.state(large).visit_count, 2);
}

fn tap(label: &str) -> Action {
    let target = Target { role: Role::Button, label: Some(label.into()), ..Target::default() };
    Action { target: Some(target), ..Action::of(Verb::Tap) }
}

/// Returns an outcome of an action: the number of times that it led from one page to another, or to no page.
fn led(from: &Structure, action: Action, to: Option<&Structure>, count: i64, mean_ms: i64) -> Move {
    Move {
        from: from.key(),
        action_key: action_key(&action),
        action,
        kind: if to.is_some() { OutcomeKind::Page } else { OutcomeKind::Nothing },
        to: to.map(Structure::key),
        below: None,
        count,
        weight: count as f64,
        duration_ms: mean_ms * count,
        last_at: 1_000_000,
    }
}

/// Returns four pages. A leads to D through B, which is reliable, through C, which takes less time but often fails, and
/// directly, by a step that hardly ever works.
fn square() -> (Lab, [i64; 4], Vec<Move>) {
    let lab = Lab::new();
    let pages = ["A", "B", "C", "D"].map(|t| structure(t, (0..10).map(|n| n + 100 * u64::from(t.as_bytes()[0]))));
    let ids = pages.clone().map(|page| {
        lab.learn(&lesson(page.clone(), &["open"]));
        lab.learn(&lesson(page, &["open"])).state.expect("a state")
    });
    let [a, b, c, d] = &pages;
    let moves = vec![
        led(a, tap("to B"), Some(b), 20, 500),
        led(b, tap("on"), Some(d), 20, 500),
        led(a, tap("to C"), Some(c), 5, 100),
        led(a, tap("to C"), None, 15, 0),
        led(c, tap("on"), Some(d), 5, 100),
        led(a, tap("at once"), Some(d), 1, 100),
        led(a, tap("at once"), None, 30, 0),
    ];
    (lab, ids, moves)
}

fn titles(graph: &Graph, lab: &Lab, query: &RouteQuery) -> Vec<Vec<String>> {
    let called = |id: i64| lab.state(id).called().to_owned();
    routes(graph, query).iter().map(|r| r.edges.iter().map(|e| called(e.to)).collect()).collect()
}

#[test]
fn most_reliable_route_is_the_first() {
    let (lab, [a, _, _, d], moves) = square();
    let graph = graph::read(&lab.c, lab.scope().id, &moves).expect("reads");
    let query = RouteQuery { from: a, goals: BTreeSet::from([d]), shortest: false, routes: 3 };
    assert_eq!(titles(&graph, &lab, &query), [vec!["B", "D"], vec!["C", "D"], vec!["D"]]);
    let best = &routes(&graph, &query)[0];
    assert_eq!(best.expected_ms, 1_000);
    // Each of the two steps succeeded in 20 of 20 attempts. Pulled towards 0.5, that is 21 of 22.
    assert!((best.probability - (21.0_f64 / 22.0).powi(2)).abs() < 1e-9, "{}", best.probability);
    let shortest = RouteQuery { shortest: true, ..query };
    assert_eq!(titles(&graph, &lab, &shortest), [vec!["D"]]);
}

#[test]
fn unreachable_goal_has_a_nearest_state() {
    let (lab, [a, b, _, d], moves) = square();
    let graph = graph::read(&lab.c, lab.scope().id, &moves).expect("reads");
    let back = RouteQuery { from: d, goals: BTreeSet::from([a]), shortest: false, routes: 1 };
    assert!(routes(&graph, &back).is_empty());
    assert_eq!(nearest(&graph, &back, &BTreeMap::new()), Some(d), "nothing else can be reached");
    let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<String>>();
    let components =
        BTreeMap::from([(a, set(&["x"])), (b, set(&["x", "y"])), (d, set(&["z"])), (99, set(&["x", "y"]))]);
    let unknown = RouteQuery { from: a, goals: BTreeSet::from([99]), shortest: false, routes: 1 };
    assert_eq!(nearest(&graph, &unknown, &components), Some(b), "it has most in common with the goal");
}

#[test]
fn outcome_of_waiting_counts_from_the_second_time() {
    let (lab, [_, b, ..], _) = square();
    let pages = ["A", "B"].map(|t| structure(t, (0..10).map(|n| n + 100 * u64::from(t.as_bytes()[0]))));
    let waited = |count: i64| {
        let moves = vec![led(&pages[0], Action::of(Verb::Wait), Some(&pages[1]), count, 20_000)];
        let graph = graph::read(&lab.c, lab.scope().id, &moves).expect("reads");
        graph.edges.iter().filter(|e| e.to == b).count()
    };
    assert_eq!((waited(1), waited(2)), (0, 1), "a single one may have been caused by a person");
}

#[test]
fn dialog_over_several_pages_is_an_interrupt_and_no_step_of_a_route() {
    let (lab, [a, b, _, d], mut moves) = square();
    let ad = Structure { dialog: true, place: String::new(), ..structure("Rate us", 900..910) };
    lab.learn(&lesson(ad.clone(), &["Later"]));
    let pop_up = lab.learn(&lesson(ad.clone(), &["Later"])).state.expect("a state");
    let pages = ["A", "B", "C", "D"].map(|t| structure(t, (0..10).map(|n| n + 100 * u64::from(t.as_bytes()[0]))));
    for (from, under) in [(0, 1), (1, 3), (2, 0)] {
        moves.push(Move {
            below: Some(pages[under].key()),
            ..led(&pages[from], tap(&format!("step {from}")), Some(&ad), 2, 300)
        });
        moves.push(led(&ad, tap("Later"), Some(&pages[under]), 4, 300));
    }
    let graph = graph::read(&lab.c, lab.scope().id, &moves).expect("reads");
    assert!(graph.is_interrupt(pop_up), "{:?}", graph.interrupts);
    let found = graph.interrupts.iter().find(|i| i.state == pop_up).expect("an interrupt");
    assert_eq!(found.over.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([a, b, d]));
    assert!(found.dismissals[0].action.contains("Later"), "{}", found.dismissals[0].action);
    let query = RouteQuery { from: a, goals: BTreeSet::from([d]), shortest: false, routes: 5 };
    assert!(routes(&graph, &query).iter().all(|r| r.edges.iter().all(|e| e.to != pop_up && e.from != pop_up)));
}
