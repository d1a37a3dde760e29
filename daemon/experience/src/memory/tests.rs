//! Tests of the outcomes of acts, checks and recoveries, on an in-memory database with its own clock.

use std::cell::Cell;

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus, Experience, Outcome, OutcomeKind, Scope, Transition};
use afd_proto::vocabulary::{Action, ObservationSource, Role, Target, Verb};
use rusqlite::Connection;

use super::events::{self, Event};
use super::experience::{self, Query, plain_name};
use super::observations::Observation;
use super::{Origin, Place, prune, rebuild, record};
use afd_store::{Piece, Sql as _, args, new_uid};

const SECOND: i64 = 1_000;
/// Returns the time at which each test begins, in Unix milliseconds: a day ago, so that weights have hardly decayed.
fn begin() -> i64 {
    afd_store::now_ms() - 86_400_000
}

/// A memory with one session and one device.
struct Lab {
    c: Connection,
    origin: Origin,
    seq: Cell<i64>,
    now: Cell<i64>,
}

impl Lab {
    fn new() -> Self {
        let c = afd_store::in_memory().expect("a database");
        c.execute_batch(
            "INSERT INTO store (id, origin, created_at) VALUES (1, 'o', 1);
             INSERT INTO sessions (uid, origin, name, created_at, updated_at) VALUES ('s', 'o', 's', 1, 1), ('t', 'o', 't', 1, 1);
             INSERT INTO devices (uid, origin, name, kind, created_at, updated_at) VALUES ('d', 'o', 'd', 'k', 1, 1);",
        )
        .expect("rows");
        let origin = Origin { store: "o".into(), session: 1, device: 1, trace: "t".into() };
        Self { c, origin, seq: Cell::new(0), now: Cell::new(begin()) }
    }

    fn next(&self) -> i64 {
        self.seq.set(self.seq.get() + 1);
        self.seq.get()
    }

    /// Advances the clock by `ms` milliseconds.
    fn wait(&self, ms: i64) -> &Self {
        self.now.set(self.now.get() + ms);
        self
    }

    fn event(&self, category: Category, op: &str, page: &Place) -> Event {
        Event {
            uid: new_uid(),
            seq: self.next(),
            request: None,
            category,
            op: op.to_owned(),
            status: EventStatus::Ok,
            sent: category != Category::Verify,
            action: None,
            failure: None,
            error: None,
            result: None,
            evidence: None,
            duration_ms: 100,
            before: page.clone(),
            parent: None,
            judges: true,
            at: self.now.get(),
        }
    }

    fn record(&self, event: &Event) {
        record::event(&self.c, &self.origin, event).expect("records");
    }

    /// Records a successful tap on an element on a page.
    fn tap(&self, page: &Place, label: &str) {
        self.record(&Event { action: Some(tap(label)), ..self.event(Category::Act, "tap", page) });
    }

    /// Records a failed tap on an element on a page.
    fn fail(&self, page: &Place, label: &str, cause: ErrorCode) {
        let event = self.event(Category::Act, "tap", page);
        self.record(&Event {
            action: Some(tap(label)),
            status: EventStatus::Failed,
            failure: Some(cause),
            sent: false,
            ..event
        });
    }

    fn recover(&self, page: &Place) {
        self.record(&Event { action: Some(Action::of(Verb::Back)), ..self.event(Category::Recover, "back", page) });
    }

    /// Records a check of a page that passes or fails.
    fn check(&self, page: &Place, passes: bool) {
        let event = self.event(Category::Verify, "textContains", page);
        let evidence = Some(serde_json::json!({"expected": "Connected"}));
        self.record(&match passes {
            true => Event { evidence, ..event },
            false => {
                Event { evidence, status: EventStatus::Failed, failure: Some(ErrorCode::AssertionFailed), ..event }
            }
        });
    }

    /// Records an observation of a settled, reliable page.
    fn see(&self, page: &Place) {
        self.observe(page, true, true);
    }

    fn observe(&self, page: &Place, settled: bool, reliable: bool) {
        let observation = Observation {
            uid: new_uid(),
            seq: self.next(),
            source: ObservationSource::Page,
            place: page.clone(),
            settled,
            reliable,
            reason: None,
            mode: None,
            has_web_view: None,
            node_reliability: None,
            nodes: None,
            refs: None,
            at: self.now.get(),
        };
        record::observation(&self.c, &self.origin, &observation).expect("records");
    }

    fn experience(&self, page: &Place) -> Experience {
        let query = Query { place: page.clone(), limit: 50, ..Query::default() };
        experience::find(&self.c, &query, &|_, page| Ok(plain_name(page))).expect("finds")
    }

    /// Returns the transition for a tap, if one is known for this page itself.
    fn known(&self, page: &Place, label: &str) -> Option<Transition> {
        let own = |t: &Transition| {
            t.match_scope == Scope::State && t.action.target.as_ref().and_then(|t| t.label.as_deref()) == Some(label)
        };
        self.experience(page).transitions.into_iter().find(own)
    }

    /// Returns the kind, page and count of each outcome of an action, most frequent first.
    fn outcomes(&self, page: &Place, label: &str) -> Vec<(OutcomeKind, String, i64)> {
        let name = |o: &Outcome| o.name.clone().or_else(|| o.failure_cause.clone()).unwrap_or_default();
        let known = self.known(page, label).map(|t| t.outcomes).unwrap_or_default();
        known.iter().map(|o| (o.kind, name(o), o.count)).collect()
    }

    /// Returns all counters, without row ids and times of changes.
    fn counters(&self) -> Vec<String> {
        let rows = |sql: &str| -> Vec<String> { self.c.all(sql, args! {}, |row| row.get("line")).expect("reads") };
        let mut out = rows(
            "SELECT from_key || '|' || action_key || '|' || success_count || '|' || nothing_count || '|' || verified_count || '|' ||
                failure_count || '|' || coalesce(failure_cause, '') || '|' || last_at AS line FROM transitions ORDER BY 1",
        );
        out.extend(rows(
            "SELECT t.from_key || t.action_key || '|' || o.kind || '|' || o.to_key || '|' || o.below_key || '|' || o.count || '|' ||
                o.verified_count || '|' || round(o.weight, 6) || '|' || o.duration_ms AS line
                FROM outcomes o JOIN transitions t ON t.id = o.transition_id ORDER BY 1",
        ));
        out.extend(rows(
            "SELECT from_key || '|' || failure_cause || '|' || action_key || '|' || success_count || '|' || failure_count || '|' ||
                undecided_count || '|' || left_count AS line FROM recoveries ORDER BY 1",
        ));
        out
    }
}

fn page(name: &str) -> Place {
    Place {
        app: Some("a.b".into()),
        activity: Some(format!("a.b/.{name}")),
        page_key: Some(format!("act=a.b/.{name}")),
        fingerprint: Some(format!("f={name}")),
        structure: Some(format!("structure-{name}")),
        title: Some(name.into()),
        content: Some(format!("content-{name}")),
        ..Place::default()
    }
}

/// Returns the same page with different content.
fn changed(place: &Place, content: &str) -> Place {
    Place { content: Some(content.into()), ..place.clone() }
}

/// Returns a dialog over a page.
fn dialog(name: &str, over: &Place) -> Place {
    Place { dialog: true, below: over.structure.clone(), ..page(name) }
}

fn tap(label: &str) -> Action {
    let target =
        Target { role: Role::Button, label: Some(label.into()), title: Some(label.into()), ..Target::default() };
    Action { target: Some(target), ..Action::of(Verb::Tap) }
}

fn led_to(name: &str, count: i64) -> Vec<(OutcomeKind, String, i64)> {
    vec![(OutcomeKind::Page, name.to_owned(), count)]
}

#[test]
fn page_that_settles_soon_is_the_outcome() {
    let lab = Lab::new();
    for _ in 0..3 {
        lab.see(&page("List"));
        lab.wait(SECOND).tap(&page("List"), "Open");
        lab.wait(500).see(&page("Item"));
        lab.wait(60 * SECOND);
    }
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 3));
    // The page arrived 600 ms after the tap began: 100 ms for the tap, and 500 ms until the capture.
    let known = lab.known(&page("List"), "Open").expect("known");
    assert_eq!((known.success_count, known.outcomes[0].mean_ms), (3, Some(600)));
}

#[test]
fn page_that_comes_late_is_an_outcome_of_waiting() {
    let lab = Lab::new();
    lab.see(&page("List"));
    lab.wait(SECOND).tap(&page("List"), "Open");
    lab.wait(500).see(&page("Item"));
    lab.wait(10_001).see(&page("Advertisement"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    let mut waited = lab.experience(&page("Item")).transitions;
    waited.retain(|t| t.match_scope == Scope::State);
    assert_eq!(waited.len(), 1);
    assert_eq!((waited[0].action.verb, waited[0].outcomes[0].name.as_deref()), (Verb::Wait, Some("Advertisement")));
}

#[test]
fn later_capture_corrects_an_outcome_until_a_check_confirms_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Loading"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Loading", 1));
    lab.wait(700).see(&page("Item"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    lab.wait(100).check(&page("Item"), true);
    lab.wait(500).see(&page("Survey"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    let known = lab.known(&page("List"), "Open").expect("known");
    assert_eq!((known.verified_count, known.outcomes[0].verified_count), (1, 1));
}

#[test]
fn unsettled_and_unreliable_captures_are_no_outcomes() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).observe(&page("Item"), false, true);
    lab.wait(300).observe(&page("Item"), true, false);
    lab.wait(300).see(&Place { app: Some("a.b".into()), ..Place::default() });
    assert!(lab.known(&page("List"), "Open").is_none());
}

#[test]
fn unchanged_page_means_nothing_only_after_a_while() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Refresh");
    lab.wait(2_999).see(&page("List"));
    assert!(lab.known(&page("List"), "Refresh").is_none(), "it may still be on its way");
    lab.wait(1).see(&page("List"));
    assert_eq!(lab.outcomes(&page("List"), "Refresh"), vec![(OutcomeKind::Nothing, String::new(), 1)]);
    let known = lab.known(&page("List"), "Refresh").expect("known");
    assert_eq!((known.success_count, known.nothing_count), (0, 1));
}

#[test]
fn changed_content_is_the_same_page() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Select");
    lab.wait(300).see(&changed(&page("List"), "one selected"));
    assert_eq!(lab.outcomes(&page("List"), "Select"), vec![(OutcomeKind::Same, String::new(), 1)]);
    // Equal content means the same page, even if the structure differs.
    lab.tap(&page("List"), "Select");
    let other = Place { structure: Some("other".into()), ..page("List") };
    lab.wait(4 * SECOND).see(&other);
    assert_eq!(lab.known(&page("List"), "Select").expect("known").nothing_count, 1);
}

#[test]
fn pop_up_over_the_page_that_came_does_not_replace_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    lab.wait(300).see(&dialog("Rate us", &page("Item")));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    // A dialog that the tap itself opened is its outcome.
    lab.wait(60 * SECOND).tap(&page("List"), "Delete");
    lab.wait(300).see(&dialog("Delete?", &page("List")));
    assert_eq!(lab.outcomes(&page("List"), "Delete"), led_to("Delete?", 1));
}

#[test]
fn page_belongs_to_the_last_act_before_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).tap(&page("List"), "Search");
    lab.wait(300).see(&page("Results"));
    assert!(lab.known(&page("List"), "Open").is_none());
    assert_eq!(lab.outcomes(&page("List"), "Search"), led_to("Results", 1));
}

#[test]
fn page_that_comes_while_an_act_is_under_way_belongs_to_none() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    let open = Event { action: Some(tap("Search")), ..lab.event(Category::Act, "tap", &page("List")) };
    events::intend(&lab.c, &lab.origin, &open).expect("intends");
    lab.wait(300).see(&page("Item"));
    assert!(lab.known(&page("List"), "Open").is_none(), "the page may be of the second tap");
}

#[test]
fn failed_check_counts_against_the_act_until_the_page_comes() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Connect");
    lab.wait(300).see(&changed(&page("List"), "connecting"));
    lab.wait(100).check(&changed(&page("List"), "connecting"), false);
    let known = lab.known(&page("List"), "Connect").expect("known");
    assert_eq!((known.success_count, known.failure_count), (1, 1));
    // A second check of the same kind does not count twice.
    lab.wait(100).check(&changed(&page("List"), "connecting"), false);
    assert_eq!(lab.known(&page("List"), "Connect").expect("known").failure_count, 1);
    lab.wait(SECOND).see(&page("Connected"));
    let known = lab.known(&page("List"), "Connect").expect("known");
    assert_eq!((known.success_count, known.failure_count), (1, 0));
    assert_eq!(lab.outcomes(&page("List"), "Connect"), led_to("Connected", 1));
}

#[test]
fn only_failures_about_the_target_count() {
    let lab = Lab::new();
    for cause in [ErrorCode::DeviceUnreachable, ErrorCode::Internal, ErrorCode::TargetCovered, ErrorCode::StoreFull] {
        lab.fail(&page("List"), "Open", cause);
    }
    assert!(lab.known(&page("List"), "Open").is_none());
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    assert_eq!(lab.outcomes(&page("List"), "Open"), vec![(OutcomeKind::Failed, "TARGET_NOT_FOUND".to_owned(), 1)]);
    // A tap without a target says nothing about an element.
    let event = lab.event(Category::Act, "tap", &page("Other"));
    let action = Some(Action::of(Verb::Tap));
    let failure = Some(ErrorCode::TargetNotFound);
    lab.record(&Event { action, status: EventStatus::Failed, failure, sent: false, ..event });
    assert!(lab.experience(&page("Other")).transitions.iter().all(|t| t.match_scope != Scope::State));
}

#[test]
fn check_after_a_refused_act_judges_no_earlier_one() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    lab.fail(&page("Item"), "Save", ErrorCode::TargetNotFound);
    lab.check(&page("Item"), false);
    assert_eq!(lab.known(&page("List"), "Open").expect("known").failure_count, 0);
    // A check by another session does not judge the act, either.
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    let other = Origin { session: 2, ..lab.origin.clone() };
    let event = lab.event(Category::Verify, "textContains", &page("Item"));
    let failed = Event { status: EventStatus::Failed, failure: Some(ErrorCode::AssertionFailed), ..event };
    record::event(&lab.c, &other, &failed).expect("records");
    assert_eq!(lab.known(&page("List"), "Open").expect("known").failure_count, 0);
}

#[test]
fn recovery_worked_when_what_had_failed_succeeds() {
    let lab = Lab::new();
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.wait(SECOND).recover(&page("List"));
    let found = |lab: &Lab| {
        let known = lab.experience(&page("List")).recoveries.remove(0);
        (known.failure_cause, known.success_count, known.failure_count)
    };
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 0, 0), "it is undecided");
    // Other actions in between do not decide whether the recovery worked.
    lab.wait(SECOND).tap(&page("List"), "Menu");
    assert_eq!(found(&lab).1, 0);
    lab.wait(SECOND).tap(&page("List"), "Open");
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 1, 0));
    lab.wait(SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.wait(SECOND).recover(&page("List"));
    lab.wait(SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 1, 1));
}

#[test]
fn failed_check_is_cured_by_the_same_check() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Connect");
    lab.wait(300).see(&page("List"));
    lab.check(&page("List"), false);
    lab.recover(&page("List"));
    lab.wait(SECOND).check(&page("List"), true);
    let known = lab.experience(&page("List")).recoveries;
    assert_eq!((known[0].failure_cause.as_str(), known[0].success_count), ("ASSERTION_FAILED", 1));
}

/// Records a longer session with late pages, failures, checks and recoveries.
fn play(lab: &Lab) {
    for round in 0..6 {
        lab.see(&page("List"));
        lab.wait(SECOND).tap(&page("List"), "Open");
        lab.wait(400).see(&page(if round % 3 == 0 { "Loading" } else { "Item" }));
        lab.wait(600).see(&page("Item"));
        lab.check(&page("Item"), round % 2 == 0);
        lab.wait(SECOND).fail(&page("Item"), "Save", ErrorCode::TargetNotFound);
        lab.recover(&page("Item"));
        lab.wait(300).see(&page("List"));
        if round % 2 == 1 {
            lab.wait(SECOND).tap(&page("Item"), "Save");
            lab.wait(4 * SECOND).see(&page("Item"));
        }
        lab.wait(15 * SECOND).see(&dialog("Update", &page("List")));
        lab.wait(SECOND).tap(&dialog("Update", &page("List")), "Later");
        lab.wait(300).see(&changed(&page("List"), &round.to_string()));
        lab.wait(60 * SECOND);
    }
}

#[test]
fn counters_can_be_made_again_from_what_was_recorded() {
    let lab = Lab::new();
    play(&lab);
    let before = lab.counters();
    assert!(before.len() > 12, "{before:#?}");
    lab.c.execute_batch("UPDATE outcomes SET count = count + 1; DELETE FROM recoveries").expect("spoils");
    rebuild::all(&lab.c).expect("rebuilds");
    assert_eq!(lab.counters(), before);
}

#[test]
fn nothing_is_known_while_counters_are_made_again() {
    let lab = Lab::new();
    play(&lab);
    rebuild::begin(&lab.c).expect("begins");
    assert!(lab.experience(&page("List")).transitions.is_empty());
    while !rebuild::some(&lab.c, &Piece::lasting(std::time::Duration::ZERO)).expect("a piece") {}
    assert!(!lab.experience(&page("List")).transitions.is_empty());
}

#[test]
fn deleted_events_leave_what_they_taught() {
    let lab = Lab::new();
    play(&lab);
    let (before, half) = (lab.counters(), begin() + 5 * 60 * SECOND);
    let cut = prune::Cut { events: half, observations: half };
    let (old, seen) = prune::count(&lab.c, cut).expect("counts");
    assert!(old > 10 && seen > 10, "{old} {seen}");
    let (mut events, mut observations) = (0, 0);
    for _ in 0..100 {
        let step = prune::some(&lab.c, &lab.origin.store, cut, 3, &Piece::whole()).expect("prunes");
        events += step.events;
        observations += step.observations;
        if step.done {
            break;
        }
    }
    assert!(events > 0 && events as i64 <= old && observations > 0 && observations as i64 <= seen);
    assert_eq!(lab.counters(), before, "right after pruning");
    rebuild::all(&lab.c).expect("rebuilds");
    assert_eq!(lab.counters(), before, "made again from baselines and what is left");
}

#[test]
fn nearer_experience_comes_first_and_only_once() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    let elsewhere = Place { activity: Some("a.b/.List".into()), ..page("Archive") };
    lab.wait(60 * SECOND).tap(&elsewhere, "Open");
    lab.wait(300).see(&page("Item"));
    lab.wait(60 * SECOND).tap(&page("Far"), "Open");
    lab.wait(300).see(&page("Item"));
    let scopes: Vec<Scope> = lab.experience(&page("List")).transitions.iter().map(|t| t.match_scope).collect();
    assert_eq!(scopes, [Scope::State, Scope::Activity, Scope::App]);
    let unasked = Query { place: page("List"), limit: 50, unasked: true, ..Query::default() };
    let found = experience::find(&lab.c, &unasked, &|_, page| Ok(plain_name(page))).expect("finds");
    assert_eq!(found.transitions.len(), 1, "only what is about this page is offered");
}

#[test]
fn looks_of_one_state_count_as_one_page() {
    let lab = Lab::new();
    let (list, other) = (page("List"), Place { structure: Some("other look".into()), ..page("List") });
    for (from, to, ms) in [(&list, "Item", 400), (&list, "Item", 400), (&other, "Item 2", 1_000)] {
        lab.wait(60 * SECOND).tap(from, "Open");
        lab.wait(ms).see(&page(to));
    }
    // Both looks of the list are one state, and so are both items.
    let name = |_: &Connection, page: &super::pages::Page| {
        let is_item = page.title.as_deref().is_some_and(|t| t.starts_with("Item"));
        let (id, name) = if is_item { (2, "An item") } else { (1, "The list") };
        Ok(experience::PageName { id: Some(id), state: Some(format!("s_{id}")), name: name.to_owned() })
    };
    let state = [&list, &other].map(|p| p.structure.clone().expect("a structure")).to_vec();
    let query = Query { place: list.clone(), state, limit: 50, ..Query::default() };
    let found = experience::find(&lab.c, &query, &name).expect("finds").transitions;
    assert_eq!(found.len(), 1);
    let known = &found[0];
    assert_eq!(known.text, "tap button \"Open\" leads to \"An item\" (3 of 3)");
    assert_eq!((known.success_count, known.outcomes.len(), known.outcomes[0].count), (3, 1, 3));
    // Two of 500 ms and one of 1,100 ms: each with 100 ms for the tap.
    assert_eq!(known.outcomes[0].mean_ms, Some(700));
    assert!((known.outcomes[0].share - 1.0).abs() < 1e-9);
}

#[test]
fn action_is_described_with_its_outcomes_in_the_order_of_their_use() {
    let lab = Lab::new();
    for to in ["Item", "Item", "Error"] {
        lab.wait(60 * SECOND).tap(&page("List"), "Open");
        lab.wait(400).see(&page(to));
    }
    lab.wait(60 * SECOND).tap(&page("List"), "Open");
    lab.wait(4 * SECOND).see(&page("List"));
    lab.wait(60 * SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    let known = lab.known(&page("List"), "Open").expect("known");
    let text = "tap button \"Open\": 2 of 5 \"Item\", 1 of 5 \"Error\", 1 of 5 nothing, 1 of 5 failed; last failure: TARGET_NOT_FOUND";
    assert_eq!(known.text, text);
    assert_eq!(known.post_page.as_ref().map(|p| p.key.as_str()), Some("act=a.b/.Item"));
    assert_eq!(known.failure_cause.as_deref(), Some("TARGET_NOT_FOUND"));
}

#[test]
fn page_without_a_title_is_named_by_its_activity_or_app() {
    let of = |title: Option<&str>, activity: &str| {
        let page = super::pages::Page {
            app: "a.b".into(),
            activity: activity.into(),
            title: title.map(str::to_owned),
            ..super::pages::Page::default()
        };
        plain_name(&page).name
    };
    assert_eq!(of(Some("Inbox"), "a.b/.Main"), "Inbox");
    assert_eq!(of(None, "a.b/.Main"), "Main");
    assert_eq!(of(None, ""), "a.b");
}

#[test]
fn recovery_that_leaves_the_app_is_counted_as_such() {
    let lab = Lab::new();
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.recover(&page("List"));
    lab.wait(300).see(&Place { app: Some("home".into()), activity: Some("home/.Main".into()), ..page("Home") });
    let known = lab.experience(&page("List")).recoveries.remove(0);
    assert_eq!((known.left_app_count, known.undecided_count), (1, 1));
    assert!(known.text.contains("leaves the app") || known.text.contains("left the app"), "{}", known.text);
}

#[test]
fn target_that_was_looked_for_by_one_property_is_found_again() {
    let lab = Lab::new();
    let wanted = Target { label: Some("save".into()), ..Target::default() };
    let event = lab.event(Category::Act, "tap", &page("List"));
    let action = Some(Action { target: Some(wanted), ..Action::of(Verb::Tap) });
    let failure = Some(ErrorCode::TargetNotFound);
    lab.record(&Event { action, status: EventStatus::Failed, failure, sent: false, ..event });
    lab.recover(&page("List"));
    // The recovery brought up a button whose label contains the text.
    lab.wait(SECOND).tap(&page("List"), "Save as");
    let known = lab.experience(&page("List")).recoveries.remove(0);
    assert_eq!((known.success_count, known.undecided_count), (1, 0));
}
