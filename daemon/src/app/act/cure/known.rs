//! What fixed a failure on the same page before.

use afd_proto::memory::Scope;
use afd_proto::vocabulary::{Action, Verb};
use serde_json::Value;

use crate::app::memory::experience;
use afd_experience::memory::Place;
use afd_experience::memory::experience::Query;
use afd_experience::memory::failures::Failure;
use afd_store::{Connection, Result};

/// Maximum number of known recoveries that are read.
const MAX_KNOWN: usize = 10;
/// Least share of its uses in which a recovery worked.
const MIN_SHARE: f64 = 0.5;

/// An action that fixed a failure before.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub action: Action,
    /// Number of times that it worked.
    pub worked: i64,
    /// Number of times that it worked or did not.
    pub tried: i64,
}

impl Known {
    /// Returns how often Back was pressed.
    pub fn times(&self) -> u32 {
        let times = self.action.params.get("times").and_then(Value::as_u64).unwrap_or(1);
        u32::try_from(times.clamp(1, 20)).unwrap_or(1)
    }

    /// Returns the app that was relaunched.
    pub fn package(&self) -> Option<&str> {
        self.action.params.get("package").and_then(Value::as_str)
    }

    /// Returns the share of its uses in which it worked, pulled towards one half while there are few.
    fn share(&self) -> f64 {
        (self.worked as f64 + 1.0) / (self.tried as f64 + 2.0)
    }
}

/// Returns what fixed a failure on its page before, best first.
pub(super) fn of(connection: &Connection, failure: &Failure) -> Result<Vec<Known>> {
    let Some(page) = &failure.page else { return Ok(Vec::new()) };
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let place = Place { structure: some(&page.structure), page_key: some(&page.key), ..Place::default() };
    let query = Query { place, failure_cause: Some(failure.cause.clone()), limit: MAX_KNOWN, ..Query::default() };
    if query.place.structure.is_none() && query.place.page_key.is_none() {
        return Ok(Vec::new());
    }
    let found = experience::find(connection, query)?.recoveries;
    let here = found.into_iter().filter(|one| matches!(one.match_scope, Scope::State | Scope::Page));
    let mut known: Vec<Known> = here
        .map(|one| Known {
            action: one.recovery,
            worked: one.success_count,
            tried: one.success_count + one.failure_count,
        })
        .filter(|one| one.worked > 0 && one.worked as f64 >= MIN_SHARE * one.tried as f64)
        .filter(|one| matches!(one.action.verb, Verb::Back | Verb::Home | Verb::Relaunch | Verb::Tap))
        .collect();
    known.sort_by(|a, b| b.share().total_cmp(&a.share()));
    known.dedup_by(|a, b| a.action == b.action);
    Ok(known)
}
