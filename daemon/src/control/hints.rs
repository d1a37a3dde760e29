//! What memory knows about the page that is being looked at, handed over with the observation.

use afd_proto::memory::{Recovery, Scope, Transition};
use afd_proto::vocabulary::{Hint, HintKind, Role};

use super::Call;
use crate::memory::Place;
use crate::memory::experience::{self, Query};

/// At most this many hints of each kind.
const LIMIT: usize = 5;

impl Call {
    /// Hints for a page; none when nothing is known, or when the database cannot tell.
    pub(super) async fn hints(&self, place: &Place) -> Vec<Hint> {
        if place.page_key.is_none() {
            return Vec::new();
        }
        // The page itself only: what is known of its neighbours would be noise in every answer.
        let query = Query { place: Place { page_key: place.page_key.clone(), ..Place::default() }, failure_cause: None, limit: LIMIT };
        let found = self.core.store.read(move |c| experience::find(c, &query)).await;
        match found {
            Ok(known) => known
                .transitions
                .iter()
                .filter(|t| t.match_scope == Scope::Page && names_something(t))
                .map(action)
                .chain(known.recoveries.iter().map(cure))
                .collect(),
            Err(error) => {
                tracing::debug!(%error, "no hints");
                Vec::new()
            }
        }
    }
}

/// What was looked for and never found says too little to be handed over unasked.
fn names_something(t: &Transition) -> bool {
    t.success_count > 0 || t.action.target.as_ref().is_none_or(|target| target.role != Role::Any)
}

/// How often it held, pulled towards one half while little is known.
fn confidence(good: i64, bad: i64) -> f64 {
    let mean = (good as f64 + 1.0) / ((good + bad) as f64 + 2.0);
    (mean * 100.0).round() / 100.0
}

fn action(t: &Transition) -> Hint {
    let fails = t.success_count == 0;
    let cause = t.failure_cause.as_deref().filter(|_| t.failure_count > 0).map(|c| format!("; last failure: {c}")).unwrap_or_default();
    Hint {
        kind: if fails { HintKind::Failure } else { HintKind::Action },
        text: format!("{}{cause}", t.text),
        target: t.action.target.clone(),
        confidence: confidence(t.success_count, t.failure_count),
        evidence: vec![t.uid.clone()],
    }
}

fn cure(r: &Recovery) -> Hint {
    Hint {
        kind: HintKind::Recovery,
        text: r.text.clone(),
        target: None,
        confidence: confidence(r.success_count, r.failure_count),
        evidence: vec![r.uid.clone()],
    }
}
