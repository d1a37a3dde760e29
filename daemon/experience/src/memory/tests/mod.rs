//! Tests of outcomes, recoveries, counters and lookups, on an in-memory database with its own clock.

mod counters;
mod lookup;
mod outcomes;
mod recoveries;

use std::cell::Cell;

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus, Experience, Outcome, OutcomeKind, Scope, Transition};
use afd_proto::vocabulary::{Action, ObservationSource, Role, Target, Verb};
use rusqlite::Connection;

use super::events::Event;
use super::experience::{self, Query, plain_name};
use super::observations::Observation;
use super::{Origin, Place, record};
use afd_store::{Sql as _, args, new_uid};

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
